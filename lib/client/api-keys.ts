import type { ChangingCode, FreshOrPasswordCode, ReadingCode } from './codes.js';
import type { ApiKey, WithPassword } from './resources.js';
import type { Call, CallOptions } from './result.js';

/** The routes of `apiKeys()`. */
export interface ApiKeysClient {
  /** Creates an API key, after a recent sign-in or with `password`. The server never shows `key` again. */
  create(
    input: { name: string; scopes?: string[]; expires_at?: string | null } & WithPassword,
    options?: CallOptions,
  ): Call<
    { readonly api_key: ApiKey; readonly key: string },
    FreshOrPasswordCode | 'task_required' | 'too_many_api_keys'
  >;
  /** Lists the API keys, newest first. */
  list(options?: CallOptions): Call<{ readonly api_keys: readonly ApiKey[] }, ReadingCode | 'task_required'>;
  /** Revokes an API key. */
  revoke(id: string, options?: CallOptions): Call<null, ChangingCode | 'api_key_not_found' | 'task_required'>;
}

/** @internal */
export const API_KEYS = {
  create: 'POST /api-keys input',
  list: 'GET /api-keys',
  revoke: 'DELETE /api-keys/:id',
} satisfies Record<keyof ApiKeysClient, string>;
