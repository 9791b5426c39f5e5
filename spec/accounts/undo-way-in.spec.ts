import { afterEach, expect, test } from '@jest/globals';
import { passkeys, twoFactor } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { mailbox } from '../support/mailbox.js';
import { addPasskey, authenticator, PAGE } from '../support/passkeys.js';
import { expectProblem } from '../support/problem.js';
import { codeOf, enroll, forgetSteps } from '../support/two-factor.js';

const THIEFS = 'thief@example.com';
const plugins = () => [password(), twoFactor(), passkeys()] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
let mails: ReturnType<typeof mailbox>;
afterEach(() => app.stop());

/** Ada in her browser. Nobody has vouched for her address. */
const start = async () => {
  mails = mailbox();
  app = await startApp({ plugins: plugins(), config: { baseUrl: PAGE, email: { send: mails.send } } });
  const { id } = await app.auth.users.create(ada);
  const browser = app.browser();
  await browser
    .post('/auth/signin/credential')
    .send({ credential: ada.email, password: ada.password })
    .expect(200);
  return { id, browser };
};

/** Moves the account to the thief's address in the session of Ada's browser. @returns the link of Ada's notice */
const steal = async (id: string, browser: Awaited<ReturnType<typeof start>>['browser']) => {
  const { session } = (await browser.get('/auth/me').expect(200)).body;
  const { token } = await mails.mailOf(ada.email, 'email-changed', () =>
    app.auth.users.changeEmail(id, THIEFS, { sessionId: session.id }),
  );
  return token;
};

const accountRows = (id: string) =>
  rows(app.database, 'SELECT email, password_hash, auth_epoch FROM users WHERE id = :id', { id });

test('an undo that would leave no way in changes nothing, and works once there is one', async () => {
  const { id, browser } = await start();
  const token = await steal(id, browser);
  // Nothing holds an address for which nobody has vouched.
  const other = await app.auth.users.create({ email: ada.email, password: 'a difference engine' });
  const before = await accountRows(id);
  const undo = () => browser.post('/auth/undo-change').send({ token, password: ada.password });
  const refused = await undo();
  expectProblem(refused, 409, 'last_sign_in_method');
  expect(refused.body.detail).toContain('Contact support');
  await expect(app.auth.undoChange(token, { trusted: true })).rejects.toMatchObject({
    code: 'last_sign_in_method',
  });
  expect(await accountRows(id)).toEqual(before);
  await app.auth.users.delete(other.id);
  await undo().expect(200);
  expect((await app.auth.users.get(id))?.email).toBe(ada.email);
});

test('an address that another account could get back is taken too', async () => {
  const { id, browser } = await start();
  const token = await steal(id, browser);
  const other = await app.auth.users.create({
    email: ada.email,
    emailVerified: true,
    password: 'a difference engine',
  });
  const { session } = await app.auth.createSession(other.id);
  await app.auth.users.changeEmail(other.id, 'moved@example.com', { sessionId: session.id });
  const undo = () => browser.post('/auth/undo-change').send({ token, password: ada.password });
  expectProblem(await undo(), 409, 'last_sign_in_method');
  await rows(app.database, 'DELETE FROM account_changes WHERE user_id = :id', { id: other.id });
  await undo().expect(200);
});

test('it uses up no code of the second factor', async () => {
  const { id, browser } = await start();
  await app.auth.markEmailVerified(id);
  const { secret } = await enroll(browser);
  await forgetSteps(app);
  await rows(app.database, "UPDATE users SET email_proof = 'none', email_verified_at = NULL WHERE id = :id", {
    id,
  });
  const token = await steal(id, browser);
  const other = await app.auth.users.create({ email: ada.email });
  const undo = () =>
    browser.post('/auth/undo-change').send({ token, password: ada.password, code: codeOf(secret) });
  expectProblem(await undo(), 409, 'last_sign_in_method');
  await app.auth.users.delete(other.id);
  await undo().expect(200);
});

test('a passkey from before is a way in', async () => {
  const { id, browser } = await start();
  await app.auth.markEmailVerified(id);
  await addPasskey(browser, authenticator());
  await rows(app.database, "UPDATE users SET email_proof = 'none', email_verified_at = NULL WHERE id = :id", {
    id,
  });
  const token = await steal(id, browser);
  await app.auth.users.create({ email: ada.email });
  await browser.post('/auth/undo-change').send({ token, password: ada.password }).expect(200);
  expect((await app.auth.users.get(id))?.email).toBeNull();
});

test('an address for which the app has vouched is held for its account', async () => {
  const { id, browser } = await start();
  await app.auth.markEmailVerified(id);
  const token = await steal(id, browser);
  await expect(app.auth.users.create({ email: ada.email })).rejects.toMatchObject({ code: 'email_taken' });
  await browser.post('/auth/undo-change').send({ token, password: ada.password }).expect(200);
  expect((await app.auth.users.get(id))?.email).toBe(ada.email);
});
