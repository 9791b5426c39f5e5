import type { Core } from '../core/core.js';
import { route } from '../http/route.js';

export const signout = (core: Core) =>
  route({
    method: 'post',
    path: '/signout',
    summary: 'Sign out',
    access: 'session',
    forms: true,
    answers: { 204: { description: 'The current session was ended, and its cookie cleared' } },
    async handle({ auth }) {
      await core.sessions.revoke(auth.user.id, auth.session.id);
      return { status: 204, clearCookie: true };
    },
  });
