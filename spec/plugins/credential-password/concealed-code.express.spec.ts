import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { credentialPassword } from '../../../lib/index.js';
import { ada, type SpecApp, sessionCookie, startApp } from '../../support/app.js';
import { advance } from '../../support/clock.js';
import { rows } from '../../support/database.js';
import { mailbox } from '../../support/mailbox.js';
import { expectProblem } from '../../support/problem.js';
import { settled } from '../../support/sessions.js';
import { loggingSequelize } from '../../support/statements.js';

/** A sign-up that does not reveal whether the address has an account, and whose code verifies it in the same browser. */
const plugins = [
  credentialPassword({ verifyEmailBy: 'code', concealExistingEmails: true, bcryptCost: 4 }),
] as const;
const grace = { email: 'grace@example.com', password: 'a nanosecond of wire' };

let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;
let statements: string[] = [];
beforeEach(async () => {
  mails = mailbox();
  app = await startApp({
    plugins,
    tables: {},
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      const rateLimit = {
        mail: { limit: 1000, window: 60 },
        mailAddress: false,
        signIn: false,
        signUp: false,
      } as const;
      return {
        database: own.sequelize,
        baseUrl: 'http://app.example.com',
        bearerEnabled: true,
        email: { send: mails.send },
        rateLimit,
      };
    },
  });
  await app.auth.users.create({ ...ada, emailVerified: true });
});
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;
const signUp = (browser: Browser, person = grace) => browser.post('/auth/signup/credential').send(person);
const mailFor = (browser: Browser, person = grace, kind = 'verification-code') =>
  mails.mailOf(person.email, kind, () => signUp(browser, person).expect(202));
const verify = (browser: Browser, code: string) => browser.post('/auth/verify-email').send({ code });
const signIn = ({ email, password } = grace) =>
  app.http.post('/auth/signin/credential').send({ credential: email, password });
const other = (code: string) => code.replace(/.$/, (last) => String((Number(last) + 1) % 10));

test('the code verifies the account in the browser of the sign-up, and a sign-in is rejected until then', async () => {
  const browser = app.browser();
  const mail = await mailFor(browser);
  expect([mail.url, mail.token]).toEqual(['', '']);
  expectProblem(await signIn(), 401, 'invalid_credentials');
  expectProblem(await verify(app.browser(), mail.code), 401, 'code_expired');
  expectProblem(await verify(browser, other(mail.code)), 401, 'invalid_code');
  const answer = await verify(browser, mail.code).expect(200);
  expect(answer.body.user).toMatchObject({ email: grace.email, email_verified_at: expect.any(String) });
  expect(sessionCookie(answer, 'latchkey-verify')?.value).toBe('');
  expectProblem(await verify(browser, mail.code), 401, 'code_expired');
  await signIn().expect(200);
});

test('the owner of a taken address is told so, and every code is wrong', async () => {
  const browser = app.browser();
  const mail = await mailFor(browser, { ...ada, password: 'another password' }, 'account-exists');
  expect([mail.code, mail.token]).toEqual(['', '']);
  for (let time = 1; time < 5; time++) expectProblem(await verify(browser, '00000000'), 401, 'invalid_code');
  expectProblem(await verify(browser, '00000000'), 401, 'code_expired');
  expectProblem(await verify(browser, '00000000'), 401, 'code_expired');
  expectProblem(await signIn({ ...ada, password: 'another password' }), 401, 'invalid_credentials');
  await signIn(ada).expect(200);
});

test('responses and work are the same for every address', async () => {
  const work = async (person: typeof ada) => {
    statements.length = 0;
    const browser = app.browser();
    const { status, headers, body } = await signUp(browser, person);
    await settled(app.auth);
    const done = statements
      .map((line) => {
        const [, verb, table] =
          /\b(SELECT|INSERT|UPDATE|DELETE)\b(?:.*?\b(?:FROM|INTO|UPDATE)|(?<=UPDATE))\s+[`"(]?(\w+)/s.exec(
            line,
          ) ?? [];
        return `${verb} ${table}`;
      })
      .filter((step) => step !== 'INSERT rate_limits')
      .sort();
    const wrong = [];
    for (let time = 0; time < 6; time++) wrong.push((await verify(browser, '0')).body.code);
    const cookie = sessionCookie({ headers } as never, 'latchkey-verify');
    return [
      status,
      Object.keys(headers).sort(),
      headers['content-length'],
      Object.keys(body),
      cookie?.value.length,
      wrong,
      done,
    ];
  };
  await work({ ...grace, email: 'first@example.com' });
  const known = await work({ ...ada, password: grace.password });
  const unknown = await work({ ...grace, email: 'new@example.com' });
  expect(known[3]).toEqual(['expires_at', 'pending_token']);
  expect(unknown).toEqual(known);
});

test('signing up again in the browser mails the same code, at most three times', async () => {
  const browser = app.browser();
  const first = await signUp(browser).expect(202);
  for (let time = 1; time < 5; time++) {
    const again = await signUp(browser).expect(202);
    expect(again.body.expires_at).toBe(first.body.expires_at);
  }
  await settled(app.auth);
  const codes = mails.mails.map(({ kind, code }) => [kind, code]);
  expect(codes).toHaveLength(4);
  expect(new Set(codes.map(String)).size).toBe(1);
  await verify(browser, mails.mails[0]?.code ?? '').expect(200);
});

test('in another browser, the address is taken from then on', async () => {
  const [first, second] = [app.browser(), app.browser()];
  const { code } = await mailFor(first);
  await mailFor(second, grace, 'account-exists');
  expectProblem(await verify(second, code), 401, 'invalid_code');
  await verify(first, code).expect(200);
});

test('ends after ten minutes, and with the account', async () => {
  const browser = app.browser();
  const { code } = await mailFor(browser);
  advance(app.auth, 601);
  expectProblem(await verify(browser, code), 401, 'code_expired');
  const second = app.browser();
  const someone = { ...grace, email: 'someone@example.com' };
  const mail = await mailFor(second, someone);
  await app.auth.users.delete((await app.auth.users.find({ email: someone.email }))?.id ?? '');
  expectProblem(await verify(second, mail.code), 401, 'invalid_code');
});

test('a client without cookies, and code, send the token', async () => {
  let pendingToken = '';
  const { code } = await mails.mailOf(grace.email, 'verification-code', async () => {
    ({ pendingToken } = await app.auth.credential.signUp(grace));
  });
  const body = { code: other(code), pending_token: pendingToken };
  expectProblem(await app.http.post('/auth/verify-email').send(body), 401, 'invalid_code');
  const user = await app.auth.credential.verifyEmail({ code, pendingToken });
  expect(user.emailVerifiedAt).toBeInstanceOf(Date);
  const [row] = await rows<{ password_hash: unknown }>(
    app.database,
    "SELECT password_hash FROM users WHERE email = 'grace@example.com'",
  );
  expect(row?.password_hash).not.toBeNull();
});
