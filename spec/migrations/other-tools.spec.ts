import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { createAuth, twoFactor } from '../../lib/index.js';
import {
  exposuresOf,
  findTools,
  fixOf,
  type OwnTables,
  unseenDanger,
} from '../../lib/migrations/other-tools.js';
import { SECRET } from '../support/app.js';

const POSTGRES: OwnTables = {
  names: ['auth_users', 'auth_sessions', 'auth_latchkey_migrations'],
  prefix: 'auth_',
  dialect: 'postgres',
  schema: 'public',
};
const SQLITE: OwnTables = { ...POSTGRES, dialect: 'sqlite', schema: null };
const UNPREFIXED: OwnTables = { ...POSTGRES, names: ['users', 'sessions'], prefix: '' };
const IN_SCHEMA: OwnTables = { ...UNPREFIXED, schema: 'auth' };

let parent: string;
beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'latchkey-tools-'));
});
afterAll(() => rm(parent, { recursive: true, force: true }));

/** Writes files into a new folder. */
async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(parent, 'app-'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

const exposuresIn = async (files: Readonly<Record<string, string>>, tables = POSTGRES) =>
  exposuresOf(findTools(await folderWith(files)), tables);
/** The lines to add to a config of Drizzle with these options. */
const linesFor = async (options: string, tables = POSTGRES) =>
  (await exposuresIn({ 'drizzle.config.ts': `export default defineConfig({ ${options} });` }, tables)).map(
    ({ lines }) => lines.join(' '),
  );

test.each([
  ['sqlite:./app.db', { dialect: 'sqlite', schema: null }],
  ['postgres://localhost/app', { dialect: 'postgres', schema: 'public' }],
  ['postgres://localhost/app?options=-csearch_path%3Dauth', { dialect: 'postgres', schema: 'auth' }],
])('the tables of an Auth are known without a connection to %s', async (database, where) => {
  const auth = createAuth({ database, secret: SECRET, tablePrefix: 'auth_', plugins: [twoFactor()] });
  const { ownTables: tables } = internalsOf(auth);
  expect(tables).toMatchObject({ ...where, prefix: 'auth_' });
  expect(tables.names).toEqual(
    expect.arrayContaining(['auth_users', 'auth_totp_secrets', 'auth_latchkey_migrations']),
  );
  await auth.close();
});

describe('finding tools', () => {
  test.each([
    ['Drizzle', 'drizzle-orm', 'drizzle.config.ts', "dialect: 'mysql'", 'mysql'],
    ['Drizzle', 'drizzle-orm', 'drizzle.config.prod.ts', '', null],
    ['Drizzle', 'drizzle-kit', 'drizzle.dev.config.json', '{ "dialect": "turso" }', 'sqlite'],
    [
      'Prisma',
      '@prisma/client',
      'prisma/schema.prisma',
      'datasource db { provider = "postgresql" }',
      'postgres',
    ],
    ['Prisma', 'prisma', 'prisma/schema/user.prisma', 'datasource db {\n  provider = "mongodb"\n}', null],
    ['Prisma', 'prisma', '.config/prisma.mjs', '', null],
    ['Knex', 'knex', 'knexfile.cjs', "client: 'pg'", null],
    ['TypeORM', 'typeorm', 'src/data-source.ts', '', null],
    ['MikroORM', '@mikro-orm/core', 'src/mikro-orm.config.ts', "from '@mikro-orm/mariadb'", 'mysql'],
  ])('finds %s by %s in package.json and by %s', async (name, dependency, path, text, dialect) => {
    const packageJson = JSON.stringify({ devDependencies: { [dependency]: '1' } });
    const isUnseen = ['drizzle-kit', 'prisma'].includes(dependency);
    expect(findTools(await folderWith({ 'package.json': packageJson }))).toEqual([
      { name, files: [], isUnseen, dialect: null },
    ]);
    expect(findTools(await folderWith({ [path]: text }))).toEqual([
      { name, files: [{ path, text }], isUnseen: false, dialect },
    ]);
  });

  test('finds none among other files', async () => {
    const folder = await folderWith({
      'package.json': '{ "dependencies": { "sequelize": "6" } }',
      'src/drizzle.config.ts': '',
      'config.prisma.bak': '',
    });
    expect(findTools(folder)).toEqual([]);
  });

  test('says nothing where files cannot be read', async () => {
    expect(findTools(join(parent, 'missing'))).toEqual([]);
    const folder = await folderWith({ 'package.json': '{ not JSON' });
    for (const path of ['drizzle.config.ts', 'prisma.config.ts']) await mkdir(join(folder, path));
    await writeFile(join(folder, 'schema.prisma'), '');
    expect(exposuresOf(findTools(folder), POSTGRES)).toEqual([]);
    const { getBuiltinModule } = process;
    process.getBuiltinModule = undefined as never;
    try {
      expect(findTools()).toEqual([]);
    } finally {
      process.getBuiltinModule = getBuiltinModule;
    }
  });
});

describe('Drizzle', () => {
  const PREFIXED = ["tablesFilter: ['!auth_*'],"];

  test.each([
    ["tablesFilter: ['!auth_*']"],
    ['tablesFilter: ["!auth_*"],'],
    ["tablesFilter: '!auth_*'"],
    ["tablesFilter: ['*', '!auth_*']"],
    ["tablesFilter: ['!auth_users', '!auth_sessions', '!auth_latchkey_migrations']"],
    ["tablesFilter: ['!auth_{users,sessions,latchkey_*}']"],
    ["tablesFilter: ['app_*']"],
    ['tablesFilter: [`\u0024{PREFIX}_*`]'],
    ["tablesFilter: filters }); const filters = ['!auth_*']; ({"],
    ["schemaFilter: ['app']"],
    ["dialect: 'mysql'"],
  ])('has nothing to add to %s', async (options) => {
    expect(await linesFor(options)).toEqual([]);
  });

  test.each([
    [''],
    ["dialect: 'postgresql', schema: './schema.ts'"],
    ["// tablesFilter: ['!auth_*']\n"],
    ["/* tablesFilter: ['!auth_*'] */"],
    ["tablesFilter: ['*']"],
    ['tablesFilter: []'],
    ['tablesFilter: filtersOfAnotherFile'],
    ["schemaFilter: ['public', 'app']"],
  ])('has a line to add to %s', async (options) => {
    expect(await linesFor(options)).toEqual(PREFIXED);
  });

  test('keeps the exceptions that are there', async () => {
    expect(await linesFor("tablesFilter: ['!auth_users', '!spatial_ref_sys']")).toEqual([
      "tablesFilter: ['!auth_users', '!spatial_ref_sys', '!auth_*'],",
    ]);
  });

  // With a glob that begins with !, drizzle-kit would include all tables that the glob does not match.
  test('adds no exception to globs that name the tables', async () => {
    expect(await linesFor("tablesFilter: ['auth_*', 'app_*']")).toEqual(["tablesFilter: ['app_*'],"]);
    const [exposure] = await exposuresIn({
      'drizzle.config.ts': "export default { tablesFilter: ['auth_*'] };",
    });
    expect(exposure).toMatchObject({
      lines: [],
      more: expect.stringContaining('choose a tablePrefix'),
      edited: null,
    });
  });

  test('names the tables if they have no prefix, or their schema', async () => {
    expect(await linesFor('', UNPREFIXED)).toEqual(["tablesFilter: ['!users', '!sessions'],"]);
    expect(await linesFor("tablesFilter: ['!users', '!sessions']", UNPREFIXED)).toEqual([]);
    expect(await linesFor('', IN_SCHEMA)).toEqual(["schemaFilter: ['public'],"]);
    expect(await linesFor("schemaFilter: 'public'", IN_SCHEMA)).toEqual([]);
  });

  test('says what is wrong, and what to do', async () => {
    const [exposure] = await exposuresIn({ 'drizzle.config.ts': 'export default {};' });
    expect(exposure?.problem).toBe(
      "drizzle.config.ts does not exclude latchkey's tables, so drizzle-kit push drops them",
    );
    expect(exposure && fixOf(exposure)).toBe("set in drizzle.config.ts: tablesFilter: ['!auth_*'],");
  });

  test.each([
    ['drizzle.config.ts', 'export default defineConfig({\n  dialect: "postgresql",\n});\n'],
    ['drizzle.config.js', 'module.exports = {\r\n\tschema: "a",\r\n};\r\n'],
    ['drizzle.config.mjs', 'export default { schema: "a" } satisfies Config;'],
    ['drizzle.config.json', '{\n  "dialect": "postgresql"\n}\n'],
  ])('adds the line to %s', async (path, text) => {
    const [exposure] = await exposuresIn({ [path]: text });
    const edited = exposure?.edited ?? '';
    expect(edited.replace(/\s*"?tablesFilter"?: \["?'?!auth_\*"?'?\],/, '')).toBe(text);
    expect(edited).not.toBe(text);
    if (path.endsWith('.json')) JSON.parse(edited);
    expect(await exposuresIn({ [path]: edited })).toEqual([]);
  });

  test.each([
    ['const config = {};\nexport default config;'],
    ['export default defineConfig(options);'],
    ["export default {\n  tablesFilter: ['*'],\n};"],
    ["export default {\n  schemaFilter: ['public'],\n};"],
    ['export default {\n  ...base,\n};'],
    ['/*\nexport default {\n};\n*/'],
  ])('adds no line to %s', async (text) => {
    const [exposure] = await exposuresIn({ 'drizzle.config.ts': text });
    expect(exposure).toMatchObject({ lines: PREFIXED, edited: null });
  });
});

describe('Prisma', () => {
  const schema = { 'prisma/schema.prisma': 'datasource db {\n  provider = "postgresql"\n}' };
  const config = (external: string) => `export default defineConfig({
    experimental: { externalTables: true },
    tables: { external: [${external}] },
    enums: { external: ['public.role'] },
  });`;
  const ALL = "'public.auth_users', 'public.auth_sessions', 'public.auth_latchkey_migrations'";

  test('has the lines of a config that is missing, or lacks a table', async () => {
    const files = { ...schema, 'prisma.config.ts': config("'public.auth_users'") };
    for (const one of [schema, files]) {
      const [exposure, ...others] = await exposuresIn(one);
      expect(others).toEqual([]);
      const problem =
        one === schema ? 'there is no prisma.config.ts that excludes' : 'prisma.config.ts does not exclude';
      expect(exposure?.problem).toMatch(problem);
      expect(exposure).toMatchObject({
        file: 'prisma.config.ts',
        lines: [
          'experimental: { externalTables: true },',
          `tables: { external: [${ALL}] },`,
          expect.stringContaining('initShadowDb'),
        ],
        edited: null,
      });
    }
  });

  test('has nothing to add if all tables are external', async () => {
    expect(await exposuresIn({ ...schema, 'prisma.config.ts': config(ALL) })).toEqual([]);
    const sqlite = { 'schema.prisma': 'datasource db {\n  provider = "sqlite"\n}' };
    const names = ALL.replaceAll('public.', '');
    expect(await exposuresIn({ ...sqlite, '.config/prisma.ts': config(names) }, SQLITE)).toEqual([]);
    expect(await exposuresIn({ ...sqlite, '.config/prisma.ts': config(ALL) }, SQLITE)).toHaveLength(1);
  });

  test('requires the preview feature', async () => {
    const text = config(ALL).replace('externalTables: true', 'externalTables: false');
    expect(await exposuresIn({ ...schema, 'prisma.config.ts': text })).toHaveLength(1);
  });

  test('has nothing to add for another database, or a schema that Prisma does not see', async () => {
    expect(await exposuresIn(schema, SQLITE)).toEqual([]);
    expect(await exposuresIn(schema, IN_SCHEMA)).toEqual([]);
    const seen = 'datasource db {\n  provider = "postgresql"\n  schemas = ["public", "auth"]\n}';
    expect(await exposuresIn({ 'prisma/schema.prisma': seen }, IN_SCHEMA)).toMatchObject([
      { lines: expect.arrayContaining(["tables: { external: ['auth.users', 'auth.sessions'] },"]) },
    ]);
  });
});

describe('MikroORM', () => {
  const linesOf = async (options: string, tables = POSTGRES) =>
    (await exposuresIn({ 'mikro-orm.config.ts': `export default { ${options} };` }, tables)).map(
      ({ lines }) => lines.join(' '),
    );

  test.each([
    ['schemaGenerator: { skipTables: [/^auth_/] }', POSTGRES],
    ["schemaGenerator: { skipTables: [/[/'\"]/, 'a]', /^auth_/i] }", POSTGRES],
    ["schemaGenerator: { skipTables: ['Users', 'public.sessions'] }", UNPREFIXED],
    ["schemaGenerator: { ignoreSchema: ['auth'] }", IN_SCHEMA],
  ])('has nothing to add to %s', async (options, tables) => {
    expect(await linesOf(options, tables)).toEqual([]);
  });

  test.each([
    ['', POSTGRES, 'schemaGenerator: { skipTables: [/^auth_/] },'],
    ['schemaGenerator: { skipTables: [/^app_/] }', POSTGRES, 'schemaGenerator: { skipTables: [/^auth_/] },'],
    ['', UNPREFIXED, "schemaGenerator: { skipTables: ['users', 'sessions'] },"],
  ])('has a line to add to %j', async (options, tables, line) => {
    expect(await linesOf(options, tables)).toEqual([line]);
  });
});

test('a config can say that it excludes the tables', async () => {
  const text = '// latchkey: excluded (the filter is in filters.ts)\nexport default { tablesFilter };';
  expect(await exposuresIn({ 'drizzle.config.ts': text })).toEqual([]);
});

test('a tool whose config is elsewhere is dangerous, unless it leaves unknown tables alone', async () => {
  const dangerOf = async (dependency: string) => {
    const packageJson = JSON.stringify({ dependencies: { [dependency]: '1' } });
    return findTools(await folderWith({ 'package.json': packageJson })).map(unseenDanger);
  };
  expect(await dangerOf('drizzle-kit')).toEqual(['drizzle-kit push drops them']);
  expect(await dangerOf('drizzle-orm')).toEqual([null]);
  expect(await dangerOf('knex')).toEqual([null]);
});

test('Knex and TypeORM leave unknown tables alone', async () => {
  expect(await exposuresIn({ 'knexfile.js': '', 'data-source.ts': 'synchronize: true' })).toEqual([]);
});
