import * as z from 'zod';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import { resourceOf } from '../../http/present.js';
import {
  named,
  pageOptions,
  pageQuery,
  type Rights,
  type Route,
  route,
  text,
  time,
  id as uuid,
} from '../../http/route.js';
import { shownAgain } from '../../shown-again.js';
import type { User } from '../../tables/core.js';
import { EmailProof } from '../../users/email-proof.js';
import type { OrganizationChanges } from './changes.js';
import { type Membership, membersTable, type Organization, organizationsTable } from './declarations.js';
import type { OrganizationPermission, OrganizationSettings } from './options.js';
import type { Member, OrganizationRows } from './rows.js';

/** What the routes of organizations use. */
export interface OrganizationParts {
  readonly core: Core;
  readonly rows: OrganizationRows;
  readonly changes: OrganizationChanges;
  readonly settings: OrganizationSettings;
}

/** Returns the rights of a route. @param permission null if every member can call it */
export function rightsOf(
  { changes }: Pick<OrganizationParts, 'changes'>,
  permission: OrganizationPermission | null,
): Rights {
  return {
    async check(userId, { id = '' }) {
      await changes.requireRight(id, userId, permission);
    },
    others: ({ userId }) => (userId === undefined ? [] : [userId]),
  };
}

export const organizationResource = resourceOf<Organization>(
  'Organization',
  'An organization: a group of users who share data of the app',
  organizationsTable.columns,
);

export const membershipResource = resourceOf<Membership>(
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
export function roleField({ settings }: Pick<OrganizationParts, 'settings'>) {
  return text(100).meta({ examples: settings.roles.names });
}

const nameField = () => text(200).describe('1 to 100 visible characters');
const slugField = () =>
  text(200).describe('The name in addresses: 2 to 63 small letters, digits and single hyphens');

/** The routes of organizations and their members. */
export function organizationRoutes(parts: OrganizationParts): readonly Route[] {
  return [
    createOrganization(parts),
    listOrganizations(parts),
    getOrganization(parts),
    updateOrganization(parts),
    deleteOrganization(parts),
    listMembers(parts),
    setMemberRole(parts),
    removeMember(parts),
  ];
}

const createOrganization = ({ core, rows, changes, settings }: OrganizationParts) =>
  route({
    method: 'post',
    path: '/organizations',
    client: 'organizations.create',
    summary: 'Create an organization, whose owner is the current user',
    access: 'session',
    rights: {},
    body: z.strictObject({ name: shownAgain(nameField()), slug: shownAgain(slugField()) }),
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

const listOrganizations = ({ rows }: OrganizationParts) => {
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

const getOrganization = ({ rows }: OrganizationParts) =>
  route({
    method: 'get',
    path: '/organizations/:id',
    client: 'organizations.get',
    summary: 'Get an organization of the current user',
    access: 'session',
    openToActing: true,
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
    async handle({ auth, params: { id = '' } }) {
      const found = await rows.ofMember(id, auth.user.id);
      if (!found) throw new AuthError('organization_not_found');
      const body = {
        organization: organizationResource.present(found.organization),
        membership: membershipResource.present(found.membership),
      };
      return { status: 200, body };
    },
  });

const updateOrganization = (parts: OrganizationParts) =>
  route({
    method: 'patch',
    path: '/organizations/:id',
    client: 'organizations.update',
    formTwin: '/organizations/:id/update',
    summary: 'Change the name or slug of an organization',
    access: 'session',
    rights: rightsOf(parts, 'organization:update'),
    body: z.strictObject({
      name: shownAgain(nameField().optional()),
      slug: shownAgain(slugField().optional()),
    }),
    answers: {
      200: {
        description: 'The organization',
        schema: z.object({ organization: organizationResource.schema }),
      },
    },
    problems: ['organization_not_found', 'permission_required', 'slug_taken'],
    async handle({ auth, params: { id = '' }, body }) {
      const organization = await parts.changes.update(id, body as Partial<Organization>, auth.user.id);
      return { status: 200, body: { organization: organizationResource.present(organization) } };
    },
  });

const deleteOrganization = (parts: OrganizationParts) =>
  route({
    method: 'delete',
    path: '/organizations/:id',
    client: 'organizations.delete',
    formTwin: '/organizations/:id/delete',
    summary: 'Delete an organization with its memberships and invitations, after a recent sign-in',
    access: 'session',
    rights: rightsOf(parts, 'organization:delete'),
    sensitive: { asks: 'fresh' },
    answers: { 204: { description: 'The organization was deleted' } },
    problems: ['organization_not_found', 'permission_required', 'organization_in_use'],
    async handle({ auth, params: { id = '' } }) {
      await parts.changes.delete(id, auth.user.id);
      return { status: 204 };
    },
  });

const listMembers = (parts: OrganizationParts) => {
  const { core, rows } = parts;
  const member = memberResource(core);
  return route({
    method: 'get',
    path: '/organizations/:id/members',
    client: 'organizations.members',
    summary: 'List the members of an organization, newest first',
    access: 'session',
    rights: rightsOf(parts, null),
    query: z.object(pageQuery),
    answers: {
      200: {
        description: 'The members, and the cursor of the next page',
        schema: z.object({ members: z.array(member.schema), next_cursor: z.string().nullable() }),
      },
    },
    problems: ['organization_not_found'],
    async handle({ params: { id = '' }, query }) {
      const { items, nextCursor } = await rows.listMembers(id, pageOptions(query));
      return { status: 200, body: { members: items.map(member.present), next_cursor: nextCursor } };
    },
  });
};

const setMemberRole = (parts: OrganizationParts) => {
  const member = memberResource(parts.core);
  return route({
    method: 'patch',
    path: '/organizations/:id/members/:userId',
    client: 'organizations.setRole',
    formTwin: '/organizations/:id/members/:userId/set-role',
    summary: 'Change the role of a member, after a recent sign-in or with the password',
    access: 'session',
    rights: rightsOf(parts, 'member:update'),
    sensitive: { asks: 'fresh-or-password' },
    body: z.strictObject({ role: shownAgain(roleField(parts)) }),
    answers: { 200: { description: 'The member', schema: z.object({ member: member.schema }) } },
    problems: ['organization_not_found', 'member_not_found', 'permission_required', 'last_owner'],
    async handle({ auth, params: { id = '', userId = '' }, body: { role } }) {
      const changed = await parts.changes.setRole(id, userId, role, auth.user.id);
      return { status: 200, body: { member: member.present(changed) } };
    },
  });
};

const removeMember = (parts: OrganizationParts) =>
  route({
    method: 'delete',
    path: '/organizations/:id/members/:userId',
    client: 'organizations.removeMember',
    formTwin: '/organizations/:id/members/:userId/remove',
    summary:
      'Remove a member, after a recent sign-in or with the password. Members can always remove themselves',
    access: 'session',
    rights: {
      ...rightsOf(parts, null),
      async check(caller, { id = '', userId }) {
        await parts.changes.requireRight(id, caller, userId === caller ? null : 'member:remove');
      },
    },
    sensitive: { asks: 'fresh-or-password', isExempt: (caller, { userId }) => userId === caller },
    answers: { 204: { description: 'The user is no longer a member' } },
    problems: ['organization_not_found', 'member_not_found', 'permission_required', 'last_owner'],
    async handle({ auth, params: { id = '', userId = '' } }) {
      await parts.changes.removeMember(id, userId, auth.user.id);
      return { status: 204 };
    },
  });
