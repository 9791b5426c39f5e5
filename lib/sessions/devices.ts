import type { Transaction } from 'sequelize';
import type { CallContext, PlainRequest } from '../context/call.js';
import { createToken, digestToken, isWellFormedToken } from '../crypto/token.js';
import { uuidv7 } from '../crypto/uuid.js';
import { BATCH, type Chore, countRows, type Ends, endsOf, inBatches, isOld } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { declareNotices } from '../mail/notice-kinds.js';
import { UNDO_MS } from '../notices/changes.js';
import type { Notices } from '../notices/notices.js';
import { CORE } from '../owners.js';
import type { NewRow, RowOf } from '../tables/column.js';
import type { DeviceColumns, User } from '../tables/core.js';
import type { Selection, Table } from '../tables/table.js';

/** The number of devices that an account remembers. Beyond it, the least recently used devices are forgotten. */
const MAX_PER_USER = 50;

/**
 * The number of forgotten devices that are kept, because they can prove who undoes a change. Beyond it, the newest are
 * deleted, because an intruder can add new devices, but none that are older than the owner's.
 */
const MAX_FORGOTTEN = 100;

/** A device is forgotten this many seconds after the last sign-in there. */
export const DEVICE_SECONDS = 90 * 24 * 60 * 60;

/**
 * The tolerance for a device that a change has forgotten: the clock of the process that did it might have been behind.
 */
const CLOCKS_DIFFER_MS = 50;

// No user has this id. It is looked up in place of an account that does not exist, so that both send the same
// statement.
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** The columns of a device that are read. */
type DeviceRow = Pick<RowOf<DeviceColumns>, 'id' | 'forgottenAt' | 'kept'>;

/** The state that decides how a new device is treated. */
export interface KnownDevices {
  /** The account's devices, including forgotten ones, most recently used first. */
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

  /** Returns the id of an account's device. @param userId null for an account that does not exist */
  async find(tokenHash: Buffer, userId: string | null): Promise<string | null> {
    const device = await this.#find(tokenHash, 'AND d.user_id = :userId', userId ?? NOBODY);
    return device?.id ?? null;
  }

  /** Whether any account knows a device, and this account has not forgotten it. A sign-in a moment ago counts too. */
  async isOfAny(tokenHash: Buffer, userId: string, transaction: Transaction): Promise<boolean> {
    const { name } = this.tables.devices;
    const forgotten = `o.user_id = :userId AND (o.forgotten_at IS NOT NULL OR o.last_used_at <= :since)`;
    const condition = `AND NOT EXISTS (SELECT 1 FROM ${name} o WHERE o.token_hash = :tokenHash AND ${forgotten})`;
    return (await this.#find(tokenHash, condition, userId, transaction)) !== undefined;
  }

  /**
   * Whether an account knew a device at a time: it had signed in there before, and had not yet forgotten the device.
   */
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

  /** Adds a device. @returns false if the account has it already */
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

  /** Forgets the devices of an account. @param except the hash of the token of a device to keep */
  async forget(userId: string, except: Buffer | null, transaction: Transaction): Promise<void> {
    const now = this.database.clock.date();
    await this.database.change(
      `UPDATE ${this.tables.devices.name} SET forgotten_at = :now
       WHERE user_id = :userId AND forgotten_at IS NULL ${except ? 'AND token_hash <> :except' : ''}`,
      except ? { now, userId, except } : { now, userId },
      { transaction },
    );
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
   * Forgets the devices beyond the limits. Old devices are no longer kept, because there is a newer device.
   *
   * @param devices the earlier devices of an account, most recently used first
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

  /** Deletes the devices that can no longer prove anything. */
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

  /** Returns the time since which a device must have been used to be known. */
  #since(): Date {
    return this.database.clock.date(-DEVICE_SECONDS * 1000);
  }
}

/**
 * Deletes expired and forgotten devices, once they can no longer prove anything. The newest device of an account stays,
 * because it shows that the next sign-in is not the account's first.
 */
class OldDevices implements Chore {
  readonly #ages: Readonly<Record<string, number>>;
  readonly #isSuperseded: string;

  /** @param lifeMs how long a device is known after the last sign-in there */
  constructor(
    private readonly database: Database,
    readonly table: string,
    lifeMs: number,
  ) {
    this.#ages = { last_used_at: lifeMs + UNDO_MS, forgotten_at: UNDO_MS };
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

/** The prefix of the tokens in device cookies. */
const PREFIX = 'lkd_';

/** The device of a sign-in, as far as it is known. */
export interface Recognized {
  /** The value of the device's cookie. Null if the device is new, or there is no request. */
  readonly cookie: string | null;
  /** Whether the user has never signed in there before. */
  readonly isNew: boolean;
}

// No session has this id.
const NOT_YET = '00000000-0000-0000-0000-000000000000';

/** The result for a sign-in without a browser. */
export const NO_DEVICE: Recognized = { cookie: null, isNew: false };

/**
 * Devices: browsers in which accounts have signed in. A browser has one token, in a cookie, and each account that has
 * signed in there has a row with the token's hash. A device does not authenticate anyone. It has three purposes. Its
 * owner's wrong passwords are counted separately, so that strangers cannot pause the owner's sign-ins with their wrong
 * passwords. The owner gets a notice about a sign-in from an unknown device. And together with an emailed link, a
 * device proves who undoes a change.
 *
 * A forgotten device counts as unknown, but its row stays for a while, because it can still prove who undoes a change.
 */
export class Devices {
  /** @param tokensOf returns the distinct device tokens that a request presents, valid or not */
  constructor(
    private readonly database: Database,
    private readonly rows: DeviceRows,
    private readonly context: CallContext,
    private readonly notices: Pick<Notices, 'unrecorded' | 'tell'>,
    private readonly tokensOf: (request: PlainRequest) => readonly string[],
  ) {}

  /**
   * Returns the id of the device that the current request comes from, if the user has signed in there. Sends no
   * statement for a request without a well-formed device cookie.
   *
   * @param userId null for an account that does not exist
   */
  async find(userId: string | null): Promise<string | null> {
    const hash = this.presented;
    return hash ? this.rows.find(hash, userId) : null;
  }

  /** The hash of the current request's device token. Null if there is none. */
  get presented(): Buffer | null {
    const token = this.#presentedToken();
    return token === null ? null : digestToken(token);
  }

  /** Whether an account knows the device with a token. @param userId null for an account that does not exist */
  async knows(tokenHash: Buffer, userId: string | null): Promise<boolean> {
    return (await this.rows.find(tokenHash, userId)) !== null;
  }

  /**
   * Whether the current request comes from a device that the account knew at a time, even if it has been forgotten
   * since. The device of a sign-in at that very time does not count.
   */
  async knewAt(userId: string, time: Date, transaction?: Transaction): Promise<boolean> {
    const hash = this.presented;
    return hash ? this.rows.wasKnown(hash, userId, time, transaction) : false;
  }

  /** Forgets all devices of an account, except the device of the current request. */
  forgetOthers(userId: string, transaction: Transaction): Promise<void> {
    return this.rows.forget(userId, this.presented, transaction);
  }

  /** Forgets all devices of an account, because someone other than its owner might have signed in. */
  forgetAll(userId: string, transaction: Transaction): Promise<void> {
    return this.rows.forget(userId, null, transaction);
  }

  /**
   * Forgets the devices of an account after an undo, and disables the undo links about devices added since the undone
   * change.
   *
   * @param exceptOwn whether the account keeps the device of the current request
   */
  async forgetAfterUndo(
    userId: string,
    since: Date,
    exceptOwn: boolean,
    transaction: Transaction,
  ): Promise<void> {
    await this.rows.forget(userId, exceptOwn ? this.presented : null, transaction);
    await this.rows.endUndo(userId, since, transaction);
  }

  /** Checks whether a user who signs in knows the device of the current request, and renews a known device. */
  async recognize(user: User): Promise<Recognized> {
    if (this.context.client.request === null) return NO_DEVICE;
    const hash = this.presented;
    const isKnown = hash && (await this.rows.renew(hash, user.id));
    return isKnown ? { cookie: this.#presentedToken(), isNew: false } : { cookie: null, isNew: true };
  }

  /**
   * Locks a user, and reads the state that decides how a new device is treated. Null if the user does not exist.
   *
   * @param sessionId the user's session on the device, if it exists already
   */
  lock(userId: string, sessionId: string | null, transaction: Transaction): Promise<KnownDevices | null> {
    return this.rows.lock(userId, sessionId ?? NOT_YET, transaction);
  }

  /**
   * Adds the device of the current request, where a user has just signed in for the first time, and sends a notice
   * about it.
   *
   * @param known the result of {@link lock}
   * @returns the value for the browser's device cookie
   */
  async add(user: User, known: KnownDevices, transaction: Transaction): Promise<string> {
    const now = this.database.clock.date();
    const token = await this.#tokenFor(user.id, transaction);
    const notice = this.notices.unrecorded(deviceNotices['new-device'], user);
    const undoTokenHash = notice?.token ? digestToken(notice.token) : null;
    const times = { createdAt: now, lastUsedAt: now };
    const row = { id: uuidv7(now.getTime()), userId: user.id, tokenHash: digestToken(token), ...times };
    // If another sign-in in this browser has just added the device, that sign-in sends the notice.
    if (!(await this.rows.add({ ...row, undoTokenHash }, transaction))) return token;
    await this.rows.tidy(known.devices, transaction);
    // The first sign-in to an account is no reason for a notice.
    if (known.hasOther || known.devices.length > 0) await this.notices.tell(notice, transaction);
    return token;
  }

  /** Deletes the devices that can no longer prove anything. */
  get expired(): Chore {
    return this.rows.old;
  }

  /**
   * Returns the token for a device that is new to a user. It ignores a presented token that no account has signed in
   * with, because an attacker might have planted it to recognize the browser. It also ignores the token of a device
   * that this account has forgotten, so that the device stays forgotten.
   */
  async #tokenFor(userId: string, transaction: Transaction): Promise<string> {
    const presented = this.#presentedToken();
    const isKept = presented && (await this.rows.isOfAny(digestToken(presented), userId, transaction));
    return isKept ? presented : createToken(PREFIX);
  }

  /**
   * Returns the device token of the current request. Null if it presents no token, a malformed one, or different ones.
   */
  #presentedToken(): string | null {
    const { request } = this.context.client;
    const [token, ...others] = request ? this.tokensOf(request) : [];
    return others.length === 0 && isWellFormedToken(PREFIX, token) ? token : null;
  }
}

const deviceNotices = declareNotices(CORE, {
  'new-device': {
    subject: 'A sign-in from a new device',
    lines: ['Somebody signed in to your account in a browser in which it had not been used before.'],
    undo: 'If it was not you, this link signs everybody out, and undoes what has been changed since. It works for 7 days:',
  },
});

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof deviceNotices, unknown> {}
}
