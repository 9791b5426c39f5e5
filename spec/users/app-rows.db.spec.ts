import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { Request, Response } from 'express';
import {
  DataTypes,
  type ModelAttributes,
  type ModelOptions,
  type ModelStatic,
  type Sequelize,
} from 'sequelize';
import {
  type AuthConfig,
  AuthError,
  admin,
  apiKeys,
  authRouter,
  createAuth,
  currentUser,
  optionalSession,
  requireAdmin,
  requireSession,
} from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { dialect, rows } from '../support/database.js';
import { ownRows, type Row } from '../support/own-rows.js';
import { expectProblem } from '../support/problem.js';

const plugins = [password(), apiKeys(), admin({ adminEmails: ['admin@example.com'] })] as const;

let app: SpecApp<typeof plugins>;
let AppUser: ModelStatic<Row>;
let statements: string[];
const seen: Row[] = [];
const crowd: (() => void)[] = [];
afterEach(async () => {
  await app.stop();
  seen.length = 0;
});

async function start(
  attributes: ModelAttributes = {},
  options: ModelOptions = {},
  config: Partial<AuthConfig<never>> = {},
  hasLog = true,
) {
  const see = (req: Request, res: Response) => {
    if (req.user) seen.push(req.user as Row);
    res.json({ row: req.user ?? null, user: req.auth?.user ?? null });
  };
  app = await startApp({
    plugins,
    tables: { hasOwnRows: true },
    config: async (database) => {
      const own = ownRows(database, attributes, options, config, hasLog);
      AppUser = own.model;
      statements = own.statements;
      return own.config;
    },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      // Lets requests through only when 40 have arrived, to simulate a busy server.
      express.use('/crowd', (_req, _res, next) => {
        crowd.push(next);
        if (crowd.length === 40) for (const go of crowd.splice(0)) go();
      });
      express.get('/crowd', requireSession(auth), see);
      express.get('/guarded', requireSession(auth), see);
      express.get('/admin', requireAdmin(auth), see);
      express.get('/optional', optionalSession(auth), see);
      express.get(
        '/optional-after',
        requireSession(auth, { onError: (_e, _q, _s, next) => next() }),
        optionalSession(auth),
        see,
      );
    },
  });
  await AppUser.sync({ logging: false });
}

const signUp = (fields: object = { name: 'Ada' }, person = ada) =>
  app.http.post('/auth/signup/credential').send({ ...person, ...fields });

/** Signs Ada up and in. */
async function signIn(person = ada) {
  const credentials = { credential: person.email, password: person.password };
  const answer = await app.http.post('/auth/signin/credential').send(credentials).expect(200);
  return `latchkey=${sessionCookie(answer)?.value}`;
}

const get = (path: string, cookie: string) => app.http.get(path).set('cookie', cookie);

describe('a row of the app', () => {
  test('is made with the account, holds its fields, and is req.user', async () => {
    await start();
    const { body } = await signUp().expect(201);
    expect(body.user).toMatchObject({ name: 'Ada', email: ada.email });
    expect(await AppUser.findOne({ where: { authId: body.user.id } })).toMatchObject({ id: 1, name: 'Ada' });
    const cookie = await signIn();
    const { body: answer } = await get('/guarded', cookie).expect(200);
    expect(answer.user).toMatchObject({ id: body.user.id, name: 'Ada' });
    expect(answer.row).toMatchObject({ id: 1, name: 'Ada' });
    expect(seen[0]?.authId).toBe(body.user.id);
    expect(seen[0]).toBeInstanceOf(AppUser);
    expect((await get('/auth/me', cookie).expect(200)).body.user).toMatchObject({ name: 'Ada' });
    expect(await app.auth.models.User.findOne()).not.toHaveProperty('name');
    const columns = await rows(app.database, 'SELECT * FROM auth_users');
    expect(columns[0]).not.toHaveProperty('name');
  });

  test("does not show the account's id in JSON, wherever it was read", async () => {
    await start({}, { scopes: { named: { where: { name: 'Ada' } } } });
    const { id } = (await signUp().expect(201)).body.user;
    const { row } = (await get('/guarded', await signIn()).expect(200)).body;
    const found = await AppUser.findAll();
    const scoped = await AppUser.scope('named').findAll();
    const made = await AppUser.create({ name: 'Bob', authId: '00000000-0000-7000-8000-000000000000' });
    for (const shown of [row, ...JSON.parse(JSON.stringify([...found, ...scoped, made]))]) {
      expect(shown).toMatchObject({ id: expect.any(Number), name: expect.any(String) });
      expect(Object.keys(shown).sort()).toEqual(Object.keys(row).sort());
      expect(shown).not.toHaveProperty('authId');
    }
    expect([found[0]?.authId, found[0]?.get('authId')]).toEqual([id, id]);
    expect(found[0]?.get({ plain: true })).toHaveProperty('authId', id);
    expect(made.changed()).toBe(false);
    // A second Auth with the same model changes nothing.
    const { toJSON } = AppUser.prototype;
    const user = { model: AppUser.unscoped(), foreignKey: 'authId' };
    await createAuth({ secret: SECRET, database: AppUser.sequelize as Sequelize, user }).close();
    expect(AppUser.prototype.toJSON).toBe(toJSON);
  });

  test("shows the account's id in JSON if it is the primary key, or if the model has its own toJSON", async () => {
    const key = { type: DataTypes.UUID, primaryKey: true };
    await start({ id: { type: DataTypes.INTEGER, allowNull: true }, authId: key });
    const { id } = (await signUp().expect(201)).body.user;
    expect((await get('/guarded', await signIn()).expect(200)).body.row).toHaveProperty('authId', id);
    const own = ownRows(app.database);
    own.model.prototype.toJSON = function (this: Row) {
      return { mine: this.get('authId') };
    };
    await createAuth({ secret: SECRET, ...own.config }).close();
    expect(JSON.stringify(own.model.build({ authId: id }))).toBe(JSON.stringify({ mine: id }));
  });

  test('can be saved, updated and reloaded', async () => {
    await start();
    await signUp().expect(201);
    const cookie = await signIn();
    await get('/guarded', cookie).expect(200);
    const row = seen[0] as Row;
    row.name = 'Augusta';
    await row.save();
    await AppUser.update({ name: 'Ada King' }, { where: { id: row.id as number } });
    await row.reload();
    expect(row.name).toBe('Ada King');
    await row.update({ name: 'Lovelace' });
    expect((await get('/guarded', cookie)).body.row.name).toBe('Lovelace');
  });

  test('comes with the statement of the session or API key, and many requests at once share a few', async () => {
    await start();
    const { body } = await signUp().expect(201);
    const cookies = await Promise.all(Array.from({ length: 40 }, () => signIn()));
    const { key } = await app.auth.apiKeys.create(body.user.id, { name: 'x' });
    await get('/guarded', cookies[0] as string).expect(200);
    await app.http.get('/guarded').set('x-service-api-key', key).expect(200);
    const count = async (work: () => Promise<unknown>) => {
      statements.length = 0;
      await work();
      return statements.filter((line) => /auth_users/.test(line)).length;
    };
    expect(await count(() => get('/guarded', cookies[1] as string).expect(200))).toBe(1);
    expect(await count(() => app.http.get('/guarded').set('x-service-api-key', key).expect(200))).toBe(1);
    expect(seen.at(-1)).toMatchObject({ name: 'Ada' });
    const all = () => Promise.all(cookies.map((cookie) => get('/crowd', cookie).expect(200)));
    expect(await count(all)).toBe(2);
    expect(new Set(seen.slice(-40)).size).toBe(40);
  });

  test('costs lists and sign-ins no statement for each user', async () => {
    await start();
    await signUp({ name: 'Root' }, { ...ada, email: 'admin@example.com' }).expect(201);
    const root = await AppUser.findOne();
    await app.auth.markEmailVerified(root?.authId as string);
    for (const name of ['a', 'b', 'c'])
      await signUp({ name }, { ...ada, email: `${name}@example.com` }).expect(201);
    const cookie = await signIn({ ...ada, email: 'admin@example.com' });
    statements.length = 0;
    const { body } = await get('/auth/admin/users', cookie).expect(200);
    expect(body.users.map((one: { name: string }) => one.name)).toEqual(['c', 'b', 'a', 'Root']);
    expect(statements).toHaveLength(2);
    statements.length = 0;
    await get('/auth/admin/users?search=b@', cookie).expect(200);
    expect(statements).toHaveLength(4);
    expect((await get('/admin', cookie).expect(200)).body.row).toMatchObject({ name: 'Root' });
  });
});

describe('values of req.user', () => {
  // Without a log, a lookup alone goes to the driver.
  test.each([
    ['with a log', true],
    ['without a log', false],
  ])('are those of a query of the app, whatever their type, %s', async (_what, hasLog) => {
    const types: ModelAttributes = {
      flag: DataTypes.BOOLEAN,
      no: DataTypes.BOOLEAN,
      at: DataTypes.DATE(3),
      day: DataTypes.DATEONLY,
      clock: DataTypes.TIME,
      money: DataTypes.DECIMAL(10, 2),
      big: DataTypes.BIGINT,
      ratio: DataTypes.DOUBLE,
      json: DataTypes.JSON,
      bytes: DataTypes.BLOB,
      kind: DataTypes.ENUM('owner', 'guest'),
      text: DataTypes.TEXT,
      none: DataTypes.STRING,
      order: DataTypes.INTEGER,
      ...(dialect === 'postgres' && {
        jsonb: DataTypes.JSONB,
        tags: DataTypes.ARRAY(DataTypes.STRING),
        kinds: DataTypes.ARRAY(DataTypes.ENUM('x', 'y')),
        range: DataTypes.RANGE(DataTypes.INTEGER),
        net: DataTypes.INET,
      }),
      shout: {
        type: DataTypes.VIRTUAL(DataTypes.STRING, ['name']),
        get(this: Row) {
          return `${this.name}!`;
        },
      },
      hidden: {
        type: DataTypes.STRING,
        get(this: Row) {
          return String(this.getDataValue('hidden')).split('').reverse().join('');
        },
      },
    };
    await start(types, { timestamps: true, underscored: true }, {}, hasLog);
    await signUp().expect(201);
    const values = {
      flag: true,
      no: false,
      at: new Date('2026-02-03T04:05:06.789Z'),
      day: '2026-02-03',
      clock: '04:05:06',
      money: '12.50',
      // node:sqlite reads no larger ones.
      big: dialect === 'sqlite' ? 9007199254740991 : '9007199254740993',
      ratio: 0.1,
      json: { a: [1, { b: 'é' }] },
      bytes: Buffer.from('bytes'),
      kind: 'guest',
      text: 'it\'s :name \\ `x` "y"',
      order: 7,
      hidden: 'cba',
      jsonb: { c: null },
      tags: ['a', 'b,c'],
      kinds: ['x'],
      range: [1, 5],
      net: '127.0.0.1',
    };
    await AppUser.update(values, { where: {} });
    const cookie = await signIn();
    const [first, second] = await Promise.all([get('/guarded', cookie), get('/guarded', cookie)]);
    const own = (await AppUser.findOne()) as Row;
    const [row, other] = seen as [Row, Row];
    expect(row.get({ plain: true })).toEqual(own.get({ plain: true }));
    expect(row.dataValues).toEqual(own.dataValues);
    expect(row.shout).toBe('Ada!');
    expect(row.hidden).toBe('abc');
    expect(row.changed()).toBe(false);
    expect(first.body).toEqual(second.body);
    expect(first.body.row).toEqual(JSON.parse(JSON.stringify(own)));
    await get('/guarded', cookie);
    expect(seen[2]?.dataValues).toEqual(own.dataValues);
    // Requests that share a statement do not share what they change.
    (row.json as { a?: unknown[] }).a = [];
    (row.at as Date).setTime(0);
    expect(other.dataValues).toEqual(own.dataValues);
  });

  test('follow the default scope, its literals and conditions, and a hook that decrypts', async () => {
    await start(
      {
        secret: { type: DataTypes.STRING, defaultValue: 'x' },
        status: { type: DataTypes.STRING, defaultValue: ':ok' },
      },
      {
        defaultScope: {
          attributes: { exclude: ['secret'] },
          where: { status: [':ok', ':name'] },
          order: [['id', 'DESC']],
        },
        hooks: {
          afterFind: (found) => {
            for (const row of [found].flat() as unknown as Row[])
              row?.setDataValue('name', `dear ${row.name}`);
          },
        },
      },
    );
    await signUp().expect(201);
    const cookie = await signIn();
    const { body } = await get('/guarded', cookie).expect(200);
    expect(body.row).toMatchObject({ name: 'dear Ada', status: ':ok' });
    expect(body.row).not.toHaveProperty('secret');
    expect(body.user).toMatchObject({ name: 'dear Ada' });
    await AppUser.update({ status: 'blocked' }, { where: {} });
    await expectProblem(await get('/guarded', cookie), 401, 'invalid_session');
    expect((await get('/optional', cookie).expect(200)).body).toEqual({ row: null, user: null });
    await AppUser.unscoped().update({ status: ':name' }, { where: {} });
    await get('/guarded', cookie).expect(200);
  });

  test('may be in a table of a schema, with a key of any type', async () => {
    app = await startApp({
      plugins,
      config: async (database) => {
        if (dialect === 'postgres') await database.sequelize.query('CREATE SCHEMA "The App"');
        const own = ownRows(
          database,
          { id: { type: DataTypes.UUID, defaultValue: DataTypes.UUIDV4, primaryKey: true } },
          { schema: 'The App', tableName: 'My Users', indexes: [{ fields: ['Auth Id'], unique: true }] },
        );
        AppUser = own.model;
        return own.config;
      },
      mount: (express, auth) => {
        express.use('/auth', authRouter(auth));
        express.get('/guarded', requireSession(auth), (req, res) => void res.json(req.user));
      },
    });
    await AppUser.sync({ logging: false });
    await signUp().expect(201);
    expect((await get('/guarded', await signIn()).expect(200)).body).toMatchObject({ name: 'Ada' });
  });
});

describe('an account without its row', () => {
  test('is 503 with the reason in the log, wherever it would be used, and administrators still see it', async () => {
    await start();
    const { body } = await signUp().expect(201);
    const cookie = await signIn();
    const { key } = await app.auth.apiKeys.create(body.user.id, { name: 'x' });
    await AppUser.destroy({ where: {} });
    await expectProblem(await get('/guarded', cookie), 503, 'unavailable');
    await expectProblem(await get('/auth/me', cookie), 503, 'unavailable');
    await expectProblem(await app.http.get('/guarded').set('x-service-api-key', key), 503, 'unavailable');
    await expectProblem(await app.http.get('/optional').set('x-service-api-key', key), 503, 'unavailable');
    const credentials = { credential: ada.email, password: ada.password };
    await expectProblem(await app.http.post('/auth/signin/credential').send(credentials), 503, 'unavailable');
    expect(app.log.join('\n')).toContain(`The account ${body.user.id} has no row of AppUser`);
    expect(await app.auth.users.get(body.user.id)).toMatchObject({ email: ada.email, name: null });
  });

  test('is as nobody for optionalSession, which logs it and leaves the cookie alone', async () => {
    await start();
    const { body } = await signUp().expect(201);
    const cookie = await signIn();
    const [row] = await AppUser.findAll();
    await AppUser.destroy({ where: {} });
    app.log.length = 0;
    const answer = await get('/optional', cookie).expect(200, { row: null, user: null });
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(app.log.join('\n')).toMatch(new RegExp(`^error .*optionalSession.*${body.user.id} has no row`));
    await AppUser.create(row?.get() as never);
    expect((await get('/optional', cookie).expect(200)).body).toMatchObject({ user: { id: body.user.id } });
  });

  test('can sign out, and sign in to another account', async () => {
    await start();
    const { body } = await signUp().expect(201);
    const other = { email: 'other@example.com', password: ada.password };
    await signUp({ name: 'Other' }, other).expect(201);
    const sessions = () =>
      rows(app.database, 'SELECT id FROM auth_sessions WHERE user_id = :id', { id: body.user.id });
    const [first, second] = [await signIn(), await signIn()];
    await AppUser.destroy({ where: { authId: body.user.id } });
    const answer = await app.http.post('/auth/signout').set('cookie', first).expect(204);
    expect(sessionCookie(answer)?.value).toBe('');
    expect(await sessions()).toHaveLength(1);
    const signedIn = await app.http
      .post('/auth/signin/credential')
      .set('cookie', second)
      .send({ credential: other.email, password: other.password })
      .expect(200);
    expect(await sessions()).toEqual([]);
    await get('/guarded', `latchkey=${sessionCookie(signedIn)?.value}`).expect(200);
  });

  test('can be signed out by code', async () => {
    await start();
    const { body } = await signUp().expect(201);
    const [first, second] = [await signIn(), await signIn()];
    await AppUser.destroy({ where: {} });
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    expect(await app.auth.endSession({ headers: { cookie: first } }, response)).toBe(true);
    expect(String(response.getHeader('set-cookie'))).toMatch(/^latchkey=;/);
    const [left] = await app.auth.listSessions(body.user.id);
    expect(await app.auth.revokeSessionById(body.user.id, left?.id ?? '')).toBe(true);
    await expectProblem(await get('/guarded', second), 401, 'invalid_session');
  });

  test('is no user if the row is marked as deleted, until it is restored', async () => {
    await start({}, { paranoid: true });
    const { body } = await signUp().expect(201);
    const cookie = await signIn();
    const { key } = await app.auth.apiKeys.create(body.user.id, { name: 'x' });
    await AppUser.destroy({ where: {} });
    await expectProblem(await get('/guarded', cookie), 401, 'invalid_session');
    await expectProblem(await get('/auth/me', cookie), 401, 'invalid_session');
    await expectProblem(await app.http.get('/guarded').set('x-service-api-key', key), 401, 'invalid_api_key');
    const credentials = { credential: ada.email, password: ada.password };
    await expectProblem(
      await app.http.post('/auth/signin/credential').send(credentials),
      401,
      'invalid_credentials',
    );
    expect(await app.auth.users.get(body.user.id)).toMatchObject({ email: ada.email });
    await AppUser.restore({ where: {} });
    await get('/guarded', cookie).expect(200);
  });

  test('cannot come from a sign-up that fails', async () => {
    await start({ slug: { type: DataTypes.STRING, allowNull: false } });
    await signUp().expect(500);
    expect(await app.auth.models.User.count()).toBe(0);
  });

  test('is deleted with its row, with the hooks of the model', async () => {
    const destroyed: unknown[] = [];
    await start({}, { hooks: { beforeDestroy: (row) => void destroyed.push((row as unknown as Row).name) } });
    const { body } = await signUp().expect(201);
    await app.auth.users.delete(body.user.id);
    expect(destroyed).toEqual(['Ada']);
    expect(await AppUser.count()).toBe(0);
  });

  test('is not deleted if another row of the app refers to its row', async () => {
    await start();
    const { body } = await signUp().expect(201);
    const Order = (AppUser.sequelize as NonNullable<typeof AppUser.sequelize>).define('Order', {
      userId: { type: DataTypes.INTEGER, references: { model: 'users', key: 'id' }, onDelete: 'RESTRICT' },
    });
    await Order.sync({ logging: false });
    await Order.create({ userId: 1 });
    await expect(app.auth.users.delete(body.user.id)).rejects.toMatchObject({
      code: 'account_in_use',
      status: 409,
    });
    expect(await AppUser.count()).toBe(1);
    expect(await app.auth.models.User.count()).toBe(1);
  });
});

describe('the fields of a row', () => {
  test('are written by the model, with its defaults, setters, hooks and rules', async () => {
    const hooks: string[] = [];
    await start(
      {
        plan: { type: DataTypes.STRING, defaultValue: 'from the model' },
        nick: {
          type: DataTypes.STRING,
          validate: { notIn: { args: [['root']], msg: 'must not be root' } },
          set(this: Row, value: string) {
            this.setDataValue('nick', value?.toLowerCase());
          },
        },
      },
      { hooks: { beforeCreate: () => void hooks.push('create') } },
      { user: { fields: { plan: { type: 'string' }, nick: { type: 'string' } } } },
    );
    const { body } = await signUp({ nick: 'ADA' }).expect(201);
    expect(body.user).toMatchObject({ plan: 'from the model', nick: 'ada', name: null });
    expect(hooks).toEqual(['create']);
    const refused = await signUp({ nick: 'root' }, { ...ada, email: 'b@example.com' });
    await expectProblem(refused, 422, 'validation_failed');
    expect(refused.body.errors).toEqual([{ pointer: '/nick', code: 'invalid', detail: 'must not be root' }]);
    expect(await AppUser.count()).toBe(1);
  });

  test('are changed through the model, and the app is told what changed', async () => {
    const told: unknown[] = [];
    const hooks: string[] = [];
    await start(
      {
        nick: {
          type: DataTypes.STRING,
          unique: true,
          set(this: Row, value: string) {
            this.setDataValue('nick', value?.toLowerCase());
          },
        },
      },
      { hooks: { beforeUpdate: () => void hooks.push('update') } },
      {
        user: { fields: { nick: { type: 'string' } } },
        hooks: { afterUpdateUser: (user, changed) => void told.push([user.id, changed]) },
      },
    );
    const { body } = await signUp({ name: 'Ada', nick: 'ada' }).expect(201);
    await signUp({ nick: 'bob' }, { ...ada, email: 'b@example.com' }).expect(201);
    const cookie = await signIn();
    const patch = (fields: object) => app.http.patch('/auth/me').set('cookie', cookie).send(fields);
    expect((await patch({ nick: 'LOVE', name: 'Ada' }).expect(200)).body.user).toMatchObject({
      nick: 'love',
      name: 'Ada',
    });
    expect(hooks).toEqual(['update']);
    expect(told).toEqual([[body.user.id, ['nick']]]);
    const refused = await patch({ nick: 'Bob', name: 'Bob' });
    await expectProblem(refused, 422, 'validation_failed');
    expect(refused.body.errors).toMatchObject([{ pointer: '/nick', code: 'taken' }]);
    expect((await get('/guarded', cookie)).body.row).toMatchObject({ nick: 'love', name: 'Ada' });
    const { updatedAt } = (await app.auth.users.get(body.user.id)) ?? {};
    await patch({ name: 'Ada' }).expect(200);
    expect((await app.auth.users.get(body.user.id))?.updatedAt).toEqual(updatedAt);
    await app.auth.users.update(body.user.id, { fields: { name: null } });
    expect(await AppUser.findOne({ where: { authId: body.user.id } })).toMatchObject({
      name: null,
      nick: 'love',
    });
    expect(told).toHaveLength(2);
  });

  test.each([
    ['the column', { nickName: { type: DataTypes.STRING, unique: true, field: 'nick' } }, {}],
    [
      'an index with a name of its own',
      { nickName: DataTypes.STRING, team: { type: DataTypes.STRING, defaultValue: 'one' } },
      { indexes: [{ name: 'one_nick', unique: true, fields: ['team', 'nickName'] }] },
    ],
  ])('that must be unique are refused by %s with their pointer', async (_case, attributes, options) => {
    await start(attributes, options, { user: { fields: { nickName: { type: 'string' } } } });
    await signUp({ nick_name: 'ada' }).expect(201);
    const refused = await signUp({ nick_name: 'ada' }, { ...ada, email: 'b@example.com' });
    await expectProblem(refused, 422, 'validation_failed');
    expect(refused.body.errors).toMatchObject([{ pointer: '/nick_name', code: 'taken' }]);
    expect(await app.auth.models.User.count()).toBe(1);
  });

  test('are all that latchkey answers for: another unique violation is the app to handle', async () => {
    await start({ code: { type: DataTypes.STRING, unique: true, defaultValue: 'same' } });
    await signUp().expect(201);
    await signUp({}, { ...ada, email: 'b@example.com' }).expect(500);
    await expect(app.auth.users.create({ email: 'b@example.com' })).rejects.toMatchObject({
      name: 'SequelizeUniqueConstraintError',
    });
    expect(await app.auth.models.User.count()).toBe(1);
  });
});

describe('hooks.createRow', () => {
  test('makes the row in the transaction, in place of the model', async () => {
    await start(
      { team: DataTypes.STRING },
      {},
      {
        hooks: {
          createRow: (user, { name }, { transaction }): unknown =>
            AppUser.create({ authId: user.id, name, team: user.email }, { transaction }),
        },
      },
    );
    const { body } = await signUp().expect(201);
    expect(body.user).toMatchObject({ name: 'Ada' });
    expect(await AppUser.findOne()).toMatchObject({ authId: body.user.id, team: ada.email });
  });

  test('may adopt a row that was there before', async () => {
    await start(
      {},
      {},
      {
        hooks: {
          createRow: (user, _fields, { transaction }): unknown =>
            AppUser.update({ authId: user.id }, { where: { name: 'Old Ada' }, transaction }),
        },
      },
    );
    await AppUser.create({ name: 'Old Ada' });
    expect((await signUp({}).expect(201)).body.user).toMatchObject({ name: 'Old Ada' });
    expect((await get('/guarded', await signIn()).expect(200)).body.row).toMatchObject({
      id: 1,
      name: 'Old Ada',
    });
  });

  test.each([
    ['makes none', (): unknown => undefined, 500],
    ['throws', () => Promise.reject(new Error('boom')), 500],
    ['refuses', () => Promise.reject(new AuthError('sign_up_refused')), 403],
  ] as const)('leaves no account if it %s', async (_case, createRow, status) => {
    await start({}, {}, { hooks: { createRow: createRow as () => unknown } });
    await signUp().expect(status);
    expect(await app.auth.models.User.count()).toBe(0);
    expect(await AppUser.count()).toBe(0);
  });
});

describe('req.user', () => {
  test('is cleared by a guard that finds nobody', async () => {
    await start();
    await signUp().expect(201);
    expect((await app.http.get('/optional').expect(200)).body).toEqual({ row: null, user: null });
    expect((await get('/optional-after', await signIn()).expect(200)).body.row).toMatchObject({
      name: 'Ada',
    });
  });

  test('belongs to others without a model, and req.auth may have another name', async () => {
    app = await startApp({
      plugins,
      config: { requestProperty: 'login2' },
      mount(express, auth) {
        express.use('/auth', authRouter(auth));
        express.use((req, _res, next) => {
          Object.assign(req, { user: { passport: true }, auth: { payload: 'of a JWT' } });
          next();
        });
        express.get('/guarded', requireSession(auth), (req, res) => {
          const { auth: other, login2 } = req as unknown as {
            auth: unknown;
            login2: { user: { email: string } };
          };
          res.json({
            user: req.user,
            auth: other,
            email: login2.user.email,
            current: currentUser(req).email,
          });
        });
        express.get('/open', (req, res) => void res.json(currentUser(req)));
        express.use(
          (error: AuthError, _req: Request, res: Response, _next: unknown) => void res.json(error.code),
        );
      },
    });
    await signUp({}).expect(201);
    expect((await get('/guarded', await signIn()).expect(200)).body).toEqual({
      user: { passport: true },
      auth: { payload: 'of a JWT' },
      email: ada.email,
      current: ada.email,
    });
    expect((await app.http.get('/open')).body).toBe('unauthenticated');
  });
});
