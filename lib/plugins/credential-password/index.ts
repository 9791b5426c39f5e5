import { z } from 'zod';
import { readOptions } from '../../config/options.js';
import type { Core } from '../../core/core.js';
import type { IssuedSession } from '../../core/sessions.js';
import { declarePasswords } from '../../core/switches.js';
import type { UserRecord } from '../../core/user-record.js';
import { PasswordHasher } from '../../crypto/password.js';
import { AuthError } from '../../errors.js';
import type { User } from '../../models/user.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import { CredentialApi } from './api.js';
import { EmailVerification } from './email-verification.js';
import { RESET_PASSWORD, VERIFY_EMAIL } from './mails.js';
import { PasswordChange } from './password-change.js';
import { PasswordCheck } from './password-check.js';
import { PasswordReset } from './password-reset.js';
import { passwordsOf } from './passwords.js';
import { sendVerification } from './routes/email-verifications.js';
import { setPassword } from './routes/passwords.js';
import { changePassword } from './routes/passwords-change.js';
import { requestReset } from './routes/passwords-request-reset.js';
import { resetPassword } from './routes/passwords-reset.js';
import { reauthenticate } from './routes/reauthenticate.js';
import { signin } from './routes/signin.js';
import { signup } from './routes/signup.js';
import { usernamesCheck } from './routes/usernames-check.js';
import { verifyEmail } from './routes/verify-email.js';
import { type BreachCheck, checkUsername, PasswordRules } from './rules.js';

/** Options of {@link credentialPassword}. */
export interface CredentialPasswordOptions {
  /** Lets users choose a username and sign in with it. @default false */
  username?: boolean;
  /** Signs users in when they sign up. @default false */
  signInOnSignUp?: boolean;
  /**
   * The bcrypt cost, 4 to 20; each step doubles the work. At least 10 if `NODE_ENV` is production (OWASP Password
   * Storage). Hashes of a lower cost are replaced when their user signs in.
   * @default 12
   */
  bcryptCost?: number;
  /**
   * Emails a verification link at sign-up. Requires `email`.
   * @default true with `requireVerifiedEmail` or `concealExistingEmails`, else false
   */
  sendVerificationOnSignUp?: boolean;
  /**
   * Refuses every kind of sign-in until the user's email is verified, and emails a link. Requires `email`.
   * @default false
   */
  requireVerifiedEmail?: boolean;
  /**
   * Prevents sign-up from revealing whether an account with the email exists: it always responds with 202, and the
   * outcome is sent by email. So that a sign-in with the new password reveals nothing either, it is refused like a wrong
   * password until the email is verified. Requires `email`.
   * @default false
   */
  concealExistingEmails?: boolean;
  /**
   * One or more secrets of at least 32 characters that are mixed into every hash and kept out of the database. The
   * first one hashes, all of them verify. If a pepper is lost, all passwords hashed with it are lost.
   * @default none
   */
  pepper?: string | readonly string[];
  /** Checks, within 2 seconds, whether a new password is known from a data breach. @default no check */
  isBreached?: BreachCheck;
  /** Whether to accept a new password if `isBreached` fails or times out. @default `accept` */
  onBreachCheckFailure?: 'accept' | 'refuse';
}

declarePasswords('add credentialPassword() to plugins');

const flag = z.boolean('must be true or false').default(false);
const pepper = z.string().min(32, 'must have at least 32 characters');
const schema = z.strictObject({
  username: flag,
  signInOnSignUp: flag,
  sendVerificationOnSignUp: z.boolean('must be true or false').optional(),
  requireVerifiedEmail: flag,
  concealExistingEmails: flag,
  bcryptCost: z
    .int('must be a whole number')
    .min(4, 'must be at least 4')
    .max(20, 'must be at most 20: a hash would take minutes')
    .default(12),
  pepper: z.union([pepper.transform((one) => [one]), z.array(pepper)]).default([]),
  isBreached: z.custom<BreachCheck>((it) => typeof it === 'function', 'must be a function').optional(),
  onBreachCheckFailure: z.enum(['accept', 'refuse'], "must be 'accept' or 'refuse'").default('accept'),
});

type Settings = z.infer<typeof schema>;

type Flag<O, Name extends keyof CredentialPasswordOptions> = Name extends keyof O ? O[Name] : false;
type IfOn<Value, Yes, No> = [Value] extends [true] ? Yes : true extends Value ? Yes | No : No;

/** The result of `auth.credential.signUp`, depending on the options: see {@link CredentialApi.signUp}. */
export type SignUpAnswer<O> = IfOn<
  Flag<O, 'concealExistingEmails'>,
  null,
  IfOn<Flag<O, 'signInOnSignUp'>, IssuedSession, { readonly user: User }>
>;

/**
 * Sign-up and sign-in with a password and an email or, optionally, a username.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * const auth = createAuth({ …, plugins: [credentialPassword({ username: true })] });
 * const { user } = await auth.credential.signUp({ email, password, username: 'ada' });
 */
export function credentialPassword<const O extends CredentialPasswordOptions = Record<never, never>>(
  options: O = {} as O,
): Plugin<'credential', CredentialApi<SignUpAnswer<O>>, Record<never, never>> {
  const settings = readOptions('credentialPassword', schema, options);
  return definePlugin({
    name: 'credential',
    setup(core) {
      checkTogether(settings, core);
      const parts = makeParts(core, settings);
      const mailsOnSignUp = settings.requireVerifiedEmail || settings.concealExistingEmails;
      const api = new CredentialApi<SignUpAnswer<O>>(core, parts, {
        ...settings,
        sendVerificationOnSignUp: settings.sendVerificationOnSignUp ?? mailsOnSignUp,
      });
      const routesByMail = () => [
        sendVerification(api),
        verifyEmail(core, api),
        requestReset(api),
        resetPassword(api),
      ];
      return {
        api,
        routes: () => [
          signup(core, api, settings),
          signin(core, api, settings),
          changePassword(core, api),
          setPassword(api),
          reauthenticate(api),
          ...(parts.byMail ? routesByMail() : []),
          ...(settings.username ? [usernamesCheck(api)] : []),
        ],
        shows: { user: settings.username ? ['username'] : [] },
        purposes: [VERIFY_EMAIL, RESET_PASSWORD],
        passwords: passwordsOf(parts),
        ...(settings.username && { checkUsername }),
        async checkSignIn(user) {
          if (!settings.requireVerifiedEmail || user.email === null || user.emailVerifiedAt !== null) return;
          await parts.byMail?.verification.offer(user);
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
  const hasher = new PasswordHasher(settings.bcryptCost, settings.pepper, () => core.limiter.client);
  const check = new PasswordCheck(core, hasher);
  const { isBreached, onBreachCheckFailure } = settings;
  const rules = new PasswordRules(
    // The app's own code, which may make calls of its own.
    isBreached && ((password) => core.context.detached(() => isBreached(password))),
    onBreachCheckFailure,
    core.settings.logger,
  );
  const change = new PasswordChange(core, hasher, rules);
  const { mailer } = core;
  const { email } = core.settings;
  const byMail = mailer &&
    email && {
      verification: new EmailVerification(core, email.verifyUrl, check),
      reset: new PasswordReset(core, mailer, email.resetUrl, hasher, rules),
    };
  return { hasher, check, rules, change, byMail };
}

/** Whether the user has a password, and an email or username to sign in with. */
function hasUsablePassword({ user, passwordHash }: UserRecord, { username }: Settings): boolean {
  return passwordHash !== null && (user.email !== null || (username && user.username !== null));
}

function checkTogether(settings: Settings, core: Core): void {
  if (settings.bcryptCost < 10 && process.env.NODE_ENV === 'production') {
    throw configError('bcryptCost must be at least 10 in production');
  }
  const needMail = ['sendVerificationOnSignUp', 'requireVerifiedEmail', 'concealExistingEmails'] as const;
  for (const name of needMail) {
    if (!settings[name]) continue;
    if (!core.mailer) throw configError(`${name} requires email: { send } in the config`);
    if (settings.signInOnSignUp && name !== 'sendVerificationOnSignUp')
      throw configError(`${name} and signInOnSignUp are mutually exclusive`);
  }
  // Otherwise only existing accounts would get an email, which would reveal them.
  if (settings.concealExistingEmails && settings.sendVerificationOnSignUp === false) {
    throw configError('concealExistingEmails requires sendVerificationOnSignUp: omit it, or set it to true');
  }
}

function configError(what: string): TypeError {
  return new TypeError(`latchkey: credentialPassword: ${what}`);
}
