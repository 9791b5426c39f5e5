import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DataTypes, type ModelAttributes, type Sequelize } from 'sequelize';
import { type AuthConfig, authRouter, createAuth } from '../../lib/index.js';
import { ada, memoryLogger, password, SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';
import { ownRows } from '../support/own-rows.js';

let database: SpecDatabase;
let instance: Sequelize | undefined;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  await instance?.close();
  instance = undefined;
  await database.drop();
});

function open(attributes: ModelAttributes = {}, config: object = {}) {
  const own = ownRows(database, attributes);
  instance = own.config.database as Sequelize;
  const auth = createAuth({
    secret: SECRET,
    rateLimit: false,
    plugins: [password()],
    logger: memoryLogger(),
    ...own.config,
    ...config,
  } as AuthConfig<readonly [ReturnType<typeof password>]>);
  return { ...own, auth };
}

describe('createAuth refuses', () => {
  const user = (changes: object) => {
    const own = ownRows(database);
    instance = own.config.database as Sequelize;
    return { ...own.config, secret: SECRET, user: { ...own.config.user, ...changes } };
  };

  test.each([
    ['a model that is none', () => user({ model: {} }), /user\.model must be a Sequelize model/],
    ['a model without foreignKey', () => user({ foreignKey: undefined }), /user\.foreignKey is missing/],
    ['a foreignKey without model', () => user({ model: undefined }), /user\.foreignKey requires user\.model/],
    [
      'an unknown foreignKey',
      () => user({ foreignKey: 'accountId' }),
      /user\.foreignKey: AppUser has no attribute accountId/,
    ],
    [
      'an unknown field',
      () => user({ fields: { nick: { type: 'string' } } }),
      /user\.fields\.nick: AppUser has no attribute nick/,
    ],
    [
      'a field that is the foreign key',
      () => user({ fields: { authId: { type: 'string' } } }),
      /user\.fields\.authId is user\.foreignKey/,
    ],
    [
      'a URL beside a model',
      () => ({ ...user({}), database: database.url }),
      /user\.model requires the Sequelize instance/,
    ],
    [
      'another instance',
      () => ({ ...user({}), database: database.sequelize }),
      /AppUser belongs to another Sequelize instance/,
    ],
    [
      'createRow without model',
      () => ({ database: database.url, secret: SECRET, hooks: { createRow: () => undefined } }),
      /hooks\.createRow requires user\.model/,
    ],
    [
      'a requestProperty of Express',
      () => ({ database: database.url, secret: SECRET, requestProperty: 'body' }),
      /requestProperty is a property that requests already have/,
    ],
    [
      'a requestProperty of Node',
      () => ({ database: database.url, secret: SECRET, requestProperty: 'headers' }),
      /requestProperty/,
    ],
    [
      'a requestProperty of objects',
      () => ({ database: database.url, secret: SECRET, requestProperty: '__proto__' }),
      /requestProperty/,
    ],
  ] as const)('%s', (_case, config, message) => {
    expect(() => createAuth(config() as never)).toThrow(message);
  });
});

describe("the app's table", () => {
  const signUp = (auth: ReturnType<typeof open>['auth']) =>
    auth.credential.signUp(ada).catch((error) => String(error.cause));

  test('need not exist when migrate() runs, since it may refer to that of accounts', async () => {
    const { auth, model } = open();
    await auth.migrate();
    expect(await signUp(auth)).toMatch(
      /the table .*users.* does not exist: create it with a migration of the app/,
    );
    await model.sync({ logging: false });
    await auth.migrate();
    expect(await signUp(auth)).toMatchObject({ user: { email: ada.email } });
    await auth.close();
  });

  test('needs a unique index on the foreign key, and the message adds it', async () => {
    const { auth, model } = open({ authId: { type: DataTypes.UUID, field: 'auth_id' } });
    await model.sync({ logging: false });
    const error = await auth.migrate().catch(({ message }: Error) => message);
    expect(error).toMatch(/^latchkey: user\.foreignKey: the column users\.auth_id has no unique index/);
    expect(await signUp(auth)).toBe(`Error: ${error}`);
    await rows(database, /CREATE UNIQUE INDEX .*/.exec(error as string)?.[0] ?? '');
    // Without a restart.
    expect(await signUp(auth)).toMatchObject({ user: { email: ada.email } });
    await auth.close();
  });

  (dialect === 'sqlite' ? test.skip : test)(
    'needs the type of account ids, and the message changes it',
    async () => {
      const { auth, model } = open({
        authId: { type: DataTypes.STRING(36), field: 'auth_id', unique: true },
      });
      await model.sync({ logging: false });
      const error = await auth.migrate().catch(({ message }: Error) => message);
      expect(error).toMatch(/has the type .*, which is not the type of account ids: ALTER TABLE/);
      await rows(database, /ALTER TABLE .*/.exec(error as string)?.[0] ?? '');
      await auth.migrate();
      expect(await signUp(auth)).toMatchObject({ user: { email: ada.email } });
      await auth.close();
    },
  );

  test('may have the account id as its primary key, and refer to the account', async () => {
    const { auth, model } = open({
      id: { type: DataTypes.INTEGER },
      authId: { type: DataTypes.UUID, primaryKey: true, references: { model: 'auth_users', key: 'id' } },
    });
    await auth.migrate();
    await model.sync({ logging: false });
    expect(await signUp(auth)).toMatchObject({ user: { email: ada.email } });
    const { token } = await auth.credential.signIn({ credential: ada.email, password: ada.password });
    expect(await auth.getSession({ headers: { cookie: `latchkey=${token}` } })).toBeTruthy();
    await auth.close();
  });

  test('is left alone by migrations and their undoing', async () => {
    const { auth, model } = open();
    await model.sync({ logging: false });
    await auth.migrate();
    await auth.migrate({ undo: 'all' });
    expect(await model.count()).toBe(0);
    expect(await auth.migrate()).not.toContain('users.name');
    await auth.close();
  });

  test('serves more first sign-ups at once than the pool has connections', async () => {
    const { auth, model } = open();
    await model.sync({ logging: false });
    await auth.migrate();
    const made = await Promise.all(
      Array.from({ length: 25 }, (_, index) =>
        auth.credential.signUp({ ...ada, email: `${index}@example.com` }),
      ),
    );
    expect(made).toHaveLength(25);
    expect(await model.count()).toBe(25);
    await auth.close();
  });

  test('must not have a default scope with include, which names the mend', async () => {
    const { auth, model } = open();
    await model.sync({ logging: false });
    await auth.migrate();
    const Team = model.sequelize?.define('Team', {});
    if (Team) model.belongsTo(Team, { foreignKey: 'teamId' });
    model.addScope('defaultScope', { include: [{ all: true }] }, { override: true });
    expect(() => authRouter(auth)).not.toThrow();
    const mend = /default scope of AppUser has include or group.*model\.unscoped\(\)/;
    await expect(auth.users.find({ email: ada.email })).rejects.toMatchObject({
      code: 'unavailable',
      cause: { message: expect.stringMatching(mend) },
    });
    await auth.close();
  });
});
