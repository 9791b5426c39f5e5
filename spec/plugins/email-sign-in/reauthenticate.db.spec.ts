import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { emailSignIn } from '../../../lib/index.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { mailbox } from '../../support/mailbox.js';
import { expectProblem } from '../../support/problem.js';

const plugins = [password(), emailSignIn()] as const;
let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;
beforeEach(async () => {
  mails = mailbox();
  app = await startApp({
    plugins,
    config: { baseUrl: 'http://app.example.com', email: { send: mails.send } },
  });
});
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;
const codeFor = async (browser: Browser) =>
  (
    await mails.mailOf(ada.email, 'sign-in-code', () =>
      browser.post('/auth/reauthenticate/email').send().expect(202),
    )
  ).code;
const give = (browser: Browser, email_code: string) =>
  browser.post('/auth/reauthenticate').send({ email_code });
/** A browser with a session of an account without a password, which is not fresh. */
async function stale(): Promise<Browser> {
  const browser = await signedIn(app);
  await app.auth.models.User.update({ passwordHash: null } as never, { where: {} });
  await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: {} });
  return browser;
}
const isFresh = async (browser: Browser) =>
  (await browser.post('/auth/email-changes').send({ new_email: 'new@example.com' })).status === 202;

test('a code makes the session fresh, once', async () => {
  const browser = await stale();
  expect(await isFresh(browser)).toBe(false);
  const code = await codeFor(browser);
  await give(browser, code).expect(204);
  expect(await isFresh(browser)).toBe(true);
  expectProblem(await give(browser, code), 401, 'invalid_code');
  // The next one is another code.
  const next = await codeFor(browser);
  expect(next).not.toBe(code);
  expectProblem(await give(browser, code), 401, 'invalid_code');
});

test('is for its session alone, five times', async () => {
  const browser = await stale();
  const code = await codeFor(browser);
  for (let time = 0; time < 5; time++) expectProblem(await give(browser, 'AAAA-AAAA'), 401, 'invalid_code');
  expectProblem(await give(browser, code), 401, 'invalid_code');
  expect(await isFresh(browser)).toBe(false);
  expect((await browser.post('/auth/signin/email/confirm').send({ code })).status).toBe(401);
});

test('is not offered to an account with a password', async () => {
  const browser = await signedIn(app);
  expectProblem(await browser.post('/auth/reauthenticate/email').send(), 409, 'email_code_not_offered');
});

test('neither code is in the database', async () => {
  const browser = await stale();
  const code = await codeFor(browser);
  const all = JSON.stringify([
    await rows(app.database, 'SELECT * FROM emailed_sign_ins'),
    await rows(app.database, 'SELECT * FROM outbox'),
  ]);
  expect(all).not.toContain(code);
  expect(all).not.toContain(code.replace('-', ''));
});
