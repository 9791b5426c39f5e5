import { afterEach, describe, expect, test } from '@jest/globals';
import { admin } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';

/** The schema requires `plan`, and the rules for emails, usernames and passwords are not in it. */
const config = { user: { fields: { plan: { type: 'string', required: true } } } } as const;
const breached: string[] = [];
const plugins = [
  password({
    username: true,
    resetBy: 'code',
    isBreached: async (given) => {
      breached.push(given);
      return true;
    },
  }),
  admin({ adminEmails: [ada.email] }),
] as const;

let app: SpecApp<typeof plugins>;
const start = async () => {
  breached.length = 0;
  app = await startApp({ plugins, config: { ...config, email: { send: mailbox().send } } as never });
  const skipRules = { skipPasswordRules: true };
  await app.auth.users.create({
    ...ada,
    ...skipRules,
    emailVerified: true,
    fields: { plan: 'free' },
  } as never);
};
afterEach(() => app.stop());

const pointers = (answer: Parameters<typeof expectProblem>[0]) =>
  expectProblem(answer, 422, 'validation_failed').errors?.map(({ pointer, code }) => `${pointer} ${code}`);

describe('a body that its schema rejects names the mistakes by other rules too', () => {
  test('at the sign-up, in the order of its fields, without a look at the accounts or a breach check', async () => {
    await start();
    const body = { email: 'nonsense', username: 'x', password: 'short' };
    expect(pointers(await app.http.post('/auth/signup/credential').send(body))).toEqual([
      '/email invalid_email',
      '/username invalid_username',
      '/password too_short',
      '/plan required',
    ]);
    const taken = { ...ada, password: 'a difference engine' };
    expect(pointers(await app.http.post('/auth/signup/credential').send(taken))).toEqual(['/plan required']);
    expect(breached).toEqual([]);
  });

  test('in a form, where an empty field is missing', async () => {
    await start();
    const form = app.http
      .post('/auth/signup/credential')
      .type('form')
      .send({ email: '', password: 'short', plan: '', error_to: '/sign-up' });
    expect((await form.expect(303)).headers.location).toBe(
      '/sign-up?error=validation_failed&error_fields=email,password,plan',
    );
  });

  test('with one error for each field, and for values of every type', async () => {
    await start();
    for (const value of [5, null, [], {}, 'x'.repeat(2000)]) {
      const body = { email: value, username: value, password: value, plan: value };
      const found = pointers(await app.http.post('/auth/signup/credential').send(body));
      expect(found?.map((one) => one.split(' ')[0])).toEqual(['/email', '/username', '/password', '/plan']);
    }
    expect(pointers(await app.http.post('/auth/signup/credential').send([] as never))).toEqual([
      ' wrong_type',
    ]);
  });

  test('where a password is changed, reset or a user created', async () => {
    await start();
    const browser = app.browser();
    await browser
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
    expect(pointers(await browser.post('/auth/passwords/change').send({ new_password: 'short' }))).toEqual([
      '/current_password required',
      '/new_password too_short',
    ]);
    expect(pointers(await app.http.post('/auth/passwords/reset').send({ new_password: 'password' }))).toEqual(
      ['/code invalid', '/new_password password_too_common'],
    );
    const user = { email: 'nonsense', username: 'x' };
    const both = ['/email invalid_email', '/username invalid_username', '/plan required'];
    expect(pointers(await browser.post('/auth/admin/users').send(user))).toEqual(both);
    expect(breached).toEqual([]);
  });
});
