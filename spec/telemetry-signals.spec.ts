import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Attributes, context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { SignJWT } from 'jose';
import { authRouter, emailSignIn, type Plugin, passkeys, requireSession, twoFactor } from '../lib/index.js';
import { Log } from '../lib/logger.js';
import { jwtSessions, movingIn } from '../lib/moving-in.js';
import { pages } from '../lib/pages.js';
import { Telemetry } from '../lib/telemetry.js';
import {
  ada,
  memoryLogger,
  password,
  SECRET,
  type SpecApp,
  type SpecAppOptions,
  signedIn,
  startApp,
} from './support/app.js';
import { untilDue } from './support/outbox.js';
import { addPasskey, authenticator, PAGE, signInWith } from './support/passkeys.js';
import { startReceiver } from './support/receiver.js';
import { settled } from './support/sessions.js';
import { type OwnParts, startSdk } from './support/telemetry.js';
import { codeOf, withSecondFactor, wrongCode } from './support/two-factor.js';

const JWT = {
  keys: SECRET,
  algorithms: ['HS256'],
  userId: ({ sub }: { sub?: string }) => sub ?? null,
  until: new Date(Date.now() + 3_600_000),
} as const;

/** A plugin whose check of accounts fails. */
const failing: Plugin = {
  name: 'failing',
  setup: () => ({
    api: null,
    checkAccount() {
      throw new Error('the app has a fault');
    },
  }),
} as never;

let sdk: ReturnType<typeof startSdk>;
let app: SpecApp<readonly Plugin[]>;
beforeEach(() => {
  sdk = startSdk();
});
afterEach(async () => {
  // Not every test starts one.
  const started = app;
  app = undefined as never;
  await started?.stop();
  await sdk.stop();
});

/** Starts an app with telemetry, in which each request has a span. */
async function start<const P extends readonly Plugin[]>(
  { config, ...options }: Omit<SpecAppOptions<P>, 'config'> & { config?: object } = {},
  attributes?: Parameters<typeof sdk.middleware>[0],
): Promise<SpecApp<P>> {
  const started = await startApp<P>({
    mount: (server, auth) => {
      server.use(sdk.middleware(attributes));
      server.use('/auth', authRouter(auth));
      server.get('/reports/:id', requireSession(auth), (_req, res) => void res.sendStatus(204));
    },
    ...options,
    config: { telemetry: true, ...config } as never,
  });
  app = started as never;
  return started;
}

const signIn = (typed = ada.password) =>
  app.http.post('/auth/signin/credential').send({ credential: ada.email, password: typed });

describe('http.route', () => {
  const routes = () => sdk.spans().flatMap(({ attributes }) => attributes['http.route'] ?? []);

  test('is the path of the route as it was declared', async () => {
    await start();
    const browser = await signedIn(app);
    const [session] = (await browser.get('/auth/sessions')).body.sessions;
    sdk.reset();
    await browser.delete(`/auth/sessions/${session.id}`).expect(204);
    await app.http.get('/auth/me').expect(401);
    await app.http.put('/auth/me').expect(405);
    expect(routes()).toEqual(['/auth/sessions/:id', '/auth/me', '/auth/me']);
  });

  test('is set for the pages too, and not for the routes of the app', async () => {
    await start({ plugins: [password(), pages()] });
    await app.http.get('/auth/sign-in').expect(200);
    await app.http.get('/reports/1').expect(401);
    expect(routes()).toEqual(['/auth/sign-in']);
  });

  test('stays as an instrumentation has set it', async () => {
    await start({}, () => ({ 'http.route': '/set/already' }));
    await app.http.get('/auth/me').expect(401);
    expect(routes()).toEqual(['/set/already']);
  });
});

describe('lookups', () => {
  test('are measured, with the number of requests', async () => {
    await start();
    const browser = await signedIn(app);
    await browser.get('/reports/1').expect(204);
    await app.http
      .get('/reports/1')
      .set('cookie', `latchkey=lks_${'c'.repeat(48)}`)
      .expect(401);
    const attributes = { 'latchkey.lookup.credential': 'session' };
    const measured = { attributes, value: sdk.spans('latchkey.lookup').length };
    expect(measured.value).toBeGreaterThan(0);
    expect(await sdk.figures('latchkey.lookup.duration')).toEqual([
      { name: 'latchkey.lookup.duration', unit: 's', ...measured },
    ]);
    expect(await sdk.figures('latchkey.lookup.batch_size')).toEqual([
      { name: 'latchkey.lookup.batch_size', unit: '{lookup}', ...measured },
    ]);
  });
});

describe('sign-ins', () => {
  /** The number of sign-ins by method and outcome. */
  const counted = async () =>
    Object.fromEntries(
      (await sdk.figures('latchkey.sign_ins')).map(({ attributes, value }) => [
        `${attributes['latchkey.sign_in.method']} ${attributes['latchkey.sign_in.outcome']}`,
        value,
      ]),
    );

  test('are counted by method and outcome', async () => {
    await start({
      plugins: [password(), passkeys(), twoFactor(), movingIn({ bridges: [jwtSessions(JWT)] })],
      config: { baseUrl: PAGE, bearerEnabled: true },
    });
    const { browser, secret, userId } = await withSecondFactor(app as never);
    const device = authenticator();
    await addPasskey(browser, device);
    const other = app.browser();
    await other.post('/auth/signin/credential').send({ credential: ada.email, password: 'a wrong guess' });
    await other.post('/auth/signin/credential').send({ credential: 'nobody@example.com', password: 'x' });
    await other.post('/auth/signin/credential').send({ credential: ada.email, password: ada.password });
    const method = 'totp';
    await other
      .post('/auth/signin/second-factor')
      .send({ method, code: wrongCode(secret) })
      .expect(401);
    await other
      .post('/auth/signin/second-factor')
      .send({ method, code: codeOf(secret) })
      .expect(200);
    await signInWith(app.browser(), device);
    await app.auth.createSession(userId);
    const grace = await app.auth.users.create({ email: 'grace@example.com' });
    const token = new SignJWT().setProtectedHeader({ alg: 'HS256' }).setSubject(grace.id);
    const old = await token.setIssuedAt().setExpirationTime('1h').sign(Buffer.from(SECRET));
    await app.http.get('/auth/me').set('authorization', `Bearer ${old}`).expect(200);
    expect(await counted()).toEqual({
      'password signed_in': 1,
      'password invalid_credentials': 2,
      'password pending': 1,
      'second_step invalid_code': 1,
      'second_step signed_in': 1,
      'passkey signed_in': 1,
      'app signed_in': 1,
      'previous_system signed_in': 1,
    });
  });

  test('at a sign-up and by email are counted as such', async () => {
    await start({
      plugins: [password({ signInOnSignUp: true }), emailSignIn()],
      config: { email: { send: () => undefined } },
    });
    await app.http.post('/auth/signup/credential').send(ada).expect(201);
    await app.http.post('/auth/signin/email/confirm').send({ code: '123-456', pending_token: 'none' });
    expect(await counted()).toEqual({ 'sign_up signed_in': 1, 'email sign_in_expired': 1 });
  });

  test('that fail for a reason of the app are errors', async () => {
    await start({ plugins: [password(), failing] });
    await signedIn(app).catch(() => undefined);
    expect(await counted()).toEqual({ 'password error': 1 });
  });
});

describe('password hashes', () => {
  test('are measured, with the queue that they join', async () => {
    await start();
    await app.http.post('/auth/signup/credential').send(ada).expect(201);
    await Promise.all(Array.from({ length: 8 }, () => signIn()));
    const durations = await sdk.figures('latchkey.password_hash.duration');
    expect(durations).toEqual([
      {
        name: 'latchkey.password_hash.duration',
        unit: 's',
        attributes: { 'latchkey.password_hash.operation': 'hash' },
        value: 1,
      },
      {
        name: 'latchkey.password_hash.duration',
        unit: 's',
        attributes: { 'latchkey.password_hash.operation': 'verify' },
        value: 8,
      },
    ]);
    expect(await sdk.figures('latchkey.password_hash.queue_length')).toEqual([
      { name: 'latchkey.password_hash.queue_length', unit: '{hash}', attributes: {}, value: 9 },
    ]);
  });
});

describe('rate limits', () => {
  test('are counted by rule where they refuse', async () => {
    await start({
      config: {
        rateLimit: {
          signIn: { limit: 2, window: 60 },
          account: { failures: 1, firstPause: 60, maxPause: 60 },
        },
      },
    });
    await app.http.post('/auth/signup/credential').send(ada).expect(201);
    await signIn('a wrong guess').expect(401);
    await signIn().expect(429);
    await signIn().expect(429);
    expect(await sdk.figures('latchkey.rate_limit.refused')).toEqual(
      ['account', 'signIn'].map((rule) => ({
        name: 'latchkey.rate_limit.refused',
        unit: '{request}',
        attributes: { 'latchkey.rate_limit.rule': rule },
        value: 1,
      })),
    );
  });
});

describe('the outbox', () => {
  const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  beforeEach(async () => {
    receiver = await startReceiver();
  });
  afterEach(() => receiver.stop());
  const webhooks = () => [{ url: `${receiver.origin}/hooks`, secret: KEY, events: ['user.created'] }];

  test('keeps the trace of the request for its deliveries, also for later ones', async () => {
    const undici = new UndiciInstrumentation();
    undici.setTracerProvider(sdk.tracerProvider);
    undici.enable();
    propagation.setGlobalPropagator(new W3CTraceContextPropagator());
    receiver.answer('/hooks', (res) => void res.writeHead(500).end());
    await start({ config: { webhooks: webhooks() } });
    await app.http.post('/auth/signup/credential').send(ada).expect(201);
    await settled(app.auth);
    await untilDue(app.database);
    await app.auth.outbox.deliver();
    undici.disable();
    propagation.disable();
    const [request] = sdk.spans('POST');
    const { traceId = '', spanId = '' } = request?.spanContext() ?? {};
    const sent = `00-${traceId}-${spanId}-01`;
    expect(receiver.hooks.map(({ headers }) => headers.traceparent)).toEqual([sent, sent]);
  });

  test('lets the emails of the app continue the trace', async () => {
    const traces: (string | undefined)[] = [];
    const send = async () => {
      traces.push(trace.getActiveSpan()?.spanContext().traceId);
      if (traces.length === 1) throw new Error('not yet');
    };
    await start({ config: { email: { send } } });
    await app.auth.users.create({ email: ada.email });
    await app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202);
    await settled(app.auth);
    await untilDue(app.database);
    await app.auth.outbox.deliver();
    const [request] = sdk.spans('POST');
    const { traceId } = request?.spanContext() ?? {};
    expect(traces).toEqual([traceId, traceId]);
  });
});

describe('a failure of the SDK', () => {
  const fail = (): never => {
    throw new Error('the app has a fault');
  };
  const failAt = ({ name }: { name: string }) => name.startsWith('latchkey') && fail();
  const idle = { forceFlush: async () => {}, shutdown: async () => {}, onStart() {}, onEnd() {} };
  const failedLines = (lines: readonly string[]) =>
    lines.filter((line) => line.includes('OpenTelemetry failed, so telemetry is incomplete'));

  async function startWith(parts: OwnParts) {
    await sdk.stop();
    sdk = startSdk(parts);
    await start();
  }

  test.each<[string, OwnParts]>([
    ['a span processor, at the start', { spanProcessors: [{ ...idle, onStart: failAt as never }] }],
    ['a span processor, at the end', { spanProcessors: [{ ...idle, onEnd: failAt as never }] }],
    [
      'a sampler',
      { sampler: { shouldSample: (_context, _id, name) => failAt({ name }) || { decision: 2 } } },
    ],
    ['a view', { views: [{ meterName: 'latchkey', attributesProcessors: [{ process: fail }] }] }],
  ])('in %s does not change responses, and is logged once', async (_what, parts) => {
    await startWith(parts);
    const browser = await signedIn(app);
    await browser.get('/reports/1').expect(204);
    await signIn().expect(200);
    await signIn('a wrong guess').expect(401);
    expect(failedLines(app.log)).toEqual([expect.stringContaining('the app has a fault')]);
  });

  test('while http.route is set does not change the response', async () => {
    await start({
      mount: (server, auth) => {
        const span = { isRecording: () => true, attributes: {}, setAttribute: fail };
        server.use((_req, _res, next) => sdk.within(span as never, next));
        server.use('/auth', authRouter(auth));
      },
    });
    await app.http.get('/auth/me').expect(401);
    expect(failedLines(app.log)).toHaveLength(1);
  });

  test('does not count a success as an error too', async () => {
    const process = (attributes: Attributes) =>
      Object.values(attributes).includes('signed_in') ? fail() : attributes;
    await startWith({
      views: [{ instrumentName: 'latchkey.sign_ins', attributesProcessors: [{ process }] }],
    });
    await signedIn(app);
    await signIn('a wrong guess').expect(401);
    expect(await sdk.figures('latchkey.sign_ins')).toMatchObject([
      { attributes: { 'latchkey.sign_in.outcome': 'invalid_credentials' }, value: 1 },
    ]);
  });

  test.each([
    ['before', false],
    ['after', true],
  ])('%s the work lets it run once, with its own outcome', async (_when, runs) => {
    context.disable();
    const manager = {
      active: () => ROOT_CONTEXT,
      with(_context: unknown, work: () => unknown) {
        if (runs) work();
        fail();
      },
      bind: <T>(_context: unknown, target: T) => target,
      enable: () => manager,
      disable: () => manager,
    };
    context.setGlobalContextManager(manager as never);
    const telemetry = new Telemetry(new Log(memoryLogger()));
    await telemetry.loaded();
    let count = 0;
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const ways = [
      (work: () => Promise<number>) => telemetry.lookUp('session', [telemetry.requester()], work),
      (work: () => Promise<number>) => telemetry.within(traceparent, work),
      (work: () => Promise<number>) => telemetry.suppressed(work),
    ];
    for (const [index, run] of ways.entries()) {
      expect(await run(async () => ++count)).toBe(index * 2 + 1);
      const failing = async () => Promise.reject(new Error(`failure ${++count}`));
      await expect(run(failing)).rejects.toThrow(`failure ${index * 2 + 2}`);
    }
  });
});
