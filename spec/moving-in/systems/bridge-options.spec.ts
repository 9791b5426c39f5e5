import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Sequelize } from 'sequelize';
import { createAuth } from '../../../lib/index.js';
import {
  authJsSessions,
  betterAuthSessions,
  expressSession,
  jwtSessions,
  movingIn,
} from '../../../lib/moving-in.js';
import { SECRET } from '../../support/app.js';

const sequelize = new Sequelize('postgres://127.0.0.1/nowhere', { logging: false });
const store = { get: () => {}, destroy: () => {} };
const userId = () => null;
const jwt = { keys: 'a secret', algorithms: ['HS256'] as const, userId, until: new Date() };
const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string;
const jwks = { keys: [publicKey.export({ format: 'jwk' })] };
const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
const shortPem = short.export({ type: 'pkcs1', format: 'pem' }) as string;

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
  [
    () => jwtSessions({} as never),
    /jwtSessions: keys must be a secret, .*; algorithms must be .*; userId .*; until/,
  ],
  [() => jwtSessions({ ...jwt, keys: undefined }), /keys must be a secret, a public key in PEM/],
  [() => jwtSessions({ ...jwt, keys: '' }), /keys must not be empty/],
  [() => jwtSessions({ ...jwt, keys: [] }), /keys must be a secret/],
  [() => jwtSessions({ ...jwt, keys: {} as never }), /keys must be a secret/],
  [() => jwtSessions({ ...jwt, keys: 'http://example.com/jwks' }), /keys must be a secret, .* \(https, or/],
  [() => jwtSessions({ ...jwt, keys: 'https://me:pw@example.com/jwks' }), /keys must not contain a username/],
  [
    () => jwtSessions({ ...jwt, keys: pem.replaceAll('\n', '\\n') }),
    /keys contains a key in PEM that cannot be read/,
  ],
  // The public key would be the secret with which anybody can sign.
  [() => jwtSessions({ ...jwt, keys: pem }), /algorithms contains HS256, but keys has no key for it/],
  [
    () => jwtSessions({ ...jwt, keys: Buffer.from(pem) }),
    /algorithms contains HS256, but keys has no key for it/,
  ],
  [() => jwtSessions({ ...jwt, keys: { keys: [{ kty: 'oct' }] } }), /keys has no key for it/],
  [() => jwtSessions({ ...jwt, keys: jwks }), /algorithms contains HS256, but keys has no key for it/],
  [
    () => jwtSessions({ ...jwt, keys: new URL('https://example.com/jwks') }),
    /HS256, which requires a secret, but keys is a URL/,
  ],
  [() => jwtSessions({ ...jwt, keys: pem, algorithms: ['ES256', 'HS256'] }), /HS256, but keys has no key/],
  [() => jwtSessions({ ...jwt, keys: pem, algorithms: ['ES384'] }), /ES384, but keys has no key for it/],
  [
    () => jwtSessions({ ...jwt, keys: shortPem, algorithms: ['RS256'] }),
    /RS and PS an RSA key of at least 2048 bits/,
  ],
  [() => jwtSessions({ ...jwt, algorithms: ['none' as never] }), /algorithms\[0\] must be one of HS256/],
  [() => jwtSessions({ ...jwt, algorithms: [] }), /algorithms must name at least one/],
  [() => jwtSessions({ ...jwt, scheme: 'Basic' as never }), /scheme must be 'Bearer' or 'Token'/],
  [() => jwtSessions({ ...jwt, until: undefined as never }), /until must be a Date, by which/],
  [() => jwtSessions({ ...jwt, keepOld: true } as never), /keepOld is not an option/],
])('a mistake in the options is named: %#', (make, said) => {
  expect(make).toThrow(said);
  expect(make).toThrow(TypeError);
});

test.each([
  [authJsSessions, /bridges\[0\] must be a bridge from latchkey\/moving-in: call it/],
  [{}, /bridges\[0\] must be a bridge/],
  [null, /bridges\[0\] must be a bridge/],
])('so is one that is no bridge: %p', (bridge, said) => {
  expect(() => movingIn({ bridges: [bridge] as never })).toThrow(said);
});

test.each([
  [
    { bearer: { scheme: 'Token' } },
    /bearer requires session tokens in a header: set bearerEnabled to true too/,
  ],
  [{ bearerEnabled: true, bearer: { scheme: 'Basic' } }, /bearer.scheme must be 'Token'/],
  [{ bearerEnabled: true, bearer: { schema: 'Token' } }, /bearer.schema is not an option of latchkey/],
])('and a scheme of bearer tokens that cannot be: %j', (more, said) => {
  expect(() => createAuth({ database: 'sqlite:./nowhere.db', secret: SECRET, ...(more as object) })).toThrow(
    said,
  );
});

test('userId must return what can be an account, and its mistake is not taken for nobody', async () => {
  const find = (found: unknown) =>
    expressSession({
      store: { ...store, get: (_id, done) => done(null, { cookie: {} } as never) },
      userId: () => found as never,
    }).find('id', () => [], false);
  for (const nobody of [null, undefined, false, '']) expect(await find(nobody)).toBeNull();
  for (const wrong of [
    true,
    {},
    [],
    ['7'],
    { id: ['7'] },
    { email: 5 },
    { id: {} },
    { email: 'a@b.co', emailVerified: 'yes' },
  ])
    await expect(find(wrong)).rejects.toThrow(/expressSession: userId must return an id/);
  expect(await find(0)).toMatchObject({ user: { id: 0 } });
  expect(await find({ email: 'ada@example.com' })).toMatchObject({
    user: { id: null, emailVerified: false },
  });
});
