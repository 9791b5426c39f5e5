import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import type { SecretBox } from '../../crypto/secret-box.js';
import { isUuid, uuidv7 } from '../../crypto/uuid.js';
import type { Database, Replacements } from '../../database/database.js';
import type { RowOf } from '../../models/column.js';
import type { Selection, Table } from '../../models/table.js';
import { type User, type UserColumns, users } from '../../models/user.js';
import { type Account, type AccountColumns, type AccountRow, accountsTable } from './model.js';
import type { TokenSet } from './token-response.js';

const TOKEN_FIELDS = ['accessToken', 'refreshToken', 'idToken'] as const;
// Longer than a request to a provider may take, but short, since a process that dies holding it blocks the account.
const LEASE_MS = 7000;
const REENCRYPT_BATCH = 500;
const NO_LEASE = { refreshLease: null, refreshLeaseUntil: null };
const MAX_ATTEMPTS = 3;

type TokenField = (typeof TOKEN_FIELDS)[number];

/** The decrypted tokens of an account. */
export interface OpenTokens {
  readonly accessToken: string | null;
  readonly refreshToken: string | null;
  readonly idToken: string | null;
}

/** The user of an account, and its identity at the provider. */
export type AccountOwner = Pick<AccountRow, 'userId' | 'provider' | 'issuer' | 'providerAccountId'>;

/** An account, its user, and the user's epoch for new sessions. */
export interface AccountWithUser {
  readonly account: AccountRow;
  readonly user: User;
  readonly authEpoch: number;
}

/**
 * Reads and writes the table of accounts. Encrypts tokens when they are stored, and decrypts them with {@link open}.
 */
export class Accounts {
  readonly #database: Database;
  readonly #box: SecretBox;
  readonly #table: Table<AccountColumns>;
  readonly #account: Selection<Account>;
  readonly #whole: Selection<AccountRow>;
  readonly #user: Selection<User>;
  readonly #wholeUser: Selection<RowOf<UserColumns>>;

  constructor(core: Core) {
    this.#database = core.database;
    this.#box = core.box;
    this.#table = core.table(accountsTable);
    this.#account = this.#table.shown('a');
    this.#whole = this.#table.whole('a');
    this.#user = core.table(users).shown('u');
    this.#wholeUser = core.table(users).whole('u');
  }

  findBySubject(issuer: string, subject: string): Promise<AccountRow | null> {
    return this.#findOne('a.issuer = :issuer AND a.subject = :subject', { issuer, subject });
  }

  /** Finds an account and its user in one statement, for a sign-in. */
  async findWithUser(issuer: string, subject: string): Promise<AccountWithUser | null> {
    const { nowSql, clock } = this.#database;
    const [raw] = await this.#database.select<{ db_now: number }>(
      `SELECT ${this.#whole.columns}, ${this.#wholeUser.columns}, ${nowSql} AS db_now
       FROM ${this.#whole.from} JOIN ${this.#wholeUser.from} ON u.id = a.user_id
       WHERE a.issuer = :issuer AND a.subject = :subject`,
      { issuer, subject },
    );
    if (!raw) return null;
    clock.observe(Number(raw.db_now));
    const { authEpoch } = this.#wholeUser.read(raw);
    return { account: this.#whole.read(raw), user: this.#user.read(raw), authEpoch };
  }

  async find(userId: string, provider: string): Promise<AccountRow | null> {
    if (!isUuid(userId)) return null;
    return this.#findOne('a.user_id = :userId AND a.provider = :provider', { userId, provider });
  }

  /** A user's accounts, in the order in which they were linked. */
  async list(userId: string, transaction?: Transaction): Promise<Account[]> {
    if (!isUuid(userId)) return [];
    return this.#account.select('WHERE a.user_id = :userId ORDER BY a.id', { userId }, transaction);
  }

  /** @throws UniqueConstraintError (Sequelize) if the account, or the user's provider, is already linked */
  async insert(owner: AccountOwner, tokens: TokenSet, transaction?: Transaction): Promise<void> {
    const id = uuidv7();
    const createdAt = this.#database.clock.date();
    const sealed = this.#sealed({ id, provider: owner.provider }, tokens);
    await this.#table.insert({ id, ...owner, ...sealed, createdAt }, transaction);
  }

  /** Stores the tokens of a sign-in or link. Tokens that the response omits are kept if they can be decrypted. */
  async updateTokens(account: AccountRow, tokens: TokenSet, transaction?: Transaction): Promise<void> {
    const lost = TOKEN_FIELDS.filter((field) => account[field] !== null && !this.#openField(account, field));
    const values = {
      ...Object.fromEntries(lost.map((field) => [field, null])),
      ...this.#sealed(account, tokens),
      ...NO_LEASE,
    };
    await this.#table.update(values, { id: account.id }, transaction);
  }

  /** Stores refreshed tokens, unless a sign-in has replaced the refresh token in the meantime. */
  async saveRefreshed(account: AccountRow, tokens: TokenSet): Promise<void> {
    await this.#updateUnlessReplaced(account, { ...this.#sealed(account, tokens), ...NO_LEASE });
  }

  /** @returns the number of deleted rows: 1 or 0 */
  delete(userId: string, provider: string, transaction: Transaction): Promise<number> {
    return this.#table.delete({ userId, provider }, transaction);
  }

  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId }, transaction);
  }

  /** Decrypts the tokens of an account. Null if any of them cannot be decrypted. */
  open(account: AccountRow): OpenTokens | null {
    const tokens: Record<TokenField, string | null> = {
      accessToken: null,
      refreshToken: null,
      idToken: null,
    };
    for (const field of TOKEN_FIELDS) {
      if (account[field] === null) continue;
      tokens[field] = this.#openField(account, field);
      if (tokens[field] === null) return null;
    }
    return tokens;
  }

  /** Acquires the lease for refreshing an account's tokens, across all processes. Null if another call holds it. */
  async takeRefreshLease(account: AccountRow): Promise<string | null> {
    const lease = uuidv7();
    const { clock } = this.#database;
    const taken = await this.#database.change(
      `UPDATE ${this.#table.name} SET refresh_lease = :lease, refresh_lease_until = :until
       WHERE id = :id AND refreshed_at = :seen AND (refresh_lease IS NULL OR refresh_lease_until < :now)`,
      { lease, now: clock.date(), until: clock.date(LEASE_MS), id: account.id, seen: account.refreshedAt },
    );
    return taken > 0 ? lease : null;
  }

  /** Whether the lease is held and has not expired. */
  isLeased({ refreshLeaseUntil }: AccountRow): boolean {
    return refreshLeaseUntil !== null && refreshLeaseUntil >= this.#database.clock.date();
  }

  /** Extends the lease while new tokens cannot be saved yet. */
  async renewRefreshLease(account: AccountRow, lease: string): Promise<void> {
    const refreshLeaseUntil = this.#database.clock.date(LEASE_MS);
    await this.#table.update({ refreshLeaseUntil }, { id: account.id, refreshLease: lease });
  }

  async releaseRefreshLease(account: AccountRow, lease: string): Promise<void> {
    await this.#table.update(NO_LEASE, { id: account.id, refreshLease: lease });
  }

  /** Records that the grant has ended, unless a sign-in has replaced the refresh token in the meantime. */
  async markRelinkRequired(account: AccountRow): Promise<void> {
    await this.#updateUnlessReplaced(account, { relinkRequired: true, ...NO_LEASE });
  }

  /** Re-encrypts tokens with the first secret. @returns the number of updated accounts */
  async reencrypt(): Promise<number> {
    let rewritten = 0;
    for (let after = ''; ; ) {
      const rows = await this.#whole.select(
        `${after && 'WHERE a.id > :after'} ORDER BY a.id LIMIT ${REENCRYPT_BATCH}`,
        { after },
      );
      for (const row of rows) rewritten += await this.#reencryptRow(row);
      const last = rows.at(-1);
      if (!last || rows.length < REENCRYPT_BATCH) return rewritten;
      after = last.id;
    }
  }

  async #reencryptRow(row: AccountRow): Promise<number> {
    const sealed = TOKEN_FIELDS.filter((field) => row[field] !== null);
    if (sealed.every((field) => row[field]?.startsWith(this.#box.currentPrefix))) return 0;
    const open = this.open(row);
    if (!open) return 0;
    const values = Object.fromEntries(
      sealed.map((field) => [field, this.#box.seal(open[field] ?? '', contextOf(row, field))]),
    );
    // Only if unchanged: tokens refreshed in the meantime are already encrypted with the first secret.
    const { id, accessToken, refreshToken } = row;
    return this.#table.update(values, { id, accessToken, refreshToken });
  }

  #openField(account: AccountRow, field: TokenField): string | null {
    return this.#box.open(account[field] ?? '', contextOf(account, field));
  }

  // Retries if the refresh token was only re-encrypted in the meantime, by a rotation of secrets.
  async #updateUnlessReplaced(account: AccountRow, values: Partial<AccountRow>): Promise<void> {
    const used = this.#openField(account, 'refreshToken');
    let row: AccountRow | null = account;
    for (let attempt = 1; row && attempt <= MAX_ATTEMPTS; attempt++) {
      if (this.#openField(row, 'refreshToken') !== used) return;
      if (await this.#table.update(values, { id: row.id, refreshToken: row.refreshToken })) return;
      row = await this.#findOne('a.id = :id', { id: account.id });
    }
  }

  #sealed(account: Pick<AccountRow, 'id' | 'provider'>, tokens: TokenSet) {
    const now = this.#database.clock.date();
    const sealed: Partial<Record<TokenField, string>> = {};
    for (const field of TOKEN_FIELDS) {
      const token = tokens[field];
      if (token !== null) sealed[field] = this.#box.seal(token, contextOf(account, field));
    }
    return {
      ...sealed,
      scopes: tokens.scopes,
      tokenType: tokens.tokenType,
      accessTokenExpiresAt: tokens.expiresAt,
      relinkRequired: false,
      refreshedAt: now,
      updatedAt: now,
    };
  }

  async #findOne(condition: string, values: Replacements): Promise<AccountRow | null> {
    const [found] = await this.#whole.select(`WHERE ${condition}`, values);
    return found ?? null;
  }
}

/** The context that an encrypted token is bound to. */
function contextOf({ id, provider }: Pick<AccountRow, 'id' | 'provider'>, field: TokenField): string {
  return `account ${id} ${provider} ${field}`;
}
