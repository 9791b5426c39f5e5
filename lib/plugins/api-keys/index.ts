import * as z from 'zod';
import { flag, readOptions, schemaOf } from '../../config/options.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { ModelsOf } from '../../tables/model.js';
import { ApiKeysApi } from './api.js';
import { apiKeyCarrier } from './carrier.js';
import { apiKeysTable } from './declarations.js';
import { createApiKey, listApiKeys, revokeApiKey } from './routes.js';
import { ApiKeyStore, undoRules } from './store.js';

/** Options of {@link apiKeys}. */
export interface ApiKeysOptions {
  /** The header that contains a key. @default `X-Service-API-Key` */
  header?: string;
  /** Whether keys are also accepted as `Authorization: Bearer`. @default false */
  acceptBearer?: boolean;
  /**
   * The maximum number of keys of a user, including expired ones. Creating one more throws `too_many_api_keys` (409),
   * even from code.
   * @default 100
   */
  maxPerUser?: number;
}

const TABLES = { ApiKey: apiKeysTable } as const;

/** The models that {@link apiKeys} adds to `auth.models`. */
export interface ApiKeysModels extends ModelsOf<typeof TABLES> {}

/** @internal */
export const schema = () =>
  schemaOf<ApiKeysOptions>()({
    header: z
      .string('must be the name of a header')
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of a header')
      .refine((name) => !/^(authorization|cookie)$/i.test(name), 'must not be Authorization or Cookie')
      .default('X-Service-API-Key'),
    acceptBearer: flag.default(false),
    maxPerUser: z
      .int('must be a whole number of at least 1')
      .min(1, 'must be a whole number of at least 1')
      .default(100),
  });

/**
 * Adds API keys for programs that act on behalf of a user.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * const auth = createAuth({ …, plugins: [credentialPassword(), apiKeys()] });
 * const { key, apiKey } = await auth.apiKeys.create(userId, { name: 'nightly import' });
 */
export function apiKeys(options: ApiKeysOptions = {}): Plugin<'apiKeys', ApiKeysApi, ApiKeysModels> {
  const { header, acceptBearer, maxPerUser } = readOptions('apiKeys', schema, options);
  return definePlugin({
    name: 'apiKeys',
    setup(core) {
      const store = new ApiKeyStore(core);
      const api = new ApiKeysApi(core, store, maxPerUser);
      const sessionSchemes = () => core.carriers.flatMap(({ schemes = [] }) => schemes);
      return {
        api,
        carriers: [apiKeyCarrier(store, { header, acceptBearer, sessionSchemes })],
        routes: () => [createApiKey(api), listApiKeys(api), revokeApiKey(api)],
        tables: TABLES,
        onDelete: (userId, transaction) => store.deleteAll(userId, transaction),
        onFirstProof: (userId, transaction) => store.deleteAll(userId, transaction),
        undo: undoRules(store),
        settle: () => store.settle(),
      };
    },
  });
}
