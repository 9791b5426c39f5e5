import { z } from 'zod';
import type { Core } from '../../../core.js';
import { presentUser, userSchema } from '../../../http/present.js';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { CredentialApi } from '../api.js';

export const verifyEmail = (core: Core, api: CredentialApi) =>
  route({
    method: 'post',
    path: '/verify-email',
    summary: 'Verify my email by a mailed token, with my session or password',
    access: 'public',
    body: z.strictObject({ token: text(200), password: text(1024).optional() }),
    answers: { 200: { description: 'The user', schema: z.object({ user: userSchema(core) }) } },
    problems: ['invalid_token', 'unauthenticated', 'invalid_credentials', 'rate_limited'],
    async handle({ body: { token, password }, ip, userAgent, req }) {
      const session = await core.currentSession(req);
      const sessionUserId = session?.user.id ?? null;
      const user = await api.verifyEmail({ token, sessionUserId, password, ip, userAgent });
      return { status: 200, body: { user: presentUser(user) } };
    },
  });
