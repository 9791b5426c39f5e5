import * as z from 'zod';
import { flag, readOptions, schemaOf } from '../../config/options.js';
import { ADMINISTRATION, declareAdministrators } from '../../core/contribution.js';
import type { Core } from '../../core/core.js';
import { excerpt } from '../../errors.js';
import { nearest } from '../../known-keys.js';
import { inEnglish } from '../../phrases.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import { actingColumns, actingIndexes } from '../../sessions/acting.js';
import type { User } from '../../tables/core.js';
import { canonicalEmail, emailFault } from '../../users/canonical.js';
import { EmailProof } from '../../users/email-proof.js';
import { AdminApi } from './api.js';
import {
  actAsUser,
  createUser,
  deleteUser,
  getUser,
  listUserSessions,
  listUsers,
  requirePassword,
  revokeUserSession,
  revokeUserSessions,
  sendPasswordReset,
  updateUser,
} from './routes.js';

/** Options of {@link admin}. Without `role`, at least one of the lists must not be empty. */
export interface AdminOptions {
  /** The ids of users who are administrators. @default [] */
  adminUserIds?: readonly string[];
  /** The emails of administrators. They count only once they are verified. @default [] */
  adminEmails?: readonly string[];
  /**
   * The role that makes users administrators. Requires `roles()` with this role. Administrators whom the lists name have
   * every permission, and other administrators cannot change their accounts.
   * @default none
   */
  role?: string;
  /** Whether administrators can create, change and delete users. @default true */
  manageUsers?: boolean;
  /**
   * The number of seconds within which an administrator must have signed in or reauthenticated, to change another user's
   * account: to create, change and reinstate users, and to send them links. Otherwise they get 403
   * `reauthentication_required`. For deleting a user and disabling a second factor, the limit is at most ten minutes.
   * Suspending a user and ending sessions have no limit, because they are urgent.
   * @default 3600
   */
  fresh?: number;
  /**
   * The authenticator assurance level that these changes require. With 2, the administrator must have signed in with two
   * factors or a passkey. An administrator who has a second factor must always have used it.
   * @default 1
   */
  aal?: 1 | 2;
  /**
   * Lets administrators act as a user, with POST `/admin/users/:id/act`, to look at the app as the user sees it. Pass `{}`
   * for the defaults. `minutes` says how long it lasts: 1 to 60 minutes, by default 30.
   * @default administrators cannot act as users
   */
  actAs?: { minutes?: number };
}

const MINUTES = 'must be a whole number of minutes from 1 to 60';

/** @internal */
export const schema = () =>
  schemaOf<AdminOptions>()({
    adminUserIds: z
      .array(
        z
          .string()
          .trim()
          .toLowerCase()
          .min(1, 'must be the id of a user, not empty')
          .refine((id) => !id.includes('@'), 'must be the id of a user: put emails into adminEmails'),
        'must be a list of user ids',
      )
      .default([]),
    adminEmails: z
      .array(
        z.string().transform((email, context) => {
          const canonical = canonicalEmail(email);
          if (!canonical) context.addIssue({ code: 'custom', message: inEnglish(emailFault(email)) });
          return canonical;
        }),
        'must be a list of emails',
      )
      .default([]),
    role: z.string('must be the name of a role').min(1, 'must be the name of a role').optional(),
    manageUsers: flag.default(true),
    fresh: z
      .number('must be a number of seconds')
      .positive('must be a number of seconds')
      .default(ADMINISTRATION.fresh),
    aal: z.union([z.literal(1), z.literal(2)], 'must be 1 or 2').default(ADMINISTRATION.aal),
    actAs: z
      .strictObject(
        { minutes: z.int(MINUTES).min(1, MINUTES).max(60, MINUTES).default(30) },
        'must be an object, such as { minutes: 30 }',
      )
      .optional(),
  });

/** The attributes of users on which their rights depend. */
const OF_RIGHTS: ReadonlySet<string> = new Set(['email', 'emailProof', 'emailVerifiedAt', 'roles']);

declareAdministrators('add admin({ adminUserIds: […] }) to plugins');

/**
 * Lets administrators list users and revoke their sessions.
 *
 * @throws TypeError on invalid options, or if `roles()` does not have the role
 *
 * @example
 * plugins: [credentialPassword(), admin({ adminUserIds: [adaId] })]
 */
export function admin(options: AdminOptions): Plugin<'admin', AdminApi, Record<never, never>> {
  // Without options, the error below explains what is missing.
  const data = readOptions('admin', schema, options ?? {});
  const ids = new Set(data.adminUserIds);
  const emails = new Set(data.adminEmails.flatMap((email) => email ?? []));
  const { role } = data;
  if (ids.size + emails.size === 0 && role === undefined) {
    throw new TypeError(
      'latchkey: admin: set at least one administrator in adminUserIds or adminEmails, or a role of roles() in role',
    );
  }
  const { actAs } = data;
  return definePlugin({
    name: 'admin',
    ...(actAs && { sessionColumns: actingColumns, sessionIndexes: actingIndexes }),
    setup(core) {
      const api = new AdminApi(core);
      if (role !== undefined) checkRole(core, role);
      const isNamed = (user: User) =>
        ids.has(user.id) || (emails.has(user.email ?? '') && EmailProof.of(user).reaches('app'));
      return {
        api,
        administrators: {
          is: (user) => isNamed(user) || (role !== undefined && core.permissions?.has(user, role) === true),
          isNamed,
          role,
          emails: [...emails],
          requires: { fresh: data.fresh, aal: data.aal },
        },
        routes: () => [
          listUsers(core, api),
          getUser(core),
          ...(data.manageUsers ? [createUser(core, api), updateUser(core, api), deleteUser(core, api)] : []),
          ...(core.passwordLinks ? [sendPasswordReset(core, api)] : []),
          ...(core.passwords ? [requirePassword(core)] : []),
          listUserSessions(core, api),
          revokeUserSession(api),
          revokeUserSessions(api),
          ...(actAs ? [actAsUser(core, actAs.minutes)] : []),
        ],
        ...(actAs && {
          async onAccountChange(userId, changed, transaction) {
            // The rights of both can depend on these: whether the one is still an administrator, and the other not one.
            if (changed.some((name) => OF_RIGHTS.has(name)))
              await core.sessions.endActing([userId], transaction);
          },
        }),
      };
    },
  });
}

/** @throws TypeError if users cannot have the role, or if all of them have it */
function checkRole({ permissions }: Core, role: string): void {
  if (!permissions)
    throw new TypeError(
      `latchkey: admin: role requires roles: add roles({ roles: { ${excerpt(role)}: […] } }) to plugins`,
    );
  const { roles, defaultRole } = permissions;
  if (!roles.has(role)) {
    const near = nearest(role, roles.names);
    throw new TypeError(
      `latchkey: admin: role is ${excerpt(role)}, which roles() does not have: ${near ? `did you mean ${near}?` : `it has ${roles.names.join(', ') || 'none'}`}`,
    );
  }
  if (role === defaultRole)
    throw new TypeError(
      `latchkey: admin: role is ${role}, which is the default role of roles(), so every user would be an administrator: choose another role`,
    );
}
