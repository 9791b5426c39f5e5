import * as z from 'zod';
import type { Core } from '../core/core.js';
import { route } from '../http/route.js';

export const revokeSessions = (core: Core) =>
  route({
    method: 'post',
    path: '/revoke-sessions',
    summary: 'Revoke all my sessions, including the current one',
    access: 'session',
    forms: true,
    answers: {
      200: { description: 'The number of revoked sessions', schema: z.object({ revoked: z.int() }) },
    },
    async handle({ auth }) {
      const revoked = await core.sessions.revokeAll(auth.user.id);
      return { status: 200, body: { revoked }, clearCookie: true };
    },
  });
