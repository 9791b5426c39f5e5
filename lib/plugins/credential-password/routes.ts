import * as z from 'zod';
import type { CookieSettings } from '../../config/session.js';
import type { SignsUp } from '../../core/contribution.js';
import type { Core } from '../../core/core.js';
import { AuthError, type GivenFieldError } from '../../errors.js';
import {
  deviceInBody,
  deviceShape,
  resources,
  sessionAnswer,
  sessionReply,
  signInAnswer,
} from '../../http/present.js';
import { CODE_OR_TOKEN, hasCodeOrToken, named, type Reply, route, text, time } from '../../http/route.js';
import { sessionOf } from '../../sessions/carriers.js';
import { shownAgain } from '../../shown-again.js';
import type { Passwords } from '../../users/passwords.js';
import type { EmailVerification } from '../../verification/email-verification.js';
import type { VerificationCodes, Verified } from '../../verification/verification-codes.js';
import type { Awaited } from '../../waiting/emailed-requests.js';
import type { CredentialApi } from './api.js';
import type { Settings } from './options.js';
import type { PasswordReset } from './password-reset.js';
import type { Registration, Registrations } from './registrations.js';
import type { ResetCodes } from './reset-codes.js';

/** The field for a new password. */
export function newPasswordField({ rules }: Passwords): z.ZodString {
  return text(1024).describe(rules.description);
}

/** Returns how people sign up with the email of an invitation. Null if accounts have no email. */
export function signUpByInvitation(
  core: Core,
  registrations: Registrations,
  passwords: Passwords,
  settings: Settings,
): SignsUp | null {
  if (settings.identifier === 'username') return null;
  const { email: _, ...others } = identifiers(settings);
  const registrationIn = (body: object, email?: string): Registration => {
    const { password, username } = body as Registration;
    return { email, password, username, fields: core.users.fields.fromWire(body) };
  };
  return {
    shape: {
      ...others,
      password: newPasswordField(passwords),
      ...core.users.fields.wireShape('user', 'create'),
    },
    problems: ['rate_limited', ...(settings.usernames ? (['username_taken'] as const) : [])],
    faultsOf: (body) => registrations.faultsOf(registrationIn(body), 'user'),
    prepare: (email, body) => registrations.prepare(registrationIn(body, email)),
  };
}

export const signup = (
  core: Core,
  registrations: Registrations,
  newPassword: z.ZodString,
  settings: Settings,
) => {
  const { identifier, usernames, concealExistingEmails } = settings;
  const { user, session } = resources(core);
  const { signUp, hooks } = core.settings;
  const device = deviceShape(core);
  const hasDevice = Object.keys(device).length > 0;
  const hasCode = core.emailVerification?.codes != null;
  const mayRefuse = signUp === 'closed' || Boolean(hooks.beforeCreateUser ?? hooks.createRow);
  const registrationIn = (body: object): Registration => {
    const { email, password, username } = body as Registration;
    return { email, password, username, fields: core.users.fields.fromWire(body) };
  };
  return route({
    method: 'post',
    path: '/signup/credential',
    client: 'credential.signUp',
    session: 'changes',
    summary: 'Create an account with a password',
    access: 'public',
    asksHuman: 'signup/credential',
    body: named(
      'SignUpInput',
      'The input of a sign-up with a password',
      z.strictObject({
        ...identifiers(settings),
        password: newPassword,
        ...core.users.fields.wireShape('user', 'create'),
      }),
    ),
    answers: concealExistingEmails
      ? {
          202: hasCode
            ? codeRequested(core, 'Accepted; the outcome is sent by email. The browser gets a cookie', device)
            : {
                description: 'Accepted; the outcome is sent by email',
                ...(hasDevice && { schema: z.object(device).optional() }),
              },
        }
      : {
          201: {
            description: 'The user and, if signing up creates one, the session',
            schema: named(
              'SignedUp',
              'A new account. With concealExistingEmails, no response has it',
              z.object({
                user: user.schema,
                session: session.schema.optional().describe('Only with signInOnSignUp'),
                ...device,
              }),
            ),
          },
        },
    problems: [
      'rate_limited',
      ...(mayRefuse ? (['sign_up_refused'] as const) : []),
      ...(concealExistingEmails || identifier === 'username' ? [] : (['email_taken'] as const)),
      ...(usernames ? (['username_taken'] as const) : []),
    ],
    faultsOf: (body) => registrations.faultsOf(registrationIn(body), 'user'),
    async handle({ body }) {
      const created = await registrations.create(registrationIn(body), 'credential');
      const { outcome, device, requested } = created;
      if (outcome && ('token' in outcome || 'secondFactor' in outcome))
        return sessionReply(core, outcome, 201);
      const inBody = deviceInBody(core, device);
      if (requested) return { ...codeReply(requested, core.settings.verifyCookie, inBody), device };
      if (!outcome) return { status: 202, device, ...(inBody.device_token && { body: inBody }) };
      return { status: 201, device, body: { user: user.present(outcome.user), ...inBody } };
    },
  });
};

function identifiers({ identifier, usernames }: Settings): z.ZodRawShape {
  const email = shownAgain(text(320));
  const username = shownAgain(text(100));
  const optionalUsername = shownAgain(username.optional());
  switch (identifier) {
    case 'email':
      return usernames ? { email, username: optionalUsername } : { email };
    case 'username':
      return { username };
    case 'either':
      return {
        email: shownAgain(email.optional().describe('Required without a username')),
        username: optionalUsername,
      };
  }
}

export const signin = (core: Core, api: CredentialApi, settings: Settings) => {
  const { requireVerifiedEmail, concealExistingEmails, verifyEmailBy } = settings;
  const saysUnverified = requireVerifiedEmail && !concealExistingEmails && verifyEmailBy !== 'code';
  return route({
    method: 'post',
    path: '/signin/credential',
    client: 'credential.signIn',
    session: 'starts',
    summary: 'Sign in with a password',
    access: 'public',
    asksHuman: 'signin/credential',
    body: z.strictObject({
      credential: shownAgain(text(320).describe(settings.usernames ? 'An email or a username' : 'An email')),
      password: text(1024),
      remember_me: shownAgain(z.boolean().optional().describe('Keep the session when the browser is closed')),
    }),
    answers: { 200: signInAnswer(core, 'The user and the new session, whose token is set as a cookie') },
    problems: [
      'invalid_credentials',
      'rate_limited',
      ...(saysUnverified ? (['email_not_verified'] as const) : []),
    ],
    async handle({ body: { credential, password, remember_me } }) {
      const issued = await api.signIn({ credential, password, rememberMe: remember_me ?? false });
      return sessionReply(core, issued);
    },
  });
};

export const usernamesCheck = (api: CredentialApi) =>
  route({
    method: 'post',
    path: '/usernames/check',
    client: 'credential.checkUsername',
    summary: 'Check whether a username is available',
    access: 'public',
    body: z.strictObject({ username: shownAgain(text(100)) }),
    answers: {
      200: { description: 'Whether the username is available', schema: z.object({ available: z.boolean() }) },
    },
    problems: ['rate_limited'],
    async handle({ body }) {
      return { status: 200, body: { available: await api.usernameAvailable(body.username) } };
    },
  });

const verificationOfEmail = {
  method: 'post',
  path: '/verify-email',
  client: 'credential.verifyEmail',
  session: 'changes',
  access: 'public',
} as const;

export const verifyEmail = (core: Core, verification: EmailVerification) => {
  const { user } = resources(core);
  return route({
    ...verificationOfEmail,
    summary: 'Verify an email with an emailed token and the session or password',
    body: z.strictObject({ token: text(200), password: text(1024).optional() }),
    answers: { 200: { description: 'The user', schema: z.object({ user: user.schema }) } },
    problems: ['invalid_token', 'unauthenticated', 'invalid_credentials', 'rate_limited'],
    async handle({ body: { token, password }, req }) {
      const sessionUserId = await core.ownBrowser.userOf(req);
      const verified = await verification.verify(token, { sessionUserId, password }, true);
      return { status: 200, device: verified.device, body: { user: user.present(verified.user) } };
    },
  });
};

export const verifyEmailByCode = (core: Core, codes: VerificationCodes, settings: Settings) => {
  const { user } = resources(core);
  const { concealExistingEmails } = settings;
  const token = text(200).optional().describe('For clients without cookies, after a sign-up');
  const reply = (verified: Verified, clears: readonly CookieSettings[] = []) => {
    const body = { user: user.present(verified.user) };
    return { status: 200, device: verified.device, clears, body };
  };
  return route({
    ...verificationOfEmail,
    summary: 'Verify an email with an emailed code, in the session or browser that asked for it',
    body: z.strictObject({ code: text(100), ...(concealExistingEmails && { pending_token: token }) }),
    answers: { 200: { description: 'The user', schema: z.object({ user: user.schema }) } },
    problems: ['invalid_code', 'code_expired', 'unauthenticated', 'invalid_session', 'rate_limited'],
    async handle({ body, req }) {
      const { code, pending_token } = body as { readonly code: string; readonly pending_token?: string };
      const found = await sessionOf(core.carriers, req);
      const own = found && { user: found.user, sessionId: found.session.id };
      const isOfSession = own !== null && pending_token === undefined && (await codes.isAsked(own.sessionId));
      if (concealExistingEmails && !isOfSession) {
        const clears = codes.isPresented ? [core.settings.verifyCookie] : [];
        return reply(await codes.verifySignUp(code, pending_token, true), clears);
      }
      // Someone who has signed up with another person's address could have planted the session in their browser.
      if (!own || !(await core.ownBrowser.confirms(found))) throw new AuthError('unauthenticated');
      return reply(await codes.verify(own, code, true));
    },
  });
};

const sendingOfVerification = {
  method: 'post',
  path: '/email-verifications',
  client: 'credential.sendVerification',
  access: 'session',
  openTo: 'any-task',
  forms: true,
  problems: ['rate_limited'],
} as const;

export const sendVerification = (verification: EmailVerification) =>
  route({
    ...sendingOfVerification,
    summary: 'Email the current user a verification link',
    answers: {
      202: { description: 'The link is being sent, unless access to the mailbox is already proven' },
    },
    async handle({ auth: { user } }) {
      await verification.request(user);
      return { status: 202 };
    },
  });

export const sendVerificationCode = (codes: VerificationCodes) =>
  route({
    ...sendingOfVerification,
    summary: 'Email the current user a code that verifies their email in this session',
    answers: {
      202: {
        description: 'The code is being sent, unless access to the mailbox is already proven',
        schema: z.object({ expires_at: time }),
      },
    },
    async handle({ auth: { user, session } }) {
      const expiresAt = await codes.request({ user, sessionId: session.id });
      return { status: 202, body: { expires_at: expiresAt.toISOString() } };
    },
  });

export const setPassword = (api: CredentialApi, newPassword: z.ZodString) =>
  route({
    method: 'put',
    path: '/passwords',
    client: 'credential.setPassword',
    session: 'changes',
    formTwin: '/passwords/set',
    summary: "Set the current user's password, if there is none, after a recent sign-in",
    access: 'session',
    sensitive: { asks: 'fresh' },
    body: z.strictObject({ new_password: newPassword }),
    answers: { 204: { description: 'The password was set' } },
    problems: ['password_already_set', 'rate_limited'],
    async handle({ auth, body }) {
      await api.setPassword({
        userId: auth.user.id,
        sessionId: auth.session.id,
        newPassword: body.new_password,
      });
      return { status: 204 };
    },
  });

export const removePassword = (api: CredentialApi) =>
  route({
    method: 'delete',
    path: '/passwords',
    client: 'credential.removePassword',
    session: 'changes',
    formTwin: '/passwords/delete',
    summary:
      "Remove the current user's password, unless it is the last sign-in method, and revoke all other sessions",
    access: 'session',
    sensitive: { asks: 'fresh-or-password' },
    answers: { 204: { description: 'The password was removed; the session has a new token' } },
    problems: ['password_not_set', 'last_sign_in_method'],
    async handle({ auth }) {
      const issued = await api.removePassword({ userId: auth.user.id, sessionId: auth.session.id });
      return { status: 204, ...(issued && { issue: issued }) };
    },
  });

/** Returns the check of a new password that needs no account. */
function newPasswordFaults({ passwords }: Core) {
  return async ({
    new_password,
  }: {
    readonly new_password?: unknown;
  }): Promise<readonly GivenFieldError[]> => {
    const fault = await passwords?.rules.faultOf(new_password, []);
    return fault ? [{ pointer: '/new_password', ...fault }] : [];
  };
}

export const changePassword = (core: Core, api: CredentialApi, newPassword: z.ZodString) =>
  route({
    method: 'post',
    path: '/passwords/change',
    client: 'credential.changePassword',
    session: 'changes',
    summary: "Change the current user's password, and revoke all other sessions",
    access: 'session',
    openTo: { does: ['choose_password'] },
    sensitive: { asks: 'second-factor', because: 'the request contains the current password' },
    body: z.strictObject({ current_password: text(1024), new_password: newPassword }),
    faultsOf: newPasswordFaults(core),
    answers: { 200: sessionAnswer(core, 'The user, and the current session with a new token') },
    problems: ['invalid_credentials', 'rate_limited'],
    async handle({ auth, body }) {
      const issued = await api.changePassword({
        userId: auth.user.id,
        sessionId: auth.session.id,
        currentPassword: body.current_password,
        newPassword: body.new_password,
      });
      return sessionReply(core, issued);
    },
  });

const requestOfReset = {
  method: 'post',
  path: '/passwords/request-reset',
  client: 'credential.requestPasswordReset',
  access: 'public',
  asksHuman: 'passwords/request-reset',
  body: z.strictObject({ email: shownAgain(text(320)) }),
  problems: ['rate_limited'],
} as const;

export const requestReset = (reset: PasswordReset) =>
  route({
    ...requestOfReset,
    summary: 'Email a password reset link, if the account exists',
    answers: { 202: { description: 'Accepted, whether or not the account exists' } },
    async handle({ body }) {
      await reset.request(body.email);
      return { status: 202 };
    },
  });

export const requestResetCode = (core: Core, codes: ResetCodes) =>
  route({
    ...requestOfReset,
    summary: 'Email a code for a new password, if the account exists',
    formPage: {
      field: 'confirm_to',
      page: core.settings.email?.resetUrl ?? '/',
      description:
        'Where to redirect afterwards: the page that asks for the code and the new password. By default email.resetUrl',
    },
    answers: {
      202: codeRequested(core, 'Accepted, whether or not the account exists. The browser gets a cookie'),
    },
    async handle({ body }) {
      return codeReply(await codes.request(body.email), core.settings.resetCookie);
    },
  });

/** The documented response to a browser that has asked for a code. */
function codeRequested({ settings }: Core, description: string, more: z.ZodRawShape = {}) {
  const token = z.string().describe('For clients without cookies');
  return {
    description,
    schema: z.object({ expires_at: time, ...(settings.bearerEnabled && { pending_token: token }), ...more }),
  };
}

/** Creates the reply to a browser that has asked for a code. */
function codeReply({ expiresAt, pendingToken }: Awaited, cookie: CookieSettings, more: object = {}): Reply {
  const body = { expires_at: expiresAt.toISOString(), pending_token: pendingToken, ...more };
  return { status: 202, body, pending: { expiresAt, pendingToken, cookie } };
}

const resetOfPassword = {
  method: 'post',
  path: '/passwords/reset',
  client: 'credential.resetPassword',
  session: 'changes',
  access: 'public',
  answers: { 204: { description: 'The password was set, and the email is verified' } },
} as const;

export const resetPassword = (core: Core, reset: PasswordReset, newPassword: z.ZodString) =>
  route({
    ...resetOfPassword,
    summary: 'Reset a password with an emailed token, and revoke all sessions',
    body: z.strictObject({ token: text(200), new_password: newPassword }),
    problems: ['invalid_token', 'rate_limited'],
    async handle({ body, req }) {
      const sessionUserId = await core.ownBrowser.userOf(req);
      const device = await reset.reset(body.token, body.new_password, { sessionUserId, remembers: true });
      return { status: 204, device };
    },
  });

export const resetPasswordByCode = (
  core: Core,
  reset: PasswordReset,
  codes: ResetCodes,
  newPassword: z.ZodString,
) =>
  route({
    ...resetOfPassword,
    summary: 'Reset a password with an emailed code or token, and revoke all sessions',
    body: z
      .strictObject({
        code: text(100).optional().describe('The code, in the browser that asked for it'),
        token: text(200).optional().describe('The token of a link, instead of the code'),
        new_password: newPassword,
        pending_token: text(200).optional().describe('For clients without cookies, with the code'),
      })
      .refine(hasCodeOrToken, CODE_OR_TOKEN),
    faultsOf: newPasswordFaults(core),
    problems: ['invalid_token', 'invalid_code', 'code_expired', 'rate_limited'],
    async handle({ body: { code, token, new_password: password, pending_token }, req }) {
      const by = { sessionUserId: await core.ownBrowser.userOf(req), remembers: true };
      if (token !== undefined) return { status: 204, device: await reset.reset(token, password, by) };
      const given = { code: code ?? '', newPassword: password, pendingToken: pending_token };
      const device = await codes.choose({ ...given, ...by });
      return { status: 204, device, clears: codes.isPresented ? [core.settings.resetCookie] : [] };
    },
  });
