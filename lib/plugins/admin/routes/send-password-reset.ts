import { route } from '../../../http/route.js';
import type { AdminApi } from '../api.js';

export const sendPasswordReset = (api: AdminApi) =>
  route({
    method: 'post',
    path: '/admin/users/:id/send-password-reset',
    summary: 'Email a user a link to choose a new password',
    access: 'admin',
    forms: true,
    answers: { 202: { description: 'The link is being sent' } },
    problems: ['user_not_found', 'email_missing', 'rate_limited'],
    async handle({ params: { id = '' }, auth }) {
      await api.sendPasswordReset(id, { adminId: auth.user.id });
      return { status: 202 };
    },
  });
