import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, apiKeys, createAuth, suspension, twoFactor } from '../../lib/index.js';
import { ada, password, SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';
import { inAnotherProcess } from '../support/processes.js';
import { type DatabaseProxy, startProxy } from '../support/proxy.js';

let database: SpecDatabase;

const open = (config: object = {}) =>
  createAuth({ database: database.url, secret: SECRET, rateLimit: false, plugins: [password()], ...config });
const insertUser = (values: { email?: string | null; username?: string | null }) => {
  const id = crypto.randomUUID();
  return rows(
    database,
    `INSERT INTO users (id, email, username, auth_epoch, created_at, updated_at)
     VALUES (:id, :email, :username, 0, '2026-01-01 00:00:00', '2026-01-01 00:00:00')`,
    { id, email: null, username: null, ...values },
  );
};

describe('auth.migrate()', () => {
  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(() => database.drop());

  test('returns the migrations that ran, and runs none of them twice', async () => {
    const auth = open();
    const ran = await auth.migrate();
    expect(ran).toEqual(['0001-core', '0002-core', '0003-core']);
    expect(await auth.migrate()).toEqual([]);
    expect(await Promise.all([auth.migrate(), auth.migrate()])).toEqual([[], []]);
    await auth.close();
  });

  test('runs each migration once if several processes and ten callers call it at the same time', async () => {
    const auth = open();
    const processes = Array.from({ length: 3 }, () => inAnotherProcess<string[]>(['migrate', database.url]));
    const ran = (
      await Promise.all([...processes, ...Array.from({ length: 10 }, () => auth.migrate())])
    ).flat();
    expect(ran).toContain('0001-core');
    expect(new Set(ran).size).toBe(ran.length);
    await auth.credential.signUp(ada);
    await auth.close();
  });

  test('reverts and reapplies migrations, step by step and all together', async () => {
    const auth = open({ plugins: [password(), apiKeys()] });
    const ran = await auth.migrate();
    expect(ran).toEqual(['0001-core', '0002-core', '0003-core', '0001-apiKeys']);
    expect(await auth.migrate({ undo: 1 })).toEqual(ran.slice(-1));
    expect(await auth.migrate({ undo: 'all' })).toEqual(ran.slice(0, -1).reverse());
    await expect(rows(database, 'SELECT id FROM users')).rejects.toThrow();
    expect(await auth.migrate({ undo: 'all' })).toEqual([]);
    expect(await auth.migrate()).toEqual(ran);
    await auth.credential.signUp(ada);
    await auth.close();
  });

  test('does not change the app’s own tables', async () => {
    await database.sequelize.query('CREATE TABLE of_the_app (id INTEGER)');
    const auth = open();
    await auth.migrate();
    await auth.migrate({ undo: 'all' });
    expect(await rows(database, 'SELECT * FROM of_the_app')).toEqual([]);
    await auth.close();
  });
});

if (dialect !== 'sqlite') {
  describe('an interrupted migration', () => {
    let proxy: DatabaseProxy;
    beforeEach(async () => {
      database = await createDatabase();
      proxy = await startProxy(database.url);
    });
    afterEach(async () => {
      await proxy.stop();
      await database.drop();
    });

    const moments = ['before', 'after'] as const;
    const statements = [
      /CREATE TABLE users/,
      /CREATE TABLE sessions/,
      /CREATE INDEX sessions_expires_at/,
      /CREATE TABLE rate_limits/,
      /latchkey_migrations.*'0001-core'/,
    ];
    test.each(statements.flatMap((statement) => moments.map((moment) => [moment, statement] as const)))(
      '(%s %s) is completed by the next call',
      async (moment, statement) => {
        const broken = open({ database: proxy.url });
        proxy.cutAt(statement, moment);
        await expect(broken.migrate()).rejects.toThrow();
        await broken.close();
        const auth = open();
        await auth.migrate();
        expect(await auth.migrate()).toEqual([]);
        await auth.credential.signUp(ada);
        await auth.credential.signIn({ credential: ada.email, password: ada.password });
        expect(await auth.migrate({ undo: 'all' })).toEqual(['0003-core', '0002-core', '0001-core']);
        await auth.close();
      },
    );

    test.each(moments)(
      '(%s a table is dropped) is completed by the next undo, and never by a plain call',
      async (moment) => {
        const broken = open({ database: proxy.url });
        const ran = await broken.migrate();
        await broken.credential.signUp(ada);
        proxy.cutAt(/DROP TABLE IF EXISTS sessions/, moment);
        await expect(broken.migrate({ undo: 'all' })).rejects.toThrow();
        await broken.close();
        const auth = open();
        await expect(auth.migrate()).rejects.toThrow(
          /undoing 0001-core has been interrupted.*migrate\(\{ undo: 1 \}\)/,
        );
        expect(await rows(database, 'SELECT email FROM users')).toEqual([{ email: ada.email }]);
        await auth.migrate({ undo: 'all' });
        expect(await auth.migrate()).toEqual(ran);
        await auth.close();
      },
    );

    test.each(moments)(
      '(%s its column is dropped) is reverted only once if undo is repeated',
      async (moment) => {
        const plugins = [password(), admin({ adminEmails: [ada.email] }), suspension(), twoFactor()];
        const broken = open({ database: proxy.url, plugins });
        const ran = await broken.migrate();
        proxy.cutAt(/DROP COLUMN suspended_until/, moment);
        const interrupted = ran.indexOf('0001-suspension');
        await expect(broken.migrate({ undo: ran.length - interrupted })).rejects.toThrow();
        await broken.close();
        const auth = open({ plugins });
        const due = ran.slice(interrupted);
        expect(await auth.migrate({ undo: 1 })).toEqual(due.slice(0, 1));
        expect(await auth.migrate()).toEqual(due);
        await auth.credential.signUp(ada);
        await auth.close();
      },
    );

    test('because of an existing table continues when the name is free, and does not change that table', async () => {
      await rows(database, 'CREATE TABLE sessions (of_the_app INTEGER)');
      const auth = open();
      for (const _ of [1, 2]) await expect(auth.migrate()).rejects.toThrow(/sessions/);
      expect(await rows(database, 'SELECT of_the_app FROM sessions')).toEqual([]);
      await rows(database, 'DROP TABLE sessions');
      await auth.migrate();
      await auth.credential.signUp(ada);
      await auth.close();
    });
  });
}

describe('the tables', () => {
  let auth: ReturnType<typeof open>;
  beforeAll(async () => {
    database = await createDatabase();
    auth = open();
    await auth.migrate();
  });
  afterAll(async () => {
    await auth.close();
    await database.drop();
  });
  beforeEach(async () => void (await rows(database, 'DELETE FROM users')));

  test.each([
    ['case', 'a@x.co', 'A@x.co'],
    ['a trailing space', 'a@x.co', 'a@x.co '],
    ['an accent', 'a@x.co', 'á@x.co'],
    ['ß', 'ss@x.co', 'ß@x.co'],
    ['a look-alike @', 'a@x.co', 'a＠x.co'],
    ['composition', '\u00e1@x.co', 'a\u0301@x.co'],
    ['zero width', 'a@x.co', 'a\u200b@x.co'],
  ])('treat emails that differ in %s as different, and reject duplicates', async (_name, first, second) => {
    await insertUser({ email: first });
    await insertUser({ email: second });
    for (const email of [first, second]) {
      await expect(insertUser({ email })).rejects.toMatchObject({ name: 'SequelizeUniqueConstraintError' });
      expect(await rows(database, 'SELECT id FROM users WHERE email = :email', { email })).toHaveLength(1);
    }
  });

  test('treat usernames in the same way, and allow any number of users without one', async () => {
    for (const username of ['ada', 'Ada', 'ada ', 'ádа', null, null]) await insertUser({ username });
    await expect(insertUser({ username: 'ada' })).rejects.toMatchObject({
      name: 'SequelizeUniqueConstraintError',
    });
  });

  test('store times to the millisecond', async () => {
    await auth.credential.signUp(ada);
    const { session, token, user } = await auth.credential.signIn({
      credential: ada.email,
      password: ada.password,
    });
    for (const time of [0, 1, 999, 123].map(
      (ms) => new Date(Date.now() + 3_600_000 - (Date.now() % 1000) + ms),
    )) {
      await auth.models.Session.update({ expiresAt: time }, { where: { id: session.id } });
      const found = await auth.getSession({ headers: { cookie: `latchkey=${token}` } });
      expect(found.session?.expiresAt).toEqual(time);
      expect((await auth.listSessions(user.id))[0]?.expiresAt).toEqual(time);
    }
    const found = await auth.getSession({ headers: { cookie: `latchkey=${token}` } });
    expect(found.user).toEqual(user);
    expect(found.session?.createdAt).toEqual(session.createdAt);
  });

  test('do not allow a session without its user', async () => {
    await auth.credential.signUp(ada);
    const { session } = await auth.credential.signIn({ credential: ada.email, password: ada.password });
    const row = (await auth.models.Session.unscoped().findByPk(session.id))!.get();
    await rows(database, 'DELETE FROM users');
    expect(await rows(database, 'SELECT id FROM sessions')).toEqual([]);
    await expect(auth.models.Session.create({ ...row })).rejects.toMatchObject({
      name: 'SequelizeForeignKeyConstraintError',
    });
  });

  test.each([
    ['sessions', 'token_hash = HEX', 'sessions_token_hash_unique'],
    ['sessions', "user_id = '01900000-0000-7000-8000-000000000000'", 'sessions_user_id'],
    ['sessions', "expires_at <= '2020-01-01 00:00:00'", 'sessions_expires_at'],
    ['sessions', "last_active_at <= '2020-01-01 00:00:00'", 'sessions_last_active_at'],
    ['users', "email = 'ada@example.com'", 'users_email_unique'],
    ['users', "username = 'ada'", 'users_username_unique'],
  ])('use an index to find rows: %s by %s with the index %s', async (table, condition, index) => {
    const hex = 'ab'.repeat(32);
    const where = condition.replace('HEX', dialect === 'postgres' ? `'\\x${hex}'` : `x'${hex}'`);
    const explain = { sqlite: 'EXPLAIN QUERY PLAN', mysql: 'EXPLAIN', postgres: 'EXPLAIN' }[dialect];
    const plan = await database.sequelize.transaction(async (transaction) => {
      // PostgreSQL reads small tables completely, even if there is an index.
      if (dialect === 'postgres')
        await database.sequelize.query('SET LOCAL enable_seqscan = off', { transaction });
      const [lines] = await database.sequelize.query(`${explain} SELECT id FROM ${table} WHERE ${where}`, {
        transaction,
      });
      return JSON.stringify(lines);
    });
    if (dialect === 'sqlite') expect(plan).toMatch(/SEARCH .* USING (COVERING )?INDEX/);
    // MySQL detects immediately that a unique value does not exist.
    else if (!/no matching row|Impossible WHERE/.test(plan)) expect(plan).toContain(index);
  });
});

describe('the time zone of a process', () => {
  beforeEach(async () => {
    database = await createDatabase();
  });
  afterEach(() => database.drop());

  test.each(['Pacific/Kiritimati', 'America/St_Johns'])('(%s) does not change any time', async (zone) => {
    const auth = open();
    await auth.migrate();
    await auth.credential.signUp(ada);
    interface Seen {
      session: { createdAt: string; expiresAt: string; lastActiveAt: string };
      user: { createdAt: string };
      token: string;
    }
    const here = await auth.credential.signIn({ credential: ada.email, password: ada.password });
    const run = (...args: string[]) => inAnotherProcess<Seen>(args, { TZ: zone });
    const [there, seenThere] = await Promise.all([
      run('signIn', database.url, ada.email, ada.password),
      run('getSession', database.url, here.token),
    ]);
    expect(seenThere.session).toMatchObject(JSON.parse(JSON.stringify(here.session)));
    const seenHere = await auth.getSession({ headers: { cookie: `latchkey=${there.token}` } });
    expect(JSON.parse(JSON.stringify(seenHere.session))).toMatchObject(there.session);
    expect(Math.abs(Date.parse(there.session.createdAt) - Date.now())).toBeLessThan(20_000);
    expect(seenThere.user.createdAt).toBe(here.user.createdAt.toISOString());
    await auth.close();
  });
});
