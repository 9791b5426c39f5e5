import { afterEach, describe, expect, test } from '@jest/globals';
import type { Sequelize } from 'sequelize';
import { AuthError, admin, apiKeys, auditLog } from '../../lib/index.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../support/app.js';
import { dialect, rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';
import { settled } from '../support/sessions.js';

const plugins = () =>
  [password(), apiKeys(), auditLog(), admin({ adminEmails: ['owner@example.com'] })] as const;
type App = SpecApp<ReturnType<typeof plugins>>;

let app: App;
afterEach(() => app.stop());

const start = async (config = {}) => {
  app = await startApp({ plugins: plugins(), config });
  return app;
};
const idOf = async (browser: Awaited<ReturnType<typeof signedIn>>) =>
  (await browser.get('/auth/me').expect(200)).body.user.id as string;
const age = (seconds: number) =>
  rows(app.database, 'UPDATE sessions SET authenticated_at = :at', {
    at: new Date(Date.now() - seconds * 1000),
  });
const count = async (table: string) =>
  Number((await rows<{ n: number }>(app.database, `SELECT COUNT(*) AS n FROM ${table}`))[0]?.n);

/** A table of the app whose rows keep their user. */
async function refer(sequelize: Sequelize, userId: string, deferred = false) {
  const id = { mysql: 'CHAR(36) CHARACTER SET ascii', postgres: 'UUID', sqlite: 'TEXT' }[dialect];
  const when = deferred ? 'DEFERRABLE INITIALLY DEFERRED' : 'ON DELETE RESTRICT';
  const [column] = await rows<{ t: string }>(
    app.database,
    {
      mysql:
        "SELECT CONCAT(column_type, ' CHARACTER SET ', character_set_name, ' COLLATE ', collation_name) AS t FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = 'users' AND column_name = 'id'",
      postgres:
        "SELECT data_type AS t FROM information_schema.columns WHERE table_name = 'users' AND column_name = 'id'",
      sqlite: "SELECT type AS t FROM pragma_table_info('users') WHERE name = 'id'",
    }[dialect],
  );
  await sequelize.query(
    `CREATE TABLE invoices (user_id ${column?.t ?? id} NOT NULL, FOREIGN KEY (user_id) REFERENCES users (id) ${when})`,
  );
  await sequelize.query('INSERT INTO invoices (user_id) VALUES (:userId)', { replacements: { userId } });
}

describe('DELETE /me', () => {
  test('deletes the account with everything that belongs to it, and clears the cookie', async () => {
    const { auth } = await start();
    const other = await signedIn(app, { email: 'bob@example.com', password: ada.password });
    const browser = await signedIn(app);
    const second = app.browser();
    await second.post('/auth/signin/credential').send({ credential: ada.email, password: ada.password });
    const userId = await idOf(browser);
    const { key } = (await browser.post('/auth/api-keys').send({ name: 'program' }).expect(201)).body;
    const events: string[] = [];
    auth.on('session.revoked', (event) => events.push(`session.revoked ${event.userId}`));
    auth.on('user.deleted', (event) => events.push(`user.deleted ${event.userId}`));
    const response = await browser.delete('/auth/me').expect(204);
    expect(response.headers['set-cookie']?.[0]).toMatch(/^latchkey=;.*Expires=Thu, 01 Jan 1970/);
    expect(events).toEqual([...Array(2).fill(`session.revoked ${userId}`), `user.deleted ${userId}`]);
    expect(await auth.users.get(userId)).toBeNull();
    for (const table of ['users', 'sessions', 'known_devices'])
      expect([table, await count(table)]).toEqual([table, 1]);
    for (const table of ['api_keys', 'one_time_tokens'])
      expect([table, await count(table)]).toEqual([table, 0]);
    expectProblem(await second.get('/auth/me'), 401, 'invalid_session');
    expectProblem(await app.http.get('/auth/me').set('x-service-api-key', key), 401, 'invalid_api_key');
    const again = app.http
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password });
    expectProblem(await again, 401, 'invalid_credentials');
    await other.get('/auth/me').expect(200);
    // The address is free again.
    await signedIn(app);
  });

  test('needs a recent sign-in or the password', async () => {
    await start();
    const browser = await signedIn(app);
    await age(601);
    expectProblem(await browser.delete('/auth/me'), 403, 'reauthentication_required');
    expectProblem(await browser.delete('/auth/me').send({}), 403, 'reauthentication_required');
    expectProblem(await browser.delete('/auth/me').send({ password: 'wrong' }), 401, 'invalid_credentials');
    expectProblem(await browser.delete('/auth/me').send({ password: 5 }), 422, 'validation_failed');
    expectProblem(await browser.delete('/auth/me').send({ pasword: 'x' }), 422, 'validation_failed');
    await browser.get('/auth/me').expect(200);
    await browser.delete('/auth/me').send({ password: ada.password }).expect(204);
    expect(await count('users')).toBe(0);
  });

  test('refuses a wrong password even after a recent sign-in, and pauses after five', async () => {
    await start({ rateLimit: {} });
    const browser = await signedIn(app);
    const attempt = () => browser.delete('/auth/me').send({ password: 'wrong' });
    for (let i = 0; i < 5; i++) expectProblem(await attempt(), 401, 'invalid_credentials');
    expectProblem(await attempt(), 429, 'rate_limited');
  });

  test('deletes once if it is called 8 times at once', async () => {
    await start();
    const browser = await signedIn(app);
    const responses = await Promise.all(Array.from({ length: 8 }, () => browser.delete('/auth/me')));
    const statuses = responses.map(({ status }) => status).sort();
    expect(statuses).toEqual([204, ...Array(7).fill(401)]);
  });

  test('has a twin for forms', async () => {
    await start();
    const browser = await signedIn(app);
    const response = await browser
      .post('/auth/me/delete')
      .type('form')
      .send({ password: ada.password, redirect_to: '/goodbye' });
    expect([response.status, response.headers.location]).toEqual([303, '/goodbye']);
    expect(response.headers['set-cookie']?.[0]).toMatch(/^latchkey=;/);
    expect(await count('users')).toBe(0);
  });

  test('can be switched off', async () => {
    await start({ account: { delete: false } });
    const browser = await signedIn(app);
    expectProblem(await browser.delete('/auth/me'), 405, 'method_not_allowed');
    await browser.post('/auth/me/delete').type('form').send({}).expect(404);
  });
});

describe('a row of the app that refers to the user', () => {
  const kinds = [
    ['RESTRICT', false],
    ...(dialect === 'mysql' ? [] : [['a deferred constraint', true] as const]),
  ] as const;

  test.each(kinds)(
    'and may not go, by %s, keeps the account, and nothing is lost',
    async (_kind, deferred) => {
      const { auth, database } = await start();
      const browser = await signedIn(app);
      const userId = await idOf(browser);
      const { key } = (await browser.post('/auth/api-keys').send({ name: 'program' }).expect(201)).body;
      await refer(database.sequelize, userId, deferred);
      expectProblem(await browser.delete('/auth/me'), 409, 'account_in_use');
      await expect(auth.users.delete(userId)).rejects.toMatchObject({ code: 'account_in_use' });
      await browser.get('/auth/me').expect(200);
      await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
      await rows(database, 'DELETE FROM invoices');
      await browser.delete('/auth/me').expect(204);
    },
  );
});

const onPostgres = dialect === 'postgres' ? test : test.skip;

// https://www.postgresql.org/docs/18/release-18.html: ON DELETE RESTRICT has an error code of its own there.
onPostgres('PostgreSQL may call it restrict_violation', async () => {
  const { auth, database } = await start();
  const { id } = await auth.users.create({ email: ada.email });
  await database.sequelize.query(
    `CREATE FUNCTION restrict() RETURNS trigger AS $$ BEGIN RAISE restrict_violation; END $$ LANGUAGE plpgsql;
     CREATE TRIGGER restrict BEFORE DELETE ON users FOR EACH ROW EXECUTE FUNCTION restrict()`,
  );
  await expect(auth.users.delete(id)).rejects.toMatchObject({ code: 'account_in_use' });
  expect(await auth.users.get(id)).not.toBeNull();
});

describe('hooks.beforeDeleteUser', () => {
  test('runs in the transaction, and what it throws keeps the account', async () => {
    let refusal: Error | null = new AuthError('account_in_use', { detail: 'Cancel your plan first.' });
    await start({
      hooks: {
        async beforeDeleteUser(user: { id: string }) {
          if (refusal) throw refusal;
          expect(await count('users')).toBe(1);
          expect(user.id).toMatch(/^[0-9a-f-]{36}$/);
        },
      },
    });
    const browser = await signedIn(app);
    const { detail } = expectProblem(await browser.delete('/auth/me'), 409, 'account_in_use');
    expect(detail).toBe('Cancel your plan first.');
    refusal = new Error('out of order');
    expect((await browser.delete('/auth/me')).status).toBe(500);
    await browser.get('/auth/me').expect(200);
    refusal = null;
    await browser.delete('/auth/me').expect(204);
  });
});

test('the audit log keeps what happened, and forgets from where', async () => {
  const { auth } = await start();
  const browser = await signedIn(app);
  const userId = await idOf(browser);
  await browser.delete('/auth/me').set('user-agent', 'a browser').expect(204);
  await settled(auth);
  const { events } = await auth.auditLog.listEvents({ userId });
  expect(events.map(({ kind }) => kind).sort()).toEqual([
    'session.created',
    'session.revoked',
    'user.created',
    'user.deleted',
  ]);
  // The last ones are forgotten right after they are saved.
  expect(events.filter((event) => event.ipAddress ?? event.userAgent)).toEqual([]);
});

test('auth.users.delete() deletes nobody twice', async () => {
  const { auth } = await start();
  const { id } = await auth.users.create({ email: ada.email });
  await auth.users.delete(id);
  await expect(auth.users.delete(id)).rejects.toMatchObject({ code: 'user_not_found' });
  await expect(auth.users.delete('nobody')).rejects.toMatchObject({ code: 'user_not_found' });
});
