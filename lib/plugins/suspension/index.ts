import { AuthError } from '../../errors.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { RowReader } from '../../users/imported.js';
import { SuspensionApi, suspensionsOfRows } from './api.js';
import { suspensionColumns } from './declarations.js';
import { reinstateUser, suspendUser } from './routes.js';

/**
 * Lets administrators suspend users, for a time or until they are reinstated. Requires `admin()`.
 *
 * @example
 * const plugins = [credentialPassword(), admin({ adminEmails: ['owner@example.com'] }), suspension()] as const;
 * const auth = createAuth({ …, plugins });
 * await auth.suspension.suspend(userId, { reason: 'spam', until: new Date('2027-01-01T00:00:00Z') });
 */
export function suspension(): Plugin<'suspension', SuspensionApi, Record<never, never>> {
  return definePlugin({
    name: 'suspension',
    userColumns: suspensionColumns,
    setup(core, plugins) {
      if (!plugins.some(({ name }) => name === 'admin')) {
        throw new TypeError(
          'latchkey: suspension: add admin({ … }) to plugins, so that administrators can suspend users',
        );
      }
      const api = new SuspensionApi(core);
      return {
        api,
        routes: () => [suspendUser(core, api), reinstateUser(core, api)],
        rowReaders: [suspensionsOfRows(core) as RowReader],
        accountProblems: ['account_suspended'],
        checkAccount(account) {
          if (api.isSuspended(account)) throw new AuthError('account_suspended');
        },
      };
    },
  });
}
