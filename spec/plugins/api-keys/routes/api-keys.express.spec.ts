import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { digestToken } from '../../../../lib/crypto/token.js';
import { admin, apiKeys, createAuth, oauth } from '../../../../lib/index.js';
import { oidc } from '../../../../lib/providers.js';
import { ada, password, SECRET, type SpecApp, signedIn, startApp } from '../../../support/app.js';
import { rows } from '../../../support/database.js';
import { expectProblem } from '../../../support/problem.js';

const eve = { email: 'eve@example.com', password: 'eavesdropping all day' };
const plugins = [
  password({ username: true }),
  apiKeys(),
  admin({ adminEmails: [ada.email] }),
  oauth(),
  oidc({ id: 'oidc', issuer: 'https://id.example.com', clientId: 'id', clientSecret: 'secret' }),
] as const;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let app: SpecApp<typeof plugins>;
let browser: Awaited<ReturnType<typeof signedIn>>;
let userId: string;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: { baseUrl: 'http://app.example.com', email: { send: () => undefined } },
  });
  browser = await signedIn(app);
  userId = (await browser.get('/auth/me')).body.user.id;
  await app.auth.markEmailVerified(userId);
});
afterAll(() => app.stop());

const create = (body: object = { name: 'a program' }) => browser.post('/auth/api-keys').send(body);
const me = (key: string) => app.http.get('/auth/me').set('x-service-api-key', key);
const list = async () => (await browser.get('/auth/api-keys').expect(200)).body.api_keys;

describe('POST /api-keys', () => {
  test('returns the key only once', async () => {
    const expires_at = new Date(Date.now() + 3600_000).toISOString();
    const answer = await create({
      name: '  Nightly build ',
      scopes: ['read', 'write:all', 'read'],
      expires_at,
    });
    expect(answer.status).toBe(201);
    const { key } = answer.body;
    expect(key).toMatch(/^lkk_[A-Za-z0-9_-]{48}$/);
    expect(answer.body).toEqual({
      key,
      api_key: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: 'Nightly build',
        start: key.slice(0, 12),
        scopes: ['read', 'write:all'],
        created_at: TIME,
        expires_at,
        last_used_at: null,
      },
    });
    const [listed] = await list();
    expect(listed).toEqual(answer.body.api_key);
    const { body } = await me(key).expect(200);
    expect(body).toEqual({
      user: expect.objectContaining({ id: userId, email: ada.email }),
      session: null,
      api_key: answer.body.api_key,
    });
  });

  test('creates a key without scopes and expiry by default', async () => {
    const { body } = await create().expect(201);
    expect(body.api_key).toMatchObject({ scopes: [], expires_at: null });
    expect(
      (await create({ name: 'x', scopes: [], expires_at: null }).expect(201)).body.api_key,
    ).toMatchObject({
      scopes: [],
      expires_at: null,
    });
  });

  test('stores only a hash, and stored values are not accepted as a key', async () => {
    const { key, api_key } = (await create().expect(201)).body;
    const dump = JSON.stringify(await rows(app.database, 'SELECT * FROM api_keys'), (_key, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('latin1') : value,
    );
    expect(dump).toContain(api_key.id);
    // Only the start of the key is stored, which is too short to be useful.
    expect(dump).not.toContain(key);
    expect(dump).not.toContain(key.slice(12));
    expect(dump).not.toContain(key.slice(4, 20));
    for (const guess of [
      api_key.id,
      api_key.start,
      digestToken(key).toString('hex'),
      `lkk_${digestToken(key).toString('hex')}`,
    ])
      expectProblem(await me(guess), 401, 'invalid_api_key');
    expect(app.log.join()).not.toContain(key.slice(12));
  });

  test.each([
    [{ name: '   ' }, ['/name']],
    [{ name: 'x'.repeat(101) }, ['/name']],
    [{ name: 'line\nbreak' }, ['/name']],
    [{ name: 'zero\u200bwidth' }, ['/name']],
    [{ name: 'x', scopes: ['two words'] }, ['/scopes']],
    [{ name: 'x', scopes: ['quo"te'] }, ['/scopes']],
    [{ name: 'x', scopes: [''] }, ['/scopes/0']],
    [{ name: 'x', scopes: [1] }, ['/scopes/0']],
    [{ name: 'x', scopes: Array(51).fill('a') }, ['/scopes']],
    [{ name: 'x', scopes: ['x'.repeat(101)] }, ['/scopes']],
    [{ name: 'x', expires_at: '2020-01-01T00:00:00Z' }, ['/expires_at']],
    [{ name: 'x', expires_at: 'tomorrow' }, ['/expires_at']],
    [{ name: 'x', expires_at: '2999-02-30T00:00:00Z' }, ['/expires_at']],
    [{ name: 'x', expires_at: '9999-12-31T23:59:59-14:00' }, ['/expires_at']],
    [{ name: '', scopes: ['two words'], expires_at: '2020-01-01T00:00:00Z' }, ['/name']],
  ])('rejects %j with 422', async (body, pointers) => {
    const { errors } = expectProblem(await create(body), 422, 'validation_failed');
    expect(errors?.map(({ pointer }) => pointer)).toEqual(pointers);
  });

  test('accepts the latest possible expiry time', async () => {
    const expires_at = '9999-12-30T23:59:59.999Z';
    const { key, api_key } = (await create({ name: 'for good', expires_at }).expect(201)).body;
    expect(api_key.expires_at).toBe(expires_at);
    await me(key).expect(200);
    expect((await list())[0].expires_at).toBe(expires_at);
  });
});

describe('GET and DELETE /api-keys', () => {
  let eves: typeof browser;
  beforeAll(async () => {
    eves = await signedIn(app, eve);
  });

  test('lists the user’s own keys, newest first', async () => {
    const made = [];
    for (const name of ['first', 'second', 'third']) {
      made.unshift((await create({ name }).expect(201)).body.api_key.id);
      // The order of ids is exact to the millisecond.
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect((await list()).slice(0, 3).map(({ id }: { id: string }) => id)).toEqual(made);
    expect((await eves.get('/auth/api-keys').expect(200)).body).toEqual({ api_keys: [] });
  });

  test('revokes a key from the next request on, in other processes too', async () => {
    const { key, api_key } = (await create().expect(201)).body;
    const other = createAuth({
      database: app.database.url,
      secret: SECRET,
      rateLimit: false,
      plugins: [password(), apiKeys()],
    });
    const there = () => other.getSession({ headers: { 'x-service-api-key': key } });
    expect(await there()).toMatchObject({ via: 'api-key', user: { id: userId }, session: null });
    await me(key).expect(200);
    await browser.delete(`/auth/api-keys/${api_key.id}`).expect(204);
    expectProblem(await me(key), 401, 'invalid_api_key');
    await expect(there()).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    expectProblem(await browser.delete(`/auth/api-keys/${api_key.id}`), 404, 'api_key_not_found');
    await other.close();
  });

  test('responds with 404 to the ids of other users’ keys and to invalid ids', async () => {
    const { key, api_key } = (await create().expect(201)).body;
    for (const id of [api_key.id, 'junk', '%00', "'", '01900000-0000-7000-8000-000000000000'])
      expectProblem(await eves.delete(`/auth/api-keys/${id}`), 404, 'api_key_not_found');
    await me(key).expect(200);
  });
});

describe('an API key', () => {
  let key: string;
  beforeEach(async () => {
    key = (await create({ name: 'a program', scopes: ['all'] }).expect(201)).body.key;
  });

  test('stays valid after a sign-out, revoke-sessions and a password change, and is deleted with its user', async () => {
    const person = { email: 'gone@example.com', password: ada.password };
    const own = await signedIn(app, person);
    const { body } = await own.post('/auth/api-keys').send({ name: 'mine' }).expect(201);
    const { id } = (await me(body.key).expect(200)).body.user;
    await own.post('/auth/revoke-sessions').expect(200, { revoked: 1 });
    await me(body.key).expect(200);
    await browser.post(`/auth/admin/users/${id}/revoke-sessions`).expect(200);
    await me(body.key).expect(200);
    await app.auth.revokeAllSessions(id);
    await app.auth.credential.changePassword({
      userId: id,
      currentPassword: ada.password,
      newPassword: 'a difference engine',
    });
    await me(body.key).expect(200);
    await app.auth.models.User.destroy({ where: { id } });
    expectProblem(await me(body.key), 401, 'invalid_api_key');
    expect(await app.auth.apiKeys.list(id)).toEqual([]);
  });

  test('sets no cookie, and its responses have the usual headers', async () => {
    const answer = await me(key).set('cookie', 'latchkey=junk').expect(200);
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.headers['cache-control']).toBe('no-store');
    const bad = await me(`${key.slice(0, -1)}!`);
    expectProblem(bad, 401, 'invalid_api_key');
    expect(bad.headers['www-authenticate']).toContain('ApiKey realm="latchkey"');
    expect(bad.headers['set-cookie']).toBeUndefined();
  });
});
