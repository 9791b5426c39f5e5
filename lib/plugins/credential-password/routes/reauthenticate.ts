import { z } from 'zod';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { CredentialApi } from '../api.js';

export const reauthenticate = (api: CredentialApi) =>
  route({
    method: 'post',
    path: '/reauthenticate',
    summary: 'Prove again who I am, for what needs a fresh sign-in',
    access: 'session',
    body: z.strictObject({ password: text(1024) }),
    answers: { 204: { description: 'The session is fresh again' } },
    problems: ['invalid_credentials', 'rate_limited'],
    async handle({ auth, body }) {
      await api.reauthenticate({
        userId: auth.user.id,
        sessionId: auth.session.id,
        password: body.password,
      });
      return { status: 204 };
    },
  });
