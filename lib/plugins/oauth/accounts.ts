import type { Transaction, WhereOptions } from 'sequelize';
import type { SecretBox } from '../../crypto/secret-box.js';
import { isUuid, uuidv7 } from '../../crypto/uuid.js';
import type { Database, Replacements } from '../../database/database.js';
import { readRows, UNTOUCHED } from '../../models/define.js';
import type { User } from '../../models/user.js';
import { JOINED_USER_COLUMNS, type JoinedUserRow, joinedUser } from '../../models/user-columns.js';
import { type AccountModel, type AccountRow, toAccountRow } from './account.js';
import type { TokenSet } from './token-response.js';

const TOKEN_FIELDS = ['accessToken', 'refreshToken', 'idToken'] as const;
// Longer than a provider is waited for: who has died with it must not hold up the account for much longer.
const LEASE_MS = 7000;
const REWRITE_BATCH = 500;
const NO_LEASE = { refreshLease: null, refreshLeaseUntil: null };
const MAX_ATTEMPTS = 3;

type TokenField = (typeof TOKEN_FIELDS)[number];

/** The tokens of an account, open. */
export interface OpenTokens {
  readonly accessToken: string | null;
  readonly refreshToken: string | null;
  readonly idToken: string | null;
}

/** An account, and the user whose it is, with the epoch that a session of theirs must carry. */
export interface AccountWithUser {
  readonly account: AccountRow;
  readonly user: User;
  readonly authEpoch: number;
}

/** The only door to the accounts table: tokens go in and come out open, and lie sealed in between. */
export class Accounts {
  constructor(
    private readonly database: Database,
    private readonly model: AccountModel,
    private readonly box: SecretBox,
  ) {}

  findBySubject(issuer: string, subject: string): Promise<AccountRow | null> {
    return this.#findOne('issuer = :issuer AND subject = :subject', { issuer, subject });
  }

  /** One statement, since a sign-in needs both. */
  async findWithUser(issuer: string, subject: string): Promise<AccountWithUser | null> {
    const { database, model } = this;
    const columns = Object.values(model.getAttributes()).map(({ field }) => `a.${field} AS account_${field}`);
    const [row] = await database.select<JoinedUserRow & { auth_epoch: number; db_now: number }>(
      `SELECT ${columns}, ${JOINED_USER_COLUMNS}, u.auth_epoch, ${database.nowSql} AS db_now
       FROM ${database.table('accounts')} a JOIN ${database.table('users')} u ON u.id = a.user_id
       WHERE a.issuer = :issuer AND a.subject = :subject`,
      { issuer, subject },
    );
    if (!row) return null;
    database.clock.observe(Number(row.db_now));
    const account = toAccountRow(row as unknown as Record<string, unknown>, model);
    return { account, user: joinedUser(row), authEpoch: Number(row.auth_epoch) };
  }

  async find(userId: string, provider: string): Promise<AccountRow | null> {
    if (!isUuid(userId)) return null;
    return this.#findOne('user_id = :userId AND provider = :provider', { userId, provider });
  }

  async list(userId: string, transaction?: Transaction): Promise<AccountRow[]> {
    if (!isUuid(userId)) return [];
    return this.#find('user_id = :userId', { userId }, transaction);
  }

  /** @throws Sequelize's unique error, where the account or the provider is linked already */
  async insert(
    owner: { userId: string; provider: string; issuer: string; subject: string },
    tokens: TokenSet,
    transaction?: Transaction,
  ): Promise<void> {
    const id = uuidv7();
    const now = this.#now();
    const row: AccountRow = {
      id,
      ...owner,
      accessToken: null,
      refreshToken: null,
      idToken: null,
      ...this.#sealed({ id, provider: owner.provider }, tokens),
      refreshLease: null,
      refreshLeaseUntil: null,
      createdAt: now,
    };
    const insert = () => this.model.create(row, { ...UNTOUCHED, transaction: transaction ?? null });
    await (transaction ? this.database.run(insert) : this.database.write(insert));
  }

  /** Stores the tokens of a new sign-in or link. What did not come anew stays, if it can still be opened. */
  async updateTokens(account: AccountRow, tokens: TokenSet, transaction?: Transaction): Promise<void> {
    const dead = TOKEN_FIELDS.filter((field) => account[field] !== null && !this.#openField(account, field));
    const values = {
      ...Object.fromEntries(dead.map((field) => [field, null])),
      ...this.#sealed(account, tokens),
      ...NO_LEASE,
    };
    await this.#update(values, { id: account.id }, transaction);
  }

  /** Stores what a refresh brought, unless a sign-in has brought another refresh token meanwhile. */
  async saveRefreshed(account: AccountRow, tokens: TokenSet): Promise<void> {
    await this.#updateUnlessReplaced(account, { ...this.#sealed(account, tokens), ...NO_LEASE });
  }

  /** @returns how many rows went: 1 or 0 */
  delete(userId: string, provider: string, transaction: Transaction): Promise<number> {
    return this.database.run(() =>
      this.model.destroy({ where: { userId, provider }, ...UNTOUCHED, transaction }),
    );
  }

  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.database.run(() => this.model.destroy({ where: { userId }, ...UNTOUCHED, transaction }));
  }

  /** The tokens of an account; null where one does not open any more. */
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

  /** Takes the right to refresh an account's tokens, across all processes. Null where another holds it. */
  async takeRefreshLease(account: AccountRow): Promise<string | null> {
    const lease = uuidv7();
    const now = this.#now();
    const taken = await this.database.change(
      `UPDATE ${this.database.table('accounts')} SET refresh_lease = :lease, refresh_lease_until = :until
       WHERE id = :id AND refreshed_at = :seen AND (refresh_lease IS NULL OR refresh_lease_until < :now)`,
      { lease, now, until: new Date(now.getTime() + LEASE_MS), id: account.id, seen: account.refreshedAt },
    );
    return taken > 0 ? lease : null;
  }

  /** Whether whoever took the right has it still: it ends by itself where they have died. */
  holdsRefreshLease({ refreshLeaseUntil }: AccountRow): boolean {
    return refreshLeaseUntil !== null && refreshLeaseUntil >= this.#now();
  }

  /** Keeps the right for as long again, while new tokens could not be saved yet. */
  async renewRefreshLease(account: AccountRow, lease: string): Promise<void> {
    const refreshLeaseUntil = new Date(this.#now().getTime() + LEASE_MS);
    await this.#update({ refreshLeaseUntil }, { id: account.id, refreshLease: lease });
  }

  async giveBackRefreshLease(account: AccountRow, lease: string): Promise<void> {
    await this.#update(NO_LEASE, { id: account.id, refreshLease: lease });
  }

  /** Records that a refresh was refused for good, unless a sign-in has brought another refresh token meanwhile. */
  async markRelinkRequired(account: AccountRow): Promise<void> {
    await this.#updateUnlessReplaced(account, { relinkRequired: true, ...NO_LEASE });
  }

  /** Seals again, with the first secret, what an older one sealed. @returns how many accounts were rewritten */
  async reseal(): Promise<number> {
    let rewritten = 0;
    for (let after = ''; ; ) {
      const rows = await this.#batch(after);
      for (const row of rows) rewritten += await this.#resealRow(row);
      const last = rows.at(-1);
      if (!last || rows.length < REWRITE_BATCH) return rewritten;
      after = last.id;
    }
  }

  async #batch(after: string): Promise<AccountRow[]> {
    const ids = await this.database.select<{ id: string }>(
      `SELECT id FROM ${this.database.table('accounts')} ${after && 'WHERE id > :after'}
       ORDER BY id LIMIT ${REWRITE_BATCH}`,
      { after },
    );
    return ids.length > 0 ? this.#find('id IN (:ids)', { ids: ids.map(({ id }) => id) }) : [];
  }

  async #resealRow(row: AccountRow): Promise<number> {
    const sealed = TOKEN_FIELDS.filter((field) => row[field] !== null);
    if (sealed.every((field) => row[field]?.startsWith(this.box.currentPrefix))) return 0;
    const open = this.open(row);
    if (!open) return 0;
    const values = Object.fromEntries(
      sealed.map((field) => [field, this.box.seal(open[field] ?? '', contextOf(row, field))]),
    );
    // Only what was read: tokens that were refreshed meanwhile are sealed with the first secret already.
    return this.#update(values, { id: row.id, accessToken: row.accessToken, refreshToken: row.refreshToken });
  }

  #openField(account: AccountRow, field: TokenField): string | null {
    return this.box.open(account[field] ?? '', contextOf(account, field));
  }

  // The same refresh token may have been sealed again while secrets were rotated: then once more.
  async #updateUnlessReplaced(account: AccountRow, values: Partial<AccountRow>): Promise<void> {
    const used = this.#openField(account, 'refreshToken');
    let row: AccountRow | null = account;
    for (let attempt = 1; row && attempt <= MAX_ATTEMPTS; attempt++) {
      if (this.#openField(row, 'refreshToken') !== used) return;
      if (await this.#update(values, { id: row.id, refreshToken: row.refreshToken })) return;
      row = await this.#findOne('id = :id', { id: account.id });
    }
  }

  #sealed(account: Pick<AccountRow, 'id' | 'provider'>, tokens: TokenSet) {
    const now = this.#now();
    const sealed: Partial<Record<TokenField, string>> = {};
    for (const field of TOKEN_FIELDS) {
      const token = tokens[field];
      if (token !== null) sealed[field] = this.box.seal(token, contextOf(account, field));
    }
    return {
      ...sealed,
      scopes: tokens.scopes.join(' '),
      tokenType: tokens.tokenType,
      accessTokenExpiresAt: tokens.expiresAt,
      relinkRequired: false,
      refreshedAt: now,
      updatedAt: now,
    };
  }

  async #update(
    values: Partial<AccountRow>,
    where: WhereOptions<AccountRow>,
    transaction?: Transaction,
  ): Promise<number> {
    const update = () => this.model.update(values, { where, ...UNTOUCHED, transaction: transaction ?? null });
    const [changed] = await (transaction ? this.database.run(update) : this.database.write(update));
    return changed;
  }

  async #findOne(condition: string, values: Replacements): Promise<AccountRow | null> {
    const [found] = await this.#find(condition, values);
    return found ?? null;
  }

  /** In the order in which they were linked. */
  #find(condition: string, values: Replacements, transaction?: Transaction): Promise<AccountRow[]> {
    const rest = `WHERE ${condition} ORDER BY id`;
    return readRows(this.database, this.model, rest, values, transaction);
  }

  #now(): Date {
    return new Date(Math.floor(this.database.clock.now()));
  }
}

/** What a sealed token belongs to: it opens nowhere else. */
function contextOf({ id, provider }: Pick<AccountRow, 'id' | 'provider'>, field: TokenField): string {
  return `account ${id} ${provider} ${field}`;
}
