import { existsSync } from 'node:fs';
import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { AnyAuth, AuthConfig, Plugin } from '../../lib/index.js';
import { dialect, type SpecDatabase } from './database.js';

// The folder exists for one run of the specs, and its processes share it.
const folder = process.env.LATCHKEY_SPEC_TABLES;

/**
 * Migrates the database of a spec's app. On SQLite, the first app with certain plugins saves a copy of its empty
 * tables. Other apps with the same plugins start with the copy, because migrating takes longer than most specs.
 */
export async function migrated(
  auth: AnyAuth,
  database: SpecDatabase,
  { database: own, plugins, user, tablePrefix }: AuthConfig<readonly Plugin[]>,
): Promise<void> {
  const file = database.url.replace(/^sqlite:/, '');
  const names = (plugins ?? []).map(({ name }) => encodeURIComponent(name)).sort();
  const tables = join(folder ?? '', `${names.join('+')}.db`);
  // A database that already exists contains tables of the app.
  const isEmpty = dialect === 'sqlite' && !existsSync(file);
  const isPlain = folder && isEmpty && typeof own !== 'object' && !user && tablePrefix === undefined;
  const isFirst = !existsSync(tables);
  if (isPlain && !isFirst) await copyFile(tables, file);
  await auth.migrate();
  if (!isPlain || !isFirst) return;
  const copy = `${tables}.${process.pid}`;
  await database.sequelize.query(`VACUUM INTO '${copy}'`);
  await rename(copy, tables);
}
