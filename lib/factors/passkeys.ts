import { hash } from 'node:crypto';
import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import { isUuid, uuidv7 } from '../crypto/uuid.js';
import { type Chore, ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { longestUndoMs } from '../notices/changes.js';
import type { PasskeyRefusalReason } from '../outbox/events.js';
import {
  type Passkey,
  type PasskeyColumns,
  type PasskeyRow,
  passkeysTable,
  type RemovedPasskeyColumns,
  removedPasskeysTable,
} from '../tables/factors.js';
import { type Selection, Table } from '../tables/table.js';
import type { UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';

/** The maximum number of passkeys of a user. */
export const MAX_PER_USER = 100;

/** A passkey and its user. */
export interface FoundPasskey {
  readonly passkey: PasskeyRow;
  readonly record: UserRecord;
}

/** An imported passkey, whose user handle can be empty. Without a time, it counts as added now. */
export type ImportedPasskeyRow = Omit<
  PasskeyRow,
  'id' | 'userId' | 'createdAt' | 'lastUsedAt' | 'credentialHash'
> & { readonly createdAt: Date | null };

/** A new passkey that has been verified. */
export type NewPasskey = Pick<
  PasskeyRow,
  'credentialId' | 'publicKey' | 'counter' | 'backedUp' | 'transports'
> & { readonly deviceType: 'singleDevice' | 'multiDevice' };

/** The result of a verified use of a passkey. */
export interface VerifiedUse {
  /** The user handle in the response. Empty if there was none. */
  readonly userHandle: string;
  readonly counter: number;
  readonly backedUp: boolean;
  /** `multiDevice` also for a passkey that is stored as `singleDevice`, if it can be copied by now. */
  readonly deviceType: 'singleDevice' | 'multiDevice';
}

/** The cause of a passkey's refusal. Clients do not learn it. */
export class PasskeyRefusal extends Error {
  constructor(readonly reason: PasskeyRefusalReason) {
    super(`a passkey was refused: ${reason}`);
  }
}

/** Returns why a passkey was refused, as the event `sign_in.failed` tells it. Empty for any other error. */
export function refusalReasonOf({ cause }: Error): { readonly reason?: PasskeyRefusalReason } {
  return cause instanceof PasskeyRefusal ? { reason: cause.reason } : {};
}

/**
 * Whether a passkey's counter shows that someone has used a copy, now or earlier (WebAuthn Level 3, 6.1.1). Copies are
 * normal for a synced passkey, and each can have a counter of its own.
 */
export function provesCopy(
  { deviceType, counter: last }: Pick<PasskeyRow, 'deviceType' | 'counter'>,
  counter: number,
): boolean {
  return deviceType === 'singleDevice' && hasGoneBack(last, counter);
}

function hasGoneBack(last: number, counter: number): boolean {
  return (counter > 0 || last > 0) && counter <= last;
}

/** What {@link PasskeyStore} needs. */
interface PasskeysNeeds {
  readonly database: Database;
  readonly settings: Settings;
  readonly users: Users;
}

/** Reads and writes the table of passkeys. */
export class PasskeyStore {
  readonly #core: PasskeysNeeds;
  readonly #database: Database;
  readonly #table: Table<PasskeyColumns>;
  readonly #removed: Table<RemovedPasskeyColumns>;
  readonly #passkey: Selection<Passkey>;
  readonly #whole: Selection<PasskeyRow>;

  constructor(core: PasskeysNeeds) {
    this.#core = core;
    this.#database = core.database;
    this.#table = new Table(core.database, passkeysTable);
    this.#removed = new Table(core.database, removedPasskeysTable);
    this.#passkey = this.#table.shown('p');
    this.#whole = this.#table.whole('p');
  }

  /**
   * @param input the user, whose row must be locked, and the name
   * @throws AuthError `too_many_passkeys`
   * @throws UniqueConstraintError (Sequelize) if a user already has the passkey: see {@link refuseKnown}
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
      credentialHash,
      createdAt,
    });
    await this.#table.insert(row, transaction);
    await this.#announceChange(row.userId, transaction);
    return this.#passkey.pick(row);
  }

  /** Finds a passkey and its user by the credential id, in one statement. */
  async find(credentialId: string): Promise<FoundPasskey | null> {
    const { selection } = this.#core.users;
    await selection.ready?.();
    const [raw] = await this.#database.select<{ db_now: number }>(
      `SELECT ${this.#whole.columns}, ${selection.columns}, ${this.#database.nowSql} AS db_now
       FROM ${this.#whole.from} JOIN ${selection.from} ON u.id = p.user_id WHERE p.credential_hash = :hash`,
      { hash: hashOf(credentialId) },
    );
    if (!raw) return null;
    this.#database.clock.observe(raw.db_now);
    return { passkey: this.#whole.read(raw), record: this.#core.users.read(raw) };
  }

  /** Returns the stored passkeys with these credential ids. */
  async known(credentialIds: readonly string[], transaction: Transaction): Promise<PasskeyRow[]> {
    if (credentialIds.length === 0) return [];
    const hashes = credentialIds.map(hashOf);
    return this.#whole.select('WHERE p.credential_hash IN (:hashes)', { hashes }, transaction);
  }

  /** Inserts passkeys of another system. */
  async insert(
    passkeys: readonly (ImportedPasskeyRow & Pick<PasskeyRow, 'userId'>)[],
    transaction: Transaction,
  ): Promise<void> {
    if (passkeys.length === 0) return;
    const now = this.#database.clock.date();
    const rows = passkeys.map(({ createdAt, ...passkey }) =>
      this.#table.complete({
        id: uuidv7((createdAt ?? now).getTime()),
        createdAt: createdAt ?? now,
        ...passkey,
        credentialHash: hashOf(passkey.credentialId),
      }),
    );
    await this.#table.insert(rows, transaction);
  }

  /** Lists a user's passkeys, newest first. */
  async list(userId: string): Promise<Passkey[]> {
    return isUuid(userId) ? this.#passkey.select(OF_USER, { userId }) : [];
  }

  /** Returns the part of a passkey that the app's code can see. */
  shown(passkey: PasskeyRow): Passkey {
    return this.#passkey.pick(passkey);
  }

  /** Returns all columns of a user's passkeys, newest first. In a transaction, the user's row must be locked. */
  async rows(userId: string, transaction?: Transaction): Promise<PasskeyRow[]> {
    if (!isUuid(userId)) return [];
    const lock = transaction ? this.#database.currentRead : '';
    return this.#whole.select(`${OF_USER} ${lock}`, { userId }, transaction);
  }

  /**
   * Records a use, unless the counter of a passkey that cannot be copied has gone back: see {@link provesCopy}. The counter
   * of a synced passkey is stored, too, but only its highest value.
   *
   * @returns false if the counter has gone back, or if the passkey has been removed in the meantime
   */
  async recordUse(
    passkey: PasskeyRow,
    { counter, backedUp, userHandle, deviceType }: VerifiedUse,
  ): Promise<boolean> {
    const { id } = passkey;
    const isBound = passkey.deviceType === 'singleDevice';
    const isHigher = counter === 0 ? 'counter = 0' : 'counter < :counter';
    if (passkey.userHandle === '' && isStorable(userHandle))
      await this.#table.update({ userHandle }, { id, userHandle: '' });
    const recorded = await this.#database.change(
      `UPDATE ${this.#table.name} SET counter = CASE WHEN counter < :counter THEN :counter ELSE counter END,
         backed_up = :backedUp, last_used_at = :now
         ${deviceType === 'multiDevice' && isBound ? ", device_type = 'multiDevice'" : ''}
       WHERE id = :id ${isBound ? `AND ${isHigher}` : ''}`,
      { id, counter, backedUp, now: this.#database.clock.date() },
    );
    if (recorded > 0 || (isBound && counter > 0)) {
      if (recorded > 0 && !isBound && hasGoneBack(passkey.counter, counter)) this.#tellOfCounter(passkey);
      return recorded > 0;
    }
    // MySQL does not count a row that already has these values, as after a use without a counter in the same
    // millisecond.
    const [row] = await this.#whole.select(`WHERE p.id = :id ${isBound ? 'AND p.counter = 0' : ''}`, { id });
    return row !== undefined;
  }

  #tellOfCounter({ userId, id }: PasskeyRow): void {
    this.#core.settings.log.warn(
      'passkey.counter_back',
      `the counter of a synced passkey has gone back, which is usual if each of its copies counts for itself: the account is ${userId}, the passkey ${id}`,
      { cause: '' },
    );
  }

  /** @returns the renamed passkey; null if the user does not have it */
  async rename(userId: string, id: string, name: string): Promise<Passkey | null> {
    if (!isUuid(userId) || !isUuid(id)) return null;
    await this.#table.update({ name }, { id, userId });
    const [passkey] = await this.#passkey.select('WHERE p.id = :id AND p.user_id = :userId', { id, userId });
    return passkey ?? null;
  }

  /** Deletes a passkey. The user's row must be locked. */
  async delete(passkey: PasskeyRow, transaction: Transaction): Promise<void> {
    const { id, userId } = passkey;
    await this.#table.delete({ id, userId }, transaction);
    await this.#remember([passkey], transaction);
    await this.#announceChange(userId, transaction);
  }

  /** Deletes all passkeys of a user. The user's row must be locked. */
  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    const passkeys = await this.rows(userId, transaction);
    if (passkeys.length === 0) return;
    await this.#table.delete({ userId }, transaction);
    await this.#remember(passkeys, transaction);
    await this.#announceChange(userId, transaction);
  }

  /** Deletes all data of a deleted user. */
  async forget(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId }, transaction);
    await this.#removed.delete({ userId }, transaction);
  }

  /** Returns the ids of the users from whom a passkey was recently removed. */
  async formerOwners(credentialId: string): Promise<string[]> {
    const { clock } = this.#database;
    const rows = await this.#database.select<{ user_id: string }>(
      `SELECT DISTINCT user_id FROM ${this.#removed.name} WHERE credential_hash = :hash AND expires_at > :now`,
      { hash: hashOf(credentialId), now: clock.date() },
    );
    return rows.map(({ user_id }) => user_id);
  }

  get expired(): Chore {
    return new ExpiredRows(this.#database, this.#removed.name, 'id', { expires_at: 0 });
  }

  /** Restores a user's passkeys. The user's row must be locked. */
  async restore(
    userId: string,
    earlier: readonly Omit<PasskeyRow, 'userId' | 'credentialHash'>[],
    transaction: Transaction,
  ): Promise<void> {
    const now = new Map((await this.rows(userId, transaction)).map((row) => [row.credentialId, row]));
    const rows = earlier.map((row) => ({
      ...row,
      userId,
      credentialHash: hashOf(row.credentialId),
      // Keep the higher counter, because with the lower one a copy of the passkey could be used again.
      counter: Math.max(row.counter, now.get(row.credentialId)?.counter ?? 0),
    }));
    await this.#table.delete({ userId }, transaction);
    // An authenticator chooses the id without proving it, so another user might have the id by now.
    for (const { credentialHash } of rows) await this.#table.delete({ credentialHash }, transaction);
    if (rows.length > 0) await this.#table.insert(rows, transaction);
    const isSame = rows.length === now.size && rows.every(({ credentialId }) => now.has(credentialId));
    if (isSame) return;
    const stays = new Set(rows.map(({ credentialId }) => credentialId));
    await this.#remember(
      [...now.values()].filter(({ credentialId }) => !stays.has(credentialId)),
      transaction,
    );
    await this.#announceChange(userId, transaction);
  }

  /** Remembers removed passkeys by their hashes, to find their users as long as a link can restore them. */
  async #remember(passkeys: readonly PasskeyRow[], transaction: Transaction): Promise<void> {
    if (passkeys.length === 0) return;
    const { clock } = this.#database;
    const expiresAt = clock.date(longestUndoMs(this.#core.settings));
    const rows = passkeys.map(({ credentialHash, userId }) => {
      return { id: uuidv7(clock.date().getTime()), credentialHash, userId, expiresAt };
    });
    await this.#removed.insert(rows, transaction);
  }

  #announceChange(userId: string, transaction: Transaction): Promise<void> {
    return this.#core.users.announceChange(userId, ['passkeys'], transaction);
  }
}

const OF_USER = 'WHERE p.user_id = :userId ORDER BY p.id DESC';

/** Whether a user handle fits into its column. */
function isStorable(userHandle: string): boolean {
  return userHandle !== '' && userHandle.length <= 64;
}

function hashOf(credentialId: string): Buffer {
  return hash('sha256', Buffer.from(credentialId, 'base64url'), 'buffer');
}
