import * as z from 'zod';
import { flag, readOptions, schemaOf } from '../../config/options.js';
import type { Core } from '../../core/core.js';
import { ARGON2_ITERATIONS, ARGON2_MEMORY, BCRYPT_COST } from '../../crypto/own-hash.js';
import type { IssuedSession, SignedIn } from '../../sessions/signed-in.js';
import type { User } from '../../tables/core.js';
import type { LegacyVerifiers } from '../../users/imported.js';
import { checkVerifiers } from '../../users/legacy-hashes.js';
import type { BreachCheck } from '../../users/password-rules.js';
import { UsernameRules } from '../../users/usernames.js';
import type { RequestedReset, RequestedSignUp, RequestedVerification, SignUpInput } from './inputs.js';

/** Rules for new passwords. */
export interface PasswordRuleOptions {
  /** The minimum number of characters (Unicode code points), up to 64. At least 8 if `NODE_ENV` is production. @default 8 */
  minLength?: number;
  /** Whether common passwords and patterns, such as `password1`, are rejected. @default true */
  common?: boolean;
  /**
   * Words that are easy to guess here, such as the names of the app and the company. A password is rejected if it would
   * be too short without them. Case and spelling do not matter: `acme` also rules out `Acme2026` and `!4cm3!` (ASVS
   * 5.0, 6.2.11).
   * @default []
   */
  words?: readonly string[];
}

/** The parameters of argon2id, which always uses one lane. */
export interface Argon2Options {
  /** The memory of a hash in KiB, 19456 (19 MiB) to 1048576 (1 GiB). @default 19456 */
  memory?: number;
  /** How often the memory is filled, 2 to 20. @default 2 */
  iterations?: number;
}

/** Options of `credentialPassword()`. */
export interface CredentialPasswordOptions {
  /**
   * The identifier of accounts: `email`; `username`, so that no user enters an email; or `either`, so that users choose
   * one of them, or both.
   * @default 'email'
   */
  identifier?: 'email' | 'username' | 'either';
  /**
   * Whether users can choose a username in addition to their email, and sign in with it.
   * @default true unless `identifier` is `email`
   */
  username?: boolean;
  /**
   * The pattern that a new username must match as a whole. It replaces the default rule: 3 to 30 of the letters `a` to
   * `z`, digits, `_`, `.` and `-`. It is matched against the username in lower case and in Unicode form NFKC. A
   * username never has more than 100 characters, an `@`, a control character, or a space at either end. Avoid nested
   * quantifiers, such as `(a+)+`, because attackers choose the usernames that are matched.
   * @default the default rule
   */
  usernamePattern?: RegExp;
  /** The rules for new passwords. @default see {@link PasswordRuleOptions} */
  passwordRules?: PasswordRuleOptions;
  /** Whether users are signed in when they sign up. @default false */
  signInOnSignUp?: boolean;
  /**
   * The function that hashes new passwords. `argon2id` also needs memory, which makes stolen hashes harder to crack, and
   * requires the package `@node-rs/argon2`. Existing hashes of the other function still work, and are replaced when
   * their user signs in.
   * @default 'bcrypt'
   */
  hash?: 'bcrypt' | 'argon2id';
  /**
   * The bcrypt cost, 4 to 20; each step doubles the work. At least 10 if `NODE_ENV` is production (OWASP Password
   * Storage). Hashes of a lower cost are replaced when their user signs in. It is ignored if `hash` is `argon2id`.
   * @default 12
   */
  bcryptCost?: number;
  /**
   * The parameters of argon2id, in place of the lowest that OWASP recommends (Password Storage). Requires
   * `hash: 'argon2id'`. Hashes with less memory or fewer iterations are replaced when their user signs in.
   * @default 19 MiB and 2 iterations
   */
  argon2?: Argon2Options;
  /**
   * Whether a verification link is emailed at sign-up or, with `verifyEmailBy: 'code'`, a code for the new session. Requires
   * `email`, and the code requires `signInOnSignUp`.
   * @default true with `requireVerifiedEmail` or `concealExistingEmails`, otherwise false; with `verifyEmailBy: 'code'`, true
   *   with `signInOnSignUp` or `concealExistingEmails`, otherwise false
   */
  sendVerificationOnSignUp?: boolean;
  /**
   * Whether every kind of sign-in is rejected, and a link is emailed, until the user's email is verified. Requires
   * `email`.
   * @default false
   */
  requireVerifiedEmail?: boolean;
  /**
   * Whether sign-up conceals that an account with the email exists. It always responds with 202, and the outcome is
   * sent by email. Until the email is verified, a sign-in is rejected like a wrong password, so that it reveals nothing
   * either. Requires `email`.
   * @default false
   */
  concealExistingEmails?: boolean;
  /**
   * The proof that a verification link requires. `password` requires a session of the link's user, or the password.
   * `link` requires the browser in which the account was created, for 24 hours, and the same as `password` in other
   * browsers. So a click is enough for a user who has just signed up, but a stranger's account is not verified when the
   * owner of the mailbox clicks. `link` requires `email`, and a cookie without `session.cookie.domain`. Over plain http, it
   * is the same as `password`, unless the app runs at a loopback address, because another host could have set the cookie.
   * With `code`, emails contain no verification link, but a code that the user types in the session that asked for it, or
   * to complete a sign-in. `code` requires `email`.
   * @default 'password'
   */
  verifyEmailBy?: 'password' | 'link' | 'code';
  /**
   * The proof in the email for a forgotten password. With `link`, the email contains a link, which works in any browser. With
   * `code`, it contains a code that the user types in the browser that asked for it, so that mail scanners cannot use it up
   * and phones do not have to open a link. Emails that no browser has asked for, such as invitations, contain links in both
   * cases. `code` requires `email`.
   * @default 'link'
   */
  resetBy?: 'link' | 'code';
  /**
   * The step that follows a correct password in a browser that the account does not know. With `notify`, the user is
   * signed in, and gets a notice. With `code`, the sign-in waits for a code that is emailed to the account. Accounts
   * with a second factor are asked for the second factor instead, and accounts without a verified email get the notice.
   * `code` requires `email`.
   * @default 'notify'
   */
  unknownBrowser?: 'notify' | 'code';
  /**
   * One or more secrets of at least 32 characters that are mixed into every hash and kept out of the database. New
   * hashes use the first secret, and existing hashes are verified with each of them. If a pepper is lost, all passwords
   * that were hashed with it become invalid.
   * @default none
   */
  pepper?: string | readonly string[];
  /**
   * Functions that verify imported password hashes in formats that latchkey does not know, by the name of their scheme:
   * 1 to 32 of `a-z`, digits, `_` and `-`. A function receives the password and the hash, and returns within 5 seconds
   * whether they match. A hash is replaced when its user signs in.
   * @default none
   */
  verifyLegacy?: LegacyVerifiers;
  /** A function that checks, within 2 seconds, whether a new password is known from a data breach. @default no check */
  isBreached?: BreachCheck;
  /** Whether to accept a new password if `isBreached` fails or times out. @default `accept` */
  onBreachCheckFailure?: 'accept' | 'refuse';
}

/** The keys of `Given` that are not options. No value is allowed for them. */
type Misspelt<Given, Options> = { readonly [K in Exclude<keyof Given, keyof Options>]: never };

/**
 * The options, whose types `O` decide about the results. With `O` alone, editors would complete no option, and any
 * additional key would be allowed.
 */
export type KnownPasswordOptions<O> = Listed<O> &
  O &
  Misspelt<O, CredentialPasswordOptions> & {
    readonly [K in keyof O & ('passwordRules' | 'argon2')]?: Misspelt<
      NonNullable<O[K]>,
      NonNullable<CredentialPasswordOptions[K]>
    >;
  };

/**
 * The options by name. It depends on `O`, because TypeScript would infer nothing from a variable of the type
 * {@link CredentialPasswordOptions} if that type itself were a part of the intersection.
 */
type Listed<O> = {
  [K in keyof CredentialPasswordOptions]: O extends unknown ? CredentialPasswordOptions[K] : never;
};

// Services must accept 64 characters (NIST SP 800-63B-4, 3.1.1.2), so a password manager might not create longer
// passwords.
const MAX_MIN_LENGTH = 64;
const MIN_LENGTH_IN_PRODUCTION = 8;

const pepper = z.string().min(32, 'must have at least 32 characters');
/** @internal */
export const passwordRules = () =>
  schemaOf<PasswordRuleOptions>()({
    minLength: z
      .int('must be a whole number')
      .min(1, 'must be at least 1')
      .max(MAX_MIN_LENGTH, `must be at most ${MAX_MIN_LENGTH}`)
      .default(8),
    common: flag.default(true),
    words: z
      .array(z.string().min(3, 'must have at least 3 characters'), 'must be a list of words')
      .default([]),
  });

/** @internal */
export const argon2 = () =>
  schemaOf<Argon2Options>()({
    memory: between(ARGON2_MEMORY, 'KiB').default(ARGON2_MEMORY.min),
    iterations: between(ARGON2_ITERATIONS, '').default(ARGON2_ITERATIONS.min),
  });

function between({ min, max }: { readonly min: number; readonly max: number }, unit: string) {
  const within = `must be ${min} to ${max}${unit && ` ${unit}`}`;
  return z.int('must be a whole number').min(min, within).max(max, within);
}

/** @internal */
export const schema = () =>
  schemaOf<CredentialPasswordOptions>()({
    identifier: z
      .enum(['email', 'username', 'either'], "must be 'email', 'username' or 'either'")
      .default('email'),
    username: flag.optional(),
    usernamePattern: z.instanceof(RegExp, { error: 'must be a regular expression' }).optional(),
    passwordRules: passwordRules().prefault({}),
    signInOnSignUp: flag.default(false),
    sendVerificationOnSignUp: flag.optional(),
    requireVerifiedEmail: flag.default(false),
    concealExistingEmails: flag.default(false),
    verifyEmailBy: z
      .enum(['password', 'link', 'code'], "must be 'password', 'link' or 'code'")
      .default('password'),
    resetBy: z.enum(['link', 'code'], "must be 'link' or 'code'").default('link'),
    unknownBrowser: z.enum(['notify', 'code'], "must be 'notify' or 'code'").default('notify'),
    hash: z.enum(['bcrypt', 'argon2id'], "must be 'bcrypt' or 'argon2id'").default('bcrypt'),
    bcryptCost: z
      .int('must be a whole number')
      .min(BCRYPT_COST.min, `must be at least ${BCRYPT_COST.min}`)
      .max(BCRYPT_COST.max, `must be at most ${BCRYPT_COST.max}: a hash would take minutes`)
      .default(12),
    argon2: argon2().optional(),
    pepper: z.union([pepper.transform((one) => [one]), z.array(pepper)]).default([]),
    verifyLegacy: z.custom<LegacyVerifiers>().optional(),
    isBreached: z.custom<BreachCheck>((it) => typeof it === 'function', 'must be a function').optional(),
    onBreachCheckFailure: z.enum(['accept', 'refuse'], "must be 'accept' or 'refuse'").default('accept'),
  });

/** The options with their defaults. */
export type Settings = ReturnType<typeof readSettings>;

/** @throws TypeError on invalid options */
export function readSettings(options: CredentialPasswordOptions) {
  const {
    usernamePattern,
    username,
    verifyLegacy = {},
    ...settings
  } = readOptions('credentialPassword', schema, options);
  const { identifier } = settings;
  if (identifier !== 'email' && username === false)
    throw configError(`identifier: '${identifier}' requires usernames: leave out username: false`);
  const hasUsernames = username ?? identifier !== 'email';
  if (usernamePattern && !hasUsernames)
    throw configError("usernamePattern requires username: true, or identifier: 'username' or 'either'");
  if (settings.argon2 && settings.hash !== 'argon2id') throw configError("argon2 requires hash: 'argon2id'");
  const { verifyEmailBy, signInOnSignUp, requireVerifiedEmail, concealExistingEmails } = settings;
  const mailsCode = signInOnSignUp && identifier !== 'username';
  const mailsOnSignUp =
    (verifyEmailBy === 'code' ? mailsCode : requireVerifiedEmail) || concealExistingEmails;
  return {
    ...settings,
    argon2: settings.argon2 ?? { memory: ARGON2_MEMORY.min, iterations: ARGON2_ITERATIONS.min },
    verifyLegacy: checkVerifiers(verifyLegacy, 'credentialPassword'),
    /** Null if usernames are not enabled. */
    usernames: hasUsernames ? new UsernameRules(usernamePattern, identifier === 'username') : null,
    mailsOnSignUp: settings.sendVerificationOnSignUp ?? mailsOnSignUp,
  };
}

/** @throws TypeError on options that contradict each other or the config */
export function checkTogether(settings: Settings, core: Core): void {
  if (settings.hash === 'bcrypt' && settings.bcryptCost < 10 && process.env.NODE_ENV === 'production') {
    throw configError('bcryptCost must be at least 10 in production');
  }
  if (settings.passwordRules.minLength < MIN_LENGTH_IN_PRODUCTION && process.env.NODE_ENV === 'production') {
    throw configError(`passwordRules.minLength must be at least ${MIN_LENGTH_IN_PRODUCTION} in production`);
  }
  const needMail = ['sendVerificationOnSignUp', 'requireVerifiedEmail', 'concealExistingEmails'] as const;
  for (const name of needMail) {
    if (!settings[name]) continue;
    if (settings.identifier === 'username' && name !== 'requireVerifiedEmail')
      throw configError(
        `${name} and identifier: 'username' are mutually exclusive: no one signs up with an email`,
      );
    if (!core.mails) throw configError(`${name} requires email: { send } in the config`);
    if (settings.signInOnSignUp && name !== 'sendVerificationOnSignUp')
      throw configError(`${name} and signInOnSignUp are mutually exclusive`);
  }
  checkBrowsers(settings, core);
  checkCode(settings, core);
  // Otherwise only existing accounts would get an email, which would reveal them.
  if (settings.concealExistingEmails && settings.sendVerificationOnSignUp === false) {
    throw configError('concealExistingEmails requires sendVerificationOnSignUp: omit it, or set it to true');
  }
}

/** @throws TypeError on options that `verifyEmailBy: 'code'` does not allow */
function checkCode(settings: Settings, core: Core): void {
  const { verifyEmailBy, sendVerificationOnSignUp, signInOnSignUp, concealExistingEmails } = settings;
  if (verifyEmailBy !== 'code') return;
  if (!core.mails) throw configError("verifyEmailBy: 'code' requires email: { send } in the config");
  if (sendVerificationOnSignUp && !signInOnSignUp && !concealExistingEmails)
    throw configError(
      "sendVerificationOnSignUp and verifyEmailBy: 'code' require signInOnSignUp, because a code is for a session: set signInOnSignUp, or omit sendVerificationOnSignUp",
    );
}

/** @throws TypeError on options about browsers that the config does not allow */
function checkBrowsers({ verifyEmailBy, unknownBrowser, resetBy }: Settings, core: Core): void {
  if (resetBy === 'code' && !core.mails)
    throw configError("resetBy: 'code' requires email: { send } in the config");
  if (unknownBrowser === 'code' && !core.mails)
    throw configError("unknownBrowser: 'code' requires email: { send } in the config");
  if (verifyEmailBy !== 'link') return;
  if (!core.mails) throw configError("verifyEmailBy: 'link' requires email: { send } in the config");
  if (core.settings.cookie.domain !== undefined)
    throw configError(
      "verifyEmailBy: 'link' and session.cookie.domain are mutually exclusive: the link can lead to another host than the one of the sign-up, which alone gets its cookie",
    );
}

function configError(what: string): TypeError {
  return new TypeError(`latchkey: credentialPassword: ${what}`);
}

type Flag<O, Name extends keyof CredentialPasswordOptions> = Name extends keyof O ? O[Name] : false;
type IfOn<Value, Yes, No> = [Value] extends [true] ? Yes : true extends Value ? Yes | No : No;

/** The result of `auth.credential.signUp`, depending on the options: see {@link CredentialApi.signUp}. */
export type SignUpAnswer<O> = IfOn<
  Flag<O, 'concealExistingEmails'>,
  CredentialPasswordOptions extends O ? null : O extends { verifyEmailBy: 'code' } ? RequestedSignUp : null,
  IfOn<Flag<O, 'signInOnSignUp'>, IssuedSession, { readonly user: User }>
>;

/** The result of a sign-in with a password: pending sign-ins are possible with `unknownBrowser: 'code'`, for example. */
export type SignInAnswer<O> =
  AsksAtSignIn<O> extends true
    ? SignedIn
    : CredentialPasswordOptions extends O
      ? IssuedSession
      : 'unknownBrowser' extends keyof O
        ? 'code' extends O['unknownBrowser']
          ? SignedIn
          : IssuedSession
        : IssuedSession;

/** The result of `auth.credential.requestPasswordReset`: with `resetBy: 'code'`, the request that waits for the code. */
export type ResetAnswer<O> = IfByCode<O, 'resetBy', RequestedReset>;

/** The result of `auth.credential.sendVerification`: with `verifyEmailBy: 'code'`, the code that was emailed. */
export type VerificationAnswer<O> = IfByCode<O, 'verifyEmailBy', RequestedVerification>;

/** `T` if the option is `'code'`, undefined if it is not, and both if the types of the options do not tell. */
type IfByCode<O, Option extends keyof CredentialPasswordOptions, T> = CredentialPasswordOptions extends O
  ? T | undefined
  : O extends { [K in Option]: infer By }
    ? [By] extends ['code']
      ? T
      : 'code' extends By
        ? T | undefined
        : undefined
    : undefined;

/** Whether sign-ins of every kind can wait for a code that verifies the email. */
export type AsksAtSignIn<O> = CredentialPasswordOptions extends O
  ? false
  : O extends { verifyEmailBy: 'code'; requireVerifiedEmail: infer Required }
    ? true extends Required
      ? true
      : false
    : false;

type Person = Omit<SignUpInput, 'email' | 'username'>;

interface ByIdentifier {
  email: SignUpInput;
  username: Person & { /** See {@link SignUpInput}. */ username: string };
  either: SignUpInput | (Person & { email?: undefined /** See {@link SignUpInput}. */; username: string });
}

type IdentifierOf<O> = O extends { identifier: infer I extends keyof ByIdentifier } ? I : 'email';

/** The input of `auth.credential.signUp`, depending on the option `identifier`. */
export type SignUpInputOf<O> = ByIdentifier[IdentifierOf<O>];
