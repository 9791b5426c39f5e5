import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { AnyAuth, AuthConfig, Plugin } from '../../lib/index.js';
import { createDatabase, dialect, type SpecDatabase } from './database.js';
import { takeDatabase } from './recycled.js';

// The folder exists for one run of the specs, and its processes share it.
const folder = process.env.LATCHKEY_SPEC_TABLES;

type Config = Partial<AuthConfig<readonly Plugin[]>> & {
  /** Whether the app has rows of its own, as those of `ownRows`. */
  hasOwnRows?: boolean;
};

/** An app's database. */
export interface AppDatabase {
  readonly database: SpecDatabase;
  /** Migrates it. Specs would take several times as long if the same tables were created for each app. */
  migrate(auth: AnyAuth): Promise<void>;
}

/**
 * Creates the database of an app.
 *
 * @param config what is known of the app's config; null if the config depends on the database
 */
export async function databaseFor(config: Config | null): Promise<AppDatabase> {
  const kind = config && kindOf(config);
  if (!folder || !kind) {
    const database = await createDatabase();
    return { database, migrate: async (auth) => void (await auth.migrate()) };
  }
  if (dialect === 'sqlite') return copied(join(folder, `${kind}.db`));
  const database = await takeDatabase(kind);
  return {
    database,
    async migrate(auth) {
      await auth.migrate();
      await database.migrated();
    },
  };
}

/** Names what the tables of an app depend on; null if the app has tables or a database of its own. */
function kindOf({
  database,
  plugins = [],
  user = {},
  tablePrefix,
  locale = {},
  hasOwnRows = false,
}: Config): string | null {
  if (database !== undefined || tablePrefix !== undefined || !isPlain(user)) return null;
  const names = plugins.map(({ name }) => encodeURIComponent(name)).sort();
  const fields = createHash('sha256').update(JSON.stringify(user)).digest('hex').slice(0, 16);
  const { length: languages } = locale.languages ?? [];
  return `with ${names.join('+')} ${fields}${languages > 1 ? ' languages' : ''}${hasOwnRows ? ' rows' : ''}`;
}

/** Whether a value is the same as its JSON, so that it contains no model and no function. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function';
  const isObject = Object.getPrototypeOf(value) === Object.prototype || Array.isArray(value);
  return isObject && Object.values(value).every(isPlain);
}

/** On SQLite, the first app with certain plugins saves a copy of its empty tables. Others start with the copy. */
async function copied(tables: string): Promise<AppDatabase> {
  const database = await createDatabase();
  const isFirst = !existsSync(tables);
  if (!isFirst) await copyFile(tables, database.url.replace(/^sqlite:/, ''));
  return {
    database,
    async migrate(auth) {
      await auth.migrate();
      if (!isFirst) return;
      const copy = `${tables}.${process.pid}`;
      await database.sequelize.query(`VACUUM INTO '${copy}'`);
      await rename(copy, tables);
    },
  };
}
