import { createHmac, randomBytes } from 'node:crypto';
import type { Transaction } from 'sequelize';
import type { SecretBox } from '../crypto/secret-box.js';
import { uuidv7 } from '../crypto/uuid.js';
import type { Chore } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { RowOf } from '../tables/column.js';
import {
  type ImportedUserColumns,
  type ImportKeyColumns,
  importedUsers,
  importKeys,
} from '../tables/core.js';
import { SealedRows } from '../tables/sealed-rows.js';
import { type Selection, Table } from '../tables/table.js';

/** The identifier of a row in the system that it comes from. */
export type Ref = string | number | bigint;

/** The identity of a row of an import. */
export interface RowOrigin {
  readonly source: string;
  readonly ref: Ref;
  /**
   * The kind of a substitute for a missing ref. It never equals a ref, because a user can choose a username that looks
   * like a ref.
   */
  readonly standIn?: 'email' | 'username' | 'identity' | undefined;
}

/** Distinguishes the rows of one source. */
export function originKey({ ref, standIn }: Omit<RowOrigin, 'source'>): string {
  return `${standIn ?? 'ref'}\n${ref}`;
}

/** The stored line of a row. */
export type ImportedLine = RowOf<ImportedUserColumns>;

/** The source of the accounts that `auth.users.ensure` has created. */
export const ENSURED = 'ensure';

const KEY_ID = '00000000-0000-7000-8000-000000000000';
const KEY_CONTEXT = 'import key';

/**
 * Remembers the account of each row of an import, and of each call of `auth.users.ensure`. When an account is deleted,
 * only the row's source and an HMAC of its ref are kept, so that the row is never imported again.
 */
export class ImportedUsers {
  readonly #table: Table<ImportedUserColumns>;
  readonly #keys: Table<ImportKeyColumns>;
  readonly #line: Selection<ImportedLine>;

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
  ) {
    this.#table = new Table(database, importedUsers);
    this.#keys = new Table(database, importKeys);
    this.#line = this.#table.whole('i');
  }

  /**
   * Returns the key of the hashes, which the first call creates.
   *
   * @throws AuthError `unavailable` if it cannot be decrypted
   */
  async key(transaction: Transaction): Promise<ImportKey> {
    const known = await this.#findKey(transaction);
    if (known) return known;
    const sealedKey = this.box.seal(randomBytes(32).toString('base64'), KEY_CONTEXT);
    await this.#keys.insertUnlessThere({ id: KEY_ID, sealedKey }, transaction);
    // Another process might have stored another key in the meantime.
    return (await this.#findKey(transaction)) as ImportKey;
  }

  /** Returns the key of the hashes, or null if nothing was imported yet. @throws like {@link key} */
  knownKey(): Promise<ImportKey | null> {
    return this.#findKey();
  }

  /** Finds the lines of rows of one source, by {@link originKey}. */
  async find(origins: readonly RowOrigin[], transaction: Transaction): Promise<Map<string, ImportedLine>> {
    const found = new Map<string, ImportedLine>();
    const [first] = origins;
    if (!first) return found;
    const key = await this.key(transaction);
    const keys = new Map(origins.map((one) => [key.hashOf(one).toString('hex'), originKey(one)]));
    const lines = await this.#line.select(
      `WHERE i.ref_hash IN (:hashes) AND i.source = :source ${this.database.currentRead}`,
      { hashes: origins.map((one) => key.hashOf(one)), source: first.source },
      transaction,
    );
    for (const line of lines) found.set(keys.get(line.refHash.toString('hex')) as string, line);
    return found;
  }

  /**
   * Remembers the accounts of rows. They replace accounts that no longer exist.
   *
   * @throws UniqueConstraintError (Sequelize) if another import has remembered the same row in the meantime
   */
  async remember(lines: readonly NewLine[], transaction: Transaction): Promise<void> {
    if (lines.length === 0) return;
    const key = await this.key(transaction);
    const createdAt = this.database.clock.date();
    const fresh: ImportedLine[] = [];
    for (const { origin, userId, stampsBy, before } of lines) {
      const { source, ref } = origin;
      const stamps = stampsBy?.(key) ?? null;
      const columns = { ref: String(ref), isNumber: typeof ref !== 'string', userId, stamps };
      if (before) await this.#table.update({ ...columns, changed: [] }, { id: before.id }, transaction);
      else {
        const id = uuidv7(createdAt.getTime());
        fresh.push({ id, source, refHash: key.hashOf(origin), ...columns, changed: [], createdAt });
      }
    }
    // Insert in a fixed order, because concurrent transactions that insert in different orders deadlock.
    fresh.sort((a, b) => a.refHash.compare(b.refHash));
    if (fresh.length > 0) await this.#table.insert(fresh, transaction);
  }

  /**
   * Records that a user, the app or an administrator has changed a part of an account, so that later imports do not
   * change this part. The user's row must be locked.
   *
   * @param keys the keys of a row that contain the part
   */
  async note(userId: string, keys: readonly string[], transaction: Transaction): Promise<void> {
    const lines = await this.#line.select(
      `WHERE i.user_id = :userId ${this.database.currentRead}`,
      { userId },
      transaction,
    );
    for (const { id, changed } of lines) {
      const all = [...new Set([...changed, ...keys])];
      if (all.length > changed.length) await this.#table.update({ changed: all }, { id }, transaction);
    }
  }

  /** Removes the data about a user from the lines of the account, when the account is deleted. */
  async forget(userId: string, transaction: Transaction): Promise<void> {
    const nothing = { ref: null, isNumber: null, userId: null, stamps: null, changed: [] };
    await this.#table.update(nothing, { userId }, transaction);
  }

  /** Re-encrypts the key of the hashes. */
  get sealed(): Chore {
    return new SealedRows(this.#keys, this.box, ['sealedKey'], () => KEY_CONTEXT);
  }

  async #findKey(transaction?: Transaction): Promise<ImportKey | null> {
    const [row] = await this.#keys
      .whole('k')
      .select(
        `WHERE k.id = :id ${transaction ? this.database.currentRead : ''}`,
        { id: KEY_ID },
        transaction,
      );
    if (!row) return null;
    const opened = this.box.open(row.sealedKey, KEY_CONTEXT);
    if (opened !== null) return new ImportKey(Buffer.from(opened, 'base64'));
    const cause = new Error(
      'the key of imported_users cannot be decrypted: is the secret that it was encrypted with still in the config?',
    );
    throw new AuthError('unavailable', { cause });
  }
}

/** An account to remember. */
export interface NewLine {
  readonly origin: RowOrigin;
  readonly userId: string;
  /** Hashes the values of the row. Null if the account might not match the row. */
  readonly stampsBy: ((key: ImportKey) => string) | null;
  /** The line of the same row, whose account no longer exists. */
  readonly before: ImportedLine | null;
}

/** The key of the hashes. */
export class ImportKey {
  constructor(private readonly bytes: Buffer) {}

  hashOf(origin: Omit<RowOrigin, 'source'>): Buffer {
    return this.hmac(originKey(origin));
  }

  hmac(text: string): Buffer {
    return createHmac('sha256', this.bytes).update(text).digest();
  }
}
