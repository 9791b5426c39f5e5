import * as z from 'zod';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { resources } from '../http/present.js';
import { route } from '../http/route.js';

export const listSessions = (core: Core) => {
  const { session, listedSession } = resources(core);
  return route({
    method: 'get',
    path: '/sessions',
    summary: 'List my active sessions, newest first',
    access: 'session',
    answers: {
      200: { description: 'The sessions', schema: z.object({ sessions: z.array(listedSession) }) },
    },
    async handle({ auth }) {
      const sessions = await core.sessions.list(auth.user.id);
      const listed = sessions.map((one) => ({
        ...session.present(one),
        current: one.id === auth.session.id,
      }));
      return { status: 200, body: { sessions: listed } };
    },
  });
};

export const endSession = (core: Core) =>
  route({
    method: 'delete',
    path: '/sessions/:id',
    summary: 'Revoke one of my sessions',
    access: 'session',
    answers: { 204: { description: 'The session was revoked' } },
    problems: ['session_not_found'],
    async handle({ auth, params: { id = '' } }) {
      if (!(await core.sessions.revoke(auth.user.id, id))) throw new AuthError('session_not_found');
      return { status: 204, clearCookie: id === auth.session.id };
    },
  });
