import * as z from 'zod';
import type { Core } from '../../../core/core.js';
import { sessionAnswer, sessionReply } from '../../../http/present.js';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { CredentialApi } from '../api.js';

export const changePassword = (core: Core, api: CredentialApi, newPassword: z.ZodString) =>
  route({
    method: 'post',
    path: '/passwords/change',
    summary: 'Change my password and revoke all other sessions',
    access: 'session',
    changesWaysIn: true,
    body: z.strictObject({ current_password: text(1024), new_password: newPassword }),
    answers: { 200: sessionAnswer(core, 'The user, and the current session with a new token') },
    problems: ['invalid_credentials', 'rate_limited'],
    async handle({ auth, body }) {
      const issued = await api.changePassword({
        userId: auth.user.id,
        sessionId: auth.session.id,
        currentPassword: body.current_password,
        newPassword: body.new_password,
      });
      return sessionReply(core, issued);
    },
  });
