import * as z from 'zod';
import { declarePasswords, type Passwords } from '../../core/contribution.js';
import type { Core } from '../../core/core.js';
import { PasswordHasher } from '../../crypto/password.js';
import { AuthError } from '../../errors.js';
import { text } from '../../http/route.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { Reauthentication } from '../../sessions/second-factor.js';
import type { UserRecord } from '../../users/record.js';
import { CredentialApi } from './api.js';
import { INVITATION, RESET_PASSWORD, VERIFY_EMAIL } from './declarations.js';
import { EmailVerification } from './email-verification.js';
import { LegacyHashes } from './legacy-hashes.js';
import {
  type CredentialPasswordOptions,
  checkTogether,
  readSettings,
  type Settings,
  type SignUpAnswer,
  type SignUpInputOf,
} from './options.js';
import { PasswordChange } from './password-change.js';
import { PasswordCheck } from './password-check.js';
import { PasswordReset } from './password-reset.js';
import { Registrations } from './registrations.js';
import {
  changePassword,
  requestReset,
  resetPassword,
  sendVerification,
  setPassword,
  signin,
  signup,
  usernamesCheck,
  verifyEmail,
} from './routes.js';
import { PasswordRules } from './rules.js';

declarePasswords('add credentialPassword() to plugins');

/**
 * Sign-up and sign-in with a password and an email, a username, or either.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * const auth = createAuth({ …, plugins: [credentialPassword({ username: true })] });
 * const { user } = await auth.credential.signUp({ email, password, username: 'ada' });
 */
export function credentialPassword<const O extends CredentialPasswordOptions = Record<never, never>>(
  options: O = {} as O,
): Plugin<'credential', CredentialApi<SignUpAnswer<O>, SignUpInputOf<O>>, Record<never, never>> {
  const settings = readSettings(options);
  const short = { minLength: 1, common: false };
  return definePlugin({
    name: 'credential',
    forTests: () =>
      credentialPassword({
        ...options,
        bcryptCost: 4,
        passwordRules: { ...short, ...options.passwordRules },
      }),
    setup(core) {
      checkTogether(settings, core);
      const parts = makeParts(core, settings);
      const api = new CredentialApi(core, parts, settings);
      const newPassword = text(1024).describe(parts.rules.description);
      const routesByMail = () => [
        sendVerification(api),
        verifyEmail(core, api),
        requestReset(api),
        resetPassword(api, newPassword),
      ];
      return {
        api: api as CredentialApi<SignUpAnswer<O>, SignUpInputOf<O>>,
        routes: () => [
          signup(core, parts.registrations, newPassword, settings),
          signin(core, api, settings),
          changePassword(core, api, newPassword),
          setPassword(api, newPassword),
          ...(parts.byMail ? routesByMail() : []),
          ...(settings.usernames ? [usernamesCheck(api)] : []),
        ],
        shows: { user: settings.usernames ? ['username'] : [] },
        purposes: [VERIFY_EMAIL, RESET_PASSWORD, INVITATION],
        passwords: passwordsOf(parts),
        reauthentications: [byPassword(parts.check)],
        ...(settings.usernames && { usernames: settings.usernames }),
        async checkSignIn(user, isByPerson) {
          if (!settings.requireVerifiedEmail || user.email === null || user.emailVerifiedAt !== null) return;
          if (isByPerson) await parts.byMail?.verification.offer(user);
          throw new AuthError('email_not_verified');
        },
        signInMethods: {
          schema: { password: z.boolean() },
          of: async ({ passwordHash }) => ({ password: passwordHash !== null }),
        },
        waysIn: async (record) => (hasUsablePassword(record, settings) ? [{ kind: 'password' }] : []),
      };
    },
  });
}

function makeParts(core: Core, settings: Settings) {
  const legacy = new LegacyHashes(settings.verifyLegacy, core.settings.logger);
  const { bcryptCost, pepper } = settings;
  const hasher = new PasswordHasher(bcryptCost, pepper, () => core.limiter.client, legacy.read);
  const check = new PasswordCheck(core, hasher);
  const { isBreached, onBreachCheckFailure: onFailure, passwordRules, usernames } = settings;
  // The app's own code, which may make calls of its own.
  const breach = isBreached && {
    check: (password: string) => core.context.detached(() => isBreached(password)),
    onFailure,
  };
  const rules = new PasswordRules(passwordRules, breach, usernames, core.settings.logger);
  const change = new PasswordChange(core, hasher, rules);
  const { mails } = core;
  const { email } = core.settings;
  const byMail = mails &&
    email && {
      verification: new EmailVerification(core, mails, email.verifyUrl, check),
      reset: new PasswordReset(core, mails, email, hasher, rules),
    };
  const registrations = new Registrations(core, hasher, rules, byMail, settings);
  return { hasher, legacy, check, rules, change, byMail, registrations };
}

/** Whether the user has a password, and an email or username to sign in with. */
function hasUsablePassword({ user, passwordHash }: UserRecord, { usernames }: Settings): boolean {
  return passwordHash !== null && (user.email !== null || (usernames !== null && user.username !== null));
}

interface Parts {
  readonly hasher: PasswordHasher;
  readonly legacy: LegacyHashes;
  readonly check: PasswordCheck;
  readonly rules: PasswordRules;
  readonly change: PasswordChange;
  readonly byMail: { readonly reset: PasswordReset } | null;
}

/** What other features do with passwords. */
export function passwordsOf({ hasher, legacy, check, rules, change, byMail }: Parts): Passwords {
  return {
    verify: (record, password) => check.verifyOwn(record, password),
    matches: async (hash, password) => (await hasher.verify(password, hash)).matches,
    async hash(password, identifiers, skipRules) {
      await rules.checkGiven(password, identifiers, skipRules);
      return hasher.hash(password);
    },
    checkHash: (given, offered) => legacy.check(given, offered),
    useLegacy: (verifiers) => legacy.add(verifiers),
    replace: (userId, password, options) => change.replace(userId, password, options),
    links: byMail && {
      invite: (user, transaction) => byMail.reset.invite(user, transaction),
      reset: (user, transaction) => byMail.reset.mail(user, transaction),
    },
  };
}

/** The password as a field of POST /reauthenticate. */
export function byPassword(check: PasswordCheck): Reauthentication {
  return {
    field: 'password',
    schema: text(1024),
    problems: ['invalid_credentials', 'rate_limited'],
    aal: 1,
    async verify(record, password) {
      await check.verifyOwn(record, String(password));
      return { amr: ['pwd'] };
    },
  };
}
