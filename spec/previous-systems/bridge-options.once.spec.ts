import { expect, test } from '@jest/globals';
import { Sequelize } from 'sequelize';
import { authJsSessions, betterAuthSessions, expressSession } from '../../lib/bridges.js';
import { createAuth } from '../../lib/index.js';
import { SECRET } from '../support/app.js';

const sequelize = new Sequelize('postgres://127.0.0.1/nowhere', { logging: false });
const store = { get: () => {}, destroy: () => {} };
const userId = () => null;

test.each([
  [
    () => betterAuthSessions({} as never),
    /betterAuthSessions: sequelize must be a Sequelize instance on the database/,
  ],
  [() => betterAuthSessions({ sequelize, secret: undefined }), /secret must be better-auth's secret/],
  [() => betterAuthSessions({ sequelize, secret: '' }), /secret/],
  [
    () => betterAuthSessions({ sequelize, secret: 'x', tables: { session: 'a"b' } }),
    /tables.session must be the name/,
  ],
  [
    () => betterAuthSessions({ sequelize, secret: 'x', columns: { user: { email: 'a"b' } } }),
    /columns.user.email must be the name of a column/,
  ],
  [
    () => authJsSessions({ sequelize, columns: { user: { mail: 'address' } as never } }),
    /columns.user.mail is not an option/,
  ],
  [() => betterAuthSessions({ sequelize, secret: 'x', until: 'soon' as never }), /until must be a Date/],
  [() => betterAuthSessions({ sequelize, secret: 'x', until: new Date('soon') }), /until/],
  [
    () => betterAuthSessions({ sequelize, secret: 'x', cookieName: 'a b' }),
    /cookieName must be the name of a cookie/,
  ],
  [
    () => betterAuthSessions({ sequelize, secret: 'x', userId: 'id' as never }),
    /userId must be a function that returns/,
  ],
  [() => betterAuthSessions({ sequelize, secret: 'x', secrets: [] } as never), /secrets is not an option/],
  [() => expressSession({ userId } as never), /expressSession: store must be a store of express-session/],
  [() => expressSession({ store } as never), /userId must be a function that returns the id/],
  [() => expressSession({ store, userId, secret: [] }), /secret must be the secret of express-session/],
  [() => expressSession({ store, userId, rolling: 1 as never }), /rolling must be true or false/],
  [
    () => expressSession({ store, userId, keepOld: 'yes' as never }),
    /keepOld must be true, or { endAll } with a function/,
  ],
  [
    () => authJsSessions({ sequelize, keepOld: { endAll: true as never } }),
    /keepOld.endAll must be a function that ends all sessions of a user/,
  ],
  [
    () => betterAuthSessions({ sequelize, secret: 'x', keepOld: { endall: () => {} } as never }),
    /keepOld.endall is not an option/,
  ],
  [
    () => authJsSessions({ sequelize: 'postgres://127.0.0.1/x' as never }),
    /authJsSessions: sequelize must be/,
  ],
  [() => authJsSessions({ sequelize, strategy: 'jwt' } as never), /strategy is not an option/],
])('a mistake in the options is named: %#', (make, said) => {
  expect(make).toThrow(said);
  expect(make).toThrow(TypeError);
});

test.each([
  [authJsSessions, /bridges\[0\] must be a bridge from latchkey\/bridges: call it/],
  [{}, /bridges\[0\] must be a bridge/],
  [null, /bridges\[0\] must be a bridge/],
])('so is one that is no bridge: %p', (bridge, said) => {
  const config = { database: 'sqlite:./nowhere.db', secret: SECRET, bridges: [bridge] as never };
  expect(() => createAuth(config)).toThrow(said);
});

test('userId must return what can be an account, and its mistake is not taken for nobody', async () => {
  const find = (found: unknown) =>
    expressSession({
      store: { ...store, get: (_id, done) => done(null, { cookie: {} } as never) },
      userId: () => found as never,
    }).find('id', () => [], false);
  for (const nobody of [null, undefined, false, '']) expect(await find(nobody)).toBeNull();
  for (const wrong of [true, {}, { email: 5 }, { id: {} }, { email: 'a@b.co', emailVerified: 'yes' }])
    await expect(find(wrong)).rejects.toThrow(/expressSession: userId must return an id/);
  expect(await find(0)).toMatchObject({ user: { id: 0 } });
  expect(await find({ email: 'ada@example.com' })).toMatchObject({
    user: { id: null, emailVerified: false },
  });
});
