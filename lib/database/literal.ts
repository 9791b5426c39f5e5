import type { Dialect } from './connect.js';

/** A value of a statement. */
export type Value = string | number | boolean | Buffer | Date | null;

// Printable ASCII without quote and backslash. Within quotes, it means the same under all settings of a connection.
const PLAIN = /^[ -&(-[\]-~]+$/;

// Control characters, and other characters that end a line or change the direction of text.
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}]/u;

const HEX = /^[0-9a-f]*$/;

/**
 * Writes a value as a SQL literal that means the same under all settings of a connection: with MySQL's
 * `NO_BACKSLASH_ESCAPES`, with PostgreSQL's `standard_conforming_strings` off, and with client character sets in which
 * a byte of one character is the backslash or quote of another
 * (https://dev.mysql.com/doc/refman/8.4/en/string-literals.html,
 * https://www.postgresql.org/docs/current/sql-syntax-lexical.html). The app's own Sequelize instance can have any of
 * these settings at any time. Values that a setting could change are written as hexadecimal digits.
 *
 * @throws TypeError if the number is not finite
 */
export function literal(dialect: Dialect, value: Exclude<Value, Date>): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return textLiteral(dialect, value);
  if (typeof value === 'boolean') return dialect === 'sqlite' ? String(Number(value)) : String(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no SQL literal`);
    return String(value);
  }
  return hexLiteral(dialect, value.toString('hex'));
}

/** Writes bytes, given as hexadecimal digits, as a SQL literal. @throws TypeError if `hex` has other characters */
function hexLiteral(dialect: Dialect, hex: string): string {
  if (!HEX.test(hex)) throw new TypeError('not hexadecimal digits');
  return dialect === 'postgres' ? `E'\\\\x${hex}'` : `x'${hex}'`;
}

/** Writes digests, given as hexadecimal digits, as the list after `IN`. */
export function digestList(dialect: Dialect, digests: readonly string[]): string {
  return `(${digests.map((digest) => hexLiteral(dialect, digest)).join(', ')})`;
}

/** The type of a value in a {@link valueTable}. */
export type ValueType = 'digest' | 'text' | 'uuid';

const CASTS: Record<ValueType, string> = { digest: '::bytea', text: '::text', uuid: '::uuid' };

/**
 * Writes rows of values as a SELECT, which other tables can be joined with. The values have the types of columns, so that
 * the database finds the rows of the other tables by an index.
 *
 * @param columns the names of the columns and their types. Digests are given as hexadecimal digits
 */
export function valueTable(
  dialect: Dialect,
  columns: Readonly<Record<string, ValueType>>,
  rows: readonly (readonly string[])[],
): string {
  const types = Object.values(columns);
  const selects = rows.map((row) => row.map((value, at) => typed(dialect, value, types[at] ?? 'text')));
  const [first = [], ...others] = selects;
  const named = Object.keys(columns).map((name, at) => `${first[at]} AS ${name}`);
  return [named, ...others].map((values) => `SELECT ${values.join(', ')}`).join(' UNION ALL ');
}

function typed(dialect: Dialect, value: string, type: ValueType): string {
  const plain = type === 'digest' ? hexLiteral(dialect, value) : textLiteral(dialect, value);
  if (dialect === 'postgres') return `${plain}${CASTS[type]}`;
  // On MySQL, texts with the character set of the columns are compared by the collation of the columns.
  return dialect === 'mysql' && type !== 'digest' && plain.startsWith("'") ? `_utf8mb4 ${plain}` : plain;
}

/** Returns the placeholder of a value in a prepared statement. @param position the position of the value, from 1 */
export function placeholder(dialect: Dialect, position: number): string {
  return dialect === 'postgres' ? `$${position}` : '?';
}

function textLiteral(dialect: Dialect, text: string): string {
  if (PLAIN.test(text)) return `'${text}'`;
  switch (dialect) {
    case 'mysql':
      return `_utf8mb4 x'${Buffer.from(text).toString('hex')}'`;
    case 'postgres':
      // E'…' does not depend on standard_conforming_strings.
      return `E'${text.toWellFormed().replace(/[^ -&(-[\]-~]/g, unicodeEscape)}'`;
    case 'sqlite':
      // A statement must be one line in a log, even if a client has sent line breaks.
      return BREAKS.test(text) ? `CAST(x'${Buffer.from(text).toString('hex')}' AS TEXT)` : quoted(text);
  }
}

/** Quotes a string for SQLite, without other changes. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function unicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

export const MARK = '::latchkey::';

/** Marks SQL of the app, in which `:name` is not a placeholder. {@link fillIn} removes the marks. */
export function verbatim(sql: string): string {
  return sql.replaceAll(':', MARK);
}

/**
 * Replaces the `:name` placeholders of a statement.
 *
 * @throws TypeError if a value is missing
 */
export function fillIn(sql: string, valueFor: (name: string) => string | undefined): string {
  // PostgreSQL's `::type` is not a placeholder.
  return sql.replace(/::latchkey::|(?<![:\w]):([a-z]\w*)/gi, (_placeholder, name?: string) => {
    if (name === undefined) return ':';
    const value = valueFor(name);
    if (value === undefined) throw new TypeError(`no value for :${name}`);
    return value;
  });
}

/**
 * Sanitizes untrusted text for a column: removes NUL, which PostgreSQL rejects, truncates it, and makes it well-formed.
 */
export function storable(text: string | null, length: number): string | null {
  return text === null ? null : text.replaceAll('\0', '').slice(0, length).toWellFormed();
}
