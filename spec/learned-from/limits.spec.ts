import { afterEach, describe, expect, test } from '@jest/globals';
import type { Express } from 'express';
import { authRouter, type RateLimitOptions } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

// What contributing/learned-from.md says of limits.
let app: SpecApp<readonly [ReturnType<typeof password>]>;
afterEach(() => app.stop());

const start = async (rateLimit: RateLimitOptions, bcryptCost = 4) => {
  app = await startApp({
    plugins: [password({ bcryptCost })],
    config: { rateLimit },
    mount(express: Express, auth) {
      // The one proxy in front of this app appends the address of its client.
      express.set('trust proxy', 1);
      express.use('/auth', authRouter(auth));
    },
  });
  await app.auth.credential.signUp(ada);
};
let people = 0;
const signIn = (
  credential: string = ada.email,
  given = 'a wrong password',
  path = '/auth/signin/credential',
) => app.http.post(path).send({ credential, password: given });
/** A try at an account of its own, so that only the limit of the address counts. */
const tryFrom = (address: string, path?: string) =>
  signIn(`person-${++people}@example.com`, undefined, path).set('x-forwarded-for', address);

describe('an address is what the proxy says of it, in one form', () => {
  const limit = { signIn: { limit: 4, window: 60 } };

  test('CVE-2024-47070: an address that cannot be parsed is limited like any other, and opens nothing', async () => {
    await start(limit);
    for (const address of ['a', 'unknown', "' OR 1=1 --", '999.1.1.1']) {
      const answer = await tryFrom(address);
      expectProblem(answer, 401, 'invalid_credentials');
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    // They share one limit.
    expectProblem(await tryFrom('yet another'), 429, 'rate_limited');
    // What the client wrote before the proxy's own entry counts for nothing.
    for (let index = 0; index < 4; index++) await tryFrom(`a${index}, 198.51.100.1`).expect(401);
    expectProblem(await tryFrom('b, 198.51.100.1'), 429, 'rate_limited');
  });

  test('GHSA-x732-6j76-qmhm: more slashes in a path lead past no limit', async () => {
    await start(limit);
    for (let index = 0; index < 4; index++) await tryFrom('203.0.113.1').expect(401);
    for (const path of [
      '/auth//signin/credential',
      '//auth/signin/credential',
      '/auth/signin//credential',
      '/auth/signin/credential/',
      '/auth/signin/credential//',
      '/AUTH/SIGNIN/CREDENTIAL',
      '/auth/./signin/credential',
      '/auth/%2fsignin/credential',
    ]) {
      expect([path, [404, 429].includes((await tryFrom('203.0.113.1', path)).status)]).toEqual([path, true]);
    }
  });
});
