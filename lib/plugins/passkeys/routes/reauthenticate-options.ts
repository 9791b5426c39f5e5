import * as z from 'zod';
import { route } from '../../../http/route.js';
import type { PasskeysApi } from '../api.js';
import { requestOptions } from '../schemas.js';

export const reauthenticationOptions = (api: PasskeysApi) =>
  route({
    method: 'post',
    path: '/reauthenticate/options',
    summary: 'Options for reauthenticating with one of my passkeys, for navigator.credentials.get()',
    access: 'session',
    answers: {
      200: {
        description: 'The options, good for 5 minutes',
        schema: z.object({ options: requestOptions() }),
      },
    },
    problems: ['rate_limited'],
    async handle({ auth }) {
      const session = { userId: auth.user.id, sessionId: auth.session.id };
      return { status: 200, body: { ...(await api.reauthenticationOptions(session)) } };
    },
  });
