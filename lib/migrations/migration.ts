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

/** A step of the schema. Once released it never changes: a later step mends it. */
export interface Migration {
  /** It says in which order the steps of plugins are applied, after the core's; they are undone in the reverse. */
  readonly name: string;
  up(context: MigrationContext): Promise<void>;
  down(context: MigrationContext): Promise<void>;
}
