import type { Transaction } from 'sequelize';
import type { Chore } from '../database/chore.js';
import type { Database } from '../database/database.js';
import type { NewRow, RowOf } from '../tables/column.js';
import type { DeviceColumns } from '../tables/device.js';
import type { Selection, Table } from '../tables/table.js';
import { OldDevices } from './old-devices.js';

/** An account's devices beyond these are forgotten, starting with the one that was not used for the longest time. */
const MAX_PER_USER = 50;

/**
 * The forgotten ones that are kept, since they can prove who undoes a change. Beyond these, the newest go: an intruder can
 * make new ones, but none that are older than the owner's.
 */
const MAX_FORGOTTEN = 100;

/** A device is forgotten this many seconds after the last sign-in there. */
export const DEVICE_SECONDS = 90 * 24 * 60 * 60;

/** What a change forgets, it forgets at its own time, but perhaps by the clock of a process that is behind. */
const CLOCKS_DIFFER_MS = 50;

// No user has this id. Looked up in place of an account that does not exist, so that both send the same statement.
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** What is read of a device. */
type DeviceRow = Pick<RowOf<DeviceColumns>, 'id' | 'forgottenAt' | 'kept'>;

/** What decides about a new device. */
export interface KnownDevices {
  /** The account's devices, forgotten ones too, last used first. */
  readonly devices: readonly DeviceRow[];
  /** The user's epoch. */
  readonly authEpoch: number;
  /** Whether the session of the device exists, and has not ended. */
  readonly isOpen: boolean;
  /** Whether the account has another session. */
  readonly hasOther: boolean;
}

interface RawKnown {
  readonly d_id: string | null;
  readonly auth_epoch: number | string;
  readonly session_epoch: number | string | null;
  readonly has_other: number | string;
}

/** Reads and writes the table of devices. */
export class DeviceRows {
  readonly #device: Selection<DeviceRow>;

  constructor(
    private readonly database: Database,
    private readonly tables: {
      readonly devices: Table<DeviceColumns>;
      readonly sessions: { readonly name: string };
      readonly users: { readonly name: string };
    },
  ) {
    this.#device = tables.devices.only('d', 'id', 'forgottenAt', 'kept');
  }

  /** The id of an account's device. @param userId null for an account that does not exist */
  async find(tokenHash: Buffer, userId: string | null): Promise<string | null> {
    const device = await this.#find(tokenHash, 'AND d.user_id = :userId', userId ?? NOBODY);
    return device?.id ?? null;
  }

  /** Whether accounts know a device, and this one has not forgotten it. It may know it since a moment ago. */
  async isOfAny(tokenHash: Buffer, userId: string, transaction: Transaction): Promise<boolean> {
    const { name } = this.tables.devices;
    const forgotten = `o.user_id = :userId AND (o.forgotten_at IS NOT NULL OR o.last_used_at <= :since)`;
    const condition = `AND NOT EXISTS (SELECT 1 FROM ${name} o WHERE o.token_hash = :tokenHash AND ${forgotten})`;
    return (await this.#find(tokenHash, condition, userId, transaction)) !== undefined;
  }

  /** Whether an account knew a device at a time: it had signed in there before, and had not forgotten it by then. */
  async wasKnown(tokenHash: Buffer, userId: string, time: Date, transaction?: Transaction): Promise<boolean> {
    const since = new Date(time.getTime() - DEVICE_SECONDS * 1000);
    const known = await this.#device.select(
      `WHERE d.token_hash = :tokenHash AND d.user_id = :userId AND d.created_at < :time
         AND d.last_used_at > :since AND (d.forgotten_at IS NULL OR d.forgotten_at >= :forgotten) LIMIT 1`,
      { tokenHash, userId, time, since, forgotten: new Date(time.getTime() - CLOCKS_DIFFER_MS) },
      transaction,
    );
    return known.length > 0;
  }

  /** @returns false if the account has it already */
  add(device: NewRow<DeviceColumns>, transaction: Transaction): Promise<boolean> {
    return this.tables.devices.insertUnlessThere(device, transaction);
  }

  /** Records another sign-in. @returns whether the account knows the device */
  async renew(tokenHash: Buffer, userId: string): Promise<boolean> {
    await this.database.ready();
    const now = this.database.clock.date();
    const renewed = await this.database.change(
      `UPDATE ${this.tables.devices.name} SET last_used_at = :now
       WHERE token_hash = :tokenHash AND user_id = :userId AND last_used_at > :since AND forgotten_at IS NULL`,
      { now, tokenHash, userId, since: this.#since() },
    );
    return renewed > 0;
  }

  /** Forgets the devices of an account. @param except the token's hash of one to keep */
  async forget(userId: string, except: Buffer | null, transaction: Transaction): Promise<void> {
    const now = this.database.clock.date();
    await this.database.change(
      `UPDATE ${this.tables.devices.name} SET forgotten_at = :now
       WHERE user_id = :userId AND forgotten_at IS NULL ${except ? 'AND token_hash <> :except' : ''}`,
      except ? { now, userId, except } : { now, userId },
      { transaction },
    );
  }

  /** Ends the links of the notices of new devices. @param since only those that came at that time or later */
  async endUndo(userId: string, since: Date | null, transaction: Transaction): Promise<void> {
    await this.database.change(
      `UPDATE ${this.tables.devices.name} SET undo_token_hash = NULL
       WHERE user_id = :userId ${since ? 'AND created_at >= :since' : ''}`,
      since ? { userId, since } : { userId },
      { transaction },
    );
  }

  /**
   * Locks a user's row, and reads what decides about a new device. Null if there is no such user.
   *
   * @param sessionId the session of the device, if it exists already
   */
  async lock(userId: string, sessionId: string, transaction: Transaction): Promise<KnownDevices | null> {
    const { sessions, users } = this.tables;
    const { dialect } = this.database;
    // On PostgreSQL, a statement that has waited for the row still sees the others as they were before.
    const lock = `SELECT u.id FROM ${users.name} u WHERE u.id = :userId FOR UPDATE`;
    if (dialect === 'postgres') await this.database.select(lock, { userId }, transaction);
    const rows = await this.database.select<RawKnown>(
      `SELECT ${this.#device.columns}, u.auth_epoch AS auth_epoch,
         (SELECT s.auth_epoch FROM ${sessions.name} s WHERE s.id = :sessionId) AS session_epoch,
         CASE WHEN EXISTS (SELECT 1 FROM ${sessions.name} e WHERE e.user_id = :userId AND e.id <> :sessionId)
         THEN 1 ELSE 0 END AS has_other
       FROM ${users.name} u LEFT JOIN ${this.#device.from} ON d.user_id = u.id WHERE u.id = :userId
       ORDER BY d.last_used_at DESC, d.id DESC LIMIT 250 ${dialect === 'mysql' ? 'FOR UPDATE' : ''}`,
      { userId, sessionId },
      transaction,
    );
    const [first] = rows;
    if (!first) return null;
    const { auth_epoch, session_epoch, has_other } = first;
    return {
      devices: rows.filter(({ d_id }) => d_id !== null).map((row) => this.#device.read(row)),
      authEpoch: Number(auth_epoch),
      isOpen: session_epoch !== null && Number(session_epoch) === Number(auth_epoch),
      hasOther: Number(has_other) > 0,
    };
  }

  /**
   * Forgets the devices beyond the limits, and no longer keeps an old one since there is a newer one.
   *
   * @param devices the earlier ones of an account, last used first
   */
  async tidy(devices: readonly DeviceRow[], transaction: Transaction): Promise<void> {
    for (const { id } of devices.filter(({ kept }) => kept))
      await this.tables.devices.update({ kept: null }, { id }, transaction);
    const surplus = devices.filter(({ forgottenAt }) => forgottenAt === null).slice(MAX_PER_USER - 1);
    const forgottenAt = this.database.clock.date();
    for (const { id } of surplus)
      await this.tables.devices.update({ forgottenAt }, { id, forgottenAt: null }, transaction);
    const forgotten = [...devices.filter((device) => device.forgottenAt !== null), ...surplus];
    const oldestFirst = forgotten.sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const { id } of oldestFirst.slice(MAX_FORGOTTEN))
      await this.tables.devices.delete({ id }, transaction);
  }

  /** Those that can prove nothing any more. */
  get old(): Chore {
    return new OldDevices(this.database, this.tables.devices.name, DEVICE_SECONDS * 1000);
  }

  async #find(
    tokenHash: Buffer,
    condition: string,
    userId: string,
    transaction?: Transaction,
  ): Promise<DeviceRow | undefined> {
    await this.database.ready();
    const [device] = await this.#device.select(
      `WHERE d.token_hash = :tokenHash AND d.last_used_at > :since AND d.forgotten_at IS NULL ${condition} LIMIT 1`,
      { tokenHash, since: this.#since(), userId },
      transaction,
    );
    return device;
  }

  /** Devices that were last used before this have expired. */
  #since(): Date {
    return this.database.clock.date(-DEVICE_SECONDS * 1000);
  }
}
