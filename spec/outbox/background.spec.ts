// Work that continues after the response, on platforms that stop a process between requests.
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type ApiKeysApi, admin, apiKeys, auditLog, authRouter, oauth } from '../../lib/index.js';
import { ada, memoryLogger, password, signedIn } from '../support/app.js';
import { rows } from '../support/database.js';
import { type FakeIntervals, fakeIntervals } from '../support/intervals.js';
import { startLyingProvider } from '../support/lying-provider.js';
import { linkWith, type OAuthApp, oidcPlugin, startOAuthApp } from '../support/oauth-app.js';
import { startReceiver } from '../support/receiver.js';
import { settled } from '../support/sessions.js';
import { loggingSequelize } from '../support/statements.js';
import { withoutWaiting } from '../support/timers.js';

// Platforms recognize the request in the same way.
const request = new AsyncLocalStorage<object>();
const announced: { readonly isInRequest: boolean; readonly work: Promise<void> }[] = [];
const announce = (work: Promise<void>) =>
  void announced.push({ isInRequest: request.getStore() !== undefined, work });
let waitUntil: (work: Promise<void>) => unknown = announce;

let provider: Awaited<ReturnType<typeof startLyingProvider>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let intervals: FakeIntervals;
let statements: string[];
let heard = 0;
let send: () => unknown = () => undefined;
let app: OAuthApp;
let logger: ReturnType<typeof memoryLogger>;

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

beforeAll(async () => {
  intervals = fakeIntervals();
  provider = await startLyingProvider();
  provider.lies = { metadata: { revocation_endpoint: `${provider.issuer}/revoke` } };
  receiver = await startReceiver();
  logger = memoryLogger();
  const administrators = { adminEmails: ['root@example.com'] };
  const plugins = [password(), admin(administrators), auditLog(), apiKeys(), oauth(), oidcPlugin(provider)];
  app = await startOAuthApp({
    providers: () => [],
    config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      return {
        database: own.sequelize,
        plugins: plugins as never,
        logger,
        rateLimit: { signUp: { limit: 1, window: 3600 } },
        email: { send: () => send() },
        webhooks: [{ url: `${receiver.origin}/hooks`, secret, events: ['session.created'] }],
        outbox: { interval: false, waitUntil: (work) => waitUntil(work) },
      };
    },
    mount: (express, auth) =>
      void express
        .use((_req, _res, next) => request.run({}, next))
        .use('/auth', authRouter(auth))
        .post('/retry/:id', async (req, res) => {
          res.json(await auth.outbox.retry(req.params.id));
        }),
  });
  app.auth.on('session.created', async () => {
    await new Promise((resolve) => setImmediate(resolve));
    heard++;
  });
});
afterEach(() => {
  waitUntil = announce;
  send = () => undefined;
});
afterAll(async () => {
  await app.stop();
  await provider.stop();
  await receiver.stop();
  intervals.release();
});

/** Waits for all announced work, including work that was announced in the meantime. */
async function finished(): Promise<void> {
  while (announced.length > 0) await Promise.all(announced.splice(0).map(({ work }) => work));
}

const count = async (sql: string) =>
  Number((await rows<{ n: number }>(app.database, `SELECT COUNT(*) AS n FROM ${sql}`))[0]?.n);
const reset = () => app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202);
const signIn = (word = ada.password) =>
  app.http.post('/auth/signin/credential').send({ credential: ada.email, password: word });

let browser: Awaited<ReturnType<typeof signedIn>>;
let key: string;

interface Kind {
  prepare?(): Promise<unknown>;
  /** Sends a request that starts the work. */
  start(): PromiseLike<unknown>;
  /** Lets the time pass until the work is done. */
  pass?(): void;
  /** How often the work has been done. */
  done(): Promise<number> | number;
}

const sent = () => count("outbox WHERE state = 'sent' AND kind = 'reset-password'");
const kinds: Readonly<Record<string, Kind>> = {
  'an email': { start: reset, done: sent },
  'an email that is retried': {
    async prepare() {
      send = () => Promise.reject(new Error('no'));
      await reset();
      await finished();
      send = () => undefined;
      await rows(app.database, "UPDATE outbox SET state = 'failed' WHERE state = 'waiting'");
    },
    async start() {
      const [row] = await rows<{ id: string }>(app.database, "SELECT id FROM outbox WHERE state = 'failed'");
      await app.http.post(`/retry/${row?.id}`).expect(200, 'true');
    },
    done: sent,
  },
  'a webhook': { start: () => signIn().expect(200), done: () => receiver.hooks.length },
  'a listener': { start: () => signIn().expect(200), done: () => heard },
  'an audit row': {
    start: () => signIn('a wrong password').expect(401),
    done: () => count("audit_events WHERE kind = 'sign_in.failed'"),
  },
  'the last use of a session': {
    prepare: () =>
      rows(
        app.database,
        "UPDATE sessions SET last_active_at = strftime('%Y-%m-%d %H:%M:%f', 'now', '-1 day')",
      ),
    start: () => browser.get('/auth/me').expect(200),
    done: () => count("sessions WHERE last_active_at > datetime('now', '-1 hour')"),
  },
  'the last use of an API key': {
    start: () => app.http.get('/auth/me').set('x-service-api-key', key).expect(200),
    done: () => count('api_keys WHERE last_used_at IS NOT NULL'),
  },
  'the number of refused requests': {
    start: () =>
      app.http
        .post('/auth/signup/credential')
        .send({ ...ada, email: 'x@example.com' })
        .expect(429),
    pass: () => intervals.pass(60_000),
    done: () => count("audit_events WHERE kind = 'rate_limit.refused'"),
  },
  "the end of a provider's tokens": {
    start: () => browser.delete('/auth/oauth/oidc/unlink').expect(204),
    done: () => provider.revocations.length,
  },
};

describe('outbox.waitUntil', () => {
  beforeAll(async () => {
    browser = await signedIn(app);
    await linkWith(browser, 'oidc');
    const { user } = (await browser.get('/auth/me').expect(200)).body;
    await app.auth.markEmailVerified(user.id);
    const keys = app.auth as unknown as { apiKeys: ApiKeysApi };
    key = (await keys.apiKeys.create(user.id, { name: 'a key' })).key;
    await finished();
  });

  test.each(Object.entries(kinds))(
    'gets a promise for %s in the request that starts it',
    async (_name, kind) => {
      await kind.prepare?.();
      await finished();
      const before = await kind.done();
      // Uses are saved after a second.
      await withoutWaiting(1000, async () => {
        await kind.start();
        expect(announced.map(({ isInRequest }) => isInRequest)).toContain(true);
        kind.pass?.();
        await finished();
      });
      expect(await kind.done()).toBe(before + 1);
      // Nothing else is left to do.
      statements.length = 0;
      await settled(app.auth);
      expect(statements).toEqual([]);
    },
  );

  test('gets promises that never reject', async () => {
    send = () => Promise.reject(new Error('no'));
    await reset();
    const works = announced.map(({ work }) => work);
    expect(await Promise.all(works)).toEqual(works.map(() => undefined));
    expect(logger.lines.join('\n')).toContain('an email was not sent');
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('not in a request');
      },
    ],
    ['rejects', () => Promise.reject(new Error('not in a request'))],
  ])('that %s fails neither the request nor the work, and is logged', async (_how, fails) => {
    const before = await sent();
    const works: Promise<void>[] = [];
    logger.lines.length = 0;
    waitUntil = (work) => {
      works.push(work);
      return fails();
    };
    await reset();
    await Promise.all(works);
    expect(await sent()).toBe(before + 1);
    expect(logger.lines.join('\n')).toMatch(/error latchkey: outbox\.waitUntil failed.*not in a request/);
  });

  test('does not hold a process for every refused request of a minute', async () => {
    await finished();
    for (let time = 0; time < 3; time++) await kinds['the number of refused requests']?.start();
    expect(announced).toHaveLength(1);
    intervals.pass(60_000);
    await finished();
  });
});
