import { route } from '../../../http/route.js';
import type { OAuthApi } from '../api.js';
import { presentTokens, tokensSchema } from './tokens.js';

export const refreshTokens = (api: OAuthApi) =>
  route({
    method: 'post',
    path: '/oauth/:provider/tokens/refresh',
    summary: "Refresh a provider's tokens",
    access: 'session',
    answers: { 200: { description: 'The new tokens', schema: tokensSchema() } },
    problems: [
      'provider_not_found',
      'account_not_linked',
      'refresh_token_missing',
      'relink_required',
      'provider_error',
    ],
    async handle({ auth, params: { provider = '' } }) {
      return { status: 200, body: presentTokens(await api.refresh(auth.user.id, provider)) };
    },
  });
