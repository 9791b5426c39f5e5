import type { Transaction } from 'sequelize';
import { BATCH, type Chore, countRows, type Ends, endsOf, inBatches, isOld } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { UNDO_MS } from '../notices/changes.js';
import type { NewRow, RowOf } from '../tables/column.js';
import type { DeviceColumns, UserColumns } from '../tables/core.js';
import type { Selection, Table } from '../tables/table.js';
import { type AccountAge, beyondLimits, DEVICE_SECONDS, KNOWN_MS, provingDevices } from './device-rules.js';

// No user has this id. It is looked up in place of an account that does not exist, so that both send the same
// statement.
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** How long the token before a renewal is accepted, for a browser that did not get the new one. */
const FORMER_MS = 7 * 24 * 60 * 60 * 1000;

/** Sign-ins in one browser that are no further apart run at once. */
const AT_ONCE_MS = 60_000;

/** The condition that a device has a token, or had it until a moment ago. */
const HAS_TOKEN = '(d.token_hash = :tokenHash OR (d.other_token_hash = :tokenHash AND d.other_until > :now))';

/** A device of an account. */
export type DeviceRow = RowOf<DeviceColumns>;

/** An account with its devices, including forgotten ones, most recently used first. */
export interface AccountDevices {
  readonly account: AccountAge;
  readonly devices: readonly DeviceRow[];
}

/** The state that decides how a new device is treated. */
export interface KnownDevices extends AccountDevices {
  /** The user's epoch. */
  readonly authEpoch: number;
  /** Whether the session of the device exists, and has not ended. */
  readonly isOpen: boolean;
  /** Whether the account has another session. */
  readonly hasOther: boolean;
}

interface RawAccount {
  readonly d_id: string | null;
}

interface RawKnown extends RawAccount {
  readonly auth_epoch: number | string;
  readonly session_epoch: number | string | null;
  readonly has_other: number | string;
}

/** Reads and writes the table of devices. */
export class DeviceRows {
  readonly #device: Selection<DeviceRow>;
  readonly #age: Selection<AccountAge>;

  constructor(
    private readonly database: Database,
    private readonly tables: {
      readonly devices: Table<DeviceColumns>;
      readonly sessions: { readonly name: string };
      readonly users: Table<UserColumns>;
    },
    /** How long the undo link of a closed account works. */
    private readonly graceMs: number,
  ) {
    this.#device = tables.devices.whole('d');
    this.#age = tables.users.only('u', 'createdAt', 'importedAt', 'firstUsedAt');
  }

  /** Returns the id of an account's device. @param userId null for an account that does not exist */
  async find(tokenHash: Buffer, userId: string | null): Promise<string | null> {
    await this.database.ready();
    const [device] = await this.#device.select(
      `WHERE d.user_id = :userId AND ${HAS_TOKEN} AND d.last_used_at > :since AND d.forgotten_at IS NULL LIMIT 1`,
      { tokenHash, userId: userId ?? NOBODY, ...this.#times() },
    );
    return device?.id ?? null;
  }

  /** Records the first sign-in of an imported account in a browser. */
  async markFirst(userId: string, firstUsedAt: Date, transaction: Transaction): Promise<void> {
    await this.tables.users.update({ firstUsedAt }, { id: userId }, transaction);
  }

  /** Returns the devices that prove who undoes a change that was made at a time: see {@link provingDevices}. */
  async proving(userId: string, at: Date, transaction?: Transaction): Promise<readonly DeviceRow[]> {
    const known = await this.ofAccount(userId, transaction);
    return known ? provingDevices(known.devices, known.account, at) : [];
  }

  /** Returns an account's devices, including forgotten ones. Null if the account does not exist. */
  async ofAccount(userId: string, transaction?: Transaction): Promise<AccountDevices | null> {
    const { devices, users } = this.tables;
    const raws = await this.database.select<RawAccount>(
      `SELECT ${this.#device.columns}, ${this.#age.columns}
       FROM ${users.name} u LEFT JOIN ${devices.name} d ON d.user_id = u.id
       WHERE u.id = :userId ORDER BY d.last_used_at DESC, d.id DESC LIMIT ${MAX_ROWS}`,
      { userId },
      transaction,
    );
    return this.#read(raws);
  }

  /** Returns an account's device that is not forgotten. */
  async byId(userId: string, id: string, transaction: Transaction): Promise<DeviceRow | null> {
    const [device] = await this.#device.select(
      `WHERE d.id = :id AND d.user_id = :userId AND d.last_used_at > :since AND d.forgotten_at IS NULL
       ${this.database.currentRead}`,
      { id, userId, since: this.#times().since },
      transaction,
    );
    return device ?? null;
  }

  /** Adds a device. */
  add(device: NewRow<DeviceColumns>, transaction: Transaction): Promise<void> {
    return this.tables.devices.insert(device, transaction);
  }

  /** Records another sign-in. @returns whether the account knows the device by its present token */
  async renew(tokenHash: Buffer, userId: string): Promise<boolean> {
    await this.database.ready();
    const { now, since } = this.#times();
    const renewed = await this.database.change(
      `UPDATE ${this.tables.devices.name} SET last_used_at = :now
       WHERE token_hash = :tokenHash AND user_id = :userId AND last_used_at > :since AND forgotten_at IS NULL`,
      { now, tokenHash, userId, since },
    );
    return renewed > 0;
  }

  /**
   * Gives a browser a new token, with which all accounts that know it will know it. They still accept the token before
   * for a while, because the browser might not get the new one. If it was renewed a moment ago, two sign-ins run at once,
   * and the browser keeps either's new token.
   *
   * @param returning the account that will know the browser as a new device. Null if there is none
   */
  async replaceToken(
    tokenHash: Buffer,
    next: Buffer,
    returning: string | null,
    transaction?: Transaction,
  ): Promise<void> {
    const { name } = this.tables.devices;
    const { clock } = this.database;
    const values = {
      ...{ tokenHash, next, userId: returning ?? NOBODY, now: clock.date() },
      ...{ until: clock.date(FORMER_MS), recent: clock.date(FORMER_MS - AT_ONCE_MS) },
    };
    const isSame = '(token_hash = :tokenHash OR (other_token_hash = :tokenHash AND other_until > :now))';
    // MySQL assigns from left to right.
    await this.database.change(
      `UPDATE ${name}
       SET other_token_hash = CASE WHEN token_hash <> :tokenHash AND other_until > :recent
           THEN token_hash ELSE :tokenHash END,
         other_until = CASE WHEN token_hash = :tokenHash THEN :until ELSE other_until END, token_hash = :next
       WHERE ${isSame} AND returned IS NULL AND user_id <> :userId`,
      values,
      { transaction },
    );
    await this.database.change(
      `UPDATE ${name} SET other_token_hash = :next
       WHERE returned IS NOT NULL
         AND (other_token_hash = :tokenHash OR (token_hash = :tokenHash AND other_until > :now))`,
      values,
      { transaction },
    );
    // The account had forgotten the browser, which can still prove that it was known.
    if (returning === null) return;
    await this.database.change(
      `UPDATE ${name}
       SET returned = TRUE, other_token_hash = :next, other_until = :until,
         forgotten_at = COALESCE(forgotten_at, :now)
       WHERE ${isSame} AND returned IS NULL AND user_id = :userId`,
      values,
      { transaction },
    );
  }

  /**
   * Forgets the devices of an account.
   *
   * @param except the hash of the token of a device to keep
   */
  async forget(userId: string, except: Buffer | null, transaction: Transaction): Promise<void> {
    const now = this.database.clock.date();
    const isOther = `token_hash <> :except
         AND (other_token_hash IS NULL OR other_token_hash <> :except OR other_until <= :now)`;
    await this.database.change(
      `UPDATE ${this.tables.devices.name} SET forgotten_at = :now
       WHERE user_id = :userId AND forgotten_at IS NULL ${except ? `AND ${isOther}` : ''}`,
      except ? { now, userId, except } : { now, userId },
      { transaction },
    );
  }

  /** Forgets one device of an account. */
  async forgetOne({ id }: Pick<DeviceRow, 'id'>, transaction: Transaction): Promise<void> {
    const forgottenAt = this.database.clock.date();
    await this.tables.devices.update({ forgottenAt }, { id, forgottenAt: null }, transaction);
  }

  /**
   * Makes an account forget its devices after an undo, so that they prove nothing about later changes. This includes
   * those that it had forgotten before, because an intruder can have made it forget their own.
   */
  async drop(userId: string, transaction: Transaction): Promise<void> {
    await this.forget(userId, null, transaction);
    await this.tables.devices.update({ dropped: true }, { userId }, transaction);
  }

  /**
   * Makes an account know a device again, since the time when it first did. The device that the account has known in the
   * same browser since is deleted. The user's row is locked.
   */
  async restore({ id, userId }: Pick<DeviceRow, 'id' | 'userId'>, transaction: Transaction): Promise<void> {
    const { devices } = this.tables;
    const where = `WHERE d.id = :id AND d.forgotten_at IS NOT NULL ${this.database.currentRead}`;
    const [device] = await this.#device.select(where, { id }, transaction);
    if (!device) return;
    const { tokenHash, otherTokenHash, returned } = device;
    const known = { forgottenAt: null, dropped: null, lastUsedAt: this.database.clock.date() };
    if (!returned || otherTokenHash === null) {
      await devices.update(known, { id }, transaction);
      return;
    }
    const inSameBrowser = { userId, tokenHash: otherTokenHash };
    await devices.delete(inSameBrowser, transaction);
    const tokens = { tokenHash: otherTokenHash, otherTokenHash: tokenHash, returned: null };
    await devices.update({ ...known, ...tokens }, { id }, transaction);
  }

  /** Deletes all devices of an account, as if it had never known them. */
  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.tables.devices.delete({ userId }, transaction);
  }

  /** Disables the undo links in notices about devices that were added at a time or later. */
  async endUndo(userId: string, since: Date, transaction: Transaction): Promise<void> {
    await this.database.change(
      `UPDATE ${this.tables.devices.name} SET undo_token_hash = NULL
       WHERE user_id = :userId AND created_at >= :since`,
      { userId, since },
      { transaction },
    );
  }

  /**
   * Locks a user's row, and reads the state that decides how a new device is treated. Null if the user does not exist.
   *
   * @param sessionId the session of the device, if it exists already
   */
  async lock(userId: string, sessionId: string, transaction: Transaction): Promise<KnownDevices | null> {
    const { sessions, users } = this.tables;
    const { dialect } = this.database;
    // On PostgreSQL, a statement that has waited for the row still sees the other rows as they were before the wait.
    const lock = `SELECT u.id FROM ${users.name} u WHERE u.id = :userId FOR UPDATE`;
    if (dialect === 'postgres') await this.database.select(lock, { userId }, transaction);
    const raws = await this.database.select<RawKnown>(
      `SELECT ${this.#device.columns}, ${this.#age.columns}, u.auth_epoch AS auth_epoch,
         (SELECT s.auth_epoch FROM ${sessions.name} s WHERE s.id = :sessionId) AS session_epoch,
         CASE WHEN EXISTS (SELECT 1 FROM ${sessions.name} e WHERE e.user_id = :userId AND e.id <> :sessionId)
         THEN 1 ELSE 0 END AS has_other
       FROM ${users.name} u LEFT JOIN ${this.#device.from} ON d.user_id = u.id WHERE u.id = :userId
       ORDER BY d.last_used_at DESC, d.id DESC LIMIT ${MAX_ROWS} ${dialect === 'mysql' ? 'FOR UPDATE' : ''}`,
      { userId, sessionId },
      transaction,
    );
    const known = this.#read(raws);
    const [first] = raws;
    if (!first || !known) return null;
    const { auth_epoch, session_epoch, has_other } = first;
    return {
      ...known,
      authEpoch: Number(auth_epoch),
      isOpen: session_epoch !== null && Number(session_epoch) === Number(auth_epoch),
      hasOther: Number(has_other) > 0,
    };
  }

  /** Forgets the devices beyond the limits. Old devices are no longer kept, because there is a newer device. */
  async tidy(devices: readonly DeviceRow[], transaction: Transaction): Promise<void> {
    for (const { id } of devices.filter(({ kept }) => kept))
      await this.tables.devices.update({ kept: null }, { id }, transaction);
    const { toForget, toDelete } = beyondLimits(devices, this.database.clock.date());
    for (const device of toForget) await this.forgetOne(device, transaction);
    for (const { id } of toDelete) await this.tables.devices.delete({ id }, transaction);
  }

  /** Deletes the devices that can no longer prove anything. */
  get old(): Chore {
    return new OldDevices(this.database, this.tables.devices.name, Math.max(UNDO_MS, this.graceMs));
  }

  #read(raws: readonly RawAccount[]): AccountDevices | null {
    const [first] = raws;
    if (!first) return null;
    const devices = raws.filter(({ d_id }) => d_id !== null).map((raw) => this.#device.read(raw));
    return { account: this.#age.read(first), devices };
  }

  /** The present time, and the time since which a device must have been used to be known. */
  #times(): { readonly now: Date; readonly since: Date } {
    const { clock } = this.database;
    return { now: clock.date(), since: clock.date(-DEVICE_SECONDS * 1000) };
  }
}

/** More than an account has. */
const MAX_ROWS = 300;

/**
 * Deletes expired and forgotten devices, once they can no longer prove anything. The newest device of an account stays,
 * because it shows that the next sign-in is not the account's first.
 */
class OldDevices implements Chore {
  readonly #ages: Readonly<Record<string, number>>;
  readonly #isSuperseded: string;

  /** @param linkMs how long an undo link works */
  constructor(
    private readonly database: Database,
    readonly table: string,
    linkMs: number,
  ) {
    this.#ages = { last_used_at: DEVICE_SECONDS * 1000 + linkMs, forgotten_at: KNOWN_MS + linkMs };
    this.#isSuperseded = `EXISTS (SELECT 1 FROM ${table} n WHERE n.user_id = d.user_id AND n.id > d.id)`;
  }

  async run(dryRun: boolean): Promise<number> {
    const ends = await endsOf(this.database, this.#ages);
    const columns = Object.keys(this.#ages);
    if (dryRun) {
      const old = columns.map((column) => `d.${isOld(column)}`).join(' OR ');
      const from = `${this.table} d WHERE d.kept IS NULL AND (${old}) AND ${this.#isSuperseded}`;
      return countRows(this.database, from, ends);
    }
    let deleted = 0;
    for (const column of columns) deleted += await this.#deleteBy(column, ends);
    return deleted;
  }

  /**
   * Marks the devices that it keeps, so that later calls skip them. Otherwise, each call would check a device of every
   * account that is no longer used.
   */
  #deleteBy(column: string, ends: Ends): Promise<number> {
    const { database, table } = this;
    const found = `SELECT d.id, CASE WHEN ${this.#isSuperseded} THEN 1 ELSE 0 END AS is_superseded
       FROM ${table} d WHERE d.kept IS NULL AND d.${isOld(column)} ORDER BY d.${column} LIMIT ${BATCH}`;
    const where = `WHERE id IN (:ids) AND ${isOld(column)}`;
    return inBatches(
      () => database.select<{ id: string; is_superseded: unknown }>(found, ends),
      async (rows) => {
        const [gone, kept] = [true, false].map((is) =>
          rows.filter((row) => Number(row.is_superseded) > 0 === is).map(({ id }) => id),
        );
        if (kept?.length)
          await database.change(`UPDATE ${table} SET kept = TRUE ${where}`, { ...ends, ids: kept });
        return gone?.length ? database.change(`DELETE FROM ${table} ${where}`, { ...ends, ids: gone }) : 0;
      },
    );
  }
}
