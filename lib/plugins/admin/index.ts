import * as z from 'zod';
import { flag, readOptions, schemaOf } from '../../config/options.js';
import { ADMINISTRATION, declareAdministrators } from '../../core/contribution.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { User } from '../../tables/core.js';
import { canonicalEmail, emailFault } from '../../users/canonical.js';
import { EmailProof } from '../../users/email-proof.js';
import { AdminApi } from './api.js';
import {
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

/** Options of {@link admin}. At least one of the lists must not be empty. */
export interface AdminOptions {
  /** The ids of users who are administrators. @default [] */
  adminUserIds?: readonly string[];
  /** The emails of administrators. They count only once they are verified. @default [] */
  adminEmails?: readonly string[];
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
}

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
          if (!canonical) context.addIssue({ code: 'custom', message: emailFault(email) });
          return canonical;
        }),
        'must be a list of emails',
      )
      .default([]),
    manageUsers: flag.default(true),
    fresh: z
      .number('must be a number of seconds')
      .positive('must be a number of seconds')
      .default(ADMINISTRATION.fresh),
    aal: z.union([z.literal(1), z.literal(2)], 'must be 1 or 2').default(ADMINISTRATION.aal),
  });

declareAdministrators('add admin({ adminUserIds: […] }) to plugins');

/**
 * Lets administrators list users and revoke their sessions.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * plugins: [credentialPassword(), admin({ adminUserIds: [adaId] })]
 */
export function admin(options: AdminOptions): Plugin<'admin', AdminApi, Record<never, never>> {
  // Without options, the error below explains what is missing.
  const data = readOptions('admin', schema, options ?? {});
  const ids = new Set(data.adminUserIds);
  const emails = new Set<string | null>(data.adminEmails);
  if (ids.size + emails.size === 0) {
    throw new TypeError('latchkey: admin: set at least one administrator in adminUserIds or adminEmails');
  }
  return definePlugin({
    name: 'admin',
    setup(core) {
      const api = new AdminApi(core);
      const isNamed = (user: User) =>
        ids.has(user.id) || (emails.has(user.email) && EmailProof.of(user).reaches('app'));
      return {
        api,
        administrators: {
          is: isNamed,
          isNamed,
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
        ],
      };
    },
  });
}
