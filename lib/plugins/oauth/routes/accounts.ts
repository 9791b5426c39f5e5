import * as z from 'zod';
import { resourceOf } from '../../../http/resource.js';
import { route } from '../../../http/route.js';
import type { OAuthApi } from '../api.js';
import { type Account, accountsTable } from '../declarations.js';

const accountResource = resourceOf<Account>(accountsTable.columns);

export const listAccounts = (api: OAuthApi) =>
  route({
    method: 'get',
    path: '/oauth/accounts',
    summary: 'List my linked accounts',
    access: 'session',
    answers: {
      200: {
        description: 'The accounts',
        schema: z.object({ accounts: z.array(accountResource.schema) }),
      },
    },
    async handle({ auth }) {
      const accounts = await api.accounts(auth.user.id);
      return { status: 200, body: { accounts: accounts.map(accountResource.present) } };
    },
  });
