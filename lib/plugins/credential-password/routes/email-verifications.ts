import { route } from '../../../http/route.js';
import type { CredentialApi } from '../api.js';

export const sendVerification = (api: CredentialApi) =>
  route({
    method: 'post',
    path: '/email-verifications',
    summary: 'Mail me a link that verifies my email',
    access: 'session',
    answers: { 202: { description: 'It is on its way, unless the email is verified' } },
    problems: ['rate_limited'],
    async handle({ auth }) {
      await api.sendVerification({ userId: auth.user.id });
      return { status: 202 };
    },
  });
