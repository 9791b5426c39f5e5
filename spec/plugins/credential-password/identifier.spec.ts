import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type CredentialPasswordOptions, createAuth, credentialPassword } from '../../../lib/index.js';
import { ada, password, SECRET, type SpecApp, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { importUsers } from '../../support/import-users.js';
import { startMailApp } from '../../support/mail-app.js';
import { expectProblem } from '../../support/problem.js';

const WORDS = ada.password;
const faults = (errors: { pointer: string; code: string }[] = []) =>
  errors.map(({ pointer, code }) => `${pointer} ${code}`);

describe("identifier: 'username'", () => {
  let app: SpecApp<readonly [ReturnType<typeof password>]>;
  beforeAll(async () => {
    app = await startApp({ plugins: [password({ identifier: 'username' })] });
  });
  afterEach(async () => void (await rows(app.database, 'DELETE FROM users')));
  afterAll(() => app.stop());

  const signUp = (body: object) => app.http.post('/auth/signup/credential').send(body);
  const signIn = (credential: string) =>
    app.http.post('/auth/signin/credential').send({ credential, password: WORDS });

  test('makes accounts without an email, which sign in with the username', async () => {
    const { body } = await signUp({ username: 'Ada_L', password: WORDS }).expect(201);
    expect(body.user).toMatchObject({ username: 'ada_l', email: null, email_verified_at: null });
    expect((await signIn('ADA_L').expect(200)).body.user.id).toBe(body.user.id);
    expectProblem(await signIn('ada@example.com'), 401, 'invalid_credentials');
    const { body: checked } = await app.http.post('/auth/usernames/check').send({ username: 'ada_l' });
    expect(checked).toEqual({ available: false });
  });

  test.each([
    ['no username', { password: WORDS }, ['/username required']],
    ['an email too', { username: 'ada', email: ada.email, password: WORDS }, ['/email unknown_key']],
    ['an email instead', ada, ['/username required', '/email unknown_key']],
    ['an email as a username', { username: ada.email, password: WORDS }, ['/username invalid_username']],
    ['an empty username', { username: '', password: WORDS }, ['/username too_short']],
    ['no username but null', { username: null, password: WORDS }, ['/username wrong_type']],
  ])('refuses %s', async (_what, body, expected) => {
    const { errors } = expectProblem(await signUp(body), 422, 'validation_failed');
    expect(faults(errors)).toEqual(expected);
    expect(await rows(app.database, 'SELECT id FROM users')).toEqual([]);
  });

  test('refuses them in code too', async () => {
    const { signUp } = app.auth.credential;
    const call = (input: object) => signUp.call(app.auth.credential, input as never);
    await expect(call({ ...ada, username: 'ada' })).rejects.toMatchObject({
      errors: [{ pointer: '/email', code: 'unknown_key' }],
    });
    await expect(call({ password: WORDS })).rejects.toMatchObject({
      errors: [{ pointer: '/username', code: 'required' }],
    });
    const { user } = (await call({ username: 'grace', password: WORDS })) as { user: { email: null } };
    expect(user.email).toBeNull();
  });

  test('lets one of twenty concurrent sign-ups in two processes have a username', async () => {
    const other = createAuth({
      database: app.database.url,
      secret: SECRET,
      rateLimit: false,
      plugins: [credentialPassword({ identifier: 'username', bcryptCost: 4 })],
    });
    const made = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) =>
        index % 2
          ? other.credential.signUp({ username: 'One', password: WORDS })
          : (app.auth.credential.signUp({ username: 'one', password: WORDS } as never) as Promise<unknown>),
      ),
    );
    await other.close();
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of made)
      if (one.status === 'rejected')
        expect(one.reason).toMatchObject({ status: 409, code: 'username_taken' });
    expect(await rows(app.database, 'SELECT id FROM users')).toHaveLength(1);
  });

  test('refuses a password that is the username', async () => {
    const body = { username: 'analytical', password: 'Analytical' };
    expect(faults(expectProblem(await signUp(body), 422, 'validation_failed').errors)).toEqual([
      '/password password_is_identifier',
    ]);
  });

  test('counts wrong passwords by the username, known or not', async () => {
    const limited = createAuth({
      database: app.database.url,
      secret: SECRET,
      plugins: [credentialPassword({ identifier: 'username', bcryptCost: 4 })],
    });
    await limited.credential.signUp({ username: 'ada', password: WORDS });
    for (const name of ['ada', 'nobody']) {
      const tries = Array.from({ length: 7 }, () =>
        limited.credential.signIn({ credential: name, password: 'a wrong one' }).catch((error) => error.code),
      );
      const codes = await Promise.all(tries);
      expect(codes.filter((code) => code === 'invalid_credentials')).toHaveLength(5);
      expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(2);
    }
    await limited.close();
  });

  test('imports accounts with a username, an email, or both', async () => {
    const result = await importUsers(app.auth, [
      { username: 'grace' },
      { email: 'joan@example.com', emailVerified: true },
      { email: null, username: 'Hedy', emailVerified: true },
      { email: 'nobody', username: 'karen' },
      { passwordHash: null },
      { username: 'GRACE' },
    ]);
    expect(result.users).toHaveLength(3);
    expect(result.skipped.map(({ ref, code }) => [ref, code])).toEqual([
      [3, 'invalid_email'],
      [4, 'missing_identifier'],
      [5, 'duplicate_row'],
    ]);
    const [hedy] = await rows(
      app.database,
      "SELECT email, email_verified_at FROM users WHERE username = 'hedy'",
    );
    expect(hedy).toEqual({ email: null, email_verified_at: null });
  });
});

describe("identifier: 'either'", () => {
  let app: SpecApp<readonly [ReturnType<typeof password>]>;
  beforeAll(async () => {
    app = await startApp({ plugins: [password({ identifier: 'either' })] });
  });
  afterEach(async () => void (await rows(app.database, 'DELETE FROM users')));
  afterAll(() => app.stop());

  const signUp = (body: object) => app.http.post('/auth/signup/credential').send(body);

  test.each([
    ['an email', { email: ada.email }, { email: ada.email, username: null }],
    ['a username', { username: 'Ada' }, { email: null, username: 'ada' }],
    ['both', { email: ada.email, username: 'ada' }, { email: ada.email, username: 'ada' }],
  ])('accepts %s, each of which signs in', async (_what, names, stored) => {
    const { body } = await signUp({ ...names, password: WORDS }).expect(201);
    expect(body.user).toMatchObject(stored);
    for (const credential of Object.values(names))
      await app.http.post('/auth/signin/credential').send({ credential, password: WORDS }).expect(200);
  });

  test('needs one of them, and says so of both', async () => {
    const { errors } = expectProblem(await signUp({ password: WORDS }), 422, 'validation_failed');
    expect(faults(errors)).toEqual(['/email required', '/username required']);
  });

  test('says which one is taken', async () => {
    await signUp({ email: ada.email, username: 'ada', password: WORDS }).expect(201);
    expectProblem(await signUp({ username: 'ADA', password: WORDS }), 409, 'username_taken');
    expectProblem(await signUp({ email: ada.email, password: WORDS }), 409, 'email_taken');
    expectProblem(
      await signUp({ email: 'b@example.com', username: 'ada', password: WORDS }),
      409,
      'username_taken',
    );
  });

  test('keeps an account that has only a name to sign in with', async () => {
    const { body } = await signUp({ username: 'ada', password: WORDS }).expect(201);
    const { user } = await app.auth.credential.signIn({ credential: 'ada', password: WORDS });
    expect(user.id).toBe(body.user.id);
    expect((await app.auth.users.find({ username: 'ADA' }))?.id).toBe(user.id);
  });
});

test('without an email, nothing is mailed, concealed or waiting to be verified', async () => {
  const app = await startMailApp({
    plugins: [password({ identifier: 'either', requireVerifiedEmail: true, concealExistingEmails: true })],
  });
  const signUp = (body: object) =>
    app.http.post('/auth/signup/credential').send({ ...body, password: WORDS });
  await app.noMailOf(() => signUp({ username: 'ada' }).expect(202));
  expectProblem(await signUp({ username: 'ada' }), 409, 'username_taken');
  const { body } = await app.http
    .post('/auth/signin/credential')
    .send({ credential: 'ada', password: WORDS })
    .expect(200);
  expect(body.user.email).toBeNull();
  expect(await app.mailOf(() => signUp({ email: ada.email }).expect(202))).toMatchObject({
    kind: 'verify-email',
    to: ada.email,
  });
  expectProblem(
    await app.http.post('/auth/signin/credential').send({ credential: ada.email, password: WORDS }),
    401,
    'invalid_credentials',
  );
  await app.stop();
});

test.each([
  [{ identifier: 'name' }, "identifier must be 'email', 'username' or 'either'"],
  [{ identifier: 'username', username: false }, "identifier: 'username' requires usernames"],
  [{ identifier: 'either', username: false }, "identifier: 'either' requires usernames"],
  [{ usernamePattern: /^[a-z]+$/ }, 'usernamePattern requires username: true'],
  [{ username: true, usernamePattern: '^[a-z]+$' }, 'usernamePattern must be a regular expression'],
  [{ passwordRules: { minLength: 0 } }, 'passwordRules.minLength must be at least 1'],
  [{ passwordRules: { minLength: 65 } }, 'passwordRules.minLength must be at most 64'],
  [{ passwordRules: { minLength: 8.5 } }, 'passwordRules.minLength must be a whole number'],
  [{ passwordRules: { common: 'no' } }, 'passwordRules.common must be true or false'],
  [{ passwordRules: { maxLength: 20 } }, 'maxLength'],
])('the config is refused with %j', (options, message) => {
  expect(() => credentialPassword(options as never)).toThrow(message);
});

test.each(['sendVerificationOnSignUp', 'concealExistingEmails'])(
  "%s is refused with identifier: 'username', since nobody signs up with an email",
  (name) => {
    // The key is known at run time only, so its type is that of all options.
    const options: CredentialPasswordOptions = { identifier: 'username', [name]: true };
    const plugins = [credentialPassword(options)];
    const config = {
      database: 'sqlite:./never.db',
      secret: SECRET,
      baseUrl: 'http://app.example.com',
      email: { send() {} },
      plugins,
    };
    expect(() => createAuth(config)).toThrow(`${name} and identifier: 'username' are mutually exclusive`);
  },
);

test('the OpenAPI document has the identifiers of the option', () => {
  const bodyOf = (options: object) => {
    const auth = createAuth({
      database: 'sqlite:./never.db',
      secret: SECRET,
      plugins: [credentialPassword(options)],
    });
    const document = JSON.parse(JSON.stringify(auth.openapi()));
    const { content } = document.paths['/signup/credential'].post.requestBody;
    const { $ref = '' } = content['application/json'].schema;
    const schema = $ref
      ? document.components.schemas[$ref.split('/').at(-1)]
      : content['application/json'].schema;
    return [Object.keys(schema.properties ?? {}).sort(), [...(schema.required ?? [])].sort()];
  };
  expect(bodyOf({})).toEqual([
    ['email', 'password'],
    ['email', 'password'],
  ]);
  expect(bodyOf({ username: true })).toEqual([
    ['email', 'password', 'username'],
    ['email', 'password'],
  ]);
  expect(bodyOf({ identifier: 'username' })).toEqual([
    ['password', 'username'],
    ['password', 'username'],
  ]);
  expect(bodyOf({ identifier: 'either' })).toEqual([['email', 'password', 'username'], ['password']]);
});
