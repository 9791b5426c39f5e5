import type { Database } from '../../database/database.js';
import { type Finding, ok, problem } from './finding.js';
import type { ExpectedTable } from './schema.js';

/** A column of a unique index whose values are not compared byte by byte. */
interface Loose {
  readonly table_name: string;
  readonly column_name: string;
  readonly collation: string;
}

/**
 * Checks that what tells accounts apart is compared byte by byte. With another collation, two emails that look alike may be
 * one account for the database. Somebody has changed it then: the migrations create the columns right.
 */
export async function checkCollations(
  database: Database,
  tables: readonly ExpectedTable[],
): Promise<readonly Finding[]> {
  const check = 'collations';
  const loose = await database.select<Loose>(LOOSE[database.dialect], {
    tables: tables.map(({ name }) => name),
  });
  if (loose.length === 0) return [ok(check, 'what tells accounts apart is compared byte by byte')];
  return loose.map(({ table_name: table, column_name: column, collation }) =>
    problem(
      check,
      `${table}.${column} has the collation ${collation}: different texts can count as equal, and so as one account`,
      MENDS[database.dialect](table, column),
    ),
  );
}

const EXACT = "'utf8mb4_0900_bin', 'utf8mb4_nopad_bin'";

// An id is a CHAR, whose trailing spaces mean nothing.
const LOOSE = {
  mysql: `SELECT DISTINCT c.table_name AS table_name, c.column_name AS column_name, c.collation_name AS collation
    FROM information_schema.columns c JOIN information_schema.statistics i
      ON i.table_schema = c.table_schema AND i.table_name = c.table_name AND i.column_name = c.column_name
    WHERE c.table_schema = DATABASE() AND c.table_name IN (:tables) AND i.non_unique = 0
      AND c.collation_name IS NOT NULL AND c.collation_name NOT IN (${EXACT})
      AND NOT (c.data_type = 'char' AND RIGHT(c.collation_name, 4) = '_bin')
    ORDER BY 1, 2`,
  postgres: `SELECT DISTINCT t.relname AS table_name, a.attname AS column_name, COALESCE(c.collname, y.typname) AS collation
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
      JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY (i.indkey)
      JOIN pg_type y ON y.oid = a.atttypid LEFT JOIN pg_collation c ON c.oid = a.attcollation
    WHERE n.nspname = current_schema() AND t.relname IN (:tables) AND i.indisunique
      AND (y.typname = 'citext' OR c.collisdeterministic = FALSE)
    ORDER BY 1, 2`,
  sqlite: `SELECT DISTINCT m.name AS table_name, x.name AS column_name, x.coll AS collation
    FROM sqlite_master m JOIN pragma_index_list(m.name) l JOIN pragma_index_xinfo(l.name) x
    WHERE m.type = 'table' AND m.name IN (:tables) AND l."unique" = 1 AND x.key = 1 AND x.coll <> 'BINARY'
    ORDER BY 1, 2`,
};

const MENDS = {
  mysql: (table: string, column: string) =>
    `change the column back with ALTER TABLE ${table} MODIFY ${column} …, with its type and COLLATE utf8mb4_0900_bin (on MariaDB, utf8mb4_nopad_bin)`,
  postgres: (table: string, column: string) =>
    `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE varchar COLLATE "C"`,
  sqlite: (table: string, column: string) => `create ${table} anew, with COLLATE BINARY for ${column}`,
};
