import { afterEach, describe, expect, test } from '@jest/globals';
import { apiKeys } from '../../lib/index.js';
import { ada, password } from '../support/app.js';
import { rows } from '../support/database.js';
import { importUsers } from '../support/import-users.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';

const fields = {
  name: { type: 'string', default: 'nobody yet' },
  motto: { type: 'string' },
  country: { type: 'string', required: true },
  plan: { type: 'string', default: 'free', input: 'none' },
} as const;
const given = { name: 'Mallory', motto: 'first come', country: 'NZ' };
const plugins = (options: object) => [password({ username: true, ...options }), apiKeys()] as const;

let app: MailApp<ReturnType<typeof plugins>>;
const start = async (options: object = {}) => {
  app = (await startMailApp({
    plugins: plugins(options),
    config: { baseUrl: 'https://app.example.com', user: { fields } },
  })) as typeof app;
};
afterEach(() => app.stop());

const signedUp = async (values: object = {}) => {
  const browser = app.browser();
  const person = { ...ada, country: 'NZ', ...values };
  await browser.post('/auth/signup/credential').send(person).expect(201);
  const credentials = { credential: person.email, password: person.password };
  await browser.post('/auth/signin/credential').send(credentials).expect(200);
  return browser;
};
const resetToken = async (email: string) =>
  (await app.mailOf(() => app.http.post('/auth/passwords/request-reset').send({ email }), 'reset-password'))
    .token;
const reset = async (email: string, browser = app.browser()) => {
  const token = await resetToken(email);
  await browser.post('/auth/passwords/reset').send({ token, new_password: 'the owner of it' }).expect(204);
};
const stored = async (email = ada.email) => {
  const [user] = await rows<Record<string, unknown>>(
    app.database,
    'SELECT * FROM users WHERE email = :email',
    {
      email,
    },
  );
  return user;
};

describe('where the first proof of a mailbox removes what was attached', () => {
  test('the fields that users set, and the username, are as in a new account', async () => {
    await start();
    const changed: unknown[] = [];
    await signedUp({ username: 'ada', ...given });
    app.auth.on('user.updated', (event) => changed.push([...event.changed].sort()));
    await rows(app.database, "UPDATE users SET plan = 'paid'");
    await reset(ada.email);
    expect(await stored()).toMatchObject({
      username: null,
      name: 'nobody yet',
      motto: null,
      // It must have a value, and has no default.
      country: 'NZ',
      plan: 'paid',
    });
    expect(changed).toEqual([['motto', 'name', 'username']]);
  });

  test('the username stays if accounts have nothing else', async () => {
    await start({ identifier: 'username' });
    const { id } = await app.auth.users.create({ username: 'ada', password: ada.password, fields: given });
    await app.auth.users.changeEmail(id, ada.email);
    await reset(ada.email);
    expect(await stored()).toMatchObject({ username: 'ada', name: 'nobody yet' });
  });

  test('none of it happens to an account that nobody could sign in to', async () => {
    await start();
    await app.auth.users.create({ email: ada.email, username: 'ada', fields: { ...given, name: 'Ada' } });
    await reset(ada.email);
    expect(await stored()).toMatchObject({ username: 'ada', name: 'Ada', motto: 'first come' });
  });

  test('none of it happens in a browser in which the account is signed in', async () => {
    await start();
    const browser = await signedUp({ username: 'ada', ...given });
    const { key } = (await browser.post('/auth/api-keys').send({ name: 'program' }).expect(201)).body;
    await reset(ada.email, browser);
    expect(await stored()).toMatchObject({ username: 'ada', name: 'Mallory', email_proof: 'mailbox' });
    await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
    // Another reset is no first proof any more.
    await reset(ada.email);
    await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
  });

  test('all of it happens in a browser in which another account is signed in', async () => {
    await start();
    await signedUp({ username: 'ada', ...given });
    const other = await signedUp({ email: 'bob@example.com' });
    await reset(ada.email, other);
    expect(await stored()).toMatchObject({ username: null, name: 'nobody yet' });
  });
});

describe('how well an email is proven', () => {
  const proofOf = async (email = ada.email) => {
    const user = await app.auth.users.find({ email });
    return user?.emailProof;
  };

  test('is kept for code, and not shown to clients', async () => {
    await start();
    const browser = await signedUp();
    expect(await proofOf()).toBe('none');
    const { user } = (await browser.get('/auth/me')).body;
    expect(user).not.toHaveProperty('email_proof');
    await app.auth.markEmailVerified(user.id);
    expect(await proofOf()).toBe('app');
    await reset(ada.email);
    expect(await proofOf()).toBe('mailbox');
    // A weaker word changes nothing.
    await app.auth.markEmailVerified(user.id);
    expect(await proofOf()).toBe('mailbox');
  });

  test.each([
    [true, 'mailbox'],
    ['app', 'app'],
    [false, 'none'],
    [null, 'none'],
  ] as const)('is, after an import with emailVerified: %j, %s', async (emailVerified, proof) => {
    await start();
    await importUsers(app.auth, [{ email: ada.email, emailVerified, fields: { country: 'NZ' } }]);
    expect(await proofOf()).toBe(proof);
    expect((await stored())?.email_verified_at === null).toBe(proof === 'none');
  });

  test('is the word of the app in auth.users.create and changeEmail', async () => {
    await start();
    const values = { fields: { country: 'NZ' } };
    const { id } = await app.auth.users.create({ ...ada, emailVerified: true, ...values });
    expect(await proofOf()).toBe('app');
    await app.auth.users.changeEmail(id, 'new@example.com');
    expect(await proofOf('new@example.com')).toBe('none');
    await app.auth.users.changeEmail(id, 'third@example.com', { verified: true });
    expect(await proofOf('third@example.com')).toBe('app');
  });

  test('is taken from the time of the verification in rows that a statement of the app has written', async () => {
    await start();
    await signedUp();
    await rows(app.database, 'UPDATE users SET email_verified_at = created_at, email_proof = NULL');
    const { core } = (await import('../../lib/auth.js')).internalsOf(app.auth);
    const level = async () => (await core.users.findRecord({ email: ada.email }))?.emailProof.level;
    expect(await level()).toBe('app');
    await rows(app.database, "UPDATE users SET email_proof = 'none'");
    expect(await level()).toBe('app');
    await rows(app.database, 'UPDATE users SET email_verified_at = NULL');
    expect(await level()).toBe('none');
  });
});
