import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Request, Response } from 'express';
import {
  admin,
  apiKeys,
  authRouter,
  currentSession,
  currentUser,
  optionalSession,
  requireAdmin,
  requireSession,
} from '../../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../../support/app.js';
import { expectProblem } from '../../support/problem.js';

const plugins = [password(), apiKeys(), admin({ adminEmails: [ada.email] })] as const;
const seen = (req: Request, res: Response) => void res.json(req.auth ?? null);

let app: SpecApp<typeof plugins>;
let userId: string;
let cookie: string;
beforeAll(async () => {
  app = await startApp({
    plugins,
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.all('/any', requireSession(auth), seen);
      express.get('/reports', requireSession(auth, { scopes: ['reports:read'] }), seen);
      express.get('/both', requireSession(auth, { scopes: ['reports:read', 'reports:write'] }), seen);
      express.get('/people', requireSession(auth, { accept: ['cookie', 'bearer'] }), seen);
      express.get('/programs', requireSession(auth, { accept: ['api-key'] }), seen);
      express.get('/optional', optionalSession(auth), seen);
      express.get('/admin', requireAdmin(auth), seen);
      express.get('/fresh', requireSession(auth, { freshWithin: 300 }), seen);
      express.get('/current', requireSession(auth), (req, res) => {
        const attempt = () => {
          try {
            return currentSession(req).id;
          } catch (error) {
            return (error as { status: number; code: string }).code;
          }
        };
        res.json([currentUser(req).id, attempt()]);
      });
    },
  });
  await app.auth.credential.signUp(ada);
  const { user, token } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
  userId = user.id;
  cookie = `latchkey=${token}`;
  await app.auth.markEmailVerified(userId);
});
afterAll(() => app.stop());

const keyWith = async (...scopes: string[]) =>
  (await app.auth.apiKeys.create(userId, { name: 'a program', scopes })).key;
let key: string;
beforeEach(async () => {
  key = await keyWith();
});
const get = (path: string, its = key) => app.http.get(path).set('x-service-api-key', its);

describe('requireSession with API keys', () => {
  test('accepts a key and sets user and key on req.auth', async () => {
    const { body } = await get('/any').expect(200);
    expect(body).toMatchObject({
      via: 'api-key',
      session: null,
      user: { id: userId, email: ada.email },
      apiKey: { name: 'a program', userId, scopes: [], start: key.slice(0, 12) },
    });
    expect(JSON.stringify(body)).not.toMatch(/hash|epoch|bcrypt/i);
    expect(JSON.stringify(body)).not.toContain(key.slice(12));
  });

  test('rejects a key with scopes where none are named, but GET /me answers it', async () => {
    const scoped = await keyWith('reports:read');
    for (const path of ['/any', '/programs', '/optional'])
      expectProblem(await get(path, scoped), 403, 'scope_required');
    expect((await get('/auth/me', scoped).expect(200)).body.api_key.scopes).toEqual(['reports:read']);
    await get('/any').expect(200);
    await get('/optional').expect(200);
  });

  test('requires all scopes of a key, and none of a session', async () => {
    expectProblem(await get('/reports'), 403, 'insufficient_scope');
    for (const scope of ['reports', 'reports:*', 'REPORTS:READ', 'reports:read2', 'reports:write'])
      expectProblem(await get('/reports', await keyWith(scope)), 403, 'insufficient_scope');
    const reader = await keyWith('other', 'reports:read');
    await get('/reports', reader).expect(200);
    expectProblem(await get('/both', reader), 403, 'insufficient_scope');
    await get('/both', await keyWith('reports:write', 'reports:read')).expect(200);
    await app.http.get('/both').set('cookie', cookie).expect(200);
  });

  test('accepts only sessions or only keys according to accept', async () => {
    expectProblem(await get('/people'), 403, 'session_required');
    await app.http.get('/people').set('cookie', cookie).expect(200);
    await get('/programs').expect(200);
    expectProblem(await app.http.get('/programs').set('cookie', cookie), 401, 'unauthenticated');
  });

  test('rejects keys with session_required where only a session is accepted', async () => {
    expectProblem(await get('/admin'), 403, 'session_required');
    expectProblem(await get('/fresh'), 403, 'session_required');
    await app.http.get('/admin').set('cookie', cookie).expect(200);
    expect((await get('/current').expect(200)).body).toEqual([userId, 'session_required']);
  });

  test('does not check the origin, because a page of another site cannot send a key', async () => {
    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
    await app.http.post('/any').set(foreign).set('x-service-api-key', key).expect(200);
    await app.http.delete('/any').set(foreign).set('authorization', `ApiKey ${key}`).expect(200);
    expectProblem(await app.http.post('/any').set(foreign).set('cookie', cookie), 403, 'origin_not_allowed');
  });

  test('and optionalSession accepts a key, and rejects an invalid one', async () => {
    expect((await get('/optional').expect(200)).body.via).toBe('api-key');
    expectProblem(await get('/optional', 'junk'), 401, 'invalid_api_key');
  });

  test.each([
    [{ scopes: 'read' }, /scopes must be a list of strings/],
    [{ scopes: [1] }, /scopes must be a list of strings/],
    [{ freshWithin: 0 }, /freshWithin must be a number of seconds/],
    [{ freshWithin: 'soon' }, /freshWithin must be a number of seconds/],
    [{ freshWithin: Number.NaN }, /freshWithin must be a number of seconds/],
    [{ fresh: 5 }, /requireSession does not accept fresh/],
  ])('throws for the options %j', (options, message) => {
    expect(() => requireSession(app.auth, options as never)).toThrow(message);
  });
});
