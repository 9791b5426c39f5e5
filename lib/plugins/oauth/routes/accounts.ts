import { z } from 'zod';
import { route } from '../../../http/route.js';
import { time } from '../../../http/schemas.js';
import type { OAuthApi } from '../api.js';

const accountSchema = z.object({
  provider: z.string(),
  provider_account_id: z.string(),
  scopes: z.array(z.string()),
  access_token_expires_at: time.nullable(),
  created_at: time,
  updated_at: time,
});

export const listAccounts = (api: OAuthApi) =>
  route({
    method: 'get',
    path: '/oauth/accounts',
    summary: 'My linked accounts',
    access: 'session',
    answers: { 200: { description: 'The accounts', schema: z.object({ accounts: z.array(accountSchema) }) } },
    async handle({ auth }) {
      const accounts = await api.accounts(auth.user.id);
      return {
        status: 200,
        body: {
          accounts: accounts.map((account) => ({
            provider: account.provider,
            provider_account_id: account.providerAccountId,
            scopes: account.scopes,
            access_token_expires_at: account.accessTokenExpiresAt?.toISOString() ?? null,
            created_at: account.createdAt.toISOString(),
            updated_at: account.updatedAt.toISOString(),
          })),
        },
      };
    },
  });
