import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import { uuidv7 } from '../crypto/uuid.js';
import {
  BATCH,
  type Chore,
  countRows,
  type Ends,
  ExpiredRows,
  endsOf,
  inBatches,
  isOld,
} from '../database/chores.js';
import type { Database } from '../database/database.js';
import { longestUndoMs } from '../notices/changes.js';
import type { NewRow, RowOf } from '../tables/column.js';
import {
  type DeviceColumns,
  type DeviceTokenColumns,
  devices,
  deviceTokens,
  type SessionColumns,
  sessions,
  type UserColumns,
} from '../tables/core.js';
import { type Selection, Table } from '../tables/table.js';
import { NOBODY } from '../users/record.js';
import type { Users } from '../users/users.js';
import {
  type AccountAge,
  beyondLimits,
  DEVICE_SECONDS,
  isTrusted,
  KNOWN_MS,
  provingDevices,
} from './device-rules.js';
import type { Sessions } from './sessions.js';

/** How long a token is accepted after the browser got another one, because the response might not have arrived. */
const FORMER_MS = 7 * 24 * 60 * 60 * 1000;

/** Sign-ins in one browser within this time run at the same time. */
const AT_ONCE_MS = 60_000;

/**
 * The maximum number of accounts in one browser that know it by a new token. The accounts that were used last count.
 */
const MAX_IN_BROWSER = 50;

/** A device of an account. */
export type DeviceRow = RowOf<DeviceColumns>;

/** The facts about an account that decide how its devices count. */
export interface AccountFacts extends AccountAge {
  readonly authEpoch: number;
}

/** An account with its devices, including forgotten ones, most recently used first. */
export interface AccountDevices {
  readonly account: AccountFacts;
  readonly devices: readonly DeviceRow[];
}

/** The state that decides how a new device is treated. */
export interface KnownDevices extends AccountDevices {
  /** Whether the session of the device exists, and has not ended. */
  readonly isOpen: boolean;
  /** Whether the account has another session. */
  readonly hasOther: boolean;
}

interface RawAccount {
  readonly d_id: string | null;
}

interface RawKnown extends RawAccount {
  readonly session_epoch: number | string | null;
  readonly has_other: number | string;
}

/** What {@link DeviceRows} need. */
interface DeviceRowsNeeds {
  readonly database: Database;
  readonly settings: Settings;
  readonly users: Users;
  readonly sessions: Pick<Sessions, 'ownOnly'>;
}

/** Reads and writes the table of devices. */
export class DeviceRows {
  readonly #tables: {
    readonly devices: Table<DeviceColumns>;
    readonly deviceTokens: Table<DeviceTokenColumns>;
    readonly sessions: Table<SessionColumns>;
    readonly users: Table<UserColumns>;
  };
  readonly #device: Selection<DeviceRow>;
  readonly #account: Selection<AccountFacts>;
  readonly #token: Selection<RowOf<DeviceTokenColumns>>;

  constructor(private readonly core: DeviceRowsNeeds) {
    const { database, users } = core;
    this.#tables = {
      devices: new Table(database, devices),
      deviceTokens: new Table(database, deviceTokens),
      sessions: new Table(database, sessions),
      users: users.table,
    };
    this.#device = this.#tables.devices.whole('d');
    this.#token = this.#tables.deviceTokens.whole('t');
    this.#account = users.table.only('u', 'createdAt', 'importedAt', 'firstUsedAt', 'authEpoch');
  }

  /** Returns the id of an account's device. @param userId null for an account that does not exist */
  async find(tokenHash: Buffer, userId: string | null): Promise<string | null> {
    await this.core.database.ready();
    const [device] = await this.#device.select(
      `WHERE d.user_id = :userId AND ${this.#hasToken('d')} AND d.last_used_at > :since AND d.forgotten_at IS NULL LIMIT 1`,
      { tokenHash, userId: userId ?? NOBODY, ...this.#times() },
    );
    return device?.id ?? null;
  }

  /** Records the first sign-in of an imported account in a browser. */
  async setFirstUse(userId: string, firstUsedAt: Date, transaction: Transaction): Promise<void> {
    await this.#tables.users.update({ firstUsedAt }, { id: userId }, transaction);
  }

  /** Returns the devices that prove who undoes a change that was made at a time: see {@link provingDevices}. */
  async proving(userId: string, at: Date, transaction?: Transaction): Promise<readonly DeviceRow[]> {
    const known = await this.ofAccount(userId, transaction);
    return known ? provingDevices(known.devices, known.account, at) : [];
  }

  /** Returns an account's devices, including forgotten ones. Null if the account does not exist. */
  async ofAccount(userId: string, transaction?: Transaction): Promise<AccountDevices | null> {
    const { devices, users } = this.#tables;
    const raws = await this.core.database.read<RawAccount>(
      `SELECT ${this.#device.columns}, ${this.#account.columns}
       FROM ${users.name} u LEFT JOIN ${devices.name} d ON d.user_id = u.id
       WHERE u.id = :userId ORDER BY d.last_used_at DESC, d.id DESC LIMIT ${MAX_ROWS}`,
      [...this.#device.names, ...this.#account.names],
      { userId },
      transaction,
    );
    return this.#read(raws);
  }

  /** Returns an account's device that is not forgotten. */
  async byId(userId: string, id: string, transaction: Transaction): Promise<DeviceRow | null> {
    const [device] = await this.#device.select(
      `WHERE d.id = :id AND d.user_id = :userId AND d.last_used_at > :since AND d.forgotten_at IS NULL
       ${this.core.database.currentRead}`,
      { id, userId, since: this.#times().since },
      transaction,
    );
    return device ?? null;
  }

  /** Returns an account's devices, including forgotten ones, in the browser with a token. */
  async inBrowser(
    userId: string,
    tokenHash: Buffer,
    transaction?: Transaction,
  ): Promise<readonly Pick<DeviceRow, 'id'>[]> {
    const { now } = this.#times();
    const where = `WHERE d.user_id = :userId AND ${this.#hasToken('d')} ${this.core.database.currentRead}`;
    return this.#device.select(where, { userId, tokenHash, now }, transaction);
  }

  /** Adds a device. */
  add(device: NewRow<DeviceColumns>, transaction: Transaction): Promise<void> {
    return this.#tables.devices.insert(device, transaction);
  }

  /** Records another sign-in. @returns whether the account knows the device by a token that has not been replaced */
  async renew(tokenHash: Buffer, userId: string): Promise<boolean> {
    await this.core.database.ready();
    const { devices } = this.#tables;
    const values = { tokenHash, userId, ...this.#times() };
    const where = `WHERE user_id = :userId AND last_used_at > :since AND forgotten_at IS NULL
         AND ${this.#hasCurrentToken(devices.name)}`;
    const renewed = await this.core.database.change(
      `UPDATE ${devices.name} SET last_used_at = :now ${where}`,
      values,
    );
    if (renewed > 0 || this.core.database.dialect !== 'mysql') return renewed > 0;
    // MySQL does not count a row that another sign-in has renewed in the same millisecond.
    return (await this.core.database.select(`SELECT id FROM ${devices.name} ${where}`, values)).length > 0;
  }

  /**
   * Returns the epoch of an account if it trusts the browser with a token that has not been replaced. Null otherwise: a
   * former token, which is accepted for another week, can be a stolen copy.
   */
  async trustedEpoch(tokenHash: Buffer, userId: string): Promise<number | null> {
    const { devices, users } = this.#tables;
    const raws = await this.core.database.select<RawAccount>(
      `SELECT ${this.#device.columns}, ${this.#account.columns} FROM ${devices.name} d JOIN ${users.name} u ON u.id = d.user_id
       WHERE d.user_id = :userId AND ${this.#hasCurrentToken('d')}`,
      { tokenHash, userId },
    );
    const known = this.#read(raws);
    if (!known) return null;
    const { authEpoch } = known.account;
    const now = this.core.database.clock.latest();
    return known.devices.some((device) => isTrusted(device, authEpoch, now)) ? authEpoch : null;
  }

  /**
   * Makes an account trust the browser with a token, which has just signed in. The account's other tokens for this browser
   * are former ones from then on, because a stranger who has copied one, or has got another one for it, could have them.
   *
   * @returns the id of the device. Null if the token has been replaced in the meantime
   */
  async trust(
    tokenHash: Buffer,
    userId: string,
    trust: Pick<DeviceRow, 'trustedUntil' | 'trustedEpoch'>,
    transaction: Transaction,
  ): Promise<string | null> {
    const where = `WHERE d.user_id = :userId AND d.forgotten_at IS NULL AND ${this.#hasCurrentToken('d')}
       ORDER BY d.last_used_at DESC LIMIT 1 ${this.core.database.currentRead}`;
    const [device] = await this.#device.select(where, { tokenHash, userId }, transaction);
    if (!device) return null;
    const { id } = device;
    // This locks the row, so the statements after it also end a token that another sign-in has just added.
    await this.#tables.devices.update({ ...trust }, { id }, transaction);
    const { devices, deviceTokens } = this.#tables;
    const values = { id, tokenHash, until: this.core.database.clock.date(FORMER_MS) };
    await this.core.database.change(
      `UPDATE ${devices.name} SET token_until = :until
       WHERE id = :id AND token_hash <> :tokenHash AND token_until IS NULL`,
      values,
      { transaction },
    );
    await this.core.database.change(
      `UPDATE ${deviceTokens.name} SET expires_at = :until
       WHERE device_id = :id AND token_hash <> :tokenHash AND expires_at IS NULL`,
      values,
      { transaction },
    );
    return id;
  }

  /** Makes an account trust no browser. */
  async distrustAll(userId: string, transaction?: Transaction): Promise<void> {
    await this.#tables.devices.update({ trustedUntil: null, trustedEpoch: null }, { userId }, transaction);
  }

  /**
   * Gives a browser a new token. All accounts that know the browser by the current token will also know it by the new
   * one, including accounts that have forgotten it, because the browser can still prove that they knew it. The current
   * token is accepted for another week.
   *
   * If that week has already started, the new token is accepted only until its end, so that a copy of a former token
   * gains no time. There are three exceptions, in which the new token is accepted permanently: by the account that
   * signs in; by accounts to which this account has given a token before, because the browser did not get that token;
   * and if the week started a moment ago, because the sign-ins then run at the same time, and the browser keeps either
   * token. An account that trusts the browser accepts only the first exception, because a copy of a former token could
   * otherwise become a trusted browser.
   *
   * @param userId the account that signs in
   */
  async replaceToken(
    tokenHash: Buffer,
    next: Buffer,
    userId: string,
    transaction: Transaction,
  ): Promise<void> {
    const { devices, deviceTokens } = this.#tables;
    const { clock } = this.core.database;
    const known = await this.#withToken(tokenHash, userId, transaction);
    if (known.length === 0) return;
    const now = clock.date();
    const recent = now.getTime() + FORMER_MS - AT_ONCE_MS;
    const given = await this.#givenBy(userId, transaction);
    const isForGood = ({ id, until, trustedUntil, ...device }: WithToken) =>
      until === null ||
      device.userId === userId ||
      ((trustedUntil === null || trustedUntil <= now) && (until.getTime() > recent || given.has(id)));
    const tokens = known.map((device) => ({
      id: uuidv7(clock.now()),
      deviceId: device.id,
      tokenHash: next,
      expiresAt: isForGood(device) ? null : device.until,
    }));
    await deviceTokens.insert(tokens, transaction);
    const until = clock.date(FORMER_MS);
    await devices.update({ tokenUntil: until }, { tokenHash, tokenUntil: null }, transaction);
    await deviceTokens.update({ expiresAt: until }, { tokenHash, expiresAt: null }, transaction);
  }

  /**
   * Returns the devices of all accounts in the browser with a token, including forgotten ones, and locks them, so that
   * no device is deleted in the meantime.
   *
   * @param userId the account whose devices come first
   */
  async #withToken(
    tokenHash: Buffer,
    userId: string,
    transaction: Transaction,
  ): Promise<readonly WithToken[]> {
    const { deviceTokens } = this.#tables;
    const { dialect, clock } = this.core.database;
    const values = { tokenHash, userId, now: clock.date() };
    const lock = { mysql: 'FOR UPDATE', postgres: 'FOR NO KEY UPDATE OF d', sqlite: '' }[dialect];
    const rest = `ORDER BY CASE WHEN d.user_id = :userId THEN 0 ELSE 1 END, d.last_used_at DESC
       LIMIT ${MAX_IN_BROWSER} ${lock}`;
    const read = async () => ({
      first: await this.#device.select(`WHERE ${isFirstToken('d')} ${rest}`, values, transaction),
      later: await this.core.database.select<object>(
        `SELECT ${this.#device.columns}, ${this.#token.columns}
         FROM ${deviceTokens.name} t JOIN ${this.#device.from} ON d.id = t.device_id WHERE ${IS_LATER_TOKEN} ${rest}`,
        values,
        transaction,
      ),
    });
    // On PostgreSQL, a statement that has waited for a device still sees its tokens as they were before the wait.
    if (dialect === 'postgres') await read();
    const { first, later } = await read();
    return [
      ...first.map(({ tokenUntil, ...device }) => ({ ...device, until: tokenUntil })),
      ...later.map((raw) => ({ ...this.#device.read(raw), until: this.#token.read(raw).expiresAt })),
    ];
  }

  /** Returns the ids of devices whose browser has a token that it got when it became a device of this account. */
  async #givenBy(userId: string, transaction: Transaction): Promise<ReadonlySet<string>> {
    const { devices, deviceTokens } = this.#tables;
    const given = await this.core.database.select<{ device_id: string }>(
      `SELECT t.device_id FROM ${devices.name} d JOIN ${deviceTokens.name} t ON t.token_hash = d.token_hash
       WHERE d.user_id = :userId AND t.expires_at IS NULL`,
      { userId },
      transaction,
    );
    return new Set(given.map(({ device_id }) => device_id));
  }

  /**
   * Forgets the devices of an account.
   *
   * @param except the hash of the token of a browser to keep
   */
  async forget(userId: string, except: Buffer | null, transaction: Transaction): Promise<void> {
    const { now } = this.#times();
    const { name } = this.#tables.devices;
    await this.core.database.change(
      `UPDATE ${name} SET forgotten_at = :now
       WHERE user_id = :userId AND forgotten_at IS NULL ${except ? `AND NOT ${this.#hasToken(name)}` : ''}`,
      except ? { now, userId, tokenHash: except } : { now, userId },
      { transaction },
    );
  }

  /** Forgets one device of an account. */
  async forgetOne({ id }: Pick<DeviceRow, 'id'>, transaction: Transaction): Promise<void> {
    const forgottenAt = this.core.database.clock.date();
    await this.#tables.devices.update({ forgottenAt }, { id, forgottenAt: null }, transaction);
  }

  /**
   * Makes an account forget its devices after an undo, so that they prove nothing about later changes. This includes
   * devices that it had forgotten before, because an attacker might have made it forget their own.
   */
  async drop(userId: string, transaction: Transaction): Promise<void> {
    await this.forget(userId, null, transaction);
    await this.#tables.devices.update({ dropped: true }, { userId }, transaction);
  }

  /**
   * Makes an account know a device again, with the time since which it first knew the device. Deletes other devices of
   * the account in the same browser. The user's row is locked.
   *
   * @param tokenHash the hash of the browser's token
   */
  async restore(
    { id, userId }: Pick<DeviceRow, 'id' | 'userId'>,
    tokenHash: Buffer,
    transaction: Transaction,
  ): Promise<void> {
    const others = (await this.inBrowser(userId, tokenHash, transaction)).filter((other) => other.id !== id);
    for (const other of others) await this.#delete(other, transaction);
    const known = { forgottenAt: null, dropped: null, lastUsedAt: this.core.database.clock.date() };
    await this.#tables.devices.update(known, { id }, transaction);
  }

  /** Deletes all devices of an account, as if it had never known them. */
  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    const devices = await this.#device.select('WHERE d.user_id = :userId', { userId }, transaction);
    await this.#deleteTokens(
      devices.map(({ id }) => id),
      transaction,
    );
    await this.#tables.devices.delete({ userId }, transaction);
  }

  async #delete({ id }: Pick<DeviceRow, 'id'>, transaction: Transaction): Promise<void> {
    await this.#deleteTokens([id], transaction);
    await this.#tables.devices.delete({ id }, transaction);
  }

  /** The database deletes tokens with their devices, unless foreign keys are disabled, which is possible on SQLite. */
  async #deleteTokens(ids: readonly string[], transaction: Transaction): Promise<void> {
    if (ids.length === 0) return;
    const sql = `DELETE FROM ${this.#tables.deviceTokens.name} WHERE device_id IN (:ids)`;
    await this.core.database.change(sql, { ids }, { transaction });
  }

  /** Disables the undo links in notices about devices that were added at a time or later. */
  async endUndo(userId: string, since: Date, transaction: Transaction): Promise<void> {
    await this.core.database.change(
      `UPDATE ${this.#tables.devices.name} SET undo_token_hash = NULL
       WHERE user_id = :userId AND created_at >= :since`,
      { userId, since },
      { transaction },
    );
  }

  /**
   * Locks a user's row, and reads the state that decides how a new device is treated. Null if the user does not exist.
   *
   * @param sessionId the session of the device, if it already exists
   */
  async lock(userId: string, sessionId: string, transaction: Transaction): Promise<KnownDevices | null> {
    const { sessions, users } = this.#tables;
    const { dialect } = this.core.database;
    // On PostgreSQL, a statement that has waited for the row still sees the other rows as they were before the wait.
    const lock = `SELECT u.id FROM ${users.name} u WHERE u.id = :userId FOR UPDATE`;
    if (dialect === 'postgres') await this.core.database.select(lock, { userId }, transaction);
    const raws = await this.core.database.select<RawKnown>(
      `SELECT ${this.#device.columns}, ${this.#account.columns},
         (SELECT s.auth_epoch FROM ${sessions.name} s WHERE s.id = :sessionId) AS session_epoch,
         CASE WHEN EXISTS (SELECT 1 FROM ${sessions.name} e WHERE e.user_id = :userId AND e.id <> :sessionId ${this.core.sessions.ownOnly('e')})
         THEN 1 ELSE 0 END AS has_other
       FROM ${users.name} u LEFT JOIN ${this.#device.from} ON d.user_id = u.id WHERE u.id = :userId
       ORDER BY d.last_used_at DESC, d.id DESC LIMIT ${MAX_ROWS} ${dialect === 'mysql' ? 'FOR UPDATE' : ''}`,
      { userId, sessionId },
      transaction,
    );
    const known = this.#read(raws);
    const [first] = raws;
    if (!first || !known) return null;
    const { session_epoch, has_other } = first;
    return {
      ...known,
      isOpen: session_epoch !== null && Number(session_epoch) === known.account.authEpoch,
      hasOther: Number(has_other) > 0,
    };
  }

  /**
   * Forgets the devices beyond the limits. Devices are no longer marked to be kept, because there is a newer device.
   */
  async tidy(devices: readonly DeviceRow[], transaction: Transaction): Promise<void> {
    for (const { id } of devices.filter(({ kept }) => kept))
      await this.#tables.devices.update({ kept: null }, { id }, transaction);
    const { toForget, toDelete } = beyondLimits(devices, this.core.database.clock.date());
    for (const device of toForget) await this.forgetOne(device, transaction);
    for (const device of toDelete) await this.#delete(device, transaction);
  }

  /** Deletes the devices that can no longer prove anything. */
  get old(): Chore {
    return new OldDevices(this.core.database, this.#tables, longestUndoMs(this.core.settings));
  }

  /** Deletes the tokens that are no longer accepted. */
  get oldTokens(): Chore {
    return new ExpiredRows(this.core.database, this.#tables.deviceTokens.name, 'id', { expires_at: 0 });
  }

  #read(raws: readonly RawAccount[]): AccountDevices | null {
    const [first] = raws;
    if (!first) return null;
    const devices = raws.filter(({ d_id }) => d_id !== null).map((raw) => this.#device.read(raw));
    return { account: this.#account.read(first), devices };
  }

  /**
   * Returns the condition that the browser of a device has `:tokenHash` at `:now`.
   *
   * @param device the table or its alias
   */
  #hasToken(device: string): string {
    const later = `SELECT t.device_id FROM ${this.#tables.deviceTokens.name} t WHERE ${IS_LATER_TOKEN}`;
    return `(${isFirstToken(device)} OR ${device}.id IN (${later}))`;
  }

  /**
   * Returns the condition that the browser of a device has `:tokenHash`, which has not been replaced by another token.
   *
   * @param device the table or its alias
   */
  #hasCurrentToken(device: string): string {
    const later = `SELECT t.device_id FROM ${this.#tables.deviceTokens.name} t
      WHERE t.token_hash = :tokenHash AND t.expires_at IS NULL`;
    const isFirst = `(${device}.token_hash = :tokenHash AND ${device}.token_until IS NULL)`;
    return `(${isFirst} OR ${device}.id IN (${later}))`;
  }

  /** Returns the current time, and the time since which a device must have been used to be known. */
  #times(): { readonly now: Date; readonly since: Date } {
    const { clock } = this.core.database;
    return { now: clock.date(), since: clock.date(-DEVICE_SECONDS * 1000) };
  }
}

/** A device in a browser, and the time after which the browser's token is no longer accepted. */
interface WithToken extends Pick<DeviceRow, 'id' | 'userId' | 'trustedUntil'> {
  readonly until: Date | null;
}

/** Returns the condition that `:tokenHash` is the first token of a device, and accepted at `:now`. */
function isFirstToken(device: string): string {
  const isAccepted = `(${device}.token_until IS NULL OR ${device}.token_until > :now)`;
  return `(${device}.token_hash = :tokenHash AND ${isAccepted})`;
}

/** The condition that `:tokenHash` is a later token of a device, and accepted at `:now`. */
const IS_LATER_TOKEN = '(t.token_hash = :tokenHash AND (t.expires_at IS NULL OR t.expires_at > :now))';

/** More devices than an account can have. */
const MAX_ROWS = 300;

/**
 * Deletes expired and forgotten devices when they can no longer prove anything. Keeps the newest device of an account,
 * because it shows that the next sign-in is not the account's first.
 */
class OldDevices implements Chore {
  readonly table: string;
  readonly #tokens: string;
  readonly #ages: Readonly<Record<string, number>>;
  readonly #isSuperseded: string;

  /** @param linkMs how long an undo link works */
  constructor(
    private readonly database: Database,
    tables: { readonly devices: { readonly name: string }; readonly deviceTokens: { readonly name: string } },
    linkMs: number,
  ) {
    const table = tables.devices.name;
    this.table = table;
    this.#tokens = tables.deviceTokens.name;
    this.#ages = { last_used_at: DEVICE_SECONDS * 1000 + linkMs, forgotten_at: KNOWN_MS + linkMs };
    this.#isSuperseded = `EXISTS (SELECT 1 FROM ${table} n WHERE n.user_id = d.user_id AND n.id > d.id)`;
  }

  async *run(dryRun: boolean): AsyncGenerator<number> {
    const ends = await endsOf(this.database, this.#ages);
    const columns = Object.keys(this.#ages);
    if (dryRun) {
      const old = columns.map((column) => `d.${isOld(column)}`).join(' OR ');
      const from = `${this.table} d WHERE d.kept IS NULL AND (${old}) AND ${this.#isSuperseded}`;
      yield countRows(this.database, from, ends);
    } else for (const column of columns) yield* this.#deleteBy(column, ends);
  }

  /**
   * Marks the devices that it keeps, so that later calls skip them. Otherwise, each call would check one device of
   * every unused account.
   */
  #deleteBy(column: string, ends: Ends): AsyncGenerator<number> {
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
        if (!gone?.length) return 0;
        const deleted = await database.change(`DELETE FROM ${table} ${where}`, { ...ends, ids: gone });
        // The database deletes their tokens too, unless foreign keys are disabled, which is possible on SQLite.
        const orphans = `device_id IN (:ids) AND device_id NOT IN (SELECT d.id FROM ${table} d WHERE d.id IN (:ids))`;
        await database.change(`DELETE FROM ${this.#tokens} WHERE ${orphans}`, { ids: gone });
        return deleted;
      },
    );
  }
}
