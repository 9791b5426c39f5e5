import * as z from 'zod';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { CredentialApi } from '../api.js';

export const requestReset = (api: CredentialApi) =>
  route({
    method: 'post',
    path: '/passwords/request-reset',
    summary: 'Email a password reset link, if the account exists',
    access: 'public',
    body: z.strictObject({ email: text(320) }),
    answers: { 202: { description: 'Accepted, whether or not the account exists' } },
    problems: ['rate_limited'],
    async handle({ body }) {
      await api.requestPasswordReset({ email: body.email });
      return { status: 202 };
    },
  });
