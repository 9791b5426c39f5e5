import { readFile } from 'node:fs/promises';
import { rows, type SpecDatabase } from './database.js';

/** Tables that another library has created on PostgreSQL, with their rows: see bench/importer-rows.mjs. */
export interface Made {
  readonly schema: string;
  readonly tables: Readonly<Record<string, readonly Readonly<Record<string, unknown>>[]>>;
}

/** Reads a file of spec/importers. */
export async function madeBy<M extends Made = Made>(library: 'better-auth' | 'auth-js'): Promise<M> {
  return JSON.parse(await readFile(new URL(`../moving-in/systems/${library}.json`, import.meta.url), 'utf8'));
}

/** Puts such tables into an empty database. */
export async function fillWith(
  database: SpecDatabase,
  { schema, tables }: Made,
  dialect: string,
): Promise<SpecDatabase> {
  const ofMySql = (sql: string) =>
    sql
      .replaceAll('"', '`')
      .replace(/timestamptz|timestamp with time zone/gi, 'datetime(3)')
      .replaceAll('CURRENT_TIMESTAMP', 'CURRENT_TIMESTAMP(3)')
      .replace(/\b(?:text|uuid)\b/gi, 'varchar(600)');
  for (const sql of schema.split(/;+\s*/).filter(Boolean))
    await rows(database, dialect === 'mysql' ? ofMySql(sql) : sql);
  for (const [table, list] of Object.entries(tables))
    await database.sequelize.getQueryInterface().bulkInsert(
      table,
      list.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, revived(value)])),
      ),
    );
  return database;
}

/** Times are text in JSON. */
function revived(value: unknown): unknown {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? new Date(value) : value;
}
