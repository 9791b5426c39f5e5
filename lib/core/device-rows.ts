import type { Transaction } from 'sequelize';
import type { Database } from '../database/database.js';
import { BATCH, inBatches } from '../database/delete-in-batches.js';
import type { NewRow, RowOf } from '../models/column.js';
import type { DeviceColumns } from '../models/device.js';
import type { Selection, Table } from '../models/table.js';
import { UNDO_MS } from './account-changes.js';

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

/** A row of the table of devices. */
export type DeviceRow = RowOf<DeviceColumns>;

/** What decides about a new device. */
export interface AfterSignIn {
  /** The account's devices, forgotten ones too, last used first. */
  readonly devices: readonly DeviceRow[];
  /** Whether the session of the sign-in has not ended in the meantime. */
  readonly isOpen: boolean;
  /** Whether the account has an earlier session. */
  readonly hasEarlier: boolean;
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
    this.#device = tables.devices.whole('d');
  }

  /** The id of an account's device. @param userId null for an account that does not exist */
  async find(tokenHash: Buffer, userId: string | null): Promise<string | null> {
    const device = await this.#find(tokenHash, 'AND d.user_id = :userId', userId ?? NOBODY);
    return device?.id ?? null;
  }

  /** Whether accounts know a device, and this one has not forgotten it. It may know it since a moment ago. */
  async isOfAny(tokenHash: Buffer, userId: string): Promise<boolean> {
    const { name } = this.tables.devices;
    const forgotten = `o.user_id = :userId AND (o.forgotten_at IS NOT NULL OR o.last_used_at <= :since)`;
    const condition = `AND NOT EXISTS (SELECT 1 FROM ${name} o WHERE o.token_hash = :tokenHash AND ${forgotten})`;
    return (await this.#find(tokenHash, condition, userId)) !== undefined;
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

  insert(device: NewRow<DeviceColumns>): Promise<void> {
    return this.tables.devices.insert(device);
  }

  async delete(id: string): Promise<void> {
    await this.tables.devices.delete({ id });
  }

  /** Records another sign-in. @returns whether the account knows the device */
  async renew(tokenHash: Buffer, userId: string, now: Date): Promise<boolean> {
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

  /** Reads in one statement what decides about a device that has just been inserted. */
  async after(userId: string, sessionId: string): Promise<AfterSignIn> {
    const { sessions, users } = this.tables;
    const rows = await this.database.select<{ is_open: unknown; has_earlier: unknown }>(
      `SELECT ${this.#device.columns},
         (SELECT COUNT(*) FROM ${sessions.name} s JOIN ${users.name} u
          ON u.id = s.user_id AND u.auth_epoch = s.auth_epoch WHERE s.id = :sessionId) AS is_open,
         CASE WHEN EXISTS (SELECT 1 FROM ${sessions.name} e WHERE e.user_id = :userId AND e.id < :sessionId)
         THEN 1 ELSE 0 END AS has_earlier
       FROM ${this.#device.from} WHERE d.user_id = :userId ORDER BY d.last_used_at DESC, d.id DESC LIMIT 250`,
      { userId, sessionId },
    );
    return {
      devices: rows.map((row) => this.#device.read(row)),
      isOpen: rows.some((row) => Number(row.is_open) > 0),
      hasEarlier: rows.some((row) => Number(row.has_earlier) > 0),
    };
  }

  /**
   * Forgets the devices beyond the limits, and no longer keeps an old one since there is a newer one.
   *
   * @param devices those of an account, last used first
   */
  async tidy(devices: readonly DeviceRow[]): Promise<void> {
    for (const { id } of devices.filter(({ kept }) => kept))
      await this.tables.devices.update({ kept: null }, { id });
    const surplus = devices.filter(({ forgottenAt }) => forgottenAt === null).slice(MAX_PER_USER);
    const forgottenAt = this.database.clock.date();
    for (const { id } of surplus)
      await this.tables.devices.update({ forgottenAt }, { id, forgottenAt: null });
    const forgotten = [...devices.filter((device) => device.forgottenAt !== null), ...surplus];
    const oldestFirst = forgotten.sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const { id } of oldestFirst.slice(MAX_FORGOTTEN)) await this.delete(id);
  }

  /**
   * Deletes devices that have not been used for 90 days, and those that were forgotten, once they can prove nothing any
   * more. The newest one of an account stays, which tells that a sign-in is not its first. @returns their number
   */
  async prune(): Promise<number> {
    await this.database.ready();
    const expired = await this.#prune('last_used_at', this.#since(UNDO_MS));
    return expired + (await this.#prune('forgotten_at', this.database.clock.date(-UNDO_MS)));
  }

  /**
   * Marks those that it keeps, and does not look at them again: otherwise, each call would look at a device of every account
   * that is no longer used.
   */
  async #prune(column: string, since: Date): Promise<number> {
    const { name } = this.tables.devices;
    const isOld = `${column} <= :since`;
    const newer = `EXISTS (SELECT 1 FROM ${name} n WHERE n.user_id = d.user_id AND n.id > d.id)`;
    const sql = `SELECT d.id, CASE WHEN ${newer} THEN 1 ELSE 0 END AS is_superseded
      FROM ${name} d WHERE d.kept IS NULL AND d.${isOld} ORDER BY d.${column} LIMIT ${BATCH}`;
    return inBatches(async () => {
      const rows = await this.database.select<{ id: string; is_superseded: unknown }>(sql, { since });
      const [gone, kept] = [true, false].map((is) =>
        rows.filter((row) => Number(row.is_superseded) > 0 === is).map(({ id }) => id),
      );
      const [remove, keep] = [`DELETE FROM ${name}`, `UPDATE ${name} SET kept = TRUE`];
      const where = `WHERE id IN (:ids) AND ${isOld}`;
      if (kept?.length) await this.database.change(`${keep} ${where}`, { since, ids: kept });
      const deleted = gone?.length
        ? await this.database.change(`${remove} ${where}`, { since, ids: gone })
        : 0;
      return { found: rows.length, deleted };
    });
  }

  async #find(tokenHash: Buffer, condition: string, userId: string): Promise<DeviceRow | undefined> {
    await this.database.ready();
    const [device] = await this.#device.select(
      `WHERE d.token_hash = :tokenHash AND d.last_used_at > :since AND d.forgotten_at IS NULL ${condition} LIMIT 1`,
      { tokenHash, since: this.#since(), userId },
    );
    return device;
  }

  /** Devices that were last used before this, and the given time more, have expired. */
  #since(moreMs = 0): Date {
    return this.database.clock.date(-DEVICE_SECONDS * 1000 - moreMs);
  }
}
