import { afterEach, describe, expect, test } from '@jest/globals';
import type { Sequelize } from 'sequelize';
import { admin, createAuth, credentialPassword } from '../../lib/index.js';
import { SECRET } from '../support/app.js';

const good = { database: 'sqlite:./nowhere.db', secret: SECRET };
const make = (config: unknown) => () => createAuth(config as Parameters<typeof createAuth>[0]);

const environment = process.env.NODE_ENV;
afterEach(() => {
  process.env.NODE_ENV = environment;
});

/** A change to a valid config, and the expected message, which contains the key and how to fix it. */
const mistakes: [change: Record<string, unknown>, said: RegExp][] = [
  [{ database: undefined }, /database must be a URL \(sqlite:/],
  [{ database: 5 }, /database must be a URL/],
  [{ database: {} }, /database must be a URL/],
  [{ database: '' }, /database must be a valid URL/],
  [{ database: 'app.db' }, /database must be a valid URL/],
  [{ database: 'sqlite:' }, /database must be a valid URL/],
  [{ database: 'sqlite://' }, /database must be a valid URL/],
  [{ database: 'mongodb://127.0.0.1/app' }, /database must be a valid URL/],
  [{ database: 'mysql://' }, /database/],
  [{ database: 'postgres://host:port/app' }, /database/],
  [{ secret: undefined }, /secret is missing.*npx latchkey secret/],
  [{ secret: '' }, /secret is too short.*at least 32 bytes/],
  [{ secret: 'a'.repeat(31) }, /secret is too short/],
  [{ secret: ['a'.repeat(40), 'short'] }, /secret\[1\] is too short/],
  [{ secret: [] }, /secret/],
  [{ secret: 12345 }, /secret must be a string or a list of strings$/],
  [{ secret: Buffer.alloc(32) }, /secret must be a string or a list of strings$/],
  [{ secret: null }, /secret must be a string or a list of strings$/],
  [{ secret: [SECRET, 5] }, /secret\[1\] must be a string$/],
  [{ secret: [SECRET, undefined] }, /secret\[1\] is missing/],
  [{ secret: [SECRET, `${SECRET} of old`, SECRET] }, /secret contains the same secret twice: remove one/],
  [{ plugins: {} }, /plugins must be a list of plugins/],
  [
    { plugins: [credentialPassword] },
    /plugins\[0\] is a function: call it, as in plugins: \[credentialPassword\(\)\]/,
  ],
  [
    { plugins: [credentialPassword(), false] },
    /plugins\[1\] is false, not a plugin: leave it out, as in \.\.\.\(condition \? \[plugin\(\)\] : \[\]\)/,
  ],
  [
    { plugins: [null, undefined] },
    /plugins\[0\] is null, not a plugin.*plugins\[1\] is undefined, not a plugin/,
  ],
  [{ plugins: ['admin'] }, /plugins\[0\] is a string, not a plugin/],
  [{ plugins: [{ name: 'admin' }] }, /plugins\[0\] is an object, not a plugin/],
  [{ plugins: [[credentialPassword()]] }, /plugins\[0\] is a list: spread it/],
  [
    { plugins: [credentialPassword(), credentialPassword()] },
    /plugins contains credential twice; remove one/,
  ],
  [{ baseUrl: 'app.example.com' }, /baseUrl must be a URL such as https:/],
  [{ baseUrl: 'https://app.example.com/app?x' }, /baseUrl must be a URL.*no query/],
  [{ baseUrl: 'https://app.example.com/a/../b' }, /baseUrl must be a URL/],
  [{ baseUrl: 'https://app.example.com//' }, /baseUrl must be a URL/],
  [{ baseUrl: 'https://app.example.com/a%2Fb' }, /baseUrl must be a URL/],
  [{ trustedOrigins: ['https://app.example.com/app'] }, /trustedOrigins\[0\] must be an origin.*no path/],
  [{ baseUrl: 'https://app.example.com?x' }, /baseUrl must be a URL/],
  [{ baseUrl: 'https://user:secret@app.example.com' }, /baseUrl must be a URL/],
  [{ baseUrl: 'ftp://app.example.com' }, /baseUrl must be a URL/],
  [{ baseUrl: 'https://' }, /baseUrl must be a URL/],
  [{ baseUrl: new URL('https://app.example.com') }, /baseUrl must be a URL/],
  [
    { baseUrl: 'https://app.example.com', email: { send() {}, supportUrl: 'mailto:%E0%A4%A' } },
    /email\.supportUrl must be/,
  ],
  [{ httpBasePath: 'auth' }, /httpBasePath must be a path such as \/auth/],
  [{ httpBasePath: '/auth/' }, /httpBasePath must be a path.*without a trailing slash/],
  [{ httpBasePath: '/' }, /httpBasePath must be a path/],
  [{ httpBasePath: '/a//b' }, /httpBasePath must be a path/],
  [{ httpBasePath: '/:tenant' }, /httpBasePath must be a path/],
  [{ httpBasePath: '/a b' }, /httpBasePath must be a path/],
  [{ bearerEnabled: 'yes' }, /bearerEnabled must be true or false/],
  [{ trustedOrigins: 'https://a.example' }, /trustedOrigins must be a list of origins/],
  [{ trustedOrigins: ['*'] }, /trustedOrigins\[0\] must be an origin/],
  [{ trustedOrigins: ['https://*.example.com/'] }, /trustedOrigins\[0\] must be an origin/],
  [{ trustedOrigins: ['https://a.example', 'null'] }, /trustedOrigins\[1\] must be an origin/],
  [{ session: { idleTimeout: 0 } }, /session\.idleTimeout must be more than 0 seconds/],
  [{ session: { lifetime: -1 } }, /session\.lifetime must be more than 0 seconds/],
  [{ session: { lifetime: '30d' } }, /session\.lifetime must be a number of seconds/],
  [{ session: { shortLifetime: Number.NaN } }, /session\.shortLifetime must be a number of seconds/],
  [{ session: { lifetime: Number.POSITIVE_INFINITY } }, /session\.lifetime must be/],
  [{ session: { lifetime: Number.MAX_SAFE_INTEGER } }, /session\.lifetime must be at most/],
  [
    { session: { lifetime: 30 * 24 * 3600 * 1000 } },
    /session\.lifetime must be at most 400 days, in seconds \(not milliseconds\)/,
  ],
  [
    { session: { idleTimeout: 400 * 24 * 3600 + 1 } },
    /session\.idleTimeout must be at most 400 days, in seconds/,
  ],
  [{ session: { maxPerUser: 0 } }, /session\.maxPerUser must be at least 1$/],
  [{ session: { maxPerUser: 1001 } }, /session\.maxPerUser must be at most 1000$/],
  [{ session: { maxPerUser: 2.5 } }, /session\.maxPerUser must be a whole number$/],
  [{ session: { maxPerUser: '5' } }, /session\.maxPerUser must be a whole number$/],
  [{ session: { idle: 5 } }, /session\.idle is not an option of latchkey/],
  [{ session: { cookie: { name: 'a b' } } }, /session\.cookie\.name must be a cookie name/],
  [{ session: { cookie: { name: 'a=b' } } }, /session\.cookie\.name must be a cookie name/],
  [{ session: { cookie: { name: '' } } }, /session\.cookie\.name must be a cookie name/],
  [
    { session: { cookie: { name: '__Host-x' } } },
    /session\.cookie\.name starts with __Host-, which requires secure/,
  ],
  [
    { session: { cookie: { name: '__Host-x', secure: true, domain: 'a.co' } } },
    /session\.cookie\.name starts with __Host-/,
  ],
  [
    { session: { cookie: { name: '__Secure-x' } } },
    /session\.cookie\.name starts with __Secure-, which requires secure/,
  ],
  [
    { session: { cookie: { sameSite: 'none' } } },
    /session\.cookie\.sameSite is 'none', which requires secure/,
  ],
  [
    { session: { cookie: { partitioned: true, secure: true } } },
    /session\.cookie\.partitioned requires sameSite: 'none' and secure: true/,
  ],
  [
    { session: { cookie: { partitioned: true, sameSite: 'none', secure: false } } },
    /session\.cookie\.sameSite is 'none', which requires secure/,
  ],
  [{ session: { cookie: { sameSite: 'Lax' } } }, /session\.cookie\.sameSite must be 'lax'/],
  [{ session: { cookie: { path: 'app' } } }, /session\.cookie\.path must be a URL path that starts with \//],
  [{ session: { cookie: { path: '/a; Secure' } } }, /session\.cookie\.path must/],
  [{ session: { cookie: { domain: 'https://example.com' } } }, /session\.cookie\.domain must be/],
  [{ session: { cookie: { domain: 'localhost:3000' } } }, /session\.cookie\.domain must be/],
  [{ session: { cookie: { domain: 'a.co; Path=/' } } }, /session\.cookie\.domain must be/],
  [
    { baseUrl: 'https://app.example.com', session: { cookie: { domain: 'example.org' } } },
    /session\.cookie\.domain does not cover baseUrl's host: set it to app\.example\.com or a parent domain/,
  ],
  [
    { baseUrl: 'https://badexample.com', session: { cookie: { domain: 'example.com' } } },
    /session\.cookie\.domain does not cover/,
  ],
  [
    { baseUrl: 'https://example.com', session: { cookie: { domain: 'app.example.com' } } },
    /session\.cookie\.domain does not cover/,
  ],
  [{ session: { touchInterval: -1 } }, /session\.touchInterval must be 0 seconds or more/],
  [{ session: { cookie: { httpOnly: false } } }, /session\.cookie\.httpOnly is not an option of latchkey/],
  [{ tablePrefix: 'My_' }, /tablePrefix must be at most 30 characters of a-z/],
  [{ tablePrefix: 'a; drop table users' }, /tablePrefix must be/],
  [{ tablePrefix: 'x'.repeat(31) }, /tablePrefix must be/],
  [{ logger: {} }, /logger must have the methods debug, info, warn and error/],
  [{ logger: null }, /logger must have/],
  [{ scret: 'x' }, /scret is not an option of latchkey: check the spelling \(did you mean secret\?\)/],
];

describe('createAuth', () => {
  test.each(mistakes)('%p throws', (change, said) => {
    expect(make({ ...good, ...change })).toThrow(TypeError);
    expect(make({ ...good, ...change })).toThrow(said);
    expect(make({ ...good, ...change })).toThrow(/^latchkey: /);
  });

  test('reports all mistakes in one error and never prints the secret', () => {
    const error = (() => {
      try {
        return make({
          database: 5,
          secret: 'my short secret',
          baseUrl: 'x',
          bearerEnabled: 1,
          nonsense: 1,
        })();
      } catch (thrown) {
        return thrown as Error;
      }
    })() as Error;
    for (const key of ['database', 'secret', 'baseUrl', 'bearerEnabled', 'nonsense'])
      expect(error.message).toContain(key);
    expect(error.message).not.toContain('my short secret');
  });

  test.each([undefined, null, 'sqlite:x', 5, []])('%j is rejected as a config', (config) => {
    expect(make(config)).toThrow(TypeError);
  });

  test('accepts a valid config and opens no connection', () => {
    const auth = make({
      ...good,
      database: 'mysql://nobody@192.0.2.1:1/none',
      secret: [SECRET, `${SECRET} of old`],
      baseUrl: 'https://app.example.com/',
      httpBasePath: '/v1/auth',
      trustedOrigins: ['https://admin.example.com', 'http://localhost:5173'],
      session: {
        idleTimeout: 60,
        lifetime: 120,
        shortLifetime: 60,
        touchInterval: 0.5,
        cookie: { domain: '.example.com' },
      },
      tablePrefix: 'auth_',
      logger: console,
    })();
    expect(auth.listSessions).toBeInstanceOf(Function);
  });

  test('returns the same Auth for the same config object, and a different one for another object', () => {
    const config = Object.freeze({ ...good });
    expect(make(config)()).toBe(make(config)());
    expect(make({ ...config })()).not.toBe(make(config)());
  });

  test('rejects a Sequelize instance for an unsupported database', () => {
    const sequelize = { query: () => {}, getDialect: () => 'oracle' } as unknown as Sequelize;
    expect(make({ ...good, database: sequelize })).toThrow(/database is a Sequelize instance for oracle/);
  });
});

describe('the options of plugins', () => {
  test.each<[name: string, make: () => unknown, said: RegExp]>([
    [
      'a bcryptCost below 4',
      () => credentialPassword({ bcryptCost: 3 }),
      /credentialPassword: bcryptCost must be at least 4/,
    ],
    ['a bcryptCost above 20', () => credentialPassword({ bcryptCost: 31 }), /bcryptCost must be at most 20/],
    [
      'a fractional bcryptCost',
      () => credentialPassword({ bcryptCost: 10.5 }),
      /bcryptCost must be a whole number/,
    ],
    [
      'a username that is not a boolean',
      () => credentialPassword({ username: 'yes' as never }),
      /username must be true or false/,
    ],
    [
      'an unknown option of credentialPassword()',
      () => credentialPassword({ minLength: 5 } as never),
      /credentialPassword: .*minLength/,
    ],
    [
      'no administrators',
      () => admin({}),
      /admin: set at least one administrator in adminUserIds or adminEmails/,
    ],
    [
      'empty lists of administrators',
      () => admin({ adminEmails: [], adminUserIds: [] }),
      /admin: set at least one/,
    ],
    [
      'missing options of admin()',
      () => admin(undefined as never),
      /admin: set at least one administrator in adminUserIds or/,
    ],
    [
      'options that are not an object',
      () => admin('owner@example.com' as never),
      /admin: the options must be an object/,
    ],
    [
      'an invalid email in adminEmails',
      () => admin({ adminEmails: ['nobody'] }),
      /admin: adminEmails\[0\] must be an email address/,
    ],
    [
      'adminEmails that are not a list',
      () => admin({ adminEmails: 'a@x.co' as never }),
      /adminEmails must be a list of emails/,
    ],
    [
      'an empty id in adminUserIds',
      () => admin({ adminUserIds: [''] }),
      /adminUserIds\[0\] must be the id of a user, not empty/,
    ],
    [
      'a blank id in adminUserIds',
      () => admin({ adminUserIds: ['x', ' '] }),
      /adminUserIds\[1\] must be the id of a user/,
    ],
    [
      'a number in adminUserIds',
      () => admin({ adminUserIds: [7 as never] }),
      /adminUserIds\[0\] must be a string/,
    ],
    [
      'an email in adminUserIds',
      () => admin({ adminUserIds: ['owner@example.com'] }),
      /admin: adminUserIds\[0\] must be the id of a user: put emails into adminEmails/,
    ],
    ['an unknown option of admin()', () => admin({ emails: ['a@x.co'] } as never), /admin: .*emails/],
  ])('throw a TypeError for %s', (_name, make, said) => {
    expect(make).toThrow(TypeError);
    expect(make).toThrow(said);
  });

  test('an administrator’s id can be any string without an @', () => {
    expect(make({ ...good, plugins: [admin({ adminUserIds: ['x', 'user_2Nf', '42'] })] })).not.toThrow();
  });

  test('a bcrypt cost below 10 is rejected in production', () => {
    process.env.NODE_ENV = 'production';
    const config = { ...good, plugins: [credentialPassword({ bcryptCost: 9 })] };
    expect(make(config)).toThrow(/bcryptCost must be at least 10 in production/);
    expect(make({ ...good, plugins: [credentialPassword({ bcryptCost: 10 })] })).not.toThrow();
  });
});
