import { z } from 'zod';
import type { Core } from '../core.js';
import { AuthError } from '../errors.js';
import { listedSessionSchema, presentSession } from '../http/present.js';
import { route } from '../http/route.js';

export const listSessions = (core: Core) =>
  route({
    method: 'get',
    path: '/sessions',
    summary: 'My live sessions, the newest first',
    access: 'session',
    answers: {
      200: { description: 'The sessions', schema: z.object({ sessions: z.array(listedSessionSchema) }) },
    },
    async handle({ auth }) {
      const sessions = await core.sessions.list(auth.user.id);
      return {
        status: 200,
        body: {
          sessions: sessions.map((session) => ({
            ...presentSession(session),
            current: session.id === auth.session.id,
          })),
        },
      };
    },
  });

export const endSession = (core: Core) =>
  route({
    method: 'delete',
    path: '/sessions/:id',
    summary: 'End one of my sessions',
    access: 'session',
    answers: { 204: { description: 'It has ended' } },
    problems: ['session_not_found'],
    async handle({ auth, params: { id = '' } }) {
      if (!(await core.sessions.revoke(auth.user.id, id))) throw new AuthError('session_not_found');
      return { status: 204, clearCookie: id === auth.session.id };
    },
  });
