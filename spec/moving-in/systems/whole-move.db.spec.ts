import { createHmac, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Sequelize } from 'sequelize';
import { admin, suspension } from '../../../lib/index.js';
import {
  authJsSessions,
  betterAuthSessions,
  fromAuthJs,
  fromBetterAuth,
  movingIn,
} from '../../../lib/moving-in.js';
import { password, type SpecApp, startApp } from '../../support/app.js';
import { dialect, rows } from '../../support/database.js';

// An import and the sessions after it, on tables whose times and flags have the forms that apps and drivers have for them.
// The id of an imported account contains the time of its row, so an importer and its bridge must read the same time.
const SECRET = 'the secret of better-auth, of 32 bytes and more';
const CREATED = Date.UTC(2023, 10, 14, 22, 13, 20);
const HOUR = 3_600_000;

/** The type of a column, and how SQL writes a value of it. */
interface Form<Value> {
  readonly type: string;
  readonly sql: (value: Value) => string;
}
const plain = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
const TIMES: Readonly<Record<string, Form<number>>> = {
  'seconds since 1970': { type: 'BIGINT', sql: (ms) => `${Math.trunc(ms / 1000)}` },
  'milliseconds since 1970': { type: 'BIGINT', sql: (ms) => `${ms}` },
  'digits of seconds': { type: 'VARCHAR(40)', sql: (ms) => `'${Math.trunc(ms / 1000)}'` },
  'digits of milliseconds': { type: 'VARCHAR(40)', sql: (ms) => `'${ms}'` },
  'text with +00': { type: 'VARCHAR(40)', sql: (ms) => `'${plain(ms)}+00'` },
  'text with +01:00': { type: 'VARCHAR(40)', sql: (ms) => `'${plain(ms + HOUR)} +01:00'` },
  'text without a zone': { type: 'VARCHAR(40)', sql: (ms) => `'${plain(ms)}'` },
  'ISO 8601': { type: 'VARCHAR(40)', sql: (ms) => `'${new Date(ms).toISOString()}'` },
  "the database's own": {
    type: dialect === 'postgres' ? 'TIMESTAMPTZ' : 'DATETIME',
    sql: (ms) => `'${plain(ms)}${dialect === 'postgres' ? '+00' : ''}'`,
  },
};
const binary = {
  sqlite: { type: 'BLOB', sql: (is: boolean) => `x'0${Number(is)}'` },
  mysql: { type: 'BIT(1)', sql: (is: boolean) => `b'${Number(is)}'` },
  postgres: { type: 'BYTEA', sql: (is: boolean) => `'\\x0${Number(is)}'::bytea` },
};
const FLAGS: Readonly<Record<string, Form<boolean>>> = {
  "the database's own": { type: 'BOOLEAN', sql: String },
  numbers: { type: 'INTEGER', sql: (is) => `${Number(is)}` },
  't and f': { type: 'VARCHAR(5)', sql: (is) => (is ? "'t'" : "'f'") },
  'true and false as text': { type: 'VARCHAR(5)', sql: (is) => `'${is}'` },
  digits: { type: 'VARCHAR(5)', sql: (is) => `'${Number(is)}'` },
  'a byte': binary[dialect],
  'times since when': {
    type: 'VARCHAR(40)',
    sql: (is) => (is ? `'${plain(CREATED)}'` : "'0000-00-00 00:00:00'"),
  },
};
const usual = <Value>(forms: Readonly<Record<string, Form<Value>>>) =>
  forms["the database's own"] as Form<Value>;

/** A user of an older system, with a session. */
interface OldUser {
  readonly id: string;
  readonly isVerified?: boolean;
  readonly isBanned?: boolean;
  readonly banEndsAt?: number;
  readonly sessionEndsAt?: number;
}
const emailOf = ({ id }: OldUser) => `${id.slice(0, 8)}@example.com`;
const endOf = ({ sessionEndsAt }: OldUser) => sessionEndsAt ?? Date.now() + HOUR;

let app: SpecApp<readonly [ReturnType<typeof password>, ReturnType<typeof movingIn>]>;
beforeAll(async () => {
  app = (await startApp({
    config: { tablePrefix: 'lk_' },
    plugins: ({ sequelize }) => {
      const bridges = [
        betterAuthSessions({ sequelize, secret: SECRET }),
        authJsSessions({ sequelize }),
        betterAuthSessions({
          ...{ sequelize, secret: SECRET, cookieName: 'members' },
          tables: inSchema(sequelize, { user: BETTER_AUTH.tables.user, session: BETTER_AUTH.tables.session }),
          columns: { user: BETTER_AUTH.user, session: BETTER_AUTH.session },
        }),
        authJsSessions({
          ...{ sequelize, cookieName: 'people' },
          tables: inSchema(sequelize, { user: AUTH_JS.tables.user, session: AUTH_JS.tables.session }),
          columns: { user: AUTH_JS.user, session: AUTH_JS.session },
        }),
      ];
      const others = [admin({ adminEmails: ['root@example.com'] }), suspension()] as const;
      return [password({ username: true }), ...others, movingIn({ bridges })] as const;
    },
  })) as never;
});
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM lk_users');
  await rows(app.database, 'DELETE FROM lk_imported_users');
});
afterAll(() => app.stop());

const quoted = (name: string) => (dialect === 'mysql' ? `\`${name}\`` : `"${name}"`);
async function table(
  name: string,
  columns: Readonly<Record<string, string>>,
  values: readonly (readonly string[])[],
) {
  await rows(app.database, `DROP TABLE IF EXISTS ${quoted(name)}`);
  const declared = Object.entries(columns).map(([column, type]) => `${quoted(column)} ${type}`);
  await rows(app.database, `CREATE TABLE ${quoted(name)} (${declared.join(', ')})`);
  for (const one of values)
    await rows(app.database, `INSERT INTO ${quoted(name)} VALUES (${one.join(', ')})`);
}
const text = 'VARCHAR(200)';

/** Changed names of tables and columns, by those of the system itself. */
type Changed = Readonly<Record<string, string>>;
interface Filling {
  readonly time?: Form<number>;
  readonly flag?: Form<boolean>;
  readonly changed?: Changed;
}
const BETTER_AUTH = {
  tables: { user: 'members', account: 'links', session: 'logins' },
  user: {
    ...{
      id: 'member_id',
      email: 'address',
      emailVerified: 'is_verified',
      createdAt: 'joined',
      username: 'nick',
    },
    ...{ banned: 'is_banned', banReason: 'ban_reason', banExpires: 'banned_until' },
  },
  session: { token: 'value', userId: 'member', expiresAt: 'ends', impersonatedBy: 'admin' },
} as const;
const AUTH_JS = {
  tables: { user: 'people', account: 'identities', session: 'visits' },
  user: {
    id: 'person_id',
    email: 'address',
    emailVerified: 'is_verified',
    createdAt: 'joined',
    username: 'nick',
  },
  session: { sessionToken: 'value', userId: 'person', expires: 'ends' },
} as const;

/** The names of tables with their schema, which MySQL calls a database. */
function inSchema<Names extends Record<string, string>>(sequelize: Sequelize, names: Names): Names {
  const schema = { sqlite: 'main', mysql: sequelize.config.database, postgres: 'public' }[dialect];
  const qualified = Object.entries(names).map(([key, name]) => [key, `${schema}.${name}`]);
  return Object.fromEntries(qualified) as Names;
}

const SYSTEMS = {
  'better-auth': {
    ...{ cookie: 'better-auth.session_token', changedCookie: 'members', hasTimes: true },
    importer: () => fromBetterAuth(app.database.sequelize),
    changedImporter: () => {
      const { tables, user } = BETTER_AUTH;
      return fromBetterAuth(app.database.sequelize, {
        tables: inSchema(app.database.sequelize, { user: tables.user, account: tables.account }),
        columns: { user },
      });
    },
    changed: {
      ...BETTER_AUTH.user,
      ...BETTER_AUTH.session,
      ...BETTER_AUTH.tables,
      userId: 'member',
    } as Changed,
    cookieValueOf(token: string) {
      const signature = createHmac('sha256', SECRET).update(token).digest('base64');
      return encodeURIComponent(`${token}.${signature}`);
    },
    async fill(users: readonly OldUser[], tokenOf: (user: OldUser) => string, filling: Required<Filling>) {
      const { time, flag, changed } = filling;
      const its = (name: string) => changed[name] ?? name;
      await table(
        its('user'),
        {
          ...{ [its('id')]: text, [its('email')]: text, [its('emailVerified')]: flag.type },
          ...{ [its('createdAt')]: time.type, [its('username')]: text, [its('banned')]: flag.type },
          ...{ [its('banReason')]: text, [its('banExpires')]: time.type },
        },
        users.map((user) => [
          ...[`'${user.id}'`, `'${emailOf(user)}'`, flag.sql(user.isVerified ?? false), time.sql(CREATED)],
          ...[`'nick_of_${user.id.slice(0, 8)}'`, flag.sql(user.isBanned ?? false), 'NULL'],
          user.banEndsAt === undefined ? 'NULL' : time.sql(user.banEndsAt),
        ]),
      );
      await table(its('account'), { userId: text, providerId: text, accountId: text, password: text }, []);
      await table(
        its('session'),
        {
          ...{ [its('token')]: text, [its('userId')]: text, [its('expiresAt')]: time.type },
          [its('impersonatedBy')]: text,
        },
        users.map((user) => [`'${tokenOf(user)}'`, `'${user.id}'`, time.sql(endOf(user)), 'NULL']),
      );
    },
  },
  'Auth.js': {
    ...{ cookie: 'authjs.session-token', changedCookie: 'people', hasTimes: false },
    importer: () => fromAuthJs(app.database.sequelize),
    changedImporter: () => {
      const { tables, user } = AUTH_JS;
      return fromAuthJs(app.database.sequelize, {
        tables: inSchema(app.database.sequelize, { user: tables.user, account: tables.account }),
        columns: { user },
      });
    },
    changed: { ...AUTH_JS.user, ...AUTH_JS.session, ...AUTH_JS.tables } as Changed,
    cookieValueOf: (token: string) => token,
    async fill(users: readonly OldUser[], tokenOf: (user: OldUser) => string, filling: Required<Filling>) {
      const { time, flag, changed } = filling;
      const its = (name: string, own = name) => changed[name] ?? own;
      const verified = its('emailVerified', 'email_verified');
      await table(
        its('user', 'users'),
        {
          ...{ [its('id')]: text, [its('email')]: text, [verified]: flag.type },
          ...{ [its('createdAt', 'created_at')]: time.type, [its('username')]: text },
        },
        users.map((user) => [
          ...[`'${user.id}'`, `'${emailOf(user)}'`, flag.sql(user.isVerified ?? false), time.sql(CREATED)],
          `'nick_of_${user.id.slice(0, 8)}'`,
        ]),
      );
      const links = { user_id: text, provider: text, provider_account_id: text };
      await table(its('account', 'accounts'), links, []);
      await table(
        its('session', 'sessions'),
        {
          [its('sessionToken', 'session_token')]: text,
          [its('userId', 'user_id')]: text,
          [its('expires')]: time.type,
        },
        users.map((user) => [`'${tokenOf(user)}'`, `'${user.id}'`, time.sql(endOf(user))]),
      );
    },
  },
} as const;

const visit = async (cookie: string) => {
  const { status, body } = await app.http.get('/auth/me').set('cookie', cookie);
  return status === 200 ? body.user.id : status;
};

describe.each(Object.keys(SYSTEMS) as (keyof typeof SYSTEMS)[])('from %s', (name) => {
  const system = SYSTEMS[name];

  /** Fills the tables, and returns the users' cookies. */
  async function fill(users: readonly OldUser[], filling: Filling = {}) {
    const tokens = new Map(users.map((user) => [user, randomBytes(24).toString('base64url')]));
    const tokenOf = (user: OldUser) => String(tokens.get(user));
    await system.fill(users, tokenOf, { time: usual(TIMES), flag: usual(FLAGS), changed: {}, ...filling });
    const cookie = filling.changed ? system.changedCookie : system.cookie;
    return (user: OldUser) => `${cookie}=${system.cookieValueOf(tokenOf(user))}`;
  }

  test.each(Object.keys(TIMES))(
    'users go on with their imported accounts, with times as %s',
    async (form) => {
      const ada = { id: 'ada' };
      const eve = { id: 'eve', sessionEndsAt: Date.now() - 2000 };
      const cookieOf = await fill([ada, eve], { time: TIMES[form] as Form<number> });
      const { users, skipped } = await app.auth.movingIn.importUsers(system.importer());
      expect([users.map(({ ref }) => ref), skipped]).toEqual([['ada', 'eve'], []]);
      const id = String(users[0]?.id);
      if (system.hasTimes)
        expect(await app.auth.users.find({ email: emailOf(ada) })).toMatchObject({
          createdAt: new Date(CREATED),
        });

      expect(await visit(cookieOf(ada))).toBe(id);
      const [session] = await app.auth.listSessions(id);
      const left = Number(session?.expiresAt.getTime()) - Date.now();
      expect(left).toBeGreaterThan(HOUR - 60_000);
      expect(left).toBeLessThanOrEqual(HOUR);
      expect(await visit(cookieOf(eve))).toBe(401);
    },
  );

  test.each(Object.keys(FLAGS))('an email is verified, and a user banned, with flags as %s', async (form) => {
    const ada = { id: 'ada', isVerified: true };
    const joan = { id: 'joan', isVerified: false };
    const eve = { id: 'eve', isVerified: true, isBanned: true };
    const hasBans = name === 'better-auth';
    const all = [ada, joan, ...(hasBans ? [eve] : [])];
    const cookieOf = await fill(all, { flag: FLAGS[form] as Form<boolean> });

    // Only emails that both systems have verified lead to accounts that were imported from somewhere else.
    const { users: made } = await app.auth.movingIn.importUsers(
      all.map((user) => ({ email: emailOf(user), emailVerified: true })),
    );
    const expected = [made[0]?.id, 401, ...(hasBans ? [401] : [])];
    for (const [index, user] of all.entries()) expect(await visit(cookieOf(user))).toBe(expected[index]);

    await rows(app.database, 'DELETE FROM lk_users');
    const { users, skipped } = await app.auth.movingIn.importUsers(system.importer());
    expect([users.length, skipped]).toEqual([all.length, []]);
    const found = new Map(users.map(({ ref, id }) => [ref, id]));
    const verifiedAt = async (user: OldUser) =>
      (await app.auth.users.find({ email: emailOf(user) }))?.emailVerifiedAt;
    expect(await verifiedAt(ada)).toBeInstanceOf(Date);
    expect(await verifiedAt(joan)).toBeNull();
    expect(await visit(cookieOf(joan))).toBe(found.get('joan'));
    if (!hasBans) return;
    expect(await visit(cookieOf(eve))).toBe(401);
    const suspended = await rows(app.database, 'SELECT id FROM lk_users WHERE suspended_at IS NOT NULL');
    expect(suspended).toEqual([{ id: found.get('eve') }]);
  });

  test('tables and columns can have other names, also in a schema, and users times and usernames of their own', async () => {
    const ada = { id: 'ada' };
    const cookieOf = await fill([ada], {
      time: TIMES['digits of seconds'] as Form<number>,
      changed: system.changed,
    });
    const { users, skipped } = await app.auth.movingIn.importUsers(system.changedImporter());
    expect(skipped).toEqual([]);
    expect(await app.auth.users.find({ email: emailOf(ada) })).toMatchObject({
      username: 'nick_of_ada',
      createdAt: new Date(CREATED),
    });
    expect(await visit(cookieOf(ada))).toBe(users[0]?.id);
  });

  test('a session whose end cannot be read is not taken over', async () => {
    const ada = { id: 'ada', sessionEndsAt: Number.NaN };
    const sql = (ms: number) => (Number.isNaN(ms) ? "'soon'" : `'${plain(ms)}'`);
    const cookieOf = await fill([ada], { time: { type: 'VARCHAR(40)', sql } });
    expect((await app.auth.movingIn.importUsers(system.importer())).users).toHaveLength(1);
    expect(await visit(cookieOf(ada))).toBe(401);
  });

  test('an id that is a UUID in capitals is the one of the account, in small letters', async () => {
    const ada = { id: '0190A5B0-0000-7000-8000-00000000000A' };
    const cookieOf = await fill([ada]);
    const { users } = await app.auth.movingIn.importUsers(system.importer());
    expect(users).toEqual([{ ref: ada.id, id: ada.id.toLowerCase() }]);
    expect(await visit(cookieOf(ada))).toBe(ada.id.toLowerCase());
  });
});

test('a ban that has expired is one neither for the importer of better-auth nor for its bridge', async () => {
  const { importer, fill, cookie, cookieValueOf } = SYSTEMS['better-auth'];
  const ada = { id: 'ada', isBanned: true, banEndsAt: Date.now() - HOUR };
  const joan = { id: 'joan', isBanned: true, banEndsAt: Date.now() + HOUR };
  await fill([ada, joan], ({ id }) => `the token of ${id}`, {
    ...{ time: usual(TIMES), flag: usual(FLAGS), changed: {} },
  });
  const { users } = await app.auth.movingIn.importUsers(importer());
  expect(await visit(`${cookie}=${cookieValueOf('the token of joan')}`)).toBe(401);
  expect(await visit(`${cookie}=${cookieValueOf('the token of ada')}`)).toBe(users[0]?.id);
});

test('a date without a time is midnight in UTC', async () => {
  const { importer, fill, cookie, cookieValueOf } = SYSTEMS['better-auth'];
  const sql = (ms: number) => (ms === CREATED ? "'2023-11-14'" : `'${plain(ms)}'`);
  await fill([{ id: 'ada' }], () => 'the token', {
    ...{ time: { type: 'VARCHAR(40)', sql }, flag: usual(FLAGS), changed: {} },
  });
  const { users } = await app.auth.movingIn.importUsers(importer());
  expect(await app.auth.users.find({ email: 'ada@example.com' })).toMatchObject({
    createdAt: new Date('2023-11-14T00:00:00Z'),
  });
  expect(await visit(`${cookie}=${cookieValueOf('the token')}`)).toBe(users[0]?.id);
});

test.each(['1969-01-01', 'soon'])(
  'a row that no import accepts, of %s, leads to no account',
  async (created) => {
    const { fill, cookie, cookieValueOf } = SYSTEMS['better-auth'];
    const sql = (ms: number) => `'${ms === CREATED ? created : plain(ms)}'`;
    const time = { type: 'VARCHAR(40)', sql };
    await fill([{ id: 'ada' }], () => `the token of ${created}`, { time, flag: usual(FLAGS), changed: {} });
    expect(await visit(`${cookie}=${cookieValueOf(`the token of ${created}`)}`)).toBe(401);
  },
);
