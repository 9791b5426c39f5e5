import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type CredentialPasswordOptions, createAuth } from '../../../lib/index.js';
import { ada, memoryLogger, password, SECRET, type SpecApp, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { expectProblem } from '../../support/problem.js';
import { overdue } from '../../support/timers.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
const start = async (options: CredentialPasswordOptions = {}) => {
  app = await startApp({ plugins: [password(options)] });
};
const signUp = (email: string, given: string) =>
  app.http.post('/auth/signup/credential').send({ email, password: given });

describe('isBreached', () => {
  afterEach(() => app.stop());

  test('is called for every new password, and a breached password is rejected', async () => {
    const asked: string[] = [];
    await start({
      isBreached: async (given) => {
        asked.push(given);
        return given.startsWith('breached');
      },
    });
    const bad = await signUp(ada.email, 'breached somewhere');
    const { errors } = expectProblem(bad, 422, 'validation_failed');
    expect(errors).toMatchObject([{ pointer: '/password', code: 'password_breached' }]);
    await signUp(ada.email, ada.password).expect(201);
    const browser = app.browser();
    await browser
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
    const change = (new_password: string) =>
      browser.post('/auth/passwords/change').send({ current_password: ada.password, new_password });
    expect(expectProblem(await change('breached too'), 422, 'validation_failed').errors).toMatchObject([
      { pointer: '/new_password', code: 'password_breached' },
    ]);
    await change('a difference engine').expect(200);
    // It is not called for a sign-in, nor for a password that was already rejected.
    await signUp('b@example.com', 'short').expect(422);
    expect(asked).toEqual(['breached somewhere', ada.password, 'breached too', 'a difference engine']);
  });

  const failures: Record<string, (given: string) => unknown> = {
    throws: () => {
      throw new Error('no connection');
    },
    rejects: () => Promise.reject(new Error('no connection')),
    'rejects with the password': (given) => Promise.reject(new Error(`lookup of ${given}`)),
    'rejects with the encoded password': (given) =>
      Promise.reject(new Error(`GET /?q=${encodeURIComponent(given)}`)),
    'rejects with the password in a cause': (given) =>
      Promise.reject(new Error('no', { cause: new Error(given) })),
    'rejects with the password itself': (given) => Promise.reject(given),
    'rejects with nothing': () => Promise.reject(),
    hangs: () => overdue(2000),
  };

  test.each(Object.keys(failures))(
    'that %s does not block the password, and a warning is logged',
    async (how) => {
      await start({ isBreached: failures[how] as never });
      const started = performance.now();
      await signUp(ada.email, ada.password).expect(201);
      expect(performance.now() - started).toBeLessThan(4000);
      const warnings = app.log.filter((line) => line.includes('the breach check failed'));
      expect(warnings).toHaveLength(1);
      expect(app.log.join()).not.toMatch(/analytical/);
    },
  );

  test.each(Object.keys(failures))('that %s causes a 503 if onBreachCheckFailure is refuse', async (how) => {
    await start({ isBreached: failures[how] as never, onBreachCheckFailure: 'refuse' });
    const answer = await signUp(ada.email, ada.password);
    expectProblem(answer, 503, 'unavailable');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });
});

describe('pepper', () => {
  const [OLD, NEW] = ['an old pepper of 32 characters....', 'a new pepper of 32 characters.....'];

  beforeEach(() => start({ pepper: OLD }));
  afterEach(() => app.stop());

  const withPepper = (pepper?: string | string[]) =>
    createAuth({
      database: app.database.url,
      secret: SECRET,
      rateLimit: false,
      logger: memoryLogger(),
      plugins: [password(pepper === undefined ? {} : { pepper })],
    });
  const trySignIn = async (auth: ReturnType<typeof withPepper>, given = ada.password) => {
    const result = await auth.credential.signIn({ credential: ada.email, password: given }).then(
      () => 'signed in',
      ({ code }) => code,
    );
    await auth.close();
    return result;
  };
  const hash = async () =>
    (await rows<{ password_hash: string }>(app.database, 'SELECT password_hash FROM users'))[0]
      ?.password_hash;

  test('is required for verification and can be rotated', async () => {
    await app.auth.credential.signUp(ada);
    const first = await hash();
    expect(first).toMatch(/^\$bcrypt-hmac-sha384\$p=[\w-]{8}\$2b\$04\$/);
    expect(first).not.toContain(OLD);
    for (const wrong of [undefined, NEW])
      expect(await trySignIn(withPepper(wrong))).toBe('invalid_credentials');
    expect(await trySignIn(withPepper([OLD]))).toBe('signed in');
    expect(await hash()).toBe(first);
    // The first pepper in the list is used for new hashes, all of them for verification.
    expect(await trySignIn(withPepper([NEW, OLD]), 'a wrong password')).toBe('invalid_credentials');
    expect(await hash()).toBe(first);
    expect(await trySignIn(withPepper([NEW, OLD]))).toBe('signed in');
    expect(await hash()).not.toBe(first);
    expect(await trySignIn(withPepper(OLD))).toBe('invalid_credentials');
    expect(await trySignIn(withPepper(NEW))).toBe('signed in');
  });

  test('is added to a hash without a pepper at the next sign-in', async () => {
    const plain = withPepper();
    await plain.credential.signUp(ada);
    await plain.close();
    expect(await hash()).not.toContain('$p=');
    expect(await trySignIn(withPepper(NEW))).toBe('signed in');
    expect(await hash()).toContain('$p=');
    expect(await trySignIn(withPepper())).toBe('invalid_credentials');
    expect(await trySignIn(withPepper(NEW))).toBe('signed in');
  });

  test('is rejected if it is too short', () => {
    expect(() => password({ pepper: 'short' })).toThrow(/pepper must have at least 32 characters/);
    expect(() => password({ pepper: [NEW, 'short'] })).toThrow(/pepper.*must have at least 32 characters/);
  });
});

describe('a new password', () => {
  beforeAll(() => start({ username: true }));
  afterAll(() => app.stop());

  test.each([
    ['seven!!', 'too_short'],
    ['7 chars', 'too_short'],
    // Eight code units, but four characters.
    ['😀😀😀😀', 'too_short'],
    ['x'.repeat(257), 'too_long'],
    ['password1', 'password_too_common'],
    ['PassWord1', 'password_too_common'],
    ['ada@example.com', 'password_is_identifier'],
    ['ADA@example.com', 'password_is_identifier'],
    ['ada_lovelace', 'password_is_identifier'],
  ])('%j is rejected with %s', async (given, code) => {
    const answer = await app.http
      .post('/auth/signup/credential')
      .send({ email: ada.email, password: given, username: 'Ada_Lovelace' });
    const { errors } = expectProblem(answer, 422, 'validation_failed');
    expect(errors).toEqual([{ pointer: '/password', code, detail: expect.any(String) }]);
  });

  test.each([
    ['grace@bücher.de', 'grace@bücher.de'],
    ['grace@bücher.de', 'Grace@BÜCHER.de'],
    ['grace@bücher.de', 'grace@xn--bcher-kva.de'],
    ['grace@xn--bcher-kva.de', 'grace@bu\u0308cher.de'],
    ['gracie2@example.com', ' gracie2@example.com '],
    ['gracie2@example.com', '\tGRACIE2@Example.com\n'],
    ['gracie2@example.com', 'gracie2@ｅｘａｍｐｌｅ.com'],
    ['gracie2@example.com', ' Gracie_Hopper '],
  ])('for the email %j must not be %j', async (email, given) => {
    const answer = await app.http
      .post('/auth/signup/credential')
      .send({ email, password: given, username: 'gracie_hopper' });
    expect(expectProblem(answer, 422, 'validation_failed').errors).toMatchObject([
      { pointer: '/password', code: 'password_is_identifier' },
    ]);
  });

  test.each(['8 chars.', '😀'.repeat(8), 'x'.repeat(255).concat('😀'), '        !', 'ä'.repeat(256)])(
    '%j is accepted',
    async (given) => {
      const email = `p-${Buffer.from(given).length}@example.com`;
      await signUp(email, given).expect(201);
      const signIn = (password: string) =>
        app.http.post('/auth/signin/credential').send({ credential: email, password });
      await signIn(given).expect(200);
      // All Unicode spellings are equal, and every character counts.
      await signIn(given.normalize('NFD')).expect(200);
      await signIn(`${[...given].slice(0, -1).join('')}~`).expect(401);
    },
  );
});
