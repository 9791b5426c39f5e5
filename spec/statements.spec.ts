import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { authRouter, optionalSession, requireSession } from '../lib/index.js';
import { ada, password, type SpecApp, startApp } from './support/app.js';
import { loggingSequelize } from './support/statements.js';

// What each request costs the database, and what of it stands in the app's log, all of whose logging is on.
let app: SpecApp<readonly [ReturnType<typeof password>]>;
let statements: string[] = [];
const crowd: (() => void)[] = [];
beforeAll(async () => {
  app = await startApp({
    plugins: [password({ username: true })],
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      return { database: own.sequelize };
    },
    mount(express, auth) {
      // Lets requests through once so many are there, as they come on a busy server.
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
/** Without those that Sequelize sends for a new connection. */
const sent = () =>
  statements.filter(
    (line) =>
      /^Executed/.test(line) &&
      /\b(SELECT|INSERT|UPDATE|DELETE)\b/.test(line) &&
      !/VERSION\(\)|SHOW SERVER_VERSION/i.test(line),
  );

describe('statements', () => {
  let cookie: string;
  beforeEach(async () => {
    cookie = await signIn();
    statements.length = 0;
  });

  test.each(['/guarded', '/optional', '/auth/me'])('%s: one with a session', async (path) => {
    await app.http.get(path).set('cookie', cookie).expect(200);
    expect(sent()).toHaveLength(1);
  });

  test.each(['', 'latchkey=junk', `latchkey=lks_${'A'.repeat(48)}`, 'latchkey=a; latchkey=b'])(
    'none for the cookie %j',
    async (junk) => {
      await app.http.get('/guarded').set('cookie', junk).expect(401);
      expect(sent()).toEqual([]);
    },
  );

  test('fifty requests at once share theirs', async () => {
    const cookies = await Promise.all(Array.from({ length: 25 }, signIn));
    statements.length = 0;
    await Promise.all(
      [...cookies, ...cookies].map((one) => app.http.get('/crowd').set('cookie', one).expect(200)),
    );
    expect(sent()).toHaveLength(1);
  });

  test('and one more where last activity is due, however many ask', async () => {
    await app.auth.models.Session.update(
      { lastActiveAt: new Date(Date.now() - 3_600_000) },
      { where: {}, logging: false },
    );
    await Promise.all(
      Array.from({ length: 50 }, () => app.http.get('/crowd').set('cookie', cookie).expect(200)),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(sent().map((line) => /SELECT|UPDATE/.exec(line)?.[0])).toEqual(['SELECT', 'UPDATE']);
  });

  test('two for a sign-in, four where it ends another', async () => {
    const body = { credential: ada.email, password: ada.password };
    await app.http.post('/auth/signin/credential').send(body).expect(200);
    expect(sent()).toHaveLength(2);
    statements.length = 0;
    await app.http.post('/auth/signin/credential').set('cookie', cookie).send(body).expect(200);
    expect(sent()).toHaveLength(4);
  });

  test('one for a failed sign-in or a sign-up', async () => {
    await app.http
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: 'wrong' })
      .expect(401);
    expect(sent()).toHaveLength(1);
    await app.http
      .post('/auth/signup/credential')
      .send({ ...ada, email: 'b@example.com' })
      .expect(201);
    // The insert is not in the log: it holds the password's hash.
    expect(sent()).toHaveLength(1);
  });

  test('two for the list and for a sign-out', async () => {
    await app.http.get('/auth/sessions').set('cookie', cookie).expect(200);
    expect(sent()).toHaveLength(2);
    statements.length = 0;
    await app.http.post('/auth/signout').set('cookie', cookie).expect(204);
    expect(sent()).toHaveLength(2);
  });
});

test('no password, token or password hash in any log', async () => {
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
