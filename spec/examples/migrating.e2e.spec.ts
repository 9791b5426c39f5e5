import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SECRET } from '../support/app.js';
import { createOnServer, rows, type SpecDatabase } from '../support/database.js';
import { fillWith, madeBy } from '../support/made-elsewhere.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const postgres = process.env.LATCHKEY_SPEC_POSTGRES ?? '';
// Each hash is of "correct horse battery": see spec/crypto/foreign-hash.spec.ts.
const DJANGO = 'pbkdf2_sha256$2000$seasalt2$wcSZolrEMZG4jNVdGjqXoLKFGOLsQzh7EYiF8JwycMw=';
const BCRYPT = '$2y$05$b4arMjmQm5Cghbd7RLH8rOmlm8QIxdxETXnBzWzGYMXNsDwA4U8Ae';

/** The tables that the guides read, as far as they do. */
const TABLES: Record<string, readonly string[]> = {
  django: [
    `CREATE TABLE auth_user (id serial PRIMARY KEY, password varchar(128) NOT NULL, username varchar(150) NOT NULL UNIQUE,
       first_name varchar(150) NOT NULL, last_name varchar(150) NOT NULL, email varchar(254) NOT NULL,
       is_active boolean NOT NULL, date_joined timestamptz NOT NULL)`,
    `INSERT INTO auth_user VALUES (1, '${DJANGO}', 'Ada', 'Ada', 'Lovelace', '', true, now()),
       (2, '!unusable', 'grace@example.com', '', '', '', true, now()),
       (3, '${DJANGO}', 'eve', 'Eve', '', 'eve@example.com', false, now())`,
  ],
  devise: [
    `CREATE TABLE users (id bigserial PRIMARY KEY, email varchar NOT NULL DEFAULT '', encrypted_password varchar NOT NULL DEFAULT '',
       confirmed_at timestamp, created_at timestamp NOT NULL)`,
    `INSERT INTO users VALUES (1, 'ada@example.com', '${BCRYPT}', now(), now()), (2, 'grace@example.com', '', NULL, now())`,
  ],
  'own-table': [
    `CREATE TABLE members (id serial PRIMARY KEY, email varchar(99), full_name varchar(99), password_hash varchar(99),
       verified_at timestamptz, is_paying boolean, created_at timestamptz)`,
    `INSERT INTO members VALUES (1, 'ada@example.com', 'Ada', '${BCRYPT}', now(), true, now()), (2, 'no email', 'X', NULL, NULL, false, now())`,
  ],
};

// Runs where PostgreSQL is.
const onPostgres = postgres === '' ? describe.skip : describe;

onPostgres('the scripts of docs/migrating', () => {
  let folder: string;
  const databases: SpecDatabase[] = [];
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'latchkey-migrating-')));
    const installed = join(folder, 'node_modules/latchkey');
    await mkdir(installed, { recursive: true });
    await cp(join(root, 'package.json'), join(installed, 'package.json'));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [tsc, '-p', 'tsconfig.esm.json', '--outDir', join(installed, 'dist/esm')], {
      cwd: root,
    });
    await symlink(join(root, 'node_modules'), join(installed, 'node_modules'));
    for (const name of ['sequelize', 'pg', 'bcrypt'])
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
    for (const page of await readdir(join(root, 'docs/migrating'))) {
      const guide = page.replace('.md', '');
      await mkdir(join(folder, guide));
      const text = await readFile(join(root, 'docs/migrating', page), 'utf8');
      for (const [, code = '', file] of text.matchAll(/^```js\n(\/\/ (\S+\.js)\n[\s\S]*?)^```$/gm))
        await writeFile(join(folder, guide, String(file)), code);
    }
  }, 180_000);
  afterAll(async () => {
    for (const database of databases) await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs a script of a guide on a database with the users of the other system. */
  async function move(guide: string, script: string, ...args: string[]) {
    const database = await createOnServer('postgres', postgres);
    databases.push(database);
    if (guide === 'better-auth' || guide === 'auth-js')
      await fillWith(database, await madeBy(guide), 'postgres');
    for (const sql of TABLES[guide] ?? []) await rows(database, sql);
    const { NODE_ENV: _, NODE_OPTIONS: __, JEST_WORKER_ID: ___, ...rest } = process.env;
    const ids = Object.fromEntries(
      ['GITHUB', 'GOOGLE', 'MICROSOFT', 'X'].flatMap((name) => [
        [`${name}_ID`, 'id'],
        [`${name}_SECRET`, 'secret'],
      ]),
    );
    const env = {
      ...{ ...rest, ...ids, DATABASE_URL: database.url, OLD_DATABASE_URL: database.url, AUTH_SECRET: SECRET },
      BASE_URL: 'https://app.example.com',
      BETTER_AUTH_SECRET: 'the first secret of better-auth, of 32 bytes',
      MICROSOFT_TENANT: '9188040d-6c67-4c5b-b112-36a304b66dad',
      DEVISE_PEPPER: 'pepper',
    };
    const cwd = join(folder, guide);
    const { stdout } = await run(process.execPath, [script, ...args], { cwd, env });
    return { stdout, database };
  }

  test('auth-js.md', async () => {
    expect((await move('auth-js', 'move.js')).stdout).toBe('2 users, 0 skipped\n');
  });

  test('better-auth.md, which names the user whose second factor has another secret', async () => {
    await expect(move('better-auth', 'move.js')).rejects.toThrow(
      /second factor of user \w+ cannot be decrypted/,
    );
  });

  test('django.md', async () => {
    const { stdout, database } = await move('django', 'move.js');
    expect(stdout).toBe('3 users, 0 skipped\n');
    const found = await rows(
      database,
      'SELECT username, email, name, suspended_at IS NULL AS is_in FROM latchkey_users ORDER BY name',
    );
    expect(found).toEqual([
      { username: null, email: 'grace@example.com', name: '', is_in: true },
      { username: 'ada', email: null, name: 'Ada Lovelace', is_in: true },
      { username: 'eve', email: 'eve@example.com', name: 'Eve', is_in: false },
    ]);
  });

  test('devise.md, with a pepper too', async () => {
    expect((await move('devise', 'move.js', '--dry-run')).stdout).toBe('2 users, 0 skipped\n');
    const { stdout, database } = await move('devise', 'move.js');
    expect(stdout).toBe('2 users, 0 skipped\n');
    const found = await rows(
      database,
      'SELECT email, email_verified_at IS NULL AS is_new FROM auth_users ORDER BY email',
    );
    expect(found).toEqual([
      { email: 'ada@example.com', is_new: false },
      { email: 'grace@example.com', is_new: true },
    ]);
    expect(
      (await run(process.execPath, ['--check', 'auth-with-pepper.js'], { cwd: join(folder, 'devise') }))
        .stderr,
    ).toBe('');
  });

  test('own-table.md, into a table of latchkey, and keeping the table', async () => {
    const into = await move('own-table', 'move.js');
    expect(into.stdout).toMatch(/^1 users, 1 skipped\n2: invalid_email: email must be an email address/);
    expect(await rows(into.database, 'SELECT name, plan FROM auth_users')).toEqual([
      { name: 'Ada', plan: 'pro' },
    ]);
    const { stdout, database } = await move('own-table', 'move-rows.js');
    expect(stdout).toMatch(/^1 users, 1 skipped\n/);
    const linked = 'SELECT m.full_name FROM members m JOIN auth_users u ON u.id = m.auth_id';
    expect(await rows(database, linked)).toEqual([{ full_name: 'Ada' }]);
  });
});
