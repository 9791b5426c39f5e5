import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { createAuth } from '../../lib/index.js';
import { columnName, type Column as DeclaredColumn, snakeCase } from '../../lib/tables/column.js';
import { coreTables } from '../../lib/tables/core.js';
import type { TableDeclaration } from '../../lib/tables/table.js';
import { memoryLogger, SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';

/**
 * The tables that the migrations create, as the database describes them, compared with the tables that the code declares.
 * Their first migrations are derived from the declarations, but the types, names and lists here are not.
 */
interface Column {
  readonly type: string;
  readonly isNullable: boolean;
  readonly isInPrimaryKey: boolean;
  readonly defaultValue: string | null;
}
type Table = Readonly<Record<string, Column>>;

/** The tables whose rows outlive their user. */
const WITHOUT_USER = ['audit_events', 'imported_users'];

const open = ({ url }: SpecDatabase) =>
  createAuth({
    database: url,
    secret: SECRET,
    baseUrl: 'http://localhost:3000',
    logger: memoryLogger(),
    rateLimit: {},
    outbox: { interval: false },
    user: {
      fields: {
        plan: { type: 'string', maxLength: 80, default: 'free' },
        level: { type: 'integer', default: 3 },
        since: { type: 'date' },
        ratio: { type: 'number' },
        newsletter: { type: 'boolean' },
        settings: { type: 'json' },
      },
    },
    email: { send: () => undefined },
    plugins: [...everyPlugin({ sendsEmails: true }), fixedProvider()],
  });
const FIELD_DEFAULTS: Readonly<Record<string, Partial<Column>>> = {
  'users.plan': { defaultValue: 'free' },
  'users.level': { defaultValue: '3' },
};

let database: SpecDatabase;
let auth: ReturnType<typeof open>;
let declarations: readonly TableDeclaration[];
let declared: Record<string, Table>;
let existing: Record<string, Table>;
beforeAll(async () => {
  database = await createDatabase();
  auth = open(database);
  await auth.migrate();
  // The table of users has the columns of plugins and of fields.
  // So has the table of sessions those of plugins.
  const { User: _, Session: __, ...others } = coreTables;
  const { users, sessions } = internalsOf(auth).core;
  declarations = [
    users.declaration,
    sessions.declaration,
    ...Object.values(others),
    ...(await otherTables()),
  ];
  declared = Object.fromEntries(declarations.map((table) => [table.name, columnsOf(table)]));
  existing = await existingTables();
});
afterAll(async () => {
  await auth.close();
  await database.drop();
});

describe('the tables that the migrations create', () => {
  test('are those that are declared, and the journal of the migrations', () => {
    expect(Object.keys(existing).sort()).toEqual([...Object.keys(declared), 'latchkey_migrations'].sort());
    // Fewer would mean that this spec reads the wrong thing.
    expect(Object.keys(declared).length).toBeGreaterThan(15);
  });

  test('have the columns that are declared, with the same types, lengths, NULLs, defaults and primary keys', () => {
    const { latchkey_migrations: _, ...tables } = existing;
    expect(flat(tables)).toEqual(withChanges(flat(declared), FIELD_DEFAULTS));
  });

  test('have the unique constraints that are declared, and no others', async () => {
    const found = (await existingIndexes()).filter(({ isUnique, isPrimary }) => isUnique && !isPrimary);
    const wanted = declarations.flatMap(({ unique = {}, ...table }) =>
      Object.entries(unique).map(([key, columns]) => listed(table, `${snakeCase(key)}_unique`, columns)),
    );
    // SQLite does not keep the names of constraints.
    const nameless = (line: string) => (dialect === 'sqlite' ? line.replace(/ \w+:/, ':') : line);
    expect(wanted.length).toBeGreaterThan(5);
    expect(found.map(lineOf).map(nameless).sort()).toEqual(wanted.map(nameless).sort());
  });

  test('have the indexes that are declared, and no others', async () => {
    const found = (await existingIndexes()).filter(({ isUnique }) => !isUnique);
    const wanted = declarations.flatMap(({ indexes = {}, ...table }) =>
      Object.entries(indexes).map(([key, columns]) => listed(table, snakeCase(key), columns)),
    );
    expect(wanted.length).toBeGreaterThan(20);
    expect(found.map(lineOf).sort()).toEqual(wanted.sort());
  });

  test('have the foreign keys that are declared, and no others', async () => {
    const found = (await existingReferences()).map(
      ({ table, column, target, rule }) => `${table}.${column} to ${target}: ${rule}`,
    );
    const wanted = declarations.flatMap(({ name, columns, foreignKeys = {} }) =>
      Object.entries(foreignKeys).map(
        ([attribute, target]) => `${name}.${named(columns, attribute)} to ${target?.name}: CASCADE`,
      ),
    );
    expect(wanted.length).toBeGreaterThan(10);
    expect(found.sort()).toEqual(wanted.sort());
  });

  test('have an index and a foreign key for the user of each row', async () => {
    const ofUser = Object.keys(declared).filter((table) => declared[table]?.user_id);
    expect(ofUser.length).toBeGreaterThan(10);
    const leading = (await existingIndexes()).map(({ table, columns }) => `${table}.${columns[0]}`);
    expect(ofUser.filter((table) => !leading.includes(`${table}.user_id`))).toEqual([]);
    const deleted = (await existingReferences()).filter(
      ({ column, target, rule }) => column === 'user_id' && target === 'users' && rule === 'CASCADE',
    );
    expect([...deleted.map(({ table }) => table), ...WITHOUT_USER].sort()).toEqual(ofUser.sort());
  });

  test('compare byte by byte', async () => {
    const collations = await existingCollations();
    expect(Object.keys(collations).length).toBeGreaterThan(dialect === 'sqlite' ? 5 : 30);
    if (dialect === 'sqlite') {
      expect([...new Set(Object.values(collations))]).toEqual(['BINARY']);
      return;
    }
    const wanted = declarations.flatMap(({ name, columns }) =>
      Object.keys(columns)
        .filter((attribute) => columns[attribute]?.isExact)
        .map((attribute) => `${name}.${named(columns, attribute)}`),
    );
    const exact = Object.keys(collations).filter((name) => EXACT_COLLATIONS.includes(collations[name] ?? ''));
    expect(exact.sort()).toEqual(wanted.sort());
    const others = new Set(Object.values(collations).filter((name) => !EXACT_COLLATIONS.includes(name)));
    expect([...others]).toEqual(dialect === 'mysql' ? ['utf8mb4_bin'] : ['default']);
    const inUnique = (await existingIndexes())
      .filter(({ isUnique }) => isUnique)
      .flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`));
    // Trailing spaces mean nothing in an id, which has always 36 characters.
    const texts = inUnique.filter((name) => flat(existing)[name]?.type.startsWith('varchar'));
    expect(texts.filter((name) => !exact.includes(name) && name !== 'latchkey_migrations.name')).toEqual([]);
  });
});

/** The columns of all tables, as `table.column`. */
function flat(tables: Record<string, Table>): Record<string, Column> {
  return Object.fromEntries(
    Object.entries(tables).flatMap(([table, columns]) =>
      Object.entries(columns).map(([name, column]) => [`${table}.${name}`, column]),
    ),
  );
}

function withChanges(columns: Record<string, Column>, changes: Readonly<Record<string, Partial<Column>>>) {
  return {
    ...columns,
    ...Object.fromEntries(
      Object.entries(changes).map(([name, change]) => [name, { ...columns[name], ...change }]),
    ),
  };
}

const named = (columns: TableDeclaration['columns'], attribute: string) =>
  columnName(attribute, columns[attribute] as DeclaredColumn);

function listed({ name, columns }: TableDeclaration, key: string, attributes: readonly string[]): string {
  return `${name} ${name}_${key}: ${attributes.map((attribute) => named(columns, attribute)).join(', ')}`;
}

function lineOf({ table, name, columns }: Index): string {
  return `${table} ${name}: ${columns.join(', ')}`;
}

/** What modules declare for plugins, whether or not a plugin has it created. */
async function otherTables(): Promise<TableDeclaration[]> {
  const lib = fileURLToPath(new URL('../../lib', import.meta.url));
  const files = await readdir(lib, { recursive: true });
  const declaring = files.filter((file) => /^(plugins\/[^/]+\/declarations|tables\/[^/]+)\.ts$/.test(file));
  const modules = declaring
    .filter((file) => file !== 'tables/core.ts')
    .map((file) => import(`../../lib/${file.replace(/ts$/, 'js')}`) as Promise<Record<string, unknown>>);
  const exported = (await Promise.all(modules)).flatMap((one) => Object.values(one));
  return exported.filter((one): one is TableDeclaration => Object.hasOwn(Object(one), 'columns'));
}

function columnsOf({ columns }: TableDeclaration): Table {
  return Object.fromEntries(
    Object.entries(columns).map(([attribute, column], index) => [
      columnName(attribute, column),
      {
        type: declaredType(column),
        isNullable: column.isNullable,
        isInPrimaryKey: index === 0,
        defaultValue: column.defaultValue === undefined ? null : String(column.defaultValue),
      } satisfies Column,
    ]),
  );
}

/** The names of types, which are the same for all databases here, except for one. */
function declaredType({ kind, length }: DeclaredColumn): string {
  const text = length === undefined ? 'text' : `varchar(${length})`;
  const types: Record<DeclaredColumn['kind'], string> = {
    uuid: 'uuid',
    text,
    'long-text': text,
    'huge-text': dialect === 'mysql' ? 'mediumtext' : 'text',
    words: text,
    json: text,
    document: text,
    digest: 'digest',
    time: 'time',
    'any-time': 'time',
    integer: 'integer',
    'big-integer': 'bigint',
    number: 'double',
    boolean: 'boolean',
  };
  return types[kind];
}

/** A type as the database describes it, by the same names. */
function existingType(type: string): string {
  const types: Record<typeof dialect, Record<string, string>> = {
    sqlite: {
      'char(36)': 'uuid',
      blob: 'digest',
      datetime: 'time',
      'tinyint(1)': 'boolean',
      'double precision': 'double',
    },
    mysql: {
      'char(36)': 'uuid',
      'binary(32)': 'digest',
      'datetime(3)': 'time',
      int: 'integer',
      'int(11)': 'integer',
      'bigint(20)': 'bigint',
      'tinyint(1)': 'boolean',
    },
    postgres: {
      bytea: 'digest',
      'timestamp(3) with time zone': 'time',
      'double precision': 'double',
    },
  };
  const name = type.toLowerCase().replace(/^character varying/, 'varchar');
  return types[dialect][name] ?? name;
}

interface Described {
  readonly of_table: string;
  readonly name: string;
  readonly type: string;
  readonly nullable: number;
  readonly pk: number;
  readonly value: string | null;
}

async function existingTables(): Promise<Record<string, Table>> {
  const found = await rows<Described>(database, COLUMNS[dialect]);
  const tables: Record<string, Record<string, Column>> = {};
  for (const { of_table: table, name, type, nullable, pk, value } of found) {
    tables[table] ??= {};
    tables[table][name] = {
      type: existingType(type),
      isNullable: Number(nullable) === 1,
      isInPrimaryKey: Number(pk) === 1,
      defaultValue: defaultOf(value),
    };
  }
  return tables;
}

/** A default without quotes and type. */
function defaultOf(value: string | null): string | null {
  if (value === null || value === 'NULL') return null;
  const [, quoted] = /^'(.*)'(?:::[\w ]+)?$/.exec(value) ?? [];
  return quoted ?? value;
}

const COLUMNS = {
  mysql: `SELECT c.table_name AS of_table, c.column_name AS name, c.column_type AS type,
      c.is_nullable = 'YES' AS nullable, c.column_key = 'PRI' AS pk, c.column_default AS value
    FROM information_schema.columns c WHERE c.table_schema = DATABASE()`,
  postgres: `SELECT t.relname AS of_table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
      CASE WHEN a.attnotnull THEN 0 ELSE 1 END AS nullable,
      CASE WHEN a.attnum = ANY (p.conkey) THEN 1 ELSE 0 END AS pk, pg_get_expr(d.adbin, d.adrelid) AS value
    FROM pg_attribute a JOIN pg_class t ON t.oid = a.attrelid AND t.relkind = 'r'
      JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = current_schema()
      LEFT JOIN pg_constraint p ON p.conrelid = t.oid AND p.contype = 'p'
      LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
    WHERE a.attnum > 0 AND NOT a.attisdropped`,
  sqlite: `SELECT m.name AS of_table, c.name AS name, c.type AS type, 1 - c."notnull" AS nullable, c.pk > 0 AS pk,
      c.dflt_value AS value
    FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`,
};

interface Index {
  readonly table: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly isUnique: boolean;
  readonly isPrimary: boolean;
}

async function existingIndexes(): Promise<Index[]> {
  const found = await rows<
    Record<'of_table' | 'name' | 'column_name', string> & { uniq: number; pk: number }
  >(database, INDEXES[dialect]);
  const indexes = new Map<string, Index & { columns: string[] }>();
  for (const { of_table: table, name, column_name: column, uniq, pk } of found) {
    const key = `${table}.${name}`;
    const index = indexes.get(key) ?? {
      table,
      name,
      columns: [],
      isUnique: Number(uniq) === 1,
      isPrimary: Number(pk) === 1,
    };
    index.columns.push(column);
    indexes.set(key, index);
  }
  return [...indexes.values()];
}

const INDEXES = {
  mysql: `SELECT table_name AS of_table, index_name AS name, column_name AS column_name, 1 - non_unique AS uniq,
      index_name = 'PRIMARY' AS pk
    FROM information_schema.statistics WHERE table_schema = DATABASE() ORDER BY table_name, index_name, seq_in_index`,
  postgres: `SELECT t.relname AS of_table, x.relname AS name, a.attname AS column_name, i.indisunique::int AS uniq,
      i.indisprimary::int AS pk
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid
      JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = current_schema()
      JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (attnum, place) ON TRUE
      JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum
    WHERE i.indisvalid ORDER BY t.relname, x.relname, k.place`,
  sqlite: `SELECT m.name AS of_table, l.name AS name, x.name AS column_name, l."unique" AS uniq, l.origin = 'pk' AS pk
    FROM sqlite_master m JOIN pragma_index_list(m.name) l JOIN pragma_index_info(l.name) x
    WHERE m.type = 'table' ORDER BY m.name, l.name, x.seqno`,
};

async function existingReferences() {
  return rows<Record<'table' | 'column' | 'target' | 'rule', string>>(database, REFERENCES[dialect]);
}

const REFERENCES = {
  mysql: `SELECT k.table_name AS \`table\`, k.column_name AS \`column\`, k.referenced_table_name AS target,
      r.delete_rule AS rule
    FROM information_schema.key_column_usage k JOIN information_schema.referential_constraints r
      ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name
      AND r.table_name = k.table_name
    WHERE k.table_schema = DATABASE() AND k.referenced_table_name IS NOT NULL`,
  postgres: `SELECT t.relname AS "table", a.attname AS "column", o.relname AS target,
      CASE f.confdeltype WHEN 'c' THEN 'CASCADE' ELSE f.confdeltype::text END AS rule
    FROM pg_constraint f JOIN pg_class t ON t.oid = f.conrelid JOIN pg_class o ON o.oid = f.confrelid
      JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = current_schema()
      JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = ANY (f.conkey)
    WHERE f.contype = 'f'`,
  sqlite: `SELECT m.name AS "table", f."from" AS "column", f."table" AS target, f.on_delete AS rule
    FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`,
};

const EXACT_COLLATIONS = {
  sqlite: ['BINARY'],
  mysql: ['utf8mb4_0900_bin', 'utf8mb4_nopad_bin'],
  postgres: ['C'],
}[dialect];

/** The collations of text, by `table.column`; on SQLite, only of what has an index. */
async function existingCollations(): Promise<Record<string, string>> {
  const found = await rows<Record<'name' | 'coll', string>>(database, COLLATIONS[dialect]);
  return Object.fromEntries(found.map(({ name, coll }) => [name, coll]));
}

const COLLATIONS = {
  mysql: `SELECT CONCAT(table_name, '.', column_name) AS name, collation_name AS coll FROM information_schema.columns
    WHERE table_schema = DATABASE() AND collation_name IS NOT NULL AND table_name <> 'latchkey_migrations'`,
  postgres: `SELECT t.relname || '.' || a.attname AS name, c.collname AS coll
    FROM pg_attribute a JOIN pg_class t ON t.oid = a.attrelid AND t.relkind = 'r'
      JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = current_schema()
      JOIN pg_collation c ON c.oid = a.attcollation
    WHERE a.attnum > 0 AND NOT a.attisdropped AND t.relname <> 'latchkey_migrations'`,
  sqlite: `SELECT m.name || '.' || x.name AS name, x.coll AS coll
    FROM sqlite_master m JOIN pragma_index_list(m.name) l JOIN pragma_index_xinfo(l.name) x
    WHERE m.type = 'table' AND x.key = 1`,
};
