import type { Database } from '../database/database.js';
import type { Value } from '../database/literal.js';
import type { Column } from './column.js';

/** The SQL expression that reads a column. */
export function readable(sql: string, { kind }: Column, { dialect, statements }: Database): string {
  if (kind === 'time') return statements.milliseconds(sql) ?? sql;
  // MySQL's driver reads the years 1 to 99 as those of today, so such times are read as text.
  return kind === 'any-time' && dialect === 'mysql' ? `CAST(${sql} AS CHAR)` : sql;
}

/** A value as a statement takes it. */
export function encode(value: unknown, { kind }: Column): Value {
  if (value === null) return null;
  if (kind === 'words') return (value as readonly string[]).join(' ');
  return (kind === 'json' || kind === 'document' ? JSON.stringify(value) : value) as Value;
}

const asIs = (value: unknown) => value;
const toWords = (value: unknown) => String(value).split(' ').filter(Boolean);
const ofMilliseconds = (value: unknown) => new Date(Number(value));
// MySQL and SQLite return numbers, which the app's `typeCast` may convert to strings.
const toBoolean = (value: unknown) => value === true || Number(value) === 1;

/** What turns a value of a result, which is not null, into that of the attribute. */
export function decoder({ kind }: Column, database: Database): (value: unknown) => unknown {
  switch (kind) {
    case 'time':
      if (database.statements.milliseconds('')) return ofMilliseconds;
      return (value) => database.statements.toDate(value as Date | string);
    case 'any-time':
      return (value) => database.statements.toDate(value as Date | string);
    case 'boolean':
      return toBoolean;
    case 'integer':
    case 'number':
      return Number;
    case 'words':
      return toWords;
    case 'json':
    case 'document':
      return (value) => JSON.parse(String(value));
    default:
      return asIs;
  }
}
