import { z } from 'zod';
import { apiKeys as migration } from '../../migrations/0003-api-keys.js';
import { defineApiKey } from '../../models/api-key.js';
import { readOptions } from '../../options.js';
import type { Plugin } from '../../plugin.js';
import { ApiKeysApi } from './api.js';
import { apiKeyCarrier } from './carrier.js';
import { createApiKey, listApiKeys, revokeApiKey } from './routes/api-keys.js';
import { ApiKeys } from './store.js';

/** Options of {@link apiKeys}. */
export interface ApiKeysOptions {
  /** The header that carries a key. @default `X-Service-API-Key` */
  header?: string;
  /** Takes keys as `Authorization: Bearer` too. @default false */
  acceptBearer?: boolean;
}

const schema = z.strictObject({
  header: z
    .string('must be the name of a header')
    .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of a header')
    .refine((name) => !/^(authorization|cookie)$/i.test(name), 'must be a header of its own')
    .default('X-Service-API-Key'),
  acceptBearer: z.boolean('must be true or false').default(false),
});

/** Keys by which programs act for a user, without a session. */
export function apiKeys(options: ApiKeysOptions = {}): Plugin<'apiKeys', ApiKeysApi> {
  const settings = readOptions('apiKeys', schema, options);
  return {
    name: 'apiKeys',
    setup(core) {
      const store = new ApiKeys(core.database, defineApiKey(core.database), core.settings.logger);
      const api = new ApiKeysApi(core, store);
      core.carriers.unshift(
        apiKeyCarrier(store, { ...settings, bearerIsSession: core.settings.bearerEnabled }),
      );
      core.onFirstProof.push((userId, transaction) => store.deleteAll(userId, transaction));
      return {
        api,
        routes: [createApiKey(api), listApiKeys(api), revokeApiKey(api)],
        migrations: [migration],
        settle: () => store.settle(),
      };
    },
  };
}
