import * as z from 'zod';
import { hasPasswordLinks } from '../../accounts/passwords.js';
import { flag, readOptions, schemaOf } from '../../config/options.js';
import { declareAdministrators } from '../../core/contribution.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { User } from '../../tables/core.js';
import { canonicalEmail } from '../../users/canonical.js';
import { AdminApi } from './api.js';
import {
  createUser,
  deleteUser,
  getUser,
  listUserSessions,
  listUsers,
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
          if (!canonical) context.addIssue({ code: 'custom', message: 'must be an email address' });
          return canonical;
        }),
        'must be a list of emails',
      )
      .default([]),
    manageUsers: flag.default(true),
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
  const emails = new Set(data.adminEmails);
  if (ids.size + emails.size === 0) {
    throw new TypeError('latchkey: admin: set at least one administrator in adminUserIds or adminEmails');
  }
  const isAdministrator = ({ id, email, emailVerifiedAt }: User) =>
    ids.has(id) || (emailVerifiedAt !== null && emails.has(email));
  return definePlugin({
    name: 'admin',
    setup(core) {
      const api = new AdminApi(core);
      return {
        api,
        isAdministrator,
        routes: () => [
          listUsers(core, api),
          getUser(core, api),
          ...(data.manageUsers ? [createUser(core, api), updateUser(core, api), deleteUser(api)] : []),
          ...(hasPasswordLinks(core) ? [sendPasswordReset(api)] : []),
          listUserSessions(core, api),
          revokeUserSession(api),
          revokeUserSessions(api),
        ],
      };
    },
  });
}
