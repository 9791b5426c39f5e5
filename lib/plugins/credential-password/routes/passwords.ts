import * as z from 'zod';
import { route } from '../../../http/route.js';
import type { CredentialApi } from '../api.js';

export const setPassword = (api: CredentialApi, newPassword: z.ZodString) =>
  route({
    method: 'put',
    path: '/passwords',
    formTwin: '/passwords/set',
    summary: 'Set the password of my account, if it has none',
    access: 'session',
    changesWaysIn: true,
    body: z.strictObject({ new_password: newPassword }),
    answers: { 204: { description: 'The password was set' } },
    problems: ['password_already_set', 'rate_limited'],
    async handle({ auth, body }) {
      await api.setPassword({
        userId: auth.user.id,
        sessionId: auth.session.id,
        newPassword: body.new_password,
      });
      return { status: 204 };
    },
  });
