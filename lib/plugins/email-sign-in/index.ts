import * as z from 'zod';
import { definePlugin, type Plugin } from '../../plugin.js';
import { emailedSignInsTable } from '../../tables/emailed-sign-ins.js';
import type { ModelsOf } from '../../tables/model.js';
import { EmailSignInApi } from './api.js';
import { Confirmation } from './confirmation.js';
import { checkTogether, type EmailSignInOptions, readSettings } from './options.js';
import { byEmailCode } from './reauthentication.js';
import { Requests } from './requests.js';
import { confirmSignIn, requestReauthentication, requestSignIn } from './routes.js';

const TABLES = { EmailedSignIn: emailedSignInsTable } as const;

/** The models that {@link emailSignIn} adds to `auth.models`. */
export interface EmailSignInModels extends ModelsOf<typeof TABLES> {}

/**
 * Adds sign-in with a code that is emailed to the user, without a password. Requires `email`.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * const auth = createAuth({ …, email: { send }, plugins: [emailSignIn({ signUp: true })] });
 */
export function emailSignIn(
  options: EmailSignInOptions = {},
): Plugin<'emailSignIn', EmailSignInApi, EmailSignInModels> {
  const settings = readSettings(options);
  return definePlugin({
    name: 'emailSignIn',
    accounts: { emailedSignIns: { signUp: settings.signUp, lifetime: settings.lifetime } },
    setup(core) {
      checkTogether(settings, core);
      const { mails, emailedSignIns: rows } = core;
      if (!mails || !rows) throw new TypeError('the core has no emailed sign-ins');
      const requests = new Requests(core, mails, rows, settings);
      const api = new EmailSignInApi(core, requests, new Confirmation(core, rows, settings));
      return {
        api,
        tables: TABLES,
        routes: () => [
          requestSignIn(core, api),
          confirmSignIn(core, api, settings),
          requestReauthentication(api),
        ],
        reauthentications: [byEmailCode(core, rows)],
        remembersBrowsers: true,
        signInMethods: {
          schema: { email: z.boolean() },
          of: async ({ emailProof }) => ({ email: emailProof.reaches('mailbox') }),
        },
        waysIn: async ({ emailProof }) => (emailProof.reaches('mailbox') ? [{ kind: 'email' }] : []),
        async onDelete(userId, transaction) {
          const email = (await core.users.find(userId, transaction))?.email ?? null;
          if (email !== null) await rows.endCodesFor(email, transaction);
        },
      };
    },
  });
}
