import type { Database } from '../../database/database.js';
import { describeFailure } from '../failure.js';
import { type Finding, ok, problem, warning } from './finding.js';

// By https://www.sqlite.org/lang_upsert.html for the clause ON CONFLICT.
const LEAST = { mysql: '8.0.1', mariadb: '10.6', postgres: '9.5', sqlite: '3.24' } as const;
const MAX_SKEW_MS = 5000;

/** Checks the connection. If there is none, that is the only finding. */
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

async function checkVersion(database: Database): Promise<Finding> {
  const { dialect } = database;
  const [row] = await database.select<{ version: string }>(
    `SELECT ${dialect === 'sqlite' ? 'sqlite_version()' : 'version()'} AS version`,
  );
  const text = row?.version ?? '';
  const product = /mariadb/i.test(text) ? 'mariadb' : dialect;
  const version = /\d+(\.\d+)*/.exec(text)?.[0] ?? '';
  const title = { mysql: 'MySQL', mariadb: 'MariaDB', postgres: 'PostgreSQL', sqlite: 'SQLite' }[product];
  if (compareVersions(version, LEAST[product]) < 0)
    return problem('database', `${title} ${version} is too old`, `use ${title} ${LEAST[product]} or later`);
  return ok('database', `${title} ${version}`);
}

function checkClock({ clock }: Database): Finding {
  const skewMs = Math.abs(clock.now() - Date.now());
  if (skewMs < MAX_SKEW_MS) return ok('clock', 'that of this machine and that of the database agree');
  return warning(
    'clock',
    `that of this machine and that of the database are ${Math.round(skewMs / 1000)} seconds apart: sessions end early`,
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
      problem(check, 'autocommit is off: changes outside a transaction are lost', 'switch autocommit on'),
    );
  if (/NO_BACKSLASH_ESCAPES/.test(row?.sql_mode ?? ''))
    findings.push(
      warning(
        check,
        'sql_mode has NO_BACKSLASH_ESCAPES, with which the values in your own queries through Sequelize are not safe',
        'remove it from the sql_mode of your connections',
      ),
    );
  if (!/^([+-]\d\d:\d\d|Z|UTC)$/i.test(timezone))
    findings.push(
      warning(
        check,
        `Sequelize's timezone is ${timezone}: where there is summer time, one hour of the year is ambiguous`,
        "use an offset, such as the default '+00:00', before anything is stored",
      ),
    );
  return findings;
}

function* checkFile(database: Database): Generator<Finding> {
  if (optionsOf(database).storage === ':memory:')
    yield problem(
      'database',
      'it is in memory: everything is gone when the process ends',
      "set database to a file, such as 'sqlite:./app.db'",
    );
}

/** Which Sequelize's types omit. */
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
