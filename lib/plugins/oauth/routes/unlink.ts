import { route } from '../../../http/route.js';
import type { OAuthApi } from '../api.js';

export const unlink = (api: OAuthApi) =>
  route({
    method: 'delete',
    path: '/oauth/:provider/unlink',
    formTwin: '/oauth/:provider/unlink',
    summary: 'Unlink an account, unless it is my last way to sign in',
    access: 'session',
    changesWaysIn: true,
    answers: { 204: { description: 'The account was unlinked' } },
    problems: ['provider_not_found', 'account_not_linked', 'last_sign_in_method'],
    async handle({ auth, params: { provider = '' } }) {
      await api.unlink(auth.user.id, provider, { sessionId: auth.session.id });
      return { status: 204 };
    },
  });
