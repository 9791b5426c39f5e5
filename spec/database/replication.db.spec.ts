import { afterEach, describe, expect, test } from '@jest/globals';
import { QueryTypes, Sequelize } from 'sequelize';
import { apiKeys, authRouter, createAuth, requireSession } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, signedIn, startApp } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';

// Sequelize's option `replication` sends SELECTs to the replica. This one has stopped following the primary.
let replica: SpecDatabase;
let own: Sequelize;
let app: SpecApp<readonly [ReturnType<typeof password>, ReturnType<typeof apiKeys>]>;

async function start(max = 5) {
  replica = await createDatabase();
  app = await startApp({
    plugins: [password(), apiKeys()],
    async config({ url }) {
      const read = [{ database: new URL(replica.url).pathname.slice(1) }];
      own = new Sequelize(url, { logging: false, pool: { max }, replication: { read, write: {} } });
      return { database: own, rateLimit: { signUp: false } };
    },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/guarded', requireSession(auth), (_req, res) => void res.json({}));
    },
  });
}

/** What the app itself reads, by default from the replica. */
const counted = async (table: string) => {
  const [row] = await own.query<{ n: string }>(`SELECT count(*) AS n FROM ${table}`, {
    type: QueryTypes.SELECT,
  });
  return Number(row?.n);
};

(dialect === 'sqlite' ? describe.skip : describe)('with a replica for reads', () => {
  afterEach(async () => {
    await app.stop();
    await replica.drop();
  });

  test('a session that a late replica still has is refused once it is revoked', async () => {
    await start();
    const copy = createAuth({ database: replica.url, secret: SECRET, plugins: [] });
    await copy.migrate();
    await copy.close();
    await app.auth.credential.signUp(ada);
    const { token } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
    for (const table of ['users', 'sessions']) {
      const copies = await rows(app.database, `SELECT * FROM ${table}`);
      await replica.sequelize.getQueryInterface().bulkInsert(table, copies);
    }
    const guarded = () => app.http.get('/guarded').set('cookie', `latchkey=${token}`);
    await guarded().expect(200);
    await app.http.post('/auth/signout').set('cookie', `latchkey=${token}`).expect(204);
    expect(await counted('sessions')).toBe(1);
    await guarded().expect(401);
  });

  test('nothing that latchkey does is read from the replica', async () => {
    // It has no tables.
    await start();
    const browser = await signedIn(app);
    await expect(counted('sessions')).rejects.toThrow();
    const { body } = await browser.get('/auth/me').expect(200);
    expect(body).toMatchObject({ user: { email: ada.email } });
    await browser.get('/auth/sessions').expect(200);
    const { apiKey } = await app.auth.apiKeys.create(body.user.id, { name: 'a program', scopes: ['read'] });
    expect(await app.auth.apiKeys.list(body.user.id)).toEqual([apiKey]);
    await app.http
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: 'wrong' })
      .expect(401);
    expect(await app.auth.migrate()).toEqual([]);
    expect(await app.auth.prune()).toBe(0);
    expect(await app.auth.revokeAllSessions(body.user.id)).toBe(1);
    await browser.get('/guarded').expect(401);
  });

  test('failed sign-ins within a transaction of the app count, and the log says that transactions hold the pool', async () => {
    await start(1);
    await app.auth.credential.signUp(ada);
    const wrong = { credential: ada.email, password: 'wrong' };
    await own.transaction(async (transaction) => {
      const refused = await app.auth.credential.signIn({ ...wrong, transaction }).catch((error) => error);
      expect(refused).toMatchObject({ code: 'invalid_credentials' });
      const starved = await app.auth.users.find({ email: ada.email }).catch((error) => error);
      expect(starved.cause.message).toMatch(/all 1 of the pool are in use/);
    });
    expect(await rows(app.database, 'SELECT * FROM rate_limits')).not.toEqual([]);
  });
});
