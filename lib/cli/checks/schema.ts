import type { Auth } from '../../auth.js';
import type { Database } from '../../database/database.js';
import { describeFailure } from '../failure.js';
import { type Finding, ok, problem } from './finding.js';

/** A table as the code knows it. */
export interface ExpectedTable {
  readonly name: string;
  readonly columns: readonly string[];
}

interface AnyModel {
  getTableName(): string | object;
  getAttributes(): Readonly<Record<string, { readonly field?: string }>>;
}

/** The tables of an Auth. */
export function tablesOf({ models }: Auth): readonly ExpectedTable[] {
  return (Object.values(models) as readonly AnyModel[]).map((model) => ({
    name: String(model.getTableName()),
    columns: Object.entries(model.getAttributes()).map(([attribute, { field }]) => field ?? attribute),
  }));
}

/** Checks that all migrations have run, and that the tables have the columns that the code uses. */
export async function* checkSchema(
  auth: Auth,
  database: Database,
  tables: readonly ExpectedTable[],
): AsyncGenerator<Finding> {
  let pending: readonly string[];
  try {
    pending = await auth.migrate({ dryRun: true });
  } catch (error) {
    yield problem('schema', describeFailure(error).message, 'see the message');
    return;
  }
  if (pending.length > 0) {
    yield problem('schema', `migrations are pending: ${pending.join(', ')}`, 'npx latchkey migrate');
    return;
  }
  const existing = await columnsIn(
    database,
    tables.map(({ name }) => name),
  );
  const missing = tables.flatMap(({ name, columns }) =>
    columns.filter((column) => !existing.has(`${name}.${column}`)).map((column) => `${name}.${column}`),
  );
  if (missing.length === 0) yield ok('schema', 'all migrations have run');
  else
    yield problem(
      'schema',
      `all migrations have run, but these columns are missing: ${missing.join(', ')}`,
      'somebody has dropped them: restore them from a backup',
    );
}

async function columnsIn(database: Database, tables: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await database.select<{ of_table: string; name: string }>(COLUMNS[database.dialect], {
    tables: [...tables],
  });
  return new Set(rows.map(({ of_table, name }) => `${of_table}.${name}`));
}

const COLUMNS = {
  mysql: `SELECT table_name AS of_table, column_name AS name FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name IN (:tables)`,
  postgres: `SELECT table_name AS of_table, column_name AS name FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name IN (:tables)`,
  sqlite: `SELECT m.name AS of_table, c.name AS name FROM sqlite_master m JOIN pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name IN (:tables)`,
};
