import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import {
  authRouter,
  createAuth,
  currentSession,
  optionalSession,
  requireAdmin,
  requireSession,
  type TaskOptions,
} from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, signedIn, startApp } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';

const open: TaskOptions['open'] = (user) => user.termsAcceptedAt === null;
const tasks = { terms: { open, page: '/terms' }, welcome: { open: () => false, page: '/welcome' } };
const plugins = [
  ...everyPlugin({
    sendsEmails: true,
    admin: { adminEmails: [ada.email] },
    password: { unknownBrowser: 'notify' },
  }),
  fixedProvider(),
] as const;
const fields = { termsAcceptedAt: { type: 'date', input: 'none' } } as const;
const mails = mailbox();

let app: SpecApp<typeof plugins>;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: { baseUrl: 'https://localhost', email: { send: mails.send }, user: { fields }, tasks },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/guarded', requireSession(auth), (_req, res) => void res.json({}));
      express.get('/admin', requireAdmin(auth), (_req, res) => void res.json({}));
      express.get(
        '/optional',
        optionalSession(auth),
        (req, res) => void res.json({ user: req.auth?.user.id ?? null }),
      );
      express.get(
        '/terms',
        requireSession(auth, { tasks: ['terms'] }),
        (req, res) => void res.json(currentSession(req).tasks),
      );
      express.get('/terms/unguarded', requireSession(auth), (_req, res) => void res.json({}));
      express.get('/welcome', requireSession(auth, { tasks: ['welcome'] }), (_req, res) => void res.json({}));
      const onError = (
        _error: unknown,
        _req: unknown,
        res: { status(code: number): { json(body: object): void } },
      ) => res.status(418).json({});
      express.get(
        '/own',
        requireSession(auth, { onError: onError as never }),
        (_req, res) => void res.json({}),
      );
    },
  });
});
afterAll(() => app.stop());

let browser: ReturnType<typeof app.browser>;
let id: string;
beforeEach(async () => {
  await app.auth.models.User.destroy({ where: {} });
  browser = await signedIn(app);
  id = (await browser.get('/auth/me')).body.user.id;
});
const accept = () => app.auth.users.update(id, { fields: { termsAcceptedAt: new Date() } });
const refused = (answer: Parameters<typeof expectProblem>[0]) => {
  expectProblem(answer, 403, 'task_required');
  expect(answer.body.task).toBe('terms');
};

describe('a session with an open task', () => {
  test('opens nothing but the pages whose guards name it, until it is done', async () => {
    await app.auth.users.changeEmail(id, ada.email, { verified: true });
    for (const path of ['/guarded', '/admin', '/welcome', '/auth/devices']) refused(await browser.get(path));
    expect((await browser.get('/terms').expect(200)).body).toEqual(['terms']);
    expect((await browser.get('/auth/me').expect(200)).body.session.tasks).toEqual(['terms']);
    expect((await browser.get('/auth/sessions').expect(200)).body.sessions[0].tasks).toEqual(['terms']);
    await accept();
    for (const path of ['/guarded', '/admin', '/terms', '/welcome', '/auth/devices'])
      await browser.get(path).expect(200);
    expect((await browser.get('/auth/me').expect(200)).body.session.tasks).toEqual([]);
    const other = await app.auth.users.create({ email: 'other@example.com' });
    await app.auth.createSession(other.id);
    const { sessions } = (await browser.get(`/auth/admin/users/${other.id}/sessions`).expect(200)).body;
    expect(sessions).toEqual([expect.objectContaining({ tasks: ['terms'] })]);
  });

  test('is named by the sign-in that begins it', async () => {
    const body = { credential: ada.email, password: ada.password };
    const answer = await app.http.post('/auth/signin/credential').send(body).expect(200);
    expect(answer.body.session.tasks).toEqual(['terms']);
  });

  test('leads a browser to the page of the task, but never in a circle', async () => {
    const navigate = (path: string) => browser.get(path).set('accept', 'text/html,*/*;q=0.8');
    const { headers } = await navigate('/guarded?a=b').expect(303);
    expect(headers).toMatchObject({ location: '/terms', 'cache-control': 'no-store' });
    await navigate('/terms').expect(200);
    // The app's own answer comes first.
    await navigate('/own').expect(418);
    refused(await browser.get('/guarded').set('accept', 'application/json'));
  });

  test('leads a form back with the name of the task', async () => {
    const form = { username: 'ada', error_to: '/profile' };
    const { headers } = await browser.post('/auth/me/update').type('form').send(form).expect(303);
    expect(headers.location).toBe('/profile?error=task_required&task=terms');
  });

  test('is no session for optionalSession, which keeps its cookie', async () => {
    const answer = await browser.get('/optional').expect(200);
    expect(answer.body).toEqual({ user: null });
    expect(answer.headers['set-cookie']).toBeUndefined();
    await accept();
    expect((await browser.get('/optional')).body).toEqual({ user: id });
  });

  test('is refused in code, and makes no API key, by code neither', async () => {
    const { token } = await app.auth.createSession(id);
    const request = { headers: { cookie: `__Host-latchkey=${token}` } };
    await expect(app.auth.getSession(request)).rejects.toMatchObject({
      code: 'task_required',
      task: 'terms',
    });
    const create = () => app.auth.apiKeys.create(id, { name: 'program' });
    await expect(create()).rejects.toMatchObject({ code: 'task_required', task: 'terms' });
    await accept();
    expect((await app.auth.getSession(request)).session?.tasks).toEqual([]);
    const { key } = await create();
    // The app's own tasks hold sessions alone.
    await app.auth.users.update(id, { fields: { termsAcceptedAt: null } });
    await app.http.get('/guarded').set('x-service-api-key', key).expect(200);
    await app.http.get('/optional').set('x-service-api-key', key).expect(200, { user: id });
  });

  test('is none where one would do, but verifies the email', async () => {
    const { token } = await mails.mailOf(ada.email, 'verify-email', () =>
      browser.post('/auth/email-verifications').expect(202),
    );
    await browser.post('/auth/verify-email').send({ token }).expect(200);
    await accept();
    const email = 'new@example.com';
    const change = await mails.mailOf(email, 'verify-new-email', () =>
      browser.post('/auth/email-changes').send({ new_email: email }).expect(202),
    );
    await app.auth.users.update(id, { fields: { termsAcceptedAt: null } });
    expectProblem(
      await browser.post('/auth/email-changes/confirm').send({ token: change.token }),
      401,
      'unauthenticated',
    );
  });
});

/** What a session opens whatever its tasks are: what defends the account, and what shows who the user is. */
const OPEN = `
  GET /me, DELETE /me, POST /me/delete, GET /sign-in-methods, GET /two-factor, GET /passkeys,
  POST /signout, POST /revoke-sessions, GET /sessions, DELETE /sessions/:id,
  POST /reauthenticate, POST /reauthenticate/options, POST /reauthenticate/email, GET /oauth/:provider/reauthenticate,
  POST /email-verifications
`
  .split(',')
  .map((name) => name.trim());

test('every route that needs a session is refused with an open task, but for those that are listed', async () => {
  const routes = internalsOf(app.auth)
    .routes()
    .filter(({ access }) => access !== 'public');
  expect(routes.length).toBeGreaterThan(40);
  await app.auth.users.changeEmail(id, ada.email, { verified: true });
  const open: string[] = [];
  for (const { method, path } of routes) {
    const { token } = await app.auth.createSession(id);
    const url = `/auth${path.replace(':provider', 'fixed').replace(/:\w+/g, id)}`;
    const answer = await app.http[method](url).set('cookie', `__Host-latchkey=${token}`);
    if (answer.body.code !== 'task_required') open.push(`${method.toUpperCase()} ${path}`);
    // The account is deleted by one of them.
    if (path.startsWith('/me') && method !== 'get') {
      id = (await app.auth.users.ensure({ email: ada.email, emailVerified: true })).user.id;
    }
  }
  expect(open.sort()).toEqual(OPEN.sort());
});

describe('a task', () => {
  const config = { database: 'sqlite::memory:', secret: SECRET, plugins: [password()] };
  const page = '/terms';
  test.each<[string, object, RegExp]>([
    [
      'of the name of one of ours',
      { enroll_second_factor: { open, page } },
      /tasks\.enroll_second_factor is a task of latchkey/,
    ],
    ['of a wrong name', { 'Terms of use': { open, page } }, /tasks.*must be a name such as onboarding/],
    ['without a function', { terms: { page } }, /tasks\.terms\.open must be a function/],
    ['without a page', { terms: { open } }, /tasks\.terms\.page must be a path/],
    [
      'with a page elsewhere',
      { terms: { open, page: 'https://evil.example' } },
      /tasks\.terms\.page must be a path/,
    ],
    [
      'with a page that no header can name',
      { terms: { open, page: '/利用規約' } },
      /tasks\.terms\.page must be a path/,
    ],
  ])('%s is a mistake in the config', (_what, wrong, message) => {
    expect(() => createAuth({ ...config, tasks: wrong as never })).toThrow(message);
  });

  test('that does not exist is a mistake in a guard', () => {
    expect(() => requireSession(app.auth, { tasks: ['typo'] })).toThrow(
      /tasks must be a list of tasks.*choose_password, terms, welcome/,
    );
    expect(() => requireSession(createAuth({ ...config, plugins: [] }), { tasks: ['terms'] })).toThrow(
      /there are none/,
    );
  });

  test.each<[string, () => unknown]>([
    [
      'fails',
      () => {
        throw new Error('the app fails');
      },
    ],
    ['returns a promise', async () => false],
    ['returns nothing', () => undefined],
    ['rejects', () => Promise.reject(new Error('the app fails'))],
  ])('whose function %s counts as open, and is logged', async (_what, wrong) => {
    const own = await startApp({
      plugins: [password()],
      config: { tasks: { terms: { open: wrong as never, page } } },
      mount(express, auth) {
        express.use('/auth', authRouter(auth));
        express.get('/guarded', requireSession(auth), (_req, res) => void res.json({}));
      },
    });
    refused(await (await signedIn(own)).get('/guarded'));
    expect(own.log.join()).toMatch(/tasks\.terms\.open/);
    own.log.length = 0;
    await own.stop();
  });
});
