import type { Sequelize } from 'sequelize';
import { connectByUrl } from '../../lib/database/connect.js';
import { dialect, dialectIn, rows, type SpecDatabase } from './database.js';

/** Creates the app's own Sequelize instance, and records everything that is sent through it, including secrets. */
export function recordingSequelize({ url }: SpecDatabase) {
  const sent = new Set<string>();
  const sequelize = connectByUrl(url) as Sequelize;
  const query = sequelize.query.bind(sequelize) as (...args: unknown[]) => Promise<unknown>;
  Object.assign(sequelize, {
    query: (sql: unknown, ...rest: unknown[]) => {
      if (typeof sql === 'string') sent.add(sql.trim());
      return query(sql, ...rest);
    },
  });
  return { sequelize, sent };
}

/** The tables of the current schema. */
export async function tablesOf(database: SpecDatabase): Promise<string[]> {
  const found = await rows<{ name: string }>(
    database,
    {
      sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
      mysql: 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
      postgres: 'SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()',
    }[dialectIn(database)],
  );
  return found.map(({ name }) => name);
}

/** Updates the planner's statistics about the number of rows. */
export async function analyze(database: SpecDatabase): Promise<void> {
  if (dialect !== 'mysql') await rows(database, 'ANALYZE');
  else await rows(database, `ANALYZE TABLE ${(await tablesOf(database)).join(', ')}`);
}

/**
 * Returns foreign keys without an index: to delete a row that they refer to, the database would read the whole table.
 */
export async function foreignKeysWithoutIndex(database: SpecDatabase): Promise<string[]> {
  const found = await rows<{ name: string }>(database, UNINDEXED[dialect]);
  return found.map(({ name }) => name);
}

const UNINDEXED = {
  sqlite: `SELECT m.name || '.' || f."from" AS name FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f
    WHERE m.type = 'table' AND NOT EXISTS (SELECT 1 FROM pragma_index_list(m.name) l JOIN pragma_index_info(l.name) i
      WHERE i.seqno = 0 AND i.name = f."from")`,
  mysql: `SELECT CONCAT(k.table_name, '.', k.column_name) AS name FROM information_schema.key_column_usage k
    WHERE k.table_schema = DATABASE() AND k.referenced_table_name IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM information_schema.statistics s WHERE s.table_schema = k.table_schema AND s.table_name = k.table_name
      AND s.column_name = k.column_name AND s.seq_in_index = 1)`,
  postgres: `SELECT c.conrelid::regclass || '.' || c.conname AS name FROM pg_constraint c
    WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace AND NOT EXISTS (
      SELECT 1 FROM pg_index i WHERE i.indrelid = c.conrelid AND i.indkey[0] = c.conkey[1])`,
};

/** How a statement reads one table. */
interface Access {
  readonly table: string;
  /** `keys`: some rows by an index. `index`: all rows along an index. `table`: all rows. */
  readonly by: 'keys' | 'index' | 'table';
}

/** How the database executes a statement. */
export interface Plan {
  readonly accesses: readonly Access[];
  /** Whether it sorts rows, instead of reading them in order. */
  readonly sorts: boolean;
}

/** Asks the database for the plan of a statement that was sent. It is not executed. */
export async function planOf(database: SpecDatabase, sql: string): Promise<Plan> {
  // Do not use replacements, because the values of the statement might contain colons.
  const [result] = await database.sequelize.query(`${EXPLAIN[dialect]} ${sql}`);
  return { sqlite: sqlitePlan, mysql: mysqlPlan, postgres: postgresPlan }[dialect](result as never);
}

const EXPLAIN = { sqlite: 'EXPLAIN QUERY PLAN', mysql: 'EXPLAIN', postgres: 'EXPLAIN (FORMAT JSON)' };

function sqlitePlan(lines: { detail: string }[]): Plan {
  const subqueries = lines.flatMap(
    ({ detail }) => /^(?:CO-ROUTINE|MATERIALIZE) (\w+)/.exec(detail)?.[1] ?? [],
  );
  const accesses = lines.flatMap(({ detail }): Access[] => {
    const [, verb, table = '', rest = ''] = /^(SEARCH|SCAN) (\w+)(.*)/.exec(detail) ?? [];
    if (!verb || /^(CONSTANT|SUBQUERY)$/i.test(table) || subqueries.includes(table)) return [];
    if (verb === 'SEARCH') return [{ table, by: 'keys' }];
    return [{ table, by: rest.includes('INDEX') ? 'index' : 'table' }];
  });
  return { accesses, sorts: lines.some(({ detail }) => detail.includes('TEMP B-TREE')) };
}

function mysqlPlan(lines: { table: string | null; type: string | null; Extra: string | null }[]): Plan {
  const accesses = lines.flatMap(({ table, type, Extra }): Access[] => {
    // The planner has looked for a row by its unique key, and found none.
    if (!table && /const table|no matching row|impossible where/i.test(Extra ?? ''))
      return [{ table: '', by: 'keys' }];
    if (!table || !type || table.startsWith('<')) return [];
    return [{ table, by: type === 'ALL' ? 'table' : type === 'index' ? 'index' : 'keys' }];
  });
  return { accesses, sorts: lines.some(({ Extra }) => Extra?.includes('filesort') ?? false) };
}

interface PostgresNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PostgresNode[];
}

function postgresPlan([answer]: { 'QUERY PLAN': [{ Plan: PostgresNode }] }[]): Plan {
  const all = (node: PostgresNode): PostgresNode[] => [node, ...(node.Plans ?? []).flatMap(all)];
  const nodes = answer ? all(answer['QUERY PLAN'][0].Plan) : [];
  const accesses = nodes.flatMap((node): Access[] => {
    const type = node['Node Type'];
    const table = node['Relation Name'] ?? node['Index Name'] ?? '';
    if (/Seq Scan$/.test(type)) return [{ table, by: 'table' }];
    if (!/Index/.test(type)) return [];
    return [{ table, by: node['Index Cond'] ? 'keys' : 'index' }];
  });
  return { accesses, sorts: nodes.some((node) => /Sort$/.test(node['Node Type'])) };
}
