import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createAuth, type SignedIn } from '../../lib/index.js';
import { ada, memoryLogger, password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { connectAsApp } from '../support/app-database.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';
import { firstStep, secondStep } from '../support/two-factor.js';

// Requests at once for one sign-in that waits for an emailed code.
const plugins = [password({ unknownBrowser: 'code' })] as const;
let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;
let id: string;
let browser: ReturnType<typeof app.browser>;
let code: string;
beforeEach(async () => {
  mails = mailbox();
  app = await startApp({
    plugins,
    config: { baseUrl: 'http://app.example.com', email: { send: mails.send } },
  });
  id = (await app.auth.users.create({ ...ada, emailVerified: true })).id;
  browser = app.browser();
  ({ code } = await mails.mailOf(ada.email, 'browser-code', () => firstStep(browser).expect(200)));
});
afterEach(() => app.stop());

const give = (typed: string) => secondStep(browser, { method: 'email_code', code: typed });
const again = () => browser.post('/auth/signin/second-factor/send').send({});
const other = () => `${code.slice(0, -1)}${code.endsWith('2') ? '3' : '2'}`;

describe('an emailed code', () => {
  test('of 16 at once begins one session', async () => {
    const answers = await Promise.all(Array.from({ length: 16 }, () => give(code)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200))
      expectProblem(answer, 401, 'sign_in_expired');
    expect(await app.auth.listSessions(id)).toHaveLength(1);
  });

  test('is not guessed by more at once', async () => {
    const wrong = await Promise.all(Array.from({ length: 16 }, () => give(other())));
    expect(wrong.filter(({ body }) => body.code === 'invalid_code').length).toBeLessThan(5);
    expectProblem(await give(code), 401, 'sign_in_expired');
  });

  test('is not guessed in transactions of the app that are rolled back', async () => {
    // With one connection, which the app's transaction holds.
    const own = connectAsApp(app.database, 1);
    const mine = createAuth({
      database: own,
      secret: SECRET,
      plugins: [password({ unknownBrowser: 'code' })],
      email: { send: mails.send },
      baseUrl: 'http://app.example.com',
      rateLimit: false,
      outbox: { interval: false },
      logger: memoryLogger(),
    });
    let signedIn: SignedIn | undefined;
    const { code: right } = await mails.mailOf(ada.email, 'browser-code', async () => {
      signedIn = (await mine.credential.signIn({
        credential: ada.email,
        password: ada.password,
      })) as SignedIn;
    });
    const pendingToken = signedIn && 'secondFactor' in signedIn ? signedIn.secondFactor.pendingToken : '';
    const attempt = (typed: string) =>
      own
        .transaction((transaction) =>
          mine.completeSignIn({ pendingToken, method: 'email_code', code: typed, transaction }),
        )
        .then(
          () => 'ok',
          (error) => error.code,
        );
    const codes: string[] = [];
    for (let count = 0; count < 6; count++) codes.push(await attempt('BBBB-BBBB'));
    expect(codes.slice(0, 4)).toEqual(Array(4).fill('invalid_code'));
    expect(codes.slice(4)).toEqual(['sign_in_expired', 'sign_in_expired']);
    expect(await attempt(right)).toBe('sign_in_expired');
    await mine.close();
    await own.close();
  });

  test('of 16 requests at once is mailed three times', async () => {
    const answers = await Promise.all(Array.from({ length: 16 }, () => again()));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(3);
  });
});
