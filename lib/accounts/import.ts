import type { Core } from '../core/core.js';
import { passwordsOf } from '../core/passwords.js';
import { howToEnablePasswords, switchesOfRowKeys } from '../core/switches.js';
import { readUsername } from '../core/usernames.js';
import { isUuid } from '../crypto/uuid.js';
import { AuthError, invalidField } from '../errors.js';
import type { FieldValues } from '../users/core-fields.js';
import type { NewAccount } from '../users/create.js';
import type { ImportRow, LegacyVerifiers, Refusal } from '../users/imported.js';
import { importedId } from '../users/imported-id.js';
import type { RowPart } from '../users/row-part.js';
import { readEmail } from './api.js';

const KEYS: ReadonlySet<string> = new Set<keyof ImportRow>([
  ...(['ref', 'id', 'email', 'emailVerified', 'username'] as const),
  ...(['passwordHash', 'createdAt', 'fields'] as const),
]);
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/;
// The other system's clock may be ahead.
const DAY_MS = 24 * 60 * 60 * 1000;

type Ref = string | number | bigint;

/** Reads the rows of an import, by the rules of the core and of the plugins. */
export class ImportRows {
  readonly #parts: readonly RowPart[];

  /** @param offered the password schemes of the import, if it names some */
  constructor(
    private readonly core: Core,
    private readonly offered: LegacyVerifiers | undefined,
  ) {
    this.#parts = core.contributions.flatMap(({ rowParts = [] }) => rowParts);
  }

  /** The account of a row, or why there can be none. */
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
    const username = isGiven(row.username) ? readUsername(this.core, row.username as string) : null;
    const values = await this.#valuesOf(row);
    const isIdentified =
      email !== null || username !== null || [...values.keys()].some(({ isWayIn }) => isWayIn);
    if (!isIdentified)
      throw invalidField(
        '/email',
        'missing_identifier',
        'is missing, and so is anything else to sign in with',
      );
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
        passwordHash: await this.#readHash(row.passwordHash),
        emailProof: email !== null && isVerified(row.emailVerified) ? 'mailbox' : null,
        // The same for the same row, so that a run that broke off can be repeated.
        id: id ?? importedId({ ref: ref === null ? null : String(ref), names, createdAt: createdAt ?? null }),
        createdAt,
        columns: Object.assign({}, ...[...values].map(([part, value]) => part.columnsOf?.(value))),
      },
      // The columns of a row that exists stay as they are.
      fields: isLinked ? {} : this.#readFields(row.fields),
      hasGivenId: id !== null,
      rowKey: isLinked ? (ref ?? undefined) : undefined,
      values,
    };
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
    const passwords = passwordsOf(this.core);
    if (!passwords) throw notEnabled('passwordHash', howToEnablePasswords());
    return passwords.checkHash(given as string, this.offered);
  }

  #readFields(given: ImportRow['fields']): FieldValues {
    try {
      return this.core.fields.read(given ?? {}, 'code', 'create');
    } catch (error) {
      throw error instanceof AuthError ? invalidField('', 'invalid_fields', error.message) : error;
    }
  }

  #readTime(given: unknown): Date | undefined {
    if (!isGiven(given)) return undefined;
    const time = typeof given === 'string' && TIME.test(given) ? new Date(given) : given;
    const isTime = time instanceof Date && time.getTime() >= 0;
    if (isTime && time.getTime() <= this.core.database.clock.now() + DAY_MS) return time;
    const detail = 'must be a time of the past since 1970: a Date, or ISO 8601 such as 2026-01-31T12:00:00Z';
    throw invalidField('/createdAt', 'invalid_created_at', detail);
  }
}

/** What identifies a row in the other system. Null if it does not say. */
export function refOf(row: unknown): Ref | null {
  const { ref } = (typeof row === 'object' && row !== null ? row : {}) as ImportRow;
  const isRef = typeof ref === 'string' ? ref !== '' : typeof ref === 'bigint' || Number.isFinite(ref);
  return isRef ? (ref as Ref) : null;
}

/** A key whose value is empty counts as absent. */
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
  const id = String(given).toLowerCase();
  if (isUuid(id)) return id;
  throw invalidField('/id', 'invalid_id', 'must be a UUID: give the other system’s id as ref');
}

function isVerified(given: unknown): boolean {
  if (!isGiven(given)) return false;
  if (typeof given === 'boolean') return given;
  throw invalidField('/emailVerified', 'invalid_email_verified', 'must be true or false');
}

function notEnabled(key: string, how: string): AuthError {
  return invalidField(`/${key}`, 'not_enabled', `is not accepted: ${how}, or leave it out`);
}

/** `/password_hash` as `passwordHash`, `/accounts/0/provider` as `accounts[0].provider`. */
function nameOf(pointer: string): string {
  return pointer
    .slice(1)
    .replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');
}
