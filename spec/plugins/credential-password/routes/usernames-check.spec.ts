import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ada, password, type SpecApp, startApp } from '../../../support/app.js';
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
