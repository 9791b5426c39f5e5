import type { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { Settings } from '../config/config.js';
import type { SecretBox } from '../crypto/secret-box.js';
import { digestToken } from '../crypto/token.js';
import { uuidv7 } from '../crypto/uuid.js';
import { BATCH, type Chore, countRows, ExpiredRows, endsOf, inBatches, isOld } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { storable } from '../database/literal.js';
import type { AuthErrorCode } from '../errors.js';
import type { RowOf } from '../tables/column.js';
import {
  type AccountChangeColumns,
  accountChanges,
  type DeviceColumns,
  devices,
  type EmailProofLevel,
} from '../tables/core.js';
import { SealedRows } from '../tables/sealed-rows.js';
import { type Selection, Table } from '../tables/table.js';
import type { UserRecord } from '../users/record.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** How long a change can be undone. */
export const UNDO_MS = 7 * DAY_MS;

/** The longest time for which a change can be undone. */
export function longestUndoMs({ accountDeletion }: Pick<Settings, 'accountDeletion'>): number {
  return Math.max(UNDO_MS, accountDeletion.graceDays * DAY_MS);
}

/** How long a change is listed. */
const LISTED_MS = 30 * DAY_MS;

/** A change to record. */
export interface NewChange {
  readonly kind: string;
  /** The token that undoes the change. Null if no notice is sent about it. */
  readonly token: string | null;
  /** The email that the change removes from the account. @default null */
  readonly email?: string | null;
  /** How long the change can be undone. @default seven days */
  readonly lifetimeMs?: number;
  /** The client that makes the change. @default null: the app makes it */
  readonly client?: ChangeClient | null;
}

/** The client that makes a change. */
export interface ChangeClient {
  /** The device in words. Null if nothing is known. */
  readonly device: string | null;
  readonly ip: string | null;
}

/** The changes that a token undoes: a change and every later one, or every change after a mark. */
export interface Undoable {
  readonly id: string;
  readonly userId: string;
  readonly kind: string;
  /** Changes at this time or later are undone. */
  readonly at: Date;
  readonly tokenHash: Buffer;
  /** Whether it is the first sign-in of a device. */
  readonly isDevice: boolean;
  /** The device of the change in words. Null if the app made the change, or if nothing is known. */
  readonly device: string | null;
}

/** The states of an account since a change. */
export interface StatesSince {
  /** The state before the change. */
  readonly state: AccountState;
  /** The states before later changes. */
  readonly later: readonly AccountState[];
}

type ChangeRow = RowOf<AccountChangeColumns>;

/** What {@link AccountHistory} need. */
interface AccountHistoryNeeds {
  readonly database: Database;
  readonly box: SecretBox;
  readonly contributions: readonly HasUndo[];
}

/**
 * Stores what is needed to undo changes of accounts. Each change keeps the state of the account before it, so restoring
 * that state undoes the change and every later one. A mark keeps no state: its state is the one before the next change.
 */
export class AccountHistory {
  readonly #table: Table<AccountChangeColumns>;
  readonly #devices: Table<DeviceColumns>;
  readonly #change: Selection<ChangeRow>;
  readonly #device: Selection<RowOf<DeviceColumns>>;

  constructor(private readonly core: AccountHistoryNeeds) {
    this.#table = new Table(core.database, accountChanges);
    this.#devices = new Table(core.database, devices);
    this.#change = this.#table.whole('c');
    this.#device = this.#devices.whole('d');
  }

  /** Records a change that is about to be made. The user's row is locked. */
  async record(change: NewChange, record: UserRecord, transaction: Transaction): Promise<void> {
    const { id } = record.user;
    const state = await stateOf(record, this.core.contributions, transaction);
    const earlierPassword = await this.#earlierPassword(state, id, transaction);
    const at = await this.#nextTime(id, transaction);
    await this.#insert(id, change, { at, state: { ...state, earlierPassword } }, transaction);
  }

  /**
   * Records an undo. It cannot be undone itself, but its entry keeps the restored state.
   *
   * @param earlierPassword the password of that state: see `AccountState.earlierPassword`
   */
  async recordUndo(
    { kind, client }: Required<Pick<NewChange, 'kind' | 'client'>>,
    record: UserRecord,
    earlierPassword: string | null,
    transaction: Transaction,
  ): Promise<void> {
    const { id } = record.user;
    const state = await stateOf(record, this.core.contributions, transaction);
    const at = await this.#nextTime(id, transaction);
    const before = { at, state: { ...state, earlierPassword } };
    await this.#insert(id, { kind, token: null, client }, before, transaction);
  }

  /** Records an event that changes nothing itself, so that all changes after it can be undone. */
  async recordEvent(userId: string, change: NewChange, transaction?: Transaction): Promise<void> {
    await this.core.database.ready();
    await this.#insert(userId, change, { at: this.core.database.clock.date(), state: null }, transaction);
  }

  /** Records a change that cannot be undone, for the user's list of changes. */
  async note(
    userId: string,
    kind: string,
    client: ChangeClient | null,
    transaction: Transaction,
  ): Promise<void> {
    const at = await this.#nextTime(userId, transaction);
    await this.#insert(userId, { kind, token: null, client }, { at, state: null }, transaction);
  }

  /** Lists the changes of an account in the last 30 days, newest first. */
  async list(userId: string): Promise<readonly ListedChange[]> {
    await this.core.database.ready();
    const { clock } = this.core.database;
    const rows = await this.#change.select(
      `WHERE c.user_id = :userId AND c.created_at > :since ORDER BY c.created_at DESC LIMIT ${MAX_LISTED}`,
      { userId, since: clock.date(-LISTED_MS) },
    );
    return rows.map(({ id, kind, createdAt: at, device, ipAddress: ip, tokenHash, expiresAt }) => ({
      id,
      kind,
      at,
      device,
      ip,
      undoable: tokenHash !== null && !clock.hasPassed(expiresAt),
    }));
  }

  /** Finds the changes that a token undoes. Returns null if the token is unknown, used or expired. */
  async find(token: string): Promise<Undoable | null> {
    const { clock } = this.core.database;
    const tokenHash = digestToken(token);
    const [change] = await this.#change.select('WHERE c.token_hash = :tokenHash', { tokenHash });
    if (change) {
      const { id, userId, kind, device, createdAt: at, expiresAt } = change;
      return clock.hasPassed(expiresAt) ? null : { id, userId, kind, device, at, tokenHash, isDevice: false };
    }
    const [known] = await this.#device.select('WHERE d.undo_token_hash = :tokenHash', { tokenHash });
    if (!known || clock.hasPassed(new Date(known.createdAt.getTime() + UNDO_MS))) return null;
    const { id, userId, name: device, createdAt: at } = known;
    return { id, userId, kind: 'new-device', device, at, tokenHash, isDevice: true };
  }

  /**
   * Returns the state to restore, and the later ones. The user's row is locked.
   *
   * @returns null if the state cannot be decrypted, because its secret is no longer configured
   */
  async statesSince(
    { userId, at }: Undoable,
    record: UserRecord,
    transaction: Transaction,
  ): Promise<StatesSince | null> {
    const changes = await this.#change.select(
      `WHERE c.user_id = :userId AND c.created_at >= :at AND c.state IS NOT NULL
       ORDER BY c.created_at ${this.core.database.currentRead}`,
      { userId, at },
      transaction,
    );
    const [first, ...rest] = changes;
    if (!first) {
      const now = await stateOf(record, this.core.contributions, transaction);
      const earlierPassword = await this.#earlierPassword(now, userId, transaction);
      return { state: { ...now, earlierPassword }, later: [] };
    }
    const state = this.#open(first);
    const later = rest.slice(-MAX_LATER).flatMap((change) => this.#open(change) ?? []);
    return state && { state, later };
  }

  /** Returns the earlier states of an account that its undo links restore. */
  async restorable(userId: string): Promise<readonly AccountState[]> {
    await this.core.database.ready();
    const { clock } = this.core.database;
    // A link restores the first state since its change: see `statesSince`.
    const changes = await this.#change.select(
      `WHERE c.user_id = :userId AND c.state IS NOT NULL AND c.created_at IN (
         SELECT (SELECT MIN(s.created_at) FROM ${this.#table.name} s
                 WHERE s.user_id = :userId AND s.state IS NOT NULL AND s.created_at >= l.created_at)
         FROM (SELECT created_at FROM ${this.#table.name}
               WHERE user_id = :userId AND token_hash IS NOT NULL AND expires_at > :now
               UNION ALL
               SELECT created_at FROM ${this.#devices.name}
               WHERE user_id = :userId AND undo_token_hash IS NOT NULL AND created_at > :since) l)`,
      { userId, now: clock.date(), since: clock.date(-UNDO_MS) },
    );
    return changes.flatMap((change) => this.#open(change) ?? []);
  }

  /** Whether a token has not been used since it was found. */
  async isLive({ tokenHash, isDevice }: Undoable, transaction: Transaction): Promise<boolean> {
    const rows = isDevice
      ? this.#device.select('WHERE d.undo_token_hash = :tokenHash', { tokenHash }, transaction)
      : this.#change.select('WHERE c.token_hash = :tokenHash', { tokenHash }, transaction);
    return (await rows).length > 0;
  }

  /** Consumes a token. @returns false if another call has already consumed it */
  async consume({ id, tokenHash, isDevice }: Undoable, transaction: Transaction): Promise<boolean> {
    const used = isDevice
      ? this.#devices.update({ undoTokenHash: null }, { id, undoTokenHash: tokenHash }, transaction)
      : this.#table.update(ENDED, { id, tokenHash }, transaction);
    return (await used) > 0;
  }

  /** Invalidates the links of the changes that are undone, and frees the emails that these changes held. */
  async endSince({ userId, at }: Undoable, transaction: Transaction): Promise<void> {
    await this.core.database.change(
      `UPDATE ${this.#table.name} SET token_hash = NULL, email = NULL, state = NULL, ended = TRUE
       WHERE user_id = :userId AND created_at >= :at AND ended IS NULL`,
      { userId, at },
      { transaction },
    );
  }

  /**
   * Invalidates all undo links of an account, including links in notices about new devices, and frees the emails that
   * the changes held.
   */
  async end(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.update(ENDED, { userId, ended: null }, transaction);
    await this.#devices.update({ undoTokenHash: null }, { userId }, transaction);
  }

  /**
   * Deletes the states and tokens of changes that can no longer be undone, and the changes that are no longer listed.
   */
  get expired(): Chore {
    return new OldChanges(this.core.database, this.#table.name);
  }

  /** Re-encrypts the states of accounts. */
  get sealed(): Chore {
    return new SealedRows(this.#table, this.core.box, ['state'], ({ id }) => contextOf(id));
  }

  /**
   * Returns the time of a change. It is later than every earlier change of the user, even in a process whose estimate
   * of the database's clock differs by milliseconds. Otherwise, an undo could miss a later change, whose own undo link
   * would still work.
   */
  async #nextTime(userId: string, transaction: Transaction): Promise<Date> {
    const latest = ({ name }: { readonly name: string }) =>
      `SELECT MAX(created_at) AS latest FROM ${name} WHERE user_id = :userId`;
    const rows = await this.core.database.select<{ latest: Date | string | null }>(
      `${latest(this.#table)} UNION ALL ${latest(this.#devices)}`,
      { userId },
      transaction,
    );
    const times = rows.flatMap(({ latest }) =>
      latest === null ? [] : this.core.database.statements.toDate(latest).getTime(),
    );
    return new Date(Math.max(this.core.database.clock.date().getTime(), ...times.map((time) => time + 1)));
  }

  async #earlierPassword(
    { passwordHash }: Pick<AccountState, 'passwordHash'>,
    userId: string,
    transaction: Transaction,
  ): Promise<string | null> {
    if (passwordHash !== null) return null;
    const [last] = await this.#change.select(
      `WHERE c.user_id = :userId AND c.state IS NOT NULL
       ORDER BY c.created_at DESC LIMIT 1 ${this.core.database.currentRead}`,
      { userId },
      transaction,
    );
    return (last && this.#open(last)?.earlierPassword) ?? null;
  }

  #open({ id, state }: ChangeRow): AccountState | null {
    const opened = state === null ? null : this.core.box.open(state, contextOf(id));
    return opened === null ? null : (JSON.parse(opened) as AccountState);
  }

  async #insert(
    userId: string,
    { kind, token, email = null, lifetimeMs = UNDO_MS, client = null }: NewChange,
    { at: createdAt, state }: { readonly at: Date; readonly state: AccountState | null },
    transaction?: Transaction,
  ): Promise<void> {
    const id = uuidv7(createdAt.getTime());
    await this.#table.insert(
      {
        id,
        userId,
        kind,
        tokenHash: token === null ? null : digestToken(token),
        email,
        state: state === null ? null : this.core.box.seal(JSON.stringify(state), contextOf(id)),
        createdAt,
        expiresAt: new Date(createdAt.getTime() + lifetimeMs),
        device: client?.device ?? null,
        ipAddress: storable(client?.ip ?? null, MAX_IP),
      },
      transaction,
    );
  }
}

const MAX_IP = 45;
const MAX_LISTED = 500;
/** Enough to see which codes have been used since a change. */
const MAX_LATER = 500;

/** A change that can no longer be undone. */
const ENDED = { tokenHash: null, email: null, state: null, ended: true } as const;

/** A change as its user sees it. */
export interface ListedChange {
  readonly id: string;
  /** The kind of the notice about it. */
  readonly kind: string;
  readonly at: Date;
  /** The device in words. Null if nothing is known. */
  readonly device: string | null;
  /** The IP address. Null if the app made the change, or if it is unknown. */
  readonly ip: string | null;
  /** Whether the link of its notice still works. */
  readonly undoable: boolean;
}

/** Clears the changes that can no longer be undone, and deletes the changes that are no longer listed. */
class OldChanges implements Chore {
  constructor(
    private readonly database: Database,
    readonly table: string,
  ) {}

  async *run(dryRun: boolean): AsyncGenerator<number> {
    yield* this.#end(dryRun);
    yield* new ExpiredRows(this.database, this.table, 'id', { expires_at: LISTED_MS }).run(dryRun);
  }

  async *#end(dryRun: boolean): AsyncGenerator<number> {
    const { database, table } = this;
    const ends = await endsOf(database, { expires_at: 0 });
    const where = `ended IS NULL AND ${isOld('expires_at')}`;
    if (dryRun) return yield countRows(database, `${table} WHERE ${where}`, ends);
    yield* inBatches(
      () =>
        database.select<{ id: string }>(
          `SELECT id FROM ${table} WHERE ${where} ORDER BY expires_at LIMIT ${BATCH}`,
          ends,
        ),
      (rows) =>
        database.change(
          `UPDATE ${table} SET token_hash = NULL, email = NULL, state = NULL, ended = TRUE
           WHERE id IN (:ids) AND ${where}`,
          { ...ends, ids: rows.map(({ id }) => id) },
        ),
    );
  }
}

function contextOf(id: string): string {
  return `account change ${id}`;
}

/** The state of an account's sign-in methods at some time, as JSON. */
export interface AccountState {
  readonly email: string | null;
  readonly emailVerifiedAt: string | null;
  readonly emailProof: EmailProofLevel;
  readonly username: string | null;
  readonly usernameDisplay: string | null;
  /** The password's hash at that time. It serves as a proof, and is never restored. */
  readonly passwordHash: string | null;
  /**
   * The hash of the last password, if an undo has left the account without one. It serves as a proof for later undos
   * until the user sets a new password.
   */
  readonly earlierPassword: string | null;
  /** The parts of plugins, by the names of their `undo`. */
  readonly parts: Readonly<Record<string, unknown>>;
}

/** Returns the hash of the password that serves as a proof for undoing a change, from the state before the change. */
export function provingPassword({ passwordHash, earlierPassword }: AccountState): string | null {
  return passwordHash ?? earlierPassword;
}

/** Returns the current state of an account. The user's row is locked. */
export async function stateOf(
  { user, emailProof, passwordHash }: UserRecord,
  contributions: readonly HasUndo[],
  transaction: Transaction,
): Promise<Omit<AccountState, 'earlierPassword'>> {
  const parts: Record<string, unknown> = {};
  for (const { undo } of contributions)
    if (undo) parts[undo.name] = await undo.snapshot(user.id, transaction);
  return {
    email: user.email,
    emailVerifiedAt: user.emailVerifiedAt?.toISOString() ?? null,
    emailProof: emailProof.level,
    username: user.username,
    usernameDisplay: user.usernameDisplay,
    passwordHash,
    parts,
  };
}

/** An account at the time of a change. */
export interface AccountThen {
  /** The user's current record. */
  readonly record: UserRecord;
  /** The time of the change. */
  readonly at: Date;
  /** The plugin's part of the state before the change: see `UndoRules.snapshot`. Undefined if it was not configured. */
  readonly part: unknown;
  /** The plugin's parts of later states. */
  readonly later: readonly unknown[];
}

/** A plugin's part of an account's sign-in methods, which an undo restores. */
export interface UndoRules {
  /** The name of the part in snapshots. It must never change. */
  readonly name: string;
  /**
   * The names with which `users.announceChange` is called when the part changes. A change by code is then final. Empty if
   * it is not what a user signs in with.
   */
  readonly announces: readonly string[];
  /** Whether a user with this part can sign in with it alone. @default never */
  isWayIn?(part: unknown): boolean;
  /** Returns the current part, as JSON. The user's row is locked. */
  snapshot(userId: string, transaction: Transaction): Promise<unknown>;
  /**
   * Restores the part, and cancels what its user has in progress, such as an enrolment. The user's row is locked.
   *
   * @param shown the value that `proof.verify` returned, if this part proved the undo. It must be consumed
   * @throws AuthError if `shown` has been used in the meantime
   */
  restore(then: AccountThen, transaction: Transaction, shown: unknown): Promise<void>;
  /** How the part proves who undoes a change, if it does. */
  readonly proof?: UndoProof;
}

/** The values that a client sends as proof. */
export type GivenUndoProof = Readonly<Record<string, unknown>>;

/** A plugin's part of the proof of an undo: the same proof that a sign-in required before the change. */
export interface UndoProof {
  /** Its name in the problem `proof_required`. */
  readonly name: 'second_factor' | 'passkey';
  /** Whether it replaces the password and the second factor, as it does at a sign-in. @default false */
  readonly isEnough?: boolean;
  /** The fields of POST /undo-change that it reads. @internal */
  readonly shape: z.ZodRawShape;
  /** The fields of which one is required. */
  readonly anyOf: readonly string[];
  /** The problems that `verify` throws. */
  readonly problems: readonly AuthErrorCode[];
  /** Whether the account had this proof at the time of the change. */
  isThere(then: Pick<AccountThen, 'record' | 'at' | 'part'>): boolean;
  /**
   * Checks the user's proof. A wrong code counts as it does at a sign-in.
   *
   * @param link identifies the link, for challenges
   * @returns the value that `restore` gets
   * @throws AuthError if the proof is wrong
   */
  verify(then: AccountThen, given: GivenUndoProof, link: string): Promise<unknown>;
}

/** A plugin whose tables hold sign-in methods, which an undo restores. */
export interface HasUndo {
  readonly undo?: UndoRules;
}
