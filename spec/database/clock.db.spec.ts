import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Model, ModelStatic } from 'sequelize';
import { CallContext } from '../../lib/context/call.js';
import { openDatabase } from '../../lib/database/database.js';
import { apiKeys, createAuth, oauth } from '../../lib/index.js';
import { github } from '../../lib/providers.js';
import { ada, password, SECRET } from '../support/app.js';
import { createDatabase, rows, type SpecDatabase } from '../support/database.js';
import { withClockAhead } from '../support/wrong-clock.js';

const DAY = 24 * 3600 * 1000;
const signIn = { credential: ada.email, password: ada.password };
// Far more than a busy machine can delay anything.
const TOLERANCE = 10 * 60 * 1000;

let database: SpecDatabase;
let auth: ReturnType<typeof open>;
let userId: string;
const open = () =>
  createAuth({
    database: database.url,
    secret: SECRET,
    baseUrl: 'http://127.0.0.1:3000',
    rateLimit: { signUp: false },
    email: { send: async () => undefined },
    plugins: [password(), apiKeys(), oauth(), github({ clientId: 'a', clientSecret: 'b' })],
  });
beforeAll(async () => {
  database = await createDatabase();
  auth = open();
  await auth.migrate();
});
afterAll(async () => {
  await auth.close();
  await database.drop();
});
beforeEach(async () => {
  await rows(database, 'DELETE FROM users');
  userId = (await auth.credential.signUp(ada))!.user.id;
});

/** Runs an action as the first one of an Auth, in a process whose clock is wrong. */
async function first<T>(aheadMs: number, action: (auth: ReturnType<typeof open>) => Promise<T>): Promise<T> {
  const other = open();
  return withClockAhead(aheadMs, async () => {
    try {
      return await action(other);
    } finally {
      await other.close();
    }
  });
}

/** How far a stored time is from the time that a process with a right clock would have stored. */
async function error(model: keyof typeof auth.models, attribute: string, lifetimeMs = 0): Promise<number> {
  const found = await (auth.models[model] as ModelStatic<Model>).findAll();
  expect(found).toHaveLength(1);
  return Math.abs(Number(found[0]?.get(attribute)) - (Date.now() + lifetimeMs));
}

describe.each([
  ['40 days ahead', 40 * DAY],
  ['40 days behind', -40 * DAY],
])('if the first action of a process whose clock is %s', (_name, aheadMs) => {
  test('is a sign-in, the session ends when it should', async () => {
    await first(aheadMs, ({ credential }) => credential.signIn(signIn));
    expect(await error('Session', 'expiresAt', DAY)).toBeLessThan(TOLERANCE);
    expect(await error('Session', 'lastActiveAt')).toBeLessThan(TOLERANCE);
  });

  test('is a sign-up, the account has the right time', async () => {
    await rows(database, 'DELETE FROM users');
    await first(aheadMs, ({ credential }) => credential.signUp(ada));
    expect(await error('User', 'createdAt')).toBeLessThan(TOLERANCE);
  });

  test('is a request for a link by email, the link expires when it should', async () => {
    await first(aheadMs, ({ credential }) => credential.requestPasswordReset({ email: ada.email }));
    expect(await error('OneTimeToken', 'expiresAt', 3600 * 1000)).toBeLessThan(TOLERANCE);
  });

  test('starts a sign-in at a provider, the flow expires when it should', async () => {
    await rows(database, 'DELETE FROM oauth_flows');
    await first(aheadMs, ({ oauth }) => oauth.authorizeUrl('github'));
    expect(await error('OAuthFlow', 'expiresAt', 600 * 1000)).toBeLessThan(TOLERANCE);
  });

  test('creates an API key, its expiry is checked against the right time', async () => {
    const create = (at: number) =>
      first(aheadMs, (other) => other.apiKeys.create(userId, { name: 'a program', expiresAt: new Date(at) }));
    await create(Date.now() + DAY);
    expect(await error('ApiKey', 'createdAt')).toBeLessThan(TOLERANCE);
    await expect(create(Date.now() - DAY)).rejects.toThrow(/expires_at/);
  });

  test('is limited, the counter expires when it should', async () => {
    await rows(database, 'DELETE FROM rate_limits');
    const wrong = { credential: ada.email, password: 'a wrong password', ip: '192.0.2.1' };
    await expect(first(aheadMs, ({ credential }) => credential.signIn(wrong))).rejects.toThrow();
    const counters = await auth.models.RateLimit.findAll();
    expect(counters.length).toBeGreaterThan(0);
    for (const counter of counters)
      expect(Math.abs(Number(counter.get('expiresAt')) - Date.now())).toBeLessThan(2 * DAY);
  });

  test('is prune(), only what has expired is deleted', async () => {
    await auth.credential.signIn(signIn);
    expect(await first(aheadMs, (other) => other.prune())).toBe(0);
    await auth.models.Session.update({ expiresAt: new Date(Date.now() - DAY) }, { where: {} });
    expect(await first(aheadMs, (other) => other.prune())).toBe(1);
  });
});

test('a call without time left for the database fails, and leaves no rejected promise that would end the process', async () => {
  const context = new CallContext();
  // Nothing listens there.
  const down = openDatabase('postgres://127.0.0.1:1/none', '', context);
  const client = { ip: null, userAgent: null, request: null };
  await expect(context.forRequest(client, 0, () => down.ready())).rejects.toMatchObject({
    code: 'unavailable',
  });
  // By the time this has failed, so has the reading of the clock. Jest reports rejections that nobody handles.
  await expect(down.sequelize.authenticate()).rejects.toThrow();
  await new Promise((resolve) => setTimeout(resolve, 0));
  await down.sequelize.close();
});
