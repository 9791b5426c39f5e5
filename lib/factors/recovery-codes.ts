import { randomBytes } from 'node:crypto';
import type { Transaction } from 'sequelize';
import { digestToken } from '../crypto/token.js';
import { readCode } from '../crypto/typed-codes.js';
import { type Chore, ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { UNDO_MS } from '../notices/changes.js';
import type { Digest } from '../tables/column.js';
import { recoveryCodesTable } from '../tables/factors.js';
import { Table } from '../tables/table.js';

const COUNT = 10;
const BYTES = 15; // 120 bits, which are 24 characters
const GROUP = 4;
// Crockford's base32, in which no two characters look alike.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

const UNUSED = 'c.used_at IS NULL';

/** What {@link RecoveryCodes} need. */
export interface RecoveryCodesNeeds {
  readonly database: Database;
}

/** Recovery codes, for users without their phone. Only hashes are stored; 120 random bits do not need a slow hash. */
export class RecoveryCodes {
  readonly #core: RecoveryCodesNeeds;
  readonly #table: Table<typeof recoveryCodesTable.columns>;

  constructor(core: RecoveryCodesNeeds) {
    this.#core = core;
    this.#table = new Table(core.database, recoveryCodesTable);
  }

  /** Replaces a user's unused codes with new ones. The user's row must be locked. */
  async renew(userId: string, transaction: Transaction): Promise<string[]> {
    const codes = Array.from({ length: COUNT }, newCode);
    await this.deleteUnused(userId, transaction);
    const rows = codes.map((code) => ({ codeHash: hashOf(code), userId, usedAt: null }));
    await this.#table.insert(rows, transaction);
    return codes;
  }

  /** Inserts codes of new users. */
  async insert(
    codes: readonly { readonly codeHash: Digest; readonly userId: string }[],
    transaction: Transaction,
  ): Promise<void> {
    if (codes.length > 0) await this.#table.insert(codes, transaction);
  }

  /** Replaces a user's unused codes with codes of another system. Codes that were used here stay used. */
  async replace(userId: string, hashes: readonly Digest[], transaction: Transaction): Promise<void> {
    await this.deleteUnused(userId, transaction);
    const used = await this.allOf(userId, transaction);
    const fresh = hashes.filter((one) => !used.some((other) => other.equals(one)));
    await this.insert(
      fresh.map((codeHash) => ({ codeHash, userId })),
      transaction,
    );
  }

  /** Returns the hashes of a user's codes, used ones included. */
  async allOf(userId: string, transaction: Transaction): Promise<Digest[]> {
    const rows = await this.#select(
      `WHERE c.user_id = :userId ${this.#core.database.currentRead}`,
      userId,
      transaction,
    );
    return rows.map(({ codeHash }) => codeHash);
  }

  /** Returns the hashes that are already stored, including used codes. */
  async known(hashes: readonly Digest[], transaction: Transaction): Promise<Digest[]> {
    if (hashes.length === 0) return [];
    const rows = await this.#table
      .whole('c')
      .select('WHERE c.code_hash IN (:hashes)', { hashes: [...hashes] }, transaction);
    return rows.map(({ codeHash }) => codeHash);
  }

  /** Deletes unused codes. Used codes stay, so that undoing a change does not restore them. */
  async deleteUnused(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId, usedAt: null }, transaction);
  }

  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId }, transaction);
  }

  /**
   * Restores deleted codes, except for used ones. The user's row must be locked, and the user must have no unused
   * codes.
   *
   * @param shown the code that was just presented as a proof, and is stored as used
   * @returns false if that code has been used in the meantime
   */
  async restore(
    userId: string,
    hashes: readonly Digest[],
    shown: Digest | null,
    transaction: Transaction,
  ): Promise<boolean> {
    const used = await this.#select(
      `WHERE c.user_id = :userId ${this.#core.database.currentRead}`,
      userId,
      transaction,
    );
    const now = this.#core.database.clock.date();
    const rows = hashes
      .filter((one) => !used.some(({ codeHash }) => codeHash.equals(one)))
      .map((codeHash) => ({ codeHash, userId, usedAt: shown?.equals(codeHash) ? now : null }));
    if (rows.length > 0) await this.#table.insert(rows, transaction);
    return shown === null || rows.some(({ codeHash }) => codeHash.equals(shown));
  }

  /** Returns the hashes of a user's unused codes. */
  async hashesOf(userId: string, transaction?: Transaction): Promise<Digest[]> {
    const lock = transaction ? this.#core.database.currentRead : '';
    const rows = await this.#select(`WHERE c.user_id = :userId AND ${UNUSED} ${lock}`, userId, transaction);
    return rows.map(({ codeHash }) => codeHash);
  }

  /** Whether a user has used a code. */
  async isUsed(userId: string, codeHash: Digest): Promise<boolean> {
    const where = 'WHERE c.code_hash = :codeHash AND c.user_id = :userId AND c.used_at IS NOT NULL';
    return (await this.#table.whole('c').select(where, { codeHash, userId })).length > 0;
  }

  /** Whether a user has an unused code. */
  async has(userId: string, codeHash: Digest): Promise<boolean> {
    const where = `WHERE c.code_hash = :codeHash AND c.user_id = :userId AND ${UNUSED}`;
    return (await this.#table.whole('c').select(where, { codeHash, userId })).length > 0;
  }

  /** Consumes a code. Only one of several concurrent calls succeeds. @returns whether this one did */
  async use(userId: string, codeHash: Digest, transaction?: Transaction): Promise<boolean> {
    const usedAt = this.#core.database.clock.date();
    return (await this.#table.update({ usedAt }, { codeHash, userId, usedAt: null }, transaction)) > 0;
  }

  /** Returns a SQL expression for the number of a user's unused codes. @param userId the SQL of the user's id */
  countSql(userId: string): string {
    return `(SELECT COUNT(*) FROM ${this.#table.name} c WHERE c.user_id = ${userId} AND ${UNUSED})`;
  }

  /**
   * Returns a SQL expression for whether the user has the unused code `:codeHash`.
   *
   * @param userId the SQL of the user's id
   */
  hasSql(userId: string): string {
    return `(SELECT COUNT(*) FROM ${this.#table.name} c WHERE c.code_hash = :codeHash AND c.user_id = ${userId} AND ${UNUSED})`;
  }

  /** Used codes that an undo can no longer restore. */
  get expired(): Chore {
    return new ExpiredRows(this.#core.database, this.#table.name, 'code_hash', { used_at: UNDO_MS });
  }

  #select(rest: string, userId: string, transaction?: Transaction) {
    return this.#table.whole('c').select(rest, { userId }, transaction);
  }
}

/** Returns the hash of a code as a user typed it, in any case: see {@link readCode}. */
export function hashOf(code: string): Digest {
  const typed = readCode(code).toLowerCase();
  // People read these letters instead of Crockford's digits.
  return digestToken(typed.replaceAll('o', '0').replace(/[il]/g, '1'));
}

/** Returns a new code, such as `4f7k-92mx-…`. */
function newCode(): string {
  let bits = 0n;
  for (const byte of randomBytes(BYTES)) bits = (bits << 8n) | BigInt(byte);
  const characters = Array.from({ length: (BYTES * 8) / 5 }, (_, index) => {
    return ALPHABET[Number((bits >> BigInt(index * 5)) & 31n)] ?? '';
  });
  const groups = characters.join('').match(new RegExp(`.{${GROUP}}`, 'g')) ?? [];
  return groups.join('-');
}
