import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import request from 'supertest';
import {
  type AuthError,
  admin,
  apiKeys,
  auditLog,
  authRouter,
  createAuth,
  permits,
  requirePermission,
  requireSession,
  roles,
  suspension,
} from '../../../lib/index.js';
import { signedIn, testAuth } from '../../../lib/testing.js';
import { password, SECRET, signedIn as signUp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { importUsers } from '../../support/import-users.js';
import { allSent, type MailApp, startMailApp } from '../../support/mail-app.js';
import { expectProblem } from '../../support/problem.js';

const ROOT = 'root@example.com';
const CONFIGURED = {
  admin: ['posts:*', 'users:read'],
  editor: ['posts:write', 'posts:publish'],
  reader: ['posts:read'],
  owner: ['*'],
};
const plugins = [
  password({ username: true }),
  admin({ adminEmails: [ROOT, 'other-root@example.com'], role: 'admin' }),
  apiKeys(),
  auditLog(),
  roles({ roles: CONFIGURED, default: 'reader' }),
  suspension(),
] as const;

let app: MailApp<typeof plugins>;
beforeAll(async () => {
  app = await startMailApp({
    plugins,
    mount(server, auth) {
      server.use('/auth', authRouter(auth));
      server.get('/publish', requirePermission(auth, 'posts:publish'), (_req, res) => void res.json({}));
      server.get(
        '/read',
        requirePermission(auth, 'posts:read', { aal: 1 }),
        (_req, res) => void res.json({}),
      );
      server.get('/permits', requireSession(auth), (req, res) =>
        res.json({
          roles: (req.auth.user as { roles?: unknown }).roles,
          publish: permits(req, 'posts:publish'),
        }),
      );
    },
  });
});
beforeEach(() => rows(app.database, 'DELETE FROM users'));
afterAll(() => app.stop());

let people = 0;
/** A verified user with roles, and the headers of a session. */
async function person(given: readonly string[] = [], email = `person-${people++}@example.com`) {
  const { id } = await app.auth.users.create({ email, emailVerified: true });
  if (given.length > 0) await app.auth.roles.set(id, given);
  const { token } = await app.auth.createSession(id);
  return { id, email, headers: { cookie: `latchkey=${token}` } };
}
type Person = Awaited<ReturnType<typeof person>>;

const put = (by: Person, id: string, given: unknown) =>
  app.http.put(`/auth/admin/users/${id}/roles`).set(by.headers).send({ roles: given });
const rolesOf = (id: string) => app.auth.roles.of(id);

describe('permissions', () => {
  test('apply from the next request, and guards and permits agree', async () => {
    const ada = await person();
    expectProblem(await app.http.get('/publish').set(ada.headers), 403, 'permission_required');
    await app.http.get('/read').set(ada.headers).expect(200);
    await app.auth.roles.set(ada.id, ['editor']);
    await app.http.get('/publish').set(ada.headers).expect(200);
    expect((await app.http.get('/permits').set(ada.headers)).body).toEqual({
      roles: ['editor'],
      publish: true,
    });
    await app.auth.roles.set(ada.id, []);
    expectProblem(await app.http.get('/publish').set(ada.headers), 403, 'permission_required');
    expect((await app.http.get('/permits').set(ada.headers)).body).toEqual({ roles: [], publish: false });
    expectProblem(await app.http.get('/publish'), 401, 'unauthenticated');
  });

  test('an administrator whom the config names has every permission', async () => {
    const root = await person([], ROOT);
    await app.http.get('/publish').set(root.headers).expect(200);
    await rows(app.database, "UPDATE users SET email_verified_at = NULL, email_proof = 'none'");
    expectProblem(await app.http.get('/publish').set(root.headers), 403, 'permission_required');
  });

  test('an API key has them as far as its scopes allow', async () => {
    const ada = await person(['editor']);
    const keyed = async (scopes?: string[]) => {
      const { key } = await app.auth.apiKeys.create(ada.id, { name: 'a', ...(scopes && { scopes }) });
      return (path: string) => app.http.get(path).set('x-service-api-key', key);
    };
    const [free, fitting, other] = [
      await keyed(),
      await keyed(['posts:publish']),
      await keyed(['posts:write']),
    ];
    await free('/publish').expect(200);
    await fitting('/publish').expect(200);
    expectProblem(await other('/publish'), 403, 'insufficient_scope');
    expect((await free('/permits')).body.publish).toBe(true);
    await app.auth.roles.set(ada.id, []);
    for (const get of [free, fitting, other])
      expectProblem(await get('/publish'), 403, 'permission_required');
  });

  test('a stored role that is no longer configured is shown, allows nothing, and can be kept and taken', async () => {
    const root = await person([], ROOT);
    const ada = await person(['editor']);
    await rows(app.database, "UPDATE users SET roles = 'former owner-of-all' WHERE id = :id", { id: ada.id });
    expect((await app.http.get('/auth/me').set(ada.headers)).body.user.roles).toEqual([
      'former',
      'owner-of-all',
    ]);
    expectProblem(await app.http.get('/publish').set(ada.headers), 403, 'permission_required');
    const { body } = await put(root, ada.id, ['former', 'editor']).expect(200);
    expect(body.user.roles).toEqual(['editor', 'former']);
    const { errors } = expectProblem(await put(root, ada.id, ['owner-of-all']), 422, 'validation_failed');
    expect(errors).toEqual([
      { pointer: '/roles/0', code: 'unknown_role', detail: 'must be one of admin, editor, reader, owner' },
    ]);
  });

  test('roles are no input of users', async () => {
    const body = { email: 'eve@example.com', password: 'an analytical engine', roles: ['admin'] };
    expectProblem(await app.http.post('/auth/signup/credential').send(body), 422, 'validation_failed');
    const ada = await person();
    const patched = await app.http
      .patch('/auth/me')
      .set(ada.headers)
      .send({ roles: ['admin'] });
    expectProblem(patched, 422, 'validation_failed');
    const root = await person([], ROOT);
    for (const [method, path] of [
      ['post', '/auth/admin/users'],
      ['patch', `/auth/admin/users/${ada.id}`],
    ] as const)
      expectProblem(
        await app.http[method](path)
          .set(root.headers)
          .send({ roles: ['admin'] }),
        422,
        'validation_failed',
      );
    expect(await rolesOf(ada.id)).toEqual([]);
  });
});

describe('PUT /admin/users/:id/roles', () => {
  test('sets the roles, without repetitions and the default role', async () => {
    const [root, ada] = [await person([], ROOT), await person()];
    const events: unknown[] = [];
    const stop = app.auth.on('user.roles_changed', ({ ip: _, userAgent: __, ...event }) =>
      events.push(event),
    );
    const { body } = await put(root, ada.id, ['owner', 'editor', 'owner', 'reader']).expect(200);
    expect(body.user).toMatchObject({ id: ada.id, roles: ['editor', 'owner'] });
    await put(root, ada.id, ['editor', 'owner']).expect(200);
    await app.auth.roles.set(ada.id, []);
    stop();
    expect(events).toEqual([
      { userId: ada.id, adminId: root.id, before: [], after: ['editor', 'owner'] },
      { userId: ada.id, adminId: null, before: ['editor', 'owner'], after: [] },
    ]);
    const logged = await app.http.get('/auth/admin/events').set(root.headers).query({ user_id: ada.id });
    expect(logged.body.events).toContainEqual(
      expect.objectContaining({
        kind: 'user.roles_changed',
        details: { admin_id: root.id, before: [], after: ['editor', 'owner'] },
      }),
    );
  });

  test('is for administrators with a recent sign-in', async () => {
    const [root, ada, eve] = [await person([], ROOT), await person(), await person(['owner'])];
    expectProblem(await put(eve, ada.id, ['editor']), 403, 'admin_required');
    expectProblem(await put(eve, 'nobody', ['editor']), 403, 'admin_required');
    await rows(app.database, 'UPDATE sessions SET authenticated_at = :at', {
      at: new Date(Date.now() - 11 * 60_000),
    });
    expectProblem(await put(root, ada.id, ['editor']), 403, 'reauthentication_required');
  });

  test('refuses other users, the own account, unproven emails and malformed roles', async () => {
    const [root, by] = [await person([], ROOT), await person(['admin'])];
    expectProblem(await put(root, by.id.replace(/./g, '0'), ['nothing']), 404, 'user_not_found');
    expectProblem(await put(root, 'nobody', ['editor']), 404, 'user_not_found');
    expectProblem(await put(by, by.id, []), 409, 'own_account');
    const { id } = await app.auth.users.create({ email: 'unproven@example.com' });
    expectProblem(await put(root, id, ['editor']), 409, 'email_unproven');
    expect(await rolesOf(id)).toEqual([]);
    await app.auth.roles.set(id, ['editor', 'owner']);
    expect((await put(root, id, ['owner'])).status).toBe(200);
    const { id: nameless } = await app.auth.users.create({ username: 'nameless' });
    await put(root, nameless, ['editor']).expect(200);
    for (const malformed of ['editor', [1], null, [''], Array(101).fill('editor')])
      expectProblem(await put(root, nameless, malformed), 422, 'validation_failed');
  });

  test('a form sends it too, and [] takes all roles', async () => {
    const [root, ada] = [await person([], ROOT), await person()];
    const send = (body: string) =>
      app.http
        .post(`/auth/admin/users/${ada.id}/set-roles`)
        .set(root.headers)
        .set('origin', 'http://app.example.com')
        .type('form')
        .send(`redirect_to=/done&${body}`)
        .expect(303)
        .expect('location', '/done');
    await send('roles=editor&roles=owner');
    expect(await rolesOf(ada.id)).toEqual(['editor', 'owner']);
    await send('roles=[]');
    expect(await rolesOf(ada.id)).toEqual([]);
  });
});

describe('an administrator by role', () => {
  test('gives and takes only roles that the own permissions cover', async () => {
    const [by, ada] = [await person(['admin']), await person(['owner'])];
    for (const refused of [[], ['editor']])
      expectProblem(await put(by, ada.id, refused), 403, 'permission_required');
    await put(by, ada.id, ['owner', 'editor', 'admin']).expect(200);
    await put(by, ada.id, ['owner']).expect(200);
    expectProblem(await put(by, (await person()).id, ['owner']), 403, 'permission_required');
    expect(await rolesOf(ada.id)).toEqual(['owner']);
  });

  test('cannot change an administrator whom the config names, who can change each other', async () => {
    const [root, other, by] = [
      await person([], ROOT),
      await person([], 'other-root@example.com'),
      await person(['admin', 'owner']),
    ];
    const calls = (caller: Person, id: string) => [
      app.http.post(`/auth/admin/users/${id}/suspend`).set(caller.headers).send({}),
      app.http.patch(`/auth/admin/users/${id}`).set(caller.headers).send({ username: 'eve' }),
      app.http.post(`/auth/admin/users/${id}/revoke-sessions`).set(caller.headers),
      put(caller, id, ['editor']),
      app.http.delete(`/auth/admin/users/${id}`).set(caller.headers),
    ];
    for (const call of calls(by, root.id)) expectProblem(await call, 403, 'target_is_administrator');
    await app.http.get(`/auth/admin/users/${root.id}`).set(by.headers).expect(200);
    await app.http.get('/auth/me').set(root.headers).expect(200);
    await put(other, root.id, ['editor']).expect(200);
    await put(by, (await person()).id, ['editor']).expect(200);
    // The app's own code has no such limit.
    await app.auth.roles.set(root.id, [], { adminId: by.id });
    expect(await rolesOf(root.id)).toEqual([]);
  });

  test('is none from the next request on when the role is taken', async () => {
    const [root, by] = [await person([], ROOT), await person(['admin'])];
    await app.http.get('/auth/admin/users').set(by.headers).expect(200);
    await put(root, by.id, []).expect(200);
    expectProblem(await app.http.get('/auth/admin/users').set(by.headers), 403, 'admin_required');
  });
});

describe('the notice administrator-added', () => {
  const toldOf = async (work: () => Promise<unknown>) => {
    await allSent(app.auth);
    const before = app.mails.length;
    await app.mailOf(work, 'administrator-added').catch(() => undefined);
    return app.mails.slice(before).filter(({ kind }) => kind === 'administrator-added');
  };

  test('goes to the user and to the adminEmails, without a link', async () => {
    const [root, ada] = [await person([], ROOT), await person()];
    const sent = await toldOf(async () => put(root, ada.id, ['admin']).expect(200));
    expect(sent.map(({ to, subject }) => [to, subject.replace(/ - .*/, '')]).sort()).toEqual([
      ['other-root@example.com', 'A user is now an administrator'],
      [ada.email, 'You are now an administrator'],
      [ROOT, 'A user is now an administrator'],
    ]);
    for (const { to, text, url, token, details, user } of sent) {
      expect({ url, token, user: user?.id }).toEqual({ url: '', token: '', user: ada.id });
      expect(text).not.toContain('http');
      expect(text).toContain(`Account: ${ada.email}`);
      expect(details).toMatchObject({ device: null, ip: null, subject: to === ada.email ? null : ada.id });
    }
  });

  test('is sent for a change by code, and for no other change', async () => {
    const ada = await person();
    const { id } = await app.auth.users.create({ username: 'nameless' });
    expect(await toldOf(() => app.auth.roles.set(id, ['admin']))).toHaveLength(2);
    expect(await toldOf(() => app.auth.roles.set(id, ['admin', 'editor']))).toEqual([]);
    expect(await toldOf(() => app.auth.roles.set(ada.id, ['owner']))).toEqual([]);
    const root = await person([], ROOT);
    expect(await toldOf(() => app.auth.roles.set(root.id, ['admin']))).toEqual([]);
  });
});

describe('roles stay', () => {
  /** A user with a password, signed in in a browser of their own, without a proven email. */
  async function stranger() {
    const credentials = { email: `stranger-${people++}@example.com`, password: 'an analytical engine' };
    const browser = await signUp(app, credentials);
    const { id } = (await browser.get('/auth/me').expect(200)).body.user;
    return { ...credentials, browser, id: id as string };
  }
  const NEW = 'a difference engine';

  test('at an undo, whose link a change of roles does not end', async () => {
    const [root, ada] = [await person([], ROOT), await stranger()];
    await app.auth.markEmailVerified(ada.id);
    const body = { current_password: ada.password, new_password: NEW };
    const { token } = await app.mailOf(
      () => ada.browser.post('/auth/passwords/change').send(body).expect(200),
      'password-changed',
    );
    await put(root, ada.id, ['editor']).expect(200);
    await app.auth.roles.set(ada.id, ['editor', 'owner']);
    await ada.browser.post('/auth/undo-change').send({ token, password: ada.password }).expect(200);
    expect(await rolesOf(ada.id)).toEqual(['editor', 'owner']);
  });

  test('at a first proof of the mailbox', async () => {
    const ada = await stranger();
    await app.auth.roles.set(ada.id, ['editor']);
    const { token } = await app.mailOf(
      () => app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
      'reset-password',
    );
    await app.http.post('/auth/passwords/reset').send({ token, new_password: NEW }).expect(204);
    expectProblem(await ada.browser.get('/auth/me'), 401, 'invalid_session');
    expect(await rolesOf(ada.id)).toEqual(['editor']);
  });
});

describe('auth.roles', () => {
  test('checks only that the roles exist', async () => {
    const { id } = await app.auth.users.create({ email: 'unproven@example.com' });
    expect(
      await app.auth.roles.set(id, ['reader', 'owner', 'editor', 'owner'], { adminId: id }),
    ).toMatchObject({
      id,
      roles: ['editor', 'owner'],
    });
    const refused = async (given: unknown) =>
      (await app.auth.roles.set(id, given as string[]).catch((error) => error)) as AuthError;
    expect(await refused(['edtor'])).toMatchObject({
      code: 'validation_failed',
      errors: [{ pointer: '/roles/0', code: 'unknown_role' }],
    });
    expect(await refused('editor')).toMatchObject({ errors: [{ pointer: '/roles', code: 'wrong_type' }] });
    await expect(app.auth.roles.of('nobody')).rejects.toMatchObject({ code: 'user_not_found' });
    await expect(app.auth.roles.set('nobody', [])).rejects.toMatchObject({ code: 'user_not_found' });
    expect(await rolesOf(id)).toEqual(['editor', 'owner']);
  });

  test('an export contains the roles', async () => {
    const { id } = await person(['editor']);
    expect((await app.auth.exportUser(id)).user).toMatchObject({ roles: ['editor'] });
  });
});

describe('an import', () => {
  const row = (roles: unknown, name = 'a') => ({
    ref: name,
    email: `${name}@example.com`,
    emailVerified: true,
    ...(roles !== undefined && { roles }),
  });

  test('reads the roles of its rows, and refuses a row with an unknown role', async () => {
    const imported = importUsers(
      app.auth as never,
      [
        row(['editor', 'reader', 'editor'], 'a'),
        row(['edtor'], 'b'),
        row('editor', 'c'),
        row(undefined, 'd'),
      ] as never,
    );
    const report = await imported;
    const found = async (email: string) => {
      const user = await app.auth.users.find({ email });
      return user && rolesOf(user.id);
    };
    expect(report).toMatchObject({
      skipped: [{ code: 'unknown_role' }, { code: 'wrong_type' }],
    });
    expect(await Promise.all(['a', 'b', 'c', 'd'].map((name) => found(`${name}@example.com`)))).toEqual([
      ['editor'],
      null,
      null,
      [],
    ]);
  });
});

describe('the config', () => {
  const make = (...given: Parameters<typeof createAuth>[0]['plugins'] & object) =>
    createAuth({ database: 'sqlite::memory:', secret: SECRET, plugins: given });
  const own = roles({ roles: { admin: ['*'], reader: [] }, default: 'reader' });

  test.each<[string, () => unknown, RegExp]>([
    ['no roles', () => roles({} as never), /roles: roles must be an object/],
    ['no options', () => roles(undefined as never), /roles: roles must be an object/],
    ['a name in capitals', () => roles({ roles: { Editor: [] } }), /contains the role Editor/],
    [
      'a wrong permission',
      () => roles({ roles: { editor: ['posts'] } }),
      /contains posts for the role editor/,
    ],
    ['a misspelled option', () => roles({ roles: {}, defalt: 'a' } as never), /did you mean default\?/],
    [
      'a misspelled default role',
      () => roles({ roles: { reader: [] }, default: 'raeder' }),
      /default is raeder, which is not in roles: did you mean reader\?/,
    ],
    ['administrators by role without roles', () => make(admin({ role: 'admin' })), /add roles\(/],
    [
      'administrators by an unknown role',
      () => make(admin({ role: 'admn' }), own),
      /roles\(\) does not have: did you mean admin\?/,
    ],
    ['administrators by the default role', () => make(admin({ role: 'reader' }), own), /the default role/],
    ['no administrators', () => admin({}), /set at least one administrator .*, or a role/],
    [
      'a field of the app with the name of the column',
      () =>
        createAuth({
          database: 'sqlite::memory:',
          secret: SECRET,
          plugins: [own],
          user: { fields: { roles: { type: 'string' } } },
        } as never),
      /user\.fields.*roles|roles.*user\.fields/,
    ],
    [
      'a permission that no role has',
      () => requirePermission(make(own) as never, 'posts:wirte'),
      /no role has the permission posts:wirte/,
    ],
    ['permissions without roles', () => requirePermission(make() as never, 'posts:write'), /add roles\(/],
    [
      'scopes of requirePermission',
      () => requirePermission(make(own) as never, 'posts:write', { scopes: [] } as never),
      /does not accept scopes/,
    ],
  ])('%s', (_name, construct, message) => {
    expect(construct).toThrow(TypeError);
    expect(construct).toThrow(message);
  });
});

test('latchkey/testing signs in users with roles', async () => {
  const auth = testAuth({
    plugins: [roles({ roles: { editor: ['posts:write'] } }), admin({ role: 'editor' })],
  });
  const server = express();
  server.get('/', requirePermission(auth, 'posts:write'), (_req, res) => void res.json({}));
  const { headers, user } = await signedIn(auth, { roles: ['editor'] });
  expect(user).toMatchObject({ roles: ['editor'] });
  await request(server).get('/').set(headers).expect(200);
  await request(server)
    .get('/')
    .set((await signedIn(auth)).headers)
    .expect(403);
  await request(server)
    .get('/')
    .set((await signedIn(auth, { admin: true })).headers)
    .expect(200);
  await expect(signedIn(auth, { roles: ['edtor'] })).rejects.toMatchObject({ code: 'validation_failed' });
  await expect(signedIn(testAuth(), { roles: [] })).rejects.toThrow('requires roles()');
  await auth.close();
});
