import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Response } from 'supertest';
import { internalsOf } from '../../lib/auth.js';
import type { HumanCheckFacts, HumanCheckRoute } from '../../lib/human-check.js';
import { apiKeys, emailSignIn } from '../../lib/index.js';
import { ada, logEveryLine, password } from '../support/app.js';
import { rows } from '../support/database.js';
import { allSent, type MailApp, startMailApp } from '../support/mail-app.js';
import { expectProblem } from '../support/problem.js';

const breachChecks: string[] = [];
const plugins = () =>
  [
    password({ isBreached: async (given) => breachChecks.push(given) < 0 }),
    emailSignIn({ signUp: true }),
    apiKeys(),
  ] as const;

type Outcome = unknown;
let outcome: (token: string | null, facts: HumanCheckFacts) => Outcome = (token) => token === 'right';
const asked: { token: string | null; facts: HumanCheckFacts }[] = [];

let app: MailApp<ReturnType<typeof plugins>>;
let hashes = 0;

beforeAll(async () => {
  app = await startMailApp({
    plugins: plugins(),
    config: {
      humanCheck: {
        verify(token, facts) {
          asked.push({ token, facts });
          return outcome(token, facts) as boolean;
        },
        routes: ['signup/credential', 'signin/email', 'passwords/request-reset', 'signin/credential'],
      },
    },
  });
  await app.auth.credential.signUp(ada);
  const { hasher } = internalsOf(app.auth).core.passwords ?? {};
  if (!hasher) throw new Error('no hasher');
  for (const name of ['hash', 'verify', 'pretend'] as const) {
    const work = hasher[name].bind(hasher) as (...given: unknown[]) => never;
    Object.assign(hasher, {
      [name]: (...given: unknown[]) => {
        hashes++;
        return work(...given);
      },
    });
  }
});
afterAll(() => app.stop());
afterEach(() => {
  outcome = (token) => token === 'right';
  asked.length = 0;
});

let count = 0;
const fresh = () => `new${count++}@example.com`;
let tokens = 0;
/** A token that is right, and was not used before. */
const right = () => {
  const token = `right ${tokens++}`;
  outcome = (given) => given === token;
  return token;
};

interface Row {
  readonly route: HumanCheckRoute;
  body(email: string): Record<string, unknown>;
  readonly status: number;
}

/** Every checked route of this app. */
const ROWS: readonly Row[] = [
  {
    route: 'signup/credential',
    body: (email) => ({ email, password: ada.password }),
    status: 201,
  },
  { route: 'signin/email', body: (email) => ({ email }), status: 202 },
  { route: 'passwords/request-reset', body: (email) => ({ email }), status: 202 },
  {
    route: 'signin/credential',
    body: (credential) => ({ credential, password: ada.password }),
    status: 401,
  },
];

async function workSoFar() {
  await allSent(app.auth);
  const counts = await Promise.all(
    ['users', 'sessions', 'outbox', 'one_time_tokens', 'emailed_sign_ins', 'known_devices'].map(
      async (table) => (await rows<{ n: number }>(app.database, `SELECT COUNT(*) AS n FROM ${table}`))[0]?.n,
    ),
  );
  return { counts, hashes, mails: app.mails.length, breachChecks: breachChecks.length };
}

/** Sends a request, and checks that nothing was hashed, written or emailed. */
async function refusedBeforeWork(send: () => PromiseLike<Response>, status: number, code: string) {
  const before = await workSoFar();
  const answer = await send();
  expectProblem(answer, status, code);
  expect(answer.headers['set-cookie']).toBeUndefined();
  expect(await workSoFar()).toEqual(before);
  return answer;
}

test('the rows are all routes that declare a check', () => {
  const declared = internalsOf(app.auth)
    .routes()
    .flatMap(({ asksHuman }) => asksHuman ?? []);
  expect(declared.sort()).toEqual(ROWS.map(({ route }) => route).sort());
});

describe.each(ROWS)('POST /$route', ({ route, body, status }) => {
  const post = (email: string, token?: string) => {
    const request = app.http.post(`/auth/${route}`);
    return (token === undefined ? request : request.set('latchkey-human', token)).send(body(email));
  };

  test('accepts a right token once', async () => {
    const token = right();
    await post(fresh(), token).expect(status);
    await refusedBeforeWork(() => post(fresh(), token), 403, 'human_check_failed');
  });

  test.each([
    ['none', undefined],
    ['an empty one', ''],
    ['a wrong one', 'wrong'],
    ['one above 8 KB', 'x'.repeat(8 * 1024 + 1)],
  ])(
    'refuses a token that is %s, before any work, for known and unknown addresses alike',
    async (_name, token) => {
      const known = await refusedBeforeWork(() => post(ada.email, token), 403, 'human_check_failed');
      const unknown = await refusedBeforeWork(() => post(fresh(), token), 403, 'human_check_failed');
      expect(known.body).toEqual(unknown.body);
      const seen = asked.map(({ token: given }) => given);
      expect(seen).toEqual((token ?? '').length > 8192 ? [] : [token ?? null, token ?? null]);
    },
  );

  test.each([
    ['throws', () => Promise.reject(new Error('the service is down'))],
    [
      'throws immediately',
      () => {
        throw new AggregateError([], 'broken');
      },
    ],
    ['returns something other than a boolean', () => 'yes'],
    ['returns nothing', () => undefined],
    ['never responds', () => new Promise(() => undefined)],
  ])('responds 503 with Retry-After, before any work, if the check %s', async (_name, failing) => {
    outcome = failing;
    const started = performance.now();
    const answer = await refusedBeforeWork(() => post(fresh(), 'any'), 503, 'unavailable');
    expect(answer.headers['retry-after']).toBe('5');
    expect(performance.now() - started).toBeLessThan(4000);
    const { degraded } = await app.auth.health();
    expect(degraded).toContain('human_check');
  });

  test('is asked with what it is about', async () => {
    await post(' Ada@Example.COM ', 'some token').expect(403);
    const [{ token, facts } = never()] = asked;
    expect(token).toBe('some token');
    expect(facts).toMatchObject({ route, email: ada.email, ip: '127.0.0.1' });
    expect(facts.request.get('latchkey-human')).toBe('some token');
  });

  test('is asked only after the body was validated', async () => {
    await app.http.post(`/auth/${route}`).send({}).expect(422);
    await app.http
      .post(`/auth/${route}`)
      .send({ ...body(fresh()), human_token: 'right' })
      .expect(422);
    expect(asked).toEqual([]);
  });

  test('accepts the token in the field human_token of a form, but not twice', async () => {
    const token = right();
    const form = { ...body(fresh()), human_token: token };
    const sent = await app.http.post(`/auth/${route}`).type('form').send(form);
    expect([sent.status, sent.headers.location]).toEqual(
      status === 401 ? [401, undefined] : [303, expect.anything()],
    );
    expect(asked).toHaveLength(1);
    await app.http
      .post(`/auth/${route}`)
      .type('form')
      .send(`${new URLSearchParams(form as never)}&human_token=other`)
      .set('accept', 'application/json')
      .expect(422);
  });

  test('does not accept an API key or a session of another account in place of a token', async () => {
    const { user } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
    const { key } = await app.auth.apiKeys.create(user.id, { name: 'a program' });
    await post(ada.email, 'wrong').set('x-api-key', key).set('authorization', `Bearer ${key}`).expect(403);
    const { token } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
    await post(fresh(), 'wrong').set('cookie', `latchkey=${token}`).expect(403);
  });

  test('does not ask the app’s own code', async () => {
    outcome = () => false;
    const { credential, emailSignIn } = app.auth;
    const request = { headers: {}, ip: '127.0.0.1' };
    const calls: Readonly<Record<HumanCheckRoute, () => Promise<unknown>>> = {
      'signup/credential': () => credential.signUp({ email: fresh(), password: ada.password, request }),
      'signin/email': () => emailSignIn.request({ email: fresh(), request }),
      'passwords/request-reset': () => credential.requestPasswordReset({ email: fresh(), request }),
      'signin/credential': () =>
        credential.signIn({ credential: ada.email, password: ada.password, request }),
      'oauth/token': () => Promise.reject(),
    };
    await calls[route]();
    expect(asked).toEqual([]);
  });
});

describe('a session', () => {
  const cookie = async () => {
    const { token } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
    return `latchkey=${token}`;
  };

  test('exempts a request that is about its account’s own address alone', async () => {
    const own = await cookie();
    await app.http.post('/auth/signin/email').set('cookie', own).send({ email: ada.email }).expect(202);
    await app.http
      .post('/auth/passwords/request-reset')
      .set('cookie', own)
      .send({ email: ada.email })
      .expect(202);
    expect(asked).toEqual([]);
  });

  test('does not exempt a sign-up with its own address', async () => {
    const body = { email: ada.email, password: ada.password };
    await app.http
      .post('/auth/signup/credential')
      .set('cookie', await cookie())
      .send(body)
      .expect(403);
  });
});

test('the check is not asked in a browser that the account knows', async () => {
  const credentials = { credential: ada.email, password: ada.password };
  const browser = app.browser();
  await browser.post('/auth/signin/credential').send(credentials).expect(403);
  await browser.post('/auth/signin/credential').set('latchkey-human', right()).send(credentials).expect(200);
  await browser.post('/auth/signout').expect(204);
  asked.length = 0;
  await browser.post('/auth/signin/credential').send(credentials).expect(200);
  expect(asked).toEqual([]);
  await browser.post('/auth/signout').expect(204);
  await browser
    .post('/auth/signin/credential')
    .send({ ...credentials, credential: 'nobody@example.com' })
    .expect(403);
});

test('null and an empty token can be accepted any number of times, because they are not remembered', async () => {
  outcome = (token) => !token;
  for (let round = 0; round < 3; round++) {
    await app.http.post('/auth/passwords/request-reset').send({ email: fresh() }).expect(202);
    await app.http
      .post('/auth/passwords/request-reset')
      .set('latchkey-human', '')
      .send({ email: fresh() })
      .expect(202);
  }
});

test('a failing check is logged at most once a minute', async () => {
  logEveryLine(app.auth);
  const lines = () => app.log.filter((line) => line.includes('the human check failed'));
  const before = lines().length;
  outcome = () => Promise.reject(new Error(`down ${Math.random()}`));
  for (let round = 0; round < 3; round++)
    await app.http.post('/auth/signin/email').send({ email: fresh() }).expect(503);
  expect(lines().length - before).toBe(0);
  // The first failure in this file.
  expect(before).toBe(1);
});

test('with onFailure, requests are accepted while the check fails', async () => {
  const other = await startMailApp({
    plugins: plugins(),
    config: {
      humanCheck: { verify: () => Promise.reject(new Error('the service is down')), onFailure: 'accept' },
    },
  });
  await other.http.post('/auth/passwords/request-reset').send({ email: fresh() }).expect(202);
  await other.http
    .post('/auth/signup/credential')
    .send({ ...ada, email: fresh() })
    .expect(201);
  expect((await other.auth.health()).degraded).toEqual(['human_check']);
  expect(other.log.join('\n')).toMatch(/the human check failed, so requests that it is about are accepted/);
  await other.stop();
});

function never(): never {
  throw new Error('there is none');
}
