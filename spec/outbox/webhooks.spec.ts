import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { internalsOf } from '../../lib/auth.js';
import { type AuthConfig, createAuth } from '../../lib/index.js';
import { ada, memoryLogger, password, SECRET, type SpecApp, signedIn, startApp } from '../support/app.js';
import { connectAsApp } from '../support/app-database.js';
import { rows } from '../support/database.js';
import { outboxOf, untilDue } from '../support/outbox.js';
import { startReceiver } from '../support/receiver.js';
import { settled } from '../support/sessions.js';

const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const OTHER_KEY = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;

type Plugins = readonly [ReturnType<typeof password>];

let receiver: Awaited<ReturnType<typeof startReceiver>>;
let app: SpecApp<Plugins>;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await app.stop();
  await receiver.stop();
});

const start = async (
  webhooks: readonly { path: string; secret?: string | string[]; events?: string[] }[],
  config: Partial<AuthConfig<Plugins>> = {},
) => {
  app = await startApp({
    config: {
      webhooks: webhooks.map(({ path, secret = KEY, ...rest }) => ({
        url: `${receiver.origin}${path}`,
        secret,
        ...rest,
      })),
      ...config,
    },
  });
};
const outbox = () => outboxOf(app.database);

describe('a webhook', () => {
  test('tells of an event, signed as Standard Webhooks says, and tells no secret', async () => {
    await start([{ path: '/hooks' }]);
    await signedIn(app);
    const [created, session] = await receiver.arrived('/hooks', 2);
    const user = await app.auth.users.find({ email: ada.email });
    for (const hook of [created, session]) {
      const verified = new Webhook(KEY).verify(hook?.body ?? '', hook?.headers as Record<string, string>);
      expect(verified).toEqual(JSON.parse(hook?.body ?? ''));
      expect(() => new Webhook(OTHER_KEY).verify(hook?.body ?? '', hook?.headers as never)).toThrow();
      expect(hook).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
      expect(hook?.body).not.toMatch(/ada@|engine|lks_|password|hash/);
    }
    expect(JSON.parse(created?.body ?? '')).toEqual({
      type: 'user.created',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      data: { user_id: user?.id, ip: expect.any(String), user_agent: null },
    });
    expect(JSON.parse(session?.body ?? '')).toMatchObject({
      type: 'session.created',
      data: { user_id: user?.id, session_id: expect.any(String) },
    });
    expect(created?.headers['webhook-id']).not.toBe(session?.headers['webhook-id']);
    await settled(app.auth);
    expect((await outbox()).map(({ state, content }) => [state, content])).toEqual([
      ['sent', null],
      ['sent', null],
    ]);
  });

  test('is signed with each secret while they are rotated', async () => {
    await start([{ path: '/hooks', secret: [OTHER_KEY, KEY] }]);
    await app.auth.users.create(ada);
    const [hook] = await receiver.arrived('/hooks', 1);
    for (const key of [KEY, OTHER_KEY])
      new Webhook(key).verify(hook?.body ?? '', hook?.headers as Record<string, string>);
  });

  test('is sent again with the same id and body until the endpoint accepts it, and follows no redirect', async () => {
    await start([{ path: '/hooks', events: ['user.created'] }]);
    const statuses = [500, 302, 404, 200];
    receiver.answer('/hooks', (res) => {
      res.writeHead(statuses.shift() ?? 500, { location: '/elsewhere' }).end();
    });
    await app.auth.users.create(ada);
    await settled(app.auth);
    for (const left of [2, 1, 0]) {
      expect(await outbox()).toMatchObject([{ state: 'waiting' }]);
      await untilDue(app.database);
      await app.auth.outbox.deliver();
      expect(statuses).toHaveLength(left);
    }
    const attempts = receiver.of('/hooks');
    expect(attempts).toHaveLength(4);
    expect(new Set(attempts.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size).toBe(1);
    expect(receiver.of('/elsewhere')).toEqual([]);
    const { entries } = await app.auth.outbox.list();
    expect(entries).toMatchObject([
      {
        channel: 'webhook',
        kind: 'user.created',
        endpoint: `${receiver.origin}/hooks`,
        state: 'sent',
        attempts: 4,
      },
    ]);
  });

  test('to an endpoint that hangs is given up after five seconds, and holds up no other', async () => {
    await start([{ path: '/hangs' }, { path: '/hooks' }]);
    receiver.answer('/hangs', () => {});
    for (let index = 0; index < 12; index++)
      await app.auth.users.create({ email: `user-${index}@example.com` });
    await receiver.arrived('/hooks', 12);
    // No more at once, and none of the others was waited for.
    expect(receiver.of('/hangs').length).toBeLessThanOrEqual(10);
    receiver.answer('/hangs', (res) => res.writeHead(204).end());
    await settled(app.auth);
    const { entries } = await app.auth.outbox.list({ state: 'waiting' });
    expect(entries.length).toBe(10);
    expect(new Set(entries.map(({ lastError }) => lastError))).toEqual(new Set(['Error (TIMEOUT)']));
  });

  test('that the endpoint never wants again (410) is not tried again', async () => {
    await start([{ path: '/hooks' }]);
    receiver.answer('/hooks', (res) => res.writeHead(410).end());
    await app.auth.users.create(ada);
    await settled(app.auth);
    const { entries } = await app.auth.outbox.list();
    expect(entries).toMatchObject([{ state: 'failed', lastError: 'Error (HTTP 410)', nextAttemptAt: null }]);
    receiver.answer('/hooks', (res) => res.writeHead(200).end('thanks'));
    expect(await app.auth.outbox.retry(entries[0]?.id ?? '')).toBe(true);
    await settled(app.auth);
    expect(await outbox()).toMatchObject([{ state: 'sent' }]);
  });

  test('is in the outbox before its cause is answered, and dies with the transaction of the app', async () => {
    let own: ReturnType<typeof connectAsApp> | undefined;
    app = await startApp({
      config: async (database) => {
        own = connectAsApp(database);
        return { database: own, webhooks: [{ url: `${receiver.origin}/hooks`, secret: KEY }] };
      },
    });
    const create = (email: string, fails: boolean) =>
      own?.transaction(async (transaction) => {
        await app.auth.users.create({ email, transaction });
        const inside = await own?.query('SELECT kind FROM outbox', { transaction });
        expect(inside?.[0]).toEqual([{ kind: 'user.created' }]);
        if (fails) throw new Error('the app rolls back');
      });
    await expect(create('first@example.com', true)).rejects.toThrow('the app rolls back');
    expect(await outbox()).toEqual([]);
    await create('second@example.com', false);
    expect(await outbox()).toMatchObject([{ kind: 'user.created' }]);
    await receiver.arrived('/hooks', 1);
    const wrong = { credential: 'nobody@example.com', password: 'wrong' };
    await app.http.post('/auth/signin/credential').send(wrong).expect(401);
    expect((await outbox()).map(({ kind }) => kind)).toEqual(['user.created', 'sign_in.failed']);
  });

  test('that another process left is sent by one that knows its endpoint', async () => {
    await start([{ path: '/gone' }]);
    receiver.answer('/gone', (res) => res.destroy());
    await app.auth.users.create(ada);
    await settled(app.auth);
    await untilDue(app.database);
    const config = {
      database: app.database.url,
      secret: SECRET,
      plugins: [password()],
      logger: memoryLogger(),
    };
    const another = createAuth({ ...config, webhooks: [{ url: `${receiver.origin}/other`, secret: KEY }] });
    const knowing = createAuth({
      ...config,
      webhooks: [{ url: `${receiver.origin}/gone`, secret: OTHER_KEY }],
    });
    try {
      expect(await another.outbox.deliver()).toEqual({ sent: 0, failed: 0 });
      receiver.answer('/gone', (res) => res.writeHead(200).end());
      expect(await knowing.outbox.deliver()).toEqual({ sent: 1, failed: 0 });
      const hook = receiver.of('/gone').at(-1);
      // With the secret of the config as it is now.
      new Webhook(OTHER_KEY).verify(hook?.body ?? '', hook?.headers as Record<string, string>);
    } finally {
      await another.close();
      await knowing.close();
    }
  });
});

test('a sign-up that is concealed writes as much for an email that has an account, and tells nobody', async () => {
  const plugin = password({ concealExistingEmails: true });
  app = await startApp({
    plugins: [plugin],
    config: async (database) => ({
      database: connectAsApp(database),
      baseUrl: 'http://app.example.com',
      email: { send: () => {} },
      webhooks: [{ url: `${receiver.origin}/hooks`, secret: KEY }],
    }),
  });
  const { sequelize } = internalsOf(app.auth).core.database;
  const query = sequelize.query.bind(sequelize) as (...args: unknown[]) => Promise<unknown>;
  let inserts = 0;
  sequelize.query = (async (...args: unknown[]) => {
    if (String(args[0]).startsWith('INSERT INTO outbox')) inserts++;
    return query(...args);
  }) as typeof sequelize.query;
  const signUp = async (email: string) => {
    await rows(app.database, 'DELETE FROM outbox');
    inserts = 0;
    await app.http.post('/auth/signup/credential').send({ email, password: ada.password }).expect(202);
    const kinds = (await outbox()).map(({ kind }) => kind).sort();
    await settled(app.auth);
    return { kinds, inserts };
  };
  const both = { kinds: ['user.created', 'verify-email'], inserts: 1 };
  expect(await signUp(ada.email)).toEqual(both);
  expect(await signUp(ada.email)).toEqual(both);
  expect(await outbox()).toEqual(
    expect.arrayContaining([expect.objectContaining({ kind: 'user.created', state: 'dropped' })]),
  );
  expect(receiver.hooks).toHaveLength(1);
});
