import { afterEach, describe, expect, test } from '@jest/globals';
import { authRouter, passkeys, twoFactor } from '../../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, signedIn, startApp } from '../../support/app.js';
import { setLimits } from '../../support/limits.js';
import { addPasskey, authenticator, optionsOf, PAGE, signInWith } from '../../support/passkeys.js';
import { expectProblem } from '../../support/problem.js';
import { loggingSequelize } from '../../support/statements.js';
import { codeOf, firstStep, forgetSteps, secondStep, withSecondFactor } from '../../support/two-factor.js';

const plugins = [password(), passkeys()] as const;
let app: SpecApp<typeof plugins>;
afterEach(() => app.stop());

describe('with bearerEnabled', () => {
  const start = async () => {
    app = await startApp({ plugins, config: { baseUrl: PAGE, bearerEnabled: true } });
    const device = authenticator();
    await addPasskey(await signedIn(app), device);
    const { body, headers } = await app.http.post('/auth/signin/passkey/options');
    const cookie = String(headers['set-cookie']?.[0]).split(';')[0] ?? '';
    return { device, cookie, body, response: device.get(body.options) };
  };
  const send = (body: object, cookie?: string) => {
    const post = app.http.post('/auth/signin/passkey');
    return (cookie ? post.set('cookie', cookie) : post).send(body);
  };

  test('the token takes the place of the cookie', async () => {
    const { body, response } = await start();
    const { pending_token } = body;
    expect(pending_token).toMatch(/^lkb_[\w-]{48}$/);
    const answer = await send({ response, pending_token }).expect(200);
    expect(answer.headers['set-auth-token']).toMatch(/^lks_/);
  });

  test('both may come if they are the same', async () => {
    const { body, cookie, response } = await start();
    await send({ response, pending_token: body.pending_token }, cookie).expect(200);
  });

  test('if they differ, or the token is another, it is 401, and nothing is used up', async () => {
    const { body, cookie, response } = await start();
    const other = (await app.http.post('/auth/signin/passkey/options')).body.pending_token;
    for (const pending_token of [other, 'x', `lkb_${'A'.repeat(48)}`]) {
      expectProblem(await send({ response, pending_token }, cookie), 401, 'invalid_passkey');
      expectProblem(await send({ response, pending_token }), 401, 'invalid_passkey');
    }
    expectProblem(await send({ response }), 401, 'invalid_passkey');
    await send({ response, pending_token: body.pending_token }).expect(200);
  });
});

test('without bearerEnabled, the token is in the cookie only', async () => {
  app = await startApp({ plugins, config: { baseUrl: PAGE } });
  const { body } = await app.http.post('/auth/signin/passkey/options');
  expect(Object.keys(body)).toEqual(['options']);
});

test('the cookie has the attributes of the session cookie', async () => {
  app = await startApp({ plugins, config: { baseUrl: 'https://app.example.com' } });
  const answer = await app.http.post('/auth/signin/passkey/options');
  const cookie = sessionCookie(answer, '__Host-latchkey-passkey');
  expect(cookie?.attributes.sort()).toEqual(['HttpOnly', 'Max-Age=300', 'Path=/', 'SameSite=Lax', 'Secure']);
});

describe('limits', () => {
  const start = async (passkeyOptions: { limit: number; window: number }) => {
    const off = { signIn: false, signUp: false, account: false } as const;
    app = await startApp({
      plugins,
      config: { baseUrl: PAGE, rateLimit: off },
      mount(express, auth) {
        express.set('trust proxy', 1);
        express.use('/auth', authRouter(auth));
      },
    });
    setLimits(app.auth, { passkeyOptions });
  };
  const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort();

  test('options for sign-ins count by address', async () => {
    await start({ limit: 3, window: 60 });
    const from = (ip: string) => app.http.post('/auth/signin/passkey/options').set('x-forwarded-for', ip);
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => from('203.0.113.1')));
    expect(statuses(answers)).toEqual([200, 200, 200, 429, 429]);
    const refused = await from('203.0.113.1');
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers['ratelimit-policy']).toBe('"passkeyOptions";q=3;w=60');
    await from('203.0.113.2').expect(200);
  });

  test('all others by account', async () => {
    await start({ limit: 3, window: 60 });
    const browser = await signedIn(app);
    const paths = ['/passkeys/options', '/reauthenticate/options'];
    const answers = await Promise.all([...paths, ...paths].map((path) => browser.post(`/auth${path}`)));
    expect(statuses(answers)).toEqual([200, 200, 200, 429]);
    const other = await signedIn(app, { ...ada, email: 'other@example.com' });
    await optionsOf(other, '/passkeys/options');
  });

  test('are 60 a minute', async () => {
    app = await startApp({ plugins, config: { baseUrl: PAGE, rateLimit: {} } });
    const all = Array.from({ length: 61 }, () => app.http.post('/auth/signin/passkey/options'));
    expect(statuses(await Promise.all(all))).toEqual([...Array(60).fill(200), 429]);
  });
});

test('a sign-in takes five statements in a browser that the account knows', async () => {
  let statements: string[] = [];
  app = await startApp({
    plugins,
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      return { database: own.sequelize, baseUrl: PAGE };
    },
  });
  const device = authenticator();
  await addPasskey(await signedIn(app), device);
  const first = await signInWith(app.browser(), device);
  const known = `latchkey-device=${sessionCookie(first, 'latchkey-device')?.value}`;
  const { body, headers } = await app.http.post('/auth/signin/passkey/options');
  const cookie = `${known}; ${String(headers['set-cookie']?.[0]).split(';')[0]}`;
  const response = device.get(body.options);
  statements.length = 0;
  await app.http.post('/auth/signin/passkey').set('cookie', cookie).send({ response }).expect(200);
  const sent = statements.filter((line) => /^Executed.*\b(SELECT|INSERT|UPDATE|DELETE)\b/.test(line));
  expect(sent).toHaveLength(5);
  expect(statements.join()).not.toContain(body.options.challenge);
});

test('the steps of a sign-in with a passkey as the second take four, three and seven, and one passkey alone six', async () => {
  const statements: string[] = [];
  const own = await startApp({
    plugins: [...plugins, twoFactor()],
    async config(database) {
      const { sequelize } = loggingSequelize(database);
      // Those that contain a secret are not logged.
      const query = sequelize.query.bind(sequelize);
      sequelize.query = ((sql: string | { query: string }, ...rest: []) => {
        statements.push(typeof sql === 'string' ? sql : sql.query);
        return query(sql as string, ...rest);
      }) as never;
      return { database: sequelize, baseUrl: PAGE };
    },
  });
  app = own as never;
  const owner = await withSecondFactor(own);
  const device = authenticator();
  await addPasskey(owner.browser, device);
  const browser = app.browser();
  const costOf = async (work: () => Promise<{ status: number }>) => {
    statements.length = 0;
    expect((await work()).status).toBe(200);
    return statements.filter((sql) => /^\s*(SELECT|INSERT|UPDATE|DELETE)\b/.test(sql)).length;
  };
  // The device is known from then on.
  await firstStep(browser).expect(200);
  await forgetSteps(own);
  await secondStep(browser, { method: 'totp', code: codeOf(owner.secret) }).expect(200);
  await browser.post('/auth/signout').expect(204);

  expect(await costOf(() => firstStep(browser))).toBe(4);
  let options: Awaited<ReturnType<typeof optionsOf>>;
  const ask = async (path: string) => {
    const answer = await browser.post(`/auth${path}`).send({});
    ({ options } = answer.body);
    return answer;
  };
  expect(await costOf(() => ask('/signin/second-factor/options'))).toBe(3);
  const response = device.get(options);
  expect(await costOf(() => secondStep(browser, { method: 'passkey', response }))).toBe(7);
  await browser.post('/auth/signout').expect(204);
  await ask('/signin/passkey/options');
  const alone = { response: device.get(options) };
  // One more than without a second factor, whose wrong codes are forgotten.
  expect(await costOf(() => browser.post('/auth/signin/passkey').send(alone))).toBe(6);
});
