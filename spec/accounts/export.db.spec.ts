import { afterEach, describe, expect, test } from '@jest/globals';
import type { ErrorRequestHandler } from 'express';
import { internalsOf } from '../../lib/auth.js';
import type { Hooks } from '../../lib/config/hooks.js';
import { AuthError, authRouter, type RateLimitOptions } from '../../lib/index.js';
import type { LimitStore } from '../../lib/limits/store.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';
import { ago, HOUR } from '../support/sessions.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
let mail: ReturnType<typeof mailbox>;
/** What the app's error handler got. */
let failures: unknown[];
afterEach(() => app.stop());

const onError: ErrorRequestHandler = (error, _req, res, _next) => {
  failures.push(error);
  res.status(500).end();
};

async function start({
  hooks = {},
  rateLimit = {},
}: {
  hooks?: Hooks;
  rateLimit?: RateLimitOptions | false;
} = {}) {
  mail = mailbox();
  failures = [];
  app = await startApp({
    plugins: [password()],
    config: {
      baseUrl: 'http://app.example.com',
      email: { send: mail.send },
      user: { fields: { nickname: { type: 'string' } } },
      hooks,
      rateLimit,
    },
    mount: (server, auth) => void server.use('/auth', authRouter(auth)).use(onError),
  });
  const browser = await signedIn(app);
  const { id } = (await browser.get('/auth/me').expect(200)).body.user as { id: string };
  return { browser, id };
}

/** Lets an hour pass since the sign-in. */
const age = () => rows(app.database, 'UPDATE sessions SET authenticated_at = :at', { at: ago(HOUR) });

describe('POST /me/export', () => {
  test('returns the data as a file, and sends a notice', async () => {
    const { browser, id } = await start();
    await browser.patch('/auth/me').send({ nickname: 'Countess' }).expect(200);
    const events: unknown[] = [];
    app.auth.on('user.exported', (event) => void events.push(event));
    let answer = await browser.get('/auth/me');
    const notice = await mail.mailOf(ada.email, 'data-exported', async () => {
      answer = await browser.post('/auth/me/export').expect(200);
    });
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': 'attachment; filename="account-data.json"',
      'cache-control': 'no-store',
    });
    const name = { schema: { const: answer.headers['content-disposition'] } };
    expect(app.auth.openapi().paths['/me/export']?.post).toMatchObject({
      responses: { 200: { headers: { 'Content-Disposition': name } } },
    });
    expect(answer.text.split('\n').length).toBeGreaterThan(20);
    expect(answer.body).toMatchObject({
      exported_at: expect.stringMatching(/Z$/),
      user: { id, email: ada.email, nickname: 'Countess' },
      sessions: [{ user_id: id, aal: 1, amr: ['pwd'] }],
    });
    expect(notice.subject).toMatch(/^The data of your account was downloaded/);
    expect(notice.token).toMatch(/^lku_/);
    expect(events).toEqual([expect.objectContaining({ userId: id })]);
    const { changes } = (await browser.get('/auth/account-changes').expect(200)).body;
    expect(changes).toMatchObject([{ kind: 'data-exported', undoable: true }]);
  });

  test('requires a recent sign-in or the password', async () => {
    const { browser } = await start();
    await age();
    expectProblem(await browser.post('/auth/me/export'), 403, 'reauthentication_required');
    expectProblem(
      await browser.post('/auth/me/export').send({ password: 'wrong' }),
      401,
      'invalid_credentials',
    );
    await browser.post('/auth/me/export').send({ password: ada.password }).expect(200);
    expectProblem(await app.http.post('/auth/me/export'), 401, 'unauthenticated');
  });

  test('is allowed once a day for an account, also of requests at the same time', async () => {
    const { browser, id } = await start();
    const answers = await Promise.all([1, 2, 3].map(() => browser.post('/auth/me/export')));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).toHaveLength(2);
    for (const one of refused) {
      expectProblem(one, 429, 'rate_limited');
      expect(Number(one.headers['retry-after'])).toBeGreaterThan(86_000);
    }
    // Neither another account nor the app's code is limited by it.
    const other = await signedIn(app, { email: 'grace@example.com', password: ada.password });
    await other.post('/auth/me/export').expect(200);
    expect((await app.auth.exportUser(id)).user).toMatchObject({ id });
  });

  test('follows the limit of the config', async () => {
    const { browser } = await start({ rateLimit: { dataExport: { limit: 2, window: 60 } } });
    await browser.post('/auth/me/export').expect(200);
    await browser.post('/auth/me/export').expect(200);
    const refused = await browser.post('/auth/me/export');
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers['ratelimit-policy']).toBe('"dataExport";q=2;w=60');
  });

  test('answers a form with the file, and leads to the page of the form if it is refused', async () => {
    const { browser } = await start();
    await age();
    const send = (typed: string) =>
      browser
        .post('/auth/me/export')
        .set('origin', 'http://app.example.com')
        .type('form')
        .send({ password: typed, error_to: '/data', redirect_to: '/elsewhere' });
    const refused = await send('wrong').expect(303);
    expect(refused.headers.location).toBe('/data?error=invalid_credentials');
    const { headers, body } = await send(ada.password).expect(200);
    expect(headers['content-disposition']).toBe('attachment; filename="account-data.json"');
    expect(body.user.email).toBe(ada.email);
  });

  test('refuses a form of another site', async () => {
    const { browser } = await start();
    const sent = browser.post('/auth/me/export').set('origin', 'http://evil.example').type('form').send({});
    expectProblem(await sent, 403, 'origin_not_allowed');
  });
});

describe('hooks.exportUser', () => {
  test('adds the data of the app', async () => {
    const asked: unknown[] = [];
    const { browser, id } = await start({
      hooks: {
        exportUser(user, context) {
          asked.push([user.id, context]);
          return { posts: [{ title: 'Notes', at: new Date(0) }] };
        },
      },
    });
    const { body } = await browser.post('/auth/me/export').expect(200);
    expect(body.app).toEqual({ posts: [{ title: 'Notes', at: '1970-01-01T00:00:00.000Z' }] });
    expect(asked).toEqual([[id, { transaction: undefined }]]);
    expect((await app.auth.exportUser(id)).app).toEqual(body.app);
  });

  test.each([
    ['an AuthError', () => Promise.reject(new AuthError('unavailable')), 503, null],
    ['another error', () => Promise.reject(new Error('the posts cannot be read')), 500, /^the posts/],
    ['no value', () => undefined, 500, /^latchkey: hooks.exportUser must return/],
    [
      'a value that JSON cannot represent',
      () => ({ size: 1n }),
      500,
      /^latchkey: hooks.exportUser must return/,
    ],
  ])(
    'fails the export with %s, which does not count',
    async (_what, exportUser: () => unknown, status, message) => {
      let isBroken = true;
      const { browser } = await start({ hooks: { exportUser: () => (isBroken ? exportUser() : null) } });
      await browser.post('/auth/me/export').expect(status);
      expect(failures).toEqual(
        message ? [expect.objectContaining({ message: expect.stringMatching(message) })] : [],
      );
      expect(mail.mails).toEqual([]);
      expect((await browser.get('/auth/account-changes')).body.changes).toEqual([]);
      isBroken = false;
      expect((await browser.post('/auth/me/export').expect(200)).body.app).toBeNull();
      expectProblem(await browser.post('/auth/me/export'), 429, 'rate_limited');
    },
  );
});

describe('an export that fails does not count', () => {
  /** An export whose hook runs `first` and throws the first time. */
  async function startFailing(first: () => void) {
    let isBroken = true;
    return start({
      hooks: {
        exportUser() {
          if (!isBroken) return null;
          isBroken = false;
          first();
          throw new Error('the posts cannot be read');
        },
      },
    });
  }

  test('after the time of the request for the database is used up', async () => {
    const { browser } = await startFailing(() => {
      // As if a statement had just run for all of it.
      Object.assign(internalsOf(app.auth).core.context.budget as object, { leftMs: 0 });
    });
    await browser.post('/auth/me/export').expect(500);
    await browser.post('/auth/me/export').expect(200);
  });

  test('if the counter cannot be reached for a moment', async () => {
    const { browser } = await startFailing(() => {
      const store = internalsOf(app.auth).core.limits as LimitStore;
      const { takeBack } = store;
      store.takeBack = async () => {
        store.takeBack = takeBack;
        throw new AuthError('unavailable');
      };
    });
    await browser.post('/auth/me/export').expect(500);
    await browser.post('/auth/me/export').expect(200);
  });
});

describe('auth.exportUser', () => {
  test('emits an event and sends no notice', async () => {
    const { id } = await start();
    const events: unknown[] = [];
    app.auth.on('user.exported', (event) => void events.push(event));
    const data = await app.auth.exportUser(id);
    expect(data.sessions).toHaveLength(1);
    expect(data).not.toHaveProperty('app');
    expect(events).toEqual([{ userId: id, ip: null, userAgent: null }]);
    expect(mail.mails).toEqual([]);
  });

  test('rejects unknown accounts and options', async () => {
    const { id } = await start();
    await expect(app.auth.exportUser('nobody')).rejects.toMatchObject({ code: 'user_not_found' });
    await expect(app.auth.exportUser(id, { transation: null } as never)).rejects.toThrow(/transaction/);
  });

  test('reads all rows of an account that has many', async () => {
    const { id } = await start();
    const rowsOf = Array.from({ length: 1203 }, (_, index) => ({
      id: `01900000-0000-7000-8000-${String(index).padStart(12, '0')}`,
      userId: id,
      kind: 'password-changed',
      createdAt: new Date(),
      expiresAt: new Date(),
    }));
    await app.auth.models.AccountChange.bulkCreate(rowsOf);
    const { account_changes } = await app.auth.exportUser(id);
    expect(account_changes.map(({ id }) => id)).toEqual(rowsOf.map(({ id }) => id));
  });
});

test('account.export: false disables the route', async () => {
  app = await startApp({ plugins: [password()], config: { account: { export: false } } });
  const browser = await signedIn(app);
  await browser.post('/auth/me/export').expect(404);
});
