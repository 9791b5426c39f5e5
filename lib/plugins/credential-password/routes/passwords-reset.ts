import * as z from 'zod';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { CredentialApi } from '../api.js';

export const resetPassword = (api: CredentialApi, newPassword: z.ZodString) =>
  route({
    method: 'post',
    path: '/passwords/reset',
    summary: 'Reset a password with an emailed token and revoke all sessions',
    access: 'public',
    body: z.strictObject({ token: text(200), new_password: newPassword }),
    answers: { 204: { description: 'The password was set, and the email is verified' } },
    problems: ['invalid_token', 'rate_limited'],
    async handle({ body }) {
      await api.resetPassword({ token: body.token, newPassword: body.new_password });
      return { status: 204 };
    },
  });
