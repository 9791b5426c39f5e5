import type { Transaction } from 'sequelize';
import type { SecretBox } from '../crypto/secret-box.js';
import { digestToken } from '../crypto/token.js';
import { uuidv7 } from '../crypto/uuid.js';
import { type Chore, ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import type { AuthErrorCode } from '../errors.js';
import type { RowOf } from '../tables/column.js';
import type { AccountChangeColumns, DeviceColumns, EmailProofLevel, User } from '../tables/core.js';
import { SealedRows } from '../tables/sealed-rows.js';
import type { Selection, Table } from '../tables/table.js';
import type { UserRecord } from '../users/record.js';

/** How long a change can be undone. */
export const UNDO_MS = 7 * 24 * 60 * 60 * 1000;

/** A change to record. */
export interface NewChange {
  readonly kind: string;
  /** The token that undoes the change. Null if no notice is sent about it. */
  readonly token: string | null;
  /** The email that the change removes from the account. @default null */
  readonly email?: string | null;
  /** How long the change can be undone. @default seven days */
  readonly lifetimeMs?: number;
}

/** What a token undoes: a change and every later one, or every change after a mark. */
export interface Undoable {
  readonly id: string;
  readonly userId: string;
  readonly kind: string;
  /** Changes at this time or later are undone. */
  readonly at: Date;
  readonly tokenHash: Buffer;
  /** Whether it is the first sign-in of a device. */
  readonly isDevice: boolean;
}

type ChangeRow = RowOf<AccountChangeColumns>;

/**
 * Stores what is needed to undo changes of accounts. Each change keeps the state of the account before it, so restoring
 * that state undoes the change and every later one. A mark keeps no state: its state is the one before the next change.
 */
export class AccountChanges {
  readonly #change: Selection<ChangeRow>;
  readonly #device: Selection<RowOf<DeviceColumns>>;

  constructor(
    private readonly database: Database,
    private readonly table: Table<AccountChangeColumns>,
    private readonly devices: Table<DeviceColumns>,
    private readonly box: SecretBox,
    private readonly contributions: () => readonly HasUndo[],
  ) {
    this.#change = table.whole('c');
    this.#device = devices.whole('d');
  }

  /** Records a change that is about to be made. The user's row is locked. */
  async record(change: NewChange, record: UserRecord, transaction: Transaction): Promise<void> {
    const state = await stateOf(record, this.contributions(), transaction);
    const at = await this.#nextTime(record.user.id, transaction);
    await this.#insert(record.user.id, change, at, JSON.stringify(state), transaction);
  }

  /** Records an event that changes nothing itself, so that all changes after it can be undone. */
  async mark(userId: string, kind: string, token: string, transaction?: Transaction): Promise<void> {
    await this.database.ready();
    await this.#insert(userId, { kind, token }, this.database.clock.date(), null, transaction);
  }

  /** Finds what a token undoes. Null if the token is unknown, used or expired. */
  async find(token: string): Promise<Undoable | null> {
    const { clock } = this.database;
    const tokenHash = digestToken(token);
    const [change] = await this.#change.select('WHERE c.token_hash = :tokenHash', { tokenHash });
    if (change) {
      const { id, userId, kind, createdAt: at, expiresAt } = change;
      return clock.hasPassed(expiresAt) ? null : { id, userId, kind, at, tokenHash, isDevice: false };
    }
    const [device] = await this.#device.select('WHERE d.undo_token_hash = :tokenHash', { tokenHash });
    if (!device || clock.hasPassed(new Date(device.createdAt.getTime() + UNDO_MS))) return null;
    const { id, userId, createdAt: at } = device;
    return { id, userId, kind: 'new-device', at, tokenHash, isDevice: true };
  }

  /**
   * Returns the state to restore. The user's row is locked.
   *
   * @returns null if the state cannot be decrypted, because its secret is no longer configured
   */
  async stateAt(
    { userId, at }: Undoable,
    record: UserRecord,
    transaction: Transaction,
  ): Promise<AccountState | null> {
    const [change] = await this.#change.select(
      `WHERE c.user_id = :userId AND c.created_at >= :at AND c.state IS NOT NULL
       ORDER BY c.created_at LIMIT 1 ${this.database.currentRead}`,
      { userId, at },
      transaction,
    );
    if (!change?.state) return stateOf(record, this.contributions(), transaction);
    const state = this.box.open(change.state, contextOf(change.id));
    return state === null ? null : (JSON.parse(state) as AccountState);
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
      ? this.devices.update({ undoTokenHash: null }, { id, undoTokenHash: tokenHash }, transaction)
      : this.table.delete({ id }, transaction);
    return (await used) > 0;
  }

  /** Deletes the changes that are undone, with their tokens and the emails that they held. */
  async dropSince({ userId, at }: Undoable, transaction: Transaction): Promise<void> {
    await this.database.change(
      `DELETE FROM ${this.table.name} WHERE user_id = :userId AND created_at >= :at`,
      { userId, at },
      { transaction },
    );
  }

  /** Ends all undo links of an account, including those in notices about new devices, and frees the emails they held. */
  async end(userId: string, transaction: Transaction): Promise<void> {
    await this.table.delete({ userId }, transaction);
    await this.devices.update({ undoTokenHash: null }, { userId }, transaction);
  }

  /** Changes that can no longer be undone. */
  get expired(): Chore {
    return new ExpiredRows(this.database, this.table.name, 'id', { expires_at: 0 });
  }

  /** The states of accounts. */
  get sealed(): Chore {
    return new SealedRows(this.table, this.box, 'id', ['state'], ({ id }) => contextOf(id));
  }

  /**
   * Returns the time of a change. It is later than every earlier change of the user, even in a process whose estimate
   * of the database's clock differs by milliseconds. Otherwise, an undo could miss a later change, whose own undo link
   * would still work.
   */
  async #nextTime(userId: string, transaction: Transaction): Promise<Date> {
    const latest = ({ name }: { readonly name: string }) =>
      `SELECT MAX(created_at) AS latest FROM ${name} WHERE user_id = :userId`;
    const rows = await this.database.select<{ latest: Date | string | null }>(
      `${latest(this.table)} UNION ALL ${latest(this.devices)}`,
      { userId },
      transaction,
    );
    const times = rows.flatMap(({ latest }) =>
      latest === null ? [] : this.database.statements.toDate(latest).getTime(),
    );
    return new Date(Math.max(this.database.clock.date().getTime(), ...times.map((time) => time + 1)));
  }

  async #insert(
    userId: string,
    { kind, token, email = null, lifetimeMs = UNDO_MS }: NewChange,
    createdAt: Date,
    state: string | null,
    transaction?: Transaction,
  ): Promise<void> {
    const id = uuidv7(createdAt.getTime());
    await this.table.insert(
      {
        id,
        userId,
        kind,
        tokenHash: token === null ? null : digestToken(token),
        email,
        state: state === null ? null : this.box.seal(state, contextOf(id)),
        createdAt,
        expiresAt: new Date(createdAt.getTime() + lifetimeMs),
      },
      transaction,
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
  /** Missing in states that an earlier version has stored. */
  readonly emailProof?: EmailProofLevel | null;
  readonly username: string | null;
  /** The password's hash at that time. It serves as a proof, and is never restored. */
  readonly passwordHash: string | null;
  /** The parts of plugins, by the names of their `undo`. */
  readonly parts: Readonly<Record<string, unknown>>;
}

/** Returns the current state of an account. The user's row is locked. */
export async function stateOf(
  { user, emailProof, passwordHash }: UserRecord,
  contributions: readonly HasUndo[],
  transaction: Transaction,
): Promise<AccountState> {
  const parts: Record<string, unknown> = {};
  for (const { undo } of contributions)
    if (undo) parts[undo.name] = await undo.snapshot(user.id, transaction);
  return {
    email: user.email,
    emailVerifiedAt: user.emailVerifiedAt?.toISOString() ?? null,
    emailProof: emailProof.level,
    username: user.username,
    passwordHash,
    parts,
  };
}

/** Whether restoring a state would remove a second factor that the account has now. */
export function losesSecondFactor(
  record: UserRecord,
  { parts }: AccountState,
  contributions: readonly HasUndo[],
): boolean {
  return contributions.some(({ undo }) => undo?.losesSecondFactor?.(record, parts[undo.name]) ?? false);
}

/** A plugin's part of an account's sign-in methods, which an undo restores. */
export interface UndoPart {
  /** The name of the part in snapshots. It must never change. */
  readonly name: string;
  /** Returns the current part, as JSON. The user's row is locked. */
  snapshot(userId: string, transaction: Transaction): Promise<unknown>;
  /**
   * Restores the part, and ends everything in progress, such as open challenges. The user's row is locked.
   *
   * @param part what `snapshot` returned at that time; undefined if the plugin was not configured
   * @param shown the codes that the user provided as a proof: see `proves`. A code for one use counts as used
   */
  restore(
    record: UserRecord,
    part: unknown,
    transaction: Transaction,
    shown: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** Whether restoring this part removes a second factor that the account has now. */
  losesSecondFactor?(record: UserRecord, part: unknown): boolean;
  /**
   * Checks whether a code is correct for the account as it was. A wrong one counts as it does at a sign-in.
   *
   * @param proof the values that the user provided, by field of POST /undo-change
   * @returns false if there is no proof for this plugin
   * @throws AuthError for a wrong code, and if too many were wrong
   */
  proves?(user: User, part: unknown, proof: Readonly<Record<string, string>>): Promise<boolean>;
  /** The problems that `proves` throws. */
  readonly problems?: readonly AuthErrorCode[];
  /** The fields of POST /undo-change that `proves` supports. */
  readonly proofs?: readonly string[];
}

/** A plugin whose tables hold sign-in methods, which an undo restores. */
export interface HasUndo {
  readonly undo?: UndoPart;
}
