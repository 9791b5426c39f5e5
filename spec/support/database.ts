import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sequelize } from 'sequelize';
import { connectByUrl, type Dialect } from '../../lib/database/connect.js';

/** The database that the current round of specs runs on. */
export const dialect = (process.env.LATCHKEY_SPEC_DATABASE ?? 'sqlite') as Dialect;

/** What Sequelize does not declare. */
interface WithVersion {
  readonly options: { databaseVersion: string | number };
}

/** The instances of this process that were to learn the versions of their servers, by kind. */
const asked = new Map<string, Sequelize & WithVersion>();

// With its first statement, an instance opens a connection only to learn the version of its server. Here, one of a process
// does so: specs make hundreds of instances, and PostgreSQL starts a process for each connection.
Sequelize.addHook('afterInit', (made) => {
  const { options } = made as Sequelize & WithVersion;
  if (options.databaseVersion !== 0) return;
  options.databaseVersion = asked.get(made.getDialect())?.options.databaseVersion ?? 0;
  if (options.databaseVersion === 0) asked.set(made.getDialect(), made as Sequelize & WithVersion);
});

/** The kind of a database. */
export function dialectIn({ sequelize }: SpecDatabase): Dialect {
  return sequelize.getDialect() as Dialect;
}

export interface SpecDatabase {
  /** The URL as an app would put it in its config. */
  readonly url: string;
  /** The specs' own connection, which bypasses latchkey. */
  readonly sequelize: Sequelize;
  drop(): Promise<void>;
}

/** Creates a new, empty database of the current kind. */
export async function createDatabase(): Promise<SpecDatabase> {
  return dialect === 'sqlite' ? createSqlite() : createOnServer(dialect, process.env.LATCHKEY_SPEC_URL ?? '');
}

/** Runs a query that bypasses latchkey. */
export async function rows<Row = Record<string, unknown>>(
  { sequelize }: SpecDatabase,
  sql: string,
  replacements: Record<string, unknown> = {},
): Promise<Row[]> {
  const [result] = await sequelize.query(sql, { replacements });
  return result as Row[];
}

/** Creates a new, empty SQLite file. */
export async function createSqlite(): Promise<SpecDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-spec-'));
  const url = `sqlite:${folder}/spec.db`;
  const sequelize = open(url);
  return {
    url,
    sequelize,
    async drop() {
      await sequelize.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Creates a new, empty database on a server. */
export async function createOnServer(
  dialect: Exclude<Dialect, 'sqlite'>,
  serverUrl: string,
): Promise<SpecDatabase> {
  const name = `latchkey_spec_${randomBytes(6).toString('hex')}`;
  // Uses MySQL's common case-insensitive collation, which treats a and A, and a and á, as equal.
  const collation = dialect === 'mysql' ? ' CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci' : '';
  await administer(dialect, serverUrl, `CREATE DATABASE ${name}${collation}`);
  return openOnServer(dialect, serverUrl, name);
}

/** Opens a database on a server. */
export function openOnServer(
  dialect: Exclude<Dialect, 'sqlite'>,
  serverUrl: string,
  name: string,
): SpecDatabase {
  const url = `${serverUrl}/${name}`;
  const sequelize = open(url);
  return {
    url,
    sequelize,
    async drop() {
      await sequelize.close();
      const force = dialect === 'postgres' ? ' WITH (FORCE)' : '';
      await administer(dialect, serverUrl, `DROP DATABASE ${name}${force}`);
    },
  };
}

let administrator: Sequelize | undefined;

/** Runs a statement that is for the whole server. The connection to the server of this round is kept. */
async function administer(
  dialect: Exclude<Dialect, 'sqlite'>,
  serverUrl: string,
  sql: string,
): Promise<void> {
  const own = dialect === 'mysql' ? 'mysql' : 'postgres';
  const connect = () =>
    new Sequelize(`${serverUrl}/${own}`, { logging: false, pool: { max: 1, idle: 60_000 } });
  if (serverUrl === process.env.LATCHKEY_SPEC_URL) {
    administrator ??= connect();
    await administrator.query(sql);
    return;
  }
  const server = connect();
  await server.query(sql);
  await server.close();
}

function open(url: string): Sequelize {
  const sequelize = connectByUrl(url);
  if (!sequelize) throw new Error(`no database at ${url}`);
  return sequelize;
}
