import * as z from 'zod';
import { route } from '../../../http/route.js';
import { time } from '../../../http/schemas.js';
import type { OAuthApi } from '../api.js';
import type { ProviderTokens } from '../tokens.js';

export const tokensSchema = () =>
  z.object({
    provider: z.string(),
    access_token: z.string().nullable(),
    refresh_token: z.string().nullable(),
    id_token: z.string().nullable(),
    token_type: z.string().nullable(),
    scopes: z.array(z.string()),
    access_token_expires_at: time.nullable(),
  });

export function presentTokens(tokens: ProviderTokens) {
  return {
    provider: tokens.provider,
    access_token: tokens.accessToken,
    refresh_token: tokens.refreshToken,
    id_token: tokens.idToken,
    token_type: tokens.tokenType,
    scopes: tokens.scopes,
    access_token_expires_at: tokens.accessTokenExpiresAt?.toISOString() ?? null,
  };
}

export const readTokens = (api: OAuthApi) =>
  route({
    method: 'get',
    path: '/oauth/:provider/tokens',
    summary: "Read a provider's tokens, for calling its API on my behalf",
    access: 'session',
    answers: { 200: { description: 'The tokens', schema: tokensSchema() } },
    problems: ['provider_not_found', 'account_not_linked', 'relink_required'],
    async handle({ auth, params: { provider = '' } }) {
      return { status: 200, body: presentTokens(await api.tokens(auth.user.id, provider)) };
    },
  });
