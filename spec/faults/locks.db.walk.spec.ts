import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Transaction } from 'sequelize';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { dialect, rows } from '../support/database.js';
import { brokenInvariants } from '../support/invariants.js';
import { lockWait } from '../support/lock-waits.js';
import { expectProblem } from '../support/problem.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
let cookie: string;
beforeAll(async () => {
  app = await startApp({ plugins: [password()] });
  await app.auth.credential.signUp(ada);
});
afterAll(() => app.stop());
beforeEach(async () => {
  const { token } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
  cookie = `latchkey=${token}`;
});

const revokeAll = () => app.http.post('/auth/revoke-sessions').set('cookie', cookie);
/** Locks the rows of all users. */
const lock = async (): Promise<Transaction> => {
  const transaction = await app.database.sequelize.transaction();
  // The connection is made like those of the app, which are ended when a transaction is idle for three seconds.
  if (dialect === 'postgres')
    await app.database.sequelize.query('SET LOCAL idle_in_transaction_session_timeout = 0', { transaction });
  await app.database.sequelize.query('SELECT id FROM users FOR UPDATE', { transaction });
  return transaction;
};

// The lock of a SQLite file: see spec/outage.db.express.spec.ts.
const onServers = dialect === 'sqlite' ? test.skip : test;

onServers('a row that somebody else holds briefly is waited for', async () => {
  const held = await lock();
  const answer = revokeAll().then((it) => it);
  await lockWait(app.database);
  await held.rollback();
  expect((await answer).body).toEqual({ revoked: 1 });
});

onServers('a row that somebody else keeps is 503 in time, and nothing is done then or later', async () => {
  const held = await lock();
  const started = performance.now();
  expectProblem(await revokeAll(), 503, 'unavailable');
  expect(performance.now() - started).toBeLessThan(5000);
  await held.rollback();
  await app.http.get('/auth/me').set('cookie', cookie).expect(200);
  expect(await brokenInvariants(app.database)).toEqual([]);
  await revokeAll().expect(200);
  expect(await rows(app.database, 'SELECT id FROM sessions')).toEqual([]);
});
