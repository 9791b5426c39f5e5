import { z } from 'zod';
import type { Core } from '../../core.js';
import { PasswordHasher } from '../../crypto/password.js';
import { oneTimeTokens } from '../../migrations/0005-one-time-tokens.js';
import type { User } from '../../models/user.js';
import { readOptions } from '../../options.js';
import type { Plugin } from '../../plugin.js';
import type { IssuedSession } from '../../sessions.js';
import { CredentialApi } from './api.js';
import { Mailbox } from './mailbox.js';
import { OneTimeTokens } from './one-time-tokens.js';
import { PasswordCheck } from './password-check.js';
import { sendVerification } from './routes/email-verifications.js';
import { setPassword } from './routes/passwords.js';
import { changePassword } from './routes/passwords-change.js';
import { requestReset } from './routes/passwords-request-reset.js';
import { resetPassword } from './routes/passwords-reset.js';
import { reauthenticate } from './routes/reauthenticate.js';
import { signin } from './routes/signin.js';
import { signup } from './routes/signup.js';
import { checkUsername } from './routes/usernames-check.js';
import { verifyEmail } from './routes/verify-email.js';
import { type BreachCheck, PasswordRules } from './rules.js';

/** Options of {@link credentialPassword}. */
export interface CredentialPasswordOptions {
  /** Users may have a username, and sign in with it. @default false */
  username?: boolean;
  /** A sign-up begins a session. @default false */
  signInOnSignUp?: boolean;
  /**
   * Each step doubles the work of a hash. A hash of a lower cost is made anew when its user signs in. At least 4, and
   * at least 10 where `NODE_ENV` is production (OWASP Password Storage).
   * @default 12
   */
  bcryptCost?: number;
  /**
   * A sign-up mails a verification link. Needs `email`.
   * @default true with `requireVerifiedEmail` or `concealExistingEmails`, else false
   */
  sendVerificationOnSignUp?: boolean;
  /** A sign-in needs a verified email, and sends a mail where it is not. Needs `email`. @default false */
  requireVerifiedEmail?: boolean;
  /**
   * A sign-up does not tell whether the email has an account: it answers 202 either way, and a mail says the rest. Needs
   * `email`.
   * @default false
   */
  concealExistingEmails?: boolean;
  /**
   * A secret, or a list of them, that is mixed into every hash and kept out of the database. The first hashes, all
   * verify. Whoever loses it loses all passwords.
   * @default none
   */
  pepper?: string | readonly string[];
  /** Says whether a new password is known from a breach; given 2 seconds. @default no such check */
  isBreached?: BreachCheck;
  /** What becomes of a new password when `isBreached` fails. @default `accept` */
  onBreachCheckFailure?: 'accept' | 'refuse';
}

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

/** What `auth.credential.signUp` answers, by the options: see {@link CredentialApi.signUp}. */
export type SignUpAnswer<O> = IfOn<
  Flag<O, 'concealExistingEmails'>,
  null,
  IfOn<Flag<O, 'signInOnSignUp'>, IssuedSession, { readonly user: User }>
>;

/** Sign-up and sign-in by password, with an email and, if you like, a username. */
export function credentialPassword<const O extends CredentialPasswordOptions = Record<never, never>>(
  options: O = {} as O,
): Plugin<'credential', CredentialApi<SignUpAnswer<O>>> {
  const settings = readOptions('credentialPassword', schema, options);
  return {
    name: 'credential',
    setup(core) {
      checkTogether(settings, core);
      core.passwords = true;
      core.usernames = settings.username;
      const hasher = new PasswordHasher(settings.bcryptCost, settings.pepper);
      const check = new PasswordCheck(core, hasher);
      const rules = new PasswordRules(
        settings.isBreached,
        settings.onBreachCheckFailure,
        core.settings.logger,
      );
      const tokens = new OneTimeTokens(core.database);
      const mailbox = core.mailer && new Mailbox(core, core.mailer, tokens, hasher, check, rules);
      const verifies = settings.requireVerifiedEmail || settings.concealExistingEmails;
      const api = new CredentialApi<SignUpAnswer<O>>(
        core,
        { hasher, check, rules, tokens, mailbox },
        { ...settings, sendVerificationOnSignUp: settings.sendVerificationOnSignUp ?? verifies },
      );
      const byMail = [sendVerification(api), verifyEmail(core, api), requestReset(api), resetPassword(api)];
      return {
        api,
        routes: [
          signup(core, api, settings),
          signin(core, api, settings),
          changePassword(core, api),
          setPassword(api),
          reauthenticate(api),
          ...(mailbox ? byMail : []),
          ...(settings.username ? [checkUsername(api)] : []),
        ],
        migrations: [oneTimeTokens],
        prune: () => tokens.prune(),
      };
    },
  };
}

function checkTogether(settings: Settings, core: Core): void {
  if (settings.bcryptCost < 10 && process.env.NODE_ENV === 'production') {
    throw complaint('bcryptCost must be at least 10 in production');
  }
  const needMail = ['sendVerificationOnSignUp', 'requireVerifiedEmail', 'concealExistingEmails'] as const;
  for (const name of needMail) {
    if (!settings[name]) continue;
    if (!core.mailer) throw complaint(`${name} needs mails: set email: { send } in the config`);
    if (settings.signInOnSignUp && name !== 'sendVerificationOnSignUp')
      throw complaint(`${name} and signInOnSignUp exclude each other`);
  }
  // A new account would get no mail where an old one gets one.
  if (settings.concealExistingEmails && settings.sendVerificationOnSignUp === false) {
    throw complaint('concealExistingEmails needs sendVerificationOnSignUp: leave it out, or set it to true');
  }
}

function complaint(what: string): TypeError {
  return new TypeError(`latchkey: credentialPassword: ${what}`);
}
