import * as z from 'zod';
import type { Core } from '../../../core/core.js';
import { resources } from '../../../http/present.js';
import { route } from '../../../http/route.js';
import type { SuspensionApi } from '../api.js';

export const reinstateUser = (core: Core, api: SuspensionApi) => {
  const { userForAdmins } = resources(core);
  return route({
    method: 'post',
    path: '/admin/users/:id/reinstate',
    summary: 'Lift the suspension of a user',
    access: 'admin',
    forms: true,
    answers: { 200: { description: 'The user', schema: z.object({ user: userForAdmins.schema }) } },
    problems: ['user_not_found'],
    async handle({ params: { id = '' }, auth }) {
      const user = await api.reinstate(id, { adminId: auth.user.id });
      return { status: 200, body: { user: userForAdmins.present(user) } };
    },
  });
};
