import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ada, password, type SpecApp, startApp } from '../../../support/app.js';
import { setLimits } from '../../../support/limits.js';
import { expectProblem } from '../../../support/problem.js';

describe('POST /usernames/check', () => {
  let app: SpecApp<readonly [ReturnType<typeof password>]>;
  beforeAll(async () => {
    app = await startApp({ plugins: [password({ username: true })] });
    await app.auth.credential.signUp({ ...ada, username: 'Ada' });
  });
  afterAll(() => app.stop());

  test.each([
    ['ada', false],
    ['ADA', false],
    ['adb', true],
    ['ad_', true],
    ['%25', null],
    ['ad%', null],
    ["ada' --", null],
    ['ada ', null],
    ['ada@example.com', null],
  ])('returns the availability of %j: %j', async (username, available) => {
    const answer = await app.http.post('/auth/usernames/check').send({ username });
    if (available === null) expectProblem(answer, 422, 'validation_failed');
    else expect([answer.status, answer.body]).toEqual([200, { available }]);
  });
});

test('checks count by address, so that nobody lists the usernames there are', async () => {
  const app = await startApp({
    plugins: [password({ username: true })],
    config: { rateLimit: {} },
  });
  setLimits(app.auth, { usernameCheck: { limit: 2, window: 60 } });
  const check = () => app.http.post('/auth/usernames/check').send({ username: 'ada' });
  const statuses = (await Promise.all([1, 2, 3].map(check))).map(({ status }) => status).sort();
  expect(statuses).toEqual([200, 200, 429]);
  const refused = await check();
  expectProblem(refused, 429, 'rate_limited');
  expect(refused.headers['ratelimit-policy']).toBe('"usernameCheck";q=2;w=60');
  expect(await app.auth.credential.usernameAvailable('ada')).toBe(true);
  await app.stop();
});
