import * as z from 'zod';
import { readEmail } from '../accounts/api.js';
import { requestEmailChange } from '../accounts/email.js';
import type { Core } from '../core/core.js';
import { route } from '../http/route.js';
import { text } from '../http/schemas.js';
import { passwordProblems, passwordShape, requireFreshOrPassword } from './fresh-or-password.js';

export const changeEmail = (core: Core) =>
  route({
    method: 'post',
    path: '/email-changes',
    summary: 'Email a link to my new address, after a recent sign-in or with my password',
    access: 'session',
    changesWaysIn: true,
    body: z.strictObject({ new_email: text(320), ...passwordShape(core) }),
    answers: { 202: { description: 'Accepted, whether or not another account has the address' } },
    problems: [...passwordProblems(core), 'rate_limited'],
    async handle({ auth, body }) {
      const email = readEmail(body.new_email, '/new_email');
      await requireFreshOrPassword(core, auth, body);
      await requestEmailChange(core, auth.user.id, auth.session.id, email);
      return { status: 202 };
    },
  });
