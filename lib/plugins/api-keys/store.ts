import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { API_KEY_PREFIX, createToken, digestToken, isWellFormedToken } from '../../crypto/token.js';
import { isUuid, uuidv7 } from '../../crypto/uuid.js';
import type { Database } from '../../database/database.js';
import { BatchedLookup } from '../../database/lookup.js';
import type { Logger } from '../../logger.js';
import type { Selection, Table } from '../../models/table.js';
import { type User, users } from '../../models/user.js';
import { type ApiKey, type ApiKeyColumns, apiKeysTable } from './model.js';

interface LookupRow {
  readonly digest: Buffer;
  readonly db_now: number | string;
}

const SHOWN = 12;
const USE_INTERVAL_MS = 60_000;

/** The only way to the table of API keys. */
export class ApiKeyStore {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #table: Table<ApiKeyColumns>;
  readonly #key: Selection<ApiKey>;
  readonly #user: Selection<User>;
  readonly #lookup: BatchedLookup<LookupRow>;
  readonly #uses = new Map<string, Promise<void>>();

  constructor(core: Core) {
    this.#database = core.database;
    this.#logger = core.settings.logger;
    this.#table = core.table(apiKeysTable);
    this.#key = this.#table.shown('k');
    this.#user = core.table(users).shown('u');
    this.#lookup = new BatchedLookup((digests, deadlineMs) =>
      this.#database.share(() => this.#fetch(digests, deadlineMs)),
    );
  }

  async create(
    userId: string,
    input: Pick<ApiKey, 'name' | 'scopes' | 'expiresAt'>,
    transaction: Transaction,
  ): Promise<{ apiKey: ApiKey; key: string }> {
    const key = createToken(API_KEY_PREFIX);
    const createdAt = this.#database.clock.date();
    const id = uuidv7(createdAt.getTime());
    const apiKey = { ...input, id, userId, start: key.slice(0, SHOWN), createdAt, lastUsedAt: null };
    await this.#table.insert({ ...apiKey, keyHash: digestToken(key) }, transaction);
    return { apiKey, key };
  }

  /** The key and its user, or null. One statement at most, shared with others at a busy time. */
  async find(key: string): Promise<{ apiKey: ApiKey; user: User } | null> {
    if (!isWellFormedToken(API_KEY_PREFIX, key)) return null;
    const digest = digestToken(key).toString('hex');
    const raw = await this.#database.awaitShared(() => this.#lookup.find(digest));
    if (!raw) return null;
    const apiKey = this.#key.read(raw);
    const now = Number(raw.db_now);
    this.#database.clock.observe(now);
    if (apiKey.expiresAt && this.#database.clock.hasPassed(apiKey.expiresAt)) return null;
    this.#noteUse(apiKey, now);
    return { apiKey, user: this.#user.read(raw) };
  }

  /** A user's keys, the newest first. */
  async list(userId: string): Promise<ApiKey[]> {
    return isUuid(userId) ? this.#key.select('WHERE k.user_id = :userId ORDER BY k.id DESC', { userId }) : [];
  }

  /** @returns whether there was one */
  async delete(userId: string, id: string): Promise<boolean> {
    return isUuid(userId) && isUuid(id) && (await this.#table.delete({ id, userId })) > 0;
  }

  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId }, transaction);
  }

  /** Waits for writes that no request waited for. */
  async settle(): Promise<void> {
    await Promise.all(this.#uses.values());
  }

  async #fetch(digests: readonly string[], deadlineMs: number): Promise<Map<string, LookupRow>> {
    const list = this.#database.digestList(digests.map((digest) => Buffer.from(digest, 'hex')));
    const rows = await this.#database.select<LookupRow>(
      `SELECT k.key_hash AS digest, ${this.#key.columns}, ${this.#user.columns}, ${this.#database.nowSql} AS db_now
       FROM ${this.#key.from} JOIN ${this.#user.from} ON u.id = k.user_id WHERE k.key_hash IN (${list})`,
      undefined,
      undefined,
      deadlineMs,
    );
    return new Map(rows.map((row) => [row.digest.toString('hex'), row]));
  }

  // Not waited for: it delays no request and fails none.
  #noteUse({ id, lastUsedAt }: ApiKey, now: number): void {
    if ((lastUsedAt && now - lastUsedAt.getTime() < USE_INTERVAL_MS) || this.#uses.has(id)) return;
    const use = this.#database
      .share(() => this.#table.update({ lastUsedAt: new Date(now) }, { id }))
      .then(() => undefined)
      .catch((error) => this.#logger.warn('latchkey: the last use of an API key was not written', error))
      .finally(() => this.#uses.delete(id));
    this.#uses.set(id, use);
  }
}
