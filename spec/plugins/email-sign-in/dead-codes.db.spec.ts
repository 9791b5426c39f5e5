import { afterEach, expect, test } from '@jest/globals';
import { internalsOf } from '../../../lib/auth.js';
import { type AuthConfig, AuthError, createAuth, emailSignIn } from '../../../lib/index.js';
import { ada, memoryLogger, password, SECRET, type SpecApp, startApp } from '../../support/app.js';
import { connectAsApp } from '../../support/app-database.js';
import { advance } from '../../support/clock.js';
import { dialect } from '../../support/database.js';
import { importUsers } from '../../support/import-users.js';
import { mailbox } from '../../support/mailbox.js';
import { expectProblem } from '../../support/problem.js';
import { settled } from '../../support/sessions.js';

/** What becomes of requests whose code opens nothing any more, and of right codes that are refused. */
const baseUrl = 'http://app.example.com';
const grace = 'grace@example.com';
const both = [password(), emailSignIn({ signUp: true, lifetime: 3600 })] as const;

let app: SpecApp<typeof both>;
let mails: ReturnType<typeof mailbox>;
afterEach(() => app.stop());

async function open(config: Omit<Partial<AuthConfig>, 'plugins'> = {}, plugins: unknown = both) {
  mails = mailbox();
  app = await startApp({
    plugins: plugins as typeof both,
    config: { baseUrl, email: { send: mails.send }, ...config },
  });
}
type Browser = ReturnType<typeof app.browser>;
const ask = (browser: Browser, email: string) => browser.post('/auth/signin/email').send({ email });
const mailFor = (browser: Browser, email: string = ada.email) =>
  mails.mailOf(email, 'sign-in-code', () => ask(browser, email).expect(202));
const confirm = (browser: Browser, body: object) => browser.post('/auth/signin/email/confirm').send(body);

test('after the sessions have ended, the code is dead, and the browser gets a living one when it asks again', async () => {
  await open();
  const { id } = await app.auth.users.create({ ...ada, emailVerified: true });
  const browser = app.browser();
  for (const asksFirst of [false, true]) {
    const dead = await mailFor(browser);
    await app.auth.revokeAllSessions(id);
    if (!asksFirst) expectProblem(await confirm(browser, { code: dead.code }), 401, 'sign_in_expired');
    const { code } = await mailFor(browser);
    await confirm(browser, { code }).expect(200);
    await browser.post('/auth/signout').expect(204);
  }
});

test.each<[string, (id: string) => Promise<unknown>]>([
  ['the end of all sessions', (id) => app.auth.revokeAllSessions(id)],
  ['a new password', (id) => app.auth.users.setPassword(id, 'another password of hers')],
  ['the deletion of the account', (id) => app.auth.users.delete(id)],
  [
    'a new account with the address',
    async (id) => {
      await app.auth.users.delete(id);
      await app.auth.users.create({ ...ada, emailVerified: true });
    },
  ],
])('after %s, the code and the link stay dead when the browser asks again', async (_what, end) => {
  await open();
  const { id } = await app.auth.users.create({ ...ada, emailVerified: true });
  const browser = app.browser();
  const dead = await mailFor(browser);
  await end(id);
  const living = await mailFor(browser);
  expect(living.code).not.toBe(dead.code);
  expect(living.token).not.toBe(dead.token);
  expect(living.url).toContain(living.token);
  expectProblem(await confirm(browser, { code: dead.code }), 401, 'invalid_code');
  expectProblem(await confirm(browser, { token: dead.token }), 401, 'sign_in_expired');
  // Asking again changes nothing while nothing has ended.
  expect(await mailFor(browser)).toMatchObject({ code: living.code, token: living.token });
  await confirm(browser, { code: living.code }).expect(200);
});

test('a mail that is sent again after a failure has the code that is right', async () => {
  let fails = false;
  await open({
    email: {
      send: async (mail) => {
        if (fails) throw new Error('no connection');
        return mails.send(mail);
      },
    },
  });
  const { id } = await app.auth.users.create({ ...ada, emailVerified: true });
  const browser = app.browser();
  await mailFor(browser);
  await app.auth.revokeAllSessions(id);
  fails = true;
  await ask(browser, ada.email).expect(202);
  await settled(app.auth);
  fails = false;
  const { code } = await mails.mailOf(ada.email, 'sign-in-code', async () => {
    advance(app.auth, 60);
    await app.auth.outbox.deliver();
  });
  await confirm(browser, { code }).expect(200);
});

test('a first proof in one browser leaves no browser without a code', async () => {
  await open();
  await app.auth.users.create(ada);
  const [first, other] = [app.browser(), app.browser()];
  await mailFor(other);
  await confirm(first, { code: (await mailFor(first)).code }).expect(200);
  await confirm(other, { code: (await mailFor(other)).code }).expect(200);
});

test('a code is dead whatever the clock of the process that ended the sessions said', async () => {
  await open();
  const { id } = await app.auth.users.create({ ...ada, emailVerified: true });
  const browser = app.browser();
  const { code } = await mailFor(browser);
  const { clock } = internalsOf(app.auth).core.database;
  const observe = clock.observe.bind(clock);
  // As after a statement whose answer took two seconds.
  clock.observe = (time) => observe(Number(time) - 2000);
  clock.observe(Date.now());
  await app.auth.revokeAllSessions(id);
  clock.observe = observe;
  expectProblem(await confirm(browser, { code }), 401, 'sign_in_expired');
});

test('right codes that are refused use no tries up', async () => {
  let isRefused = true;
  await open({
    hooks: {
      beforeCreateUser: () => {
        if (isRefused) throw new AuthError('sign_up_refused');
      },
    },
  });
  const browser = app.browser();
  const { code } = await mailFor(browser, grace);
  for (let count = 0; count < 6; count++)
    expectProblem(await confirm(browser, { code }), 403, 'sign_up_refused');
  isRefused = false;
  await confirm(browser, { code }).expect(200);
});

test('a refusal reaches the caller in a transaction of the app, which has locked the request', async () => {
  await open();
  const own = connectAsApp(app.database);
  const auth = createAuth({
    database: own,
    secret: SECRET,
    plugins: both,
    email: { send: mails.send },
    baseUrl,
    rateLimit: false,
    logger: memoryLogger(),
    hooks: {
      beforeCreateUser: () => {
        throw new AuthError('sign_up_refused');
      },
    },
  });
  let pendingToken = '';
  const { code } = await mails.mailOf(grace, 'sign-in-code', async () => {
    ({ pendingToken } = await auth.emailSignIn.request({ email: grace }));
  });
  const confirming = own.transaction((transaction) =>
    auth.emailSignIn.confirm({ code, pendingToken, transaction }),
  );
  await expect(confirming).rejects.toMatchObject({ code: 'sign_up_refused' });
  await auth.close();
  await own.close();
});

test('hooks run once for sixteen equal links', async () => {
  let calls = 0;
  await open({ hooks: { beforeCreateUser: () => void calls++ } });
  let pendingToken = '';
  const { token } = await mails.mailOf(grace, 'sign-in-code', async () => {
    ({ pendingToken } = await app.auth.emailSignIn.request({ email: grace }));
  });
  await Promise.allSettled(
    Array.from({ length: 16 }, () => app.auth.emailSignIn.confirm({ token, pendingToken })),
  );
  expect(calls).toBe(1);
});

test('five wrong codes in transactions of the app end the link too', async () => {
  await open();
  await app.auth.users.create({ ...ada, emailVerified: true });
  const own = connectAsApp(app.database);
  const auth = createAuth({
    database: own,
    secret: SECRET,
    plugins: both,
    email: { send: mails.send },
    baseUrl,
    rateLimit: false,
    logger: memoryLogger(),
  });
  let pendingToken = '';
  const { token } = await mails.mailOf(ada.email, 'sign-in-code', async () => {
    ({ pendingToken } = await auth.emailSignIn.request({ email: ada.email }));
  });
  for (let count = 0; count < 5; count++)
    await own
      .transaction((transaction) =>
        auth.emailSignIn.confirm({ code: 'BBBB-BBBB', pendingToken, transaction }),
      )
      .catch(() => undefined);
  await expect(auth.emailSignIn.confirm({ token, pendingToken })).rejects.toMatchObject({
    code: 'sign_in_expired',
  });
  await auth.close();
  await own.close();
});

(dialect === 'sqlite' ? test.skip : test)(
  'of two browsers that confirm a new address in transactions of the app, the second signs in',
  async () => {
    await open();
    const own = connectAsApp(app.database);
    const auth = createAuth({
      database: own,
      secret: SECRET,
      plugins: both,
      email: { send: mails.send },
      baseUrl,
      rateLimit: false,
      logger: memoryLogger(),
    });
    const requests: { code: string; pendingToken: string }[] = [];
    for (let count = 0; count < 2; count++) {
      let pendingToken = '';
      const { code } = await mails.mailOf(grace, 'sign-in-code', async () => {
        ({ pendingToken } = await auth.emailSignIn.request({ email: grace }));
      });
      requests.push({ code, pendingToken });
    }
    const users = await Promise.all(
      requests.map((one) =>
        own.transaction(async (transaction) => {
          const signedIn = await auth.emailSignIn.confirm({ ...one, transaction });
          return 'user' in signedIn ? (signedIn.user as { id: string }).id : '';
        }),
      ),
    );
    expect(new Set(users).size).toBe(1);
    await auth.close();
    await own.close();
  },
);

test('the deletion of an account shows to no browser that has asked for it', async () => {
  await open();
  const { id } = await app.auth.users.create({ ...ada, emailVerified: true });
  const seen = async (browser: Browser, email: string) => {
    const { status, body } = await ask(browser, email);
    const wrong = await confirm(browser, { code: 'BBBB-BBBB' });
    return [status, body.expires_at, wrong.status, wrong.body.code];
  };
  const [one, other] = [app.browser(), app.browser()];
  const before = [await seen(one, ada.email), await seen(other, grace)];
  await settled(app.auth);
  await app.auth.users.delete(id);
  expect([await seen(one, ada.email), await seen(other, grace)]).toEqual(before);
});

test('clicks on a link in other browsers count nothing', async () => {
  await open({ rateLimit: { signIn: { limit: 5, window: 60 } } });
  await app.auth.users.create({ ...ada, emailVerified: true });
  const browser = app.browser();
  const { token } = await mailFor(browser);
  for (let count = 0; count < 7; count++)
    expectProblem(await confirm(app.browser(), { token }), 403, 'other_browser');
  await confirm(browser, { token }).expect(200);
});

test('something that is no address ends the request before', async () => {
  await open();
  const browser = app.browser();
  await ask(browser, ada.email).expect(202);
  await ask(browser, 'ada@').expect(202);
  await settled(app.auth);
  expect(await app.auth.models.EmailedSignIn.count()).toBe(0);
});

test('the mail that there is no account is not used up by one that was left out', async () => {
  await open({ rateLimit: { mail: { limit: 1, window: 60 }, mailAddress: undefined } }, [
    password(),
    emailSignIn(),
  ]);
  const nobody = 'nobody@example.com';
  await app.http.post('/auth/passwords/request-reset').send({ email: nobody }).expect(202);
  await settled(app.auth);
  await ask(app.browser(), nobody).expect(202);
  await settled(app.auth);
  expect(mails.mails).toEqual([]);
  // The window of the limit ends.
  advance(app.auth, 60);
  await ask(app.browser(), nobody).expect(202);
  await settled(app.auth);
  expect(mails.mails.map(({ kind }) => kind)).toEqual(['no-account']);
});

test('without passwords, an old hash keeps nobody from reauthenticating, and no mail leads to a sign-up page', async () => {
  await open();
  await importUsers(app.auth, [{ email: ada.email, emailVerified: true }]);
  await app.auth.users.setPassword((await app.auth.users.find({ email: ada.email }))?.id ?? '', ada.password);
  const auth = createAuth({
    database: app.database.url,
    secret: SECRET,
    plugins: [emailSignIn()],
    email: { send: mails.send },
    baseUrl,
    rateLimit: false,
    logger: memoryLogger(),
  });
  let pendingToken = '';
  const { code } = await mails.mailOf(ada.email, 'sign-in-code', async () => {
    ({ pendingToken } = await auth.emailSignIn.request({ email: ada.email }));
  });
  const { user, session } = await auth.emailSignIn.confirm({ code, pendingToken });
  const owner = { userId: user.id, sessionId: session.id };
  await expect(auth.emailSignIn.requestReauthentication(owner)).resolves.toBeUndefined();
  const { url } = await mails.mailOf('nobody@example.com', 'no-account', () =>
    auth.emailSignIn.request({ email: 'nobody@example.com' }),
  );
  expect(url).toBe('');
  await auth.close();
});

test('a form leads to the page for the code even if it says where to go after the sign-in', async () => {
  await open();
  const form = { email: ada.email, redirect_to: '/home' };
  const { headers } = await app.http.post('/auth/signin/email').type('form').send(form).expect(303);
  expect(headers.location).toBe('/sign-in/email');
});

test('a misspelled option is a mistake', async () => {
  await open();
  const input = { email: ada.email, remeberMe: true };
  await expect(app.auth.emailSignIn.request(input)).rejects.toThrow(/does not accept remeberMe/);
});
