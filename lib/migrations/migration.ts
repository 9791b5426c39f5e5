import type { Transaction } from 'sequelize';
import type { Database } from '../database/database.js';
import type { ColumnTypes } from './column-types.js';

export interface MigrationContext {
  readonly database: Database;
  readonly types: ColumnTypes;
  /** Runs one statement on the connection that has the lock. */
  run(sql: string): Promise<void>;
  readonly transaction: Transaction;
}

/** A step of the schema. Once released it never changes: a later step corrects it. */
export interface Migration {
  /** Plugins' migrations are applied in the order of their names, after the core's, and undone in reverse. */
  readonly name: string;
  up(context: MigrationContext): Promise<void>;
  down(context: MigrationContext): Promise<void>;
}

const owners = new Map<string, string>();

/**
 * Declares a plugin's migration.
 *
 * @param plugin as it is written in the config, for whoever has taken it out and now misses it
 */
export function declareMigration(plugin: string, migration: Migration): Migration {
  owners.set(migration.name, plugin);
  return migration;
}

/** The plugin that brings a migration, as it is written in the config. */
export function ownerOf(migration: string): string | undefined {
  return owners.get(migration);
}
