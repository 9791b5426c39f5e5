import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { apiKeys } from '../../../lib/index.js';
import {
  ageSessions,
  expectEscaped,
  formIn,
  formsIn,
  HOSTILE,
  PageVisitor,
  startPages,
} from '../../support/account-pages.js';
import { ada, password } from '../../support/app.js';
import { rows } from '../../support/database.js';

const start = () => startPages([password(), apiKeys()]);
const PATH = '/auth/account/api-keys';

let app: Awaited<ReturnType<typeof start>>['app'];
let visitor: PageVisitor;
let id: string;
beforeAll(async () => {
  ({ app } = await start());
});
afterAll(() => app.stop());
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  const made = await app.auth.credential.signUp(ada);
  id = made?.user.id as string;
  visitor = await new PageVisitor(app.origin).signIn();
});

const open = () => visitor.get(PATH);
const keyIn = ({ body }: { body: string }) => /<output[^>]*>([^<]*)<\/output>/.exec(body)?.[1];

describe('the page', () => {
  test('leads to the sign-in without a session', async () => {
    const answer = await new PageVisitor(app.origin).get(PATH);
    const location = '/auth/sign-in?return_to=%2Fauth%2Faccount%2Fapi-keys';
    expect(answer).toMatchObject({ status: 303, location });
  });

  test('exists only with apiKeys()', async () => {
    const other = await startPages([password()]);
    try {
      await other.app.auth.credential.signUp(ada);
      const one = await new PageVisitor(other.app.origin).signIn();
      expect((await one.get(PATH)).status).toBe(404);
      expect((await one.get('/auth/account')).body).not.toContain('api-keys');
    } finally {
      await other.app.stop();
    }
  });

  test('lists the keys, and escapes their names', async () => {
    expect((await open()).body).toContain('You have no API keys.');
    const { apiKey, key } = await app.auth.apiKeys.create(id, { name: HOSTILE, scopes: ['read', 'write'] });
    await app.auth.apiKeys.create(id, { name: HOSTILE });
    const past = new Date('2026-01-31T06:30:00Z');
    await app.auth.models.ApiKey.update({ expiresAt: past }, { where: { id: apiKey.id } });
    const page = await open();
    expectEscaped(page);
    expect(page.body).toContain('Scopes: read write<br>');
    expect(page.body).toContain('Scopes: all rights<br>');
    expect(page.body).toContain(
      'Expires: <time datetime="2026-01-31T06:30:00.000Z" data-part="time">31 Jan 2026, 06:30 UTC</time>',
    );
    expect(page.body.match(/>expired</g)).toHaveLength(1);
    expect(page.body).toContain(`<code>${key.slice(0, 12)}…</code>`);
    expect(page.body).not.toContain(key);
    const buttons = formsIn(page.body).map(({ button }) => button);
    expect(new Set(buttons).size).toBe(3);
  });
});

describe('creating a key', () => {
  test('shows it once', async () => {
    const typed = { name: 'nightly', expires_at: '2099-01-31', scopes: ' read  write ' };
    const done = await visitor.submit(await open(), '/create', typed);
    expect(done).toMatchObject({ status: 303, location: PATH });
    expect(done.body).toBe('');
    const page = await visitor.follow(done);
    const key = String(keyIn(page));
    expect(page.body).toMatch(/<h2 tabindex="-1" autofocus>Your new key: nightly<\/h2>/);
    expect(page.body).toContain(
      'hidden data-part="button secondary" data-copy="new-key" data-copied="Copied"',
    );
    const me = await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
    expect(me.body.api_key).toMatchObject({
      name: 'nightly',
      scopes: ['read', 'write'],
      expires_at: '2099-01-31T00:00:00.000Z',
    });
    for (const again of [await open(), await visitor.get(`${PATH}/create`), await open()])
      expect(again.body).not.toContain(key);
    expect(await app.auth.apiKeys.list(id)).toHaveLength(1);
  });

  test('shows it on no other page, and to no other browser', async () => {
    const done = await visitor.submit(await open(), '/create', { name: 'nightly' });
    const elsewhere = await visitor.get('/auth/account');
    expect(keyIn(elsewhere)).toBeUndefined();
    const other = await new PageVisitor(app.origin).signIn();
    expect(keyIn(await other.get(PATH))).toBeUndefined();
    expect(visitor.cookie).not.toContain('lkk_');
    expect(keyIn(await visitor.follow(done))).toMatch(/^lkk_/);
  });

  test('shows it in no other session that presents the cookie', async () => {
    const done = await visitor.submit(await open(), '/create', { name: 'nightly' });
    const once = visitor.cookie.split('; ').filter((pair) => pair.startsWith('latchkey-once='));
    expect(once).toHaveLength(1);
    const other = await new PageVisitor(app.origin).signIn();
    const cookie = [other.cookie, ...once].join('; ');
    const page = await app.http.get(PATH).set('Cookie', cookie).expect(200);
    expect(keyIn({ body: page.text } as never)).toBeUndefined();
    expect(keyIn(await visitor.follow(done))).toMatch(/^lkk_/);
  });

  test('needs nothing but a name', async () => {
    await visitor.submit(await open(), '/create', { name: 'plain' });
    const [key] = await app.auth.apiKeys.list(id);
    expect(key).toMatchObject({ name: 'plain', scopes: [], expiresAt: null });
  });

  test.each([
    { name: '', expires_at: '', scopes: 'a' },
    { name: HOSTILE, expires_at: '2020-01-01', scopes: 'a b' },
    { name: HOSTILE, expires_at: 'tomorrow', scopes: HOSTILE },
    { name: 'x', expires_at: '', scopes: 'x'.repeat(201) },
  ])('is refused for %j, and keeps what was typed', async (typed) => {
    const refused = await visitor.submit(await open(), '/create', typed);
    expect(refused.status).toBe(422);
    expect(refused.body).toContain('aria-invalid="true"');
    expect(formIn(refused.body, '/create').fields).toEqual(typed);
    if (typed.name === HOSTILE) expectEscaped(refused);
    expect(await app.auth.apiKeys.list(id)).toEqual([]);
  });

  test('asks for the password later', async () => {
    await ageSessions(app);
    const page = await open();
    const without = await visitor.submit(page, '/create', { name: 'nightly' });
    expect(without.status).toBe(403);
    expect(without.body).toContain('/auth/reauthenticate?return_to=%2Fauth%2Faccount%2Fapi-keys');
    const wrong = await visitor.submit(page, '/create', { name: 'nightly', password: 'not her password' });
    expect(wrong.status).toBe(401);
    expect(wrong.body).not.toContain('not her password');
    expect(formIn(wrong.body, '/create').fields).toMatchObject({ name: 'nightly', password: '' });
    const done = await visitor.submit(page, '/create', { name: 'nightly', password: ada.password });
    expect(keyIn(await visitor.follow(done))).toMatch(/^lkk_/);
  });
});

describe('revoking a key', () => {
  test('makes it useless', async () => {
    const { apiKey, key } = await app.auth.apiKeys.create(id, { name: 'nightly' });
    const done = await visitor.submit(await open(), `/revoke/${apiKey.id}`);
    expect(done.location).toBe(`${PATH}?done=api-key-revoked`);
    expect((await visitor.follow(done)).body).toContain('The key was revoked.');
    await app.http.get('/auth/me').set('x-service-api-key', key).expect(401);
  });

  test('is refused for a key of another user', async () => {
    const eve = await app.auth.credential.signUp({ email: 'eve@example.com', password: ada.password });
    const eveId = eve?.user.id as string;
    const { apiKey } = await app.auth.apiKeys.create(eveId, { name: 'of Eve' });
    const refused = await visitor.post(`${PATH}/revoke/${apiKey.id}`);
    expect(refused.status).toBe(404);
    expect(refused.body).toContain('role="alert"');
    expect(await app.auth.apiKeys.list(eveId)).toHaveLength(1);
  });
});
