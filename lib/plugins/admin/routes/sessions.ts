import * as z from 'zod';
import type { Core } from '../../../core/core.js';
import { resources } from '../../../http/present.js';
import { route } from '../../../http/route.js';
import type { AdminApi } from '../api.js';

export const listUserSessions = (core: Core, api: AdminApi) => {
  const { session } = resources(core);
  return route({
    method: 'get',
    path: '/admin/users/:id/sessions',
    summary: 'List the active sessions of a user, newest first',
    access: 'admin',
    answers: {
      200: { description: 'The sessions', schema: z.object({ sessions: z.array(session.schema) }) },
    },
    problems: ['user_not_found'],
    async handle({ params: { id = '' } }) {
      const sessions = await api.listUserSessions(id);
      return { status: 200, body: { sessions: sessions.map(session.present) } };
    },
  });
};
