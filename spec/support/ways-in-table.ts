import { rows } from './database.js';
import * as ways from './ways-in.js';
import { app, called, NEW, type Way } from './ways-in.js';

/**
 * The policies that each way in must follow:
 * - `verifiedEmail`: the email is not verified, with `requireVerifiedEmail`;
 * - `suspension`: the account was suspended;
 * - `secondFactor`: the account has a second factor, which this way in does not provide unless it is one: `pending`, or
 *   a session with its `aal`;
 * - `limits`: the limit that rejects repeated attempts;
 * - `deletion`: the account was deleted;
 * - `closure`: the account was deleted, and is pending deletion for `accountDeletion.graceDays`;
 * - `epoch`: all sessions were revoked after the credential of this way in was issued;
 * - `unknownBrowser`: with `unknownBrowser: 'code'`, the email is verified, and the client is not a browser of the
 *   account: `code`, if a code is emailed before there is a session;
 * - `newPassword`: a new password is required, and the email is verified;
 * - `required`: the account's email is verified, and the account is required to have a second factor, but has none
 *   unless this way in provides one: `enrol`, if the session has the task to set one up, or `aal 2`, or `code`.
 */
export const POLICIES = [
  'verifiedEmail',
  'suspension',
  'secondFactor',
  'limits',
  'deletion',
  'closure',
  'epoch',
  'unknownBrowser',
  'newPassword',
  'required',
] as const;

export type Policy = (typeof POLICIES)[number];

/** The outcome of the attempt with the proof. If it succeeds or has no limit, also the reason why that is right. */
export type Cell = string | { readonly outcome: string; readonly why: string };

export type Row = { readonly way: Way } & Readonly<Record<Policy, Cell>>;

const ok = (why: string): Cell => ({ outcome: 'ok', why });
const unlimited = (why: string): Cell => ({ outcome: 'unlimited', why });

const NO_SIGN_IN = ok('it begins no session');
const PROVES_MAILBOX = ok('it proves the mailbox itself, and begins no session');
const PROVED_ANEW = ok('nothing was handed out before: the proof is given anew');
const TO_MAILBOX = ok('a link is bound to the address, and goes on after a "sign out everywhere"');
const APPS_WORD = unlimited('the app calls it on its own word');
const RANDOM = unlimited('what is sent has 192 random bits or more');
const NEW_USER = ok(
  'the provider vouches for the email: a new account is made, which has nothing of the old',
);

const NOT_A_PASSWORD = ok('it is nothing that another service could have leaked');

const NO_PASSWORD = ok('it shows no password');
const FORMER = 'new_password_required';

const byPassword = {
  verifiedEmail: 'email_not_verified',
  suspension: 'account_suspended',
  secondFactor: 'pending',
  limits: 'limited by account',
  deletion: 'invalid_credentials',
  closure: 'account_deleted',
  epoch: PROVED_ANEW,
  unknownBrowser: 'code',
  newPassword: FORMER,
  required: 'code',
} as const;

const byProvider = {
  verifiedEmail: 'email_not_verified',
  suspension: 'account_suspended',
  secondFactor: 'pending',
  limits: 'limited by signIn',
  deletion: NEW_USER,
  closure: 'account_deleted',
  epoch: PROVED_ANEW,
  unknownBrowser: ok('the provider has signed its user in'),
  newPassword: NO_PASSWORD,
  required: 'enrol',
} as const;

const byLink = {
  verifiedEmail: ok('it proves the mailbox itself'),
  suspension: 'account_suspended',
  secondFactor: 'pending',
  limits: RANDOM,
  deletion: 'invalid_token',
  closure: 'invalid_token',
  epoch: TO_MAILBOX,
  unknownBrowser: ok('it shows the mailbox itself'),
  newPassword: NO_PASSWORD,
  required: 'enrol',
} as const;

const byReset = {
  verifiedEmail: PROVES_MAILBOX,
  suspension: 'account_suspended',
  secondFactor: ok('it sets a password, and begins no session: the next sign-in waits for the factor'),
  limits: 'limited by signIn',
  deletion: 'invalid_token',
  closure: 'invalid_token',
  epoch: TO_MAILBOX,
  unknownBrowser: NO_SIGN_IN,
  newPassword: ok('it sets the new one'),
  required: NO_SIGN_IN,
} as const;

const byVerification = {
  verifiedEmail: PROVES_MAILBOX,
  suspension: 'account_suspended',
  secondFactor: NO_SIGN_IN,
  limits: 'limited by account',
  deletion: 'invalid_token',
  closure: 'invalid_token',
  epoch: TO_MAILBOX,
  unknownBrowser: NO_SIGN_IN,
  newPassword: FORMER,
  required: NO_SIGN_IN,
} as const;

const byPasskey = {
  verifiedEmail: 'email_not_verified',
  suspension: 'account_suspended',
  secondFactor: 'aal 2',
  limits: 'limited by passkeyOptions',
  deletion: 'unknown_passkey',
  closure: 'account_deleted',
  epoch: PROVED_ANEW,
  unknownBrowser: NOT_A_PASSWORD,
  newPassword: NO_PASSWORD,
  required: 'aal 2',
} as const;

const bySecondStep = {
  verifiedEmail: 'email_not_verified',
  suspension: 'sign_in_expired',
  secondFactor: 'aal 2',
  limits: 'limited by account',
  deletion: 'sign_in_expired',
  closure: 'sign_in_expired',
  epoch: 'sign_in_expired',
  unknownBrowser: ok('the account has a second factor, which is asked for everywhere'),
  newPassword: 'sign_in_expired',
  required: 'aal 2',
} as const;

/** The email of such an account was verified, so an unverified email has lost its verification since. */
const byEmailCode = {
  verifiedEmail: 'email_not_verified',
  suspension: 'sign_in_expired',
  // The account has got the factor since.
  secondFactor: 'sign_in_expired',
  limits: unlimited('the fifth wrong code ends the sign-in'),
  deletion: 'sign_in_expired',
  closure: 'sign_in_expired',
  epoch: 'sign_in_expired',
  unknownBrowser: ok('it is the code'),
  newPassword: 'sign_in_expired',
  required: 'enrol',
} as const;

/** The request continues to exist, so that its sender does not learn that there was an account. */
const DELETED = { deletion: 'invalid_code' } as const;

const byEmailedSignIn = {
  verifiedEmail: ok('it proves the mailbox itself'),
  suspension: 'sign_in_expired',
  secondFactor: 'pending',
  limits: unlimited('the fifth wrong code ends the sign-in'),
  deletion: 'sign_in_expired',
  closure: 'sign_in_expired',
  epoch: 'sign_in_expired',
  unknownBrowser: ok('it shows the mailbox itself'),
  newPassword: 'sign_in_expired',
  required: 'enrol',
} as const;

const byKey = {
  verifiedEmail: ok('a key is made by whoever is signed in already'),
  suspension: 'account_suspended',
  secondFactor: ok('a key is for programs, and making one needs the factor'),
  limits: RANDOM,
  deletion: 'invalid_api_key',
  closure: 'account_deleted',
  epoch: ok('keys outlive sessions, and are revoked by themselves'),
  unknownBrowser: NOT_A_PASSWORD,
  newPassword: 'task_required',
  required: 'task_required',
} as const;

/** Operations of an account, for a user whom the app has authenticated. */
const ofAccount = {
  verifiedEmail: NO_SIGN_IN,
  suspension: 'account_suspended',
  secondFactor: ok("without a session it acts on the app's word"),
  limits: 'limited by account',
  deletion: 'user_not_found',
  closure: 'account_deleted',
  epoch: PROVED_ANEW,
  unknownBrowser: NO_SIGN_IN,
  newPassword: FORMER,
  required: NO_SIGN_IN,
} as const;

/** The routes that anyone can call: the ways in through them, or the reason why they are not ways in. */
export const PUBLIC_ROUTES: Readonly<Record<string, readonly Row[] | string>> = {
  'POST /signin/credential': [
    { way: ways.byPassword('email'), ...byPassword },
    { way: ways.byPassword('username'), ...byPassword },
    // The page gets only the code.
    { way: ways.byForm, ...byPassword, limits: 'rate_limited' },
  ],
  'POST /passwords/reset': [
    { way: ways.byReset, ...byReset },
    { way: ways.byInvitation, ...byReset },
    // The request stays, so that its browser does not learn about the account.
    { way: ways.byResetCode, ...byReset, deletion: 'invalid_code', closure: 'invalid_code' },
  ],
  'POST /verify-email': [{ way: ways.byVerification, ...byVerification }],
  'POST /undo-change': [
    {
      way: ways.byUndo,
      verifiedEmail: ok('it puts the account back, and begins no session'),
      suspension: ok('it takes ways in away, and opens none'),
      secondFactor: ok('it asks for the factor of then: whoever shows all that is the owner'),
      limits: 'limited by account',
      deletion: 'invalid_token',
      // The app itself has deleted the account here, and a deletion by the app is final.
      closure: 'invalid_token',
      epoch: ok('the way back must survive whoever signs the owner out'),
      unknownBrowser: ok('it works in none, and begins no session'),
      newPassword: 'invalid_token',
      required: NO_SIGN_IN,
    },
  ],
  'POST /email-changes/confirm': [
    {
      way: ways.byNewEmail,
      verifiedEmail: PROVES_MAILBOX,
      suspension: 'invalid_token',
      secondFactor: 'second_factor_required',
      limits: 'limited by account',
      deletion: 'invalid_token',
      closure: 'invalid_token',
      epoch: 'invalid_token',
      unknownBrowser: NO_SIGN_IN,
      newPassword: 'invalid_token',
      required: NO_SIGN_IN,
    },
  ],
  'GET /oauth/:provider/callback': [
    { way: ways.byProvider, ...byProvider },
    {
      way: ways.byProvidersEmail,
      ...byProvider,
      secondFactor: 'account_exists',
      verifiedEmail: 'account_exists',
    },
  ],
  'POST /oauth/:provider/callback': [{ way: ways.byFormPost, ...byProvider }],
  'POST /signin/link': [{ way: ways.byLink, ...byLink }],
  'POST /signin/passkey': [{ way: ways.byPasskey, ...byPasskey }],
  'POST /signin/second-factor': [
    {
      way: ways.bySecondStep((pending_token, code) =>
        ways.post('/signin/second-factor', { method: 'totp', code, pending_token }),
      ),
      ...bySecondStep,
    },
    {
      way: ways.byEmailCode((pending_token, code) =>
        ways.post('/signin/second-factor', { method: 'email_code', code, pending_token }),
      ),
      ...byEmailCode,
    },
  ],
  'POST /signin/email': 'mails a code, which is walked through',
  'POST /signin/email/confirm': (['code', 'token'] as const).map((what) => ({
    way: ways.byEmailedSignIn(
      (pending_token, proof) => ways.post('/signin/email/confirm', { pending_token, ...proof }),
      what,
    ),
    ...byEmailedSignIn,
    limits: 'limited by signIn',
    ...(what === 'code' && DELETED),
  })),
  'POST /signin/second-factor/send': 'mails the code again, which is walked through',
  'POST /signin/passkey/options': 'hands out a challenge',
  'POST /undo-change/options': 'hands out a challenge',
  'POST /undo-change/lookup': 'says what a link undoes',
  'POST /invitations/lookup': 'says what a link is for',
  'POST /signin/second-factor/options': 'hands out a challenge',
  'POST /signup/credential': 'makes a new account',
  'POST /usernames/check': 'says whether a name is free',
  'POST /passwords/request-reset': 'mails a link, which is walked through',
  'POST /signin/link/request': 'mails a link, which is walked through',
  'GET /oauth/:provider/authorize': 'begins what the callback ends',
  'GET /openapi.json': 'is the same for everybody',
};

/** The operations through which an account is entered or taken over. */
export const OPERATIONS: Readonly<Record<string, readonly Row[]>> = {
  getSession: [{ way: ways.byKey, ...byKey }],
  createSession: [
    {
      way: ways.onTheAppsWord(({ id }) => app.auth.createSession(id)),
      verifiedEmail: 'email_not_verified',
      suspension: 'account_suspended',
      secondFactor: 'aal 1, not fresh',
      limits: APPS_WORD,
      deletion: 'user_not_found',
      closure: 'account_deleted',
      epoch: PROVED_ANEW,
      unknownBrowser: ok('the app calls it on its own word'),
      newPassword: ok('the app calls it on its own word'),
      required: 'enrol',
    },
  ],
  'apiKeys.create': [
    {
      way: ways.onTheAppsWord(({ id }) => app.auth.apiKeys.create(id, { name: 'program' })),
      verifiedEmail: NO_SIGN_IN,
      suspension: ok('the app can change any account; the key opens nothing'),
      secondFactor: ok('the app calls it on its own word'),
      limits: APPS_WORD,
      deletion: 'user_not_found',
      closure: ok('the app can change any account; the key opens nothing'),
      epoch: PROVED_ANEW,
      unknownBrowser: NO_SIGN_IN,
      newPassword: 'task_required',
      required: 'task_required',
    },
  ],
  'credential.signIn': [
    {
      way: ways.byCode(({ email }, typed) =>
        app.auth.credential.signIn({ credential: email, password: typed }),
      ),
      ...byPassword,
    },
  ],
  'credential.changePassword': [
    {
      way: ways.byCode(({ id }, typed) =>
        app.auth.credential.changePassword({ userId: id, currentPassword: typed, newPassword: NEW }),
      ),
      ...ofAccount,
      // It starts a session in place of the sessions that it ends.
      verifiedEmail: 'email_not_verified',
      secondFactor: 'pending',
      unknownBrowser: 'code',
      required: 'code',
    },
  ],
  'credential.reauthenticate': [
    {
      way: ways.byCode(({ id, sessionId }, typed) =>
        app.auth.credential.reauthenticate({ userId: id, sessionId, password: typed }),
      ),
      ...ofAccount,
      secondFactor: 'second_factor_required',
      epoch: ok('what it makes fresh has ended, and opens nothing'),
      required: 'reauthentication_required',
    },
  ],
  'credential.setPassword': [
    {
      way: async ({ id }) => {
        await rows(app.database, 'UPDATE users SET password_hash = NULL WHERE id = :id', { id });
        return { right: () => called(app.auth.credential.setPassword({ userId: id, newPassword: NEW })) };
      },
      ...ofAccount,
      suspension: ok('the app can change any account; the password opens nothing'),
      closure: ok('the app can change any account; the password opens nothing'),
      limits: APPS_WORD,
      newPassword: ok('it sets the new one'),
    },
  ],
  'credential.resetPassword': [
    {
      way: async (person) => {
        const token = await ways.resetToken(person);
        return { right: () => called(app.auth.credential.resetPassword({ token, newPassword: NEW })) };
      },
      ...byReset,
      limits: RANDOM,
    },
  ],
  'credential.verifyEmail': [
    {
      way: ways.byVerificationWith((token, password) =>
        called(app.auth.credential.verifyEmail({ token, password })),
      ),
      ...byVerification,
    },
    {
      // The session that the app says belongs to the user.
      way: async (person) => {
        const token = await ways.verificationToken(person);
        return { right: () => called(app.auth.credential.verifyEmail({ token, sessionUserId: person.id })) };
      },
      ...byVerification,
      limits: APPS_WORD,
      newPassword: NO_PASSWORD,
    },
  ],
  'oauth.callback': [{ way: ways.byProviderInCode, ...byProvider, limits: APPS_WORD }],
  'passkeys.signIn': [{ way: ways.byPasskeyInCode, ...byPasskey, limits: RANDOM }],
  completeSignIn: [
    {
      way: ways.bySecondStep((pendingToken, code) =>
        called(app.auth.completeSignIn({ pendingToken, method: 'totp', code })),
      ),
      ...bySecondStep,
    },
    {
      way: ways.byEmailCode((pendingToken, code) =>
        called(app.auth.completeSignIn({ pendingToken, method: 'email_code', code })),
      ),
      ...byEmailCode,
    },
  ],
  'emailSignIn.confirm': (['code', 'token'] as const).map((what) => ({
    way: ways.byEmailedSignIn(
      (pendingToken, proof) => called(app.auth.emailSignIn.confirm({ pendingToken, ...proof })),
      what,
    ),
    ...byEmailedSignIn,
    ...(what === 'token' ? { limits: RANDOM } : DELETED),
  })),
  'links.signIn': [
    {
      way: async (person) => {
        const token = await ways.mailedTo(person, 'sign-in-link', '/signin/link/request');
        return { right: () => called(app.auth.links.signIn(token)) };
      },
      ...byLink,
    },
  ],
};

/**
 * The operations that are not a way in: they trust the app, act for a session that it names, or do not use an account.
 */
export const OTHER_OPERATIONS = `
  sendSignInCode movingIn.importUsers movingIn.importOrganizations listSessions revokeSession revokeAllSessions revokeSessionById establishSession endSession markEmailVerified formValues
  migrate prune rotateSecrets close health outbox.list outbox.retry outbox.deliver on openapi undoChange endUndo exportUser
  users.get users.find users.list users.create users.ensure users.setPassword users.update users.changeEmail users.delete users.restore users.requireNewPassword
  credential.signUp credential.removePassword credential.usernameAvailable credential.sendVerification credential.requestPasswordReset
  oauth.authorizeUrl oauth.linkUrl oauth.reauthenticateUrl oauth.isPending oauth.accounts oauth.tokens oauth.refresh
  oauth.unlink oauth.keepForm oauth.returnsToApp
  emailSignIn.request emailSignIn.requestReauthentication
  apiKeys.list apiKeys.revoke auditLog.listEvents links.request
  twoFactor.status twoFactor.enroll twoFactor.confirm twoFactor.turnOff twoFactor.renewRecoveryCodes twoFactor.disable twoFactor.usePasskeys
  twoFactor.options
  admin.isAdministrator admin.listUsers admin.getUser admin.createUser admin.updateUser admin.deleteUser
  admin.sendPasswordReset admin.listUserSessions admin.revokeUserSession admin.revokeUserSessions
  suspension.suspend suspension.reinstate roles.of roles.set
  organizations.addMember organizations.create organizations.delete organizations.get organizations.invitations
  organizations.invite organizations.list organizations.members organizations.ofUser organizations.removeMember
  organizations.revokeInvitation organizations.setRole organizations.update
  passkeys.register passkeys.registrationOptions passkeys.reauthenticationOptions passkeys.signInOptions
  passkeys.list passkeys.rename passkeys.remove passkeys.reauthenticate
  auditLog.record auditLog.forget auditLog.settle suspension.isSuspended roles.change roles.setByAdministrator
`;

/** Every row, named. */
export const WAYS = [...Object.entries(PUBLIC_ROUTES), ...Object.entries(OPERATIONS)].flatMap(
  ([name, all]) =>
    typeof all === 'string'
      ? []
      : all.map((row, index) => ({ name: all.length > 1 ? `${name}, ${index + 1}` : name, ...row })),
);

/** Returns the outcome of the attempt with the proof. */
export function outcomeOf(cell: Cell): string {
  return typeof cell === 'string' ? cell : cell.outcome;
}

/** The rows for a test of one policy. */
export function cellsOf(policy: Policy) {
  return WAYS.map(({ name, way, [policy]: cell }) => ({ name, way, outcome: outcomeOf(cell) }));
}
