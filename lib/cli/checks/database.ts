import type { Auth } from '../../auth.js';
import type { Database } from '../../database/database.js';
import { describeFailure } from '../output.js';
import { type Finding, ok, problem, warning } from './finding.js';

// SQLite has the clause ON CONFLICT since 3.24: https://www.sqlite.org/lang_upsert.html
const LEAST = { mysql: '8.0.1', mariadb: '10.6', postgres: '9.5', sqlite: '3.24' } as const;
const MAX_SKEW_MS = 5000;

/** Checks the connection. If it cannot be opened, this is the only finding. */
export async function* checkDatabase(database: Database): AsyncGenerator<Finding> {
  try {
    await database.ready();
  } catch (error) {
    yield problem(
      'database',
      describeFailure(error).message,
      'start the database, and check the host, the name, the user and the password in database',
    );
    return;
  }
  yield await checkVersion(database);
  yield checkClock(database);
  yield* await checkConnection(database);
}

const TITLES = { mysql: 'MySQL', mariadb: 'MariaDB', postgres: 'PostgreSQL', sqlite: 'SQLite' } as const;

/** The server of a database, or the library of SQLite. */
export interface DatabaseServer {
  readonly product: keyof typeof TITLES;
  readonly version: string;
}

/** The server's name and version, such as `MariaDB 10.11.6`. */
export function serverInWords({ product, version }: DatabaseServer): string {
  return `${TITLES[product]} ${version}`;
}

/** Asks the database for the version of its server. */
export async function serverOf(database: Database): Promise<DatabaseServer> {
  const { dialect } = database;
  const [row] = await database.select<{ version: string }>(
    `SELECT ${dialect === 'sqlite' ? 'sqlite_version()' : 'version()'} AS version`,
  );
  const text = row?.version ?? '';
  const product = /mariadb/i.test(text) ? 'mariadb' : dialect;
  return { product, version: /\d+(\.\d+)*/.exec(text)?.[0] ?? '' };
}

async function checkVersion(database: Database): Promise<Finding> {
  const server = await serverOf(database);
  const { product, version } = server;
  const title = serverInWords(server);
  if (compareVersions(version, LEAST[product]) >= 0) return ok('database', title);
  return problem('database', `${title} is too old`, `use ${TITLES[product]} ${LEAST[product]} or later`);
}

function checkClock({ clock }: Database): Finding {
  const skewMs = Math.abs(clock.now() - Date.now());
  if (skewMs < MAX_SKEW_MS) return ok('clock', 'the clocks of this machine and the database agree');
  return warning(
    'clock',
    `the clocks of this machine and the database are ${Math.round(skewMs / 1000)} seconds apart: sessions expire early`,
    'let both machines follow a time server (NTP)',
  );
}

async function checkConnection(database: Database): Promise<Finding[]> {
  const check = 'connection';
  if (database.dialect === 'postgres') {
    const [row] = await database.select<{ server: string; client: string }>(
      "SELECT current_setting('server_encoding') AS server, current_setting('client_encoding') AS client",
    );
    const wrong = Object.entries(row ?? {}).filter(([, encoding]) => encoding !== 'UTF8');
    return wrong.map(([end, encoding]) =>
      problem(
        check,
        `the ${end}'s encoding is ${encoding}: not every character can be stored`,
        end === 'server'
          ? "create the database with ENCODING 'UTF8'"
          : 'remove client_encoding from the settings',
      ),
    );
  }
  if (database.dialect === 'sqlite') return [...checkFile(database)];
  const [row] = await database.select<{ autocommit: unknown; sql_mode: string }>(
    'SELECT @@SESSION.autocommit AS autocommit, @@SESSION.sql_mode AS sql_mode',
  );
  const { timezone = '+00:00' } = optionsOf(database);
  const findings: Finding[] = [];
  if (Number(row?.autocommit) !== 1)
    findings.push(
      problem(check, 'autocommit is disabled: changes outside a transaction are lost', 'enable autocommit'),
    );
  if (/NO_BACKSLASH_ESCAPES/.test(row?.sql_mode ?? ''))
    findings.push(
      warning(
        check,
        'sql_mode has NO_BACKSLASH_ESCAPES, which makes the values in your own queries through Sequelize unsafe',
        'remove it from the sql_mode of your connections',
      ),
    );
  if (!/^([+-]\d\d:\d\d|Z|UTC)$/i.test(timezone))
    findings.push(
      warning(
        check,
        `Sequelize's timezone is ${timezone}: where there is daylight saving time, one hour of the year is ambiguous`,
        "use an offset, such as the default '+00:00', before anything is stored",
      ),
    );
  return findings;
}

function* checkFile(database: Database): Generator<Finding> {
  if (optionsOf(database).storage === ':memory:')
    yield problem(
      'database',
      'the database is in memory: all data is lost when the process ends',
      "set database to a file, such as 'sqlite:./app.db'",
    );
}

/** Returns the options of Sequelize, which its types omit. */
function optionsOf({ sequelize }: Database): { readonly storage?: string; readonly timezone?: string } {
  return (sequelize as unknown as { options: object }).options;
}

function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (let at = 0; at < 3; at++) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

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
    yield problem('schema', describeFailure(error).message, 'fix the error in the message');
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
      'someone has dropped them: restore them from a backup',
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

/** A column of a unique index whose values are not compared byte by byte. */
interface Loose {
  readonly table_name: string;
  readonly column_name: string;
  readonly collation: string;
}

/**
 * Checks that the values that distinguish accounts are compared byte by byte. With another collation, the database
 * could treat two similar emails as one account. The migrations set the right collation, so a different one was set by
 * someone later.
 */
export async function checkCollations(
  database: Database,
  tables: readonly ExpectedTable[],
): Promise<readonly Finding[]> {
  const check = 'collations';
  const loose = await database.select<Loose>(LOOSE[database.dialect], {
    tables: tables.map(({ name }) => name),
  });
  if (loose.length === 0)
    return [ok(check, 'the values that distinguish accounts are compared byte by byte')];
  return loose.map(({ table_name: table, column_name: column, collation }) =>
    problem(
      check,
      `${table}.${column} has the collation ${collation}: two different strings can count as equal, and therefore as one account`,
      FIXES[database.dialect](table, column),
    ),
  );
}

const EXACT = "'utf8mb4_0900_bin', 'utf8mb4_nopad_bin'";

// An id is a CHAR, so its trailing spaces do not matter.
const LOOSE = {
  mysql: `SELECT DISTINCT c.table_name AS table_name, c.column_name AS column_name, c.collation_name AS collation
    FROM information_schema.columns c JOIN information_schema.statistics i
      ON i.table_schema = c.table_schema AND i.table_name = c.table_name AND i.column_name = c.column_name
    WHERE c.table_schema = DATABASE() AND c.table_name IN (:tables) AND i.non_unique = 0
      AND c.collation_name IS NOT NULL AND c.collation_name NOT IN (${EXACT})
      AND NOT (c.data_type = 'char' AND RIGHT(c.collation_name, 4) = '_bin')
    ORDER BY 1, 2`,
  postgres: `SELECT DISTINCT t.relname AS table_name, a.attname AS column_name, COALESCE(c.collname, y.typname) AS collation
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
      JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY (i.indkey)
      JOIN pg_type y ON y.oid = a.atttypid LEFT JOIN pg_collation c ON c.oid = a.attcollation
    WHERE n.nspname = current_schema() AND t.relname IN (:tables) AND i.indisunique
      AND (y.typname = 'citext' OR c.collisdeterministic = FALSE)
    ORDER BY 1, 2`,
  sqlite: `SELECT DISTINCT m.name AS table_name, x.name AS column_name, x.coll AS collation
    FROM sqlite_master m JOIN pragma_index_list(m.name) l JOIN pragma_index_xinfo(l.name) x
    WHERE m.type = 'table' AND m.name IN (:tables) AND l."unique" = 1 AND x.key = 1 AND x.coll <> 'BINARY'
    ORDER BY 1, 2`,
};

const FIXES = {
  mysql: (table: string, column: string) =>
    `change the column back with ALTER TABLE ${table} MODIFY ${column} …, with its type and COLLATE utf8mb4_0900_bin (on MariaDB, utf8mb4_nopad_bin)`,
  postgres: (table: string, column: string) =>
    `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE varchar COLLATE "C"`,
  sqlite: (table: string, column: string) => `re-create ${table}, with COLLATE BINARY for ${column}`,
};

const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** Checks whether expired rows are deleted. */
export async function checkPruning(database: Database): Promise<Finding> {
  const rows = await database.select(
    `SELECT id FROM ${database.table('sessions')} WHERE expires_at < :end LIMIT 1`,
    { end: database.clock.date(-WEEK_MS) },
  );
  if (rows.length === 0) return ok('pruning', 'no session has expired for more than a week');
  return warning(
    'pruning',
    'there are sessions that expired more than a week ago, so the tables grow without limit',
    'run npx latchkey prune every day',
  );
}
