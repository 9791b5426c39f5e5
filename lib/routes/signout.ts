import type { Core } from '../core/core.js';
import { route } from '../http/route.js';

export const signout = (core: Core) =>
  route({
    method: 'post',
    path: '/signout',
    summary: 'End the current session',
    access: 'session',
    answers: { 204: { description: 'It has ended, and the cookie is cleared' } },
    async handle({ auth }) {
      await core.sessions.revoke(auth.user.id, auth.session.id);
      return { status: 204, clearCookie: true };
    },
  });
