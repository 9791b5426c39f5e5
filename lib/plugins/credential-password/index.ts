import * as z from 'zod';
import { proveByPassword } from '../../accounts/reauthentication.js';
import { choosePassword } from '../../accounts/required-password.js';
import { declarePasswords } from '../../core/contribution.js';
import type { Core } from '../../core/core.js';
import { text } from '../../http/route.js';
import type { Mails } from '../../mail/mails.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { Reauthentication } from '../../sessions/second-factor.js';
import { codeRequestsTable } from '../../tables/code-requests.js';
import type { ModelsOf } from '../../tables/model.js';
import type { Passwords } from '../../users/passwords.js';
import type { UserRecord } from '../../users/record.js';
import type { EmailVerification } from '../../verification/email-verification.js';
import type { PasswordLinks } from '../../verification/password-links.js';
import { type ByMail, CredentialApi } from './api.js';
import {
  type AsksAtSignIn,
  type CredentialPasswordOptions,
  checkTogether,
  type KnownPasswordOptions,
  type ResetAnswer,
  readSettings,
  type Settings,
  type SignInAnswer,
  type SignUpAnswer,
  type SignUpInputOf,
  type VerificationAnswer,
} from './options.js';
import { PasswordChange } from './password-change.js';
import { PasswordReset } from './password-reset.js';
import { Registrations } from './registrations.js';
import { ResetCodes } from './reset-codes.js';
import {
  changePassword,
  newPasswordField,
  removePassword,
  requestReset,
  requestResetCode,
  resetPassword,
  resetPasswordByCode,
  sendVerification,
  sendVerificationCode,
  setPassword,
  signin,
  signUpByInvitation,
  signup,
  usernamesCheck,
  verifyEmail,
  verifyEmailByCode,
} from './routes.js';

const TABLES = { CodeRequest: codeRequestsTable } as const;

/** The models that `resetBy: 'code'` and `verifyEmailBy: 'code'` add to `auth.models`. */
export interface CodeRequestModels extends ModelsOf<typeof TABLES> {}

type CodeModels<O> = O extends { resetBy: 'code' } | { verifyEmailBy: 'code' }
  ? CodeRequestModels
  : Record<never, never>;

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
  given: KnownPasswordOptions<O> = {} as KnownPasswordOptions<O>,
): Plugin<
  'credential',
  CredentialApi<
    SignUpAnswer<O>,
    SignUpInputOf<O>,
    SignInAnswer<O>,
    ResetAnswer<O>,
    VerificationAnswer<O>,
    AsksAtSignIn<O>
  >,
  CodeModels<O>
> {
  const options: CredentialPasswordOptions = given;
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
      ...(hasCodes(settings) && { codeRequests: { resets: settings.resetBy === 'code' } }),
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
      const newPassword = newPasswordField(parts.passwords);
      const signsUp = signUpByInvitation(core, parts.registrations, parts.passwords, settings);
      const routesByMail = ({ verification, reset, resetCodes }: ByMail) => [
        ...(verification.codes
          ? [sendVerificationCode(verification.codes), verifyEmailByCode(core, verification.codes, settings)]
          : [sendVerification(verification), verifyEmail(core, verification)]),
        ...(resetCodes
          ? [requestResetCode(core, resetCodes), resetPasswordByCode(core, reset, resetCodes, newPassword)]
          : [requestReset(reset), resetPassword(core, reset, newPassword)]),
      ];
      return {
        api: api as CredentialApi<
          SignUpAnswer<O>,
          SignUpInputOf<O>,
          SignInAnswer<O>,
          ResetAnswer<O>,
          VerificationAnswer<O>,
          AsksAtSignIn<O>
        >,
        ...(hasCodes(settings) && { tables: TABLES }),
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
        ...(signsUp && { signsUp }),
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
  return {
    check,
    passwords,
    change: new PasswordChange(core, passwords),
    byMail:
      mails && passwordLinks && verification
        ? mailServices(core, settings, { mails, passwords, passwordLinks, verification })
        : null,
    registrations: new Registrations(core, passwords, settings),
  };
}

interface MailServices {
  readonly mails: Mails;
  readonly passwords: Passwords;
  readonly passwordLinks: PasswordLinks;
  readonly verification: EmailVerification;
}

function mailServices(
  core: Core,
  { resetBy }: Settings,
  { mails, passwords, passwordLinks, verification }: MailServices,
): ByMail {
  const { codeRequests: rows, typedCodes: codes } = core;
  const reset = new PasswordReset(core, mails, passwordLinks, passwords);
  const resetCodes =
    resetBy === 'code' && rows && codes
      ? new ResetCodes(core, { mails, passwords, rows, codes, reset })
      : null;
  return { verification, reset, resetCodes };
}

/** Whether some emails contain codes instead of links. */
function hasCodes({ resetBy, verifyEmailBy }: Settings): boolean {
  return resetBy === 'code' || verifyEmailBy === 'code';
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
