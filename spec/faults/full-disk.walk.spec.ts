import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Sequelize } from 'sequelize';
import { internalsOf } from '../../lib/auth.js';
import type { Health } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { brokenInvariants } from '../support/invariants.js';
import { expectProblem } from '../support/problem.js';
import { inAnotherProcess } from '../support/processes.js';

const MORE_PAGES = 6;

let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeEach(async () => {
  app = await startApp({ plugins: [password()] });
});
afterEach(() => app.stop());

/** Lets the file have at most this many pages, on each connection that the app opens. */
function limitPages(sequelize: Sequelize, pages: () => number): void {
  const { connectionManager } = sequelize as unknown as {
    connectionManager: { getConnection(options: object): Promise<object> };
  };
  const open = connectionManager.getConnection.bind(connectionManager);
  connectionManager.getConnection = async (options) => {
    const connection = (await open(options)) as { all(sql: string, done: (error: unknown) => void): void };
    await new Promise<void>((resolve, reject) => {
      connection.all(`PRAGMA max_page_count = ${pages()}`, (error) => (error ? reject(error) : resolve()));
    });
    return connection;
  };
}

test('a full SQLite file: sign-ups are 503 and leave nothing, reads go on, and there is room again later', async () => {
  const credentials = { credential: ada.email, password: ada.password };
  await app.http.post('/auth/signup/credential').send(ada).expect(201);
  const { token } = await app.auth.credential.signIn(credentials);
  const guarded = () => app.http.get('/auth/me').set('cookie', `latchkey=${token}`);
  const [pages] = await rows<{ page_count: number }>(app.database, 'PRAGMA page_count');
  let most = Number(pages?.page_count) + MORE_PAGES;
  limitPages(internalsOf(app.auth).core.database.sequelize, () => most);

  const answered: string[] = [];
  const signUp = (email: string) => app.http.post('/auth/signup/credential').send({ ...ada, email });
  for (let count = 0; ; count++) {
    const email = `person-${count}@example.com`;
    const answer = await signUp(email);
    if (answer.status === 201) answered.push(email);
    else {
      expectProblem(answer, 503, 'unavailable');
      expect(answer.text).not.toMatch(/full|sqlite/i);
      break;
    }
  }
  expect(answered.length).toBeGreaterThan(0);
  expect(app.log.join()).toMatch(/SQLITE_FULL/);
  await guarded().expect(200);
  await guarded().expect(200);
  const ready = { sessions: true, signIns: false };
  expect(await app.auth.health()).toMatchObject({ ok: true, ready, degraded: ['writes'] });
  const users = await rows<{ email: string }>(app.database, 'SELECT email FROM users ORDER BY created_at');
  expect(users.map(({ email }) => email)).toEqual([ada.email, ...answered]);
  expect(await brokenInvariants(app.database)).toEqual([]);

  most += 100;
  await signUp('later@example.com').expect(201);
  expect(await app.auth.health()).toMatchObject({ ready: { signIns: true }, degraded: [] });
});

test('auth.health() notices that the disk is full before anybody signs in', async () => {
  const health = (shell: string) =>
    inAnotherProcess<Health>(['health', app.database.url], {}, ['bash', '-c', `${shell} exec "$0" "$@"`]);
  expect(await health('')).toMatchObject({ ready: { signIns: true }, degraded: [] });
  // No file can grow beyond a kilobyte: a limit of the system, which SQLite meets as it meets the end of a disk.
  expect(await health("trap '' XFSZ; ulimit -f 1;")).toMatchObject({ ok: true, degraded: ['writes'] });
});
