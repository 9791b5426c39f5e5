import * as z from 'zod';
import { flag, readOptions, schemaOf } from '../../config/options.js';
import type { ShownScope } from '../../core/contribution.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { ModelsOf } from '../../tables/model.js';
import { ApiKeysApi, MAX_SCOPES, SCOPE } from './api.js';
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
   * All scopes that keys can be limited to: a list of names, or the name of each with words for users, such as
   * `{ 'posts:read': 'Read your posts' }`. At most 50. A key with another scope is rejected with 422, and a guard that
   * requires another scope throws a TypeError when it is created. Existing keys are not changed.
   * @default any scopes
   */
  scopes?: readonly string[] | Readonly<Record<string, string>>;
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

const SCOPE_NAME = 'must have 1 to 100 visible ASCII characters, without spaces, quotes and backslashes';
const SCOPE_WORDS = 'must be 1 to 200 visible characters that describe the scope to users';
const SCOPES = `must be a list of 1 to ${MAX_SCOPES} scopes, or an object of them, such as { 'posts:read': 'Read your posts' }`;

const scopeName = z.string(SCOPE_NAME).regex(SCOPE, SCOPE_NAME);
const scopeWords = z.string(SCOPE_WORDS).regex(/^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]{1,200}$/u, SCOPE_WORDS);
const isFew = (scopes: object) => Object.keys(scopes).length > 0 && Object.keys(scopes).length <= MAX_SCOPES;

/** @internal */
export const schema = () =>
  schemaOf<ApiKeysOptions>()({
    header: z
      .string('must be the name of a header')
      .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'must be the name of a header')
      .refine((name) => !/^(authorization|cookie)$/i.test(name), 'must not be Authorization or Cookie')
      .default('X-Service-API-Key'),
    acceptBearer: flag.default(false),
    scopes: z
      .union(
        [
          z
            .array(scopeName)
            .refine((names) => new Set(names).size === names.length, 'must not contain a scope twice'),
          z.record(scopeName, scopeWords),
        ],
        SCOPES,
      )
      .refine(isFew, SCOPES)
      .optional(),
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
  const { header, acceptBearer, maxPerUser, scopes } = readOptions('apiKeys', schema, options);
  const declared = scopes && scopesOf(scopes);
  return definePlugin({
    name: 'apiKeys',
    setup(core) {
      const store = new ApiKeyStore(core);
      const api = new ApiKeysApi(core, store, { maxPerUser, scopes: declared });
      const sessionSchemes = () => core.carriers.flatMap(({ schemes = [] }) => schemes);
      return {
        api,
        carriers: [apiKeyCarrier(store, { header, acceptBearer, scopes: declared, sessionSchemes })],
        routes: () => [createApiKey(api, declared), listApiKeys(api), revokeApiKey(api)],
        tables: TABLES,
        onDelete: (userId, transaction) => store.deleteAll(userId, transaction),
        onFirstProof: (userId, transaction) => store.deleteAll(userId, transaction),
        undo: undoRules(store),
        ...(declared && { forPages: { scopes: declared } }),
        settle: () => store.settle(),
      };
    },
  });
}

function scopesOf(scopes: NonNullable<ApiKeysOptions['scopes']>): readonly ShownScope[] {
  return Array.isArray(scopes)
    ? scopes.map((name) => ({ name, description: null }))
    : Object.entries(scopes).map(([name, description]) => ({ name, description }));
}
