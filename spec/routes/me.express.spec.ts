import { afterEach, describe, expect, test } from '@jest/globals';
import { AuthError, apiKeys } from '../../lib/index.js';
import { ada, password, startApp } from '../support/app.js';
import { expectProblem } from '../support/problem.js';

const fields = {
  name: { type: 'string', maxLength: 80, required: true },
  plan: { type: 'string', enum: ['free', 'pro'], default: 'free', input: 'none' },
  newsletter: { type: 'boolean', default: false },
} as const;

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});

async function start(config = {}) {
  const app = await startApp({
    plugins: [password({ username: true })],
    config: { user: { fields }, ...config },
  });
  stop = app.stop;
  const { id } = await app.auth.users.create({ ...ada, username: 'ada', fields: { name: 'Ada' } });
  const browser = app.browser();
  await browser
    .post('/auth/signin/credential')
    .send({ credential: 'ada', password: ada.password })
    .expect(200);
  return { ...app, id, browser };
}

describe('PATCH /me', () => {
  test('changes fields and the username, and tells the hook and the listeners once', async () => {
    const told: unknown[] = [];
    const { auth, browser, id } = await start({
      hooks: {
        afterUpdateUser: (user: { name: string }, changed: unknown) => told.push([user.name, changed]),
      },
    });
    auth.on('user.updated', ({ userId, changed }) => told.push([userId, changed]));
    const patch = { name: 'Countess', username: 'Lovelace', newsletter: true };
    const { body } = await browser.patch('/auth/me').send(patch).expect(200);
    expect(body.user).toMatchObject({
      id,
      name: 'Countess',
      username: 'lovelace',
      newsletter: true,
      plan: 'free',
    });
    expect((await browser.get('/auth/me')).body.user).toEqual(body.user);
    const names = ['username', 'name', 'newsletter'];
    expect(told).toEqual([
      ['Countess', names],
      [id, names],
    ]);
    await browser.patch('/auth/me').send(patch).expect(200);
    await browser.patch('/auth/me').send({}).expect(200);
    expect(told).toHaveLength(2);
  });

  test.each([
    ['a field for code only', { plan: 'pro' }, '/plan'],
    ['a field that does not exist', { role: 'admin' }, '/role'],
    ['a prototype', JSON.parse('{"__proto__": {"plan": "pro"}}'), '/__proto__'],
    ['a required field without a value', { name: null }, '/name'],
    ['a value that is too long', { name: 'a'.repeat(81) }, '/name'],
    ['a bad username', { username: 'a b' }, '/username'],
    ['no username', { username: null }, '/username'],
    ['the email', { email: 'other@example.com' }, '/email'],
    ['a password', { password: 'another' }, '/password'],
    ['an object', { name: { $ne: null } }, '/name'],
  ])('refuses %s, and changes nothing', async (_what, patch, pointer) => {
    const { browser, auth, id } = await start();
    const before = await auth.users.get(id);
    const refused = await browser.patch('/auth/me').send({ newsletter: true, ...patch });
    const { errors } = expectProblem(refused, 422, 'validation_failed');
    expect(errors?.map((one) => one.pointer)).toEqual([pointer]);
    expect(await auth.users.get(id)).toEqual(before);
  });

  test('refuses a username that is taken', async () => {
    const { browser, auth } = await start();
    await auth.users.create({ username: 'grace', fields: { name: 'Grace' } });
    expectProblem(await browser.patch('/auth/me').send({ username: 'GRACE' }), 409, 'username_taken');
  });

  test('is rolled back by a hook that throws', async () => {
    const { browser, auth, id } = await start({
      hooks: {
        afterUpdateUser() {
          throw new AuthError('validation_failed', {
            errors: [{ pointer: '/name', code: 'rude', detail: 'is rude' }],
          });
        },
      },
    });
    expectProblem(await browser.patch('/auth/me').send({ name: 'Rude' }), 422, 'validation_failed');
    expect(await auth.users.get(id)).toMatchObject({ name: 'Ada' });
  });

  test('has a twin for forms', async () => {
    const { browser, auth, id } = await start();
    const form = { name: 'Countess', newsletter: 'on', redirect_to: '/account' };
    const changed = await browser.post('/auth/me/update').type('form').send(form);
    expect([changed.status, changed.headers.location]).toEqual([303, '/account']);
    expect(await auth.users.get(id)).toMatchObject({ name: 'Countess', newsletter: true });
    const refused = await browser
      .post('/auth/me/update')
      .type('form')
      .send({ plan: 'pro', error_to: '/account' });
    expect(refused.headers.location).toBe('/account?error=validation_failed&error_fields=plan');
  });

  test('is not offered where nothing can be changed, or where it is off', async () => {
    for (const options of [
      { plugins: [password(), apiKeys()] as const },
      { config: { account: { update: false }, user: { fields: { age: { type: 'integer' } } } } as const },
    ]) {
      const app = await startApp(options as never);
      expectProblem(await app.http.patch('/auth/me').send({}), 405, 'method_not_allowed');
      await app.stop();
    }
  });
});

test('auth.users.update() sets what users may not, and the username; null removes it', async () => {
  const { auth, id } = await start();
  const user = await auth.users.update(id, { username: null, fields: { plan: 'pro' } });
  expect(user).toMatchObject({ id, username: null, plan: 'pro', name: 'Ada' });
  await expect(auth.users.update(id, { fields: { role: 'admin' } })).rejects.toMatchObject({ status: 422 });
  const nobody = auth.users.update('01900000-0000-7000-8000-000000000000', { fields: { plan: 'pro' } });
  await expect(nobody).rejects.toMatchObject({ code: 'user_not_found' });
});
