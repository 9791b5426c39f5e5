import * as z from 'zod';
import type { Core } from '../../core/core.js';
import { removedShape, sessionReply, signInAnswer } from '../../http/present.js';
import { CODE_OR_TOKEN, hasCodeOrToken, route, text, time } from '../../http/route.js';
import { isShownAgain, shownAgain } from '../../shown-again.js';
import type { EmailSignInApi } from './api.js';
import type { EmailSignInSettings } from './options.js';

export const requestSignIn = ({ settings }: Core, api: EmailSignInApi) =>
  route({
    method: 'post',
    path: '/signin/email',
    client: 'emailSignIn.request',
    summary: 'Email a code to sign in with',
    access: 'public',
    asksHuman: 'signin/email',
    body: z.strictObject({
      email: shownAgain(text(320)),
      remember_me: shownAgain(z.boolean().optional().describe('Keep the session when the browser is closed')),
    }),
    formPage: {
      field: 'confirm_to',
      page: settings.email?.signInUrl ?? '/',
      description:
        'Where to redirect afterwards: the page that asks for the code. By default email.signInUrl',
    },
    answers: {
      202: {
        description: 'Accepted, whether or not the account exists. The browser gets a cookie',
        schema: z.object({
          expires_at: time,
          ...(settings.bearerEnabled && {
            pending_token: z.string().describe('For clients without cookies'),
          }),
        }),
      },
    },
    problems: ['rate_limited'],
    async handle({ body: { email, remember_me } }) {
      const pending = await api.request({ email, rememberMe: remember_me ?? false });
      const body = { expires_at: pending.expiresAt.toISOString(), pending_token: pending.pendingToken };
      return { status: 202, body, pending };
    },
  });

/** The body of a confirmation, without the fields of a sign-up. */
interface Body {
  readonly code?: string | undefined;
  readonly token?: string | undefined;
  readonly pending_token?: string | undefined;
}

export const confirmSignIn = (core: Core, api: EmailSignInApi, { link, signUp }: EmailSignInSettings) => {
  const { users } = core;
  const token = text(200).optional().describe('The token of the link, instead of the code');
  return route({
    method: 'post',
    path: '/signin/email/confirm',
    client: 'emailSignIn.confirm',
    session: 'starts',
    summary: `Sign in with an emailed code or link${signUp ? ', or create an account with the given fields' : ''}`,
    access: 'public',
    body: z
      .strictObject({
        code: link ? text(100).optional() : text(100),
        ...(link && { token }),
        pending_token: text(200).optional().describe('For clients without cookies'),
        ...(signUp && unchecked(users.fields.wireShape('user', 'update'))),
      })
      .refine(hasCodeOrToken, CODE_OR_TOKEN),
    answers: {
      200: signInAnswer(
        core,
        'The user and the new session, whose token is set as a cookie',
        removedShape(core),
      ),
    },
    problems: [
      'invalid_code',
      'sign_in_expired',
      'rate_limited',
      ...(link ? (['other_browser'] as const) : []),
      ...(signUp ? (['sign_up_refused'] as const) : []),
    ],
    async handle({ body }) {
      const { code, token, pending_token } = body as Body;
      const fields = signUp ? users.fields.fromWire(body) : {};
      return sessionReply(core, await api.confirm({ code, token, pendingToken: pending_token, fields }));
    },
  });
};

/** Accepts wrong fields, because only a new account uses them. They are checked when the account is created. */
function unchecked(shape: z.ZodRawShape): z.ZodRawShape {
  const pairs = Object.entries(shape).map(([name, field]) => {
    const any = z.union([field, z.unknown()]).optional();
    return [name, isShownAgain(field) ? shownAgain(any) : any];
  });
  return Object.fromEntries(pairs);
}

export const requestReauthentication = (api: EmailSignInApi) =>
  route({
    method: 'post',
    path: '/reauthenticate/email',
    client: 'emailSignIn.requestReauthentication',
    summary:
      'Email the current user a code to reauthenticate with, if the account has neither password nor passkey nor second factor',
    access: 'session',
    openTo: 'any-task',
    forms: true,
    answers: { 202: { description: 'The code is being sent' } },
    problems: ['email_code_not_offered', 'rate_limited'],
    async handle({ auth }) {
      await api.requestReauthentication({ userId: auth.user.id, sessionId: auth.session.id });
      return { status: 202 };
    },
  });
