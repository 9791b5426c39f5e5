import type { Transaction } from 'sequelize';
import type { ShownScope } from '../../core/contribution.js';
import type { Core } from '../../core/core.js';
import { AuthError, type GivenFieldError } from '../../errors.js';
import { endingWithObject } from '../../known-keys.js';
import { say } from '../../phrases.js';
import type { ClientInput, TransactionOption } from '../../sessions/request.js';
import { LAST_TIME } from '../../tables/column.js';
import { type ApiKey, apiKeyNotices } from './declarations.js';
import type { ApiKeyStore } from './store.js';
import './declarations.js';

/** The input of `auth.apiKeys.create`. */
export interface CreateApiKeyInput extends ClientInput {
  /** The id of the session that requests the key. If it has ended in the meantime, no key is created. @default none */
  sessionId?: string | undefined;
  /** A name for lists of keys: 1 to 100 visible characters. */
  name: string;
  /** Up to 50 scopes: those that {@link ApiKeysOptions.scopes} declares, otherwise any. @default [] */
  scopes?: readonly string[] | undefined;
  /** The expiry time. @default never */
  expiresAt?: Date | null | undefined;
}

const MAX_NAME = 100;
/** The maximum number of scopes of a key. @internal */
export const MAX_SCOPES = 50;
/** @internal */
export const SCOPE = /^[\x21\x23-\x5B\x5D-\x7E]{1,100}$/; // RFC 6749, 3.3

const KEYS = ['name', 'scopes', 'expiresAt', 'sessionId'];

interface Settings {
  readonly maxPerUser: number;
  /** The scopes that the app has declared. */
  readonly scopes: readonly ShownScope[] | undefined;
}

/** `auth.apiKeys`: keys for programs that act on behalf of a user. */
export class ApiKeysApi {
  readonly #core: Core;
  readonly #store: ApiKeyStore;
  readonly #maxPerUser: number;
  readonly #scopes: ReadonlySet<string> | null;

  /** @internal */
  constructor(core: Core, store: ApiKeyStore, { maxPerUser, scopes }: Settings) {
    this.#core = core;
    this.#store = store;
    this.#maxPerUser = maxPerUser;
    this.#scopes = scopes ? new Set(scopes.map(({ name }) => name)) : null;
    endingWithObject('auth.apiKeys', this);
  }

  /**
   * Creates a key for a user, which can be a service account. `key` cannot be retrieved later, because only its hash
   * is stored.
   *
   * @throws AuthError `validation_failed` (422), `task_required` (403), `user_not_found` (404),
   *   `too_many_api_keys` (409)
   */
  create(userId: string, input: CreateApiKeyInput): Promise<{ apiKey: ApiKey; key: string }> {
    return this.#core.callFor('auth.apiKeys.create', input, KEYS, async () => {
      await this.#core.database.ready();
      const valid = checkInput(input, this.#core.database.clock.now(), this.#scopes);
      return this.#add(userId, input.sessionId ?? null, valid);
    });
  }

  #add(userId: string, sessionId: string | null, input: ReturnType<typeof checkInput>) {
    return this.#core.change(userId, { sessionId }, async (record, transaction) => {
      this.#core.tasks.requireNone(record.user);
      const details = { subject: input.name };
      await this.#core.notices.before(apiKeyNotices['api-key-created'], record, transaction, details);
      const made = await this.#store.create(userId, input, this.#maxPerUser, transaction);
      this.#core.events.emit('api_key.created', { userId, apiKeyId: made.apiKey.id }, transaction);
      return made;
    });
  }

  /** Lists a user's keys, newest first, including expired ones. */
  list(userId: string, options: TransactionOption = {}): Promise<ApiKey[]> {
    return this.#core.call('auth.apiKeys.list', options, [], () => this.#store.list(userId));
  }

  /** Revokes a key with immediate effect. @returns whether it existed */
  revoke(userId: string, apiKeyId: string, options: TransactionOption = {}): Promise<boolean> {
    const { events } = this.#core;
    const revoke = async (within?: Transaction) => {
      const revoked = await this.#store.delete(userId, apiKeyId, within);
      if (revoked) events.emit('api_key.revoked', { userId, apiKeyId }, within);
      return revoked;
    };
    return this.#core.call('auth.apiKeys.revoke', options, [], () =>
      events.together(['api_key.revoked'], revoke),
    );
  }
}

function checkInput(
  { name, scopes = [], expiresAt = null }: CreateApiKeyInput,
  now: number,
  declared: ReadonlySet<string> | null,
) {
  const errors: GivenFieldError[] = [];
  const trimmed = typeof name === 'string' ? name.trim() : '';
  if (trimmed === '' || trimmed.length > MAX_NAME || /\p{C}/u.test(trimmed) || !trimmed.isWellFormed()) {
    const detail = say('invalid-name', { maximum: MAX_NAME });
    errors.push({ pointer: '/name', code: 'invalid_name', detail });
  }
  if (
    !Array.isArray(scopes) ||
    scopes.length > MAX_SCOPES ||
    !scopes.every((one) => typeof one === 'string' && SCOPE.test(one))
  ) {
    const detail = say('invalid-scopes', { maximum: MAX_SCOPES });
    errors.push({ pointer: '/scopes', code: 'invalid_scopes', detail });
  } else if (declared) {
    const detail = say('not-one-of', { values: [...declared] });
    for (const [index, scope] of scopes.entries())
      if (!declared.has(scope)) errors.push({ pointer: `/scopes/${index}`, code: 'unknown_scope', detail });
  }
  const isTime = expiresAt instanceof Date && expiresAt.getTime() > now && expiresAt.getTime() < LAST_TIME;
  if (expiresAt !== null && !isTime) {
    errors.push({
      pointer: '/expires_at',
      code: 'invalid_expiry',
      detail: say('not-in-future'),
    });
  }
  if (errors.length > 0) throw new AuthError('validation_failed', { errors });
  return { name: trimmed, scopes: [...new Set(scopes)], expiresAt };
}
