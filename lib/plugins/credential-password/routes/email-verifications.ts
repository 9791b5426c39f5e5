import { route } from '../../../http/route.js';
import type { CredentialApi } from '../api.js';

export const sendVerification = (api: CredentialApi) =>
  route({
    method: 'post',
    path: '/email-verifications',
    summary: 'Email me a verification link',
    access: 'session',
    forms: true,
    answers: { 202: { description: 'The link is being sent, unless the email is already verified' } },
    problems: ['rate_limited'],
    async handle({ auth }) {
      await api.sendVerification({ userId: auth.user.id });
      return { status: 202 };
    },
  });
