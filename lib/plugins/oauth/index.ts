import { z } from 'zod';
import { accounts as accountsMigration } from '../../migrations/0002-accounts.js';
import { readOptions } from '../../options.js';
import type { Plugin } from '../../plugin.js';
import { defineAccount } from './account.js';
import { Accounts } from './accounts.js';
import { OAuthApi } from './api.js';
import { ProviderClient } from './client.js';
import { Flows } from './flows.js';
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
   * A sign-in by a provider joins the account with the same email by itself, where that email is verified on both
   * sides.
   * @default false
   */
  linkByVerifiedEmail?: boolean;
}

const schema = z.strictObject({ linkByVerifiedEmail: z.boolean('must be true or false').default(false) });

/** Sign-in by a provider, and accounts linked to it. Each provider is a plugin of its own beside this one. */
export function oauth(options: OAuthOptions = {}): Plugin<'oauth', OAuthApi> {
  const settings = readOptions('oauth', schema, options);
  return {
    name: 'oauth',
    setup(core, siblings) {
      if (core.settings.baseUrl === null) {
        throw new TypeError(
          'latchkey: oauth() needs baseUrl, such as https://app.example.com, for redirect URIs',
        );
      }
      const providers = siblings.filter(isProvider).map(({ provider }) => provider);
      if (providers.length === 0) {
        throw new TypeError(
          'latchkey: oauth() has no provider: add one from latchkey/providers to plugins, such as google({ clientId, clientSecret })',
        );
      }
      const clients = new Map(
        providers.map((one) => [one.id, new ProviderClient(one, core.settings.logger)]),
      );
      const accounts = new Accounts(core.database, defineAccount(core.database), core.box);
      core.onFirstProof.push((userId, transaction) => accounts.deleteAll(userId, transaction));
      const flows = new Flows(core.database, core.box);
      const refresher = new Refresher(accounts, core.settings.logger);
      const api = new OAuthApi(core, clients, accounts, flows, refresher, settings.linkByVerifiedEmail);
      return {
        api,
        routes: [
          listAccounts(api),
          authorize(core, api),
          link(core, api),
          callback(core, api),
          formCallback(core, api),
          unlink(api),
          readTokens(api),
          refreshTokens(api),
        ],
        migrations: [accountsMigration],
        prune: () => flows.prune(),
        settle: () => refresher.settle(),
        rotateSecrets: () => accounts.reseal(),
      };
    },
  };
}

function isProvider(plugin: Plugin): plugin is ProviderPlugin {
  return 'provider' in plugin;
}
