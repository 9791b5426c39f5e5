import { execFile } from 'node:child_process';
import { readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import prisma from '@prisma/prisma-schema-wasm';
import { Sequelize } from 'sequelize';
import { drizzleSource } from '../../lib/cli/schema/drizzle.js';
import { prismaSource } from '../../lib/cli/schema/prisma.js';
import { schemaOf } from '../../lib/cli/schema/tables.js';
import { createAuth } from '../../lib/index.js';
import { SECRET } from '../support/app.js';
import { type CliProject, startProject } from '../support/cli.js';
import { TSC } from '../support/compiler.js';
import { drizzleApp, ownTable } from '../support/drizzle-app.js';

const CONFIG = `import { admin, apiKeys, auditLog, createAuth, credentialPassword, emailSignIn } from 'latchkey';
  import { oauth, passkeys, suspension, twoFactor } from 'latchkey';
  import { google } from 'latchkey/providers';
  export const auth = createAuth({
    database: process.env.DATABASE_URL,
    secret: '${SECRET}',
    baseUrl: 'http://localhost:3000',
    email: { send: () => undefined },
    tablePrefix: 'auth_',
    plugins: [
      credentialPassword({ username: true }),
      admin({ adminEmails: ['root@example.com'] }),
      google({ clientId: 'app', clientSecret: 'secret' }),
      oauth(), passkeys(), suspension(), twoFactor(), auditLog(), emailSignIn(),
      ...(process.env.LEFT_OUT === 'plugin' ? [] : [apiKeys()]),
    ],
    user: {
      fields: {
        newsletter: { type: 'boolean', default: true },
        order: { type: 'integer' },
        score: { type: 'number', default: 0.5 },
        motto: { type: 'string', maxLength: 4000 },
        bornAt: { type: 'date', default: '2026-01-31T12:00:00Z' },
        settings: { type: 'json', default: { theme: 'dark' } },
        ...(process.env.LEFT_OUT === 'field' ? {} : { plan: { type: 'string', default: "it's \\"free\\"" } }),
      },
    },
  });`;

/** No server listens there. */
const URLS = {
  mysql: 'mysql://root@127.0.0.1:1/app',
  postgres: 'postgres://root@127.0.0.1:1/app',
  sqlite: 'sqlite:./nothing.db',
} as const;

const DIALECTS = Object.keys(URLS) as (keyof typeof URLS)[];

let project: CliProject;
beforeAll(async () => {
  project = await startProject('drizzle-orm', 'mysql2', 'pg', '@types', '@photostructure');
  await project.write({ 'package.json': '{ "type": "module" }', 'latchkey.config.js': CONFIG });
}, 180_000);
afterAll(() => project.remove());

/** Runs `latchkey schema` without a database. @param leftOut a part of the config that is left out */
const schema = (dialect: keyof typeof URLS, args: readonly string[], leftOut = '') =>
  project.call(['schema', ...args], { DATABASE_URL: URLS[dialect], LEFT_OUT: leftOut });

const OPTIONS = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
};

const FORMAT = JSON.stringify({
  textDocument: { uri: 'file:/dev/null' },
  options: { tabSize: 2, insertSpaces: true },
});

const read = (file: string) => readFile(join(project.folder, file), 'utf8');

const TOOLS = {
  drizzle: {
    file: 'db/latchkey.ts',
    format: (source: string) => source.replace(/\{ length: (\d+) \}/g, '{\n  length: $1,\n}'),
  },
  prisma: {
    file: 'prisma/latchkey.prisma',
    format: (source: string) => source.replace(/^ {2}(?=\w)/gm, '\t'),
  },
  sql: { file: 'prisma/latchkey.sql', format: (source: string) => source.replaceAll(',\n', ' ,\n\n') },
};

describe.each(Object.entries(TOOLS))('latchkey schema --for %s', (tool, { file, format }) => {
  const out = ['--for', tool, '--out', file];

  test('writes a file, and prints the same', async () => {
    const { code, stdout } = await schema('sqlite', out);
    expect([code, stdout]).toEqual([0, `Wrote ${file}. Its first lines say how to use it.\n`]);
    const source = await read(file);
    const printed = await schema('sqlite', ['--for', tool]);
    expect(printed).toEqual({ code: 0, stdout: source, stderr: '' });
    const { tables, text } = JSON.parse((await schema('sqlite', ['--for', tool, '--json'])).stdout);
    expect(text).toBe(source);
    for (const table of tables) expect(source).toContain(table);
    expect(tables).toEqual(
      expect.arrayContaining(['auth_users', 'auth_api_keys', 'auth_latchkey_migrations']),
    );
  });

  test('--check finds a missing plugin and a missing field, and accepts another format', async () => {
    await project.write({ [file]: format(await read(file)) });
    expect(await schema('sqlite', [...out, '--check'])).toEqual({
      code: 0,
      stdout: `${file} is up to date.\n`,
      stderr: '',
    });
    const before = await read(file);
    for (const leftOut of ['plugin', 'field']) {
      const { code, stdout } = await schema('sqlite', [...out, '--check'], leftOut);
      expect([code, stdout]).toEqual([
        1,
        `${file} is not up to date: run npx latchkey schema --for ${tool} --out ${file}\n`,
      ]);
    }
    expect(await read(file)).toBe(before);
    const { code, stdout } = await schema('sqlite', [...out.slice(0, 3), 'nothing', '--check', '--json']);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { for: tool, isCurrent: false }]);
  });

  test('replaces no file of the app, and none of another tool', async () => {
    const names = Object.entries(TOOLS).filter(([other]) => other !== tool);
    const ofOthers = await Promise.all(names.map(([other]) => schema('sqlite', ['--for', other])));
    const command = `{ "scripts": { "schema": "npx latchkey schema --for ${tool} --out x" } }`;
    for (const text of ['model Own {}', command, ...ofOthers.map(({ stdout }) => stdout)]) {
      await project.write({ 'own.txt': text });
      const { code, stderr } = await schema('sqlite', ['--for', tool, '--out', 'own.txt']);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('own.txt is not a file of npx latchkey schema'),
      ]);
    }
  });
});

test('--check requires --out', async () => {
  const { code, stderr } = await schema('sqlite', ['--for', 'prisma', '--check']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('--check requires --out')]);
});

/** The tables of an Auth whose Sequelize instance stores times in another time zone. It does not connect. */
function schemaInZone() {
  const database = new Sequelize(URLS.mysql, { timezone: '+02:00', logging: false });
  return schemaOf(createAuth({ database, secret: SECRET }));
}

describe('what it wrote for Drizzle', () => {
  /** Compiles folders of the project. Resolves to the errors. */
  async function compile(...folders: string[]) {
    const compilerOptions = { ...OPTIONS, types: ['node'], noUnusedLocals: true };
    await project.write({ 'tsconfig.json': JSON.stringify({ compilerOptions, include: folders }) });
    return promisify(execFile)(process.execPath, [...TSC, '-p', project.folder]).then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => stdout,
    );
  }

  test('compiles, with typed joins', async () => {
    for (const dialect of DIALECTS) {
      await schema(dialect, ['--for', 'drizzle', '--out', `${dialect}/latchkey.ts`]);
      for (const [name, source] of Object.entries(drizzleApp(dialect)))
        await project.write({ [`${dialect}/${name}`]: source });
    }
    await project.call(['schema', '--for', 'drizzle', '--out', 'inSchema/latchkey.ts'], {
      DATABASE_URL: `${URLS.postgres}?options=-csearch_path%3Daccounts`,
    });
    expect(await read('inSchema/latchkey.ts')).toContain("authUsers = inSchema.table('auth_users', {");
    await project.write({ 'inZone/latchkey.ts': drizzleSource(schemaInZone(), false) });
    expect(await read('inZone/latchkey.ts')).toContain(
      "createdAt: datetime('created_at', { mode: 'string', fsp: 3 }).notNull(),",
    );
    expect(await compile(...DIALECTS, 'inSchema', 'inZone')).toBe('');
  });

  test('compiles with version 1', async () => {
    const installed = join(project.folder, 'node_modules/drizzle-orm');
    await rm(installed);
    await symlink(fileURLToPath(new URL('../../node_modules/drizzle-orm-1', import.meta.url)), installed);
    for (const dialect of DIALECTS) {
      await schema(dialect, ['--for', 'drizzle', '--out', `one/${dialect}/latchkey.ts`]);
      await project.write({ [`one/${dialect}/own.ts`]: ownTable(dialect) });
    }
    await project.write({
      'one/postgres/queries.ts': `
        import { defineRelations } from 'drizzle-orm';
        import { drizzle } from 'drizzle-orm/node-postgres';
        import { latchkeyRelations, authUsers } from './latchkey.js';
        import { projects } from './own.js';
        const own = defineRelations({ projects, authUsers }, (r) => ({
          projects: { owner: r.one.authUsers({ from: r.projects.ownerId, to: r.authUsers.id, optional: false }) },
        }));
        const db = drizzle('postgres://localhost/app', { relations: { ...own, ...latchkeyRelations } });
        const found = await db.query.projects.findFirst({ with: { owner: { with: { sessions: true } } } });
        export const ends: Date | undefined = found?.owner.sessions[0]?.expiresAt;
        const session = await db.query.authSessions.findFirst({ with: { user: { with: { totpSecret: true } } } });
        export const confirmed: Date | undefined = session?.user.totpSecret?.confirmedAt;`,
    });
    expect(await compile('one')).toBe('');
  });
});

describe('what it wrote for Prisma', () => {
  const PROVIDERS = { mysql: 'mysql', postgres: 'postgresql', sqlite: 'sqlite' };
  const TYPES = { mysql: ' @db.Char(36)', postgres: ' @db.Uuid', sqlite: '' };

  /** The app's own schema, whose model refers to a user. */
  const ownSchema = (dialect: keyof typeof URLS) => `datasource db {
  provider = "${PROVIDERS[dialect]}"
}

model Project {
  id      String   @id${TYPES[dialect]}
  ownerId String${TYPES[dialect]}
  owner   AuthUser @relation(fields: [ownerId], references: [id])
}
`;

  test.each(DIALECTS)('is valid, also with relations that prisma format has added: %s', async (dialect) => {
    const file = `${dialect}/latchkey.prisma`;
    const out = ['--for', 'prisma', '--out', file];
    await schema(dialect, out);
    const written = await read(file);
    const own = ['schema.prisma', ownSchema(dialect)] as const;
    const validate = (source: string) =>
      prisma.validate(JSON.stringify({ prismaSchema: [own, ['latchkey.prisma', source]], noColor: true }));
    expect(() => validate(written)).toThrow('missing an opposite relation field on the model `AuthUser`');
    const formatted = new Map<string, string>(
      JSON.parse(prisma.format(JSON.stringify([own, ['latchkey.prisma', written]]), FORMAT)),
    ).get('latchkey.prisma') as string;
    validate(formatted);
    // Otherwise, its format is the same.
    expect(formatted.replace('  projects Project[]\n', '')).toBe(written);
    expect(formatted).toContain('  projects Project[]\n');
    await project.write({ [file]: formatted });
    expect((await schema(dialect, [...out, '--check'])).code).toBe(0);
    expect((await schema(dialect, out, 'field')).stdout).toMatch(/^Wrote /);
    validate(await read(file));
    await schema(dialect, out);
    expect(await read(file)).toBe(formatted);
  });

  test('keeps relations to a model that the config no longer has', async () => {
    const out = ['--for', 'prisma', '--out', 'lost/latchkey.prisma'];
    await schema('sqlite', out);
    const source = await read('lost/latchkey.prisma');
    const own = source.replace(/(?<=^model AuthApiKey \{[^}]*own models:\n)/m, '  projects Project[]\n');
    expect(own).not.toBe(source);
    await project.write({ 'lost/latchkey.prisma': own });
    const { code, stderr } = await schema('sqlite', out, 'plugin');
    expect([code, stderr]).toEqual([1, expect.stringContaining('your own lines in the model AuthApiKey')]);
    expect(await read('lost/latchkey.prisma')).toBe(own);
  });

  test('requires the line above the relations', async () => {
    const out = ['--for', 'prisma', '--out', 'changed/latchkey.prisma'];
    await schema('sqlite', out);
    const changed = (await read('changed/latchkey.prisma')).replace(
      '// Relations to your own models:',
      '// Ours',
    );
    await project.write({ 'changed/latchkey.prisma': changed });
    const { code, stderr } = await schema('sqlite', out);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('has lost the line // Relations to your own'),
    ]);
    expect(await read('changed/latchkey.prisma')).toBe(changed);
  });

  test('says that times are wrong if they are not stored as UTC', () => {
    expect(prismaSource(schemaInZone(), '')).toContain('your Sequelize instance stores them in +02:00.');
  });

  test('is valid with a schema of PostgreSQL', async () => {
    const environment = { DATABASE_URL: `${URLS.postgres}?options=-csearch_path%3Daccounts` };
    const { stdout } = await project.call(['schema', '--for', 'prisma'], environment);
    expect(stdout).toContain("'accounts.auth_users',");
    const main = 'datasource db {\n  provider = "postgresql"\n  schemas = ["accounts"]\n}\n';
    prisma.validate(
      JSON.stringify({
        prismaSchema: [
          ['a.prisma', main],
          ['b.prisma', stdout],
        ],
        noColor: true,
      }),
    );
  });

  test('lists every table as external', async () => {
    const [postgres, mysql] = await Promise.all(
      (['postgres', 'mysql'] as const).map((one) => schema(one, ['--for', 'prisma', '--json'])),
    );
    const { text, tables } = JSON.parse(postgres?.stdout ?? '');
    const listed = (of: string) => [...of.matchAll(/^\/\/ {7}'(\S+)',$/gm)].map(([, name]) => name);
    expect(listed(text)).toEqual(tables.map((name: string) => `public.${name}`));
    expect(listed(JSON.parse(mysql?.stdout ?? '').text)).toEqual(tables);
  });
});
