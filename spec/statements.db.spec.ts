import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  authRouter,
  emailSignIn,
  optionalSession,
  passkeys,
  requireSession,
  twoFactor,
} from '../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, startApp } from './support/app.js';
import { dialect } from './support/database.js';
import { mailbox } from './support/mailbox.js';
import { settled } from './support/sessions.js';
import { loggingSequelize } from './support/statements.js';
import { codeOf, enroll, firstStep, forgetSteps, secondStep } from './support/two-factor.js';

// The number of statements per request, and what appears in the app's log with all logging turned on.
let app: SpecApp<readonly [ReturnType<typeof password>]>;
let statements: string[] = [];
const crowd: (() => void)[] = [];
beforeAll(async () => {
  app = await startApp({
    plugins: [password({ username: true })],
    tables: {},
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      return { database: own.sequelize };
    },
    mount(express, auth) {
      // Lets requests through only when 50 have arrived, to simulate a busy server.
      express.use('/crowd', (_req, _res, next) => {
        crowd.push(next);
        if (crowd.length === 50) for (const go of crowd.splice(0)) go();
      });
      express.get('/crowd', requireSession(auth), (_req, res) => void res.json({}));
      express.use('/auth', authRouter(auth));
      express.get('/guarded', requireSession(auth), (_req, res) => void res.json({}));
      express.get('/optional', optionalSession(auth), (_req, res) => void res.json({}));
    },
  });
  await app.auth.credential.signUp({ ...ada, username: 'ada' });
});
afterAll(() => app.stop());

const signIn = async () => {
  const { token } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
  return `latchkey=${token}`;
};
/** Omits the statements that Sequelize sends for a new connection. */
const sent = (lines = statements) =>
  lines.filter(
    (line) =>
      /^Executed/.test(line) &&
      /\b(SELECT|INSERT|UPDATE|DELETE)\b/.test(line) &&
      !/VERSION\(\)|SHOW SERVER_VERSION/i.test(line),
  );

describe('the number of statements', () => {
  let cookie: string;
  beforeEach(async () => {
    cookie = await signIn();
    statements.length = 0;
  });

  test.each(['/guarded', '/optional', '/auth/me'])('is one for %s with a session', async (path) => {
    await app.http.get(path).set('cookie', cookie).expect(200);
    expect(sent()).toHaveLength(1);
  });

  test.each(['', 'latchkey=junk', `latchkey=lks_${'A'.repeat(48)}`, 'latchkey=a; latchkey=b'])(
    'is zero for the cookie %j',
    async (junk) => {
      await app.http.get('/guarded').set('cookie', junk).expect(401);
      expect(sent()).toEqual([]);
    },
  );

  test('is zero for junk in front of optionalSession, and two for a session that has ended', async () => {
    await app.http.get('/optional').set('cookie', 'latchkey=junk').expect(200);
    expect(sent()).toHaveLength(0);
    await app.auth.revokeAllSessions((await app.auth.getSession({ headers: { cookie } })).user.id);
    statements.length = 0;
    await app.http.get('/optional').set('cookie', cookie).expect(200);
    expect(sent()).toHaveLength(2);
  });

  test('is two for fifty concurrent requests together', async () => {
    const cookies = await Promise.all(Array.from({ length: 25 }, signIn));
    statements.length = 0;
    await Promise.all(
      [...cookies, ...cookies].map((one) => app.http.get('/crowd').set('cookie', one).expect(200)),
    );
    expect(sent()).toHaveLength(2);
  });

  test('is one more if the last activity is updated, even for concurrent requests', async () => {
    await app.auth.models.Session.update(
      { lastActiveAt: new Date(Date.now() - 3_600_000) },
      { where: {}, logging: false },
    );
    await Promise.all(
      Array.from({ length: 50 }, () => app.http.get('/crowd').set('cookie', cookie).expect(200)),
    );
    await settled(app.auth);
    expect(sent().map((line) => /SELECT|UPDATE/.exec(line)?.[0])).toEqual(['SELECT', 'UPDATE']);
  });

  test('is four for a sign-in in a new browser, three in a known one, and two more if it ends another session', async () => {
    const signInWith = async (cookies: string) => {
      statements.length = 0;
      const body = { credential: ada.email, password: ada.password };
      const answer = await app.http.post('/auth/signin/credential').set('cookie', cookies).send(body);
      return { sent: sent().length, device: sessionCookie(answer, 'latchkey-device')?.value };
    };
    const { sent: first, device } = await signInWith('');
    // PostgreSQL takes a statement of its own to lock the user.
    expect(first).toBe(dialect === 'postgres' ? 5 : 4);
    expect(await signInWith(`latchkey-device=${device}`)).toEqual({ sent: 3, device });
    expect(await signInWith(`latchkey-device=${device}; ${cookie}`)).toEqual({ sent: 5, device });
  });

  test('is one for a failed sign-in or a sign-up', async () => {
    await app.http
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: 'wrong' })
      .expect(401);
    expect(sent()).toHaveLength(1);
    await app.http
      .post('/auth/signup/credential')
      .send({ ...ada, email: 'b@example.com' })
      .expect(201);
    // The insert is not logged, because it contains the password hash.
    expect(sent()).toHaveLength(1);
  });

  test('is two for the session list and for a sign-out', async () => {
    await app.http.get('/auth/sessions').set('cookie', cookie).expect(200);
    expect(sent()).toHaveLength(2);
    statements.length = 0;
    await app.http.post('/auth/signout').set('cookie', cookie).expect(204);
    expect(sent()).toHaveLength(2);
  });
});

describe('with second factors, notices and emailed sign-ins, the number of statements', () => {
  const plugins = [password(), twoFactor(), passkeys(), emailSignIn({ signUp: true })] as const;
  const mail = mailbox();
  let guarded: SpecApp<typeof plugins>;
  let lines: string[] = [];
  beforeAll(async () => {
    guarded = await startApp({
      plugins,
      tables: {},
      async config(database) {
        const own = loggingSequelize(database);
        lines = own.statements;
        return { database: own.sequelize, baseUrl: 'http://app.example.com', email: { send: mail.send } };
      },
      mount(express, auth) {
        express.use('/auth', authRouter(auth));
        express.get('/guarded', requireSession(auth), (_req, res) => void res.json({}));
      },
    });
  });
  afterAll(() => guarded.stop());

  /** What a request sends until it is answered. */
  const sentBy = async (work: PromiseLike<{ status: number }>) => {
    lines.length = 0;
    expect((await work).status).toBe(200);
    return sent(lines).length;
  };

  test('is one for a guarded request, and at most five for each step of a sign-in in a known browser', async () => {
    const person = { email: 'two@example.com', password: ada.password };
    await guarded.auth.users.create({ ...person, emailVerified: true });
    const browser = guarded.browser();
    await firstStep(browser, person).expect(200);
    const { secret } = await enroll(browser);
    await forgetSteps(guarded);
    expect(await sentBy(browser.get('/guarded'))).toBe(1);
    await browser.post('/auth/signout').expect(204);
    expect(await sentBy(firstStep(browser, person))).toBeLessThanOrEqual(5);
    const code = codeOf(secret);
    expect(await sentBy(secondStep(browser, { method: 'totp', code }))).toBeLessThanOrEqual(5);
    expect(await sentBy(browser.get('/guarded'))).toBe(1);
  });

  test('is four for a sign-in without its device cookie, and three with it', async () => {
    await guarded.auth.credential.signUp(ada);
    // The first session of an account is told to nobody.
    await firstStep(guarded.browser()).expect(200);
    const browser = guarded.browser();
    // PostgreSQL takes a statement of its own to lock the user.
    expect(await sentBy(firstStep(browser))).toBe(dialect === 'postgres' ? 5 : 4);
    await browser.post('/auth/signout').expect(204);
    expect(await sentBy(firstStep(browser))).toBe(3);
  });

  test('is at most three for asking for a code by email, and at most five for a sign-in with it', async () => {
    const email = 'mailed@example.com';
    await guarded.auth.users.create({ email, emailVerified: true });
    const browser = guarded.browser();
    const ask = () => browser.post('/auth/signin/email').send({ email });
    const confirm = async () => {
      const { code } = await mail.mailOf(email, 'sign-in-code', ask);
      return browser.post('/auth/signin/email/confirm').send({ code });
    };
    expect((await confirm()).status).toBe(200);
    await browser.post('/auth/signout').expect(204);
    // The first one, the same again, and one that replaces another address.
    for (const asked of [email, email, 'other@example.com']) {
      await settled(guarded.auth);
      lines.length = 0;
      await browser.post('/auth/signin/email').send({ email: asked }).expect(202);
      // The email is sent after the commit. Its entry in the outbox is not logged.
      const first = lines.findIndex((line) => line.includes('emailed_sign_ins'));
      const end = lines.findIndex((line, index) => index > first && line.includes('COMMIT'));
      expect(end).toBeGreaterThan(first);
      expect(sent(lines.slice(0, end)).length + 1).toBeLessThanOrEqual(3);
    }
    const { code } = await mail.mailOf(email, 'sign-in-code', ask);
    await settled(guarded.auth);
    expect(await sentBy(browser.post('/auth/signin/email/confirm').send({ code }))).toBeLessThanOrEqual(5);
    expect(await sentBy(browser.get('/guarded'))).toBe(1);
  });
});

test('no log contains a password, a token or a password hash', async () => {
  statements.length = 0;
  const person = { email: 'log@example.com', password: 'a very secret passphrase', username: 'logged' };
  const browser = app.browser();
  await browser.post('/auth/signup/credential').send(person).expect(201);
  await browser.post('/auth/signup/credential').send(person).expect(409);
  await browser
    .post('/auth/signin/credential')
    .send({ credential: 'logged', password: 'a wrong passphrase' })
    .expect(401);
  const answer = await browser
    .post('/auth/signin/credential')
    .send({ credential: 'logged', password: person.password })
    .expect(200);
  await browser.get('/auth/sessions').expect(200);
  await app.http.get('/guarded').set('cookie', 'latchkey=lks_junk').expect(401);
  await app.auth.models.Session.update(
    { lastActiveAt: new Date(0) },
    { where: { userId: answer.body.user.id } },
  );
  await app.auth.prune();
  await browser.post('/auth/revoke-sessions');
  const [cookie = ''] = answer.headers['set-cookie'] as unknown as string[];
  const token = /lks_([\w-]+)/.exec(cookie)?.[1] as string;
  const log = [...statements, ...app.log].join('\n');
  expect(log).toContain("'logged'");
  expect(log).toContain(answer.body.session.id);
  for (const secret of [person.password, 'a wrong passphrase', token, '$2b$', 'bcrypt-hmac', 'lks_'])
    expect(log).not.toContain(secret);
});
