import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Dialect } from '../../lib/database/connect.js';
import { keepProcess } from '../support/cli.js';
import { createOnServer, createSqlite, rows, type SpecDatabase } from '../support/database.js';
import { Projects, withoutOuter } from '../support/projects.js';
import { schemaOf } from '../support/schema.js';

const DRIVERS = ['express@5', 'sequelize@6', '@photostructure/sqlite@1', 'pg@8', 'mysql2@3'];
const DRIZZLE = ['drizzle-kit@0.31', 'drizzle-orm@0.45', '@libsql/client@0.18'];
const KNEX = ['knex@3'];
// Later versions of MikroORM need Node 22.
const MIKRO_ORM = ['core', 'cli', 'knex', 'postgresql'].map((name) => `@mikro-orm/${name}@6.6.16`);
const TYPEORM = ['typeorm@1'];
// Later versions of Prisma need a program that is not in npm packages.
const PRISMA = ['prisma@6.19', '@prisma/adapter-pg@7.10'];

let projects: Projects;
beforeAll(async () => {
  projects = await Projects.create();
  await projects.install('.', ...DRIVERS, ...DRIZZLE, ...KNEX, ...MIKRO_ORM, ...TYPEORM, ...PRISMA);
}, 300_000);
afterAll(() => projects.remove());

/** An app with a database, whose own tables another tool manages. */
class App {
  private constructor(
    readonly name: string,
    readonly database: SpecDatabase,
  ) {}

  static async create(dialect: Dialect, files: Readonly<Record<string, string>>): Promise<App> {
    const url = process.env[`LATCHKEY_SPEC_${dialect.toUpperCase()}`] ?? '';
    const database = await (dialect === 'sqlite' ? createSqlite() : createOnServer(dialect, url));
    const app = new App(`app-${created++}`, database);
    await app.write({ 'package.json': '{ "type": "module" }', 'latchkey.config.js': CONFIG, ...files });
    return app;
  }

  write(files: Readonly<Record<string, string>>): Promise<void> {
    return projects.write(this.name, files);
  }

  get #folder(): string {
    return join(projects.folder, this.name);
  }

  #environment(): NodeJS.ProcessEnv {
    const { url } = this.database;
    return { ...withoutOuter(), ...QUIET, DATABASE_URL: url, FILE: url.slice(7), ...this.env };
  }

  /** Runs a program of a package, which cannot ask. */
  async run(program: string, ...args: string[]) {
    const file = join(projects.folder, 'node_modules', program);
    const child = spawn(process.execPath, [file, ...args], {
      cwd: this.#folder,
      env: this.#environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    return { code: code as number | null, stdout, output: stdout + stderr };
  }

  env: Readonly<Record<string, string>> = {};

  async latchkey(...args: string[]) {
    const program = join(projects.folder, 'node_modules/latchkey/dist/esm/cli.js');
    this.#kept ??= keepProcess(program, this.#folder);
    const { code, stdout, stderr } = await this.#kept.call(args, this.#environment());
    return { code, stdout, output: stdout + stderr };
  }
  #kept: ReturnType<typeof keepProcess> | undefined;

  async end(): Promise<void> {
    await this.#kept?.end();
    await this.database.drop();
  }

  /** Runs latchkey's migrations, and adds an account. @returns the warnings */
  async migrate(): Promise<string> {
    const { code, output } = await this.latchkey('migrate');
    expect([code, output]).toEqual([0, expect.stringContaining('Applied:')]);
    return output
      .split('\n')
      .filter((line) => line.startsWith('latchkey: '))
      .join('\n');
  }

  async addUser(email: string): Promise<string> {
    const { code, stdout } = await this.latchkey('users', 'create', '--email', email, '--json');
    expect(code).toBe(0);
    return JSON.parse(stdout).user.id;
  }

  /** latchkey's tables, with their rows. */
  async tables(): Promise<Record<string, unknown>> {
    const all = Object.entries(await schemaOf(this.database)).filter(([name]) => name.startsWith('auth_'));
    const whole = all.map(async ([name, schema]) => [
      name,
      { schema, rows: await rows(this.database, `SELECT * FROM ${name}`) },
    ]);
    return Object.fromEntries(await Promise.all(whole));
  }

  /** Runs a command of another tool, which must change nothing of latchkey. */
  async leavingAlone(program: string, ...args: string[]): Promise<string> {
    const before = await this.tables();
    const { code, output } = await this.run(program, ...args);
    expect([code, output]).toEqual([0, output]);
    expect(await this.tables()).toEqual(before);
    return output;
  }

  async titles(): Promise<unknown[]> {
    return (await rows(this.database, 'SELECT title FROM projects ORDER BY title')).map(({ title }) => title);
  }
}
let created = 0;

/** Prisma does not look for updates, and MikroORM does not have to be in the package.json of the app. */
const QUIET = {
  CHECKPOINT_DISABLE: '1',
  PRISMA_HIDE_UPDATE_MESSAGE: '1',
  MIKRO_ORM_ALLOW_GLOBAL_CLI: '1',
};

const CONFIG = `import { createAuth, credentialPassword, twoFactor } from 'latchkey';
export const auth = createAuth({
  database: process.env.DATABASE_URL,
  secret: 'a secret that is long enough for a specification',
  baseUrl: 'http://localhost:3000',
  tablePrefix: 'auth_',
  plugins: [credentialPassword(), ...(process.env.MORE ? [twoFactor()] : [])],
});
`;

const apps: App[] = [];
afterAll(async () => {
  for (const app of apps) await app.end();
});
async function createApp(dialect: Dialect, files: Readonly<Record<string, string>>): Promise<App> {
  const app = await App.create(dialect, files);
  apps.push(app);
  return app;
}

const DRIZZLE_KIT = 'drizzle-kit/bin.cjs';
const FILTER = "tablesFilter: ['!auth_*'],";

const drizzleConfig = (dialect: Dialect, filter: string) => `import { defineConfig } from 'drizzle-kit';
export default defineConfig({
  ${filter}
  dialect: '${dialect === 'postgres' ? 'postgresql' : dialect}',
  schema: './schema.js',
  verbose: true,
  dbCredentials: { url: ${dialect === 'sqlite' ? "'file:' + process.env.FILE" : 'process.env.DATABASE_URL'} },
});
`;

/**
 * The app's tables in Drizzle. Their file does not export latchkey's table. On MariaDB, drizzle-kit 0.31 adds the
 * primary keys of tables that exist already, which fails, so the tables for MySQL have none.
 */
const DRIZZLE_TABLES: Record<Dialect, (columns: string) => string> = {
  postgres: (columns) => `import { pgTable, text, uuid } from 'drizzle-orm/pg-core';
const users = pgTable('auth_users', { id: uuid('id').primaryKey() });
const ownerId = () => uuid('owner_id').notNull().references(() => users.id);
export const projects = pgTable('projects', { title: text('title').primaryKey(), ownerId: ownerId()${columns} });
export const tags = pgTable('tags', { name: text('name').primaryKey() });
`,
  mysql: (columns) => `import { char, customType, mysqlTable, varchar } from 'drizzle-orm/mysql-core';
const text = (name) => varchar(name, { length: 100 });
const latchkeyId = (name) => char(name, { length: 36 });
const users = mysqlTable('auth_users', { id: latchkeyId('id').primaryKey() });
const ownerId = () => latchkeyId('owner_id').notNull().references(() => users.id);
export const projects = mysqlTable('projects', { title: text('title').notNull(), ownerId: ownerId()${columns} });
export const tags = mysqlTable('tags', { name: text('name').notNull() });
`,
  sqlite: (columns) => `import { sqliteTable, text } from 'drizzle-orm/sqlite-core';
const users = sqliteTable('auth_users', { id: text('id').primaryKey() });
const ownerId = () => text('owner_id').notNull().references(() => users.id);
export const projects = sqliteTable('projects', { title: text('title').primaryKey(), ownerId: ownerId()${columns} });
export const tags = sqliteTable('tags', { name: text('name').primaryKey() });
`,
};

/** The type of latchkey's ids on MySQL. */
const LATCHKEY_ID = 'char(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

/** Only a foreign key of the app's table may name a table of latchkey. */
function expectNoStatementAbout(output: string): void {
  const lines = output.split('\n').filter((line) => line.includes('auth_') && !/\bREFERENCES\b/i.test(line));
  expect(lines).toEqual([]);
}

describe.each<Dialect>(['sqlite', 'mysql', 'postgres'])('on %s', (dialect) => {
  test('drizzle-kit push leaves the tables alone', async () => {
    const tables = DRIZZLE_TABLES[dialect];
    const app = await createApp(dialect, {
      'drizzle.config.js': drizzleConfig(dialect, FILTER),
      'schema.js': tables('').replace('export const projects', 'const projects'),
    });
    const push = async (...args: string[]) => {
      const output = await app.leavingAlone(DRIZZLE_KIT, 'push', ...args);
      expectNoStatementAbout(output);
      expect(output).toMatch(/Changes applied|No changes detected/);
      return output;
    };
    await push();
    expect(await app.migrate()).toBe('');
    const owner = await app.addUser('ada@example.com');
    if (dialect === 'mysql') {
      // drizzle-kit push compares types without their collation, which the key needs.
      await app.write({ 'schema.js': tables('').replace('.references(() => users.id)', '') });
      await push();
      await rows(app.database, `ALTER TABLE projects MODIFY owner_id ${LATCHKEY_ID} NOT NULL`);
    }
    await app.write({ 'schema.js': tables('') });
    expect(await push()).toContain('Changes applied');
    await rows(app.database, "INSERT INTO projects (title, owner_id) VALUES ('engine', :owner)", { owner });
    app.env = { MORE: 'yes' };
    await app.migrate();
    await app.write({ 'schema.js': tables(", notes: text('notes')") });
    expect(await push('--force')).toContain('Changes applied');
    await push('--force');
    expect(await app.titles()).toEqual(['engine']);
    const { stdout } = await app.latchkey('doctor', '--json');
    expect(JSON.parse(stdout).findings).toContainEqual({
      check: 'other-tools',
      status: 'ok',
      detail: expect.stringContaining('Drizzle'),
      fix: null,
    });
  });

  test('drizzle-kit generate and migrate leave the tables alone', async () => {
    const withCollation = `const latchkeyId = customType({ dataType: () => '${LATCHKEY_ID}' });`;
    const tables = (columns: string) =>
      DRIZZLE_TABLES[dialect](columns).replace(/^const latchkeyId = .*$/m, withCollation);
    const app = await createApp(dialect, {
      'drizzle.config.js': drizzleConfig(dialect, FILTER),
      'schema.js': tables('').replace('export const projects', 'const projects'),
    });
    const theirs = async () => {
      expectNoStatementAbout(await app.leavingAlone(DRIZZLE_KIT, 'generate'));
      expect(await app.leavingAlone(DRIZZLE_KIT, 'migrate')).toContain('applied successfully');
    };
    await theirs();
    await app.migrate();
    const owner = await app.addUser('ada@example.com');
    await app.write({ 'schema.js': tables('') });
    await theirs();
    await rows(app.database, "INSERT INTO projects (title, owner_id) VALUES ('engine', :owner)", { owner });
    app.env = { MORE: 'yes' };
    await app.migrate();
    await app.write({ 'schema.js': tables(", notes: text('notes')") });
    await theirs();
    expect(await app.titles()).toEqual(['engine']);
  });

  test('the migrations of Knex leave the tables alone', async () => {
    const app = await createApp(dialect, {
      'knexfile.js': KNEX_CONFIG[dialect],
      'migrations/1_tags.js': knexMigration(
        "knex.schema.createTable('tags', (table) => table.string('name', 100).primary())",
        "knex.schema.dropTable('tags')",
      ),
    });
    const theirs = (command: string) => app.leavingAlone('knex/bin/cli.js', command);
    await theirs('migrate:latest');
    expect(await app.migrate()).toBe('');
    const owner = await app.addUser('ada@example.com');
    await app.write({
      'migrations/2_projects.js': knexMigration(
        `knex.schema.createTable('projects', (table) => {
          table.string('title', 100).primary();
          ${OWNER[dialect]}.notNullable().references('id').inTable('auth_users');
        })`,
        "knex.schema.dropTable('projects')",
      ),
    });
    expect(await theirs('migrate:latest')).toContain('1 migrations');
    await rows(app.database, "INSERT INTO projects (title, owner_id) VALUES ('engine', :owner)", { owner });
    app.env = { MORE: 'yes' };
    await app.migrate();
    await theirs('migrate:latest');
    expect(await app.titles()).toEqual(['engine']);
    await theirs('migrate:rollback');
  });
});

const KNEX_CONFIG: Record<Dialect, string> = {
  postgres: "export default { client: 'pg', connection: process.env.DATABASE_URL };",
  mysql: "export default { client: 'mysql2', connection: process.env.DATABASE_URL };",
  // better-sqlite3 has no binary for Node 20 in its package, and libsql has the same API.
  sqlite: `import Client from 'knex/lib/dialects/better-sqlite3/index.js';
import Database from 'libsql';
class Libsql extends Client {
  _driver() {
    return Database;
  }
}
export default { client: Libsql, connection: { filename: process.env.FILE }, useNullAsDefault: true };`,
};

/** The column that refers to an account. */
const OWNER: Record<Dialect, string> = {
  postgres: "table.uuid('owner_id')",
  mysql: `table.specificType('owner_id', '${LATCHKEY_ID}')`,
  sqlite: "table.string('owner_id', 36)",
};

const knexMigration = (up: string, down: string) =>
  `export const up = (knex) => ${up};\nexport const down = (knex) => ${down};\n`;

describe('without a filter', () => {
  test('latchkey warns, and drizzle-kit push --force drops the tables', async () => {
    const app = await createApp('postgres', {
      'drizzle.config.js': drizzleConfig('postgres', ''),
      'schema.js': DRIZZLE_TABLES.postgres('').replace('export const projects', 'const projects'),
    });
    expect((await app.run(DRIZZLE_KIT, 'push')).output).toContain('Changes applied');
    const warning = "drizzle.config.js does not exclude latchkey's tables, so drizzle-kit push drops them";
    expect(await app.migrate()).toBe(`latchkey: ${warning}: set in drizzle.config.js: ${FILTER}`);
    const { stdout, code } = await app.latchkey('doctor', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout).findings).toContainEqual({
      check: 'other-tools',
      status: 'warning',
      detail: warning,
      fix: `set in drizzle.config.js: ${FILTER}`,
    });
    const asked = await app.run(DRIZZLE_KIT, 'push');
    expect(asked.output).toMatch(/THIS ACTION WILL CAUSE DATA LOSS[\s\S]*Interactive prompts require a TTY/);
    expect(Object.keys(await app.tables())).toContain('auth_users');
    const forced = await app.run(DRIZZLE_KIT, 'push', '--force');
    expect(forced.output).toContain('DROP TABLE "auth_users" CASCADE');
    expect(await app.tables()).toEqual({});
  });
});

/**
 * Prisma's schema engine is usually a program that the CLI downloads. The package contains the engine as WebAssembly
 * too, which uses a driver adapter. The adapter lacks two of PostgreSQL's types, and leaves its shadow database open.
 */
const PRISMA_ADAPTER = `import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';

const { addFields } = pg.Result.prototype;
pg.Result.prototype.addFields = function (fields) {
  const SUPPORTED = { 18: 1042, 19: 25 };
  for (const field of fields) field.dataTypeID = SUPPORTED[field.dataTypeID] ?? field.dataTypeID;
  return addFields.call(this, fields);
};

// The engine leaves a timer of ten seconds running.
const { setTimeout } = globalThis;
globalThis.setTimeout = (work, ms, ...rest) => {
  const timer = setTimeout(work, ms, ...rest);
  return ms >= 10_000 ? timer.unref() : timer;
};

const { hostname, port, username, password, pathname } = new URL(process.env.DATABASE_URL);
const options = { host: hostname, port: Number(port || 5432), user: username, password };
const settings = (database) => ({ ...options, database, allowExitOnIdle: true, idleTimeoutMillis: 10 });

class Adapter extends PrismaPg {
  async connectToShadowDb() {
    const name = pathname.slice(1) + '_shadow';
    const main = await this.connect();
    await main.executeScript('CREATE DATABASE ' + name);
    const shadow = await new PrismaPg(settings(name)).connect();
    const dispose = shadow.dispose.bind(shadow);
    shadow.dispose = async () => {
      await dispose();
      await main.executeScript('DROP DATABASE ' + name + ' WITH (FORCE)');
      await main.dispose();
    };
    return shadow;
  }
}

export const adapter = async () => new Adapter(settings(pathname.slice(1)));
`;

const prismaConfig = (options: string) => `import { defineConfig } from 'prisma/config';
import { adapter } from './adapter.js';
export default defineConfig({ engine: 'js', adapter, ${options} });
`;
const UNPROTECTED = prismaConfig('experimental: { adapter: true }');
const protectedFrom = (external: string) =>
  prismaConfig(`experimental: { adapter: true, externalTables: true },
    tables: { external: [${external}] },
    migrations: { initShadowDb: 'CREATE TABLE public.auth_users (id uuid PRIMARY KEY)' }`);

const PRISMA_SCHEMA = `generator client {
  provider   = "prisma-client"
  output     = "../generated"
  engineType = "client"
}
datasource db {
  provider = "postgresql"
  url      = env("DATABASE_URL")
}
model Tag {
  name String @id
  @@map("tags")
}
`;
const PRISMA_PROJECTS = `model AuthUser {
  id       String    @id @db.Uuid
  projects Project[]
  @@map("auth_users")
}
model Project {
  title   String   @id
  ownerId String   @map("owner_id") @db.Uuid
  owner   AuthUser @relation(fields: [ownerId], references: [id])
  @@map("projects")
}
`;

describe('Prisma on postgres', () => {
  const CLI = 'prisma/build/index.js';
  const DEV = ['migrate', 'dev', '--skip-generate', '--name', 'next'];
  const PUSH = ['db', 'push', '--skip-generate'];

  /** The external tables in the advice of doctor. */
  async function externalOf(app: App): Promise<string> {
    const { stdout } = await app.latchkey('doctor', '--json');
    const { findings } = JSON.parse(stdout) as { findings: { check: string; fix: string | null }[] };
    const { fix } = findings.find(({ check }) => check === 'other-tools') ?? {};
    return /external: \[(.*?)\]/.exec(fix ?? '')?.[1] ?? '';
  }

  test('migrate dev and db push leave the tables alone if they are external, and drop them otherwise', async () => {
    const app = await createApp('postgres', {
      'adapter.js': PRISMA_ADAPTER,
      'prisma.config.js': UNPROTECTED,
      'prisma/schema.prisma': PRISMA_SCHEMA,
    });
    expect(await app.leavingAlone(CLI, ...DEV)).toContain('now in sync');
    expect(await app.migrate()).toMatch(/^latchkey: prisma\.config\.js does not exclude latchkey's tables/);
    const owner = await app.addUser('ada@example.com');
    const before = await app.tables();
    expect((await app.run(CLI, ...DEV)).output).toContain('We need to reset the "public" schema');
    const refused = await app.run(CLI, ...PUSH);
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining('drop the `auth_users` table'),
    ]);
    expect(await app.tables()).toEqual(before);

    await app.write({ 'prisma.config.js': protectedFrom(await externalOf(app)) });
    expect(await externalOf(app)).toBe('');
    await app.write({ 'prisma/schema.prisma': PRISMA_SCHEMA + PRISMA_PROJECTS });
    expect(await app.leavingAlone(CLI, ...DEV)).toContain('now in sync');
    await rows(app.database, "INSERT INTO projects (title, owner_id) VALUES ('engine', :owner)", { owner });

    // A plugin has further tables.
    app.env = { MORE: 'yes' };
    expect(await app.migrate()).toContain("'public.auth_totp_secrets'");
    await app.write({ 'prisma.config.js': protectedFrom(await externalOf(app)) });
    expect(await app.leavingAlone(CLI, ...DEV)).toContain('Already in sync');
    expect(await app.leavingAlone(CLI, ...PUSH, '--accept-data-loss')).toContain('already in sync');
    expect(await app.titles()).toEqual(['engine']);

    await app.write({ 'prisma.config.js': UNPROTECTED, 'prisma/schema.prisma': PRISMA_SCHEMA });
    expect((await app.run(CLI, ...PUSH, '--accept-data-loss')).output).toContain('now in sync');
    expect(await app.tables()).toEqual({});
  });
});

describe('MikroORM and TypeORM on postgres', () => {
  test('mikro-orm schema:update leaves the tables alone if it skips them, and drops them otherwise', async () => {
    const config = (options: string) => `import { EntitySchema } from '@mikro-orm/core';
import { defineConfig } from '@mikro-orm/postgresql';
const name = { type: 'string', primary: true };
const Tag = new EntitySchema({ name: 'Tag', tableName: 'tags', properties: { name } });
export default defineConfig({ entities: [Tag], clientUrl: process.env.DATABASE_URL, ${options} });
`;
    const app = await createApp('postgres', { 'mikro-orm.config.js': config('') });
    const line = 'schemaGenerator: { skipTables: [/^auth_/] },';
    expect(await app.migrate()).toContain(`set in mikro-orm.config.js: ${line}`);
    await app.write({ 'mikro-orm.config.js': config(line) });
    const update = ['schema:update', '--run'];
    await app.leavingAlone('@mikro-orm/cli/cli.js', ...update);
    expect(Object.keys(await schemaOf(app.database))).toContain('tags');
    app.env = { MORE: 'yes' };
    expect(await app.migrate()).toBe('');
    await app.write({ 'mikro-orm.config.js': config('') });
    await app.run('@mikro-orm/cli/cli.js', ...update);
    expect(await app.tables()).toEqual({});
  });

  test('typeorm schema:sync leaves the tables alone', async () => {
    const app = await createApp('postgres', {
      'data-source.js': `import { DataSource, EntitySchema } from 'typeorm';
const name = { type: String, primary: true };
const Tag = new EntitySchema({ name: 'Tag', tableName: 'tags', columns: { name } });
export default new DataSource({ type: 'postgres', url: process.env.DATABASE_URL, entities: [Tag] });
`,
    });
    expect(await app.migrate()).toBe('');
    await app.leavingAlone('typeorm/cli.js', 'schema:sync', '--dataSource', 'data-source.js');
    expect(Object.keys(await schemaOf(app.database))).toContain('tags');
  });
});
