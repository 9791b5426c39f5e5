import { declareProblems } from '../../errors.js';
import { declareLimits } from '../../limits/limiter.js';
import { declareNotices } from '../../mail/notice-kinds.js';
import { declareEvents } from '../../outbox/events.js';
import type { Owner } from '../../owners.js';
import { MAX_ROLE } from '../../permissions.js';
import { column, type RowOf, type ShownOf } from '../../tables/column.js';
import { users } from '../../tables/core.js';
import { declareTable } from '../../tables/table.js';

export const OWNER: Owner = { name: 'organizations' };

/** The maximum number of characters of a name. */
export const MAX_NAME = 100;

/** The maximum number of characters of a slug. */
export const MAX_SLUG = 63;

const NOT_OF_A_USER = 'Its rows are not about one user.';

export const organizationsTable = declareTable({
  name: 'organizations',
  isForSignIns: false,
  exported: NOT_OF_A_USER,
  columns: {
    /** A UUID, version 7. */
    id: column.uuid().onWire(),
    /** The name that people see: 1 to 100 visible characters. */
    name: column.text(MAX_NAME).onWire(),
    /** The name in addresses: 2 to 63 small letters, digits and single hyphens. It can change. */
    slug: column.text(MAX_SLUG).exact().onWire(),
    /** When the organization was created. */
    createdAt: column.time().onWire(),
    /** When its name or slug last changed. */
    updatedAt: column.time(),
  },
  unique: { slug: ['slug'] },
});

export type OrganizationColumns = typeof organizationsTable.columns;

/** An organization: a group of users who share data of your app. */
export interface Organization extends ShownOf<OrganizationColumns> {}

export const membersTable = declareTable({
  name: 'organization_members',
  ofUser: 'memberships',
  isForSignIns: false,
  exported: { as: 'organization_members', by: 'userId' },
  columns: {
    /** A UUID, version 7. */
    id: column.uuid().exported(),
    /** The id of the user. */
    userId: column.uuid().exported(),
    /** The id of the organization. */
    organizationId: column.uuid().exported(),
    /** The role of the user in the organization. A role that is not configured allows nothing. */
    role: column.text(MAX_ROLE).exact().onWire({ description: 'The role of the user in the organization' }),
    /** When the user became a member. */
    createdAt: column.time().onWire(),
  },
  unique: { userId: ['userId', 'organizationId'] },
  foreignKeys: { userId: users, organizationId: organizationsTable },
  indexes: { organizationId: ['organizationId', 'id'] },
});

export type MemberColumns = typeof membersTable.columns;

/** The membership of a user in an organization. */
export interface Membership extends ShownOf<MemberColumns> {}

export const invitationsTable = declareTable({
  name: 'organization_invitations',
  isForSignIns: false,
  exported: 'An invitation belongs to its organization. The invited user might be another person.',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid().onWire(),
    /** The id of the organization. */
    organizationId: column.uuid(),
    /** The invited address, in canonical form. */
    email: column.text(254).exact().onWire(),
    /** The role that the invited user will have. */
    role: column.text(MAX_ROLE).exact().onWire({ description: 'The role that the invited user will have' }),
    /** The hash of the token. It is only in the email. */
    tokenHash: column.digest().internal(),
    /** The id of the member who invites. Null if your app's code does. */
    invitedBy: column.uuid().onWire({ description: 'The id of the member who invites' }).nullable(),
    /** When the invitation was created. */
    createdAt: column.time().onWire(),
    /** When the invitation expires. */
    expiresAt: column.time().onWire(),
  },
  unique: { tokenHash: ['tokenHash'], email: ['organizationId', 'email'] },
  foreignKeys: { organizationId: organizationsTable, invitedBy: users },
  indexes: { email: ['email'], invitedBy: ['invitedBy'], expiresAt: ['expiresAt'] },
});

export type InvitationColumns = typeof invitationsTable.columns;

/** An invitation, with the hash of its token. */
export type InvitationRow = RowOf<InvitationColumns>;

/** An invitation to an organization. It does not contain the token, which is only in the email. */
export interface Invitation extends ShownOf<InvitationColumns> {}

export const TABLES = {
  Organization: organizationsTable,
  OrganizationMember: membersTable,
  OrganizationInvitation: invitationsTable,
} as const;

const problems = declareProblems({
  organization_not_found: [404, 'There is no such organization, or you are not a member of it.'],
  member_not_found: [404, 'The organization has no such member.'],
  invitation_not_found: [404, 'There is no such invitation. It might have been accepted or revoked already.'],
  too_many_organizations: [
    409,
    'You own the maximum number of organizations. Delete one, or stop owning one.',
  ],
  already_member: [409, 'This user is a member of the organization already.'],
  organization_full: [409, 'The organization has the maximum number of members.'],
  last_owner: [
    409,
    'The organization would be left without an owner whose account is active. Make another member an owner first.',
  ],
  organization_in_use: [409, 'Other data still belongs to this organization. Remove that data first.'],
  too_many_invitations: [
    409,
    'The organization has the maximum number of pending invitations. Revoke some, or wait until they are accepted.',
  ],
  invitation_for_other_email: [
    403,
    'This invitation is for another email. Sign out, and open the link again.',
  ],
});

declare module '../../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../../mail/messages.js' {
  interface MailKinds {
    /** An invitation to an organization. */
    'organization-invitation': unknown;
  }
}

declare module '../../config/hooks.js' {
  interface CreatedVias {
    /** The link of an invitation to an organization. */
    invitation: unknown;
  }
}

/** The kind of the email with an invitation. */
export const MAIL_KIND = 'organization-invitation';

declareLimits(OWNER, {
  /** Invitations by an organization. */
  organizationInvitation: { limit: 50, window: 3600 },
  /** Invitations by a member. */
  invitation: { limit: 20, window: 3600 },
});

declare module '../../limits/limiter.js' {
  interface LimitNames {
    organizationInvitation: unknown;
    invitation: unknown;
  }
}

/** How a user became a member. */
export type MemberVia = 'invitation' | 'code' | 'created';

/** The ids in every event about an organization. */
interface OfOrganization {
  readonly organizationId: string;
  /** The user who did it. Null if your app's code did. */
  readonly byUserId: string | null;
}

/** The ids in every event about a user in an organization. */
interface OfMember extends OfOrganization {
  readonly userId: string;
}

declare module '../../outbox/events.js' {
  interface EventDetails {
    /** An organization was created. `userId` is its first owner. */
    'organization.created': OfMember;
    /** The name or slug of an organization changed. */
    'organization.updated': OfOrganization;
    /** An organization was deleted, with its memberships and invitations. */
    'organization.deleted': OfOrganization;
    /** A user became a member. `via` says how: by accepting an `invitation`, by `code`, or because they `created` it. */
    'organization.member_added': OfMember & { readonly role: string; readonly via: MemberVia };
    /** The role of a member changed. */
    'organization.member_role_changed': OfMember & { readonly before: string; readonly after: string };
    /** A member was removed or has left. */
    'organization.member_removed': OfMember;
    /** A member, or your app's code, invited an address. */
    'organization.invitation_created': OfOrganization & { readonly invitationId: string };
    /** An invitation was revoked before it was accepted. */
    'organization.invitation_revoked': OfOrganization & { readonly invitationId: string };
  }
}

/** The reason why exports do not contain `byUserId`. */
const OF_OTHER = 'It is the id of another user.';
const OF_ORGANIZATION = { organizationId: true, byUserId: OF_OTHER } as const;

declareEvents(OWNER, {
  'organization.created': OF_ORGANIZATION,
  'organization.updated': OF_ORGANIZATION,
  'organization.deleted': OF_ORGANIZATION,
  'organization.member_added': { ...OF_ORGANIZATION, role: true, via: true },
  'organization.member_role_changed': { ...OF_ORGANIZATION, before: true, after: true },
  'organization.member_removed': OF_ORGANIZATION,
  'organization.invitation_created': { ...OF_ORGANIZATION, invitationId: true },
  'organization.invitation_revoked': { ...OF_ORGANIZATION, invitationId: true },
});

export const organizationNotices = declareNotices(OWNER, { 'organization-owner-added': {} });

declare module '../../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof organizationNotices, unknown> {}
}
