import * as z from 'zod';
import type { Core } from '../../../core/core.js';
import { route } from '../../../http/route.js';
import type { PasskeysApi } from '../api.js';
import { requestOptions } from '../schemas.js';

export const signInOptions = ({ settings: { bearerEnabled } }: Core, api: PasskeysApi) =>
  route({
    method: 'post',
    path: '/signin/passkey/options',
    summary: 'Options for a sign-in with a passkey, for navigator.credentials.get()',
    access: 'public',
    answers: {
      200: {
        description: 'The options, good for 5 minutes in this browser, which gets a cookie',
        schema: z.object({
          options: requestOptions(),
          ...(bearerEnabled && { pending_token: z.string().describe('In place of the cookie') }),
        }),
      },
    },
    problems: ['rate_limited'],
    async handle() {
      const { options, pendingToken, setCookie } = await api.signInOptions();
      const body = { options, pending_token: pendingToken };
      return { status: 200, body, headers: { 'Set-Cookie': setCookie } };
    },
  });
