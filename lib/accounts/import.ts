import * as z from 'zod';
import { flag, readOptions, schemaOf } from '../config/options.js';
import { howToEnablePasswords } from '../core/contribution.js';
import type { Core } from '../core/core.js';
import { uuidOf } from '../crypto/uuid.js';
import { AuthError, invalidField } from '../errors.js';
import type { TransactionOption } from '../sessions/request.js';
import { readEmail } from '../users/canonical.js';
import type { NewAccount } from '../users/create.js';
import { EmailProof } from '../users/email-proof.js';
import type { FieldValues } from '../users/fields.js';
import {
  type ImportRow,
  importedId,
  isCreationTime,
  type LegacyVerifiers,
  type Refusal,
  type RowPart,
  switchesOfRowKeys,
} from '../users/imported.js';
import type { Username } from '../users/usernames.js';
import { readUsername, requirePasswords } from './passwords.js';

/** Options of `auth.importUsers`. */
export interface ImportUsersOptions extends TransactionOption {
  /** Called after each batch; the import awaits its result. @default none */
  onProgress?: ((progress: ImportProgress) => unknown) | undefined;
  /** Whether to do everything, but roll each batch back. Hooks run too. @default false */
  dryRun?: boolean | undefined;
  /**
   * How to verify hashes in formats that latchkey does not know. If there is one scheme here, it applies to every hash
   * in an unknown format. If there are several, each hash names its scheme: `$legacy$<name>$<hash>`. The server needs
   * the same functions, in `credentialPassword({ verifyLegacy })`, to sign these users in.
   * @default those of the config
   */
  verifyLegacy?: LegacyVerifiers | undefined;
}

/** The progress of an import. */
export interface ImportProgress {
  /** The number of rows that have been read. */
  readonly rows: number;
  /** The number of rows that now have an account, including accounts from an earlier run. */
  readonly imported: number;
  /** The number of rows that were skipped. */
  readonly skipped: number;
}

/** The result of an import. */
export interface ImportReport {
  /** The accounts of the rows, in their order: accounts that this run created, and accounts from an earlier run. */
  readonly users: readonly ImportedAccount[];
  /** The rows that have no account, in their order, and why. */
  readonly skipped: readonly SkippedRow[];
}

/** The account of a row. */
export interface ImportedAccount {
  /** The row's `ref`; its index if it has none. */
  readonly ref: string | number | bigint;
  /** The account's id. */
  readonly id: string;
}

/** A row that was not imported. */
export interface SkippedRow {
  /** The row's `ref`; its index if it has none. */
  readonly ref: string | number | bigint;
  /** A machine-readable code, such as `email_taken`. */
  readonly code: string;
  /** A human-readable description of the error. */
  readonly detail: string;
}

const BATCH = 500;

const OBJECT = 'must be an object of functions, by name';
/** @internal */
export const schema = () =>
  schemaOf<ImportUsersOptions>()({
    onProgress: z
      .custom<NonNullable<ImportUsersOptions['onProgress']>>(
        (it) => typeof it === 'function',
        'must be a function',
      )
      .optional(),
    dryRun: flag.default(false),
    verifyLegacy: z.custom<LegacyVerifiers>((it) => typeof it === 'object' && it !== null, OBJECT).optional(),
    transaction: z.custom<TransactionOption['transaction']>().optional(),
  });

type Rows = Iterable<unknown> | AsyncIterable<unknown>;

/** A row's `ref`, and the account that the row describes or the reason why it is skipped. */
interface Read {
  readonly ref: SkippedRow['ref'];
  readonly read: NewAccount | Refusal;
}

/** Moves users in from another system. */
export interface ImportApi {
  /**
   * Imports the users of another system with their password hashes, links to providers and second factors, in batches.
   * A row that cannot be imported is skipped. You can rerun an interrupted import: it finds the users that were
   * imported, and leaves them as they are. An import sends no emails and emits no events.
   *
   * @example
   * const { users, skipped } = await auth.importUsers([
   *   { ref: 7, email: 'ada@example.com', emailVerified: true, passwordHash: '$2y$10$…' },
   * ]);
   *
   * @param rows a list, or an iterable or async iterable, of which one batch is held in memory
   * @throws AuthError `unavailable`; errors that `rows`, hooks and `onProgress` throw. The batches before the error
   *   stay
   * @throws TypeError on invalid options
   */
  importUsers(
    rows: Iterable<ImportRow> | AsyncIterable<ImportRow>,
    options?: ImportUsersOptions,
  ): Promise<ImportReport>;
}

/** The programmatic API. */
export function importApi(core: Core): ImportApi {
  return {
    async importUsers(rows, options = {}) {
      if (typeof rows === 'string' || !(Symbol.iterator in rows || Symbol.asyncIterator in rows))
        throw new TypeError(
          'latchkey: auth.importUsers: rows must be a list, or an iterable or async iterable',
        );
      const { verifyLegacy } = readOptions('auth.importUsers', schema, options);
      if (verifyLegacy) requirePasswords(core, 'verifyLegacy').useLegacy(verifyLegacy);
      return core.inTransaction(options.transaction, () => importAll(core, rows, options));
    },
  };
}

async function importAll(
  core: Core,
  rows: Rows,
  { onProgress, dryRun = false, verifyLegacy }: ImportUsersOptions,
): Promise<ImportReport> {
  await core.database.ready();
  const reader = new ImportRows(core, verifyLegacy);
  const options = { via: 'import', isTrial: dryRun, seen: new Set<string>() } as const;
  const users: ImportedAccount[] = [];
  const skipped: SkippedRow[] = [];
  let count = 0;
  for await (const batch of inBatches(core, rows)) {
    const all: Read[] = [];
    for (const row of batch) {
      all.push({ ref: refOf(row) ?? count, read: await reader.read(row) });
      count++;
    }
    const accounts = all.flatMap(({ read }) => ('user' in read ? read : []));
    const outcomes = await core.signUp.createMany(accounts, options);
    for (const { ref, read } of all) {
      const outcome = 'user' in read ? outcomes.get(read) : read;
      if (outcome && 'id' in outcome) users.push({ ref, id: outcome.id });
      else if (outcome) skipped.push({ ref, code: outcome.code, detail: outcome.detail });
    }
    const progress = { rows: count, imported: users.length, skipped: skipped.length };
    await core.context.forApp(() => onProgress?.(progress));
  }
  return { users, skipped };
}

/** Reads the app's rows outside the import's transaction: statements of the app use it only if they name it. */
async function* inBatches(core: Core, rows: Rows): AsyncGenerator<unknown[]> {
  const iterator = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
  let isDone = false;
  try {
    while (!isDone) {
      const batch: unknown[] = [];
      while (!isDone && batch.length < BATCH) {
        const next = await core.context.forApp(() => iterator.next());
        isDone = next.done === true;
        if (!isDone) batch.push(next.value);
      }
      if (batch.length > 0) yield batch;
    }
  } finally {
    if (!isDone) await iterator.return?.();
  }
}

const KEYS: ReadonlySet<string> = new Set<keyof ImportRow>([
  ...(['ref', 'id', 'email', 'emailVerified', 'username', 'usernameDisplay'] as const),
  ...(['passwordHash', 'createdAt', 'fields'] as const),
]);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;

type Ref = string | number | bigint;

/** Reads the rows of an import, according to the rules of the core and the plugins. */
class ImportRows {
  readonly #parts: readonly RowPart[];

  /** @param offered the password schemes of the import, if it names some */
  constructor(
    private readonly core: Core,
    private readonly offered: LegacyVerifiers | undefined,
  ) {
    this.#parts = core.contributions.flatMap(({ rowParts = [] }) => rowParts);
  }

  /** Returns the account of a row, or the reason why the row cannot have one. */
  async read(given: unknown): Promise<NewAccount | Refusal> {
    try {
      return await this.#read(requireRow(given));
    } catch (error) {
      const [first] = (error instanceof AuthError && error.errors) || [];
      if (!first) throw error;
      return { code: first.code, detail: `${nameOf(first.pointer)} ${first.detail}`.trim() };
    }
  }

  async #read(row: ImportRow): Promise<NewAccount> {
    this.#checkKeys(row);
    const email = isGiven(row.email) ? readEmail(row.email as string, '/email') : null;
    const { username, usernameDisplay } = this.#readName(row);
    const values = await this.#valuesOf(row);
    const isIdentified =
      email !== null || username !== null || [...values.keys()].some(({ isWayIn }) => isWayIn);
    if (!isIdentified)
      throw invalidField(
        '/email',
        'missing_identifier',
        'is missing, and so is anything else to sign in with',
      );
    const emailProof = EmailProof.imported(row.emailVerified);
    const id = readId(row.id);
    const ref = refOf(row);
    const createdAt = this.#readTime(row.createdAt);
    const isLinked = ref !== null && this.core.users.rows !== null;
    const identity = [...values].flatMap(([part, value]) => part.identitiesOf?.(value) ?? []);
    const names = email === null && username === null ? identity : [email, username];
    return {
      user: {
        email,
        username,
        usernameDisplay,
        passwordHash: await this.#readHash(row.passwordHash),
        emailProof: email === null ? EmailProof.none : emailProof,
        // The same row gets the same id, so that an interrupted import can be rerun.
        id: id ?? importedId({ ref: ref === null ? null : String(ref), names, createdAt: createdAt ?? null }),
        createdAt,
        importedAt: this.core.database.clock.date(),
        columns: Object.assign({}, ...[...values].map(([part, value]) => part.columnsOf?.(value))),
      },
      // The app's row exists already, so its columns stay as they are.
      fields: isLinked ? {} : this.#readFields(row.fields),
      hasGivenId: id !== null,
      rowKey: isLinked ? (ref ?? undefined) : undefined,
      values,
    };
  }

  #readName({ username: given, usernameDisplay }: ImportRow): Username | Record<keyof Username, null> {
    if (!isGiven(given)) return { username: null, usernameDisplay: null };
    const name = readUsername(this.core, given as string);
    const letters = this.core.usernames?.lettersOf(name.username, usernameDisplay, name.usernameDisplay);
    return { ...name, ...(letters && { usernameDisplay: letters }) };
  }

  #checkKeys(row: ImportRow): void {
    const ofParts: readonly string[] = this.#parts.flatMap(({ keys }) => keys);
    for (const [key, value] of Object.entries(row)) {
      if (KEYS.has(key) || ofParts.includes(key) || value === undefined) continue;
      const how = switchesOfRowKeys.get(key);
      if (how === undefined)
        throw invalidField('', 'unknown_key', `${key} is no key of a row: check its spelling`);
      if (isGiven(value)) throw notEnabled(key, how);
    }
  }

  async #valuesOf(row: ImportRow): Promise<Map<RowPart, unknown>> {
    const values = new Map<RowPart, unknown>();
    for (const part of this.#parts) {
      const value = part.keys.some((key) => isGiven(row[key])) ? await part.read(row) : null;
      if (value !== null) values.set(part, value);
    }
    return values;
  }

  async #readHash(given: unknown): Promise<string | null> {
    if (!isGiven(given)) return null;
    const { passwords } = this.core;
    if (!passwords) throw notEnabled('passwordHash', howToEnablePasswords());
    return passwords.checkHash(given, this.offered);
  }

  #readFields(given: ImportRow['fields']): FieldValues {
    try {
      return this.core.users.fields.read(given ?? {}, 'code', 'create');
    } catch (error) {
      throw error instanceof AuthError ? invalidField('', 'invalid_fields', error.message) : error;
    }
  }

  #readTime(given: unknown): Date | undefined {
    if (!isGiven(given)) return undefined;
    const time = typeof given === 'string' && TIME.test(given) ? new Date(given) : given;
    if (time instanceof Date && isCreationTime(time, this.core.database.clock.now())) return time;
    const detail = 'must be a time of the past since 1970: a Date, or ISO 8601 such as 2026-01-31T12:00:00Z';
    throw invalidField('/createdAt', 'invalid_created_at', detail);
  }
}

/** Returns the key that identifies a row in the other system. Null if the row has none. */
function refOf(row: unknown): Ref | null {
  const { ref } = (typeof row === 'object' && row !== null ? row : {}) as ImportRow;
  const isRef = typeof ref === 'string' ? ref !== '' : typeof ref === 'bigint' || Number.isFinite(ref);
  return isRef ? (ref as Ref) : null;
}

/** Whether a key has a value. An empty value counts as absent. */
function isGiven(value: unknown): boolean {
  return (
    value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  );
}

function requireRow(given: unknown): ImportRow {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalidField('', 'invalid_row', 'a row must be an object');
  const row = given as ImportRow;
  if (isGiven(row.ref) && refOf(row) === null)
    throw invalidField('/ref', 'invalid_ref', 'must be text or a number');
  return row;
}

function readId(given: unknown): string | null {
  if (!isGiven(given)) return null;
  const id = uuidOf(given);
  if (id !== null) return id;
  throw invalidField('/id', 'invalid_id', 'must be a UUID: give the other system’s id as ref');
}

function notEnabled(key: string, how: string): AuthError {
  return invalidField(`/${key}`, 'not_enabled', `is not accepted: ${how}, or leave it out`);
}

/**
 * Returns the key of a pointer: `passwordHash` for `/password_hash`, `accounts[0].provider` for `/accounts/0/provider`.
 */
function nameOf(pointer: string): string {
  return pointer
    .slice(1)
    .replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');
}
