import { hash } from 'node:crypto';
import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { isUuid, uuidv7 } from '../../crypto/uuid.js';
import type { Database } from '../../database/database.js';
import { violatedUnique } from '../../database/faults.js';
import { AuthError } from '../../errors.js';
import type { Selection, Table } from '../../tables/table.js';
import type { UserRecord } from '../../users/record.js';
import type { NewPasskey, VerifiedUse } from './ceremonies.js';
import { type Passkey, type PasskeyColumns, type PasskeyRow, passkeysTable } from './declarations.js';

/** The number of passkeys that a user may have. */
export const MAX_PER_USER = 100;

/** A passkey and its user. */
export interface FoundPasskey {
  readonly passkey: PasskeyRow;
  readonly record: UserRecord;
}

/** Reads and writes the table of passkeys. */
export class PasskeyStore {
  readonly #core: Core;
  readonly #database: Database;
  readonly #table: Table<PasskeyColumns>;
  readonly #passkey: Selection<Passkey>;
  readonly #whole: Selection<PasskeyRow>;

  constructor(core: Core) {
    this.#core = core;
    this.#database = core.database;
    this.#table = core.table(passkeysTable);
    this.#passkey = this.#table.shown('p');
    this.#whole = this.#table.whole('p');
  }

  /**
   * @param input the user, whose row is locked, and the name
   * @throws AuthError `too_many_passkeys`
   * @throws UniqueConstraintError (Sequelize) if somebody has the passkey: see {@link refuseKnown}
   */
  async create(
    passkey: NewPasskey,
    input: Pick<PasskeyRow, 'userId' | 'userHandle' | 'name'>,
    transaction: Transaction,
  ): Promise<Passkey> {
    const createdAt = this.#database.clock.date();
    const credentialHash = hashOf(passkey.credentialId);
    const row = this.#table.complete({
      id: uuidv7(createdAt.getTime()),
      ...passkey,
      ...input,
      ...{ credentialHash, createdAt },
    });
    await this.#table.insert(row, transaction);
    return this.#passkey.pick(row);
  }

  /** The passkey with this credential id, and its user, in one statement. */
  async find(credentialId: string): Promise<FoundPasskey | null> {
    const { selection } = this.#core.users;
    await selection.ready();
    const [raw] = await this.#database.select<{ db_now: number }>(
      `SELECT ${this.#whole.columns}, ${selection.columns}, ${this.#database.nowSql} AS db_now
       FROM ${this.#whole.from} JOIN ${selection.from} ON u.id = p.user_id WHERE p.credential_hash = :hash`,
      { hash: hashOf(credentialId) },
    );
    if (!raw) return null;
    this.#database.clock.observe(raw.db_now);
    return { passkey: this.#whole.read(raw), record: this.#core.users.read(raw) };
  }

  /** A user's passkeys, newest first. */
  async list(userId: string): Promise<Passkey[]> {
    return isUuid(userId) ? this.#passkey.select(OF_USER, { userId }) : [];
  }

  /** All columns of a user's passkeys, newest first. In a transaction, the user's row must be locked. */
  async rows(userId: string, transaction?: Transaction): Promise<PasskeyRow[]> {
    if (!isUuid(userId)) return [];
    const lock = transaction ? this.#database.currentRead : '';
    return this.#whole.select(`${OF_USER} ${lock}`, { userId }, transaction);
  }

  /**
   * Records a use, unless the counter has gone back: somebody else has used a copy of the passkey, then or now (WebAuthn
   * Level 3, 6.1.1).
   *
   * @returns false if it has, or if the passkey has been removed in the meantime
   */
  async recordUse({ id }: PasskeyRow, { counter, backedUp }: VerifiedUse): Promise<boolean> {
    const isHigher = counter === 0 ? 'counter = 0' : 'counter < :counter';
    const recorded = await this.#database.change(
      `UPDATE ${this.#table.name} SET counter = :counter, backed_up = :backedUp, last_used_at = :now
       WHERE id = :id AND ${isHigher}`,
      { id, counter, backedUp, now: this.#database.clock.date() },
    );
    if (recorded > 0 || counter > 0) return recorded > 0;
    // MySQL counts no row that has these values already: of two uses in a millisecond without a counter, the second.
    const [row] = await this.#whole.select('WHERE p.id = :id AND p.counter = 0', { id });
    return row !== undefined;
  }

  /** @returns the renamed passkey; null if the user has no such */
  async rename(userId: string, id: string, name: string): Promise<Passkey | null> {
    if (!isUuid(userId) || !isUuid(id)) return null;
    await this.#table.update({ name }, { id, userId });
    const [passkey] = await this.#passkey.select('WHERE p.id = :id AND p.user_id = :userId', { id, userId });
    return passkey ?? null;
  }

  /** The user's row must be locked. */
  async delete({ id, userId }: PasskeyRow, transaction: Transaction): Promise<void> {
    await this.#table.delete({ id, userId }, transaction);
  }

  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId }, transaction);
  }

  /** Puts a user's passkeys back as they were. The user's row is locked. */
  async restore(
    userId: string,
    earlier: readonly Omit<PasskeyRow, 'userId' | 'credentialHash'>[],
    transaction: Transaction,
  ): Promise<void> {
    const now = new Map((await this.rows(userId, transaction)).map((row) => [row.credentialId, row]));
    const rows = earlier.map((row) => ({
      ...row,
      ...{ userId, credentialHash: hashOf(row.credentialId) },
      // A copy that somebody has made must not get its uses back.
      counter: Math.max(row.counter, now.get(row.credentialId)?.counter ?? 0),
    }));
    await this.#table.delete({ userId }, transaction);
    // Nobody has to prove an id that an authenticator chose, so somebody else may have taken it in the meantime.
    for (const { credentialHash } of rows) await this.#table.delete({ credentialHash }, transaction);
    if (rows.length > 0) await this.#table.insert(rows, transaction);
  }
}

const OF_USER = 'WHERE p.user_id = :userId ORDER BY p.id DESC';

/** Turns the violation of the unique index into what the client is told. */
export function refuseKnown(error: unknown): never {
  throw violatedUnique(error) ? new AuthError('passkey_exists', { cause: error }) : error;
}

function hashOf(credentialId: string): Buffer {
  return hash('sha256', Buffer.from(credentialId, 'base64url'), 'buffer');
}
