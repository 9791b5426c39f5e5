import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  admin,
  apiKeys,
  auditLog,
  createAuth,
  credentialPassword,
  oauth,
  passkeys,
  twoFactor,
} from '../../lib/index.js';
import { github, google, oauth2, oidc } from '../../lib/providers.js';
import { text, value } from './inputs.js';
import { fuzz } from './property.js';

type Options = Record<string, unknown>;

const WHOLE = {
  database: 'sqlite:./never-opened.db',
  secret: 'a secret for specs, of 32 bytes and more',
  baseUrl: 'https://app.example.com',
  appName: 'x',
  httpBasePath: '/auth',
  bearerEnabled: true,
  forms: true,
  trustedOrigins: ['https://trusted.example'],
  session: {
    idleTimeout: 60,
    lifetime: 60,
    shortLifetime: 60,
    touchInterval: 1,
    maxPerUser: 5,
    cookie: { name: 'x', domain: 'example.com', path: '/', sameSite: 'lax', secure: true },
  },
  rateLimit: {
    signIn: { limit: 1, window: 1 },
    account: { failures: 1, firstPause: 1, maxPause: 1 },
    store: undefined,
  },
  email: {
    send: () => undefined,
    verifyUrl: '/x',
    resetUrl: '/x',
    invitationUrl: '/x',
    changeEmailUrl: '/x',
    undoUrl: '/x',
    brand: { logoUrl: '/x', color: '#000', footer: 'x' },
    notices: true,
  },
  user: {
    fields: {
      name: {
        type: 'string',
        required: false,
        default: 'x',
        maxLength: 9,
        minLength: 1,
        enum: ['x'],
        input: 'user',
        output: 'self',
      },
    },
  },
  hooks: { beforeCreateUser: undefined },
  requestProperty: 'auth',
  signUp: 'open',
  account: { update: true, changeEmail: true, delete: true },
  accountDeletion: { graceDays: 0 },
  tablePrefix: 'x',
  plugins: [],
  logger: { debug() {}, info() {}, warn() {}, error() {} },
};

const provider = { clientId: 'x', clientSecret: 'x' };
/** The plugins and providers, with options that they take. */
const PLUGINS: Readonly<Record<string, readonly [make: (options: never) => unknown, options: Options]>> = {
  credentialPassword: [
    credentialPassword,
    {
      identifier: 'email',
      username: true,
      usernamePattern: /x/,
      passwordRules: { minLength: 8, common: true },
      signInOnSignUp: true,
      hash: 'argon2id',
      bcryptCost: 4,
      argon2: { memory: 19_456, iterations: 2 },
      sendVerificationOnSignUp: false,
      requireVerifiedEmail: false,
      concealExistingEmails: false,
      pepper: 'a pepper of 32 bytes and more than that',
      isBreached: undefined,
      onBreachCheckFailure: 'accept',
    },
  ],
  admin: [
    admin,
    {
      adminUserIds: ['01900000-0000-7000-8000-000000000000'],
      adminEmails: ['root@example.com'],
      manageUsers: true,
    },
  ],
  apiKeys: [apiKeys, { header: 'x-key', acceptBearer: true, maxPerUser: 3 }],
  auditLog: [auditLog, { retention: 86_400 }],
  twoFactor: [twoFactor, { issuer: 'x', trustProviders: [] }],
  passkeys: [passkeys, { rpId: 'example.com', rpName: 'x' }],
  oauth: [oauth, { linkByVerifiedEmail: true, errorUrl: '/x' }],
  google: [google, { ...provider, scopes: ['x'], authorizeParameters: { x: 'y' } }],
  github: [github, { ...provider, scopes: ['x'] }],
  oidc: [oidc, { id: 'x', issuer: 'https://issuer.example', ...provider, clientAuth: 'post' }],
  oauth2: [
    oauth2,
    {
      id: 'x',
      ...provider,
      authorizationUrl: 'https://x.example',
      tokenUrl: 'https://x.example',
      userinfoUrl: 'https://x.example',
    },
  ],
};

const STRANGE = [
  'secrets',
  'baseURL',
  'x',
  '',
  '__proto__',
  'constructor',
  'ses sion',
  '\n',
  'a'.repeat(500),
];
const hostile = fc.oneof(
  value,
  fc.constantFrom<unknown>(
    'https://',
    'http://[',
    'sqlite:',
    'sqlite::memory:',
    'mysql://',
    'postgres://a:b@[',
    'mariadb://%',
    'oracle://x',
    'x'.repeat(40),
    [['x']],
    '/',
    '//evil.example',
    'com',
    '127.0.0.1',
    'a.'.repeat(5000),
  ),
);

/** The paths of the options in an object. */
function pathsIn(options: Options, above: readonly string[] = []): string[][] {
  return Object.entries(options).flatMap(([key, inner]) => {
    const isObject =
      typeof inner === 'object' && inner !== null && Object.getPrototypeOf(inner) === Object.prototype;
    return [[...above, key], ...(isObject ? pathsIn(inner as Options, [...above, key]) : [])];
  });
}

/** A copy with another value at a path. */
function withValue(options: Options, [key = '', ...rest]: readonly string[], given: unknown): Options {
  const copy = { ...options };
  const inner = rest.length > 0 ? withValue((options[key] ?? {}) as Options, rest, given) : given;
  // Not by assignment, which would set the prototype.
  Object.defineProperty(copy, key, { value: inner, enumerable: true, configurable: true, writable: true });
  return copy;
}

const changeOf = (options: Options) => {
  const paths = pathsIn(options);
  const holders: string[][] = [
    [],
    ...paths.filter((path) =>
      pathsIn(options).some(
        (one) => one.length === path.length + 1 && path.every((key, at) => one[at] === key),
      ),
    ),
  ];
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc.tuple(paths.length > 0 ? fc.constantFrom(...paths) : fc.constant(['x']), hostile),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...holders), fc.constantFrom(...STRANGE), hostile)
        .map(([above, key, given]) => [[...above, key], given] as [string[], unknown]),
    },
  );
};

/** What a refusal must be: it names the option, and quotes no value, which could be a secret. */
function checkRefusal(error: unknown, [key = ''] = [] as readonly string[], given: unknown): void {
  assert.ok(error instanceof TypeError, `${error}`);
  assert.match(error.message, /^latchkey: ./su);
  assert.ok(error.message.includes(key), error.message);
  // The id of a provider says which one is meant.
  if (typeof given === 'string' && given.length > 30 && key !== 'id')
    assert.ok(!error.message.includes(given), error.message);
}

/** The plugins that one does not work without. */
function beside(name: string): unknown[] {
  if (name === 'auditLog') return [admin({ adminEmails: ['root@example.com'] })];
  if (name === 'oauth') return [github(provider)];
  return ['github', 'google', 'oidc', 'oauth2'].includes(name) ? [oauth()] : [];
}

const MAX_MS = 5000;
function timed<T>(work: () => T): T {
  const started = performance.now();
  try {
    return work();
  } finally {
    const took = performance.now() - started;
    assert.ok(took < MAX_MS, `took ${took} ms`);
  }
}

/** The config, and the options of plugins. */
export const config = [
  fuzz(
    'a config makes an Auth, or a TypeError that names the option',
    150,
    fc.asyncProperty(changeOf(WHOLE), async ([path, given]) => {
      let auth: ReturnType<typeof createAuth>;
      try {
        auth = timed(() => createAuth(withValue(WHOLE, path, given) as never));
      } catch (error) {
        return checkRefusal(error, path, given);
      }
      await auth.close();
    }),
  ),
  fuzz(
    'a config of any other type is refused',
    100,
    fc.property(hostile, (given) => {
      assert.throws(
        () => timed(() => createAuth(given as never)),
        (error) => error instanceof TypeError,
      );
    }),
  ),
  fuzz(
    'the options of a plugin are taken, or refused with a TypeError that names the option',
    150,
    fc.asyncProperty(
      fc
        .constantFrom(...Object.keys(PLUGINS))
        .chain((name) => fc.tuple(fc.constant(name), changeOf(PLUGINS[name]?.[1] ?? {}))),
      async ([name, [path, given]]) => {
        const [make, options] = PLUGINS[name] as (typeof PLUGINS)[string];
        let auth: ReturnType<typeof createAuth>;
        try {
          const plugin = timed(() => make(withValue(options, path, given) as never));
          const others = beside(name);
          auth = timed(() => createAuth({ ...WHOLE, plugins: [...others, plugin] } as never));
        } catch (error) {
          return checkRefusal(error, path, given);
        }
        await auth.close();
      },
    ),
  ),
  fuzz(
    'an option that does not exist is named',
    100,
    fc.property(
      text.filter((key) => !Object.hasOwn(WHOLE, key) && key !== '__proto__'),
      (key) => {
        assert.throws(
          () => createAuth(withValue(WHOLE, [key], 1) as never),
          (error) => error instanceof TypeError && error.message.includes(key),
        );
      },
    ),
  ),
];
