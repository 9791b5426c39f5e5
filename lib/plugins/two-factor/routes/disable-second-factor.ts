import { route } from '../../../http/route.js';
import type { TwoFactorApi } from '../api.js';

export const disableSecondFactor = (api: TwoFactorApi) =>
  route({
    method: 'post',
    path: '/admin/users/:id/disable-second-factor',
    summary: 'Switch the second factor of a user off, and end all of their sessions',
    access: 'admin',
    fresh: 600,
    changesWaysIn: true,
    forms: true,
    answers: { 204: { description: 'It is off' } },
    problems: ['user_not_found', 'own_account'],
    async handle({ params: { id = '' }, auth }) {
      await api.disable(id, { adminId: auth.user.id });
      return { status: 204 };
    },
  });
