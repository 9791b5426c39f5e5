import { afterEach, expect, test } from '@jest/globals';
import { type CredentialPasswordOptions, credentialPassword } from '../../../lib/index.js';
import { ada, type SpecApp, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { mailbox } from '../../support/mailbox.js';
import { settled } from '../../support/sessions.js';

// Requests at once with one emailed code, of each kind. What else they do is in the specs of each kind.
const pluginsWith = (options: CredentialPasswordOptions) =>
  [credentialPassword({ bcryptCost: 4, ...options })] as const;

let app: SpecApp<ReturnType<typeof pluginsWith>>;
let mails: ReturnType<typeof mailbox>;
let browser: ReturnType<typeof app.browser>;
const start = async (options: CredentialPasswordOptions) => {
  mails = mailbox();
  app = await startApp({
    plugins: pluginsWith(options),
    config: { baseUrl: 'http://app.example.com', email: { send: mails.send } },
  });
  browser = app.browser();
};
afterEach(() => app.stop());

const grace = { email: 'grace@example.com', password: 'a nanosecond of wire' };
const post = (path: string, body: object) => browser.post(`/auth${path}`).send(body);
const codeFor = async (kind: string, path: string, body: object, status: number, to = ada.email) =>
  (await mails.mailOf(to, kind, () => post(path, body).expect(status))).code;
/** Sends sixteen requests at once, and returns the code of each error, or null. */
const outcomesOf = async (path: string, body: (index: number) => object) => {
  const answers = await Promise.all(Array.from({ length: 16 }, (_, index) => post(path, body(index))));
  return answers.map(({ status, body }) => (status < 300 ? null : body.code));
};
const signIn = (password: string) => post('/signin/credential', { credential: ada.email, password });
const expectOne = (outcomes: readonly (string | null)[], otherwise: string) => {
  expect(outcomes.filter((one) => one === null)).toHaveLength(1);
  expect(new Set(outcomes)).toEqual(new Set([null, otherwise]));
};

test('of sixteen right codes for the email of a session at once, one verifies', async () => {
  await start({ verifyEmailBy: 'code', signInOnSignUp: true });
  const code = await codeFor('verification-code', '/signup/credential', ada, 201);
  const events: unknown[] = [];
  app.auth.on('user.email_verified', (event) => events.push(event));
  expectOne(await outcomesOf('/verify-email', () => ({ code })), 'code_expired');
  await settled(app.auth);
  expect(events).toHaveLength(1);
});

test('of sixteen right codes for a concealed sign-up at once, one verifies', async () => {
  await start({ verifyEmailBy: 'code', concealExistingEmails: true });
  const code = await codeFor('verification-code', '/signup/credential', grace, 202, grace.email);
  expectOne(await outcomesOf('/verify-email', () => ({ code })), 'code_expired');
});

test('of sixteen right codes for a sign-in with an unproven email at once, one signs in', async () => {
  await start({ verifyEmailBy: 'code', requireVerifiedEmail: true });
  await app.auth.users.create(ada);
  const credentials = { credential: ada.email, password: ada.password };
  const code = await codeFor('verification-code', '/signin/credential', credentials, 200);
  const body = { method: 'email_code', code };
  expectOne(await outcomesOf('/signin/second-factor', () => body), 'sign_in_expired');
});

test('of sixteen right codes for a new password at once, one sets it', async () => {
  await start({ resetBy: 'code' });
  await app.auth.users.create({ ...ada, emailVerified: true });
  const code = await codeFor('reset-code', '/passwords/request-reset', { email: ada.email }, 202);
  const passwordOf = (index: number) => `the password of try ${index}`;
  const outcomes = await outcomesOf('/passwords/reset', (index) => ({
    code,
    new_password: passwordOf(index),
  }));
  expectOne(outcomes, 'code_expired');
  await signIn(passwordOf(outcomes.indexOf(null))).expect(200);
});

test('of sixteen wrong codes for a new password at once, five are looked at', async () => {
  await start({ resetBy: 'code' });
  await app.auth.users.create({ ...ada, emailVerified: true });
  const code = await codeFor('reset-code', '/passwords/request-reset', { email: ada.email }, 202);
  const wrong = code.replace(/.$/, (last) => String((Number(last) + 1) % 10));
  const new_password = 'a difference engine';
  const outcomes = await outcomesOf('/passwords/reset', () => ({ code: wrong, new_password }));
  expect(outcomes.filter((one) => one === 'invalid_code').length).toBeLessThanOrEqual(4);
  expect(await rows(app.database, 'SELECT email FROM code_requests')).toEqual([]);
});
