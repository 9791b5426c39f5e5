import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Model, ModelStatic } from 'sequelize';
import { createAuth } from '../../lib/index.js';
import { memoryLogger, SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';

/**
 * The tables that the migrations create, compared with the tables that the code declares. The declarations are read from
 * the models, which are derived from them.
 */
interface Column {
  readonly type: string;
  readonly isNullable: boolean;
  readonly isInPrimaryKey: boolean;
  readonly defaultValue: string | null;
}
type Table = Readonly<Record<string, Column>>;

/** What the database has and no declaration can say yet. Each entry must still be true. */
const DIFFERENCES: Readonly<Record<string, Partial<Column>>> = {
  // Words of which there are few, so that MySQL stores them in the row and they can have a default.
  'sessions.amr': { type: 'varchar(100)', defaultValue: '' },
  'sessions.aal': { defaultValue: '1' },
  'pending_sign_ins.amr': { type: 'varchar(100)' },
  'users.auth_epoch': { defaultValue: '0' },
  // The counter of a passkey has 32 bits without a sign.
  'passkeys.counter': { type: 'bigint' },
  ...(dialect === 'mysql' && {
    'account_changes.state': { type: 'mediumtext' },
    'outbox.content': { type: 'mediumtext' },
  }),
  // SQLite ignores the length, so the migrations that made these columns longer leave it as it is.
  ...(dialect === 'sqlite' && {
    'users.username': { type: 'varchar(30)' },
    'users.password_hash': { type: 'varchar(255)' },
  }),
};

/** Values that must be compared byte by byte, and in the order of their bytes. No declaration says so yet. */
const EXACT = [
  'account_changes.email',
  'accounts.issuer',
  'accounts.provider',
  'accounts.subject',
  'audit_events.kind',
  'oauth_flows.provider',
  'one_time_tokens.email',
  'one_time_tokens.purpose',
  'outbox.lane',
  'outbox.state',
  'passkey_challenges.purpose',
  'passkey_challenges.user_handle',
  'passkeys.user_handle',
  'users.email',
  'users.username',
];

/** What must be unique in addition to the primary keys. No declaration says so yet. */
const UNIQUE = [
  'account_changes (token_hash)',
  'accounts (issuer, subject)',
  'accounts (user_id, provider)',
  'api_keys (key_hash)',
  'known_devices (token_hash, user_id)',
  'passkeys (credential_hash)',
  'sessions (token_hash)',
  'users (email)',
  'users (username)',
];

/** The tables whose rows outlive their user. */
const WITHOUT_USER = ['audit_events'];

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
    plugins: [...everyPlugin(), fixedProvider()],
  });
const FIELD_DEFAULTS: Readonly<Record<string, Partial<Column>>> = {
  'users.plan': { defaultValue: 'free' },
  'users.level': { defaultValue: '3' },
};

let database: SpecDatabase;
let auth: ReturnType<typeof open>;
let declared: Record<string, Table>;
let existing: Record<string, Table>;
beforeAll(async () => {
  database = await createDatabase();
  auth = open(database);
  await auth.migrate();
  declared = declaredTables(Object.values(auth.models));
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
    expect(flat(tables)).toEqual(withChanges(flat(declared), { ...DIFFERENCES, ...FIELD_DEFAULTS }));
  });

  test('differ in nothing that the declarations have come to say', () => {
    const all = flat(declared);
    const stale = Object.entries(DIFFERENCES).filter(([name, change]) =>
      Object.entries(change).some(([key, value]) => all[name]?.[key as keyof Column] === value),
    );
    expect(stale).toEqual([]);
  });

  test('have the unique values that they must have, and no others', async () => {
    const found = await existingIndexes();
    const unique = found.filter(({ isUnique, isPrimary }) => isUnique && !isPrimary);
    expect(unique.map(({ table, columns }) => `${table} (${columns.join(', ')})`).sort()).toEqual(UNIQUE);
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
    const exact = Object.keys(collations).filter((name) => EXACT_COLLATIONS.includes(collations[name] ?? ''));
    expect(exact.sort()).toEqual(EXACT);
    const others = new Set(Object.values(collations).filter((name) => !EXACT_COLLATIONS.includes(name)));
    expect([...others]).toEqual(dialect === 'mysql' ? ['utf8mb4_bin'] : ['default']);
    const inUnique = (await existingIndexes())
      .filter(({ isUnique }) => isUnique)
      .flatMap(({ table, columns }) => columns.map((column) => `${table}.${column}`));
    // Trailing spaces mean nothing in an id, which has always 36 characters.
    const texts = inUnique.filter((name) => flat(existing)[name]?.type.startsWith('varchar'));
    expect(texts.filter((name) => !EXACT.includes(name) && name !== 'latchkey_migrations.name')).toEqual([]);
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

/** The names of types, which are the same for all databases here. */
function declaredType({ key, _length: length }: { key: string; _length?: number }): string {
  if (key === 'STRING') return `varchar(${length})`;
  const types: Record<string, string> = {
    UUID: 'uuid',
    BLOB: 'digest',
    DATE: 'time',
    INTEGER: 'integer',
    'DOUBLE PRECISION': 'double',
    BOOLEAN: 'boolean',
    TEXT: 'text',
  };
  return types[key] ?? `unknown: ${key}`;
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

function declaredTables(models: readonly object[]): Record<string, Table> {
  return Object.fromEntries(
    (models as ModelStatic<Model>[]).map((model) => {
      const columns = Object.values(model.getAttributes()).map((attribute) => [
        attribute.field,
        {
          type: declaredType(attribute.type as never),
          isNullable: attribute.allowNull !== false,
          isInPrimaryKey: attribute.primaryKey === true,
          defaultValue: attribute.defaultValue === undefined ? null : String(attribute.defaultValue),
        } satisfies Column,
      ]);
      return [String(model.getTableName()), Object.fromEntries(columns)];
    }),
  );
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
