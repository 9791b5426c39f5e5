import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ada, SECRET } from '../support/app.js';
import { createOnServer, createSqlite, rows, type SpecDatabase } from '../support/database.js';
import { type Example, installExample, type RunningApp } from '../support/example.js';

const { LATCHKEY_SPEC_POSTGRES: postgres = '', LATCHKEY_SPEC_MYSQL: mysql = '' } = process.env;
const SERVERS = [
  ['PostgreSQL', postgres, () => createOnServer('postgres', postgres)],
  ['MySQL', mysql, () => createOnServer('mysql', mysql)],
] as const;
const SQLITE = ['SQLite', 'there', createSqlite] as const;

const bob = { email: 'bob@example.com', password: 'an analytical engine' };

describe.each([
  ['drizzle', 'server.ts', [...SERVERS, SQLITE]],
  ['knex', 'server.js', SERVERS],
] as const)('examples/%s', (name, file, databases) => {
  let example: Example;

  beforeAll(async () => {
    example = await installExample(name);
  }, 240_000);
  afterAll(() => example?.remove());

  const run = (script: string, env: Record<string, string>) =>
    promisify(execFile)('npm', ['run', script], { cwd: example.folder, env: { ...process.env, ...env } });

  if (name === 'drizzle') test('its joins are typed', () => run('typecheck', {}));

  describe.each(databases.filter(([, server]) => server !== ''))('on %s', (database, _server, create) => {
    let stored: SpecDatabase;
    let env: Record<string, string>;
    let app: RunningApp;

    beforeAll(async () => {
      stored = await create();
      env = { DATABASE_URL: stored.url, AUTH_SECRET: SECRET };
      await run('migrate', env);
      app = await example.start(file, env);
    }, 240_000);
    afterAll(async () => {
      await app?.stop();
      await stored?.drop();
    });

    const post = (path: string, body: object) =>
      fetch(app.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const emails = async () =>
      (await rows<{ email: string }>(stored, 'SELECT email FROM auth_users ORDER BY email')).map(
        ({ email }) => email,
      );

    if (name === 'drizzle')
      test('has the tables that latchkey writes', async () => {
        const folder = database === 'PostgreSQL' ? 'postgres' : database.toLowerCase();
        const args = ['schema', '--for', 'drizzle', '--out', `${folder}/latchkey.ts`, '--check'];
        await example.run('node_modules/latchkey/dist/esm/cli.js', env, args);
      });

    test('stores an account and a project together, or neither', async () => {
      expect((await post('/join', { ...ada, title: 'Notes' })).status).toBe(201);
      const refused = await post('/join', { ...ada, title: 'More notes' });
      expect([refused.status, (await refused.json()).code]).toEqual([409, 'email_taken']);
      // SQLite stores any length, but no null.
      const title = database === 'SQLite' ? null : 'x'.repeat(81);
      expect((await post('/join', { ...bob, title })).status).toBe(500);
      expect(await emails()).toEqual([ada.email]);
    });

    test('joins both tables, and deletes a project with its account', async () => {
      const signedIn = await post('/auth/signin/credential', {
        credential: ada.email,
        password: ada.password,
      });
      const cookie = signedIn.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ');
      const projects = await (await fetch(`${app.url}/projects`, { headers: { cookie } })).json();
      const ofHook = name === 'knex' ? [{ title: 'My first project', owner: ada.email }] : [];
      expect(projects).toEqual([...ofHook, { title: 'Notes', owner: ada.email }]);
      const deleted = await fetch(`${app.url}/auth/me`, { method: 'DELETE', headers: { cookie } });
      expect(deleted.status).toBe(204);
      expect(await rows(stored, 'SELECT id FROM projects')).toEqual([]);
    });

    test('is migrated again without a question, and keeps all rows', async () => {
      expect((await post('/join', { ...bob, title: 'Notes' })).status).toBe(201);
      await run('migrate', env);
      expect([await emails(), (await rows(stored, 'SELECT id FROM projects')).length > 0]).toEqual([
        [bob.email],
        true,
      ]);
    });
  });
});
