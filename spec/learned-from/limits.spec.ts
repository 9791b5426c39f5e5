import { afterEach, describe, expect, test } from '@jest/globals';
import type { Express } from 'express';
import { authRouter, type RateLimitOptions } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

// What docs/learned-from.md says of limits.
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
const countOf = (answers: { status: number }[], status: number) =>
  answers.filter((answer) => answer.status === status).length;

describe('an attempt is counted before the password is looked at', () => {
  test('CVE-2019-5421, CVE-2023-47111, CVE-2024-4629: of 100 wrong passwords at once, five are looked at', async () => {
    // The hashes are slow, so that all requests arrive before the first is done.
    await start({ signIn: false, account: { failures: 5, firstPause: 900, maxPause: 900 } }, 12);
    const answers = await Promise.all(Array.from({ length: 100 }, () => signIn()));
    expect([countOf(answers, 401), countOf(answers, 429)]).toEqual([5, 95]);
    expectProblem(await signIn(ada.email, ada.password), 429, 'rate_limited');
  });

  test('CVE-2020-11052: after a pause one attempt is let through, and the next pause begins', async () => {
    await start({ signIn: false, account: { failures: 3, firstPause: 1, maxPause: 2 } });
    for (let index = 0; index < 3; index++) await signIn().expect(401);
    for (const seconds of [1, 2, 2]) {
      expect((await signIn().expect(429)).headers['retry-after']).toBe(String(seconds));
      let answers: { status: number }[] = [];
      do {
        await new Promise((resolve) => setTimeout(resolve, 50));
        answers = await Promise.all([signIn(), signIn(), signIn()]);
      } while (countOf(answers, 429) === 3);
      expect([countOf(answers, 401), countOf(answers, 429)]).toEqual([1, 2]);
    }
  });
});

describe('an address is what the proxy says of it, in one form', () => {
  const limit = { signIn: { limit: 4, window: 60 } };

  test('CVE-2026-45364: all addresses of one IPv6 network share a limit, however they are written', async () => {
    await start(limit);
    for (const address of [
      '2001:db8:1:2::1',
      '2001:DB8:1:2::FFFF',
      '2001:0db8:0001:0002:0:0:0:9',
      '2001:db8:1:2:a:b:c:d',
    ])
      await tryFrom(address).expect(401);
    for (let host = 1; host <= 20; host++)
      expectProblem(await tryFrom(`2001:db8:1:2::${host.toString(16)}`), 429, 'rate_limited');
    await tryFrom('2001:db8:1:3::1').expect(401);
  });

  test('CVE-2026-45364: an IPv4 address written as IPv6 is the same address', async () => {
    await start(limit);
    for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '::FFFF:192.0.2.7', '::ffff:c000:207'])
      await tryFrom(address).expect(401);
    expectProblem(await tryFrom('192.0.2.7'), 429, 'rate_limited');
    await tryFrom('192.0.2.8').expect(401);
  });

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
