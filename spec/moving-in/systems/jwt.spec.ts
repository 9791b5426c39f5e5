import { createHmac, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import { exportJWK, type JWTPayload, SignJWT } from 'jose';
import {
  admin,
  apiKeys,
  authRouter,
  createAuth,
  optionalSession,
  requireSession,
  suspension,
  twoFactor,
} from '../../../lib/index.js';
import { type JwtAlgorithm, jwtSessions, movingIn } from '../../../lib/moving-in.js';
import { caught, memoryLogger, password, SECRET, type SpecApp, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { listening } from '../../support/old-app.js';
import { enroll } from '../../support/two-factor.js';

// Tokens that an app has signed itself, sent by clients that cannot be changed.
const plugins = [
  password(),
  twoFactor(),
  admin({ adminEmails: ['boss@example.com'] }),
  suspension(),
  apiKeys({ acceptBearer: true }),
] as const;
type Plugins = readonly [...typeof plugins, ReturnType<typeof movingIn>];
const PASSWORD = 'an analytical engine';
const OLD = 'short secret';
const keys = {
  HS256: Buffer.from(OLD),
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  p256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  p384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  p521: generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  ed: generateKeyPairSync('ed25519'),
  other: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  encryption: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  remote: generateKeyPairSync('rsa', { modulusLength: 2048 }),
};
const pemOf = ({ publicKey }: { publicKey: KeyObject }) =>
  publicKey.export({ type: 'spki', format: 'pem' }) as string;

let app: SpecApp<Plugins>;
let jwks: Server;
/** How the server of the keys answers, and how often it was asked. */
let answer: 'keys' | 'error' | 'redirect' | 'endless';
let asked = 0;
let user: { id: string; email: string };
let until: Date;
let count = 0;
/** What happens before the bridge next looks for the user of a token. */
let beforeUser: (() => Promise<unknown>) | null = null;

beforeAll(async () => {
  const jwkOf = async ({ publicKey }: { publicKey: KeyObject }, kid?: string) => ({
    ...(await exportJWK(publicKey)),
    ...(kid && { kid }),
  });
  const remote = { keys: [await jwkOf(keys.remote, 'remote')] };
  jwks = createServer((_req, res) => {
    asked++;
    if (answer === 'error') return void res.writeHead(500).end();
    if (answer === 'redirect') return void res.writeHead(302, { location: '/elsewhere' }).end();
    res.setHeader('content-type', 'application/json');
    if (answer === 'keys') return void res.end(JSON.stringify(remote));
    const more = () => res.write(`${' '.repeat(65_536)}`, more);
    more();
  });
  await new Promise<void>((done) => jwks.listen(0, '127.0.0.1', done));
  const { port } = jwks.address() as AddressInfo;
  const userId = async ({ sub, purpose }: { sub?: string; purpose?: string }) => {
    const first = beforeUser;
    beforeUser = null;
    await first?.();
    return purpose === 'session' ? sub : null;
  };
  const bridge = (options: Omit<Parameters<typeof jwtSessions>[0], 'userId' | 'until'>) => {
    const made = jwtSessions({ ...options, userId, until: new Date(Date.now() + 86_400_000) });
    return Object.defineProperty(made, 'until', { get: () => until });
  };
  app = await startApp({
    config: { bearerEnabled: true, bearer: { scheme: 'Token' } },
    plugins: [
      ...plugins,
      movingIn({
        bridges: [
          bridge({ keys: ['a newer secret', OLD], algorithms: ['HS256'] }),
          bridge({ keys: OLD, algorithms: ['HS256'], scheme: 'Token' }),
          bridge({ keys: pemOf(keys.rsa), algorithms: ['RS256', 'PS256'] }),
          bridge({ keys: Buffer.from(pemOf(keys.ed)), algorithms: ['EdDSA'] }),
          bridge({
            keys: {
              keys: [
                await jwkOf(keys.p256, 'p256'),
                await jwkOf(keys.other),
                await jwkOf(keys.p384),
                await jwkOf(keys.p521),
                { kty: 'unknown' },
                { ...(await jwkOf(keys.encryption)), use: 'enc' },
              ],
            },
            algorithms: ['ES256', 'ES384', 'ES512'],
          }),
          bridge({ keys: `http://127.0.0.1:${port}/jwks`, algorithms: ['RS256'] }),
        ],
      }),
    ],
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      const seen: Parameters<typeof express.get>[1] = ((
        req: { auth?: { via: string; session: unknown; user: { id: string } } },
        res: { json(body: unknown): void },
      ) =>
        res.json({
          via: req.auth?.via ?? null,
          session: req.auth?.session,
          user: req.auth?.user.id,
        })) as never;
      express.all('/page', requireSession(auth), seen as never);
      express.get('/home', optionalSession(auth), seen as never);
      express.get('/bearer', requireSession(auth, { accept: ['bearer'] }), seen as never);
      express.get('/fresh', requireSession(auth, { freshWithin: 600 }), seen as never);
      express.get(
        '/get-session',
        caught(async (req, res) => void res.json({ via: (await auth.getSession(req)).via })),
      );
      express.post(
        '/logout',
        caught(async (req, res) => void res.json({ ended: await auth.endSession(req, res) })),
      );
    },
  });
});
afterAll(async () => {
  jwks.closeAllConnections();
  await new Promise((done) => jwks.close(done));
  await app.stop();
});
beforeEach(async () => {
  answer = 'keys';
  until = new Date(Date.now() + 86_400_000);
  user = await newUser();
});

async function newUser() {
  const email = `person${++count}@example.com`;
  const { id } = await app.auth.users.create({ email, emailVerified: true, password: PASSWORD });
  return { id, email };
}

const now = () => Math.floor(Date.now() / 1000);
const claimsOf = (more: JWTPayload = {}): JWTPayload => ({
  sub: user.id,
  purpose: 'session',
  jti: randomUUID(),
  iat: now(),
  exp: now() + 3600,
  ...more,
});
const sign = (
  more: JWTPayload = {},
  alg: string = 'HS256',
  key: KeyObject | Uint8Array = keys.HS256,
  header: object = {},
) => new SignJWT(claimsOf(more)).setProtectedHeader({ alg, ...header }).sign(key);
/** The token with other last characters, whose last bits decoders ignore. */
const othersOf = (token: string) => {
  const bytes = (one: string) =>
    Buffer.from(one.slice(one.lastIndexOf('.') + 1), 'base64url').toString('hex');
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const others = [...letters].map((letter) => token.slice(0, -1) + letter);
  return others.filter((one) => one !== token && bytes(one) === bytes(token));
};
/** Signs anything, also what no library signs. */
const forge = (header: object, claims: unknown, secret: string | Buffer = OLD) => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const input = `${part(header)}.${part(claims)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
};
const visit = async (
  token: string,
  path = '/page',
  {
    method = 'GET',
    scheme = 'Bearer',
    headers = {} as Record<string, string>,
    body = undefined as unknown,
  } = {},
) => {
  const response = await fetch(`${app.origin}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      authorization: `${scheme} ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text ? JSON.parse(text) : {}) as Record<string, never> & { user?: string; code?: string },
  };
};
const statusOf = async (...given: Parameters<typeof visit>) => (await visit(...given)).status;
const sessionsOf = (id = user.id) => app.auth.listSessions(id);
const stored = () =>
  rows<{ expires_at: Date | string; sealed_token: string | null }>(
    app.database,
    'SELECT * FROM carried_sessions ORDER BY created_at DESC',
  );

describe('a token', () => {
  test('stands for one session, however often it comes', async () => {
    const token = await sign();
    const all = await Promise.all(Array.from({ length: 16 }, () => visit(token)));
    expect(all.map(({ status }) => status)).toEqual(Array(16).fill(200));
    expect(all[0]?.body).toMatchObject({ user: user.id, via: 'bearer', session: { aal: 1, amr: [] } });
    const [session, ...others] = await sessionsOf();
    expect(others).toEqual([]);
    expect(session?.authenticatedAt.getTime()).toBe(0);
    expect(all[0]?.headers.getSetCookie()).toEqual([]);
    expect(await statusOf(await sign())).toBe(200);
    expect(await sessionsOf()).toHaveLength(2);
    expect(JSON.stringify(await stored())).not.toContain(token.slice(-20));
  });

  test('opens guards, routes and getSession, but nothing that wants a recent sign-in', async () => {
    const token = await sign();
    expect(await visit(token, '/get-session')).toMatchObject({ status: 200, body: { via: 'bearer' } });
    for (const path of ['/page', '/home', '/bearer', '/auth/me', '/auth/sessions'])
      expect(await statusOf(token, path)).toBe(200);
    expect(await visit(token, '/fresh')).toMatchObject({
      status: 403,
      body: { code: 'reauthentication_required' },
    });
    await visit(token, '/auth/reauthenticate', { method: 'POST', body: { password: PASSWORD } });
    expect(await statusOf(token, '/fresh')).toBe(200);
    // No page of another site can send it.
    const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://elsewhere.example' };
    expect(await statusOf(token, '/page', { method: 'POST', headers })).toBe(200);
  });

  test('ends with its time, and its session with it', async () => {
    const exp = now() + 1800;
    expect(await statusOf(await sign({ exp }))).toBe(200);
    const [session] = await sessionsOf();
    expect(session?.expiresAt).toEqual(new Date(exp * 1000));
    expect(await statusOf(await sign({ exp: 4e12 }))).toBe(200);
    expect(await statusOf(forge({ alg: 'HS256' }, claimsOf({ exp: 1e300 })))).toBe(200);
  });

  test('brings a token of the session, the same in every answer, with which the client can go on', async () => {
    const token = await sign();
    const given = [await visit(token), await visit(token)].map(({ headers }) =>
      headers.get('set-auth-token'),
    );
    expect(given[0]).toMatch(/^lks_/);
    expect(given[1]).toBe(given[0]);
    expect((await visit(token)).headers.get('cache-control')).toBe('no-store');
    for (const scheme of ['Bearer', 'Token', 'token'])
      expect(await visit(given[0] ?? '', '/page', { scheme })).toMatchObject({ body: { user: user.id } });
    expect(await statusOf(given[0] ?? '', '/page', { scheme: 'Basic' })).toBe(401);
    expect(await sessionsOf()).toHaveLength(1);
    expect((await visit(given[0] ?? '')).headers.get('set-auth-token')).toBeNull();
  });

  test.each<[string, JwtAlgorithm, () => KeyObject, object]>([
    ['RSA in PEM', 'RS256', () => keys.rsa.privateKey, {}],
    ['RSA-PSS in PEM', 'PS256', () => keys.rsa.privateKey, {}],
    ['Ed25519 in PEM', 'EdDSA', () => keys.ed.privateKey, {}],
    ['P-256 in a JWK set', 'ES256', () => keys.p256.privateKey, { kid: 'p256' }],
    ['P-256 in a JWK set, of several without an id', 'ES256', () => keys.other.privateKey, {}],
    ['P-384 in a JWK set', 'ES384', () => keys.p384.privateKey, {}],
    ['P-521 in a JWK set', 'ES512', () => keys.p521.privateKey, {}],
    ['RSA at a URL', 'RS256', () => keys.remote.privateKey, { kid: 'remote' }],
  ])('is verified with the key %s', async (_what, alg, key, header) => {
    expect(await visit(await sign({}, alg, key(), header))).toMatchObject({
      status: 200,
      body: { user: user.id },
    });
  });

  test('comes with the scheme of its bridge, and with no other', async () => {
    expect(await statusOf(await sign(), '/page', { scheme: 'Token' })).toBe(200);
    const rs = await sign({}, 'RS256', keys.rsa.privateKey);
    expect(await statusOf(rs, '/page', { scheme: 'Token' })).toBe(401);
    expect((await visit('x')).headers.get('www-authenticate')).toContain(
      'Bearer realm="latchkey", Token realm="latchkey"',
    );
    expect(app.auth.openapi().components.securitySchemes).toMatchObject({
      bearer: {
        type: 'http',
        scheme: 'bearer',
        description: expect.stringContaining('Authorization: Token'),
      },
    });
  });
});

describe('is invalid', () => {
  const ok = { alg: 'HS256' };
  const valid = () => claimsOf();
  const without = (name: string) =>
    Object.fromEntries(Object.entries(valid()).filter(([one]) => one !== name));
  test.each<[string, () => string | Promise<string>]>([
    [
      'a token without a signature',
      () => `${forge({ alg: 'none' }, valid()).split('.').slice(0, 2).join('.')}.`,
    ],
    ['the algorithm none', () => forge({ alg: 'none' }, valid())],
    ['the public key taken for a secret', () => forge(ok, valid(), pemOf(keys.rsa))],
    ['an algorithm that is not pinned', () => sign({}, 'HS512', Buffer.from(OLD.padEnd(64)))],
    ['another secret', () => forge(ok, valid(), 'another secret')],
    ['another key', () => sign({}, 'ES256', keys.other.privateKey, { kid: 'p256' })],
    ['a key for encryption', () => sign({}, 'ES256', keys.encryption.privateKey)],
    ['no exp', () => forge(ok, without('exp'))],
    ['an exp in the past', () => sign({ exp: now() - 1 })],
    ['an exp that is no number', () => forge(ok, { ...valid(), exp: '9999999999' })],
    ['an nbf in the future', () => sign({ nbf: now() + 300 })],
    ['an iat in the future', () => sign({ iat: now() + 300 })],
    ['an iat that is no number', () => forge(ok, { ...valid(), iat: 'now' })],
    ['claims that are no object', () => forge(ok, [valid()])],
    ['a critical extension', () => forge({ ...ok, crit: ['exp'] }, valid())],
    ['an unencoded payload', () => forge({ ...ok, crit: ['b64'], b64: false }, valid())],
    ['more than 8 KiB', () => sign({ filling: 'x'.repeat(9000) })],
    ['another purpose', () => sign({ purpose: 'reset' })],
    ['a user who is unknown', () => sign({ sub: randomUUID() })],
    ['junk', () => 'a.b.c'],
    ['an encrypted token', () => 'a.b.c.d.e'],
  ])('%s', async (_what, make) => {
    const token = await make();
    expect(await visit(token)).toMatchObject({ status: 401, body: { code: 'invalid_session' } });
    expect(await visit(token, '/home')).toMatchObject({ status: 401, body: { code: 'invalid_session' } });
    expect(await sessionsOf()).toEqual([]);
  });

  test('a token of 8 KiB that has a clock a little ahead is valid', async () => {
    expect(await statusOf(await sign({ iat: now() + 10 }))).toBe(200);
    expect(await statusOf(await sign({ nbf: now() + 10, filling: 'x'.repeat(5000) }))).toBe(200);
  });

  test('the token of an account with a second factor, which it does not show', async () => {
    const browser = app.browser();
    await browser
      .post('/auth/signin/credential')
      .send({ credential: user.email, password: PASSWORD })
      .expect(200);
    const token = await sign();
    expect(await statusOf(token)).toBe(200);
    await enroll(browser);
    expect(await statusOf(token)).toBe(401);
    await rows(app.database, 'UPDATE users SET auth_epoch = 0 WHERE id = :id', { id: user.id });
    expect(await statusOf(await sign())).toBe(401);
  });

  test('the token of a suspended account', async () => {
    const token = await sign();
    expect(await statusOf(token)).toBe(200);
    await app.auth.suspension.suspend(user.id, {});
    for (const one of [token, await sign({ iat: now() + 10 })]) expect(await statusOf(one)).toBe(401);
  });

  test('any token after `until`', async () => {
    const token = await sign();
    expect(await statusOf(token)).toBe(200);
    until = new Date(Date.now() - 1);
    for (const one of [token, await sign()]) expect(await statusOf(one)).toBe(401);
  });
});

describe('a token whose session has ended is invalid', () => {
  const sessionId = async () => (await sessionsOf())[0]?.id ?? '';
  test.each<[string, (token: string) => Promise<unknown>]>([
    ['POST /signout', (token) => visit(token, '/auth/signout', { method: 'POST' })],
    ['endSession', (token) => visit(token, '/logout', { method: 'POST' })],
    [
      'DELETE /sessions/:id',
      async (token) => visit(token, `/auth/sessions/${await sessionId()}`, { method: 'DELETE' }),
    ],
    ['revokeSessionById', async () => app.auth.revokeSessionById(user.id, await sessionId())],
    ['revokeAllSessions', () => app.auth.revokeAllSessions(user.id)],
    ['a new password', () => app.auth.users.setPassword(user.id, `${PASSWORD}, too`)],
    [
      'a sign-in with it',
      (token) =>
        visit(token, '/auth/signin/credential', {
          method: 'POST',
          body: { credential: user.email, password: PASSWORD },
        }),
    ],
    ['a deletion', () => app.auth.users.delete(user.id)],
  ])('by %s', async (_what, end) => {
    const token = await sign();
    expect(await statusOf(token)).toBe(200);
    await end(token);
    expect(await visit(token)).toMatchObject({ status: 401, body: { code: 'invalid_session' } });
    await app.auth.prune();
    expect(await statusOf(token)).toBe(401);
  });

  test('by a sign-in with it, although it has not been seen before', async () => {
    const token = await sign();
    const body = { credential: user.email, password: PASSWORD };
    const { headers } = await visit(token, '/auth/signin/credential', { method: 'POST', body });
    expect(await statusOf(token)).toBe(401);
    expect(await statusOf(headers.get('set-auth-token') ?? '')).toBe(200);
    const kept = await stored();
    await visit(forge({ alg: 'HS256' }, claimsOf(), 'x'), '/auth/signin/credential', {
      method: 'POST',
      body,
    });
    expect(await stored()).toHaveLength(kept.length);
  });

  test('by a sign-in with it, although another request begins its session meanwhile', async () => {
    const token = await sign();
    beforeUser = async () => expect(await statusOf(token)).toBe(200);
    const body = { credential: user.email, password: PASSWORD };
    expect(await statusOf(token, '/auth/signin/credential', { method: 'POST', body })).toBe(200);
    expect(await statusOf(token)).toBe(401);
    expect(await sessionsOf()).toHaveLength(1);
  });

  test('in any other encoding of its signature too', async () => {
    const token = await sign({}, 'ES256', keys.p256.privateKey, { kid: 'p256' });
    const dot = token.lastIndexOf('.') + 1;
    const [r, s] = [0, 32].map((at) => Buffer.from(token.slice(dot), 'base64url').subarray(at, at + 32));
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
    const other = (order - BigInt(`0x${s?.toString('hex')}`)).toString(16).padStart(64, '0');
    const negated =
      token.slice(0, dot) + Buffer.concat([r as Buffer, Buffer.from(other, 'hex')]).toString('base64url');
    for (const one of [token, negated]) expect(await statusOf(one)).toBe(200);
    expect(await sessionsOf()).toHaveLength(1);
    await visit(token, '/auth/signout', { method: 'POST' });
    for (const one of [token, negated, ...othersOf(token), `${token}=`])
      expect(await statusOf(one)).toBe(401);
    const hmac = await sign();
    await visit(hmac, '/auth/signout', { method: 'POST' });
    expect(othersOf(hmac)).toHaveLength(3);
    for (const one of othersOf(hmac)) expect(await statusOf(one)).toBe(401);
    expect(await sessionsOf()).toEqual([]);
  });

  test('which is known until it expires, even if `until` is earlier, because that can be moved', async () => {
    const expiresAt = async () => new Date((await stored())[0]?.expires_at ?? 0).getTime();
    const exp = now() + 600;
    await visit(await sign({ exp }));
    expect(await expiresAt()).toBe(exp * 1000);
    until = new Date(Math.floor(Date.now() / 1000) * 1000 + 60_000);
    await visit(await sign({ exp }));
    expect(await expiresAt()).toBe(exp * 1000);
  });

  test('and a new one must be at least 10 seconds younger than the end of all sessions', async () => {
    await app.auth.revokeAllSessions(user.id);
    expect(await statusOf(await sign())).toBe(401);
    const endedAt = (time: number | null) =>
      rows(app.database, 'UPDATE users SET sessions_ended_at = :at WHERE id = :id', {
        at: time === null ? null : new Date(time * 1000),
        id: user.id,
      });
    // One time for all tokens, because the clock goes on between two of them.
    const ended = now() - 100;
    await endedAt(ended);
    expect(await statusOf(await sign({ iat: ended + 9 }))).toBe(401);
    expect(await statusOf(await sign({ iat: ended - 20 }))).toBe(401);
    expect(await statusOf(forge({ alg: 'HS256' }, { ...claimsOf(), iat: undefined }))).toBe(401);
    await endedAt(null);
    expect(await statusOf(await sign())).toBe(401);
    await endedAt(ended);
    expect(await statusOf(await sign({ iat: ended + 11 }))).toBe(200);
  });
});

describe('with other credentials', () => {
  test('the token decides, and not the cookie', async () => {
    const other = await newUser();
    const browser = app.browser();
    const signIn = await browser
      .post('/auth/signin/credential')
      .send({ credential: other.email, password: PASSWORD })
      .expect(200);
    const cookie = String((signIn.headers['set-cookie'] as unknown as string[])[0]).split(';')[0] ?? '';
    const headers = { cookie };
    expect(await visit(await sign(), '/page', { headers })).toMatchObject({ body: { user: user.id } });
    const invalid = await visit(await sign({ exp: now() - 5 }), '/home', { headers });
    expect(invalid).toMatchObject({ status: 401 });
    expect(invalid.headers.getSetCookie()).toEqual([]);
    await visit(await sign(), '/logout', { method: 'POST', headers });
    expect((await browser.get('/page')).body.user).toBe(other.id);
  });

  test('an API key beside it is ambiguous, and one in its place is a key', async () => {
    const { key } = await app.auth.apiKeys.create(user.id, { name: 'a program' });
    const headers = { 'x-service-api-key': key };
    for (const scheme of ['Bearer', 'Token'])
      expect(await visit(await sign(), '/auth/me', { scheme, headers })).toMatchObject({
        status: 400,
        body: { code: 'ambiguous_credentials' },
      });
    expect(await statusOf(key, '/auth/me')).toBe(200);
  });
});

describe('keys at a URL', () => {
  const remote = () => sign({}, 'RS256', keys.remote.privateKey, { kid: 'remote' });
  // Each with its own cache.
  async function withNewBridge(
    run: (visit: (token: string) => Promise<number>, log: string[]) => Promise<void>,
  ) {
    const { port } = jwks.address() as AddressInfo;
    const logger = memoryLogger();
    const bridge = jwtSessions({
      keys: new URL(`http://127.0.0.1:${port}/jwks`),
      algorithms: ['RS256'],
      userId: ({ sub }) => sub,
      until,
    });
    const auth = createAuth({
      database: app.database.url,
      secret: SECRET,
      plugins: [password(), movingIn({ bridges: [bridge] })],
      logger,
      outbox: { interval: false },
    });
    const server = await listening(
      express().get('/page', requireSession(auth), (_req, res) => void res.json({})) as never,
    );
    asked = 0;
    await run(async (token) => {
      const response = await fetch(`${server.origin}/page`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(response.headers.get('set-auth-token')).toBeNull();
      await response.text();
      return response.status;
    }, logger.lines);
    await server.stop();
    await auth.close();
  }

  test('are read once, and a token that is known needs none', async () => {
    await withNewBridge(async (visit) => {
      const token = await remote();
      expect(await Promise.all([visit(token), visit(await remote()), visit(token)])).toEqual([200, 200, 200]);
      expect(await visit(await sign({}, 'RS256', keys.rsa.privateKey, { kid: 'another' }))).toBe(401);
      expect(asked).toBe(1);
      // No token of latchkey's is accepted without bearerEnabled, nor stored.
      expect((await stored())[0]?.sealed_token).toBeNull();
    });
    await withNewBridge(async (visit) => {
      answer = 'error';
      const token = await remote();
      await withNewBridge(async () => undefined);
      expect(await visit(token)).toBe(503);
      answer = 'keys';
      expect(await visit(token)).toBe(200);
      answer = 'error';
      expect(await visit(token)).toBe(200);
    });
  });

  test.each(['error', 'redirect', 'endless'] as const)(
    'that cannot be read (%s) are an outage, which the log names',
    async (how) => {
      await withNewBridge(async (visit, log) => {
        answer = how;
        expect(await visit(await remote())).toBe(503);
        expect(asked).toBe(1);
        expect(log.join('\n')).toContain('the sessions of jwt could not be read');
      });
    },
  );
});
