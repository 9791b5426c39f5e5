import { afterEach, describe, expect, test } from '@jest/globals';
import { apiKeys, canonicalEmail } from '../../lib/index.js';
import { ada, password, startApp } from '../support/app.js';

const fields = {
  name: { type: 'string', required: true },
  plan: { type: 'string', enum: ['free', 'pro'], default: 'free', input: 'none' },
  score: { type: 'integer', output: 'admin' },
} as const;

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

async function start(hooks = {}) {
  const app = await startApp({
    plugins: [password({ username: true })],
    config: { user: { fields }, hooks, signUp: 'closed' },
  });
  stop = app.stop;
  return app;
}

const name = 'Ada';
const nobody = '01900000-0000-7000-8000-000000000000';

describe('auth.users.create()', () => {
  test('makes an account with everything that code may set, although nobody may sign up', async () => {
    const seen: unknown[] = [];
    const { auth } = await start({
      beforeCreateUser: (user: { via: string }) => seen.push(user.via),
    });
    const created: unknown[] = [];
    auth.on('user.created', ({ userId }) => created.push(userId));
    const user = await auth.users.create({
      email: 'Ada@Example.com ',
      username: 'Ada',
      password: ada.password,
      emailVerified: true,
      fields: { name, plan: 'pro', score: 3 },
    });
    expect(user).toMatchObject({ email: ada.email, username: 'ada', name, plan: 'pro', score: 3 });
    expect(user.emailVerifiedAt).toBeInstanceOf(Date);
    expect([seen, created]).toEqual([['code'], [user.id]]);
    await auth.credential.signIn({ credential: 'ada', password: ada.password });
    expect(await auth.users.get(user.id)).toEqual(user);
    expect(JSON.stringify(user)).not.toMatch(/hash|epoch/i);
  });

  test('makes one with nothing but its required fields', async () => {
    const { auth } = await start();
    const user = await auth.users.create({ fields: { name } });
    expect(user).toMatchObject({ email: null, username: null, emailVerifiedAt: null, plan: 'free' });
  });

  test("takes another system's hash, and passwords that its rules accepted", async () => {
    const { auth } = await start();
    // bcrypt of "secret", cost 4.
    const passwordHash = '$2b$04$4wAw6AwbJTd1lQeHVRTVJuM4e0CbU7QDn4PqUZ3jSM6HZI2lI.kjC';
    await expect(
      auth.users.create({ email: ada.email, passwordHash: 'md5:…', fields: { name } }),
    ).rejects.toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/password_hash', code: 'unknown_hash' }],
    });
    await auth.users.create({ email: ada.email, passwordHash, fields: { name } });
    const short = { email: 'bob@example.com', password: 'bob', fields: { name } };
    await expect(auth.users.create(short)).rejects.toMatchObject({ errors: [{ code: 'too_short' }] });
    await auth.users.create({ ...short, skipPasswordRules: true });
    await auth.credential.signIn({ credential: short.email, password: 'bob' });
  });

  test('takes null for no password, as the rows of another system have it', async () => {
    const { auth } = await start();
    const given = { email: ada.email, password: null, passwordHash: null, fields: { name } };
    expect(await auth.users.create(given)).toMatchObject({ email: ada.email });
  });

  test.each([
    [{ email: 'nobody' }, '/email'],
    [{ username: 'a b' }, '/username'],
    [{ fields: { name, role: 'admin' } }, '/role'],
    [{ fields: {} }, '/name'],
    [{ password: '', skipPasswordRules: true }, '/password'],
  ])('refuses %j', async (input, pointer) => {
    const { auth } = await start();
    const refused = auth.users.create({ email: ada.email, fields: { name }, ...input });
    await expect(refused).rejects.toMatchObject({ status: 422, errors: [{ pointer }] });
    expect(await auth.models.User.count()).toBe(0);
  });

  test('says which of email and username is taken', async () => {
    const { auth } = await start();
    await auth.users.create({ email: ada.email, username: 'ada', fields: { name } });
    const again = (input: object) => auth.users.create({ fields: { name }, ...input });
    await expect(again({ email: 'ADA@example.com' })).rejects.toMatchObject({ code: 'email_taken' });
    await expect(again({ username: 'ADA' })).rejects.toMatchObject({ code: 'username_taken' });
  });

  test('names what is missing for a password', async () => {
    const app = await startApp({ plugins: [apiKeys()] });
    stop = app.stop;
    await expect(app.auth.users.create({ email: ada.email, password: ada.password })).rejects.toThrow(
      'latchkey: auth.users.create with password requires passwords: add credentialPassword() to plugins',
    );
    const { id } = await app.auth.users.create({ email: ada.email });
    expect(await app.auth.users.find({ email: ada.email })).toMatchObject({ id });
  });
});

describe('auth.users.get() and .find()', () => {
  test('find a user in any spelling, and null for nobody', async () => {
    const { auth } = await start();
    const user = await auth.users.create({ email: ada.email, username: 'ada', fields: { name, score: 1 } });
    expect(await auth.users.find({ email: ' ADA@EXAMPLE.COM' })).toEqual(user);
    expect(await auth.users.find({ username: 'Ada' })).toEqual(user);
    for (const id of [nobody, 'nobody', '', "' OR 1=1"]) expect(await auth.users.get(id)).toBeNull();
    for (const email of ['nobody@example.com', 'no email', '', '\0'])
      expect(await auth.users.find({ email })).toBeNull();
    for (const username of ['bob', 'a\0da', '\ud800', '', "' OR 1=1"])
      expect(await auth.users.find({ username })).toBeNull();
  });

  test('find by what is given, and not by two identifiers at once', async () => {
    const { auth } = await start();
    const user = await auth.users.create({ email: ada.email, username: 'ada', fields: { name } });
    const find = (by: object) => auth.users.find(by as { email: string });
    expect(await find({ email: undefined, username: 'ada' })).toEqual(user);
    for (const by of [{ email: ada.email, username: 'ada' }, {}, { id: user.id }, undefined, ada.email])
      await expect(find(by as object)).rejects.toThrow('latchkey: auth.users.find: pass email or username');
  });
});

describe('auth.users.list()', () => {
  test('pages and searches accounts, without admin()', async () => {
    const { auth } = await start();
    for (const username of ['ada', 'grace', 'adam']) await auth.users.create({ username, fields: { name } });
    const first = await auth.users.list({ limit: 2 });
    expect(first.users.map(({ username }) => username)).toEqual(['adam', 'grace']);
    // Like the other calls from code, with the fields for administrators.
    expect(first.users[0]).toHaveProperty('score', null);
    const second = await auth.users.list({ limit: 2, cursor: String(first.nextCursor) });
    expect([second.users.map(({ username }) => username), second.nextCursor]).toEqual([['ada'], null]);
    const { users } = await auth.users.list({ search: 'ADA' });
    expect(users.map(({ username }) => username)).toEqual(['adam', 'ada']);
  });

  test('rejects a wrong limit or cursor, and unknown options', async () => {
    const { auth } = await start();
    for (const wrong of [{ limit: 0 }, { limit: 201 }, { cursor: 'x' }])
      await expect(auth.users.list(wrong)).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(auth.users.list({ serach: 'ada' } as never)).rejects.toThrow(/search/);
  });
});

test('canonicalEmail() gives the stored form of an address, or null', () => {
  expect(canonicalEmail(' Ada@EXAMPLE.com')).toBe(ada.email);
  expect(canonicalEmail('nobody')).toBeNull();
});

test('misspelt keys are refused, and nothing is changed', async () => {
  const { auth } = await start();
  const { id } = await auth.users.create({
    email: ada.email,
    fields: { name },
    ip: undefined,
    skipRules: undefined,
  } as never);
  const other = { email: 'b@example.com', fields: { name } };
  const calls: [() => Promise<unknown>, string][] = [
    [
      () => auth.users.create({ ...other, emailverified: true } as never),
      'auth.users.create does not accept emailverified (did you mean emailVerified?): it ',
    ],
    [
      () => auth.users.update(id, { feilds: { name: 'Eve' } } as never),
      'auth.users.update does not accept feilds (did you mean fields?): it accepts username',
    ],
    [
      () => auth.users.changeEmail(id, 'b@example.com', { verfied: true } as never),
      'auth.users.changeEmail does not accept verfied',
    ],
    [
      () => auth.users.setPassword(id, ada.password, { keepSession: true } as never),
      'auth.users.setPassword does not accept keepS',
    ],
    [
      () => auth.users.delete(id, { now: true } as never),
      'auth.users.delete does not accept now: it accepts atOnce, transaction',
    ],
  ];
  for (const [call, message] of calls) await expect(call()).rejects.toThrow(`latchkey: ${message}`);
  expect(await auth.users.find({ email: 'b@example.com' })).toBeNull();
  expect(await auth.users.get(id)).toMatchObject({ email: ada.email, name });
});
