import { afterEach, describe, expect, test } from '@jest/globals';
import mysql2 from 'mysql2';
import { DataTypes, type FindOptions, type ModelAttributes, type ModelStatic, Sequelize } from 'sequelize';
import { apiKeys, createAuth } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { dialect } from '../support/database.js';
import { ownRows, type Row } from '../support/own-rows.js';

// Nothing connects to it.
const newSequelize = () => new Sequelize('mysql://localhost/none', { dialectModule: mysql2 });
const sequelize = newSequelize();
const id = { authId: { type: DataTypes.UUID, unique: true } };
const modelOf = (attributes: ModelAttributes) =>
  sequelize.define<Row>(`M${Math.random()}`, attributes, { tableName: 'users' });
const user = (given: object) => () =>
  createAuth({
    database: sequelize,
    secret: SECRET,
    plugins: [apiKeys()],
    tablePrefix: 'auth_',
    user: given,
  });

describe('createAuth names what does not fit', () => {
  test.each([
    [
      'no attribute',
      { model: modelOf({}), foreignKey: 'authId' },
      /user\.foreignKey: M.* has no attribute authId/,
    ],
    [
      'no field',
      { model: modelOf(id), foreignKey: 'authId', fields: { nick: { type: 'string' } } },
      /user\.fields\.nick: M.* has no attribute nick/,
    ],
    [
      'another instance',
      { model: newSequelize().define('Other', id), foreignKey: 'authId' },
      /user\.model: Other belongs to another Sequelize instance/,
    ],
    ['no foreignKey', { model: modelOf(id) }, /user\.foreignKey is missing/],
  ])('%s', (_case, given, message) => {
    expect(user(given)).toThrow(message);
  });

  test.each([
    ...['id', 'email', 'username', 'password', 'createdAt', 'passwordHash', 'authEpoch', 'redirectTo'],
    ...['sessions', 'apiKeys', 'devices', 'dataValues', 'constructor', 'toString'],
    ...['is_admin', 'IsAdmin', 'userID', 'first name', ''],
  ])('a field that is called %p', (name) => {
    expect(user({ fields: JSON.parse(`{"${name}":{"type":"string"}}`) })).toThrow(
      new RegExp(`user\\.fields\\.${name}|fields`),
    );
  });
});

describe('auth.migrate() and the first use name what does not fit', () => {
  let app: SpecApp<readonly [ReturnType<typeof password>]> | undefined;
  afterEach(() => app?.stop());

  test.each([
    ['no index at all', ''],
    ['an index that is not unique', 'CREATE INDEX one ON users (auth_id)'],
    ['an index of several columns', 'CREATE UNIQUE INDEX one ON users (auth_id, name)'],
    // MariaDB has none.
    ...(dialect === 'mysql'
      ? []
      : [['an index of some of the rows', 'CREATE UNIQUE INDEX one ON users (auth_id) WHERE name IS NULL']]),
  ])('%s', async (_case, index) => {
    app = await startApp({
      plugins: [password()] as const,
      config: async (database) => {
        const attributes = { authId: { type: DataTypes.UUID, field: 'auth_id' }, name: DataTypes.STRING };
        return ownRows(database, attributes).config;
      },
    });
    const type = { sqlite: 'CHAR(36)', postgres: 'UUID', mysql: 'CHAR(36) COLLATE utf8mb4_bin' }[dialect];
    await app.database.sequelize.query(
      `CREATE TABLE users (id INTEGER PRIMARY KEY, auth_id ${type}, name VARCHAR(80))`,
    );
    if (index) await app.database.sequelize.query(index);
    await expect(app.auth.migrate()).rejects.toThrow(/auth_id has no unique index.*CREATE UNIQUE INDEX/);
    await app.http.post('/auth/signup/credential').send(ada).expect(503);
    expect(app.log.join()).toMatch(/auth_id has no unique index/);
    expect(await app.auth.models.User.count()).toBe(0);
  });

  test.each<[string, object, RegExp]>([
    ['an include', { include: ['friends'] }, /default scope of AppUser has include or group/],
    ['a group', { group: ['name'] }, /default scope of AppUser has include or group/],
    ['a field left out', { attributes: { exclude: ['name'] } }, /user\.fields\.name: the default scope/],
  ])('a default scope with %s', async (_case, scope, message) => {
    let model: ModelStatic<Row> | undefined;
    app = await startApp({
      plugins: [password()] as const,
      config: async (database) => {
        const own = ownRows(database);
        model = own.model;
        return own.config;
      },
    });
    await model?.sync({ logging: false });
    model?.hasMany(model, { as: 'friends', constraints: false });
    model?.addScope('defaultScope', scope as FindOptions, { override: true });
    await expect(app.auth.migrate()).rejects.toThrow(message);
    await app.http.post('/auth/signup/credential').send(ada).expect(503);
    expect(app.log.join()).toMatch(message);
    expect(await app.auth.models.User.count()).toBe(0);
  });
});
