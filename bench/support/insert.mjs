// Fills tables fast: one INSERT for many rows.
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { openSqlite } from './sqlite.mjs';

const ROWS = 1000;

/**
 * A connection that executes SQL, for a URL as latchkey takes it.
 *
 * @param {string} url `mysql://…`, `postgres://…` or `sqlite:<path>`
 */
export async function connectTo(url) {
  if (url.startsWith('mysql:')) {
    const connection = await createConnection({ uri: url, multipleStatements: true, timezone: 'Z' });
    return {
      dialect: 'mysql',
      run: async (sql) => (await connection.query(sql))[0],
      close: () => connection.end(),
    };
  }
  if (url.startsWith('postgres:')) {
    const client = new pg.Client(url);
    await client.connect();
    return {
      dialect: 'postgres',
      run: async (sql) => (await client.query(sql)).rows,
      close: () => client.end(),
    };
  }
  const file = await openSqlite(url.replace(/^sqlite:/, ''));
  return {
    dialect: 'sqlite',
    run: async (sql) => file.exec(sql),
    all: async (sql) => file.prepare(sql).all(),
    close: async () => file.close(),
  };
}

/**
 * Inserts rows 1 to `count`, in one transaction.
 *
 * @param {Awaited<ReturnType<typeof connectTo>>} connection
 * @param {string} table
 * @param {readonly string[]} columns
 * @param {number} count
 * @param {(index: number) => readonly unknown[]} row
 */
export async function insertRows(connection, table, columns, count, row) {
  const into = `INSERT INTO ${table} (${columns.join(', ')}) VALUES `;
  await connection.run('BEGIN');
  // The next rows are made while the database stores the last ones.
  let storing = Promise.resolve();
  for (let from = 1; from <= count; from += ROWS) {
    const length = Math.min(ROWS, count - from + 1);
    const rows = Array.from({ length }, (_, index) => tuple(connection.dialect, row(from + index)));
    await storing;
    storing = connection.run(into + rows.join(','));
  }
  await storing;
  await connection.run('COMMIT');
}

function tuple(dialect, values) {
  return `(${values.map((value) => literal(dialect, value)).join(',')})`;
}

function literal(dialect, value) {
  if (value === null) return 'NULL';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'boolean') return dialect === 'postgres' ? String(value) : String(Number(value));
  if (Buffer.isBuffer(value))
    return dialect === 'postgres' ? `'\\x${value.toString('hex')}'` : `x'${value.toString('hex')}'`;
  if (value instanceof Date) {
    const text = value.toISOString().replace('T', ' ').replace('Z', '');
    return dialect === 'mysql' ? `'${text}'` : `'${text} +00:00'`;
  }
  return `'${String(value).replaceAll("'", "''")}'`;
}
