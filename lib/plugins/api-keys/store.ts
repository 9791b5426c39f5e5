import type { Transaction } from 'sequelize';
import { API_KEY_PREFIX, createToken, digestToken, isWellFormedToken } from '../../crypto/token.js';
import { isUuid, uuidv7 } from '../../crypto/uuid.js';
import { Database } from '../../database/database.js';
import { BatchedLookup } from '../../database/lookup.js';
import type { Logger } from '../../logger.js';
import type { ApiKey, ApiKeyModel } from '../../models/api-key.js';
import { readRows, UNTOUCHED } from '../../models/define.js';
import type { User } from '../../models/user.js';
import { JOINED_USER_COLUMNS, type JoinedUserRow, joinedUser } from '../../models/user-columns.js';

interface KeyRow extends JoinedUserRow {
  key_hash: Buffer;
  id: string;
  name: string;
  start: string;
  scopes: string;
  created_at: Date | string;
  expires_at: Date | string | null;
  last_used_at: Date | string | null;
  db_now: number | string;
}

const SHOWN = 12;
const USE_INTERVAL_MS = 60_000;

/** The only door to the table of API keys. */
export class ApiKeys {
  readonly #table: string;
  readonly #users: string;
  readonly #lookup: BatchedLookup<KeyRow>;
  readonly #uses = new Map<string, Promise<void>>();

  constructor(
    private readonly database: Database,
    private readonly model: ApiKeyModel,
    private readonly logger: Logger,
  ) {
    this.#table = database.table('api_keys');
    this.#users = database.table('users');
    this.#lookup = new BatchedLookup((digests) => database.forNobody(() => this.#fetch(digests)));
  }

  async create(
    userId: string,
    { name, scopes, expiresAt }: Pick<ApiKey, 'name' | 'scopes' | 'expiresAt'>,
    transaction: Transaction,
  ): Promise<{ apiKey: ApiKey; key: string }> {
    const key = createToken(API_KEY_PREFIX);
    const createdAt = new Date(Math.floor(this.database.clock.now()));
    const id = uuidv7(createdAt.getTime());
    const start = key.slice(0, SHOWN);
    const apiKey: ApiKey = { id, userId, name, start, scopes, createdAt, expiresAt, lastUsedAt: null };
    const row = { ...apiKey, scopes: scopes.join(' '), keyHash: Buffer.from(digestToken(key), 'hex') };
    await this.database.run(() => this.model.create(row, { ...UNTOUCHED, transaction }));
    return { apiKey, key };
  }

  /** The key and its user, or null. One statement at most, shared with others at a busy time. */
  async find(key: string): Promise<{ apiKey: ApiKey; user: User } | null> {
    if (!isWellFormedToken(API_KEY_PREFIX, key)) return null;
    // A deadline of its own, since it may wait for the lookups before it.
    const row = await this.database.run(() => this.#lookup.find(digestToken(key)));
    if (!row) return null;
    const apiKey = toApiKey(row);
    const now = Number(row.db_now);
    this.database.clock.observe(now);
    if (apiKey.expiresAt && apiKey.expiresAt.getTime() <= Math.max(now, Date.now())) return null;
    this.#noteUse(apiKey, now);
    return { apiKey, user: joinedUser(row) };
  }

  /** A user's keys, the newest first. */
  async list(userId: string): Promise<ApiKey[]> {
    if (!isUuid(userId)) return [];
    const rest = 'WHERE user_id = :userId ORDER BY id DESC';
    const rows = await readRows(this.database, this.model, rest, { userId });
    return rows.map(({ keyHash, scopes, ...apiKey }) => ({
      ...apiKey,
      scopes: scopes.split(' ').filter(Boolean),
    }));
  }

  /** @returns whether there was one */
  async delete(userId: string, id: string): Promise<boolean> {
    if (!isUuid(userId) || !isUuid(id)) return false;
    const sql = `DELETE FROM ${this.#table} WHERE id = :id AND user_id = :userId`;
    return (await this.database.change(sql, { id, userId })) > 0;
  }

  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.database.change(`DELETE FROM ${this.#table} WHERE user_id = :userId`, { userId }, transaction);
  }

  /** Waits for what was begun and not waited for. */
  async settle(): Promise<void> {
    await Promise.all(this.#uses.values());
  }

  async #fetch(digests: string[]): Promise<Map<string, KeyRow>> {
    const rows = await this.database.select<KeyRow>(
      `SELECT k.key_hash, k.id, k.name, k.start, k.scopes, k.created_at, k.expires_at, k.last_used_at,
         ${JOINED_USER_COLUMNS}, ${this.database.nowSql} AS db_now
       FROM ${this.#table} k JOIN ${this.#users} u ON u.id = k.user_id
       WHERE k.key_hash IN (${this.database.digestLiterals(digests)})`,
    );
    return new Map(rows.map((row) => [row.key_hash.toString('hex'), row]));
  }

  // Not waited for: it holds up no request and fails none.
  #noteUse({ id, lastUsedAt }: ApiKey, now: number): void {
    if ((lastUsedAt && now - lastUsedAt.getTime() < USE_INTERVAL_MS) || this.#uses.has(id)) return;
    const use = this.database
      .change(`UPDATE ${this.#table} SET last_used_at = :now WHERE id = :id`, { id, now: new Date(now) })
      .then(() => undefined)
      .catch((error) => this.logger.warn('latchkey: the last use of an API key was not written', error))
      .finally(() => this.#uses.delete(id));
    this.#uses.set(id, use);
  }
}

function toApiKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    userId: row.user_id,
    name: row.name,
    start: row.start,
    scopes: row.scopes.split(' ').filter(Boolean),
    createdAt: Database.toDate(row.created_at),
    expiresAt: row.expires_at === null ? null : Database.toDate(row.expires_at),
    lastUsedAt: row.last_used_at === null ? null : Database.toDate(row.last_used_at),
  };
}
