import * as z from 'zod';
import type { Core } from '../../core/core.js';
import { messageOf } from '../../errors.js';
import { resources } from '../../http/present.js';
import { route, text } from '../../http/route.js';
import { say } from '../../phrases.js';
import { shownAgain } from '../../shown-again.js';
import type { SuspensionApi } from './api.js';

export const suspendUser = (core: Core, api: SuspensionApi) => {
  const { userForAdmins } = resources(core);
  return route({
    method: 'post',
    path: '/admin/users/:id/suspend',
    client: 'suspension.suspend',
    summary: 'Suspend a user, and revoke all of their sessions',
    access: 'admin',
    body: z.strictObject({
      reason: shownAgain(text(255).nullable().optional().describe('A note for administrators')),
      until: shownAgain(
        z.iso
          .datetime({ offset: true, error: messageOf(say('not-a-time')) })
          .nullable()
          .optional()
          .describe('When the suspension expires, in ISO 8601'),
      ),
    }),
    answers: {
      200: { description: 'The suspended user', schema: z.object({ user: userForAdmins.schema }) },
    },
    problems: ['user_not_found', 'own_account'],
    async handle({ params: { id = '' }, auth, body: { reason, until } }) {
      const user = await api.suspend(id, {
        reason,
        until: until ? new Date(until) : null,
        adminId: auth.user.id,
      });
      return { status: 200, body: { user: userForAdmins.present(user) } };
    },
  });
};

export const reinstateUser = (core: Core, api: SuspensionApi) => {
  const { userForAdmins } = resources(core);
  return route({
    method: 'post',
    path: '/admin/users/:id/reinstate',
    client: 'suspension.reinstate',
    summary: 'Lift the suspension of a user',
    access: 'admin',
    sensitive: { asks: 'fresh', within: core.administration.fresh },
    forms: true,
    answers: { 200: { description: 'The user', schema: z.object({ user: userForAdmins.schema }) } },
    problems: ['user_not_found'],
    async handle({ params: { id = '' }, auth }) {
      const user = await api.reinstate(id, { adminId: auth.user.id });
      return { status: 200, body: { user: userForAdmins.present(user) } };
    },
  });
};
