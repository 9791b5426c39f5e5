import * as z from 'zod';
import type { Core } from '../../core/core.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { ModelsOf } from '../../tables/model.js';
import { EmailSignInApi } from './api.js';
import { Confirmation } from './confirmation.js';
import { emailedSignInsTable } from './declarations.js';
import { checkTogether, type EmailSignInOptions, readSettings } from './options.js';
import { recordProof } from './proof.js';
import { byEmailCode } from './reauthentication.js';
import { Requests } from './requests.js';
import { confirmSignIn, requestReauthentication, requestSignIn } from './routes.js';
import { EmailedSignIns } from './rows.js';

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
    setup(core) {
      checkTogether(settings, core);
      const rows = new EmailedSignIns(core);
      const requests = new Requests(core, mailsOf(core), rows, settings);
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
        forPages: { emailOfLink: (token) => rows.emailOfLink(token) },
        abandonPending: (browserHash) => rows.end({ browserHash }),
        provesMailbox: (record, isOwn, transaction) => recordProof(core, record, isOwn, transaction),
        emailedSignIns: {
          makesAccounts: settings.signUp && core.settings.signUp !== 'closed',
          mailed: (requestHash, hasCode, authEpoch) => rows.mailed(requestHash, hasCode, authEpoch),
        },
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

function mailsOf({ mails }: Core) {
  if (!mails) throw new TypeError('the core has no emails');
  return mails;
}
