import * as z from 'zod';
import { completionApi } from '../accounts/completion.js';
import type { Core } from '../core/core.js';
import { messageOf } from '../errors.js';
import { removedShape, sessionAnswer, sessionReply, signInAnswer } from '../http/present.js';
import { named, route, text, time } from '../http/route.js';
import { say } from '../phrases.js';
import type { StepMethod } from '../sessions/second-factor.js';
import { shownAgain } from '../shown-again.js';

export const completeSignIn = (core: Core) => {
  const { methods } = core.completion;
  // An account with a second factor provides it after the code that verifies the email.
  const waits = core.emailVerification?.asksAtSignIn === true && core.secondFactors.arePossible;
  return route({
    method: 'post',
    path: '/signin/second-factor',
    client: 'completeSignIn',
    session: 'starts',
    summary: 'Complete a sign-in that waits for a second factor or an emailed code',
    access: 'public',
    body: bodyOf(methods),
    answers: {
      200: (waits ? signInAnswer : sessionAnswer)(
        core,
        'The user and the new session, whose token is set as a cookie',
        removedShape(core),
      ),
    },
    problems: [
      'invalid_code',
      'sign_in_expired',
      'rate_limited',
      ...methods.flatMap(({ problems }) => problems),
      ...core.signInProblems,
    ],
    async handle({ body: { pending_token, trust_device, ...given } }) {
      const input = { ...given, pendingToken: pending_token, trustDevice: trust_device };
      const issued = await completionApi(core).completeSignIn(input);
      return sessionReply(core, issued);
    },
  });
};

interface Body {
  readonly method: string;
  readonly code?: string;
  readonly response?: unknown;
  readonly pending_token?: string | undefined;
  readonly trust_device?: boolean | undefined;
}

function bodyOf(methods: readonly StepMethod[]): z.ZodType<Body> {
  const bodies = methods.map(({ name, given = { code: text(100) } }) =>
    z.strictObject({
      method: shownAgain(z.literal(name)),
      ...given,
      pending_token: pendingToken,
      trust_device: trustDevice,
    }),
  );
  const values = methods.map(({ name }) => name);
  return named(
    'SecondFactor',
    'The second factor or the emailed code that completes a pending sign-in',
    z.discriminatedUnion('method', bodies as never, {
      error: messageOf(say('not-one-of', { values })),
    }) as z.ZodType<Body>,
  );
}

const trustDevice = shownAgain(
  z
    .boolean()
    .optional()
    .describe(
      'Whether the browser stands in for the second factor from now on, if twoFactor() allows it. It has no effect unless the sign-in started with the password',
    ),
);

/** The token of a pending sign-in in a request, for clients without cookies. */
const pendingToken = text(200).optional().describe('For clients without cookies');

export const sendSignInCode = (core: Core) =>
  route({
    method: 'post',
    path: '/signin/second-factor/send',
    client: 'sendSignInCode',
    summary: 'Email the code of a pending sign-in again',
    access: 'public',
    body: z.strictObject({ pending_token: pendingToken }),
    answers: {
      202: { description: 'The code is being sent', schema: z.object({ expires_at: time }) },
    },
    problems: ['sign_in_expired', 'email_code_not_offered', 'rate_limited'],
    async handle({ body: { pending_token } }) {
      const { expiresAt } = await completionApi(core).sendSignInCode({ pendingToken: pending_token });
      return { status: 202, body: { expires_at: expiresAt.toISOString() } };
    },
  });

export const secondFactorOptions = (core: Core, { schema, options }: NonNullable<StepMethod['challenge']>) =>
  route({
    method: 'post',
    path: '/signin/second-factor/options',
    client: 'passkeys.routes.secondFactorOptions',
    summary: 'Get the options with which a browser asks for a passkey as the second factor',
    access: 'public',
    // Only scripts call this route, because a page needs a script for passkeys.
    forms: false,
    body: z.strictObject({ pending_token: pendingToken }),
    answers: {
      200: {
        description: 'The options of navigator.credentials.get',
        schema: z.object({ options: schema, pending_token: z.string().optional() }),
      },
    },
    problems: ['sign_in_expired', 'rate_limited'],
    async handle({ body: { pending_token } }) {
      const found = await core.completion.options(pending_token, options);
      const token = core.settings.bearerEnabled ? { pending_token: found.pendingToken } : {};
      return { status: 200, body: { options: found.options, ...token } };
    },
  });
