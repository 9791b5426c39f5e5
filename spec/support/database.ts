import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sequelize } from 'sequelize';
import { connectByUrl, type Dialect } from '../../lib/database/connect.js';

/** The database that the current round of specs runs on. */
export const dialect = (process.env.LATCHKEY_SPEC_DATABASE ?? 'sqlite') as Dialect;

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

async function administer(
  dialect: Exclude<Dialect, 'sqlite'>,
  serverUrl: string,
  sql: string,
): Promise<void> {
  const own = dialect === 'mysql' ? 'mysql' : 'postgres';
  const server = new Sequelize(`${serverUrl}/${own}`, { logging: false });
  await server.query(sql);
  await server.close();
}

function open(url: string): Sequelize {
  const sequelize = connectByUrl(url);
  if (!sequelize) throw new Error(`no database at ${url}`);
  return sequelize;
}
