import * as z from 'zod';
import { deleteIn } from '../accounts/deletion.js';
import { readUsername, requirePasswords } from '../accounts/passwords.js';
import { flag, readOptions, schemaOf } from '../config/options.js';
import { howToEnablePasswords } from '../core/contribution.js';
import { BY_CODE, type Core } from '../core/core.js';
import { uuidOf } from '../crypto/uuid.js';
import { FEW_ROWS, inTurns, slicesOf } from '../database/batches.js';
import { AuthError, invalidField } from '../errors.js';
import type { TransactionOption } from '../sessions/request.js';
import { readEmail } from '../users/canonical.js';
import { EmailProof } from '../users/email-proof.js';
import type { FieldValues } from '../users/fields.js';
import {
  type ImportRow,
  isCreationTime,
  type LegacyVerifiers,
  type Refusal,
  type RowReader,
  switchesOfRowKeys,
} from '../users/imported.js';
import { ENSURED, type Ref, type RowOrigin } from '../users/imported-users.js';
import type { Username } from '../users/usernames.js';
import {
  ACCOUNT_DELETED,
  type AccountOfRow,
  AccountsOfRows,
  type FoundAccount,
  type Outcomes,
  takenBy,
} from './accounts-of-rows.js';
import { RowUpdates, rowValuesOf } from './import-updates.js';
import { ImportedRows, importedId, refOfLine, SOURCE } from './imported-rows.js';

/** Options of `auth.movingIn.importUsers`. */
export interface ImportUsersOptions extends TransactionOption {
  /**
   * The name of the system that the rows come from: up to 64 letters, digits, `.`, `_`, `:` and `-`. Together with
   * `ref`, it identifies a row, so two systems must not have the same name.
   * @default the name of the importer, such as `better-auth`; otherwise `rows`
   */
  source?: string | undefined;
  /**
   * Whether to update accounts from an earlier import to match their rows, unless the accounts were changed here.
   * @default false: existing accounts stay as they are
   */
  update?: boolean | undefined;
  /** Called after each batch; the import awaits its result. @default none */
  onProgress?: ((progress: ImportProgress) => unknown) | undefined;
  /** Whether to run the whole import, but roll back each batch. Hooks run too. @default false */
  dryRun?: boolean | undefined;
  /**
   * How to verify hashes in formats that latchkey does not know. If there is one scheme here, it applies to every hash
   * in an unknown format. If there are several, each hash names its scheme: `$legacy$<name>$<hash>`. The server needs
   * the same functions, in `credentialPassword({ verifyLegacy })`, to sign these users in.
   * @default the functions in the config
   */
  verifyLegacy?: LegacyVerifiers | undefined;
}

/** The progress of an import. */
export interface ImportProgress {
  /** The number of rows that have been read. */
  readonly rows: number;
  /** The number of rows that now have an account or organization, including those from an earlier run. */
  readonly imported: number;
  /** The number of rows that were skipped. */
  readonly skipped: number;
}

/** The result of an import. */
export interface ImportReport {
  /** The accounts of the rows, in their order: accounts that this run created, and accounts from an earlier run. */
  readonly users: readonly ImportedAccount[];
  /**
   * The rows that have no account, in their order, with the reason; and parts of rows that were skipped, such as an
   * account at a provider that is not configured.
   */
  readonly skipped: readonly SkippedRow[];
}

/** The result of an import with `update: true`. */
export interface ImportUpdateReport extends ImportReport {
  /** The number of accounts that this run created. */
  readonly imported: number;
  /** The number of accounts that were updated to match their rows. */
  readonly updated: number;
  /** The number of accounts that already matched their rows. */
  readonly unchanged: number;
  /** The differences between rows and accounts that were changed or deleted here. These accounts stay as they are. */
  readonly conflicts: readonly ImportConflict[];
  /** The accounts of earlier imports of this source whose rows are missing from this run. They stay as they are. */
  readonly vanished: readonly ImportedAccount[];
}

/** A part of a row that was not applied to its account. */
export interface ImportConflict {
  /** The row's `ref`; its index if it has none. */
  readonly ref: Ref;
  /** The key of the row, such as `passwordHash`; `id` for an account that was deleted here. */
  readonly field: string;
  /** A human-readable description. */
  readonly detail: string;
}

/** The account of a row. */
export interface ImportedAccount {
  /** The row's `ref`; its index if it has none. */
  readonly ref: string | number | bigint;
  /** The account's id. */
  readonly id: string;
}

/** A row that was not imported, or a part of a row. */
export interface SkippedRow {
  /** The row's `ref`; its index if it has none. */
  readonly ref: string | number | bigint;
  /** A machine-readable code, such as `email_taken`. */
  readonly code: string;
  /** A human-readable description of the error. */
  readonly detail: string;
  /** The key of the row that was skipped, if the rest of the row was imported. */
  readonly part?: string;
}

// So many rows take less than 100 milliseconds of the process, which then handles other requests. On SQLite, that includes
// the statements.
const BATCH = 200;
const BATCH_ON_SQLITE = 50;

const NO_SOURCE = 'must be the name of the previous system: up to 64 letters, digits, dots, _, : and -';
const OBJECT = 'must be an object of functions, by name';
/**
 * Returns the schemas of the options that every import has.
 *
 * @internal
 */
export const optionsOfImports = () => ({
  onProgress: z
    .custom<NonNullable<ImportUsersOptions['onProgress']>>(
      (it) => typeof it === 'function',
      'must be a function',
    )
    .optional(),
  dryRun: flag.default(false),
  source: z
    .string(NO_SOURCE)
    .regex(SOURCE, NO_SOURCE)
    .refine((it) => it !== ENSURED, `must not be ${ENSURED}, which is the name of auth.users.ensure`)
    .optional(),
  transaction: z.custom<TransactionOption['transaction']>().optional(),
});

/** @internal */
export const schema = () =>
  schemaOf<ImportUsersOptions>()({
    ...optionsOfImports(),
    update: flag.default(false),
    verifyLegacy: z.custom<LegacyVerifiers>((it) => typeof it === 'object' && it !== null, OBJECT).optional(),
  });

/** The rows of an import, which are validated one by one. */
export type Rows = Iterable<unknown> | AsyncIterable<unknown>;

/** Imports users: see `auth.movingIn.importUsers`. */
export async function importUsers(
  core: Core,
  rows: Rows,
  options: ImportUsersOptions = {},
): Promise<ImportReport | ImportUpdateReport> {
  requireRows(rows, 'importUsers');
  const { verifyLegacy, source = sourceOf(rows) } = readOptions('auth.movingIn.importUsers', schema, options);
  if (verifyLegacy) requirePasswords(core, 'verifyLegacy').useLegacy(verifyLegacy);
  return core.inTransaction(options.transaction, () => new Import(core, source, options).run(rows));
}

/** @throws TypeError if something is not rows @param call the name of the call, for the message */
export function requireRows(rows: Rows, call: string): void {
  if (typeof rows === 'string' || !(Symbol.iterator in rows || Symbol.asyncIterator in rows))
    throw new TypeError(
      `latchkey: auth.movingIn.${call}: rows must be a list, or an iterable or async iterable`,
    );
}

/** Returns the name that an importer gives its rows. */
export function sourceOf(rows: Rows): string {
  const { source } = rows as { readonly source?: unknown };
  return typeof source === 'string' && SOURCE.test(source) && source !== ENSURED ? source : 'rows';
}

/** The outcome of a row. */
interface Outcome {
  readonly ref: Ref;
  readonly account: ImportedAccount | null;
  readonly skipped: readonly SkippedRow[];
  readonly conflicts: readonly ImportConflict[];
}

/** An account that this run has created from a row whose email is not verified. */
interface Unverified {
  /** The position of the row. */
  readonly at: number;
  readonly id: string;
  /** Whether the account belongs to a row of the app that existed before. */
  readonly isLinked: boolean;
  /** The names that the account would have taken, in a trial. */
  readonly names: readonly string[];
}

/** Shared by all rows, because an import can have millions. */
const NONE: readonly never[] = [];

/** A run of an import. */
class Import {
  readonly #reader: ImportRows;
  readonly #rows: ImportedRows;
  readonly #accountsOfRows: AccountsOfRows;
  readonly #rowUpdates: RowUpdates;
  readonly #isTrial: boolean;
  readonly #outcomes: Outcome[] = [];
  readonly #seen = new Map<string, string>();
  /** The positions of rows, by the ids of their accounts. */
  readonly #positions = new Map<string, number>();
  readonly #unverified = new Map<string, Unverified>();
  /** The rows' refs, by position. */
  readonly #rowRefs: Ref[] = [];
  /** The refs that were read, to find the rows that have vanished. */
  readonly #refs = new Set<string>();
  readonly #counts = { imported: 0, updated: 0, unchanged: 0 };
  #accounts = 0;

  constructor(
    private readonly core: Core,
    private readonly source: string,
    private readonly options: ImportUsersOptions,
  ) {
    this.#reader = new ImportRows(core, source, options.verifyLegacy);
    this.#isTrial = options.dryRun === true;
    this.#rows = new ImportedRows(core);
    this.#accountsOfRows = new AccountsOfRows(core, this.#isTrial, this.#seen);
    this.#rowUpdates = new RowUpdates(core, this.#rows, this.#isTrial);
  }

  async run(rows: Rows): Promise<ImportReport | ImportUpdateReport> {
    await this.core.database.ready();
    for await (const batch of inTurns(batchesOf(this.core, rows))) {
      await this.#import(batch);
      const rows = this.#outcomes.length;
      const progress = { rows, imported: this.#accounts, skipped: rows - this.#accounts };
      await this.core.context.forApp(() => this.options.onProgress?.(progress));
    }
    const users = this.#outcomes.flatMap(({ account }) => account ?? []);
    const skipped = this.#outcomes.flatMap((one) => one.skipped);
    if (!this.options.update) return { users, skipped };
    const conflicts = this.#outcomes.flatMap((one) => one.conflicts);
    return { users, skipped, ...this.#counts, conflicts, vanished: await this.#vanished() };
  }

  async #import(batch: readonly unknown[]): Promise<void> {
    const first = this.#outcomes.length;
    const read: RowRead[] = [];
    for (const [index, row] of batch.entries()) read.push(await this.#reader.read(row, first + index));
    const accounts = read.flatMap(({ account }) => account ?? []);
    const found = await this.#accountsOfRows.create(accounts);
    const changed = this.options.update ? await this.#rowUpdates.changed(found) : new Set<AccountOfRow>();
    for (const [index, one] of read.entries()) {
      if (one.origin && this.options.update) this.#refs.add(String(one.origin.ref));
      this.#rowRefs.push(one.ref);
      const outcome = one.account && found.get(one.account);
      if (outcome && 'id' in outcome) this.#positions.set(outcome.id, first + index);
    }
    for await (const few of slicesOf(read, FEW_ROWS))
      for (const one of few)
        this.#outcomes.push(await this.#outcomeOf(one, this.#outcomes.length, found, changed));
  }

  async #outcomeOf(
    { ref, account, refusal, lost }: RowRead,
    at: number,
    found: Outcomes,
    changed: ReadonlySet<AccountOfRow>,
  ): Promise<Outcome> {
    const parts =
      lost.length === 0 ? NONE : lost.map(({ code, detail, part }) => ({ ref, code, detail, part }));
    let outcome = account ? found.get(account) : refusal;
    if (account && outcome && !('id' in outcome) && (await this.#makeRoom(account, outcome)))
      outcome = (await this.#accountsOfRows.create([account])).get(account);
    if (!outcome) throw new Error('a row has no outcome');
    if (!('id' in outcome)) return this.#refused(ref, outcome);
    const { id, isNew } = outcome;
    this.#positions.set(id, at);
    this.#accounts++;
    if (isNew && account) this.#noteUnverified(account, id, at);
    const conflicts = account ? await this.#update(ref, account, outcome, changed.has(account)) : [];
    return { ref, account: { ref, id }, skipped: parts, conflicts };
  }

  /** Updates an existing account to match its row. @returns the parts that were not applied */
  async #update(
    ref: Ref,
    account: AccountOfRow,
    found: FoundAccount,
    isChanged: boolean,
  ): Promise<readonly ImportConflict[]> {
    if (!this.options.update) return NONE;
    const outcome = found.isNew
      ? 'imported'
      : isChanged
        ? await this.#rowUpdates.apply(account, found)
        : 'unchanged';
    if (typeof outcome !== 'string') return outcome.map(({ field, detail }) => ({ ref, field, detail }));
    this.#counts[outcome]++;
    return NONE;
  }

  async #refused(ref: Ref, { code, detail, holder }: Refusal): Promise<Outcome> {
    const none = { ref, account: null, skipped: NONE, conflicts: NONE };
    if (code === ACCOUNT_DELETED && this.options.update)
      return { ...none, conflicts: [{ ref, field: 'id', detail }] };
    const by = holder ? await this.#refOf(holder) : null;
    return { ...none, skipped: [{ ref, code, detail: by === null ? detail : sameAs(ref, by, code) }] };
  }

  /** Finds the row of an account, in this run or an earlier one. */
  async #refOf(userId: string): Promise<Ref | null> {
    const position = this.#positions.get(userId);
    if (position !== undefined) return this.#rowRefs[position] ?? null;
    const [line] = await this.#rows.ofUser(userId, this.source);
    return line ? refOfLine(line) : null;
  }

  #noteUnverified(account: AccountOfRow, id: string, at: number): void {
    const { email } = account.user;
    if (email === null || isVerified(account)) return;
    const isLinked = account.rowKey !== undefined;
    this.#unverified.set(email, { at, id, isLinked, names: this.#isTrial ? takenBy(account) : [] });
  }

  /**
   * If two rows have the same email, the row with the verified email gets the account. If this run has created an
   * account for the other row, removes that account.
   *
   * @returns whether the email is available now
   */
  async #makeRoom(account: AccountOfRow, { code }: Refusal): Promise<boolean> {
    const { email } = account.user;
    const earlier = email === null ? undefined : this.#unverified.get(email);
    if (email === null || !earlier || code !== 'email_taken' || !isVerified(account)) return false;
    if (!this.#isTrial) await this.#remove(earlier);
    for (const name of [earlier.id, ...earlier.names]) this.#seen.delete(name);
    this.#unverified.delete(email);
    const { ref } = this.#outcomes[earlier.at] as Outcome;
    const by = refOfRow(account);
    const skipped = [{ ref, code, detail: sameAs(ref, by, code) }];
    this.#outcomes[earlier.at] = { ref, account: null, skipped, conflicts: [] };
    this.#counts.imported--;
    this.#accounts--;
    return true;
  }

  /** Deletes an account that this run has created, and remembers nothing about its row. */
  async #remove({ id, isLinked }: Unverified): Promise<void> {
    const { core } = this;
    await core.change(id, BY_CODE, async (record, transaction) => {
      // The app's row existed before the import, so it stays.
      if (isLinked) await core.users.rows?.unlink(id, transaction);
      await this.#rows.drop(id, transaction);
      await deleteIn(core, record, transaction);
    });
  }

  /** Finds the accounts of earlier runs whose rows are missing from this run. */
  async #vanished(): Promise<ImportedAccount[]> {
    const vanished: ImportedAccount[] = [];
    for await (const lines of this.#rows.ofSource(this.source, this.core.users.table.name))
      for (const line of lines)
        if (line.userId !== null && !this.#refs.has(line.ref ?? ''))
          vanished.push({ ref: refOfLine(line), id: line.userId });
    return vanished;
  }
}

/** Returns a substitute for a missing ref: the value that identifies the user. */
function standInOf(
  email: string | null,
  username: string | null,
  identity: readonly string[],
): Pick<RowOrigin, 'ref' | 'standIn'> {
  if (email !== null) return { ref: email, standIn: 'email' };
  return username === null
    ? { ref: identity.join(' '), standIn: 'identity' }
    : { ref: username, standIn: 'username' };
}

/** Returns the reason why the first of two rows has no account. */
function sameAs(ref: Ref, by: Ref, code: string): string {
  const what = code === 'email_taken' ? 'email' : 'username';
  return `the rows ${ref} and ${by} have the same ${what}: the row ${by} was imported`;
}

function isVerified({ user: { emailProof } }: AccountOfRow): boolean {
  return emailProof?.reaches('app') ?? false;
}

function refOfRow({ origin }: AccountOfRow): Ref {
  return origin.ref;
}

/** Reads the app's rows outside the import's transaction, which the app's statements use only if they pass it. */
export async function* batchesOf(core: Core, rows: Rows): AsyncGenerator<unknown[]> {
  const iterator = Symbol.asyncIterator in rows ? rows[Symbol.asyncIterator]() : rows[Symbol.iterator]();
  const size = core.database.dialect === 'sqlite' ? BATCH_ON_SQLITE : BATCH;
  let isDone = false;
  try {
    while (!isDone) {
      const batch: unknown[] = [];
      while (!isDone && batch.length < size) {
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

/** A part of a row that is skipped. */
interface LostKeys extends Refusal {
  readonly part: string;
}

/** A row that was read. */
interface RowRead {
  readonly ref: Ref;
  readonly origin: RowOrigin | null;
  /** Null if the row cannot have an account. */
  readonly account: AccountOfRow | null;
  readonly refusal: Refusal | null;
  readonly lost: readonly LostKeys[];
}

/** Reads the rows of an import, according to the rules of the core and the plugins. */
export class ImportRows {
  readonly #readers: readonly RowReader[];

  /** @param offered the password schemes of the import, if it has any */
  constructor(
    private readonly core: Core,
    private readonly source: string,
    private readonly offered: LegacyVerifiers | undefined,
  ) {
    this.#readers = core.contributions.flatMap(({ rowReaders = [] }) => rowReaders);
  }

  /**
   * Returns the account of a row, or the reason why the row cannot have one.
   *
   * @param index the position of the row, which stands for a missing `ref` in the report
   */
  async read(given: unknown, index: number): Promise<RowRead> {
    const lost: LostKeys[] = [];
    const ref = refOf(given);
    const row = { ref: ref ?? index, origin: ref === null ? null : { source: this.source, ref }, lost };
    try {
      const account = await this.#read(requireRow(given), lost);
      return { ...row, origin: account.origin, account, refusal: null };
    } catch (error) {
      return { ...row, account: null, refusal: refusalOf(error) };
    }
  }

  async #read(row: ImportRow, lost: LostKeys[]): Promise<AccountOfRow> {
    this.#checkKeys(row, lost);
    const email = isGiven(row.email) ? readEmail(row.email as string, '/email') : null;
    const values = await this.#valuesOf(row, lost);
    const hasWayIn = email !== null || [...values.keys()].some(({ isWayIn }) => isWayIn);
    const name = this.#readName(row, hasWayIn, lost);
    const { username } = name;
    if (username === null && !hasWayIn) {
      const [first] = lost;
      if (first) throw invalidField('', first.code, first.detail);
      throw invalidField(
        '/email',
        'missing_identifier',
        'is missing, and the row contains no other sign-in method',
      );
    }
    const given = EmailProof.imported(row.emailVerified);
    const emailProof = email === null ? EmailProof.none : given;
    const id = readId(row.id);
    const ref = refOf(row);
    const createdAt = readTime(row.createdAt, this.core.database.clock.now());
    const isLinked = ref !== null && this.core.users.rows !== null;
    const identity = [...values].flatMap(([reader, value]) => reader.identitiesOf?.(value) ?? []);
    const names = email === null && username === null ? identity : [email, username];
    const passwordHash = await this.#readHash(row.passwordHash);
    // The app's row exists already, so its columns stay as they are.
    const fields = isLinked ? {} : this.#readFields(row.fields);
    const user = { email, ...name, passwordHash, emailProof };
    return {
      user: {
        ...user,
        // The same row gets the same id, so that an interrupted import can be rerun.
        id: id ?? importedId({ ref: ref === null ? null : String(ref), names, createdAt: createdAt ?? null }),
        createdAt,
        importedAt: this.core.database.clock.date(),
        columns: Object.assign({}, ...[...values].map(([reader, value]) => reader.columnsOf?.(value))),
      },
      fields,
      hasGivenId: id !== null,
      rowKey: isLinked ? (ref ?? undefined) : undefined,
      values,
      // A row without a ref is identified by its user.
      origin: { source: this.source, ...(ref === null ? standInOf(email, username, identity) : { ref }) },
      lost: lost.map(({ part }) => part),
      rowValues: rowValuesOf(user, isLinked ? {} : givenOf(fields, row.fields), values),
    };
  }

  /** Skips a username that violates the rules, if the user has another sign-in method. */
  #readName(
    { username: given, usernameDisplay }: ImportRow,
    hasWayIn: boolean,
    lost: LostKeys[],
  ): Username | Record<keyof Username, null> {
    const none = { username: null, usernameDisplay: null };
    if (!isGiven(given)) return none;
    const { usernames } = this.core;
    try {
      const name = readUsername(this.core, given as string);
      const letters = usernames?.lettersOf(name.username, usernameDisplay, name.usernameDisplay);
      return { ...name, ...(letters && { usernameDisplay: letters }) };
    } catch (error) {
      if (!hasWayIn || !usernames || usernames.areOnlyIdentifiers) throw error;
      lost.push({ ...refusalOf(error), part: 'username' });
      return none;
    }
  }

  #checkKeys(row: ImportRow, lost: LostKeys[]): void {
    const ofParts: readonly string[] = this.#readers.flatMap(({ keys }) => keys);
    for (const [key, value] of Object.entries(row)) {
      if (KEYS.has(key) || ofParts.includes(key) || value === undefined) continue;
      const { how, isOptional } = switchesOfRowKeys.get(key) ?? {};
      if (how === undefined)
        throw invalidField('', 'unknown_key', `the row has an unknown key, ${key}: check its spelling`);
      if (!isGiven(value)) continue;
      if (!isOptional) throw notEnabled(key, how);
      lost.push({ ...refusalOf(notEnabled(key, how)), part: key });
    }
  }

  async #valuesOf(row: ImportRow, lost: LostKeys[]): Promise<Map<RowReader, unknown>> {
    const values = new Map<RowReader, unknown>();
    for (const reader of this.#readers) {
      const lose = (error: AuthError) => {
        lost.push({ ...refusalOf(error), part: reader.keys[0] as string });
      };
      const value = reader.keys.some((key) => isGiven(row[key])) ? await reader.read(row, lose) : null;
      if (value !== null) values.set(reader, value);
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
}

/**
 * Reads when something was created.
 *
 * @returns undefined if there is no time
 * @throws AuthError `validation_failed`
 */
export function readTime(given: unknown, now: number): Date | undefined {
  if (!isGiven(given)) return undefined;
  const time = typeof given === 'string' && TIME.test(given) ? new Date(given) : given;
  if (time instanceof Date && isCreationTime(time, now)) return time;
  const detail = 'must be a time between 1970 and now: a Date, or ISO 8601 such as 2026-01-31T12:00:00Z';
  throw invalidField('/createdAt', 'invalid_created_at', detail);
}

/** Returns the reason why a row's value was rejected. @throws any other error */
export function refusalOf(error: unknown): Refusal {
  const [first] = (error instanceof AuthError && error.errors) || [];
  if (!first) throw error;
  return { code: first.code, detail: `${nameOf(first.pointer)} ${first.detail}`.trim() };
}

/** Returns the fields that a row names, without the defaults of the others. */
function givenOf(fields: FieldValues, given: ImportRow['fields']): FieldValues {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => Object.hasOwn(given ?? {}, name)));
}

/** Returns the key that identifies a row in the other system. Null if the row has none. */
export function refOf(row: unknown): Ref | null {
  const { ref } = (typeof row === 'object' && row !== null ? row : {}) as ImportRow;
  const isRef = typeof ref === 'string' ? ref !== '' : typeof ref === 'bigint' || Number.isFinite(ref);
  return isRef ? (ref as Ref) : null;
}

/** Whether a key has a value. An empty value counts as absent. */
export function isGiven(value: unknown): boolean {
  return (
    value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  );
}

function requireRow(given: unknown): ImportRow {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalidField('', 'invalid_row', 'a row must be an object');
  const row = given as ImportRow;
  checkRef(row.ref, '/ref');
  return row;
}

/** Checks an identifier of another system, if there is one. @throws AuthError `validation_failed` */
export function checkRef(ref: unknown, pointer: string): void {
  if (isGiven(ref) && refOf({ ref }) === null)
    throw invalidField(pointer, 'invalid_ref', 'must be a string or a number');
  if (typeof ref === 'string' && (ref.includes('\0') || !ref.isWellFormed()))
    throw invalidField(pointer, 'invalid_ref', 'must be a well-formed string without the character NUL');
}

function readId(given: unknown): string | null {
  if (!isGiven(given)) return null;
  const id = uuidOf(given);
  if (id !== null) return id;
  throw invalidField('/id', 'invalid_id', 'must be a UUID: pass the other system’s id as ref');
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
