import * as z from 'zod';
import { route } from '../../../http/route.js';
import type { PasskeysApi } from '../api.js';
import { creationOptions } from '../schemas.js';

const FRESH_SECONDS = 600;

export const registrationOptions = (api: PasskeysApi) =>
  route({
    method: 'post',
    path: '/passkeys/options',
    summary: 'Options for a new passkey, for navigator.credentials.create()',
    access: 'session',
    changesWaysIn: true,
    fresh: FRESH_SECONDS,
    answers: {
      200: {
        description: 'The options, good for 5 minutes',
        schema: z.object({ options: creationOptions() }),
      },
    },
    problems: ['email_not_verified', 'too_many_passkeys', 'rate_limited'],
    async handle({ auth }) {
      const { options } = await api.registrationOptions({ userId: auth.user.id, sessionId: auth.session.id });
      return { status: 200, body: { options } };
    },
  });
