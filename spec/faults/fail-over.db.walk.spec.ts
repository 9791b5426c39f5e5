// A fail-over as managed databases do it: the address leads to the new primary, and the old one stays up, read-only.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import { QueryTypes, Sequelize, type Transaction } from 'sequelize';
import request from 'supertest';
import { authRouter, createAuth, requireSession } from '../../lib/index.js';
import { ada, memoryLogger, password, SECRET } from '../support/app.js';
import { dialect } from '../support/database.js';
import { type DatabaseProxy, startProxy } from '../support/proxy.js';
import { type OwnServer, startMysql, startPostgres } from '../support/servers.mjs';
import { settled } from '../support/sessions.js';

/** More than one, and fewer than the pool has. */
const ALLOWED = 3;
const POOL_SIZE = 10;
const AT_ONCE = 25;
const credentials = { credential: ada.email, password: ada.password };
const isMysql = dialect === 'mysql';

/** A server with a database for an app, whose user has no right beyond it. */
interface Place {
  readonly server: OwnServer;
  /** The database as the app's user. */
  readonly url: string;
  /** The database as an administrator. */
  readonly admin: Sequelize;
}

async function createPlace(server: OwnServer, name: string): Promise<Place> {
  const run = async (database: string, statements: readonly string[]) => {
    const sequelize = new Sequelize(`${server.url}/${database}`, { logging: false });
    for (const statement of statements) await sequelize.query(statement);
    return sequelize;
  };
  const user = isMysql
    ? [`CREATE USER ${name} IDENTIFIED BY 'secret'`, `GRANT ALL ON ${name}.* TO ${name}`]
    : [`CREATE ROLE ${name} LOGIN PASSWORD 'secret'`, `ALTER SCHEMA public OWNER TO ${name}`];
  await (await run(isMysql ? 'mysql' : 'postgres', [`CREATE DATABASE ${name}`])).close();
  const url = new URL(`${server.url}/${name}`);
  url.username = name;
  url.password = 'secret';
  return { server, url: url.href, admin: await run(name, user) };
}

const fence = async ({ admin }: Place, isReadOnly: boolean) => {
  if (isMysql) await admin.query(`SET GLOBAL read_only = ${isReadOnly ? 1 : 0}`);
  else {
    await admin.query(`ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`);
    await admin.query('SELECT pg_reload_conf()');
    // Until the setting has arrived.
    const wanted = isReadOnly ? 'on' : 'off';
    for (let shown = ''; shown !== wanted; ) {
      const sql = "SELECT current_setting('default_transaction_read_only') AS shown";
      shown = (await admin.query<{ shown: string }>(sql, { type: QueryTypes.SELECT }))[0]?.shown ?? '';
    }
  }
};

function start(database: string | Sequelize) {
  const plugins = [password()] as const;
  const logger = memoryLogger();
  const auth = createAuth({
    database,
    secret: SECRET,
    plugins,
    logger,
    rateLimit: false,
    outbox: { interval: false },
  });
  const app = express();
  app.use('/auth', authRouter(auth));
  app.get('/guarded', requireSession(auth), (_req, res) => void res.json({}));
  const server = app.listen(0, '127.0.0.1');
  const http = request(server);
  return {
    auth,
    http,
    log: logger.lines,
    guarded: (token: string) => http.get('/guarded').set('cookie', `latchkey=${token}`),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await auth.close();
    },
  };
}

async function transactionsUpToTheLimit(database: Sequelize): Promise<Transaction[]> {
  const begun: Transaction[] = [];
  for (;;) {
    const transaction = await database.transaction().catch(() => null);
    if (!transaction) return begun;
    begun.push(transaction);
  }
}

(dialect === 'sqlite' ? describe.skip : describe)('a database server', () => {
  let servers: OwnServer[];
  beforeAll(async () => {
    const startServer = isMysql ? startMysql : startPostgres;
    servers = (await Promise.all([startServer(), startServer()])) as OwnServer[];
  }, 60_000);
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  describe.each([
    ['by its URL', (url: string) => url],
    ['by an instance of the app', (url: string) => new Sequelize(url, { logging: false, pool: { max: 8 } })],
  ])('that was the primary, %s,', (name, open) => {
    let former: Place;
    let primary: Place;
    let proxy: DatabaseProxy;
    let app: ReturnType<typeof start>;
    let database: string | Sequelize;
    let token: string;
    let sessionId: string;
    beforeAll(async () => {
      const shortName = `app${name.length}`;
      [former, primary] = (await Promise.all(servers.map((server) => createPlace(server, shortName)))) as [
        Place,
        Place,
      ];
      proxy = await startProxy(former.url);
      database = open(proxy.url);
      app = start(database);
      await app.auth.migrate();
      const there = createAuth({ database: primary.url, secret: SECRET, plugins: [] });
      await there.migrate();
      await there.close();
      await app.auth.credential.signUp(ada);
      const signedIn = await app.auth.credential.signIn(credentials);
      token = signedIn.token;
      sessionId = signedIn.session.id;
      // As many connections as the pool has, in transactions and outside.
      await Promise.all(Array.from({ length: AT_ONCE }, () => app.auth.credential.signIn(credentials)));
      await settled(app.auth);
      for (const table of ['users', 'sessions', 'known_devices']) {
        const [copies] = await former.admin.query(`SELECT * FROM ${table}`);
        if (copies.length > 0) await primary.admin.getQueryInterface().bulkInsert(table, copies as object[]);
      }
    }, 60_000);
    afterAll(async () => {
      await fence(former, false);
      await app.stop();
      if (typeof database === 'object') await database.close();
      await proxy.stop();
      for (const { admin } of [former, primary]) await admin.close();
    });

    test('is left as soon as a write is refused, and sessions that were revoked since are refused', async () => {
      await app.guarded(token).expect(200);
      await fence(former, true);
      proxy.leadTo(primary.url);
      await primary.admin.query(`DELETE FROM sessions WHERE id = '${sessionId}'`);
      const signIns = await Promise.all(
        Array.from({ length: AT_ONCE }, () => app.http.post('/auth/signin/credential').send(credentials)),
      );
      expect(signIns.map(({ status }) => status)).toEqual(signIns.map(() => 200));
      // Again and again, because the pool might still have a connection to the former primary.
      for (let round = 0; round < 3; round++) {
        const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => app.guarded(token)));
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 401));
      }
      const lost = await former.admin.query(`SELECT id FROM sessions`);
      expect(lost[0].length).toBe(AT_ONCE + 1);
      const kept = await primary.admin.query('SELECT id FROM sessions');
      expect(kept[0].length).toBe(AT_ONCE + AT_ONCE);
    });

    test('with no other to go to makes requests that write 503, and works as soon as it accepts writes', async () => {
      await fence(primary, true);
      const { status } = await app.http.post('/auth/signin/credential').send(credentials);
      expect(status).toBe(503);
      expect(app.log.join('\n')).toMatch(/read.only/);
      // A former primary of MariaDB and MySQL cannot be told from a primary that has been set to read-only.
      const sessions = !isMysql;
      expect((await app.guarded(token)).status).toBe(sessions ? 401 : 503);
      const { ok, ready } = await app.auth.health();
      expect({ ok, ready }).toEqual({ ok: sessions, ready: { sessions, signIns: false } });
      await fence(primary, false);
      await app.http.post('/auth/signin/credential').send(credentials).expect(200);
    });
  });

  test.each([
    ['by its URL', (url: string) => url],
    [
      'by an instance of the app',
      (url: string) => new Sequelize(url, { logging: false, pool: { max: POOL_SIZE } }),
    ],
  ])(
    'that allows fewer connections than the pool has, %s, makes requests wait, and none fails',
    async (name, open) => {
      const role = `crowded${name.length}`;
      const place = await createPlace(servers[0] as OwnServer, role);
      const allow = (count: number) =>
        place.admin.query(
          isMysql
            ? `ALTER USER ${role} WITH MAX_USER_CONNECTIONS ${count}`
            : `ALTER ROLE ${role} CONNECTION LIMIT ${count}`,
        );
      const database = open(place.url);
      let requested = 0;
      let opened = 0;
      if (typeof database === 'object') {
        database.addHook('beforeConnect', () => void requested++);
        database.addHook('afterConnect', () => void opened++);
      }
      const app = start(database);
      const signIns = async () => {
        const signIn = () => app.http.post('/auth/signin/credential').send(credentials);
        const answers = await Promise.all(Array.from({ length: AT_ONCE }, signIn));
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      };
      try {
        await app.auth.migrate();
        await app.auth.credential.signUp(ada);
        await allow(ALLOWED);
        await signIns();
        if (typeof database === 'string') return;
        const rejections = () => requested - opened;
        expect(rejections()).toBeGreaterThan(0);
        // If each statement tried to open a connection, there would be more than two rejections per request.
        expect(rejections()).toBeLessThan(AT_ONCE);
        // The pool grows again, even if none of its connections is released.
        const busy = await transactionsUpToTheLimit(database);
        const before = rejections();
        const waiting = app.auth.credential.signIn(credentials);
        while (rejections() === before) await new Promise((resolve) => setImmediate(resolve));
        await allow(POOL_SIZE);
        await waiting;
        await Promise.all(busy.map((transaction) => transaction.rollback()));
      } finally {
        await app.stop();
        if (typeof database === 'object') await database.close();
        await place.admin.close();
      }
    },
    60_000,
  );
});
