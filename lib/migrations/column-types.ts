import type { Dialect } from '../database/connect.js';

/** How each dialect spells the types of our columns. */
export interface ColumnTypes {
  readonly id: string;
  /** Text that is compared byte for byte: no other case, accent or trailing space counts as equal. */
  exactText(length: number): string;
  text(length: number): string;
  /** Text of up to 64 KiB. */
  readonly longText: string;
  /** A SHA-256. */
  readonly digest: string;
  /** A point in time, in milliseconds. */
  readonly time: string;
  readonly boolean: string;
  /** What stands behind a table's closing parenthesis. */
  readonly tableOptions: string;
}

const postgres: ColumnTypes = {
  id: 'UUID',
  exactText: (length) => `VARCHAR(${length}) COLLATE "C"`,
  text: (length) => `VARCHAR(${length})`,
  longText: 'TEXT',
  digest: 'BYTEA',
  time: 'TIMESTAMP(3) WITH TIME ZONE',
  boolean: 'BOOLEAN',
  tableOptions: '',
};

const sqlite: ColumnTypes = {
  id: 'CHAR(36)',
  exactText: (length) => `VARCHAR(${length}) COLLATE BINARY`,
  text: (length) => `VARCHAR(${length})`,
  longText: 'TEXT',
  digest: 'BLOB',
  time: 'DATETIME',
  boolean: 'TINYINT(1)',
  tableOptions: '',
};

// Even utf8mb4_bin takes 'a' and 'a ' for equal. The collation that does not has another name on each.
function mysql(exactCollation: string): ColumnTypes {
  return {
    // The type that Sequelize gives a UUID column, so that an app's own tables can refer to it.
    id: 'CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    exactText: (length) => `VARCHAR(${length}) CHARACTER SET utf8mb4 COLLATE ${exactCollation}`,
    text: (length) => `VARCHAR(${length}) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    longText: 'TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    digest: 'BINARY(32)',
    time: 'DATETIME(3)',
    boolean: 'TINYINT(1)',
    tableOptions: 'ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
  };
}

/** @param serverVersion what `SELECT VERSION()` says; only MySQL's and MariaDB's matters */
export function columnTypes(dialect: Dialect, serverVersion: string): ColumnTypes {
  if (dialect === 'postgres') return postgres;
  if (dialect === 'sqlite') return sqlite;
  return mysql(/mariadb/i.test(serverVersion) ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin');
}
