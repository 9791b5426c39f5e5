import * as z from 'zod';
import type { FactorMethod } from '../../../core/contribution.js';
import type { Core } from '../../../core/core.js';
import { sessionAnswer, sessionReply } from '../../../http/present.js';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { TwoFactorApi } from '../api.js';
import { pendingToken } from './signin-second-factor-options.js';

export const completeSignIn = (core: Core, api: TwoFactorApi, methods: readonly FactorMethod[]) =>
  route({
    method: 'post',
    path: '/signin/second-factor',
    summary: 'Complete a sign-in with the second factor',
    access: 'public',
    body: bodyOf(methods),
    answers: { 200: sessionAnswer(core, 'The user and the new session, whose token is set as a cookie') },
    problems: [
      'invalid_code',
      'sign_in_expired',
      'rate_limited',
      ...methods.flatMap(({ problems }) => problems),
    ],
    async handle({ body: { pending_token, ...given } }) {
      return sessionReply(core, await api.complete({ ...given, pendingToken: pending_token }));
    },
  });

type Body = {
  readonly method: string;
  readonly code?: string;
  readonly response?: unknown;
  readonly pending_token?: string | undefined;
};

function bodyOf(methods: readonly FactorMethod[]): z.ZodType<Body> {
  const withCode = z.strictObject({
    method: z.enum(['totp', 'recovery_code']),
    code: text(100),
    pending_token: pendingToken,
  });
  const others = methods.map(({ name, responseSchema }) =>
    z.strictObject({ method: z.literal(name), response: responseSchema, pending_token: pendingToken }),
  );
  return z.discriminatedUnion('method', [withCode, ...others]);
}
