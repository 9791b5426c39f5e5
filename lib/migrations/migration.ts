import type { Transaction } from 'sequelize';
import type { Dialect } from '../database/connect.js';
import type { Database } from '../database/database.js';
import type { Columns } from '../tables/column.js';

/** The column types in a dialect's SQL. */
export interface ColumnTypes {
  readonly id: string;
  /** Text that is compared byte by byte: case, accents and trailing spaces are significant. */
  exactText(length: number): string;
  text(length: number): string;
  /** Text of up to 64 KiB. */
  readonly longText: string;
  /** Text of up to 16 MiB. */
  readonly hugeText: string;
  /** A SHA-256 hash. */
  readonly digest: string;
  /** A point in time, in milliseconds. */
  readonly time: string;
  readonly boolean: string;
  /** A floating-point number of double precision. */
  readonly number: string;
  /** Table options, which follow the closing parenthesis of CREATE TABLE. */
  readonly tableOptions: string;
}

const postgres: ColumnTypes = {
  id: 'UUID',
  exactText: (length) => `VARCHAR(${length}) COLLATE "C"`,
  text: (length) => `VARCHAR(${length})`,
  longText: 'TEXT',
  hugeText: 'TEXT',
  digest: 'BYTEA',
  time: 'TIMESTAMP(3) WITH TIME ZONE',
  boolean: 'BOOLEAN',
  number: 'DOUBLE PRECISION',
  tableOptions: '',
};

const sqlite: ColumnTypes = {
  id: 'CHAR(36)',
  exactText: (length) => `VARCHAR(${length}) COLLATE BINARY`,
  text: (length) => `VARCHAR(${length})`,
  longText: 'TEXT',
  hugeText: 'TEXT',
  digest: 'BLOB',
  time: 'DATETIME',
  boolean: 'TINYINT(1)',
  number: 'DOUBLE PRECISION',
  tableOptions: '',
};

// Even utf8mb4_bin ignores trailing spaces. MySQL and MariaDB have different names for a collation that does not.
function mysql(exactCollation: string): ColumnTypes {
  return {
    // The same type as Sequelize's UUID, so that the app's tables can have foreign keys to it.
    id: 'CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    exactText: (length) => `VARCHAR(${length}) CHARACTER SET utf8mb4 COLLATE ${exactCollation}`,
    text: (length) => `VARCHAR(${length}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    longText: 'TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    hugeText: 'MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    digest: 'BINARY(32)',
    time: 'DATETIME(3)',
    boolean: 'TINYINT(1)',
    number: 'DOUBLE',
    tableOptions: 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
  };
}

/**
 * Returns the column types of a dialect.
 *
 * @param serverVersion the result of `SELECT VERSION()`, which identifies MariaDB
 */
export function columnTypes(dialect: Dialect, serverVersion: string): ColumnTypes {
  if (dialect === 'postgres') return postgres;
  if (dialect === 'sqlite') return sqlite;
  return mysql(/mariadb/i.test(serverVersion) ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin');
}

/** The state of a database that a check reads. */
export interface Reading {
  readonly database: Database;
  /** The transaction to read in. Null to read committed data. */
  readonly transaction: Transaction | null;
}

/** A change of existing rows. It is carried out in batches, so it must be repeatable. */
export interface RowChange {
  readonly table: string;
  /** The column of the primary key. */
  readonly key: string;
  /** The SQL after SET. */
  readonly set: string;
  /** The SQL after WHERE. A row that has been changed must no longer match, or changing it twice must do no harm. */
  readonly where: string;
}

/** Collects the statements of a migration, which are carried out later. */
export interface MigrationContext {
  readonly database: Database;
  readonly types: ColumnTypes;
  /** Adds a statement that changes tables. */
  run(sql: string): Promise<void>;
  /** Adds a change of rows. */
  change(rows: RowChange): Promise<void>;
}

/**
 * A schema change. The first migration of the core and of each plugin is derived from the declarations: see
 * `create.ts`. Other migrations must not be modified once they are released; a later migration corrects them.
 * `spec/migrations/landed.spec.ts` fails if the statements of such a migration have changed.
 */
export interface Migration {
  /** The name. Plugins' migrations are applied in order of their names, after the core's, and undone in reverse. */
  readonly name: string;
  /**
   * The derived migration whose tables this one changes. If the derived migration creates the tables, it creates them
   * as they are declared today, so this migration has nothing to do and is only recorded.
   */
  readonly first?: string;
  /** The columns of users that a plugin's migration adds. */
  readonly userColumns?: Columns;
  up(context: MigrationContext): Promise<void>;
  down(context: MigrationContext): Promise<void>;
}
