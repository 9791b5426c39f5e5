import * as z from 'zod';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import { resourceOf, resources, sessionReply } from '../../http/present.js';
import {
  named,
  pageOptions,
  pageQuery,
  type Route,
  route,
  text,
  time,
  id as uuid,
} from '../../http/route.js';
import { optionalFields, shownAgain } from '../../shown-again.js';
import type { User } from '../../tables/core.js';
import { EmailProof } from '../../users/email-proof.js';
import type { OrganizationChanges } from './changes.js';
import {
  type Invitation,
  invitationsTable,
  type Membership,
  membersTable,
  type Organization,
  organizationsTable,
} from './declarations.js';
import type { Invitations } from './invitations.js';
import type { MembershipsOfRoutes } from './memberships.js';
import type { OrganizationSettings } from './options.js';
import type { Member, OrganizationRows } from './rows.js';

/** What the routes of organizations use. */
export interface OrganizationServices {
  readonly core: Core;
  readonly rows: OrganizationRows;
  readonly changes: OrganizationChanges;
  readonly memberships: MembershipsOfRoutes;
  readonly settings: OrganizationSettings;
}

/** The member whom a call is about: see `Route.locks`. */
const locks = ({ userId }: Readonly<Record<string, string>>) => (userId === undefined ? [] : [userId]);

const organizationResource = resourceOf<Organization>(
  'Organization',
  'An organization: a group of users who share data of the app',
  organizationsTable.columns,
);

const membershipResource = resourceOf<Membership>(
  'Membership',
  'The membership of the current user in an organization',
  membersTable.columns,
);

/** Members in JSON. */
function memberResource({ shownOfUser }: Core) {
  const hasNames = shownOfUser.includes('username');
  const schema = named(
    'Member',
    'A member of an organization',
    z.object({
      user: z.object({
        id: uuid,
        email: z.string().nullable(),
        ...(hasNames && { username: z.string().nullable(), username_display: z.string().nullable() }),
      }),
      role: z.string(),
      created_at: time,
    }),
  );
  const present = ({ user: { id, email, username, usernameDisplay }, role, createdAt }: Member) => ({
    user: { id, email, ...(hasNames && { username, username_display: usernameDisplay }) },
    role,
    created_at: createdAt.toISOString(),
  });
  return { schema, present };
}

/** Whether a user can create an organization. */
export function canCreate(core: Core, { creation }: OrganizationSettings, user: User): boolean {
  return creation === 'anyone' || core.isAdministrator(user);
}

/** Roles in requests. They are only documented here, because code must pass the same check. */
function roleField({ settings }: Pick<OrganizationServices, 'settings'>) {
  return text(100).meta({ examples: settings.roles.names });
}

const nameField = text(200).describe('1 to 100 visible characters');
const slugField = text(200).describe(
  'The name in addresses: 2 to 63 small letters, digits and single hyphens',
);

/** The routes of organizations and their members. */
export function organizationRoutes(services: OrganizationServices): readonly Route[] {
  return [
    createOrganization(services),
    listOrganizations(services),
    getOrganization(services),
    updateOrganization(services),
    deleteOrganization(services),
    listMembers(services),
    setMemberRole(services),
    removeMember(services),
  ];
}

const createOrganization = ({ core, rows, changes, settings }: OrganizationServices) =>
  route({
    method: 'post',
    path: '/organizations',
    client: 'organizations.create',
    summary: 'Create an organization, whose owner is the current user',
    access: 'session',
    locks,
    body: z.strictObject({ name: shownAgain(nameField), slug: shownAgain(slugField) }),
    answers: {
      201: {
        description: 'The organization, and the membership of the user',
        schema: z.object({
          organization: organizationResource.schema,
          membership: membershipResource.schema,
        }),
      },
    },
    problems: [
      'email_not_verified',
      'slug_taken',
      'too_many_organizations',
      ...(settings.creation === 'administrators' ? (['admin_required'] as const) : []),
    ],
    async handle({ auth: { user }, body }) {
      const { organization, membership } = await changes.create(
        body,
        user.id,
        user.id,
        async (owner, transaction) => {
          if (!canCreate(core, settings, owner.user)) throw new AuthError('admin_required');
          // Other members see the email, and invite by it.
          if (core.mails && !EmailProof.of(owner.user).reaches('app'))
            throw new AuthError('email_not_verified');
          if ((await rows.countOwned(user.id, transaction)) >= settings.maxOwned)
            throw new AuthError('too_many_organizations');
        },
      );
      const body201 = {
        organization: organizationResource.present(organization),
        membership: membershipResource.present(membership),
      };
      return { status: 201, body: body201 };
    },
  });

const listOrganizations = ({ rows }: OrganizationServices) => {
  const listed = named(
    'OrganizationOfUser',
    'An organization, with the role of the current user in it',
    organizationResource.schema.extend({ role: z.string() }),
  );
  return route({
    method: 'get',
    path: '/organizations',
    client: 'organizations.list',
    summary: "List the current user's organizations, newest first",
    access: 'session',
    openToActing: true,
    query: z.object(pageQuery),
    answers: {
      200: {
        description: 'The organizations, and the cursor of the next page',
        schema: z.object({ organizations: z.array(listed), next_cursor: z.string().nullable() }),
      },
    },
    async handle({ auth, query }) {
      const { items, nextCursor } = await rows.ofUser(auth.user.id, pageOptions(query));
      const organizations = items.map((one) => ({ ...organizationResource.present(one), role: one.role }));
      return { status: 200, body: { organizations, next_cursor: nextCursor } };
    },
  });
};

const getOrganization = ({ memberships }: OrganizationServices) =>
  route({
    method: 'get',
    path: '/organizations/:id',
    client: 'organizations.get',
    summary: 'Get an organization of the current user',
    access: 'session',
    openToActing: true,
    alongside: memberships.ask,
    answers: {
      200: {
        description: 'The organization, and the membership of the user',
        schema: z.object({
          organization: organizationResource.schema,
          membership: membershipResource.schema,
        }),
      },
    },
    problems: ['organization_not_found'],
    async handle(call) {
      const { organization, membership } = await memberships.of(call);
      const body = {
        organization: organizationResource.present(organization),
        membership: membershipResource.present(membership),
      };
      return { status: 200, body };
    },
  });

const updateOrganization = (services: OrganizationServices) =>
  route({
    method: 'patch',
    path: '/organizations/:id',
    client: 'organizations.update',
    formTwin: '/organizations/:id/update',
    summary: 'Change the name or slug of an organization',
    access: 'session',
    locks,
    body: z.strictObject({ name: shownAgain(nameField.optional()), slug: shownAgain(slugField.optional()) }),
    answers: {
      200: {
        description: 'The organization',
        schema: z.object({ organization: organizationResource.schema }),
      },
    },
    problems: ['organization_not_found', 'permission_required', 'slug_taken'],
    async handle({ auth, params: { id = '' }, body }) {
      const organization = await services.changes.update(id, body as Partial<Organization>, auth.user.id);
      return { status: 200, body: { organization: organizationResource.present(organization) } };
    },
  });

const deleteOrganization = (services: OrganizationServices) =>
  route({
    method: 'delete',
    path: '/organizations/:id',
    client: 'organizations.delete',
    formTwin: '/organizations/:id/delete',
    summary: 'Delete an organization with its memberships and invitations, after a recent sign-in',
    access: 'session',
    locks,
    sensitive: { asks: 'fresh' },
    answers: { 204: { description: 'The organization was deleted' } },
    problems: ['organization_not_found', 'permission_required', 'organization_in_use'],
    async handle({ auth, params: { id = '' } }) {
      await services.changes.delete(id, auth.user.id);
      return { status: 204 };
    },
  });

const listMembers = (services: OrganizationServices) => {
  const { core, rows, memberships } = services;
  const member = memberResource(core);
  return route({
    method: 'get',
    path: '/organizations/:id/members',
    client: 'organizations.members',
    summary: 'List the members of an organization, newest first',
    access: 'session',
    alongside: memberships.ask,
    query: z.object(pageQuery),
    answers: {
      200: {
        description: 'The members, and the cursor of the next page',
        schema: z.object({ members: z.array(member.schema), next_cursor: z.string().nullable() }),
      },
    },
    problems: ['organization_not_found'],
    async handle(call) {
      const { organization } = await memberships.of(call);
      const { items, nextCursor } = await rows.listMembers(organization.id, pageOptions(call.query));
      return { status: 200, body: { members: items.map(member.present), next_cursor: nextCursor } };
    },
  });
};

const setMemberRole = (services: OrganizationServices) => {
  const member = memberResource(services.core);
  return route({
    method: 'patch',
    path: '/organizations/:id/members/:userId',
    client: 'organizations.setRole',
    formTwin: '/organizations/:id/members/:userId/set-role',
    summary: 'Change the role of a member, after a recent sign-in or with the password',
    access: 'session',
    locks,
    sensitive: { asks: 'fresh-or-password' },
    body: z.strictObject({ role: shownAgain(roleField(services)) }),
    answers: { 200: { description: 'The member', schema: z.object({ member: member.schema }) } },
    problems: ['organization_not_found', 'member_not_found', 'permission_required', 'last_owner'],
    async handle({ auth, params: { id = '', userId = '' }, body: { role } }) {
      const changed = await services.changes.setRole(id, userId, role, auth.user.id);
      return { status: 200, body: { member: member.present(changed) } };
    },
  });
};

const removeMember = (services: OrganizationServices) =>
  route({
    method: 'delete',
    path: '/organizations/:id/members/:userId',
    client: 'organizations.removeMember',
    formTwin: '/organizations/:id/members/:userId/remove',
    summary:
      'Remove a member, after a recent sign-in or with the password. Members can always remove themselves',
    access: 'session',
    locks,
    sensitive: { asks: 'fresh-or-password', isExempt: (caller, { userId }) => userId === caller },
    answers: { 204: { description: 'The user is no longer a member' } },
    problems: ['organization_not_found', 'member_not_found', 'permission_required', 'last_owner'],
    async handle({ auth, params: { id = '', userId = '' } }) {
      await services.changes.removeMember(id, userId, auth.user.id);
      return { status: 204 };
    },
  });

/** What the routes of invitations use. */
interface InvitationServices extends OrganizationServices {
  readonly invitations: Invitations;
}

const invitationResource = resourceOf<Invitation>(
  'Invitation',
  'An invitation to an organization, without its token',
  invitationsTable.columns,
);

/** The routes of invitations, which require emails. */
export function invitationRoutes(services: InvitationServices): readonly Route[] {
  return [
    createInvitation(services),
    listInvitations(services),
    revokeInvitation(services),
    lookUpInvitation(services),
    acceptInvitation(services),
  ];
}

const createInvitation = (services: InvitationServices) =>
  route({
    method: 'post',
    path: '/organizations/:id/invitations',
    client: 'organizations.invite',
    summary: 'Invite an address to an organization, after a recent sign-in or with the password',
    access: 'session',
    locks,
    sensitive: { asks: 'fresh-or-password' },
    body: z.strictObject({ email: shownAgain(text(320)), role: shownAgain(roleField(services)) }),
    answers: {
      201: {
        description: 'The invitation. Its token is only in the email',
        schema: z.object({ invitation: invitationResource.schema }),
      },
    },
    problems: [
      'organization_not_found',
      'permission_required',
      'already_member',
      'too_many_invitations',
      'rate_limited',
    ],
    async handle({ auth, params: { id = '' }, body }) {
      const invitation = await services.invitations.create(id, body, auth.user.id);
      return { status: 201, body: { invitation: invitationResource.present(invitation) } };
    },
  });

const listInvitations = ({ changes, memberships, invitations }: InvitationServices) =>
  route({
    method: 'get',
    path: '/organizations/:id/invitations',
    client: 'organizations.invitations',
    summary: 'List the pending invitations of an organization, newest first',
    access: 'session',
    alongside: memberships.ask,
    query: z.object(pageQuery),
    answers: {
      200: {
        description: 'The invitations, and the cursor of the next page',
        schema: z.object({
          invitations: z.array(invitationResource.schema),
          next_cursor: z.string().nullable(),
        }),
      },
    },
    problems: ['organization_not_found', 'permission_required'],
    async handle(call) {
      const { organization, membership } = await memberships.of(call);
      changes.requirePermission(membership, 'invitation:create');
      const { items, nextCursor } = await invitations.list(organization.id, pageOptions(call.query));
      return {
        status: 200,
        body: { invitations: items.map(invitationResource.present), next_cursor: nextCursor },
      };
    },
  });

const revokeInvitation = (services: InvitationServices) =>
  route({
    method: 'delete',
    path: '/organizations/:id/invitations/:invitationId',
    client: 'organizations.revokeInvitation',
    formTwin: '/organizations/:id/invitations/:invitationId/revoke',
    summary: 'Revoke an invitation',
    access: 'session',
    locks,
    answers: { 204: { description: 'The invitation was revoked' } },
    problems: ['organization_not_found', 'permission_required', 'invitation_not_found'],
    async handle({ auth, params: { id = '', invitationId = '' } }) {
      await services.invitations.revoke(id, invitationId, auth.user.id);
      return { status: 204 };
    },
  });

const lookUpInvitation = ({ core, invitations }: InvitationServices) =>
  route({
    method: 'post',
    path: '/invitations/lookup',
    client: 'organizations.lookUp',
    summary: 'Get the invitation that an emailed token belongs to. The token still works',
    access: 'public',
    forms: false,
    body: z.strictObject({ token: text(200) }),
    answers: {
      200: {
        description: 'The invitation',
        schema: named(
          'OpenInvitation',
          'An invitation that can be accepted',
          z.object({
            organization: organizationResource.schema,
            email: z.string(),
            role: z.string(),
            invited_by: z
              .string()
              .nullable()
              .describe('The email or username of the member who invites. Null if the app does'),
            expires_at: time,
            account: z
              .boolean()
              .describe('Whether the address has an account, so that accepting requires a session'),
          }),
        ),
      },
    },
    problems: ['invalid_token', 'rate_limited'],
    async handle({ body: { token } }) {
      await core.limiter.countAddress('signIn');
      const { row, organization, inviter, hasAccount } = await invitations.find(token);
      const body = {
        organization: organizationResource.present(organization),
        email: row.email,
        role: row.role,
        invited_by: inviter?.user.email ?? inviter?.user.usernameDisplay ?? null,
        expires_at: row.expiresAt.toISOString(),
        account: hasAccount,
      };
      return { status: 200, body };
    },
  });

const acceptInvitation = ({ core, invitations }: InvitationServices) => {
  const [signsUp] = core.contributions.flatMap((one) => one.signsUp ?? []);
  // They are accepted even if no account can be created, so that the response says so.
  const fields = signsUp?.shape ?? { password: text(1024) };
  const { user, session } = resources(core);
  return route({
    method: 'post',
    path: '/invitations/accept',
    client: 'organizations.accept',
    session: 'changes',
    summary: 'Accept an invitation in a session of the invited address, or with a new account',
    access: 'session-or-none',
    locks,
    body: z.strictObject({
      token: text(200),
      ...optionalFields(fields),
      ...(signsUp && { remember_me: shownAgain(REMEMBER_ME) }),
    }),
    answers: {
      200: {
        description: 'The organization and the membership, and for a new account the user and the session',
        schema: z.object({
          organization: organizationResource.schema,
          membership: membershipResource.schema,
          user: user.schema.optional(),
          session: session.schema.optional(),
        }),
      },
    },
    problems: [
      'invalid_token',
      'invitation_for_other_email',
      'account_exists',
      'sign_up_refused',
      'organization_full',
      ...(signsUp?.problems ?? []),
    ],
    async handle({ auth, body }) {
      const { token, remember_me = false, ...given } = body as AcceptBody;
      const { organization, membership, issued } = auth
        ? await invitations.accept(token, auth)
        : await invitations.signUp(token, given, remember_me);
      const joined = {
        organization: organizationResource.present(organization),
        membership: membershipResource.present(membership),
      };
      if (!issued) return { status: 200, body: joined };
      const { body: signedIn, ...reply } = sessionReply(core, issued);
      return { ...reply, body: { ...joined, ...(signedIn as object) } };
    },
  });
};

interface AcceptBody extends Record<string, unknown> {
  readonly token: string;
  readonly remember_me?: boolean;
}

const REMEMBER_ME = z.boolean().optional().describe('Keep the session when the browser is closed');
