import * as z from 'zod';
import type { Core } from '../../../core/core.js';
import { resources } from '../../../http/present.js';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import { sessionOf } from '../../../sessions/authenticate.js';
import type { CredentialApi } from '../api.js';

export const verifyEmail = (core: Core, api: CredentialApi) => {
  const { user } = resources(core);
  return route({
    method: 'post',
    path: '/verify-email',
    summary: 'Verify my email with an emailed token and my session or password',
    access: 'public',
    body: z.strictObject({ token: text(200), password: text(1024).optional() }),
    answers: { 200: { description: 'The user', schema: z.object({ user: user.schema }) } },
    problems: ['invalid_token', 'unauthenticated', 'invalid_credentials', 'rate_limited'],
    async handle({ body: { token, password }, req }) {
      const sessionUserId = (await sessionOf(core.carriers, req))?.user.id ?? null;
      return {
        status: 200,
        body: { user: user.present(await api.verifyEmail({ token, sessionUserId, password })) },
      };
    },
  });
};
