import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { createToken, digestToken } from '../../crypto/token.js';
import { isUuid, uuidv7 } from '../../crypto/uuid.js';
import type { Database } from '../../database/database.js';
import { AuthError } from '../../errors.js';
import type { UndoRules } from '../../notices/changes.js';
import { LastUse } from '../../sessions/last-use.js';
import { type Alongside, type Found, TokenLookup } from '../../sessions/lookup.js';
import type { User } from '../../tables/core.js';
import type { Selection, Table } from '../../tables/table.js';
import type { AccountRow, UserSelection } from '../../users/record.js';
import { type ApiKey, type ApiKeyColumns, apiKeysTable } from './declarations.js';

/** The prefix of API keys, which distinguishes them from session tokens. */
export const API_KEY_PREFIX = 'lkk_';

const SHOWN = 12;
const USE_INTERVAL_MS = 60_000;

/** Reads and writes the table of API keys. */
export class ApiKeyStore {
  readonly #core: Core;
  readonly #database: Database;
  readonly #table: Table<ApiKeyColumns>;
  readonly #key: Selection<ApiKey>;
  readonly #user: UserSelection<User>;
  readonly #lookup: TokenLookup<ApiKey, AccountRow>;
  readonly #uses: LastUse;

  constructor(core: Core) {
    this.#core = core;
    this.#database = core.database;
    this.#table = core.table(apiKeysTable);
    this.#key = this.#table.shown('k');
    this.#user = core.users.selections.shown;
    const lookup = {
      credential: 'api_key',
      prefixes: [API_KEY_PREFIX],
      row: this.#key,
      hash: 'k.key_hash',
      // Include the columns of plugins, for their checks of the account.
      user: core.users.selections.account,
      on: 'u.id = k.user_id',
    } as const;
    this.#lookup = new TokenLookup(core.database, lookup, core.settings.telemetry);
    const column = { table: this.#table.name, column: 'last_used_at', what: 'the last use of API keys' };
    this.#uses = new LastUse(core.database, core.settings.log, column);
  }

  /**
   * @param max the maximum number of keys of the user, whose row must be locked
   * @throws AuthError `too_many_api_keys`
   */
  async create(
    userId: string,
    input: Pick<ApiKey, 'name' | 'scopes' | 'expiresAt'>,
    max: number,
    transaction: Transaction,
  ): Promise<{ apiKey: ApiKey; key: string }> {
    if ((await this.#count(userId, transaction)) >= max) throw new AuthError('too_many_api_keys');
    const key = createToken(API_KEY_PREFIX);
    const createdAt = this.#database.clock.date();
    const id = uuidv7(createdAt.getTime());
    const start = key.slice(0, SHOWN);
    const row = this.#table.complete({ ...input, id, userId, start, createdAt, keyHash: digestToken(key) });
    await this.#table.insert(row, transaction);
    return { apiKey: this.#key.pick(row), key };
  }

  /**
   * Finds a valid key and its user, or null. Sends at most one statement, which concurrent lookups share.
   *
   * @param alongside other rows to read in the same statement
   * @throws AuthError from a plugin's check of the account, such as `account_suspended`
   */
  find(key: string, alongside?: Alongside): Promise<{ apiKey: ApiKey; user: User } | null> {
    const use = ({ row: apiKey, user: account, now }: Found<ApiKey, AccountRow>) => {
      if (apiKey.expiresAt && this.#database.clock.hasPassed(apiKey.expiresAt)) return null;
      this.#core.checkAccount(account);
      const { id, lastUsedAt } = apiKey;
      if (!lastUsedAt || now - lastUsedAt.getTime() >= USE_INTERVAL_MS)
        this.#uses.record(id, lastUsedAt, now);
      return { apiKey, user: this.#user.pick(account) };
    };
    return this.#lookup.find(key, use, alongside && { alongside });
  }

  /** Lists a user's keys, newest first. */
  async list(userId: string): Promise<ApiKey[]> {
    if (!isUuid(userId)) return [];
    const keys = await this.#key.select('WHERE k.user_id = :userId ORDER BY k.id DESC', { userId });
    return keys.map((key) => ({ ...key, lastUsedAt: this.#uses.latest(key.id, key.lastUsedAt) }));
  }

  /** Deletes a key. @returns whether it existed */
  async delete(userId: string, id: string, transaction?: Transaction): Promise<boolean> {
    return isUuid(userId) && isUuid(id) && (await this.#table.delete({ id, userId }, transaction)) > 0;
  }

  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId }, transaction);
  }

  /** Returns the ids of a user's keys. */
  async ids(userId: string, transaction: Transaction): Promise<string[]> {
    const rest = `WHERE k.user_id = :userId ORDER BY k.id ${this.#database.currentRead}`;
    return (await this.#key.select(rest, { userId }, transaction)).map(({ id }) => id);
  }

  /** Deletes a user's keys except for some. */
  async keep(userId: string, ids: readonly string[], transaction: Transaction): Promise<void> {
    for (const id of await this.ids(userId, transaction))
      if (!ids.includes(id)) await this.#table.delete({ id }, transaction);
  }

  async #count(userId: string, transaction: Transaction): Promise<number> {
    const [row] = await this.#database.select<{ keys_held: number | string }>(
      `SELECT COUNT(*) AS keys_held FROM ${this.#table.name} WHERE user_id = :userId`,
      { userId },
      transaction,
    );
    return Number(row?.keys_held);
  }

  /** Waits for background writes. */
  settle(): Promise<void> {
    return this.#uses.settle();
  }
}

/**
 * Deletes the keys that were created after a change, when the change is undone. Keys that were revoked after it stay
 * revoked.
 */
export function undoRules(store: ApiKeyStore): UndoRules {
  return {
    name: 'apiKeys',
    // A key does not sign its user in.
    announces: [],
    snapshot: (userId, transaction) => store.ids(userId, transaction),
    restore: ({ record, part }, transaction) =>
      store.keep(record.user.id, (part ?? []) as readonly string[], transaction),
  };
}
