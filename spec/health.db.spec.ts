import { existsSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { internalsOf } from '../lib/auth.js';
import { createAuth } from '../lib/index.js';
import type { NamedSetup } from '../lib/plugin.js';
import { columnName } from '../lib/tables/column.js';
import { ada, memoryLogger, password, SECRET, type SpecApp, startApp } from './support/app.js';
import { dialect, rows } from './support/database.js';
import { everyPlugin } from './support/every-plugin.js';
import { fixedProvider } from './support/fixed-provider.js';
import { mailbox } from './support/mailbox.js';
import { startProxy } from './support/proxy.js';
import { REDIS_SERVER, startRedis } from './support/servers.mjs';
import { settled } from './support/sessions.js';
import { afterTimers, withoutWaiting } from './support/timers.js';

const plugins = [password()] as const;
let app: Pick<SpecApp<typeof plugins>, 'auth' | 'database' | 'http' | 'browser' | 'log' | 'stop'>;
afterEach(() => app.stop());

// The specs of this round have found a Redis; this one starts another, to freeze it.
const withRedis = process.env.LATCHKEY_SPEC_REDIS && existsSync(REDIS_SERVER) ? test : test.skip;

const nothing = { pending: 0, failed: 0, oldestSeconds: 0 };
const well = { ok: true, ready: { sessions: true, signIns: true }, degraded: [], outbox: nothing };
/** Guarded routes respond, and users cannot sign in. */
const sessionsOnly = { ok: true, ready: { sessions: true, signIns: false } };
const down = {
  ok: false,
  ready: { sessions: false, signIns: false },
  degraded: ['database', 'writes', 'schema', 'limits', 'outbox'],
  outbox: { pending: null, failed: null, oldestSeconds: null },
};

test('auth.health() says that all is well, what waits in the outbox, and that the schema is behind', async () => {
  const send = () => Promise.reject(new Error('no'));
  app = await startApp({ config: { rateLimit: {}, baseUrl: 'http://app.example.com', email: { send } } });
  expect(await app.auth.health()).toEqual(well);
  await app.auth.users.create({ ...ada, emailVerified: true });
  await app.auth.credential.requestPasswordReset({ email: ada.email });
  await settled(app.auth);
  expect(await app.auth.health()).toEqual({
    ...well,
    outbox: { ...nothing, pending: 1, oldestSeconds: expect.any(Number) },
  });
  await rows(app.database, "UPDATE outbox SET created_at = '2020-01-01 00:00:00.000'");
  const { outbox, ...others } = await app.auth.health();
  expect({ ...others, outbox: nothing }).toEqual({ ...well, degraded: ['outbox'] });
  expect(outbox).toMatchObject({ pending: 1, failed: 0 });
  expect(outbox.oldestSeconds).toBeGreaterThan(100_000_000);
  await rows(app.database, "UPDATE outbox SET state = 'failed'");
  expect(await app.auth.health()).toEqual({ ...well, outbox: { ...nothing, failed: 1 } });
  await rows(app.database, "DELETE FROM latchkey_migrations WHERE name = '0001-core'");
  expect(await app.auth.health()).toMatchObject({ ok: true, degraded: ['schema'] });
  // The checks have left nothing behind.
  expect(await rows(app.database, 'SELECT state FROM outbox')).toEqual([{ state: 'failed' }]);
});

test('while a migration is missing, auth.health() says whether sign-ins and guarded routes respond', async () => {
  const notify = { unknownBrowser: 'notify' } as const;
  const all = [...everyPlugin({ sendsEmails: true, password: notify }), fixedProvider()] as const;
  const baseUrl = 'http://app.example.com';
  const user = { fields: { plan: { type: 'string', output: 'admin', required: false } } } as const;
  const rateLimit = { signIn: { limit: 1000, window: 60 } };
  const config = { rateLimit, baseUrl, email: { send: mailbox().send }, user };
  app = (await startApp({ plugins: all, config })) as typeof app;
  await app.auth.users.create({ ...ada, emailVerified: true });
  const session = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
  const { http } = app;
  const requests = {
    sessions: [() => http.get('/auth/me').set('cookie', `latchkey=${session.token}`)],
    signIns: [
      () => http.post('/auth/signin/credential').send({ credential: ada.email, password: ada.password }),
      () => http.post('/auth/signin/passkey/options').send({}),
      () => http.post('/auth/signin/email').send({ email: ada.email }),
      () => http.get('/auth/oauth/fixed/authorize').query({ callback_url: '/' }),
    ],
  };
  const respond = async (part: keyof typeof requests) => {
    const statuses = await Promise.all(requests[part].map(async (send) => (await send()).status));
    // Any other status, like that of a limit, would say nothing about the schema.
    expect([200, 202, 302, 503]).toEqual(expect.arrayContaining(statuses));
    return !statuses.includes(503);
  };
  const ready = async () => ({ sessions: await respond('sessions'), signIns: await respond('signIns') });
  expect(await ready()).toEqual(well.ready);
  expect((await app.auth.health()).ready).toEqual(well.ready);

  const told: Record<string, object> = {};
  const seen: Record<string, object> = {};
  for (const { name, away, back } of [
    ...renamingsOf(app.auth),
    renamingOf('known_devices', 'name'),
    renamingOf('users', 'plan'),
  ]) {
    for (const sql of away) await rows(app.database, sql);
    told[name] = (await app.auth.health()).ready;
    seen[name] = await ready();
    for (const sql of back) await rows(app.database, sql);
  }
  expect(told).toEqual(seen);
  // A sign-in method needs its tables, and every sign-in needs the columns of users.
  expect(told).toEqual({
    apiKeys: { sessions: true, signIns: true },
    auditLog: { sessions: true, signIns: true },
    credential: { sessions: true, signIns: true },
    emailSignIn: { sessions: true, signIns: false },
    oauth: { sessions: true, signIns: false },
    organizations: { sessions: true, signIns: true },
    passkeys: { sessions: true, signIns: false },
    roles: { sessions: false, signIns: false },
    suspension: { sessions: true, signIns: false },
    twoFactor: { sessions: false, signIns: false },
    'known_devices.name': { sessions: true, signIns: false },
    'users.plan': { sessions: true, signIns: false },
  });
});

/** The statements that take away what the migrations of each plugin have created, and those that bring it back. */
function renamingsOf(auth: typeof app.auth) {
  const contributions: readonly Partial<NamedSetup>[] = internalsOf(auth).core.contributions;
  return contributions.flatMap(({ name = '', tables = {}, userColumns = {} }) => {
    const renamed = (from: (name: string) => string, to: (name: string) => string) => [
      ...Object.values(tables).map((table) => `ALTER TABLE ${from(table.name)} RENAME TO ${to(table.name)}`),
      ...Object.entries(userColumns)
        .map(([attribute, column]) => columnName(attribute, column))
        .map((column) => `ALTER TABLE users RENAME COLUMN ${from(column)} TO ${to(column)}`),
    ];
    const [same, gone] = [(one: string) => one, (one: string) => `${one}_gone`];
    const away = renamed(same, gone);
    return away.length > 0 ? [{ name, away, back: renamed(gone, same) }] : [];
  });
}

function renamingOf(table: string, column: string) {
  const renamed = (from: string, to: string) => [`ALTER TABLE ${table} RENAME COLUMN ${from} TO ${to}`];
  const gone = `${column}_gone`;
  return { name: `${table}.${column}`, away: renamed(column, gone), back: renamed(gone, column) };
}

test('auth.health() says that guarded routes do not respond while a table is locked', async () => {
  app = await startApp({ config: { rateLimit: {} } });
  expect(await app.auth.health()).toEqual(well);
  const lock = await app.database.sequelize.transaction();
  const run = (sql: string) => app.database.sequelize.query(sql, { transaction: lock });
  if (dialect === 'sqlite') {
    // Readers go on, and sign-ins wait.
    await run("UPDATE users SET email = NULL WHERE id = 'none'");
    expect(await app.auth.health()).toMatchObject({ ...sessionsOnly, degraded: ['writes'] });
  } else {
    await run(dialect === 'mysql' ? 'LOCK TABLES sessions WRITE' : 'LOCK TABLE sessions');
    expect(await app.auth.health()).toMatchObject({
      ok: false,
      ready: { sessions: false, signIns: false },
      degraded: ['database'],
    });
    if (dialect === 'mysql') await run('UNLOCK TABLES');
  }
  await lock.rollback();
  // Until the statements of that check have ended, calls share it.
  while ((await app.auth.health()).degraded.length > 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
});

test('auth.health() says within two seconds that the database is frozen, and later that it is back', async () => {
  app = await startApp();
  if (dialect === 'sqlite') {
    const gone = createAuth({
      database: 'sqlite:/dev/null/all.db',
      secret: SECRET,
      plugins: [password()],
      logger: memoryLogger(),
    });
    expect(await gone.health()).toEqual(down);
    await gone.close();
    return;
  }
  const proxy = await startProxy(app.database.url);
  const auth = createAuth({
    database: proxy.url,
    secret: SECRET,
    plugins: [password()],
    logger: memoryLogger(),
  });
  try {
    expect(await auth.health()).toMatchObject({ ok: true });
    proxy.blackHole();
    const begun = performance.now();
    expect(await auth.health()).toEqual(down);
    // Two, and what a busy machine adds; a statement may take four.
    expect(performance.now() - begun).toBeLessThan(3500);
    await proxy.pass();
    let health = await auth.health();
    while (!health.ok) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      health = await auth.health();
    }
    expect(health.outbox).toEqual(nothing);
  } finally {
    await auth.close();
    await proxy.stop();
  }
});

withRedis(
  'auth.health() says within two seconds that Redis is frozen, and later that it is back, and that its memory is full',
  async () => {
    const server = await startRedis();
    if (!server) throw new Error('there is no redis-server on this machine');
    try {
      app = await startApp({ config: { rateLimit: { store: server.url } } });
      expect(await app.auth.health()).toEqual(well);
      server.freeze();
      const begun = performance.now();
      const health = await app.auth.health();
      // Two, and what a busy machine adds.
      expect(performance.now() - begun).toBeLessThan(10_000);
      expect(health).toEqual({ ...sessionsOnly, degraded: ['limits'], outbox: nothing });
      server.thaw();
      while (!(await app.auth.health()).ready.signIns)
        await new Promise((resolve) => setTimeout(resolve, 50));
      // It still answers reads.
      const client = new Redis(server.url);
      await client.config('SET', 'maxmemory', '1');
      client.disconnect();
      expect(await app.auth.health()).toEqual({ ...sessionsOnly, degraded: ['limits'], outbox: nothing });
      await app.http
        .post('/auth/signin/credential')
        .send({ credential: ada.email, password: 'a' })
        .expect(503);
    } finally {
      // The client does not wait for a server that is gone.
      await app.auth.close();
      await server.stop();
    }
  },
);

test('auth.close() waits for requests, emails and webhooks that are under way', async () => {
  let begun: () => void = () => {};
  const sending = new Promise<void>((resolve) => {
    begun = resolve;
  });
  let release: () => void = () => {};
  let sent = false;
  const send = () =>
    new Promise<void>((resolve) => {
      begun();
      release = () => {
        sent = true;
        resolve();
      };
    });
  app = await startApp({ config: { baseUrl: 'http://app.example.com', email: { send } } });
  await app.auth.users.create({ ...ada, emailVerified: true });
  await app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202);
  await sending;
  const closing = app.auth.close();
  const first = await Promise.race([closing.then(() => 'closed'), Promise.resolve('waits')]);
  expect(first).toBe('waits');
  release();
  await closing;
  expect(sent).toBe(true);
  expect(await rows(app.database, 'SELECT state FROM outbox')).toEqual([{ state: 'sent' }]);
});

test('auth.close() takes 9 seconds at most, even if an email and a connection never end', async () => {
  let begun: () => void = () => {};
  const sending = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const send = () => {
    begun();
    return new Promise<void>(() => {});
  };
  app = await startApp({ config: { baseUrl: 'http://app.example.com', email: { send } } });
  await app.auth.users.create({ ...ada, emailVerified: true });
  await app.auth.credential.requestPasswordReset({ email: ada.email });
  await sending;
  const { sequelize } = internalsOf(app.auth).core.database;
  const { close } = sequelize;
  sequelize.close = () => new Promise(() => {});
  let waitedMs = 0;
  await afterTimers(
    (ms) => {
      waitedMs += ms;
    },
    () => app.auth.close(),
  );
  expect(waitedMs).toBeGreaterThan(8000);
  expect(waitedMs).toBeLessThanOrEqual(9000);
  await close.call(sequelize);
});

test('auth.close() gives up on an email that is never sent, and says so', async () => {
  let begun: () => void = () => {};
  const sending = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const send = () => {
    begun();
    return new Promise<void>(() => {});
  };
  app = await startApp({ config: { baseUrl: 'http://app.example.com', email: { send } } });
  await app.auth.users.create({ ...ada, emailVerified: true });
  await app.auth.credential.requestPasswordReset({ email: ada.email });
  await sending;
  expect(app.log.join('\n')).not.toContain('auth.close()');
  await withoutWaiting(7000, () => withoutWaiting(1000, () => app.auth.close()));
  expect(app.log.filter((line) => line.includes('auth.close()'))).toEqual([
    expect.stringMatching(/^warn latchkey: auth\.close\(\) has waited for 7 seconds/),
    expect.stringMatching(
      /^warn latchkey: auth\.close\(\) could not stop emails or webhooks that are being sent, .*\(1: an email\): make send stop/,
    ),
  ]);
  // Another process, or the next one, sends it.
  expect(await rows(app.database, 'SELECT state FROM outbox')).toEqual([{ state: 'waiting' }]);
});
