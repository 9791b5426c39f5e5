import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { admin, auditLog, authRouter, createAuth } from '../../lib/index.js';
import { password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { type FakeIntervals, fakeIntervals } from '../support/intervals.js';
import { setLimits } from '../support/limits.js';
import { outboxOf } from '../support/outbox.js';
import { settled } from '../support/sessions.js';

const webhook = { url: 'http://127.0.0.1:9/', secret: `whsec_${Buffer.alloc(32, 7).toString('base64')}` };

const plugins = [password(), admin({ adminEmails: ['root@example.com'] }), auditLog()] as const;
let app: SpecApp<typeof plugins>;
const told: object[] = [];
let intervals: FakeIntervals;
const minute = () => intervals.pass(60_000);
beforeAll(async () => {
  intervals = fakeIntervals();
  app = await startApp({
    plugins,
    config: {
      rateLimit: { signIn: { limit: 2, window: 3600 } },
      webhooks: [webhook],
    },
    mount: (express, auth) => void express.set('trust proxy', true).use('/auth', authRouter(auth)),
  });
  setLimits(app.auth, { usernameCheck: { limit: 1, window: 3600 } });
  app.auth.on('rate_limit.refused', (event) => told.push(event));
});
afterAll(async () => {
  intervals.release();
  await app.stop();
});

const attempts = async (from: string, count: number) => {
  const statuses: number[] = [];
  for (let index = 0; index < count; index++) {
    const sending = app.http.post('/auth/signin/credential').set('x-forwarded-for', from);
    const { status } = await sending.send({ credential: 'nobody@example.com', password: 'a wrong password' });
    statuses.push(status);
  }
  return statuses.filter((status) => status === 429).length;
};
const refusedInLog = () => app.log.filter((line) => line.includes('because of their IP addresses'));

test('requests that a limit refuses by their address are one event a minute, and never in the outbox', async () => {
  expect(await attempts('203.0.113.7', 32)).toBe(30);
  expect([told, refusedInLog()]).toEqual([[], []]);
  minute();
  await settled(app.auth);
  expect(told).toEqual([{ limit: 'signIn', count: 30, ip: '203.0.113.7', userAgent: null }]);
  expect(refusedInLog()).toEqual([
    'warn latchkey: the limit signIn has rejected requests because of their IP addresses within a minute: 30',
  ]);
  // The next minute has a sum of its own. Of several addresses, none is named.
  expect(await attempts('203.0.113.7', 2)).toBe(2);
  expect(await attempts('203.0.113.8', 5)).toBe(3);
  minute();
  await settled(app.auth);
  expect(told.slice(1)).toEqual([{ limit: 'signIn', count: 5, ip: null, userAgent: null }]);
  minute();
  expect(told).toHaveLength(2);

  const audited = await rows(app.database, "SELECT kind FROM audit_events WHERE kind = 'rate_limit.refused'");
  expect(audited).toHaveLength(2);
  const kinds = new Set((await outboxOf(app.database)).map(({ kind }) => kind));
  expect([...kinds]).toEqual(['sign_in.failed']);
});

test('what has not been told is told when the Auth is closed', async () => {
  told.length = 0;
  const other = createAuth({
    database: app.database.url,
    secret: SECRET,
    rateLimit: { signIn: { limit: 1, window: 3600 } },
    plugins: [password()],
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  other.on('rate_limit.refused', (event) => told.push(event));
  const attempt = () =>
    other.credential.signIn({
      credential: 'nobody@example.com',
      password: 'a wrong password',
      request: { ip: '203.0.113.9', headers: {} },
    });
  await expect(attempt()).rejects.toMatchObject({ code: 'invalid_credentials' });
  await expect(attempt()).rejects.toMatchObject({ code: 'rate_limited' });
  await other.close();
  expect(told).toMatchObject([{ limit: 'signIn', count: 1, ip: '203.0.113.9' }]);
});

test('a webhook cannot ask for it', () => {
  const config = { database: 'sqlite:x.db', secret: SECRET, plugins: [password()] };
  expect(() => createAuth({ ...config, webhooks: [{ ...webhook, events: ['rate_limit.refused'] }] })).toThrow(
    new TypeError(
      'latchkey: webhooks: rate_limit.refused is not sent to webhooks: listen to it with auth.on',
    ),
  );
});
