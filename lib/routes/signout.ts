import type { Core } from '../core/core.js';
import { carriesPending } from '../http/admit.js';
import { route } from '../http/route.js';

export const signout = (core: Core) =>
  route({
    method: 'post',
    path: '/signout',
    summary: 'Sign out',
    access: 'session-or-pending',
    forms: true,
    answers: { 204: { description: 'The current session was ended, and its cookie cleared' } },
    async handle({ auth, req }) {
      if (auth) await core.sessions.revoke(auth.user.id, auth.session.id);
      await core.secondFactors.plugin?.abandon();
      return { status: 204, clearCookie: true, clearPending: carriesPending(core, req) };
    },
  });
