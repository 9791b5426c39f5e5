import { randomInt } from 'node:crypto';
import type { Transaction } from 'sequelize';
import { slowDigests } from '../crypto/slow-digest.js';
import { digestToken } from '../crypto/token.js';
import { readCode } from '../crypto/typed-codes.js';
import { type Chore, ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import type { Limiter } from '../limits/limiter.js';
import { UNDO_MS } from '../notices/changes.js';
import type { Digest } from '../tables/column.js';
import { recoveryCodesTable } from '../tables/factors.js';
import { Table } from '../tables/table.js';

const COUNT = 10;
const LENGTH = 12; // 60 bits
const GROUP = 4;
// Crockford's base32, in which no two characters look alike.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const NEW_CODE = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`);

/** The cost of the hashes of codes: the lowest that ASVS 5.0 allows for bcrypt (appendix C), because codes are random. */
const BCRYPT_COST = 10;
/** The cost if passwords have a lower cost than {@link BCRYPT_COST}, as in tests. Production rejects such a config. */
const TEST_COST = 4;

const UNUSED = 'c.used_at IS NULL';

/** What {@link RecoveryCodes} need. */
export interface RecoveryCodesNeeds {
  readonly database: Database;
  readonly limiter: Limiter;
  /** The cost of passwords. Null if they are not hashed with bcrypt. */
  readonly bcryptCost: number | null;
}

/** New codes, which are not stored yet. */
export interface NewCodes {
  readonly codes: readonly string[];
  readonly hashes: readonly Digest[];
}

/**
 * Recovery codes, for users without their phone. Only hashes are stored. Codes have 60 random bits, so that people can
 * type them, and bcrypt makes up for the rest: with a copy of the database, trying half of all codes of one user takes
 * 2^59 bcrypts. The hashes do not depend on `secret`, because users need their codes most if it is lost.
 *
 * Before, codes had 120 bits, and were stored as SHA-256. These codes still work, and imported codes are stored like
 * them, because an import cannot spend a bcrypt on each code.
 */
export class RecoveryCodes {
  readonly #core: RecoveryCodesNeeds;
  readonly #table: Table<typeof recoveryCodesTable.columns>;

  constructor(core: RecoveryCodesNeeds) {
    this.#core = core;
    this.#table = new Table(core.database, recoveryCodesTable);
  }

  /**
   * Creates new codes for {@link renew}. Call it before the transaction, because the hashes take about as long as two
   * sign-ins with a password.
   *
   * @throws AuthError `unavailable` (503) if too many hashes wait
   */
  async prepare(userId: string): Promise<NewCodes> {
    const { bcryptCost, limiter } = this.#core;
    const cost = bcryptCost !== null && bcryptCost < BCRYPT_COST ? TEST_COST : BCRYPT_COST;
    const codes = Array.from({ length: COUNT }, newCode);
    const values = codes.map((code) => ({ value: normal(code), salt: saltOf(userId), cost }));
    return { codes, hashes: await slowDigests(values, limiter.client) };
  }

  /** Replaces a user's unused codes with new ones. The user's row must be locked. */
  async renew(
    userId: string,
    { codes, hashes }: NewCodes,
    transaction: Transaction,
  ): Promise<readonly string[]> {
    await this.deleteUnused(userId, transaction);
    const rows = hashes.map((codeHash) => ({ codeHash, userId, usedAt: null }));
    await this.#table.insert(rows, transaction);
    return codes;
  }

  /**
   * Returns the hash in a list that a code has, as a user typed it, in any case: see {@link readCode}. Null if none is
   * the code's.
   *
   * @param hashes the hashes of the user's codes
   */
  async matching(userId: string, typed: string, hashes: readonly Digest[]): Promise<Digest | null> {
    const code = normal(typed);
    const among = (hash: Digest) => hashes.find((one) => one.equals(hash)) ?? null;
    const found = among(digestToken(code));
    if (found || hashes.length === 0 || !NEW_CODE.test(code)) return found;
    // Try both costs, because the codes must not stop working when the cost of passwords changes.
    const values = [BCRYPT_COST, TEST_COST].map((cost) => ({ value: code, salt: saltOf(userId), cost }));
    const slow = await slowDigests(values, this.#core.limiter.client);
    return slow.map(among).find((one) => one !== null) ?? null;
  }

  /** Returns the hash of a user's unused code. Null if it is not one. */
  async find(userId: string, typed: string): Promise<Digest | null> {
    return this.matching(userId, typed, await this.hashesOf(userId));
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

  /** Consumes a code. Only one of several concurrent calls succeeds. @returns whether this one did */
  async use(userId: string, codeHash: Digest, transaction?: Transaction): Promise<boolean> {
    const usedAt = this.#core.database.clock.date();
    return (await this.#table.update({ usedAt }, { codeHash, userId, usedAt: null }, transaction)) > 0;
  }

  /** Returns a SQL expression for the number of a user's unused codes. @param userId the SQL of the user's id */
  countSql(userId: string): string {
    return `(SELECT COUNT(*) FROM ${this.#table.name} c WHERE c.user_id = ${userId} AND ${UNUSED})`;
  }

  /** Used codes that an undo can no longer restore. */
  get expired(): Chore {
    return new ExpiredRows(this.#core.database, this.#table.name, 'code_hash', { used_at: UNDO_MS });
  }

  #select(rest: string, userId: string, transaction?: Transaction) {
    return this.#table.whole('c').select(rest, { userId }, transaction);
  }
}

/** Returns the salt of a user's codes. */
function saltOf(userId: string): string {
  return `latchkey recovery codes ${userId}`;
}

/** Returns the hash of an imported code, which can have any length. */
export function hashOfImported(code: string): Digest {
  return digestToken(normal(code));
}

/** Returns a code as it is hashed. People read these letters instead of Crockford's digits. */
function normal(typed: string): string {
  return readCode(typed).toLowerCase().replaceAll('o', '0').replace(/[il]/g, '1');
}

/** Returns a new code, such as `4f7k-92mx-j0rd`. */
function newCode(): string {
  const characters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]);
  return (characters.join('').match(new RegExp(`.{${GROUP}}`, 'g')) ?? []).join('-');
}
