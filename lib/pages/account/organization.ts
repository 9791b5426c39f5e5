import type { MemberRights } from '../../core/contribution.js';
import { invalidField } from '../../errors.js';
import { type Html, type HtmlValue, html } from '../../html.js';
import { say } from '../../phrases.js';
import type { Words } from '../../words/pages/index.js';
import { choice, closed, confirmationField, disclosure, field, formOf, question } from '../controls.js';
import { type Page, type PageForm, page, type View, type Visit } from '../page.js';
import type { Found } from '../routes.js';
import { allOf, type Site } from '../site.js';
import { breakable, roleName, timeOf } from '../texts.js';
import type { CommonValues, FormValues } from '../values.js';
import { MAX_NAME, MAX_SLUG } from './organizations.js';

/** The values of the page `account/organizations/organization`. */
export interface OrganizationValues {
  readonly organization: { readonly id: string; readonly name: string; readonly slug: string };
  /** The role of the user. */
  readonly role: string;
  /** The page with all organizations of the user. */
  readonly list: string;
  /** Newest first. */
  readonly members: readonly MemberValues[];
  /** The page with the next members. Null on the last page. */
  readonly nextMembers: string | null;
  /** The pending invitations, newest first. Null if the user cannot invite, or without emails. */
  readonly invitations: readonly InvitationValues[] | null;
  /** The page with the next invitations. Null on the last page. */
  readonly nextInvitations: string | null;
  /** The form that invites an address. Null if the user cannot. */
  readonly invite: FormWithRoles | null;
  /** The form that changes the name and the slug. Null if the user cannot. */
  readonly rename: FormValues | null;
  /** The form that ends the user's own membership. */
  readonly leave: FormValues;
  /** Whether the user is the only owner, who cannot leave. False if not all members are on the page. */
  readonly isLastOwner: boolean;
  /** The form that deletes the organization. Null if the user cannot. */
  readonly deletion:
    | (FormValues & {
        /** What the user must type into the field `confirmation`: the slug. */
        readonly confirmation: string;
      })
    | null;
}

/** A form with a choice of roles. */
export type FormWithRoles = FormValues & {
  /** The roles that the user can give. */
  readonly roles: readonly string[];
};

/** A member of an organization. */
export interface MemberValues {
  /** The id of the user. */
  readonly id: string;
  /** The email or username. The id of a user who has neither. */
  readonly name: string;
  readonly role: string;
  /** When the user became a member. ISO 8601. */
  readonly since: string;
  /** Whether it is the user of the page. */
  readonly isOwn: boolean;
  /** The form that changes the role. Null if the user of the page cannot. */
  readonly setRole: FormWithRoles | null;
  /** The form that removes the member. Null if the user of the page cannot. */
  readonly remove: FormValues | null;
}

/** A pending invitation. */
export interface InvitationValues {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** ISO 8601. */
  readonly expiresAt: string;
  readonly revoke: FormValues;
}

const NAME = 'account/organizations/organization';
const PATH = '/account/organizations/:id';

/** The forms, with their routes and the keys of their success messages. */
const FORMS = [
  ['rename', 'patch /organizations/:id', 'organization-saved'],
  ['set-role/:userId', 'patch /organizations/:id/members/:userId', 'member-role-changed'],
  ['remove/:userId', 'delete /organizations/:id/members/:userId', 'member-removed'],
  ['leave/:userId', 'delete /organizations/:id/members/:userId', 'organization-left'],
  ['invite', 'post /organizations/:id/invitations', 'member-invited'],
  [
    'revoke/:invitationId',
    'delete /organizations/:id/invitations/:invitationId',
    'organization-invitation-revoked',
  ],
  ['delete', 'delete /organizations/:id', 'organization-deleted'],
] as const;

/** After these, the user is no longer a member. */
const ENDING: readonly string[] = ['leave/:userId', 'delete'];

/** @internal */
export function organization(site: Site): Page | null {
  const [read, list] = [site.route('get /organizations/:id'), site.route('get /organizations/:id/members')];
  const invited = site.route('get /organizations/:id/invitations');
  if (!read || !list) return null;
  const forms: PageForm[] = FORMS.flatMap(([name, routeName, done]) => {
    const route = site.route(routeName);
    if (!route) return [];
    return [
      {
        name,
        route,
        ...(name === 'rename' && { check: requireNames, errors: { slug_taken: 'slug' } }),
        ...(name === 'invite' && { errors: { already_member: 'email' } }),
        ...(name === 'set-role/:userId' && { errors: { permission_required: 'role' } }),
        ...(name === 'delete' && {
          confirmation: async (visit: Visit) => (await site.read(read, visit)).organization.slug,
        }),
        next: ({ params: { id = '' } }) =>
          ENDING.includes(name)
            ? site.page('account/organizations', { done })
            : site.page(NAME, { done, params: { id } }),
      },
    ];
  });
  return page<OrganizationValues>({
    name: NAME,
    path: PATH,
    kind: 'account',
    access: 'session',
    ...(read.alongside && { alongside: read.alongside }),
    forms,
    async values(visit) {
      const { query, auth, params } = visit;
      const { organization: shown, membership } = await site.read(read, visit);
      const { role } = membership;
      const rights = rightsOf(site, role);
      const ownId = auth?.user.id ?? '';
      const [members, invitations] = await allOf([
        site.read(list, visit, cursorIn(query, 'cursor')),
        invited && rights.invites ? site.read(invited, visit, cursorIn(query, 'invitations')) : null,
      ]);
      // The role that allows most is that of owners. On one of several pages, the route decides.
      const isOwner = role === site.organizations?.roles[0];
      const isAll = members.next_cursor === null && !query.has('cursor');
      const form = (name: string, more: Readonly<Record<string, string>> = {}) =>
        site.form(visit, { path: PATH }, name, { ...params, ...more });
      const next = (name: string, cursor: string | null) =>
        cursor === null ? null : site.page(NAME, { params, query: { [name]: cursor } });
      const memberOf = memberWith({ site, rights, form, ownId });
      return {
        organization: { id: shown.id, name: shown.name, slug: shown.slug },
        role,
        list: site.page('account/organizations'),
        members: members.members.map(memberOf),
        nextMembers: next('cursor', members.next_cursor),
        invitations:
          invitations?.invitations.map((one) => ({
            id: one.id,
            email: one.email,
            role: one.role,
            createdAt: one.created_at,
            expiresAt: one.expires_at,
            revoke: form('revoke/:invitationId', { invitationId: one.id }),
          })) ?? null,
        nextInvitations: next('invitations', invitations?.next_cursor ?? null),
        invite: invitations && { ...form('invite'), roles: rolesOf(site, rights) },
        rename: rights.renames ? form('rename') : null,
        leave: form('leave/:userId', { userId: ownId }),
        isLastOwner: isAll && isOwner && members.members.filter((one) => one.role === role).length === 1,
        deletion: rights.deletes ? { ...form('delete'), confirmation: shown.slug } : null,
      };
    },
    view: organizationView,
  });
}

/** Returns what a role allows. The plugin of organizations decides. */
function rightsOf(site: Site, role: string): MemberRights {
  const { organizations } = site;
  if (!organizations) throw new TypeError('latchkey: pages() requires the rights of organizations');
  return organizations.rightsOf(role);
}

/** Returns the roles that a member can give. */
function rolesOf({ organizations }: Site, rights: MemberRights): readonly string[] {
  return organizations?.roles.filter((role) => rights.covers(role)) ?? [];
}

/** Returns the function that turns a member of a response into one of the page. */
function memberWith({
  site,
  rights,
  form,
  ownId,
}: {
  readonly site: Site;
  readonly rights: MemberRights;
  readonly form: (name: string, more: Readonly<Record<string, string>>) => FormValues;
  readonly ownId: string;
}) {
  const roles = rolesOf(site, rights);
  return ({ user, role, created_at }: ListedMember): MemberValues => {
    const isOwn = user.id === ownId;
    const isWithin = rights.covers(role);
    const params = { userId: user.id };
    return {
      id: user.id,
      name: user.email ?? user.username_display ?? user.id,
      role,
      since: created_at,
      isOwn,
      setRole:
        isWithin && rights.changesRoles
          ? // A role that is no longer configured stays until another one is chosen.
            { ...form('set-role/:userId', params), roles: [...new Set([role, ...roles])] }
          : null,
      remove: isWithin && rights.removesMembers && !isOwn ? form('remove/:userId', params) : null,
    };
  };
}

type ListedMember = Found<'get /organizations/:id/members'>['members'][number];

function cursorIn(query: URLSearchParams, name: string): { readonly cursor?: string } {
  const cursor = query.get(name);
  return cursor === null ? {} : { cursor };
}

/** Requires a name and a slug, because the route leaves what it does not get. @throws AuthError `validation_failed` */
function requireNames(fields: ReadonlyMap<string, string>): void {
  for (const name of ['name', 'slug'])
    if (!fields.get(name)?.trim()) throw invalidField(`/${name}`, 'required', say('required'));
}

function organizationView(values: OrganizationValues & CommonValues, words: Words): View {
  const { organization: shown, role, list, members, nextMembers, rename, done } = values;
  const t = words.organization;
  const isNew = done === 'joined';
  return {
    title: shown.name,
    saysDone: isNew,
    up: { href: list, name: words.organizations.title },
    main: html`${isNew && html`<p data-part="done" role="status">${words.join.joined(shown.name)}</p>`}<section data-part="card"><dl data-part="facts"><dt>${words.organizations.slug}</dt><dd>${shown.slug}</dd><dt>${t.ownRole}</dt><dd>${roleName(role, words)}</dd></dl>${
      rename && disclosure({ label: t.change, forms: [rename] }, renameForm(rename, shown, words), words)
    }</section><section data-part="card"><h2>${t.members}</h2><ul data-part="list">${members.map((member) =>
      memberItem(member, words),
    )}</ul>${nextMembers !== null && html`<p><a href="${nextMembers}">${t.nextMembers}</a></p>`}</section>${invitationsCard(
      values,
      words,
    )}${endCards(values, words)}`,
  };
}

function renameForm(
  form: FormValues,
  { name, slug }: OrganizationValues['organization'],
  words: Words,
): Html {
  return formOf(form, { submit: words.organization.save }, words, [
    field(
      form,
      {
        name: 'name',
        label: words.fields.name,
        autocomplete: 'organization',
        value: name,
        maxLength: MAX_NAME,
      },
      words,
    ),
    field(
      form,
      {
        name: 'slug',
        label: words.organizations.slug,
        autocomplete: 'off',
        value: slug,
        hint: words.organization.slugHint,
        maxLength: MAX_SLUG,
        isCode: true,
      },
      words,
    ),
  ]);
}

function memberItem({ name, role, since, isOwn, setRole, remove }: MemberValues, words: Words): Html {
  const t = words.organization;
  const forms = [setRole, remove].filter((form) => form !== null);
  return html`<li data-part="item"${isOwn && html` data-current`}><div><p><strong>${breakable(name)}</strong> <span data-part="tag">${roleName(role, words)}</span>${
    isOwn && html` <span data-part="tag">${t.you}</span>`
  }</p><p data-part="quiet">${t.since(timeOf(since, words, 'day'))}</p></div>${
    forms.length > 0 &&
    disclosure(
      { label: t.changeMember, about: name, forms },
      html`${
        setRole &&
        formOf(
          setRole,
          { submit: t.setRole, kind: 'secondary', about: t.of(name) },
          words,
          roleChoice(setRole, role, words),
        )
      }${
        remove &&
        question(
          { label: t.remove, about: name, text: t.removeText, submit: t.confirmRemove, form: remove },
          words,
        )
      }`,
      words,
    )
  }</li>`;
}

function roleChoice(form: FormWithRoles, value: string | null, words: Words): Html {
  return choice(
    form,
    {
      name: 'role',
      label: words.organization.role,
      value,
      options: form.roles.map((role) => ({ value: role, label: roleName(role, words) })),
    },
    words,
  );
}

function invitationsCard(
  { invitations, nextInvitations, invite }: OrganizationValues,
  words: Words,
): HtmlValue {
  const t = words.organization;
  if (invitations === null) return null;
  const [least = null] = invite?.roles.slice(-1) ?? [];
  return html`<section data-part="card"><h2>${t.invitations}</h2>${
    invitations.length > 0 &&
    html`<ul data-part="list">${invitations.map(
      ({ email, role, expiresAt, revoke }) =>
        html`<li data-part="item"><div><p><strong>${breakable(email)}</strong> <span data-part="tag">${roleName(role, words)}</span></p><p data-part="quiet">${t.expires(timeOf(expiresAt, words))}</p></div>${question(
          {
            label: t.revoke,
            about: t.invitationOf(email),
            text: t.revokeText,
            submit: t.confirmRevoke,
            form: revoke,
          },
          words,
        )}</li>`,
    )}</ul>`
  }${nextInvitations !== null && html`<p><a href="${nextInvitations}">${t.nextInvitations}</a></p>`}${
    invite &&
    html`<h3>${t.invite}</h3>${formOf(invite, { submit: t.submitInvite }, words, [
      field(
        invite,
        {
          name: 'email',
          label: words.fields.email,
          type: 'email',
          autocomplete: 'off',
          hint: t.inviteHint,
        },
        words,
      ),
      // The last role allows least, so that no one gets more than was meant.
      roleChoice(invite, least, words),
    ])}`
  }</section>`;
}

/** Creates the cards to leave and to delete the organization, which are not beside each other. */
function endCards(
  { leave, isLastOwner, deletion, organization: { name } }: OrganizationValues,
  words: Words,
): Html {
  const t = words.organization;
  const leaving = html`<h2>${t.leaveTitle}</h2><p data-part="state">${isLastOwner ? t.lastOwner : t.leaveText}</p>`;
  return html`<section data-part="card">${
    isLastOwner
      ? leaving
      : closed(leaving, question({ label: t.leave, about: name, submit: t.confirmLeave, form: leave }, words))
  }</section>${
    deletion &&
    html`<section data-part="card">${closed(
      html`<h2>${t.deleteTitle}</h2><p data-part="state">${t.deleteText}</p>`,
      question(
        {
          label: t.delete,
          about: name,
          submit: t.confirmDelete,
          form: deletion,
          inputs: confirmationField(deletion, deletion.confirmation, words),
        },
        words,
      ),
    )}</section>`
  }`;
}

declare module '../values.js' {
  interface PageValues {
    'account/organizations/organization': OrganizationValues;
  }
}
