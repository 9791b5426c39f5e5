import { html } from '../../html.js';
import { errorSummary, field, formOf } from '../controls.js';
import { type OwnField, ownFields, ownInputs } from '../own-fields.js';
import { type Page, page, type View } from '../page.js';
import { foundIn } from '../routes.js';
import type { Site } from '../site.js';
import { timeOf } from '../texts.js';
import type { CommonValues, FormValues } from '../values.js';
import type { Words } from '../words/index.js';
import {
  type AdministeredUser,
  administered,
  stateOf,
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
            next: ({ reply }) => {
              const { id } = foundIn(create, reply).user;
              return site.page('administration/users/user', { done: 'user-created', params: { id } });
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
            name: typeof json.name === 'string' && json.name !== '' ? json.name : null,
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
              invites: site.route('post /admin/users/:id/send-password-reset') !== undefined,
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
  const isRefused = Object.keys(create?.typed ?? {}).length > 0;
  return {
    title: t.title,
    main: html`${errorSummary(values, create ? [create] : [], words)}<section data-part="card">
<form method="get" action="${search.action}" role="search" data-part="form">
<div data-part="field">
<label for="search">${t.search}</label>
<p data-part="hint" id="search-hint">${t.searchHint}</p>
<input id="search" name="search" type="search" value="${search.text}" maxlength="254" autocomplete="off" autocapitalize="none" spellcheck="false" aria-describedby="search-hint">
</div>
<button data-part="button secondary">${t.submitSearch}</button>
</form>
${users.length === 0 && html`<p>${next === null ? t.none : t.noneYet}</p>`}
${
  users.length > 0 &&
  html`<ul data-part="list">${users.map(
    ({ user, name, href, ...state }) => html`<li data-part="item"><div>
<p><a href="${href}">${titleOfUser(user)}</a>${tagsOf(state, words)}</p>
<p data-part="quiet">${[name, user.email === null ? null : user.username].map((detail) => detail && html`${detail} · `)}${t.created(timeOf(user.createdAt))}</p>
</div></li>`,
  )}</ul>`
}
${next !== null && html`<p><a href="${next}">${users.length === 0 ? t.continueSearch : t.next}</a></p>`}
</section>
${
  create &&
  html`<section data-part="card"><details${isRefused && html` open`}><summary>${t.create}</summary>${formOf(
    create,
    { submit: t.submitCreate },
    html`${field(
      create,
      {
        name: 'email',
        label: words.fields.email,
        type: 'email',
        autocomplete: 'off',
        hint: create.invites ? t.invites : null,
        required: !create.username,
      },
      words,
    )}${
      create.username &&
      field(
        create,
        {
          name: 'username',
          label: words.fields.username,
          hint: t.either,
          autocomplete: 'off',
          required: false,
          isCode: true,
        },
        words,
      )
    }${ownInputs(create, create.fields, words)}`,
  )}</details></section>`
}`,
  };
}

declare module '../values.js' {
  interface PageValues {
    'administration/users': UsersValues;
  }
}
