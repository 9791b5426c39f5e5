import * as z from 'zod';
import { proveByPassword } from '../../accounts/reauthentication.js';
import { choosePassword } from '../../accounts/required-password.js';
import { declarePasswords } from '../../core/contribution.js';
import type { Core } from '../../core/core.js';
import { text } from '../../http/route.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { Reauthentication } from '../../sessions/second-factor.js';
import type { UserRecord } from '../../users/record.js';
import { type ByMail, CredentialApi } from './api.js';
import {
  type CredentialPasswordOptions,
  checkTogether,
  readSettings,
  type Settings,
  type SignInAnswer,
  type SignUpAnswer,
  type SignUpInputOf,
} from './options.js';
import { PasswordChange } from './password-change.js';
import { PasswordReset } from './password-reset.js';
import { Registrations } from './registrations.js';
import {
  changePassword,
  removePassword,
  requestReset,
  resetPassword,
  sendVerification,
  setPassword,
  signin,
  signup,
  usernamesCheck,
  verifyEmail,
} from './routes.js';

declarePasswords('add credentialPassword() to plugins');

/**
 * Adds sign-up and sign-in with a password and an email, a username, or either.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * const auth = createAuth({ …, plugins: [credentialPassword({ username: true })] });
 * const { user } = await auth.credential.signUp({ email, password, username: 'ada' });
 */
export function credentialPassword<const O extends CredentialPasswordOptions = Record<never, never>>(
  options: O = {} as O,
): Plugin<
  'credential',
  CredentialApi<SignUpAnswer<O>, SignUpInputOf<O>, SignInAnswer<O>>,
  Record<never, never>
> {
  const settings = readSettings(options);
  const short = { minLength: 1, common: false };
  return definePlugin({
    name: 'credential',
    accounts: {
      ...(settings.usernames && { usernames: settings.usernames }),
      passwords: { ...settings, owner: 'credentialPassword()' },
      emailVerification: {
        isRequired: settings.requireVerifiedEmail,
        isOnSignUp: settings.mailsOnSignUp,
        by: settings.verifyEmailBy,
      },
    },
    forTests: () =>
      credentialPassword({
        ...options,
        hash: 'bcrypt',
        bcryptCost: 4,
        argon2: undefined,
        passwordRules: { ...short, ...options.passwordRules },
      }),
    setup(core) {
      checkTogether(settings, core);
      const parts = makeServices(core, settings);
      const api = new CredentialApi(core, parts, settings);
      const newPassword = text(1024).describe(parts.passwords.rules.description);
      const routesByMail = ({ verification, reset }: ByMail) => [
        sendVerification(api),
        verifyEmail(core, verification),
        requestReset(api),
        resetPassword(core, reset, newPassword),
      ];
      return {
        api: api as CredentialApi<SignUpAnswer<O>, SignUpInputOf<O>, SignInAnswer<O>>,
        routes: () => [
          signup(core, parts.registrations, newPassword, settings),
          signin(core, api, settings),
          changePassword(core, api, newPassword),
          setPassword(api, newPassword),
          removePassword(api),
          ...(parts.byMail ? routesByMail(parts.byMail) : []),
          ...(settings.usernames ? [usernamesCheck(api)] : []),
        ],
        shows: { user: settings.usernames ? ['username', 'usernameDisplay'] : [] },
        forPages: { identifier: settings.identifier },
        reauthentications: [byPassword(core)],
        remembersBrowsers: settings.verifyEmailBy === 'link' || settings.unknownBrowser === 'code',
        ...(settings.unknownBrowser === 'code' && { codeInUnknownBrowsers: () => 'sign-in' as const }),
        signInMethods: {
          schema: { password: z.boolean() },
          of: async ({ passwordHash }) => ({ password: passwordHash !== null }),
        },
        tasks: [choosePassword],
        waysIn: async (record) => (hasUsablePassword(record, settings) ? [{ kind: 'password' }] : []),
      };
    },
  });
}

function makeServices(core: Core, settings: Settings) {
  const { mails, passwords, passwordCheck: check, passwordLinks, emailVerification: verification } = core;
  if (!passwords || !check) throw new TypeError('the core has no passwords');
  const byMail =
    mails && passwordLinks && verification
      ? { verification, reset: new PasswordReset(core, mails, passwordLinks, passwords) }
      : null;
  return {
    check,
    passwords,
    change: new PasswordChange(core, passwords),
    byMail,
    registrations: new Registrations(core, passwords, settings),
  };
}

/** Whether the user has a password, and an email or username to sign in with. */
function hasUsablePassword({ user, passwordHash }: UserRecord, { usernames }: Settings): boolean {
  return passwordHash !== null && (user.email !== null || (usernames !== null && user.username !== null));
}

/** Returns the field `password` of POST /reauthenticate. */
export function byPassword(core: Core): Reauthentication {
  return {
    field: 'password',
    schema: text(1024),
    problems: ['invalid_credentials', 'rate_limited', 'reauthentication_required'],
    aal: 1,
    verify: (record, password, session) => proveByPassword(core, record, String(password), session),
  };
}
