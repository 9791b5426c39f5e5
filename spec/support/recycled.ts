import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createOnServer, dialect, openOnServer, rows, type SpecDatabase } from './database.js';

const folder = join(process.env.LATCHKEY_SPEC_TABLES ?? '', dialect);
const server = process.env.LATCHKEY_SPEC_URL ?? '';

// The journal is the only table with rows after a migration. Its name can have a prefix.
const isJournal = (table: string) => table.endsWith('latchkey_migrations');

/** The tables with their columns, indexes and foreign keys. */
const SCHEMA = {
  mysql: [
    `SELECT table_name AS name, column_name, column_type, is_nullable, column_default, collation_name, extra
     FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY table_name, ordinal_position`,
    `SELECT table_name AS name, index_name, non_unique, column_name, sub_part
     FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index`,
    `SELECT table_name AS name, constraint_name, referenced_table_name, delete_rule
     FROM information_schema.referential_constraints WHERE constraint_schema = DATABASE() ORDER BY table_name, constraint_name`,
    `SELECT event_object_table AS name, trigger_name FROM information_schema.triggers
     WHERE trigger_schema = DATABASE() ORDER BY trigger_name`,
  ],
  postgres: [
    `SELECT c.relname AS name, c.relkind, a.attname, a.atttypid, a.atttypmod, a.attnotnull,
       pg_get_expr(d.adbin, d.adrelid) AS default_value
     FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
       LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
     WHERE c.relnamespace = 'public'::regnamespace ORDER BY c.relname, a.attnum`,
    `SELECT conname AS name, conrelid::regclass::text, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE connamespace = 'public'::regnamespace ORDER BY conname`,
    `SELECT indexname AS name, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname`,
    `SELECT tgname AS name FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname`,
    `SELECT typname AS name FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype = 'e' ORDER BY typname`,
    `SELECT nspname AS name FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY nspname`,
  ],
};

/** The other connections to a database. An app that still runs could change what the next app finds. */
const OTHERS = {
  mysql: `SELECT COUNT(*) AS n FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()`,
  postgres: `SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
};

/** A database whose tables are used again. */
export interface RecycledDatabase extends SpecDatabase {
  /** Must be called when the tables have been migrated. */
  migrated(): Promise<void>;
}

/**
 * Takes a migrated database with empty tables, or creates one. Creating and migrating a database takes longer than
 * most specs, so the apps with the same plugins and fields use the same databases, one after the other. They are in files of a
 * folder that the processes of a run share.
 *
 * @param kind what the tables depend on
 */
export async function takeDatabase(kind: string): Promise<RecycledDatabase> {
  if (dialect === 'sqlite') throw new Error('SQLite copies a file instead');
  const free = join(folder, kind);
  await mkdir(free, { recursive: true });
  const name = await takeFrom(free);
  const database = name ? openOnServer(dialect, server, name) : await createOnServer(dialect, server);
  const schema = join(free, 'schema');
  return {
    ...database,
    async migrated() {
      if (!existsSync(schema)) await writeWhole(schema, await schemaOf(database));
    },
    async drop() {
      const isFree = await emptied(database, schema).catch(() => false);
      if (!isFree) return database.drop();
      await database.sequelize.close();
      await writeWhole(join(free, `free-${basename(database.url)}`), '');
    },
  };
}

/** Returns the name of a database that no other process has taken. */
async function takeFrom(free: string): Promise<string | null> {
  for (const file of await readdir(free)) {
    const [, name] = /^free-(\w+)$/.exec(file) ?? [];
    if (!name) continue;
    const isTaken = await rename(join(free, file), join(free, `taken-${name}`)).then(
      () => true,
      () => false,
    );
    if (isTaken) return name;
  }
  return null;
}

/** Empties the tables, unless they are no longer what they were after the migration. Returns whether they are empty. */
async function emptied(database: SpecDatabase, schema: string): Promise<boolean> {
  if (!existsSync(schema) || !(await isAlone(database))) return false;
  const migrated = await readFile(schema, 'utf8');
  const all = await tablesOf(database);
  const tables = all.filter((table) => migrated.includes(`"name": "${table}"`));
  await dropped(
    database,
    all.filter((table) => !tables.includes(table)),
  );
  if ((await schemaOf(database)) !== migrated) return false;
  await database.sequelize.transaction(async (transaction) => {
    const run = (sql: string) => database.sequelize.query(sql, { transaction });
    // No order of the tables suits their foreign keys in every case.
    await run(
      dialect === 'mysql'
        ? 'SET SESSION foreign_key_checks = 0, lock_wait_timeout = 2, innodb_lock_wait_timeout = 2'
        : "SET LOCAL session_replication_role = replica; SET LOCAL lock_timeout = '2s'",
    );
    for (const table of tables) if (!isJournal(table)) await run(`DELETE FROM ${table}`);
  });
  return true;
}

/** Drops the tables that an app has created beside those of latchkey. */
async function dropped(database: SpecDatabase, tables: readonly string[]): Promise<void> {
  if (tables.length === 0) return;
  await database.sequelize.transaction(async (transaction) => {
    const run = (sql: string) => database.sequelize.query(sql, { transaction });
    if (dialect === 'mysql') await run('SET SESSION foreign_key_checks = 0, lock_wait_timeout = 2');
    else await run("SET LOCAL lock_timeout = '2s'");
    for (const table of tables)
      await run(`DROP TABLE ${database.sequelize.getQueryInterface().quoteIdentifier(table, true)} CASCADE`);
  });
}

/** Connections that have just been closed can remain on the server for a moment. */
async function isAlone(database: SpecDatabase): Promise<boolean> {
  for (let tries = 0; tries < 20; tries++) {
    const [others] = await rows<{ n: number }>(database, OTHERS[dialect as 'mysql']);
    if (Number(others?.n) === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
}

async function tablesOf({ sequelize }: SpecDatabase): Promise<string[]> {
  return (await sequelize.getQueryInterface().showAllTables()).map(String);
}

async function schemaOf(database: SpecDatabase): Promise<string> {
  const journal = (await tablesOf(database)).find(isJournal);
  const parts: unknown[] = [await rows(database, `SELECT name FROM ${journal} ORDER BY name`)];
  for (const sql of SCHEMA[dialect as 'mysql']) parts.push(await rows(database, sql));
  return JSON.stringify(parts, null, 1);
}

/** Other processes see the whole file or none. */
async function writeWhole(file: string, text: string): Promise<void> {
  const part = `${file}.${randomBytes(4).toString('hex')}`;
  await writeFile(part, text);
  await rename(part, file);
}
