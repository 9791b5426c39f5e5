import type { Transaction } from 'sequelize';
import type { Database } from '../database/database.js';
import type { ColumnTypes } from './column-types.js';

export interface MigrationContext {
  readonly database: Database;
  readonly types: ColumnTypes;
  /** Runs one statement on the connection that holds the lock. */
  run(sql: string): Promise<void>;
  readonly transaction: Transaction;
}

/** A schema change. It must not be modified once released; a later migration corrects it. */
export interface Migration {
  /** Plugins' migrations are applied in order of their names, after the core's, and undone in reverse. */
  readonly name: string;
  up(context: MigrationContext): Promise<void>;
  down(context: MigrationContext): Promise<void>;
}

const owners = new Map<string, string>();

/**
 * Declares a plugin's migration.
 *
 * @param plugin the plugin as written in the config, for error messages if it has been removed from there
 */
export function declareMigration(plugin: string, migration: Migration): Migration {
  owners.set(migration.name, plugin);
  return migration;
}

/** The plugin that owns a migration, as written in the config. */
export function ownerOf(migration: string): string | undefined {
  return owners.get(migration);
}
