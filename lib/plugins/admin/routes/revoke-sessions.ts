import * as z from 'zod';
import { route } from '../../../http/route.js';
import type { AdminApi } from '../api.js';

export const revokeUserSessions = (api: AdminApi) =>
  route({
    method: 'post',
    path: '/admin/users/:id/revoke-sessions',
    summary: 'Revoke all sessions of a user',
    access: 'admin',
    answers: {
      200: { description: 'The number of revoked sessions', schema: z.object({ revoked: z.int() }) },
    },
    problems: ['user_not_found'],
    async handle({ params: { id = '' }, auth }) {
      return { status: 200, body: { revoked: await api.revokeUserSessions(id, auth.user.id) } };
    },
  });
