import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { SpanStatusCode, trace } from '@opentelemetry/api';
import { internalsOf } from '../lib/auth.js';
import { apiKeys, authRouter, type Plugin, requireSession } from '../lib/index.js';
import { ada, password, type SpecApp, signedIn, startApp } from './support/app.js';
import { connectAsApp } from './support/app-database.js';
import { createDatabase, dialect, rows } from './support/database.js';
import { untilDue } from './support/outbox.js';
import { startReceiver } from './support/receiver.js';
import { settled } from './support/sessions.js';
import { startSdk } from './support/telemetry.js';

// What telemetry says of the database and reads there. The rest is in telemetry-signals.spec.ts.
let sdk: ReturnType<typeof startSdk>;
let app: SpecApp<readonly Plugin[]>;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(async () => {
  await app.stop();
  await sdk.stop();
});

async function start(config: object = {}, plugins: readonly Plugin[] = [password()]): Promise<void> {
  app = (await startApp({
    plugins,
    mount: (server, auth) => {
      server.use(sdk.middleware());
      server.use('/auth', authRouter(auth));
      server.get('/reports/:id', requireSession(auth), (_req, res) => void res.sendStatus(204));
    },
    config: { telemetry: true, ...config } as never,
  })) as never;
}

describe('lookups', () => {
  test('are spans with links to all requests that a statement serves', async () => {
    await start({}, [password(), apiKeys()]);
    const browser = await signedIn(app);
    const { key } = (await browser.post('/auth/api-keys').send({ name: 'robot' }).expect(201)).body;
    sdk.reset();
    const core = internalsOf(app.auth).core;
    const { token } = await app.auth.createSession((await browser.get('/auth/me')).body.user.id);
    sdk.reset();
    const spans = Array.from({ length: 3 }, () => trace.getTracer('app').startSpan('GET /reports/:id'));
    const find = () => Promise.all(spans.map((span) => sdk.within(span, () => core.sessions.find(token))));
    // The first one is alone, because the last request's lookup was.
    await find();
    expect(sdk.spans('latchkey.lookup').map(({ links }) => links.length)).toEqual([1, 2]);
    sdk.reset();
    const found = await find();
    expect(found.map((one) => one?.user.email)).toEqual([ada.email, ada.email, ada.email]);
    const [lookup, ...more] = sdk.spans('latchkey.lookup');
    expect(more).toEqual([]);
    expect(lookup?.links.map(({ context }) => context.spanId)).toEqual(
      spans.map((span) => span.spanContext().spanId),
    );
    expect(lookup?.parentSpanContext?.spanId).toBe(spans[0]?.spanContext().spanId);
    expect(lookup?.attributes).toEqual({
      'latchkey.lookup.credential': 'session',
      'latchkey.lookup.batch_size': 3,
    });
    sdk.reset();
    await app.http.get('/reports/1').set('x-service-api-key', key).expect(204);
    const [request] = sdk.spans('GET');
    const [ofKey] = sdk.spans('latchkey.lookup');
    expect(ofKey?.attributes['latchkey.lookup.credential']).toBe('api_key');
    expect(ofKey?.links.map(({ context }) => context.spanId)).toEqual([request?.spanContext().spanId]);
  });

  (dialect === 'mysql' ? test : test.skip)("are seen by an instrumentation of the app's driver", async () => {
    await start();
    const browser = await signedIn(app);
    let executed = 0;
    const count = () => void executed++;
    subscribe('tracing:mysql2:execute:start', count);
    try {
      await browser.get('/auth/me').expect(200);
    } finally {
      unsubscribe('tracing:mysql2:execute:start', count);
    }
    expect(executed).toBe(1);
  });

  test('in a transaction of the app are spans of their own', async () => {
    const database = await createDatabase();
    const sequelize = connectAsApp(database);
    await start({ database: sequelize });
    const user = await app.auth.users.create({ email: ada.email });
    const { token } = await app.auth.createSession(user.id);
    sdk.reset();
    const span = trace.getTracer('app').startSpan('a job');
    const request = { headers: { cookie: `latchkey=${token}` }, method: 'GET' };
    await sdk.within(span, () =>
      sequelize.transaction((transaction) => app.auth.getSession(request, { transaction })),
    );
    const [lookup, ...more] = sdk.spans('latchkey.lookup');
    expect([lookup?.links.map(({ context }) => context.spanId), more]).toEqual([
      [span.spanContext().spanId],
      [],
    ]);
  });

  test('that fail have the status of an error, without its message', async () => {
    await start();
    const browser = await signedIn(app);
    sdk.reset();
    await rows(app.database, 'ALTER TABLE sessions RENAME TO elsewhere');
    await browser.get('/reports/1').expect(503);
    await rows(app.database, 'ALTER TABLE elsewhere RENAME TO sessions');
    const failed = sdk.spans('latchkey.lookup').map(({ status, events }) => ({ status, events }));
    expect(failed[0]).toEqual({ status: { code: SpanStatusCode.ERROR }, events: [] });
  });
});

describe('the outbox', () => {
  const waiting = () => sdk.figures('latchkey.outbox.waiting');

  test('reports how many entries wait', async () => {
    const receiver = await startReceiver();
    receiver.answer('/hooks', (res) => void res.writeHead(500).end());
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    await start({ webhooks: [{ url: `${receiver.origin}/hooks`, secret, events: ['user.created'] }] });
    await app.http.post('/auth/signup/credential').send(ada).expect(201);
    await settled(app.auth);
    const name = 'latchkey.outbox.waiting';
    expect(await waiting()).toEqual([{ name, unit: '{entry}', attributes: {}, value: 1 }]);
    receiver.answer('/hooks', (res) => void res.writeHead(204).end());
    await untilDue(app.database);
    await app.auth.outbox.deliver();
    expect(await waiting()).toEqual([{ name, unit: '{entry}', attributes: {}, value: 0 }]);
    await receiver.stop();
  });

  test('reports how many emails to strangers are held', async () => {
    const config = {
      baseUrl: 'http://app.example.com',
      email: { send: () => undefined },
      rateLimit: { strangers: { limit: 1, window: 3600 } },
    };
    await start(config, [password({ sendVerificationOnSignUp: true })]);
    for (const name of ['a', 'b', 'c'])
      await app.http
        .post('/auth/signup/credential')
        .send({ ...ada, email: `${name}@example.com` })
        .expect(201);
    await settled(app.auth);
    const held = await sdk.figures('latchkey.outbox.held');
    expect(held).toEqual([{ name: 'latchkey.outbox.held', unit: '{entry}', attributes: {}, value: 2 }]);
    expect(await waiting()).toMatchObject([{ value: 2 }]);
  });
});
