import { z } from 'zod';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { CredentialApi } from '../api.js';

export const reauthenticate = (api: CredentialApi) =>
  route({
    method: 'post',
    path: '/reauthenticate',
    summary: 'Reauthenticate, for actions that require a recent sign-in',
    access: 'session',
    body: z.strictObject({ password: text(1024) }),
    answers: { 204: { description: 'The session counts as recently authenticated' } },
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
