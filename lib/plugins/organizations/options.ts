import * as z from 'zod';
import { flag, schemaOf } from '../../config/options.js';
import {
  EVERYTHING,
  faultInRoles,
  type Permissions,
  type RolePermissions,
  Roles,
} from '../../permissions.js';

/** The role that every organization has at least one member with. It has every permission. */
export const OWNER_ROLE = 'owner';

/** The permissions of the routes of organizations. */
export const PERMISSIONS = [
  'organization:update',
  'organization:delete',
  'member:update',
  'member:remove',
  'invitation:create',
] as const;

/** A permission that routes of organizations require. */
export type OrganizationPermission = (typeof PERMISSIONS)[number];

const DEFAULT_ROLES: RolePermissions = {
  admin: ['organization:update', 'member:update', 'member:remove', 'invitation:create'],
  member: [],
};

/** Options of {@link organizations}. */
export interface OrganizationsOptions {
  /**
   * The permissions of each role of members, by its name. They replace or complete the defaults `admin` and `member`. The
   * role `owner` exists in addition, and has every permission.
   * @default { admin: ['organization:update', 'member:update', 'member:remove', 'invitation:create'], member: [] }
   */
  roles?: Readonly<Record<string, readonly string[]>>;
  /** The users who can create organizations. @default 'anyone' */
  creation?: 'anyone' | 'administrators';
  /** Whether an invitation can create the account of its address. @default whether `signUp` in the config is `open` */
  signUp?: boolean;
  /** The maximum number of members of an organization, including closed and suspended accounts. @default 1000 */
  maxMembers?: number;
  /** The maximum number of organizations that a user can own, if the user creates another one. @default 20 */
  maxOwned?: number;
  /** The number of days for which an invitation can be accepted. @default 7 */
  invitationDays?: number;
}

/** The options with their defaults. */
export interface OrganizationSettings {
  readonly roles: Roles;
  readonly creation: 'anyone' | 'administrators';
  /** Undefined if `signUp` in the config decides. */
  readonly signUp: boolean | undefined;
  readonly maxMembers: number;
  readonly maxOwned: number;
  readonly invitationMs: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const amount = (most: number) =>
  z
    .int(`must be a whole number from 1 to ${most}`)
    .min(1, `must be a whole number from 1 to ${most}`)
    .max(most, `must be a whole number from 1 to ${most}`);

/** @internal */
export const schema = () =>
  schemaOf<OrganizationsOptions>()({
    roles: z
      .custom<NonNullable<OrganizationsOptions['roles']>>()
      .superRefine((roles, context) => {
        const fault = faultInRoles(roles) ?? faultInOwner(roles);
        if (fault !== null) context.addIssue({ code: 'custom', message: fault });
      })
      .default({}),
    creation: z.enum(['anyone', 'administrators'], "must be 'anyone' or 'administrators'").default('anyone'),
    signUp: flag.optional(),
    maxMembers: amount(100_000).default(1000),
    maxOwned: amount(100_000).default(20),
    invitationDays: amount(365).default(7),
  });

/** Returns what is wrong with roles that only the owner can have. */
function faultInOwner(roles: RolePermissions): string | null {
  if (Object.hasOwn(roles, OWNER_ROLE)) return `must not contain ${OWNER_ROLE}, which has every permission`;
  const [name] = Object.entries(roles).find(([, permissions]) => permissions.includes(EVERYTHING)) ?? [];
  return name === undefined
    ? null
    : `must not give the role ${name} the permission *, which only ${OWNER_ROLE} has`;
}

/** @internal */
export function settingsOf(options: z.output<ReturnType<typeof schema>>): OrganizationSettings {
  const { roles, invitationDays, creation, signUp, maxMembers, maxOwned } = options;
  const all: Record<string, Permissions> = { [OWNER_ROLE]: [EVERYTHING], ...DEFAULT_ROLES, ...roles };
  return {
    roles: new Roles(all, PERMISSIONS),
    creation,
    signUp,
    maxMembers,
    maxOwned,
    invitationMs: invitationDays * DAY_MS,
  };
}
