import { type Column, type Columns, column, type Digest } from './column.js';
import type { Declaring, ExportedRows, TableDeclaration } from './table.js';

/**
 * What a row depends on until it is used, in addition to the time:
 *
 * - `epoch`: on the sessions of its user. The row is dead once all of them have been revoked, such as by a new password, by
 *   a suspension or by the deletion of the account. Right for everything that signs a user in or acts for them.
 * - `mailbox`: on the email of its user, to which the secret was sent. Revoking sessions does not end the row, because a
 *   user who has lost the password needs it. A row with an epoch depends on that instead: it was sent to an address that
 *   the account does not have yet.
 * - `browser`: on a secret that only one browser has, such as its cookie or its session. A call that consumes the row must
 *   present that secret. The row must not name the account that it signs in to, because revoking sessions does not end it.
 */
export type HangsOn = 'epoch' | 'mailbox' | 'browser';

const epoch = column.integer().internal().notExported('It is a counter of latchkey.');

/** The columns of what rows depend on. */
const DEPENDING = {
  epoch: {
    userId: column.uuid().exported(),
    /** The user's epoch when the row was created, or when the user authenticated. Revoking all sessions raises it. */
    authEpoch: epoch,
  },
  mailbox: {
    /** The id of the user. Null for a row that no one can use: see `OneTimeTokens.issue`. */
    userId: column.uuid().nullable().exported(),
    /** The address that the secret was sent to. */
    email: column.text(254).exact().exported(),
    /** The user's epoch when the row was created, if the row depends on it instead of the email. */
    authEpoch: epoch.nullable(),
  },
  browser: {
    /** The hash of what only the browser has. */
    browserHash: column.digest().internal(),
  },
} as const;

const TRIED = {
  /** The number of codes that were tried. */
  tries: column.integer().internal().default(0).exported(),
} as const;

const ENDS = {
  expiresAt: column.time().exported(),
} as const;

/** All columns of a table, by its own columns, by what its rows depend on, and by whether codes are tried. */
type ColumnsOf<C extends Columns, H extends HangsOn, T> = C &
  (typeof DEPENDING)[H] &
  (T extends number ? typeof TRIED : unknown) &
  typeof ENDS;

/** A table whose rows wait until they are used once, or expire. */
export interface WaitingTable<C extends Columns = Columns> extends TableDeclaration<C> {
  readonly waiting: WaitingRules;
}

/** How long the rows of a table wait, and for how many codes. */
export interface WaitingRules {
  readonly hangsOn: HangsOn;
  /** How long a row can be used. Null if it differs from row to row. */
  readonly lifetimeMs: number | null;
  /** The number of codes that can be tried for a row. Null if the row has no code. */
  readonly tries: number | null;
  /** How long a row stays after it has expired. */
  readonly pruneAfterMs: number;
}

interface WaitingOptions<C extends Columns, H extends HangsOn, T extends number | undefined>
  extends Pick<
    TableDeclaration<ColumnsOf<C, H, T>>,
    'name' | 'unique' | 'indexes' | 'foreignKeys' | 'isForSignIns'
  > {
  /** Required, so that no secret survives a revocation by accident. */
  readonly hangsOn: H;
  /** The other columns. The first one is the primary key: the hash of the secret that finds the row. */
  readonly columns: C;
  /** @default differs from row to row */
  readonly lifetimeMs?: number;
  /** @default none: the row has no code */
  readonly tries?: T;
  /** @default 0 */
  readonly pruneAfterMs?: number;
  readonly exported: string | (ExportedRows & Declaring<ColumnsOf<C, H, T>>);
}

/**
 * Declares a table of secrets that wait until they are used once, such as emailed links: see `WaitingOfUsers` and
 * `WaitingInBrowsers`. Only hashes of the secrets are stored. `auth.prune()` deletes expired rows, and the rows of a user
 * are deleted with the account.
 */
export function defineWaiting<
  C extends Columns,
  H extends HangsOn,
  T extends number | undefined = undefined,
>({
  hangsOn,
  lifetimeMs,
  tries,
  pruneAfterMs = 0,
  ...table
}: WaitingOptions<C, H, T>): WaitingTable<ColumnsOf<C, H, T>> {
  const columns = { ...table.columns, ...DEPENDING[hangsOn], ...(tries !== undefined && TRIED), ...ENDS };
  const ofUser = 'userId' in columns && { userId: ['userId'] };
  const declared = {
    ...table,
    columns,
    indexes: { ...ofUser, expiresAt: ['expiresAt'], ...table.indexes },
    waiting: { hangsOn, lifetimeMs: lifetimeMs ?? null, tries: tries ?? null, pruneAfterMs },
  };
  return declared as unknown as WaitingTable<ColumnsOf<C, H, T>>;
}

/** Whether a table was declared with {@link defineWaiting}. */
export function isWaiting(table: TableDeclaration): table is WaitingTable {
  return 'waiting' in table;
}

/** The columns of a table whose rows belong to users. */
export interface OfUsers extends Columns {
  readonly userId: Column<string | null>;
  readonly authEpoch: Column<number | null>;
}

/** The columns of a table whose rows belong to browsers. */
export interface InBrowsers extends Columns {
  readonly browserHash: Column<Digest>;
}
