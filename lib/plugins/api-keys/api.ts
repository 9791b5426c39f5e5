import type { ClientInput } from '../../core/client-input.js';
import type { Core } from '../../core/core.js';
import { AuthError, type FieldError } from '../../errors.js';
import type { ApiKey } from './model.js';
import type { ApiKeyStore } from './store.js';
import './events.js';
import './problems.js';

/** What `auth.apiKeys.create` takes. */
export interface CreateApiKeyInput extends ClientInput {
  /** The session in whose name it is made: if it has ended in the meantime, no key is made. @default none */
  sessionId?: string | undefined;
  /** Its name in lists: 1 to 100 characters. */
  name: string;
  /** What it may do: words that the app defines, at most 50. @default [] */
  scopes?: readonly string[] | undefined;
  /** When it expires. @default never */
  expiresAt?: Date | null | undefined;
}

const MAX_NAME = 100;
const MAX_SCOPES = 50;
// Four digits of a year are what ISO 8601 and MySQL have; a day less, for time zones.
const LAST_EXPIRY = Date.UTC(9999, 11, 31);
const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E]{1,100}$/; // RFC 6749, 3.3

/** `auth.apiKeys`: keys with which programs act for a user. */
export class ApiKeysApi {
  readonly #core: Core;
  readonly #store: ApiKeyStore;

  /** @internal */
  constructor(core: Core, store: ApiKeyStore) {
    this.#core = core;
    this.#store = store;
  }

  /**
   * Makes a key for a user, who can be a service account. `key` is shown only this once, since only its hash is stored.
   *
   * @throws AuthError `validation_failed` (422), `user_not_found` (404)
   */
  create(userId: string, input: CreateApiKeyInput): Promise<{ apiKey: ApiKey; key: string }> {
    return this.#core.forClient(input, async () => {
      const valid = checkInput(input, this.#core.database.clock.now());
      const made = await this.#core.inNameOf(userId, input.sessionId ?? null, (transaction) =>
        this.#store.create(userId, valid, transaction),
      );
      this.#core.events.emit('api_key.created', { userId, apiKeyId: made.apiKey.id });
      return made;
    });
  }

  /** A user's keys, the newest first, including expired ones. */
  list(userId: string): Promise<ApiKey[]> {
    return this.#store.list(userId);
  }

  /** Ends a key with immediate effect. @returns whether there was one */
  async revoke(userId: string, apiKeyId: string): Promise<boolean> {
    const revoked = await this.#store.delete(userId, apiKeyId);
    if (revoked) this.#core.events.emit('api_key.revoked', { userId, apiKeyId });
    return revoked;
  }
}

function checkInput({ name, scopes = [], expiresAt = null }: CreateApiKeyInput, now: number) {
  const errors: FieldError[] = [];
  const trimmed = typeof name === 'string' ? name.trim() : '';
  if (trimmed === '' || trimmed.length > MAX_NAME || /\p{C}/u.test(trimmed) || !trimmed.isWellFormed()) {
    const detail = `must have 1 to ${MAX_NAME} visible characters`;
    errors.push({ pointer: '/name', code: 'invalid_name', detail });
  }
  if (
    !Array.isArray(scopes) ||
    scopes.length > MAX_SCOPES ||
    !scopes.every((one) => typeof one === 'string' && SCOPE.test(one))
  ) {
    const detail = `must be at most ${MAX_SCOPES} words of visible ASCII, without quotes and backslashes`;
    errors.push({ pointer: '/scopes', code: 'invalid_scopes', detail });
  }
  const isTime = expiresAt instanceof Date && expiresAt.getTime() > now && expiresAt.getTime() < LAST_EXPIRY;
  if (expiresAt !== null && !isTime) {
    errors.push({
      pointer: '/expires_at',
      code: 'invalid_expiry',
      detail: 'must be a time in the future, before the year 10000',
    });
  }
  if (errors.length > 0) throw new AuthError('validation_failed', { errors });
  return { name: trimmed, scopes: [...new Set(scopes)], expiresAt };
}
