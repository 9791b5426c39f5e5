import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type request from 'supertest';
import { searchUsers } from '../../../lib/accounts/list.js';
import { internalsOf } from '../../../lib/auth.js';
import { type AuthEvents, admin } from '../../../lib/index.js';
import { readPage } from '../../../lib/tables/pages.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { expectProblem } from '../../support/problem.js';
import { settled } from '../../support/sessions.js';

const root = { email: 'root@example.com', password: 'a root of all admins' };
const plugins = [password({ username: true }), admin({ adminEmails: [' ROOT@example.com '] })] as const;

let app: SpecApp<typeof plugins>;
let browser: ReturnType<typeof request.agent>;
let rootId: string;
beforeAll(async () => {
  app = await startApp({ plugins });
  browser = await signedIn(app, root);
  rootId = (await browser.get('/auth/me').expect(200)).body.user.id;
  await app.auth.markEmailVerified(rootId);
});
afterAll(() => app.stop());

/** Inserts rows directly, because hashing thousands of passwords would only take time. */
async function makeUsers(users: { email?: string | null; username?: string | null }[], time = Date.now()) {
  const at = new Date();
  const rows = users.map((user, index) => ({
    id: `${(time + index)
      .toString(16)
      .padStart(12, '0')
      .replace(/^(.{8})/, '$1-')}-7000-8000-${String(index).padStart(12, '0')}`,
    email: null,
    username: null,
    emailVerifiedAt: null,
    passwordHash: '$bcrypt-hmac-sha384$2b$04$hash',
    authEpoch: 0,
    createdAt: at,
    updatedAt: at,
    ...user,
  }));
  await app.auth.models.User.bulkCreate(rows, { logging: false });
  return rows.map(({ id }) => id);
}

const list = (query = '') => browser.get(`/auth/admin/users${query}`);
const emailsOf = async (query: Record<string, string>) => {
  const { body } = await list(`?${new URLSearchParams(query)}`).expect(200);
  return (body.users as { email: string | null; username: string | null }[]).map(
    (user) => user.email ?? user.username,
  );
};

describe('administrator rights', () => {
  test('by email require a verified email on every request', async () => {
    const isAdministrator = async () => app.auth.admin.isAdministrator(await app.auth.admin.getUser(rootId));
    expect(await isAdministrator()).toBe(true);
    await app.auth.models.User.update({ emailVerifiedAt: null }, { where: { id: rootId } });
    expect(await isAdministrator()).toBe(false);
    for (const path of ['/auth/admin/users', `/auth/admin/users/${rootId}`])
      expectProblem(await browser.get(path), 403, 'admin_required');
    expectProblem(await browser.post(`/auth/admin/users/${rootId}/revoke-sessions`), 403, 'admin_required');
    await app.auth.models.User.update({ emailVerifiedAt: new Date() }, { where: { id: rootId } });
    await list().expect(200);
  });

  test('by id do not require a verified email', async () => {
    const other = await startApp({
      plugins: [password(), admin({ adminUserIds: ['01900000-ABCD-7000-8000-000000000000'] })],
    });
    const client = await signedIn(other);
    expectProblem(await client.get('/auth/admin/users'), 403, 'admin_required');
    const { id } = (await client.get('/auth/me')).body.user;
    await other.auth.models.User.destroy({ where: { id } });
    await other.auth.credential.signUp(ada);
    await other.auth.models.User.update({ id: '01900000-abcd-7000-8000-000000000000' }, { where: {} });
    await client
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
    await client.get('/auth/admin/users').expect(200);
    await other.stop();
  });
});

describe('GET /admin/users', () => {
  test('pages through all users once, newest first, even while users are added', async () => {
    const made = await makeUsers(
      Array.from({ length: 230 }, (_, index) => ({ email: `page${index}@pages.example` })),
    );
    const { users: all } = await app.auth.admin.listUsers({ limit: 200 });
    expect(all[0]?.id).toBe(made.at(-1));
    const seen: string[] = [];
    for (let query = '?limit=50&search=pages.example'; query; ) {
      const { body } = await list(query).expect(200);
      expect(body.users.length).toBeLessThanOrEqual(50);
      seen.push(...body.users.map(({ id }: { id: string }) => id));
      query = body.next_cursor && `?limit=50&search=pages.example&cursor=${body.next_cursor}`;
      if (seen.length === 50) await makeUsers([{ email: 'late@pages.example' }], Date.now() + 60_000);
    }
    expect(seen).toEqual([...made].reverse());
  });

  test('returns 50 users per page, and a cursor only if there are more', async () => {
    const { body } = await list().expect(200);
    expect(body.users).toHaveLength(50);
    expect(body.next_cursor).toMatch(/^[\w-]{22}$/);
    expect((await list('?search=root@').expect(200)).body).toEqual({
      users: [expect.anything()],
      next_cursor: null,
    });
    const exactly = await list('?limit=1&search=root@').expect(200);
    expect(exactly.body.next_cursor).toBeNull();
    expect((await list('?search=nobody-at-all').expect(200)).body).toEqual({ users: [], next_cursor: null });
  });

  test('searches for the literal text, without wildcards', async () => {
    const users = [
      'per%cent',
      'under_score',
      'pi|pe',
      "quo'te",
      'back\\slash',
      'colon:name',
      '$1dollar',
      'dash--dash',
    ];
    await makeUsers([
      ...users.map((name) => ({ email: `${name}@odd.example` })),
      { email: 'plain@odd.example' },
      // Users that wildcards would also match.
      { email: 'per-cent@odd.example' },
      { email: 'underscore@odd.example' },
      { username: 'the_username' },
    ]);
    expect(await emailsOf({ search: 'odd.example' })).toHaveLength(users.length + 3);
    for (const [search, name] of [
      ['%', 'per%cent'],
      ['per%cent', 'per%cent'],
      ['under_', 'under_score'],
      ['|', 'pi|pe'],
      ["'", "quo'te"],
      ['\\', 'back\\slash'],
      ['colon:name', 'colon:name'],
      ['$1', '$1dollar'],
      ['--', 'dash--dash'],
      ['PLAIN@ODD', 'plain'],
      [' plain@odd ', 'plain'],
    ] as const) {
      expect([search, await emailsOf({ search })]).toEqual([search, [`${name}@odd.example`]]);
    }
    expect(await emailsOf({ search: '_username' })).toEqual(['the_username']);
    for (const search of ['%%', 'a%b', "' OR '1'='1", ':before', '?', '😀', '\\%'])
      expect(await emailsOf({ search })).toEqual([]);
  });

  test.each([
    ...[
      'limit=0',
      'limit=201',
      'limit=-1',
      'limit=1.5',
      'limit=',
      'limit=abc',
      'limit=1e2',
      'limit=0x10',
      'limit=%201',
      'limit=9999999999',
    ],
    ...[
      'cursor=',
      'cursor=junk',
      `cursor=${'A'.repeat(21)}`,
      `cursor=${'A'.repeat(23)}`,
      `cursor=${'A'.repeat(21)}B`,
      `cursor=${'A'.repeat(5000)}`,
      "cursor='",
    ],
    ...['search=%00', `search=${'x'.repeat(255)}`],
    ...['limit=5&limit=5', 'search=a&search=b', 'cursor=a&cursor=a', 'x=1&x=2'],
    ...['limit[]=1', 'limit%5B%5D=1', 'limit[0]=1', 'limit[=1', 'limit=1&limit[]=2', 'cursor[a][b]=c'],
    ...['search[]=a', 'search[$ne]=x', 'search[a%0Ab]=x'],
  ])('rejects %s with 400', async (query) => {
    expectProblem(await list(`?${query}`), 400, 'invalid_request');
  });

  test('ignores unknown parameters', async () => {
    for (const query of ['page=2', 'filter[]=1', '[]=1', '__proto__=1', '&&&', '%zz=1'])
      expect((await list(`?${query}`).expect(200)).body.users).toHaveLength(50);
  });

  test('returns the same fields that users see themselves, and no hash', async () => {
    const { body, text } = await list('?limit=200').expect(200);
    for (const user of body.users)
      expect(Object.keys(user)).toEqual([
        'id',
        'email',
        'username',
        'username_display',
        'email_verified_at',
        'created_at',
        'updated_at',
      ]);
    expect(text).not.toMatch(/bcrypt|\$2b|hash|epoch|password(?!RequiredAt)/i);
    const { users } = await app.auth.admin.listUsers({ limit: 200 });
    expect(JSON.stringify([users, await app.auth.admin.getUser(rootId)])).not.toMatch(
      /bcrypt|\$2b|hash|epoch|password(?!RequiredAt)/i,
    );
  });
});

describe('a search among many users', () => {
  const MANY = 11_000;
  beforeAll(async () => {
    await makeUsers([{ email: 'rare@needle.example' }, { username: 'needle_worker' }], 1);
    for (let made = 0; made < MANY; made += 1000)
      await makeUsers(Array.from({ length: 1000 }, (_, index) => ({ username: `hay${made + index}` })));
  });

  test('finds the old ones', async () => {
    expect(await emailsOf({ search: 'eedle' })).toEqual(['needle_worker', 'rare@needle.example']);
    expect(await emailsOf({ search: 'eedle', limit: '1' })).toEqual(['needle_worker']);
  });

  test('goes on with the next page when it has taken long enough', async () => {
    const { core } = internalsOf(app.auth);
    const found: (string | null)[] = [];
    let pages = 0;
    for (let cursor: string | null = null; pages === 0 || cursor !== null; pages++) {
      const { before } = readPage(cursor === null ? {} : { cursor });
      const page = await searchUsers(core, 'eedle', { limit: 50, before }, 0);
      found.push(...page.users.map(({ email, username }) => email ?? username));
      cursor = page.nextCursor;
    }
    expect(pages).toBe(2);
    expect(found).toEqual(['needle_worker', 'rare@needle.example']);
  });

  test('finds the user with an email that is given as a whole, and nobody else', async () => {
    const later = Date.now() + 120_000;
    await makeUsers([{ email: 'the-whole@odd.example' }, { email: 'whole@odd.example' }], later);
    for (const search of ['whole@odd.example', ' Whole@ODD.example '])
      expect(await emailsOf({ search })).toEqual(['whole@odd.example']);
    expect(await emailsOf({ search: 'hole@odd.example' })).toHaveLength(2);
    const { nextCursor } = await app.auth.admin.listUsers({ limit: 1 });
    expect(await emailsOf({ search: 'whole@odd.example', cursor: nextCursor ?? '' })).toEqual([]);
    expect(await emailsOf({ search: 'rare@needle.example', cursor: nextCursor ?? '' })).toHaveLength(1);
  });
});

describe('GET /admin/users/:id', () => {
  test('returns the user, or 404', async () => {
    const { body } = await browser.get(`/auth/admin/users/${rootId}`).expect(200);
    expect(body).toEqual({
      user: expect.objectContaining({ id: rootId, email: root.email }),
      sign_in_methods: { password: true },
      second_factor: false,
    });
    for (const id of [
      'x',
      '1',
      '%00',
      rootId.toUpperCase(),
      `${rootId}x`,
      '01900000-0000-7000-8000-000000000000',
    ])
      expectProblem(await browser.get(`/auth/admin/users/${id}`), 404, 'user_not_found');
  });
});

describe('POST /admin/users/:id/revoke-sessions', () => {
  test('ends all sessions of the user, emits an event with the administrator, and keeps the password', async () => {
    const person = { email: 'theirs@example.com', password: 'somebody of no account' };
    const [first, second] = [await signedIn(app, person), app.browser()];
    const credentials = { credential: person.email, password: person.password };
    await second.post('/auth/signin/credential').send(credentials).expect(200);
    const { id } = (await first.get('/auth/me').expect(200)).body.user;
    const events: AuthEvents['admin.sessions_revoked'][] = [];
    const off = app.auth.on('admin.sessions_revoked', (event) => events.push(event));
    const answer = await browser.post(`/auth/admin/users/${id}/revoke-sessions`).expect(200, { revoked: 2 });
    expect(answer.headers['set-cookie']).toBeUndefined();
    for (const client of [first, second]) expectProblem(await client.get('/auth/me'), 401, 'invalid_session');
    await browser.post(`/auth/admin/users/${id}/revoke-sessions`).expect(200, { revoked: 0 });
    await settled(app.auth);
    expect(events[0]).toMatchObject({ userId: id, adminId: rootId });
    await first.post('/auth/signin/credential').send(credentials).expect(200);
    off();
  });

  test('responds with 404 if the user does not exist', async () => {
    for (const id of ['x', '%00', '01900000-0000-7000-8000-000000000000'])
      expectProblem(await browser.post(`/auth/admin/users/${id}/revoke-sessions`), 404, 'user_not_found');
    await expect(app.auth.admin.revokeUserSessions('x')).rejects.toMatchObject({ code: 'user_not_found' });
    await expect(app.auth.admin.getUser('x')).rejects.toMatchObject({ status: 404 });
    await expect(app.auth.admin.listUsers({ limit: 0 })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(app.auth.admin.listUsers({ cursor: 'x' })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });
});
