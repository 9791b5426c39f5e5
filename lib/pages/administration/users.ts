import { type Html, html } from '../../html.js';
import type { Words } from '../../words/pages/index.js';
import { disclosure, field, formOf } from '../controls.js';
import { type OwnField, ownFields, ownInputs } from '../own-fields.js';
import { type Page, page, type View } from '../page.js';
import { foundIn } from '../routes.js';
import type { Site } from '../site.js';
import { breakable, timeOf } from '../texts.js';
import type { CommonValues, FormValues } from '../values.js';
import {
  type AdministeredUser,
  administered,
  stateOf,
  tag,
  tagsOf,
  titleOfUser,
  type UserState,
} from './administered.js';

/** The values of the page `administration/users`. */
export interface UsersValues {
  /** Newest first. */
  readonly users: readonly ListedUser[];
  /** The form that searches, by GET. */
  readonly search: { readonly action: string; readonly text: string };
  /** The page with the next users. Null on the last page. */
  readonly next: string | null;
  /** The form that creates a user. Null if administrators cannot. */
  readonly create:
    | (FormValues & {
        readonly username: boolean;
        readonly fields: readonly OwnField[];
        /** Whether the user gets an invitation by email. */
        readonly invites: boolean;
      })
    | null;
}

/** A user of a list. */
export interface ListedUser extends UserState {
  readonly user: AdministeredUser;
  /** The value of your field `name`, if administrators see it. */
  readonly name: string | null;
  /** The page of the user. */
  readonly href: string;
}

const NAME = 'administration/users';

/** @internal */
export function users(site: Site): Page | null {
  const path = '/administration/users';
  const list = site.route('get /admin/users');
  const create = site.route('post /admin/users');
  if (!list) return null;
  const invites = site.route('post /admin/users/:id/send-password-reset') !== undefined;
  return page<UsersValues>({
    name: NAME,
    path,
    kind: 'account',
    access: 'admin',
    inNavigation: true,
    forms: create
      ? [
          {
            name: 'create',
            route: create,
            errors: { email_taken: 'email', username_taken: 'username' },
            next: ({ reply }) => {
              const { id, email } = foundIn(create, reply).user;
              const done = invites && email !== null ? 'user-invited' : 'user-created';
              return site.page('administration/users/user', { done, params: { id } });
            },
          },
        ]
      : [],
    async values(visit) {
      const { query, auth } = visit;
      const search = query.get('search') ?? '';
      const cursor = query.get('cursor');
      const found = await site.read(list, visit, { search, ...(cursor !== null && { cursor }) });
      const here = site.page(NAME);
      return {
        users: found.users.map((json) => {
          const user = administered(site, json);
          return {
            user,
            name: user.name,
            href: site.page('administration/users/user', { params: { id: user.id } }),
            ...stateOf(site, user, auth?.user.id),
          };
        }),
        search: { action: here, text: search },
        next:
          found.next_cursor === null
            ? null
            : `${here}?${new URLSearchParams({ ...(search !== '' && { search }), cursor: found.next_cursor })}`,
        create: create
          ? {
              ...site.form(visit, { path }, 'create'),
              username: site.core.usernames !== null,
              fields: ownFields(site, undefined, 'administrator'),
              invites,
            }
          : null,
      };
    },
    view: usersView,
  });
}

function usersView(values: UsersValues & CommonValues, words: Words): View {
  const { users, search, next, create } = values;
  const t = words.users;
  return {
    title: t.title,
    main: html`<section data-part="card">
<div data-part="toolbar">
<form method="get" action="${search.action}" role="search" data-part="form">
<div data-part="field">
<label for="search">${t.search}</label>
<p data-part="hint" id="search-hint">${t.searchHint}</p>
<input id="search" name="search" type="search" value="${search.text}" maxlength="254" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="search-hint">
</div>
<button data-part="button secondary">${t.submitSearch}</button>
</form>
${
  create &&
  disclosure(
    { label: t.create, forms: [create] },
    html`<h2>${t.create}</h2>${formOf(
      create,
      { submit: t.submitCreate },
      words,
      html`${field(
        create,
        {
          name: 'email',
          label: words.fields.email,
          type: 'email',
          autocomplete: 'off',
          hint: create.invites ? t.invites : null,
          required: !create.username,
          hideOptional: true,
        },
        words,
      )}${
        create.username &&
        field(
          create,
          {
            name: 'username',
            label: words.fields.username,
            hint: t.either(create.invites),
            autocomplete: 'off',
            required: false,
            hideOptional: true,
            isCode: true,
          },
          words,
        )
      }${ownInputs(create, create.fields, words)}`,
    )}`,
    words,
  )
}
</div>
${search.text !== '' && html`<p><a href="${search.action}">${t.all}</a></p>`}
${users.length === 0 && html`<p>${next !== null ? t.noneYet : search.text === '' ? t.none : t.noneFor(search.text)}</p>`}
${users.length > 0 && tableOf(users, words)}
${next !== null && html`<p><a href="${next}">${users.length === 0 ? t.continueSearch : t.next}</a></p>`}
</section>`,
  };
}

/** Creates the table of users, which small screens show as a list. */
function tableOf(users: readonly ListedUser[], words: Words): Html {
  const t = words.users;
  const hasNames = users.some(({ name }) => name !== null);
  const head = [t.user, ...(hasNames ? [words.fields.name] : []), t.state, t.created];
  // Browsers that show a table as a list forget what it is, so its roles are written out.
  return html`<table data-part="table" role="table">
<thead role="rowgroup"><tr role="row">${head.map((text) => html`<th scope="col" role="columnheader">${text}</th>`)}</tr></thead>
<tbody role="rowgroup">
${users.map(
  ({ user, name, href, isOwn, isUnverified, ...state }) =>
    html`<tr role="row"><th scope="row" role="rowheader"><a href="${href}">${breakable(titleOfUser(user))}</a>${isOwn && tag(t.tags.own)}${
      isUnverified && tag(t.tags.unverified, 'warn')
    }${user.email !== null && user.username && html`<br><span data-part="quiet">${user.username}</span>`}</th>${
      hasNames && html`<td role="cell">${name}</td>`
    }<td role="cell">${tagsOf(state, words) ?? t.active}</td><td role="cell" data-label="${t.created}">${timeOf(user.createdAt, words, 'day')}</td></tr>
`,
)}</tbody>
</table>`;
}

declare module '../values.js' {
  interface PageValues {
    'administration/users': UsersValues;
  }
}
