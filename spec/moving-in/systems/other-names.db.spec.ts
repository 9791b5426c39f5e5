import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, type ImportRow, oauth, passkeys, suspension, twoFactor } from '../../../lib/index.js';
import {
  authJsSessions,
  betterAuthSessions,
  expressSession,
  fromAuthJs,
  fromBetterAuth,
  movingIn,
} from '../../../lib/moving-in.js';
import { github } from '../../../lib/providers.js';
import { password, type SpecApp, startApp } from '../../support/app.js';
import { CookieJar } from '../../support/cookie-jar.js';
import { dialect, rows } from '../../support/database.js';
import { madeBy } from '../../support/made-elsewhere.js';
import { OLD_SECRET, type OldStore, sessionStore, startOldApp } from '../../support/old-app.js';
import { authenticator, PAGE, signInWith } from '../../support/passkeys.js';

// The names that Drizzle and Prisma give tables and columns, and passkeys as better-auth stores them.
const SECRET = 'the first secret of better-auth, of 32 bytes';
const plugins = [
  password({ username: true }),
  oauth(),
  github({ clientId: 'id', clientSecret: 'secret' }),
  twoFactor(),
  admin({ adminEmails: ['root@example.com'] }),
  suspension(),
  passkeys(),
] as const;
type Plugins = readonly [...typeof plugins, ReturnType<typeof movingIn>];

let app: SpecApp<Plugins>;
let store: OldStore;
let given: (data: { passport?: { user?: unknown } }) => unknown;
beforeAll(async () => {
  app = await startApp({
    config: { baseUrl: PAGE, tablePrefix: 'lk_' },
    plugins(database): Plugins {
      store = sessionStore(database);
      const { sequelize } = database;
      const bridges = [
        betterAuthSessions({ sequelize, secret: SECRET }),
        authJsSessions({ sequelize }),
        expressSession({ store, secret: OLD_SECRET, userId: (data) => given(data) as never }),
      ];
      return [...plugins, movingIn({ bridges })];
    },
  });
});
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM lk_users');
  await rows(app.database, 'DELETE FROM lk_imported_users');
});
afterAll(() => app.stop());

const quoted = (name: string) => (dialect === 'mysql' ? `\`${name}\`` : `"${name}"`);
type Columns = Readonly<Record<string, string | null>>;
const made: string[] = [];
/** Makes a table of text, with one row. */
async function table(name: string, row: Columns) {
  await rows(app.database, `DROP TABLE IF EXISTS ${quoted(name)}`);
  const declared = Object.keys(row).map((column) => `${quoted(column)} VARCHAR(600)`);
  await rows(app.database, `CREATE TABLE ${quoted(name)} (${declared.join(', ')})`);
  made.push(name);
  const values = Object.values(row).map((value) => (value === null ? 'NULL' : `'${value}'`));
  await rows(app.database, `INSERT INTO ${quoted(name)} VALUES (${values.join(', ')})`);
}
async function dropAll() {
  for (const name of made.splice(0)) await rows(app.database, `DROP TABLE IF EXISTS ${quoted(name)}`);
}
const all = async (source: AsyncIterable<ImportRow>) => {
  const found: ImportRow[] = [];
  for await (const row of source) found.push(row);
  return found;
};
const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const later = () => new Date(Date.now() + 3_600_000).toISOString();
const visit = async (cookie: string) => {
  const { status, body } = await app.http.get('/auth/me').set('cookie', cookie);
  return status === 200 ? body.user.id : status;
};

const device = authenticator();
device.create({
  challenge: 'AAAA',
  rp: { id: 'localhost', name: 'old' },
  user: { id: randomBytes(32).toString('base64url'), name: 'ada', displayName: 'ada' },
  pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
} as never);
const [credential] = device.credentials as never as [{ id: Buffer; publicKey: Buffer }];

describe('better-auth', () => {
  let factor: Readonly<Record<string, string>>;
  beforeAll(async () => {
    const { tables } = await madeBy<{ tables: Record<string, Record<string, string>[]> } & never>(
      'better-auth',
    );
    const { user = [], twoFactor: factors = [] } = tables as Record<string, Record<string, string>[]>;
    const ada = user.find(({ name }) => name === 'ada');
    factor = factors.find(({ userId }) => userId === ada?.id) as typeof factor;
  });
  beforeEach(dropAll);
  afterAll(dropAll);

  const token = randomBytes(24).toString('base64url');
  const cookie = () => {
    const signature = createHmac('sha256', SECRET).update(token).digest('base64');
    return `better-auth.session_token=${encodeURIComponent(`${token}.${signature}`)}`;
  };
  const columns = {
    user: {
      ...{ id: 'ada', email: 'ada@example.com', emailVerified: 'true', username: 'Ada_L' },
      ...{ createdAt: '2023-11-14T22:13:20.000Z', twoFactorEnabled: 'true' },
      ...{ banned: null, banReason: null, banExpires: null },
    },
    account: { userId: 'ada', providerId: 'github', accountId: '583231', password: null },
    passkey: {
      ...{ id: '1', userId: 'ada', name: 'Phone', counter: '0', deviceType: 'multiDevice', backedUp: 'true' },
      ...{ transports: 'internal,hybrid', publicKey: credential.publicKey.toString('base64') },
      ...{ credentialID: credential.id.toString('base64url'), createdAt: '2023-11-15T00:00:00.000Z' },
    },
    session: {
      ...{ userId: 'ada', token, createdAt: '2023-11-16T00:00:00.000Z', expiresAt: later() },
      impersonatedBy: null,
    },
  };
  const forms: Readonly<Record<string, [(table: string) => string, (column: string) => string]>> = {
    'Drizzle (plural, snake_case)': [
      (name) => `${snake(name)}s`,
      (name) => (name === 'credentialID' ? 'credential_id' : snake(name)),
    ],
    'Prisma (models, camelCase)': [(name) => name.charAt(0).toUpperCase() + name.slice(1), (name) => name],
    'PostgreSQL without quotes': [(name) => name.toLowerCase(), (name) => name.toLowerCase()],
  };
  const fill = async (form: string, without: readonly string[] = [], more: Columns = {}) => {
    const [tableOf, columnOf] = forms[form] as NonNullable<(typeof forms)[string]>;
    const { userId, secret, backupCodes } = factor as Required<typeof factor>;
    const all = { ...columns, twoFactor: { userId: 'ada', secret, backupCodes, verified: userId && 'true' } };
    for (const [name, row] of Object.entries(all)) {
      if (without.includes(name)) continue;
      const named = Object.entries({ ...row, ...(name === 'user' && more) })
        .filter(([column]) => !without.includes(`${name}.${column}`))
        .map(([column, value]) => [columnOf(column), value]);
      await table(
        tableOf(name === 'twoFactor' && form.startsWith('PostgreSQL') ? 'two_factor' : name),
        Object.fromEntries(named),
      );
    }
  };

  test.each(Object.keys(forms))('moves everything in, and the session, as %s has it', async (form) => {
    await fill(form);
    const source = fromBetterAuth(app.database.sequelize, { secret: SECRET });
    expect(source.source).toBe('better-auth');
    const { users, skipped } = await app.auth.movingIn.importUsers(source);
    expect([users.length, skipped]).toEqual([1, []]);
    const id = String(users[0]?.id);
    expect(await app.auth.users.get(id)).toMatchObject({
      ...{ email: 'ada@example.com', username: 'ada_l', emailVerifiedAt: expect.any(Date) },
      createdAt: new Date('2023-11-14T22:13:20Z'),
    });
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ totp: true });
    expect(await app.auth.oauth.accounts(id)).toHaveLength(1);
    expect(await app.auth.passkeys.list(id)).toMatchObject([
      { name: 'Phone', transports: ['internal', 'hybrid'], createdAt: new Date('2023-11-15T00:00:00Z') },
    ]);
    const signedIn = await signInWith(app.browser(), device);
    expect([signedIn.status, signedIn.body.user?.id]).toEqual([200, id]);
    const [line] = await rows(app.database, 'SELECT source, ref FROM lk_imported_users');
    expect(line).toEqual({ source: 'better-auth', ref: 'ada' });
  });

  test('a session leads to the account of its row, though email and username have changed there', async () => {
    await fill('Prisma (models, camelCase)', ['twoFactor', 'user.twoFactorEnabled']);
    const { users } = await app.auth.movingIn.importUsers(fromBetterAuth(app.database.sequelize));
    await rows(app.database, `UPDATE ${quoted('User')} SET email = 'new@example.com', username = 'new'`);
    expect(await visit(cookie())).toBe(users[0]?.id);
  });

  test.each<[string, readonly string[], Columns, RegExp]>([
    [
      'the proof of the address',
      ['user.emailVerified'],
      { confirmed: 'true' },
      /fromBetterAuth: users has no column emailVerified: name the one for emailVerified in columns; it has id, email/,
    ],
    [
      'the flag of the second factor',
      ['user.twoFactorEnabled'],
      {},
      /there is a table two_factors, but users has no column twoFactorEnabled/,
    ],
    [
      'a second factor under a name of its own',
      ['user.twoFactorEnabled', 'twoFactor'],
      { mfaActive: 'true' },
      /users has no column twoFactorEnabled, but mfa_active: name the one for twoFactorEnabled in columns, or set it to null/,
    ],
    [
      'the table of second factors',
      ['twoFactor'],
      {},
      /the user ada has a second factor, but there is no table twoFactor/,
    ],
    ['the passwords', ['account.password'], {}, /accounts has no column password/],
    ['bans', ['user.banned'], { isBlocked: 'true' }, /users has no column banned, but is_blocked/],
    ['the accounts', ['account'], {}, /there is no table account: name it in tables/],
  ])('an import without %s stops, and says what to name', async (_what, without, more, message) => {
    await fill('Drizzle (plural, snake_case)', without, more);
    await expect(all(fromBetterAuth(app.database.sequelize, { secret: SECRET }))).rejects.toThrow(message);
  });

  test('names that are given must exist, and null leaves a column out', async () => {
    await fill('Drizzle (plural, snake_case)', ['twoFactor', 'user.twoFactorEnabled'], { mfaActive: 'f' });
    const read = (user: object) => all(fromBetterAuth(app.database.sequelize, { columns: { user } }));
    await expect(read({ twoFactorEnabled: 'mfa' })).rejects.toThrow(
      'users has no column mfa, which columns names for twoFactorEnabled: it has id',
    );
    await expect(read({ emailVerified: null })).rejects.toThrow(
      'columns must name a column of users for emailVerified, not null',
    );
    expect(await read({ twoFactorEnabled: null })).toMatchObject([{ username: 'Ada_L', totpSecret: null }]);
    expect(await read({ twoFactorEnabled: 'mfa_active', username: null })).toMatchObject([
      { username: null },
    ]);
  });

  test('a bridge that cannot find a column answers 503, and the log names it', async () => {
    await fill('Drizzle (plural, snake_case)', [
      'session.impersonatedBy',
      'twoFactor',
      'user.twoFactorEnabled',
    ]);
    const { sequelize } = app.database;
    const columns = { session: { token: 'value' } };
    const bridge = betterAuthSessions({ sequelize, secret: SECRET, columns });
    await expect(bridge.find(token, () => [], false)).rejects.toThrow(
      'betterAuthSessions: sessions has no column value, which columns names for token: it has user_id',
    );
    // It looks again once that is repaired.
    await rows(app.database, `ALTER TABLE ${quoted('sessions')} ADD COLUMN value VARCHAR(600)`);
    await rows(app.database, `UPDATE ${quoted('sessions')} SET value = 'other'`);
    expect(await bridge.find('other', () => [], false)).toMatchObject({ user: { imported: { ref: 'ada' } } });
  });
});

describe('Auth.js', () => {
  beforeEach(dropAll);
  afterAll(dropAll);
  const token = randomUUID();
  const forms: Readonly<Record<string, [string[], (name: string) => string]>> = {
    Prisma: [['User', 'Account', 'Session'], (name) => name],
    Drizzle: [['user', 'account', 'session'], (name) => name],
    Sequelize: [['users', 'accounts', 'sessions'], snake],
  };
  const fill = async (form: string, verified = 'emailVerified') => {
    const [[users, accounts, sessions], columnOf] = forms[form] as [
      [string, string, string],
      (name: string) => string,
    ];
    const named = (row: Columns) =>
      Object.fromEntries(Object.entries(row).map(([name, value]) => [columnOf(name), value]));
    await table(
      users,
      named({ id: 'ada', email: 'ada@example.com', [verified]: '2023-11-14T22:13:20.000Z' }),
    );
    await table(accounts, named({ userId: 'ada', provider: 'github', providerAccountId: '583231' }));
    await table(sessions, named({ sessionToken: token, userId: 'ada', expires: later() }));
  };

  test.each(Object.keys(forms))('moves users in, as the adapter of %s has them', async (form) => {
    await fill(form);
    const { users } = await app.auth.movingIn.importUsers(fromAuthJs(app.database.sequelize));
    const id = String(users[0]?.id);
    expect(await app.auth.users.get(id)).toMatchObject({ emailVerifiedAt: expect.any(Date) });
    expect(await app.auth.oauth.accounts(id)).toHaveLength(1);
    const bridge = authJsSessions({ sequelize: app.database.sequelize });
    expect(await bridge.find(token, () => [], false)).toMatchObject({
      user: { email: 'ada@example.com', emailVerified: true, imported: { ref: 'ada' } },
    });
  });

  test('an import without the proof of the address stops', async () => {
    await fill('Prisma', 'verifiedOn');
    await expect(all(fromAuthJs(app.database.sequelize))).rejects.toThrow(
      /fromAuthJs: user has no column email_verified: name the one for emailVerified in columns; it has id, email, verifiedOn/i,
    );
  });
});

describe('userId of a bridge', () => {
  let old: Awaited<ReturnType<typeof startOldApp>>;
  beforeAll(async () => {
    old = await startOldApp(store);
  });
  afterAll(() => old.stop());
  const visitAs = async (find: (key: unknown) => unknown, key: string | number) => {
    given = (data) => find(data.passport?.user);
    const jar = new CookieJar();
    await jar.visit(`${old.origin}/login/${key}`, { method: 'POST' });
    const { status, body } = await jar.visit(`${app.origin}/auth/me`);
    return status === 200 ? body.user?.id : status;
  };

  test('can return the old primary key or { ref }, whatever the email is now', async () => {
    const { users } = await app.auth.movingIn.importUsers([{ ref: 7, email: 'ada@example.com' }], {
      source: 'crm',
    });
    const id = String(users[0]?.id);
    await app.auth.users.update(id, { username: 'ada' });
    expect(await visitAs((key) => key, 7)).toBe(id);
    expect(await visitAs((key) => ({ ref: Number(key) }), 7)).toBe(id);
    expect(await visitAs((ref) => ({ ref, source: 'crm' }), 7)).toBe(id);
    expect(await visitAs((ref) => ({ ref, source: 'rows' }), 7)).toBe(401);
    expect(await visitAs((ref) => ({ ref }), 8)).toBe(401);
    // Another system has a user with this key.
    await app.auth.movingIn.importUsers([{ ref: 7, email: 'eve@example.com' }]);
    expect(await visitAs((key) => key, 7)).toBe(401);
    expect(await visitAs((ref) => ({ ref, source: 'crm' }), 7)).toBe(id);
    await app.auth.users.delete(id);
    expect(await visitAs((ref) => ({ ref, source: 'crm' }), 7)).toBe(401);
  });
});
