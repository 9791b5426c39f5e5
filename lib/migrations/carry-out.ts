import { QueryTypes, type Transaction } from 'sequelize';
import { BATCH, inBatches } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { users } from '../tables/core.js';
import type { Journal } from './journal.js';
import type { Held } from './lock.js';
import type { ColumnTypes, Migration, RowChange } from './migration.js';
import { type Direction, type NewIndex, stepsOf, type Unit, unitsOf } from './steps.js';

// MySQL's errors if a statement has already been executed.
const DONE_ALREADY = new Set([
  'ER_TABLE_EXISTS_ERROR',
  'ER_DUP_KEYNAME',
  'ER_DUP_FIELDNAME',
  'ER_BAD_TABLE_ERROR',
  'ER_CANT_DROP_FIELD_OR_KEY',
]);

/** The tools for carrying out migrations. */
export interface Tools {
  readonly database: Database;
  readonly types: ColumnTypes;
  readonly held: Held;
  readonly journal: Journal;
}

/**
 * Applies a migration, or undoes it, one unit after another.
 *
 * @param begun the step at which another process has stopped, or 0
 * @throws Overtaken if another process has continued the migration
 */
export async function carryOut(
  tools: Tools,
  migration: Migration,
  direction: Direction,
  begun = 0,
): Promise<void> {
  const { database, held, journal } = tools;
  const { name } = migration;
  const steps = await stepsOf(migration, direction, tools);
  const units = unitsOf(steps, database.dialect);
  const progressOf = (step: number) => (step > 0 ? `${name} ${direction} ${step}` : null);
  let progress = progressOf(begun);
  const move = async (to: string | null) => {
    await held.transaction((transaction) => journal.move(progress, to, transaction));
    progress = to;
  };
  const finish = async (transaction: Transaction) => {
    if (direction === 'up') return journal.move(progress, name, transaction);
    // During an undo, the migration's name stays in the journal too.
    await journal.move(progress, null, transaction);
    await journal.move(name, null, transaction);
  };
  const isAtomic = database.dialect !== 'mysql';
  for (const unit of units) {
    const last = unit.first + unit.steps.length - 1;
    const isRepeatable = unit.steps[0]?.rows !== undefined || unit.index !== undefined;
    const isResumed = begun === last && (isRepeatable || !isAtomic);
    if (last <= begun && !isResumed) continue;
    if (isAtomic && !isRepeatable) {
      const isEnd = last === steps.length;
      const left = unit.steps.slice(Math.max(begun + 1 - unit.first, 0));
      await held.ofTables(async (transaction) => {
        if (isEnd) await finish(transaction);
        else await journal.move(progress, progressOf(last), transaction);
        await lockInOrder(database, unit, transaction);
        for (const { sql } of left) await database.sequelize.query(sql, { transaction });
      });
      if (isEnd) return;
      progress = progressOf(last);
      continue;
    }
    if (!isResumed) await move(progressOf(last));
    await carryOutAlone(tools, unit, isResumed, () => move(progressOf(last - 1)));
  }
  await held.transaction(finish);
}

/** Carries out a unit that cannot be in one transaction with its row of the journal. */
async function carryOutAlone(
  { database, held }: Tools,
  { steps: [step], index }: Unit,
  isResumed: boolean,
  takeBack: () => Promise<void>,
): Promise<void> {
  if (!step) return;
  if (step.rows) return changeInBatches(database, held, step.rows);
  if (index) return createIndex(database, held, index, isResumed);
  try {
    await held.ofTables((transaction) => database.sequelize.query(step.sql, { transaction }));
  } catch (error) {
    const { code, parent } = error as { code?: string; parent?: { code?: string } };
    if (isResumed && DONE_ALREADY.has(parent?.code ?? code ?? '')) return;
    // The statement failed, so it was not executed. If this update fails too, the next call handles both cases.
    if (!isResumed) await takeBack().catch(() => undefined);
    throw error;
  }
}

/**
 * Locks the tables that one statement refers to in the order in which transactions of the app write to them: first the
 * table of accounts, then the tables that refer to it. Otherwise the foreign keys would determine the order.
 */
async function lockInOrder(database: Database, { tables }: Unit, transaction: Transaction): Promise<void> {
  if (database.dialect !== 'postgres' || !tables || tables.length < 2) return;
  const account = database.table(users.name);
  const ordered = [...tables].sort((a, b) => Number(b === account) - Number(a === account));
  await database.sequelize.query(`LOCK TABLE ${ordered.join(', ')} IN SHARE ROW EXCLUSIVE MODE`, {
    transaction,
  });
}

/**
 * Creates an index while other transactions write to the table. An index that another process has left incomplete is
 * dropped first.
 */
async function createIndex(
  { sequelize }: Database,
  held: Held,
  { name, on }: NewIndex,
  isResumed: boolean,
): Promise<void> {
  const [state] = isResumed
    ? await held.transaction((transaction) =>
        sequelize.query<{ valid: boolean }>(VALID, {
          transaction,
          type: QueryTypes.SELECT,
          replacements: { name },
        }),
      )
    : [];
  if (state?.valid) return;
  const create = `CREATE INDEX CONCURRENTLY ${name} ${on}`;
  const isDone = await held.outside(state ? [`DROP INDEX CONCURRENTLY ${name}`, create] : [create]);
  if (isDone) return;
  // Without CONCURRENTLY, writers have to wait.
  await held.ofTables(async (transaction) => {
    await sequelize.query(`DROP INDEX IF EXISTS ${name}`, { transaction });
    await sequelize.query(`CREATE INDEX ${name} ${on}`, { transaction });
  });
}

const VALID = `SELECT i.indisvalid AS valid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relname = :name`;

type Key = string | Buffer;

const textOf = (key: Key) => (typeof key === 'string' ? key : key.toString('hex'));

/**
 * Changes rows a few at a time. A batch changes only the rows that no other transaction has locked, and the others are
 * changed one by one. So it never holds a row while it waits for another, and no transaction of the app is aborted.
 */
async function changeInBatches(database: Database, held: Held, change: RowChange): Promise<void> {
  const { table, key, set, where } = change;
  const select = (sql: string, values: Record<string, unknown>, transaction: Transaction) =>
    database.sequelize.query<{ key_value: Key }>(`SELECT ${key} AS key_value FROM ${table} WHERE ${sql}`, {
      transaction,
      type: QueryTypes.SELECT,
      replacements: values,
    });
  const update = async (keys: readonly Key[], transaction: Transaction) => {
    if (keys.length === 0) return;
    const sql = `UPDATE ${table} SET ${set} WHERE ${key} IN (:keys) AND (${where})`;
    await database.sequelize.query(sql, { transaction, replacements: { keys } });
  };
  let after: Key | undefined;
  const find = async () => {
    const isLater = after === undefined ? '' : `${key} > :after AND `;
    const sql = `${isLater}(${where}) ORDER BY ${key} LIMIT ${BATCH}`;
    const rows = await held.transaction((transaction) => select(sql, { after }, transaction));
    after = rows.at(-1)?.key_value ?? after;
    return rows.map(({ key_value }) => key_value);
  };
  const free = async (keys: readonly Key[], transaction: Transaction): Promise<readonly Key[]> => {
    if (database.dialect === 'sqlite') return keys;
    const lock = database.dialect === 'mysql' ? 'FOR UPDATE' : 'FOR NO KEY UPDATE';
    const sql = `${key} IN (:keys) AND (${where}) ORDER BY ${key} ${lock} SKIP LOCKED`;
    return (await select(sql, { keys }, transaction)).map(({ key_value }) => key_value);
  };
  const batches = inBatches(find, async (keys) => {
    const changed = await held.transaction(async (transaction) => {
      const unlocked = await free(keys, transaction);
      await update(unlocked, transaction);
      return unlocked;
    });
    const done = new Set(changed.map(textOf));
    for (const one of keys.filter((value) => !done.has(textOf(value))))
      await held.transaction((transaction) => update([one], transaction));
    return keys.length;
  });
  // The generator changes each part when the part is requested.
  while (!(await batches.next()).done);
}
