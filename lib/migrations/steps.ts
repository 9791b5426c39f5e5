import type { Dialect } from '../database/connect.js';
import type { Database } from '../database/database.js';
import type { ColumnTypes, Migration, RowChange } from './migration.js';

export type Direction = 'up' | 'down';

/** A statement of a migration. The journal counts them. */
export interface Step {
  readonly sql: string;
  /** Set for a change of rows, which is carried out in batches. */
  readonly rows?: RowChange;
}

/** A new index of a table that is already in use. */
export interface NewIndex {
  readonly name: string;
  /** The SQL after the index's name, from ON. */
  readonly on: string;
}

/** Steps that are carried out together. */
export interface Unit {
  /** The number of its first step, from 1. */
  readonly first: number;
  readonly steps: readonly Step[];
  /** Set if the unit creates an index, which PostgreSQL can do while other transactions write. */
  readonly index?: NewIndex;
  /** The tables that the unit locks and that others use. Null if they are unknown. */
  readonly tables: readonly string[] | null;
}

/** Returns the steps of a migration, without carrying them out. */
export async function stepsOf(
  migration: Migration,
  direction: Direction,
  { database, types }: { readonly database: Database; readonly types: ColumnTypes },
): Promise<Step[]> {
  const steps: Step[] = [];
  await migration[direction]({
    database,
    types,
    run: async (sql) => void steps.push({ sql }),
    change: async (rows) =>
      void steps.push({ sql: `UPDATE ${rows.table} SET ${rows.set} WHERE ${rows.where}`, rows }),
  });
  return steps;
}

/** Returns the table that a step creates, or undefined. */
export function createdBy({ sql }: Step): string | undefined {
  return /^\s*CREATE TABLE (\w+)/.exec(sql)?.[1];
}

/** Returns the column that a step adds, such as `users.suspended_at`, or undefined. */
export function addedBy({ sql }: Step): string | undefined {
  const [, table, column] = /^\s*ALTER TABLE (\w+) ADD COLUMN (\w+)/.exec(sql) ?? [];
  return table && `${table}.${column}`;
}

/** Returns the table that a step drops, or undefined. */
export function droppedBy({ sql }: Step): string | undefined {
  return /^\s*DROP TABLE IF EXISTS (\w+)/.exec(sql)?.[1];
}

const INDEX = /^CREATE INDEX (\w+) (ON (\w+) .*)$/;
const ONE_TABLE = /^\s*(?:ALTER TABLE|CREATE INDEX \w+ ON|DROP TABLE IF EXISTS) (\w+)/;

/**
 * Divides steps into units. MySQL commits each statement, so a unit is one step there. SQLite has one lock for all
 * tables, so only changes of rows divide the steps there. PostgreSQL keeps the locks of a transaction until its end, so
 * a unit changes only a single table that others use. So it never holds one table while it waits for another, as
 * transactions of the app do, and the two cannot wait for each other.
 */
export function unitsOf(steps: readonly Step[], dialect: Dialect): Unit[] {
  // No other transaction can use tables that do not exist yet.
  const created = new Set(steps.map(createdBy));
  const units: (Unit & { steps: Step[] })[] = [];
  steps.forEach((step, position) => {
    const index = dialect === 'postgres' ? indexOf(step, created) : undefined;
    const tables = step.rows || index ? null : lockedBy(step, created);
    const last = units.at(-1);
    const joined = last && !index && !step.rows && together(last, tables, dialect);
    if (joined) units[units.length - 1] = { ...last, steps: [...last.steps, step], tables: joined.tables };
    else units.push({ first: position + 1, steps: [step], tables, ...(index && { index }) });
  });
  return units;
}

function together(
  { steps, tables: before, index }: Unit,
  tables: readonly string[] | null,
  dialect: Dialect,
): { tables: readonly string[] | null } | null {
  if (index || steps[0]?.rows || dialect === 'mysql') return null;
  if (dialect === 'sqlite') return { tables: null };
  if (!before || !tables) return null;
  const all = [...new Set([...before, ...tables])];
  return all.length <= 1 ? { tables: all } : null;
}

function indexOf({ sql }: Step, created: ReadonlySet<string | undefined>): NewIndex | undefined {
  const [, name, on, table] = INDEX.exec(sql) ?? [];
  return name && on && !created.has(table) ? { name, on } : undefined;
}

/** Returns the tables that a statement locks, except new tables. Null if the tables of the statement are unknown. */
function lockedBy(step: Step, created: ReadonlySet<string | undefined>): string[] | null {
  const table = createdBy(step) ?? ONE_TABLE.exec(step.sql)?.[1];
  if (!table) return null;
  // A foreign key locks the table that it refers to.
  const referenced = [...step.sql.matchAll(/ REFERENCES (\w+)/g)].map(([, name]) => name as string);
  return [...new Set([table, ...referenced])].filter((name) => !created.has(name));
}
