import { z } from 'zod';
import { readOptions } from '../../config/options.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import { Accounts } from './accounts.js';
import { OAuthApi } from './api.js';
import { ProviderClient } from './client.js';
import { Flows } from './flows.js';
import { accountsMigration } from './migrations.js';
import { accountsTable, flowsTable } from './model.js';
import type { ProviderPlugin } from './provider.js';
import { listAccounts } from './routes/accounts.js';
import { authorize } from './routes/authorize.js';
import { callback, formCallback } from './routes/callback.js';
import { link } from './routes/link.js';
import { readTokens } from './routes/tokens.js';
import { refreshTokens } from './routes/tokens-refresh.js';
import { unlink } from './routes/unlink.js';
import { Refresher } from './tokens.js';

/** Options of {@link oauth}. */
export interface OAuthOptions {
  /**
   * A sign-in by a provider is linked automatically to the account with the same email, if that email is verified on both
   * sides.
   * @default false
   */
  linkByVerifiedEmail?: boolean;
}

const TABLES = { Account: accountsTable, OAuthFlow: flowsTable } as const;

const schema = z.strictObject({ linkByVerifiedEmail: z.boolean('must be true or false').default(false) });

/**
 * Sign-in by a provider, and accounts linked to it. Each provider is a plugin of its own beside this one.
 *
 * @throws TypeError on a mistake in the options
 */
export function oauth(options: OAuthOptions = {}): Plugin<'oauth', OAuthApi, typeof TABLES> {
  const settings = readOptions('oauth', schema, options);
  return definePlugin({
    name: 'oauth',
    setup(core, plugins) {
      if (core.settings.baseUrl === null) {
        throw new TypeError(
          'latchkey: oauth() needs baseUrl, such as https://app.example.com, for redirect URIs',
        );
      }
      const providers = plugins.filter(isProvider).map(({ provider }) => provider);
      if (providers.length === 0) {
        throw new TypeError(
          'latchkey: oauth() has no provider: add one from latchkey/providers to plugins, such as google({ clientId, clientSecret })',
        );
      }
      const clients = new Map(
        providers.map((one) => [one.id, new ProviderClient(one, core.settings.logger)]),
      );
      const accounts = new Accounts(core);
      const flows = new Flows(core);
      const refresher = new Refresher(accounts, core.settings.logger);
      const api = new OAuthApi(core, { clients, accounts, flows, refresher, ...settings });
      return {
        api,
        routes: () => [
          listAccounts(api),
          authorize(core, api),
          link(core, api),
          callback(core, api),
          formCallback(core, api),
          unlink(api),
          readTokens(api),
          refreshTokens(api),
        ],
        tables: TABLES,
        migrations: [accountsMigration],
        onFirstProof: (userId, transaction) => accounts.deleteAll(userId, transaction),
        async waysIn({ user }, transaction) {
          const linked = await accounts.list(user.id, transaction);
          // An account at a provider that the app no longer has opens nothing.
          return linked
            .filter(({ provider }) => clients.has(provider))
            .map(({ provider: id }) => ({ kind: 'provider', id }));
        },
        prune: () => flows.prune(),
        settle: () => refresher.settle(),
        rotateSecrets: () => accounts.reencrypt(),
      };
    },
  });
}

function isProvider(plugin: Plugin): plugin is ProviderPlugin {
  return 'provider' in plugin;
}
