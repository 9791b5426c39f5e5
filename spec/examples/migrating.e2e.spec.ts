import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import SequelizeAdapter from '@auth/sequelize-adapter';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import { admin, organization, twoFactor, username } from 'better-auth/plugins';
import { SECRET } from '../support/app.js';
import { BETTER_AUTH_SECRET, startBetterAuth } from '../support/better-auth.js';
import { putLatchkeyInto } from '../support/cli.js';
import { CookieJar } from '../support/cookie-jar.js';
import { createOnServer, rows, type SpecDatabase } from '../support/database.js';
import { fillWith, madeBy } from '../support/made-elsewhere.js';
import { codeOf } from '../support/two-factor.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const execute = promisify(execFile);
const postgres = process.env.LATCHKEY_SPEC_POSTGRES ?? '';
const DAY_MS = 24 * 3_600_000;
// Each hash is of it: see spec/crypto/foreign-hash.walk.spec.ts.
const PASSWORD = 'correct horse battery';
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

/** The new app, for which the guides have no file: every app has one of its own. */
const SERVER = `
import express from 'express';
import { authRouter } from 'latchkey';

const { auth } = await import(process.argv[2]);
const app = express();
app.use('/auth', authRouter(auth));
const server = app.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port));
`;

/** The files of a guide on a database of their own. */
interface Project {
  readonly database: SpecDatabase;
  /** Runs a script to its end. @returns what it printed */
  run(script: string, ...args: string[]): Promise<string>;
  /** Changes a file as the guide says. */
  edit(file: string, ...changes: readonly (readonly [from: string | RegExp, to: string])[]): Promise<void>;
  /** Starts the new app. @returns where it listens */
  serve(config?: string): Promise<string>;
}

// Runs where PostgreSQL is.
const onPostgres = postgres === '' ? describe.skip : describe;

onPostgres('from the first to the last step of', () => {
  let folder: string;
  const databases: SpecDatabase[] = [];
  const stops: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'latchkey-migrating-')));
    await putLatchkeyInto(folder);
    for (const name of ['sequelize', 'pg', 'bcrypt', 'express'])
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  }, 180_000);
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });
  afterAll(async () => {
    for (const database of databases) await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  const page = (guide: string) => readFile(join(root, `docs/migrating/${guide}.md`), 'utf8');

  async function project(guide: string): Promise<Project> {
    const database = await createOnServer('postgres', postgres);
    databases.push(database);
    for (const sql of TABLES[guide] ?? []) await rows(database, sql);
    const cwd = await mkdtemp(join(folder, `${guide}-`));
    await writeFile(join(cwd, 'server.js'), SERVER);
    for (const [, code = '', file] of (await page(guide)).matchAll(
      /^```js\n(\/\/ (\S+\.js)\n[\s\S]*?)^```$/gm,
    ))
      await writeFile(join(cwd, String(file)), code);
    const { NODE_ENV: _, NODE_OPTIONS: __, JEST_WORKER_ID: ___, ...rest } = process.env;
    const ids = Object.fromEntries(
      ['GITHUB', 'GOOGLE', 'MICROSOFT', 'X'].flatMap((name) => [
        [`${name}_ID`, 'id'],
        [`${name}_SECRET`, 'secret'],
      ]),
    );
    const env = {
      ...rest,
      ...ids,
      DATABASE_URL: database.url,
      OLD_DATABASE_URL: database.url,
      AUTH_SECRET: SECRET,
      BASE_URL: 'http://localhost:3000',
      BETTER_AUTH_SECRET,
      MICROSOFT_TENANT: '9188040d-6c67-4c5b-b112-36a304b66dad',
      DEVISE_PEPPER: 'pepper',
    };
    return {
      database,
      async run(script, ...args) {
        return (await execute(process.execPath, [script, ...args], { cwd, env })).stdout;
      },
      async edit(file, ...changes) {
        let code = await readFile(join(cwd, file), 'utf8');
        for (const [from, to] of changes) {
          expect(code).toMatch(from);
          code = code.replace(from, () => to);
        }
        await writeFile(join(cwd, file), code);
      },
      async serve(config = 'auth.js') {
        const stdio = ['ignore', 'pipe', 'ignore'] as const;
        const server = spawn(process.execPath, ['server.js', `./${config}`], { cwd, env, stdio: [...stdio] });
        const ended = once(server, 'exit');
        stops.push(() => {
          server.kill();
          return ended;
        });
        for await (const line of createInterface({ input: server.stdout as NodeJS.ReadableStream }))
          return line;
        throw new Error('the new app has ended');
      },
    };
  }

  /** The bridge of a guide, as it says, and with a time that does not come. */
  async function addBridges(guide: string, { edit }: Project): Promise<void> {
    const line = "import { bridges } from './sessions.js';";
    expect(await page(guide)).toContain(`\`${line}\` and pass \`{ bridges }\` to \`movingIn\``);
    await edit(
      'auth.js',
      ['export const auth = createAuth({', `${line}\nexport const auth = createAuth({`],
      ['movingIn()', 'movingIn({ bridges })'],
    );
    await edit('sessions.js', [/new Date\('.*?'\)/, `new Date(${Date.now() + DAY_MS})`]);
  }

  const signIn = (origin: string, credential: string, password = PASSWORD, jar = new CookieJar()) =>
    jar.visit(`${origin}/auth/signin/credential`, { method: 'POST', body: { credential, password } });

  /** Whether somebody signs in with their old password, and nobody with another one. */
  async function expectOldPassword(origin: string, credential: string): Promise<void> {
    expect((await signIn(origin, credential, 'another password')).status).toBe(401);
    // The first time by the old hash, then by one of latchkey's.
    for (const _ of [1, 2]) expect((await signIn(origin, credential)).status).toBe(200);
  }

  test('better-auth.md, from an app with better-auth to one with latchkey', async () => {
    const own = await project('better-auth');
    const { database, run, serve } = own;
    const old = await startBetterAuth(database, {
      emailAndPassword: { enabled: true },
      plugins: [username(), admin(), twoFactor(), organization()],
    });
    stops.push(() => old.stop());
    const headers = { origin: old.origin };
    const post = async (jar: CookieJar, path: string, body: object) => {
      const seen = await jar.visit(`${old.origin}/api/auth${path}`, { method: 'POST', body, headers });
      expect([path, seen.status]).toEqual([path, 200]);
      return seen.body as { totpURI?: string; backupCodes?: string[] };
    };
    const [ada, grace, eve] = [new CookieJar(), new CookieJar(), new CookieJar()];
    for (const [name, jar] of Object.entries({ ada, grace, eve })) {
      const body = { email: `${name}@example.com`, password: PASSWORD, name };
      await post(jar, '/sign-up/email', name === 'ada' ? { ...body, username: 'Ada_Lovelace' } : body);
    }
    const { totpURI = '', backupCodes = [] } = await post(ada, '/two-factor/enable', { password: PASSWORD });
    const secret = String(new URL(totpURI).searchParams.get('secret'));
    await post(ada, '/two-factor/verify-totp', { code: codeOf(secret) });
    const { internalAdapter } = await old.auth.$context;
    await internalAdapter.createOAuthUser(
      { email: 'joan@example.com', name: 'joan', emailVerified: true },
      { providerId: 'github', accountId: '583231' },
    );
    await post(grace, '/organization/create', { name: 'Acme', slug: 'acme' });
    await rows(database, `UPDATE "user" SET banned = true WHERE name = 'eve'`);

    await addBridges('better-auth', own);
    await own.edit(
      'auth.js',
      ['createAuth, credentialPassword, oauth,', 'createAuth, credentialPassword, oauth, organizations,'],
      ['    suspension(),', '    suspension(),\n    organizations(),'],
    );
    expect(await run('move.js', '--dry-run')).toBe('4 users, 0 skipped\n');
    expect(await rows(database, 'SELECT id FROM auth_users')).toEqual([]);
    await stops.pop()?.();
    expect(await run('move.js')).toBe('4 users, 0 skipped\n');
    for (const _ of ['once', 'again'])
      expect(await run('move-organizations.js')).toBe('1 organizations, 0 skipped\n');
    const members = `SELECT o.slug, m.role, u.email FROM auth_organization_members m
      JOIN auth_organizations o ON o.id = m.organization_id JOIN auth_users u ON u.id = m.user_id`;
    expect(await rows(database, members)).toEqual([
      { slug: 'acme', role: 'owner', email: 'grace@example.com' },
    ]);
    const origin = await serve();

    const me = async (jar: CookieJar) => {
      const { status, body } = await jar.visit(`${origin}/auth/me`);
      return [status, body.user?.email ?? body.code];
    };
    for (const _ of ['with the old cookie', 'with the new one'])
      expect(await me(grace)).toEqual([200, 'grace@example.com']);
    expect([...grace.cookies.keys()].filter((name) => /^(latchkey|better-auth)\b/.test(name))).toEqual([
      'latchkey',
    ]);
    expect(await me(ada)).toEqual([401, 'unauthenticated']);
    expect(await me(eve)).toEqual([401, 'unauthenticated']);

    await expectOldPassword(origin, 'grace@example.com');
    expect(await signIn(origin, 'eve@example.com')).toMatchObject({
      status: 403,
      body: { code: 'account_suspended' },
    });
    for (const proof of [
      { method: 'totp', code: codeOf(secret) },
      { method: 'recovery_code', code: backupCodes[0] },
    ]) {
      const jar = new CookieJar();
      expect((await signIn(origin, 'ADA_lovelace', PASSWORD, jar)).body).toHaveProperty('second_factor');
      const second = { method: 'POST', body: proof };
      expect((await jar.visit(`${origin}/auth/signin/second-factor`, second)).status).toBe(200);
      expect(await me(jar)).toEqual([200, 'ada@example.com']);
    }
    const links = `SELECT u.email, a.provider, a.subject FROM auth_accounts a JOIN auth_users u ON u.id = a.user_id`;
    expect(await rows(database, links)).toEqual([
      { email: 'joan@example.com', provider: 'github', subject: '583231' },
    ]);
  });

  test('better-auth.md, which names the user whose second factor has another secret', async () => {
    const { database, run } = await project('better-auth');
    await fillWith(database, await madeBy('better-auth'), 'postgres');
    await expect(run('move.js')).rejects.toThrow(/second factor of user \w+ cannot be decrypted/);
  });

  test('auth-js.md, with a column for passwords, verified emails and living sessions', async () => {
    const own = await project('auth-js');
    const { database, run, edit, serve } = own;
    const made = await madeBy('auth-js');
    await fillWith(database, made, 'postgres');
    await rows(database, 'ALTER TABLE users ADD COLUMN password varchar(99)');
    await rows(database, `UPDATE users SET password = '${BCRYPT}' WHERE name = 'Ada'`);
    // An account of Google, beside the others.
    await rows(database, "UPDATE users SET email = 'joan@gmail.com' WHERE name = 'Joan'");
    await rows(database, "UPDATE accounts SET provider = 'google' WHERE provider = 'twitter'");
    await edit('auth.js', ['github, microsoft, x }', 'github, google, microsoft }'], [/ x\(/, ' google(']);
    const adapter = SequelizeAdapter(database.sequelize as never, { synchronize: false });
    const jars: Record<string, CookieJar> = {};
    for (const { id, name } of made.tables.users ?? []) {
      const [userId, sessionToken] = [String(id), `the-session-of-${name}`];
      await adapter.createSession?.({ userId, sessionToken, expires: new Date(Date.now() + DAY_MS) });
      jars[userId] = new CookieJar();
      jars[userId].cookies.set('authjs.session-token', sessionToken);
    }

    await addBridges('auth-js', own);
    const columns = "columns: { user: { passwordHash: 'password' } }";
    const [, verified = ''] = /```js\n(async function\* rows[\s\S]*?)```/.exec(await page('auth-js')) ?? [];
    await edit(
      'move.js',
      ['auth.movingIn.importUsers(fromAuthJs(old), ', 'auth.movingIn.importUsers(rows(), '],
      [/$/, verified.replace('fromAuthJs(old)', `fromAuthJs(old, { ${columns} })`)],
    );
    expect(await run('move.js', '--dry-run')).toBe('2 users, 0 skipped\n');
    expect(await run('move.js')).toBe('2 users, 0 skipped\n');
    const origin = await serve();
    for (const [id, jar] of Object.entries(jars))
      expect(await jar.visit(`${origin}/auth/me`)).toMatchObject({ status: 200, body: { user: { id } } });
    await expectOldPassword(origin, 'ada@example.com');
    expect(await rows(database, 'SELECT email FROM auth_users WHERE email_verified_at IS NULL')).toEqual([]);
  });

  test('django.md', async () => {
    const { database, run, serve } = await project('django');
    expect(await run('move.js')).toBe('3 users, 0 skipped\n');
    const found = await rows(
      database,
      'SELECT username, email, name, suspended_at IS NULL AS is_in FROM latchkey_users ORDER BY name',
    );
    expect(found).toEqual([
      { username: null, email: 'grace@example.com', name: '', is_in: true },
      { username: 'ada', email: null, name: 'Ada Lovelace', is_in: true },
      { username: 'eve', email: 'eve@example.com', name: 'Eve', is_in: false },
    ]);
    const origin = await serve();
    await expectOldPassword(origin, 'Ada');
    expect((await signIn(origin, 'eve')).body.code).toBe('account_suspended');
    expect((await signIn(origin, 'grace@example.com', '!unusable')).status).toBe(401);
  });

  test('devise.md', async () => {
    const { database, run, serve } = await project('devise');
    expect(await run('move.js', '--dry-run')).toBe('2 users, 0 skipped\n');
    expect(await run('move.js')).toBe('2 users, 0 skipped\n');
    const found = await rows(
      database,
      'SELECT email, email_verified_at IS NULL AS is_new FROM auth_users ORDER BY email',
    );
    expect(found).toEqual([
      { email: 'ada@example.com', is_new: false },
      { email: 'grace@example.com', is_new: true },
    ]);
    await expectOldPassword(await serve(), 'ada@example.com');
  });

  test('devise.md, with a pepper', async () => {
    const { database, run, edit, serve } = await project('devise');
    const hash = await bcrypt.hash(`${PASSWORD}pepper`, 4);
    await rows(database, 'UPDATE users SET encrypted_password = :hash WHERE id = 1', { hash });
    const [, column = ''] = /```js\n(passwordHash: [\s\S]*?)```/.exec(await page('devise')) ?? [];
    await edit('move.js', ["'./auth.js'", "'./auth-with-pepper.js'"], [/passwordHash: .*/, column]);
    expect(await run('move.js')).toBe('2 users, 0 skipped\n');
    await expectOldPassword(await serve('auth-with-pepper.js'), 'ada@example.com');
  });

  test('own-table.md, into a table of latchkey', async () => {
    const { database, run, serve } = await project('own-table');
    expect(await run('move.js')).toMatch(
      /^1 users, 1 skipped\n2: invalid_email: email must be an email address/,
    );
    expect(await rows(database, 'SELECT name, plan FROM auth_users')).toEqual([{ name: 'Ada', plan: 'pro' }]);
    await expectOldPassword(await serve(), 'ada@example.com');
  });

  test('own-table.md, keeping the table', async () => {
    const { database, run, serve } = await project('own-table');
    const args = ['move', '--model', 'Member', '--config', 'auth-with-rows.js'];
    args.push('--column', 'emailVerified=verified_at');
    await expect(run('../node_modules/latchkey/dist/esm/cli.js', ...args)).rejects.toMatchObject({
      stdout: expect.stringContaining('1 row with an account, 1 skipped.'),
    });
    const linked = 'SELECT m.full_name FROM members m JOIN auth_users u ON u.id = m.auth_id';
    expect(await rows(database, linked)).toEqual([{ full_name: 'Ada' }]);
    await expectOldPassword(await serve('auth-with-rows.js'), 'ada@example.com');
  });
});
