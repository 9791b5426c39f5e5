import { afterEach, describe, expect, test } from '@jest/globals';
import { type AuthConfig, AuthError } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { importUsers } from '../support/import-users.js';
import { startMailApp } from '../support/mail-app.js';
import { expectProblem } from '../support/problem.js';

type Hooks = NonNullable<AuthConfig['hooks']>;
type App = SpecApp<readonly [ReturnType<typeof password>]>;

let app: App | undefined;
afterEach(async () => {
  await app?.stop();
  app = undefined;
});

const fields = {
  name: { type: 'string', maxLength: 10, required: true },
  plan: { type: 'string', default: 'free', input: 'none' },
} as const;

async function start(
  config: Partial<AuthConfig>,
  options: Parameters<typeof password>[0] = {},
): Promise<App> {
  app = (await startApp({ plugins: [password(options)], config: config as never })) as App;
  return app;
}

const emails = async ({ database }: App) =>
  (await rows<{ email: string }>(database, 'SELECT email FROM users ORDER BY email')).map(
    ({ email }) => email,
  );

describe("signUp: 'closed'", () => {
  test('refuses every sign-up alike, and no account made by code', async () => {
    const closed = await start({ signUp: 'closed' }, { username: true });
    expect(await closed.auth.credential.signUp(ada)).toMatchObject({ user: { email: ada.email } });
    const signUp = (body: object) => closed.http.post('/auth/signup/credential').send(body);
    const bodies = await Promise.all(
      [ada, { ...ada, email: 'new@example.com' }, { ...ada, password: 'short' }].map(signUp),
    );
    for (const answer of bodies) expectProblem(answer, 403, 'sign_up_refused');
    expect(new Set(bodies.map(({ text }) => text)).size).toBe(1);
    await closed.auth.users.create({ email: 'code@example.com' });
    await importUsers(closed.auth, [{ email: 'import@example.com' }]);
    expect(await emails(closed)).toEqual([ada.email, 'code@example.com', 'import@example.com']);
    await closed.http
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
    await closed.http.post('/auth/usernames/check').send({ username: 'free' }).expect(200);
  });

  test('refuses before anything is hashed or counted', async () => {
    const closed = await start(
      { signUp: 'closed', rateLimit: { signUp: { limit: 1, window: 60 } } },
      { bcryptCost: 12 },
    );
    const before = process.cpuUsage();
    for (let index = 0; index < 20; index++)
      expectProblem(await closed.http.post('/auth/signup/credential').send(ada), 403, 'sign_up_refused');
    // Twenty hashes of this cost would take several seconds of the CPU.
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(2);
  });

  test('is in the OpenAPI document', async () => {
    const closed = await start({ signUp: 'closed' });
    expect(JSON.stringify(closed.auth.openapi().paths['/signup/credential'])).toContain('sign_up_refused');
    await closed.stop();
    const open = await start({});
    expect(JSON.stringify(open.auth.openapi())).not.toContain('sign_up_refused');
  });
});

describe('beforeCreateUser', () => {
  const refuse: Hooks = {
    beforeCreateUser({ email }) {
      if (email?.startsWith('eve'))
        throw new AuthError('sign_up_refused', { detail: 'Ask for an invitation.' });
    },
  };

  test('refuses with a detail, and nothing is made', async () => {
    const refusing = await start({ hooks: refuse });
    const answer = await refusing.http
      .post('/auth/signup/credential')
      .send({ ...ada, email: 'eve@example.com' });
    expect(expectProblem(answer, 403, 'sign_up_refused').detail).toBe('Ask for an invitation.');
    await refusing.http.post('/auth/signup/credential').send(ada).expect(201);
    expect(await emails(refusing)).toEqual([ada.email]);
  });

  test('is told who signs up and how', async () => {
    const told: unknown[] = [];
    const telling = await start(
      { user: { fields }, hooks: { beforeCreateUser: (user) => void told.push(user) } },
      { username: true },
    );
    await telling.http
      .post('/auth/signup/credential')
      .send({ ...ada, email: 'ADA@example.com', username: 'Ada', name: 'Ada' })
      .expect(201);
    await telling.auth.credential.signUp({
      ...ada,
      email: 'b@example.com',
      fields: { name: 'B', plan: 'pro' },
    });
    await importUsers(telling.auth, [{ email: 'c@example.com', fields: { name: 'C' } }]);
    const free = { name: 'Ada', plan: 'free' };
    const noName = { username: null, usernameDisplay: null };
    expect(told).toEqual([
      { email: ada.email, username: 'ada', usernameDisplay: 'Ada', fields: free, via: 'credential' },
      { email: 'b@example.com', ...noName, fields: { name: 'B', plan: 'pro' }, via: 'code' },
      { email: 'c@example.com', ...noName, fields: { name: 'C', plan: 'free' }, via: 'import' },
    ]);
  });

  test('does not run for a sign-up that is not valid, and its fields are a copy', async () => {
    let runs = 0;
    const running = await start({
      user: { fields },
      hooks: {
        beforeCreateUser(user) {
          runs++;
          Object.assign(user.fields, { plan: 'pro' });
        },
      },
    });
    const signUp = (body: object) => running.http.post('/auth/signup/credential').send({ ...ada, ...body });
    const invalid = expectProblem(await signUp({ name: 'Ada', password: 'short' }), 422, 'validation_failed');
    expect(invalid.errors).toMatchObject([{ pointer: '/password' }]);
    expect(runs).toBe(0);
    expect((await signUp({ name: 'Ada' }).expect(201)).body.user.plan).toBe('free');
    expect(runs).toBe(1);
  });

  test('what else it throws is an error of the app, and nothing is made', async () => {
    const throwing = await start({
      hooks: {
        afterCreateUser() {
          throw new Error('a bug of the app');
        },
      },
    });
    await throwing.http.post('/auth/signup/credential').send(ada).expect(500);
    await expect(throwing.auth.credential.signUp(ada)).rejects.toThrow('a bug of the app');
    expect(await emails(throwing)).toEqual([]);
  });

  test.each([undefined, null, '', 'route', 'router'])(
    'that is no Error, such as %p, is one too',
    async (thrown) => {
      const throwing = await start({
        hooks: {
          beforeCreateUser() {
            throw thrown;
          },
        },
      });
      await throwing.http.post('/auth/signup/credential').send(ada).expect(500);
      await expect(throwing.auth.credential.signUp(ada)).rejects.toBe(thrown);
      expect(await emails(throwing)).toEqual([]);
    },
  );

  test('with concealExistingEmails, a refusal is the same for an email that has an account', async () => {
    let refuses = false;
    const conceals = await startMailApp({
      plugins: [password({ concealExistingEmails: true })],
      config: {
        hooks: {
          beforeCreateUser() {
            if (refuses) throw new AuthError('sign_up_refused', { detail: 'Not now.' });
          },
        },
      },
    });
    app = conceals as unknown as App;
    const signUp = (email: string) => conceals.http.post('/auth/signup/credential').send({ ...ada, email });
    await conceals.mailOf(() => signUp(ada.email).expect(202));
    refuses = true;
    const answers = [await signUp(ada.email), await signUp('new@example.com')];
    for (const answer of answers) expectProblem(answer, 403, 'sign_up_refused');
    expect(answers[0]?.text).toBe(answers[1]?.text);
    expect(await emails(app)).toEqual([ada.email]);
  });
});
