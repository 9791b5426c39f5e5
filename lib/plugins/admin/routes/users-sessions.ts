import { route } from '../../../http/route.js';
import type { AdminApi } from '../api.js';

export const revokeUserSession = (api: AdminApi) =>
  route({
    method: 'delete',
    path: '/admin/users/:id/sessions/:sessionId',
    summary: 'Revoke one session of a user',
    access: 'admin',
    answers: { 204: { description: 'The session was revoked' } },
    problems: ['session_not_found'],
    async handle({ params: { id = '', sessionId = '' }, auth }) {
      await api.revokeUserSession(id, sessionId, { adminId: auth.user.id });
      return { status: 204 };
    },
  });
