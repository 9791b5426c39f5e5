import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type express from 'express';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Sequelize } from 'sequelize';
import { internalsOf } from '../../lib/auth.js';
import {
  admin,
  apiKeys,
  authRouter,
  createAuth,
  optionalSession,
  organizations,
  permits,
  type RequireMemberOptions,
  requireMember,
  requireSession,
  roles,
} from '../../lib/index.js';
import { expressSession, movingIn } from '../../lib/moving-in.js';
import { acting } from '../support/acting.js';
import { password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { CookieJar } from '../support/cookie-jar.js';
import { rows } from '../support/database.js';
import { OLD_SECRET, type OldStore, sessionStore, startOldApp } from '../support/old-app.js';
import { person } from '../support/organizations.js';
import { ownRows } from '../support/own-rows.js';
import { expectProblem } from '../support/problem.js';
import { loggingSequelize } from '../support/statements.js';
import { startSdk } from '../support/telemetry.js';

const ofOrganizations = organizations({ roles: { editor: ['project:write', 'invitation:create'] } });
const ROOT = 'root@example.com';
const plugins = [
  password(),
  apiKeys(),
  roles({ roles: { writer: ['post:write'] } }),
  admin({ adminEmails: [ROOT], actAs: {} }),
  ofOrganizations,
] as const;
const UNKNOWN = '00000000-0000-7000-8000-000000000000';

/** What a handler sees of the organization and of permissions. */
const show = (req: Request, res: Response) => {
  const { organization, membership, via, user } = req.auth;
  const may = (permission: string) => {
    try {
      return permits(req, permission);
    } catch (error) {
      return (error as Error).message;
    }
  };
  res.json({
    organization: organization ?? null,
    role: membership?.role ?? null,
    isDate: membership?.createdAt instanceof Date,
    email: user.email,
    via,
    permits: Object.fromEntries(
      ['project:write', 'organization:delete', 'post:write'].map((one) => [one, may(one)]),
    ),
  });
};
const failed = (error: unknown, _req: Request, res: Response, _next: NextFunction) =>
  void res.status(500).json({ error: String(error) });

/** Holds requests back until as many have arrived as the path says, so that they continue at the same time. */
const crowd: (() => void)[] = [];
const gather: RequestHandler = (req, _res, next) => {
  crowd.push(next);
  if (crowd.length === Number(req.params.number)) for (const go of crowd.splice(0)) go();
};

type App = SpecApp<typeof plugins>;
const guards = (auth: App['auth']): Record<string, RequestHandler> => ({
  member: requireMember(auth),
  writer: requireMember(auth, { permission: 'project:write' }),
  scoped: requireMember(auth, { scopes: ['projects'] }),
  fresh: requireMember(auth, { freshWithin: 600, permission: 'project:write' }),
  strong: requireMember(auth, { aal: 2, permission: 'project:write' }),
  acting: requireMember(auth, { acting: 'write' }),
  task: requireMember(auth, { tasks: ['welcome'] }),
  polling: requireMember(auth, { touch: false }),
});
const mount = (app: express.Express, auth: App['auth']) => {
  app.use('/auth', authRouter(auth));
  for (const [name, guard] of Object.entries(guards(auth))) app.all(`/${name}/:organization`, guard, show);
  const own = (organization: unknown) =>
    requireMember(auth, { organization } as Pick<RequireMemberOptions, 'organization'>);
  app.get(
    '/by-query',
    own((req: Request) => req.query.of),
    show,
  );
  app.get(
    '/promise',
    own(() => Promise.reject(new Error('too late'))),
    show,
  );
  app.get(
    '/throws',
    own(() => {
      throw new Error('from the app');
    }),
    show,
  );
  app.get('/no-name', requireMember(auth), show);
  app.get('/then-session/:organization', requireMember(auth), requireSession(auth), show);
  app.get('/then-optional/:organization', requireMember(auth), optionalSession(auth), show);
  app.get(
    '/then-rejected/:organization',
    requireMember(auth),
    requireMember(auth, {
      organization: () => 'none',
      onError: (_error, _req, _res, next) => next(),
    }),
    (req: Request, res: Response) => void res.json({ auth: req.auth ?? null }),
  );
  const of = (name: string) =>
    requireMember(auth, {
      organization: () => name,
      onError: (error, _req, _res, next) => next(error),
    });
  const overlapping = ['acme', 'evil'].map(of);
  app.get('/overlapping', async (req, res) => {
    const admits = (guard: RequestHandler) =>
      new Promise<unknown>((done) => void guard(req, res, (error?: unknown) => done(error ?? null)));
    const errors = await Promise.all(overlapping.map(admits));
    res.json(errors.map((error) => error && (error as { readonly code?: string }).code));
  });
  app.get(
    '/rejected-then-session/:organization',
    requireMember(auth, { aal: 2, onError: (_error, _req, _res, next) => next() }),
    requireSession(auth),
    show,
  );
  app.get('/crowd/:number/:organization', gather, requireMember(auth), show);
  app.get('/both/:number/:organization', gather, requireMember(auth), show);
  app.get('/plain/:number', gather, requireSession(auth), show);
  app.use(failed);
};

const tasks = {
  welcome: {
    open: ({ email }: { readonly email: string | null }) => email === 'new@example.com',
    page: '/welcome',
  },
};
const config = { bearerEnabled: true, tasks };

let app: App;
let logged: App;
let statements: string[] = [];
let logSequelize: Sequelize;
beforeAll(async () => {
  app = await startApp({ plugins, config, mount });
  logged = await startApp({
    plugins,
    tables: {},
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      logSequelize = own.sequelize;
      return { ...config, database: own.sequelize };
    },
    mount,
  });
});
beforeEach(async () => {
  for (const { database } of [app, logged])
    for (const table of ['organizations', 'users']) await rows(database, `DELETE FROM ${table}`);
});
afterAll(async () => {
  await app?.stop();
  await logged?.stop();
});
const sent = () => statements.filter((line) => /^Executed/.test(line) && /\b(SELECT|UPDATE)\b/.test(line));

/** Ada owns Acme, and Bob is a member. Eve is the owner of another organization. */
async function scene(of: App = app) {
  const [ada, bob, eve] = [await person(of, 'ada'), await person(of, 'bob'), await person(of, 'eve')];
  const acme = await of.auth.organizations.create({ name: 'Acme', slug: 'acme', ownerId: ada.id });
  const evil = await of.auth.organizations.create({ name: 'Evil', slug: 'evil', ownerId: eve.id });
  await of.auth.organizations.addMember(acme.id, bob.id, 'editor');
  const get = (who: { headers: Record<string, string> }, path: string) => of.http.get(path).set(who.headers);
  const keyOf = async (who: { id: string }, scopes?: string[]) => {
    const { key } = await of.auth.apiKeys.create(who.id, { name: 'program', ...(scopes && { scopes }) });
    return { headers: { 'x-service-api-key': key } };
  };
  return { ada, bob, eve, acme, evil, get, keyOf };
}

describe('requireMember', () => {
  test('admits members by slug and by id, and sets the organization and the membership', async () => {
    const { ada, bob, acme, get } = await scene();
    for (const name of ['acme', acme.id]) {
      const { body } = await get(bob, `/member/${name}`).expect(200);
      expect(body).toMatchObject({
        organization: { id: acme.id, name: 'Acme', slug: 'acme' },
        role: 'editor',
        isDate: true,
        email: bob.email,
        via: 'cookie',
      });
      expect(Object.keys(body.organization)).toEqual(['id', 'name', 'slug']);
    }
    expect((await get(ada, '/member/acme').expect(200)).body.role).toBe('owner');
    expect((await get(ada, '/by-query?of=acme').expect(200)).body.role).toBe('owner');
  });

  test('does the same for bearer tokens and API keys', async () => {
    const { bob, get, keyOf } = await scene();
    const token = bob.headers.cookie.replace('latchkey=', '');
    const bearer = await get({ headers: { authorization: `Bearer ${token}` } }, '/member/acme').expect(200);
    expect(bearer.body).toMatchObject({ role: 'editor', via: 'bearer', organization: { slug: 'acme' } });
    const key = await get(await keyOf(bob), '/member/acme').expect(200);
    expect(key.body).toMatchObject({ role: 'editor', via: 'api-key', organization: { slug: 'acme' } });
  });

  test('does the same for one of several cookies', async () => {
    const { bob, eve, get } = await scene();
    const ended = eve.headers.cookie;
    await app.auth.revokeAllSessions(eve.id);
    const several = { headers: { cookie: `${ended}; ${bob.headers.cookie}` } };
    expect((await get(several, '/member/acme').expect(200)).body).toMatchObject({
      role: 'editor',
      email: bob.email,
    });
    expectProblem(await get(several, '/member/evil'), 404, 'organization_not_found');
  });

  test('responds to everyone else with the same 404', async () => {
    const { bob, eve, acme, get, keyOf } = await scene();
    const names = [
      'acme',
      acme.id,
      'nothing',
      UNKNOWN,
      'ACME',
      acme.id.toUpperCase(),
      'a',
      `${'a'.repeat(99)}`,
    ];
    const malformed = ["x'--", '%00', '%F0%9F%98%80', 'acme%20', '-', '%D0%B0cme'];
    const all = [];
    for (const who of [eve, await keyOf(eve)])
      for (const name of [...names, ...malformed])
        all.push(expectProblem(await get(who, `/member/${name}`), 404, 'organization_not_found'));
    for (const path of ['/no-name', '/by-query', '/by-query?of=a&of=acme', '/by-query?of[x]=acme'])
      all.push(expectProblem(await get(bob, path), 404, 'organization_not_found'));
    expect(all).toEqual(Array(all.length).fill(all[0]));
  });

  test('sends one statement for a request, whether or not the organization exists', async () => {
    const { bob, eve, acme, get, keyOf } = await scene(logged);
    const count = async (who: { headers: Record<string, string> }, path: string) => {
      statements.length = 0;
      await get(who, path);
      // The last use of a key is written later.
      return sent().filter((sql) => /\bSELECT\b/.test(sql)).length;
    };
    const key = await keyOf(bob);
    await get(key, '/member/acme').expect(200);
    for (const path of ['/member/acme', `/member/${acme.id}`, `/member/${UNKNOWN}`, '/member/x', '/no-name'])
      for (const who of [bob, eve, key]) expect([path, await count(who, path)]).toEqual([path, 1]);
    expect(await count({ headers: {} }, '/member/acme')).toBe(0);
    expect(await count(bob, '/throws')).toBe(1);
  });

  test('leaves the statements of other guards as they are', async () => {
    const { bob, get } = await scene(logged);
    await get(bob, '/member/acme').expect(200);
    await get(bob, '/rejected-then-session/acme').expect(200);
    statements.length = 0;
    await get(bob, '/plain/1').expect(200);
    await get(bob, '/rejected-then-session/acme').expect(200);
    expect(sent().map((sql) => /organization/.test(sql))).toEqual([false, true, false]);
  });

  test('decides by its own organization, beside another guard of the same request', async () => {
    const { ada, eve, get } = await scene();
    expect((await get(ada, '/overlapping').expect(200)).body).toEqual([null, 'organization_not_found']);
    expect((await get(eve, '/overlapping').expect(200)).body).toEqual(['organization_not_found', null]);
  });

  test.each([
    ['the own pool', () => app],
    ["the app's instance", () => logged],
  ])('gives each of many concurrent requests its own membership, on %s', async (_name, of) => {
    const target = of();
    const people = [];
    for (let index = 0; index < 6; index++) people.push(await person(target, `user${index}`));
    const [first] = people;
    const made: { readonly id: string }[] = [];
    for (let index = 0; index < 6; index++) {
      const ownerId = people[index]?.id ?? '';
      made.push(await target.auth.organizations.create({ name: `N${index}`, slug: `of-${index}`, ownerId }));
      // The first user is a member of the even ones.
      if (index % 2 === 0 && index > 0)
        await target.auth.organizations.addMember(made[index]?.id ?? '', first?.id ?? '', 'editor');
    }
    const asked = people.flatMap((who, user) =>
      made.map((organization, index) => ({
        who,
        user,
        index,
        name: index < 3 ? `of-${index}` : organization.id,
      })),
    );
    statements.length = 0;
    const answers = await Promise.all(
      asked.map(({ who, name }) => target.http.get(`/crowd/36/${name}`).set(who.headers)),
    );
    const roleIn = (user: number, index: number) =>
      user === index ? 'owner' : user === 0 && index % 2 === 0 ? 'editor' : null;
    for (const [at, { status, body }] of answers.entries()) {
      const { who, user, index } = asked[at] ?? { who: null, user: -1, index: -1 };
      const role = roleIn(user, index);
      const expected = role
        ? {
            role,
            email: who?.email,
            organization: { id: made[index]?.id, name: `N${index}`, slug: `of-${index}` },
          }
        : { code: 'organization_not_found' };
      expect([status, body]).toEqual([role ? 200 : 404, expect.objectContaining(expected)]);
    }
    // A few statements for the names and a few for the ids, because 16 lookups do not wait for the end of the turn.
    if (target === logged) expect(sent().length).toBeLessThanOrEqual(8);
  });

  test('applies a change of the role, a removal and a deletion from the next request on', async () => {
    const { ada, bob, acme, get, keyOf } = await scene();
    const key = await keyOf(bob);
    for (const who of [bob, key]) await get(who, '/writer/acme').expect(200);
    await app.auth.organizations.setRole(acme.id, bob.id, 'member');
    for (const who of [bob, key]) {
      expectProblem(await get(who, '/writer/acme'), 403, 'permission_required');
      expect((await get(who, '/member/acme').expect(200)).body.role).toBe('member');
    }
    await app.auth.organizations.removeMember(acme.id, bob.id);
    for (const who of [bob, key])
      for (const guard of ['writer', 'member'])
        expectProblem(await get(who, `/${guard}/acme`), 404, 'organization_not_found');
    await app.auth.organizations.delete(acme.id);
    expectProblem(await get(ada, '/member/acme'), 404, 'organization_not_found');
  });

  test('a role that is no longer configured has no permission', async () => {
    const { bob, get } = await scene();
    await rows(app.database, "UPDATE organization_members SET role = 'former' WHERE role = 'editor'");
    const { body } = await get(bob, '/member/acme').expect(200);
    expect(body).toMatchObject({ role: 'former', permits: { 'project:write': false } });
    expectProblem(await get(bob, '/writer/acme'), 403, 'permission_required');
  });
});

describe('the order of the checks of requireMember', () => {
  test('is credential, acting session, tasks, organization, permission, level and age, scopes', async () => {
    const { ada, bob, eve, acme, get, keyOf } = await scene();
    expectProblem(await app.http.get('/writer/none'), 401, 'unauthenticated');
    expectProblem(await get({ headers: { cookie: 'latchkey=junk' } }, '/throws'), 401, 'invalid_session');

    const { cookie } = await acting(app, 'new@example.com');
    const act = (path: string, method: 'get' | 'post' = 'get') => app.http[method](path).set({ cookie });
    expectProblem(await act('/member/none', 'post'), 403, 'acting_session');
    expectProblem(await act('/fresh/none'), 403, 'acting_session');
    expectProblem(await act('/member/none'), 404, 'organization_not_found');

    const waiting = await person(app, 'waiting');
    await rows(app.database, "UPDATE users SET email = 'newer@example.com' WHERE email = 'new@example.com'");
    await rows(app.database, 'UPDATE users SET email = :email WHERE id = :id', {
      email: 'new@example.com',
      id: waiting.id,
    });
    expectProblem(await get(waiting, '/writer/none'), 403, 'task_required');
    expectProblem(await get(waiting, '/task/none'), 404, 'organization_not_found');

    expectProblem(await get(eve, '/strong/acme'), 404, 'organization_not_found');
    await app.auth.organizations.setRole(acme.id, bob.id, 'member');
    for (const guard of ['strong', 'fresh'])
      expectProblem(await get(bob, `/${guard}/acme`), 403, 'permission_required');
    expectProblem(await get(await keyOf(bob, ['other']), '/writer/acme'), 403, 'permission_required');
    expectProblem(await get(ada, '/strong/acme'), 403, 'second_factor_required');
    await rows(app.database, 'UPDATE sessions SET authenticated_at = created_at');
    await app.auth.models.Session.update(
      { authenticatedAt: new Date(Date.now() - 3_600_000) },
      { where: { userId: ada.id } },
    );
    expectProblem(await get(ada, '/fresh/acme'), 403, 'reauthentication_required');
    expectProblem(await get(await keyOf(ada, ['other']), '/fresh/acme'), 403, 'session_required');
    expectProblem(await get(await keyOf(ada, ['other']), '/writer/acme'), 403, 'insufficient_scope');
  });

  test('admits an acting session to write only with acting: write', async () => {
    const { acme } = await scene();
    const { userId, cookie } = await acting(app, 'carl@example.com');
    await app.auth.organizations.addMember(acme.id, userId, 'member');
    const { cookie: again } = cookie ? { cookie } : { cookie: '' };
    const post = (path: string) => app.http.post(path).set({ cookie: again });
    expectProblem(await post('/member/acme'), 403, 'acting_session');
    expect((await post('/acting/acme')).body).toMatchObject({ role: 'member' });
  });
});

describe('the scopes of API keys', () => {
  test('must be named by scopes, or contain the permission', async () => {
    const { bob, get, keyOf } = await scene();
    const status = async (scopes: string[] | undefined, guard: string) =>
      (await get(await keyOf(bob, scopes), `/${guard}/acme`)).body.code ?? 200;
    expect(await status(undefined, 'member')).toBe(200);
    expect(await status(['projects'], 'member')).toBe('scope_required');
    expect(await status(['projects'], 'scoped')).toBe(200);
    expect(await status(['other'], 'scoped')).toBe('insufficient_scope');
    expect(await status(undefined, 'writer')).toBe(200);
    expect(await status(['project:write'], 'writer')).toBe(200);
    expect(await status(['projects'], 'writer')).toBe('insufficient_scope');
  });
});

describe('permits', () => {
  const unknown = (permission: string) => expect.stringContaining(`no role has the permission ${permission}`);

  test('is about the role in the organization, and not about the roles of the user', async () => {
    const { ada, bob, get, keyOf } = await scene();
    await app.auth.roles.set(bob.id, ['writer']);
    const of = async (who: { headers: Record<string, string> }, path: string) =>
      (await get(who, path).expect(200)).body.permits;
    const own = { 'project:write': true, 'organization:delete': false, 'post:write': unknown('post:write') };
    expect(await of(bob, '/member/acme')).toEqual(own);
    expect(await of(ada, '/member/acme')).toEqual({ ...own, 'organization:delete': true });
    const key = await keyOf(ada, ['projects', 'project:write']);
    expect(await of(key, '/scoped/acme')).toMatchObject({
      'project:write': true,
      'organization:delete': false,
    });
    const asUser = {
      'project:write': unknown('project:write'),
      'organization:delete': false,
      'post:write': true,
    };
    for (const path of ['/plain/1', '/then-session/acme', '/then-optional/acme'])
      expect(await of(bob, path)).toEqual(asUser);
  });

  test('an administrator whom the config names has only the permissions of the membership', async () => {
    const { acme, get } = await scene();
    const root = await person(app, 'root');
    expectProblem(await get(root, '/member/acme'), 404, 'organization_not_found');
    await app.auth.organizations.addMember(acme.id, root.id, 'member');
    const { body } = await get(root, '/member/acme').expect(200);
    expect(body.permits).toMatchObject({ 'project:write': false, 'organization:delete': false });
    expectProblem(await get(root, '/writer/acme'), 403, 'permission_required');
  });
});

test('the next guard clears the organization, even if it rejects the request', async () => {
  const { bob, get } = await scene();
  for (const path of ['/then-session/acme', '/then-optional/acme'])
    expect((await get(bob, path).expect(200)).body).toMatchObject({ organization: null, role: null });
  expect((await get(bob, '/then-rejected/acme').expect(200)).body).toEqual({ auth: null });
});

describe('the function organization', () => {
  test('must not return a promise, and its error reaches the app', async () => {
    const { bob, get } = await scene();
    const promise = await get(bob, '/promise');
    expect([promise.status, promise.body.error]).toEqual([500, expect.stringMatching(/returned a promise/)]);
    const thrown = await get(bob, '/throws');
    expect([thrown.status, thrown.body.error]).toEqual([500, 'Error: from the app']);
  });
});

describe('requireMember rejects in the config', () => {
  test.each<[RequireMemberOptions, RegExp]>([
    [{ tenant: 'team' }, /tenant requires organization/],
    [{ tenant: '', organization: () => 'x' }, /tenant must be the name/],
    [{ organization: 'acme' as never }, /organization must be a function/],
    [{ permission: 'project:wirte' }, /no role has the permission project:wirte/],
    [{ permission: 'post:write' }, /no role has the permission post:write/],
    [{ permission: 'project:write', scopes: ['a'] }, /permission and scopes are mutually exclusive/],
    [{ scopes: 'a' as never }, /requireMember's scopes must be a list/],
    [{ organisation: () => 'x' } as never, /organisation/],
    [{ acting: 'all' as never }, /requireMember's acting/],
  ])('%j', (options, message) => {
    expect(() => requireMember(app.auth, options)).toThrow(message);
  });

  test('an Auth without organizations', () => {
    const auth = createAuth({ database: 'sqlite::memory:', secret: SECRET, plugins: [password()] });
    expect(() => requireMember(auth)).toThrow('add organizations() to plugins');
  });

  test.each(['organization:delete', 'member:update', 'project:write'])('but not %s', (permission) => {
    expect(() => requireMember(app.auth, { permission })).not.toThrow();
  });
});

test("within the app's transaction, a lookup sees a membership that is not committed yet", async () => {
  const { eve, bob, acme, get } = await scene(logged);
  const { core } = internalsOf(logged.auth);
  const find = async (who: { headers: { cookie: string } }, name: string) => {
    const asked = core.memberships?.ask(name);
    const found = await core.sessions.find(who.headers.cookie.replace('latchkey=', ''), false, asked);
    return asked?.of(found?.user.id ?? '');
  };
  await logSequelize.transaction(async (transaction) => {
    await logged.auth.organizations.addMember(acme.id, eve.id, 'member', { transaction });
    for (const name of ['acme', acme.id])
      expect(await core.inTransaction(transaction, () => find(eve, name))).toMatchObject({
        organization: { id: acme.id },
        membership: { role: 'member' },
      });
    const { user } = await logged.auth.getSession({ headers: eve.headers }, { transaction });
    expect(user.id).toBe(eve.id);
  });
  for (const who of [eve, bob]) await get(who, '/member/acme').expect(200);
});

describe('with user.model', () => {
  const withModel = [password(), ofOrganizations] as const;
  test.each([true, false])(
    'the row and the membership are read together (with a log: %j)',
    async (hasLog) => {
      let own: ReturnType<typeof ownRows> | undefined;
      const other = await startApp({
        plugins: withModel,
        async config(database) {
          own = ownRows(database, {}, {}, {}, hasLog);
          await own.model.sync();
          return own.config as never;
        },
        mount(app, auth) {
          app.get('/crowd/:number/:organization', gather, requireMember(auth), (req, res) => {
            const { user, organization, membership } = req.auth;
            const { name } = user as unknown as { name: string };
            res.json({
              name,
              row: (req.user as { name?: string })?.name,
              slug: organization.slug,
              membership,
            });
          });
        },
      });
      try {
        const ids: string[] = [];
        for (const name of ['Ada', 'Bob'])
          ids.push(
            (await other.auth.users.create({ email: `${name}@example.com`, fields: { name } } as never)).id,
          );
        for (const [index, ownerId] of ids.entries())
          await other.auth.organizations.create({ name: 'O', slug: `of-${index}`, ownerId });
        const tokens = await Promise.all(ids.map(async (id) => (await other.auth.createSession(id)).token));
        const get = (number: number, user: number, slug: string) =>
          other.http.get(`/crowd/${number}/${slug}`).set('cookie', `latchkey=${tokens[user]}`);
        const seen = { name: 'Ada', row: 'Ada', slug: 'of-0', membership: { role: 'owner' } };
        expect((await get(1, 0, 'of-0').expect(200)).body).toMatchObject(seen);
        expect((await get(1, 0, 'of-0').expect(200)).body).toMatchObject(seen);
        const all = await Promise.all([get(3, 0, 'of-0'), get(3, 1, 'of-1'), get(3, 1, 'of-0')]);
        expect(all.map(({ status }) => status)).toEqual([200, 200, 404]);
        expect(all[0]?.body).toMatchObject(seen);
        expect(all[1]?.body).toMatchObject({ name: 'Bob', row: 'Bob', slug: 'of-1' });
      } finally {
        await other.stop();
      }
    },
  );
});

test('with telemetry, the lookup is one span, and each request gets its membership', async () => {
  const sdk = startSdk();
  const traced = await startApp({ plugins, config: { ...config, telemetry: true }, mount });
  try {
    const { ada, bob, evil, get } = await scene(traced);
    for (const _again of [1, 2]) expect((await get(bob, '/crowd/1/acme')).body.role).toBe('editor');
    const all = await Promise.all([
      get(ada, '/crowd/3/acme'),
      get(bob, '/crowd/3/acme'),
      get(bob, `/crowd/3/${evil.id}`),
    ]);
    expect(all.map(({ body }) => body.role ?? body.code)).toEqual([
      'owner',
      'editor',
      'organization_not_found',
    ]);
  } finally {
    await traced.stop();
    await sdk.stop();
  }
});

describe('the session of a previous system', () => {
  type Moved = readonly [...typeof plugins, ReturnType<typeof movingIn>];
  let moved: SpecApp<Moved>;
  let old: Awaited<ReturnType<typeof startOldApp>>;
  beforeAll(async () => {
    let store: OldStore | undefined;
    moved = await startApp({
      config,
      plugins(database): Moved {
        store = sessionStore(database);
        const bridge = expressSession({
          store,
          secret: OLD_SECRET,
          userId: (data) => data.passport?.user,
          keepOld: true,
        });
        return [...plugins, movingIn({ bridges: [bridge] })];
      },
      mount: (app, auth) => mount(app, auth as never),
    });
    old = await startOldApp(store as OldStore);
  });
  afterAll(async () => {
    await old?.stop();
    await moved?.stop();
  });

  test('gets the membership of its user, also if another user was signed in', async () => {
    const { bob, eve, acme } = await scene(moved as unknown as App);
    const jar = new CookieJar();
    const signIn = (id: string) => jar.visit(`${old.origin}/login/${id}`, { method: 'POST' });
    const get = (path: string) => jar.visit(`${moved.origin}${path}`);
    await signIn(bob.id);
    expect((await get('/member/acme')).body).toMatchObject({ role: 'editor', email: bob.email });
    expect((await get('/member/acme')).body).toMatchObject({ role: 'editor', email: bob.email });
    await signIn(eve.id);
    expect(await get(`/member/${acme.id}`)).toMatchObject({
      status: 404,
      body: { code: 'organization_not_found' },
    });
    expect((await get('/member/evil')).body).toMatchObject({ role: 'owner', email: eve.email });
  });
});
