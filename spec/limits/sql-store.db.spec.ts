import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { advance } from '../support/clock.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeAll(async () => {
  app = await startApp({
    plugins: [password()],
    config: {
      tablePrefix: 'my_',
      rateLimit: { signIn: { limit: 5, window: 1 } },
    },
  });
  await app.auth.credential.signUp(ada);
});
afterAll(() => app.stop());

const signIn = (given: string) =>
  app.http.post('/auth/signin/credential').send({ credential: ada.email, password: given });
const counters = () =>
  rows<{ hits: number; blocked_until: unknown }>(app.database, 'SELECT * FROM my_rate_limits');

test('a failure that causes no pause stores no end of one, which could refuse concurrent attempts', async () => {
  for (const _ of [1, 2]) {
    await signIn('a wrong password').expect(401);
    expect((await counters()).map(({ blocked_until }) => blocked_until)).toEqual([null, null]);
  }
  await app.auth.models.RateLimit.destroy({ where: {} });
});

test('pruning deletes expired counters and keeps the others', async () => {
  await signIn('a wrong password').expect(401);
  expect(await counters()).toHaveLength(2);
  expect(JSON.stringify(await counters())).not.toMatch(/127\.0\.0\.1|ada@/);
  advance(app.auth, 1);
  // The window of the address has ended; the failure of the account is remembered for a day.
  expect(await app.auth.prune()).toBe(1);
  expect(await counters()).toHaveLength(1);
  expect(await app.auth.prune()).toBe(0);
});

test('a successful sign-in clears the counter of the account', async () => {
  await signIn(ada.password).expect(200);
  advance(app.auth, 1);
  await app.auth.prune();
  expect(await counters()).toEqual([]);
});

test('a counter lives longer than its pause', async () => {
  const week = 7 * 24 * 3600;
  const strict = createAuth({
    database: app.database.url,
    secret: SECRET,
    tablePrefix: 'my_',
    plugins: [password()],
    rateLimit: { account: { failures: 1, firstPause: week / 2, maxPause: week } },
  });
  const attempt = () => strict.credential.signIn({ credential: ada.email, password: 'wrong' });
  for (const pause of [week / 2, week]) {
    await expect(attempt()).rejects.toMatchObject({ code: 'invalid_credentials' });
    await expect(attempt()).rejects.toMatchObject({ code: 'rate_limited' });
    const counter = await strict.models.RateLimit.unscoped().findOne({ where: { reported: true } });
    const { blockedUntil, expiresAt } = counter!.get({ plain: true });
    expect(blockedUntil!.getTime() - Date.now()).toBeGreaterThan(pause * 1000 - 60_000);
    expect(expiresAt.getTime() - blockedUntil!.getTime()).toBe(24 * 3600 * 1000);
    await strict.models.RateLimit.update({ blockedUntil: new Date(0) }, { where: {} });
  }
  await strict.models.RateLimit.destroy({ where: {} });
  await strict.close();
});

test('sign-ins get 503 if the table of the counters is missing', async () => {
  const { token } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
  await rows(app.database, 'DROP TABLE my_rate_limits');
  const answer = await signIn(ada.password);
  expect(answer.status).toBeGreaterThanOrEqual(500);
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(answer.text).not.toMatch(/rate_limits|SELECT|INSERT/);
  await app.http.get('/auth/me').set('cookie', `latchkey=${token}`).expect(200);
  expectProblem(answer, 503, 'unavailable');
});
