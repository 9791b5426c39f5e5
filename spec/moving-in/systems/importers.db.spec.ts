import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, type ImportRow, oauth, suspension, twoFactor } from '../../../lib/index.js';
import { fromAuthJs, fromBetterAuth, fromTable, movingIn } from '../../../lib/moving-in.js';
import { github, google, microsoft, x } from '../../../lib/providers.js';
import { password, type SpecApp, startApp } from '../../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../../support/database.js';
import { fillWith, type Made, madeBy } from '../../support/made-elsewhere.js';
import { expectProblem } from '../../support/problem.js';
import { codeOf, forgetSteps } from '../../support/two-factor.js';

interface MadeByBetterAuth extends Made {
  readonly password: string;
  readonly secrets: readonly string[];
  readonly backupCodes: Readonly<Record<'ada' | 'hedy', readonly string[]>>;
  readonly totpUris: Readonly<Record<'ada' | 'hedy', string>>;
}

const client = { clientId: 'id', clientSecret: 'secret' };
const plugins = () =>
  [
    password({ username: true, usernamePattern: /[a-z_]+/ }),
    oauth(),
    ...([github(client), google(client), x(client)] as const),
    microsoft({ ...client, tenant: '9188040d-6c67-4c5b-b112-36a304b66dad' }),
    twoFactor(),
    admin({ adminEmails: ['root@example.com'] }),
    suspension(),
    movingIn(),
  ] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
let old: SpecDatabase;
beforeAll(async () => {
  const baseUrl = 'http://localhost:3000';
  app = await startApp({ plugins: plugins(), config: { baseUrl } });
});
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  await rows(app.database, 'DELETE FROM imported_users');
});
afterAll(() => app.stop());

const all = async (source: AsyncIterable<ImportRow>) => {
  const found: ImportRow[] = [];
  for await (const row of source) found.push(row);
  return found;
};
const signIn = (credential: string, given: string) =>
  app.http.post('/auth/signin/credential').send({ credential, password: given });

describe('fromBetterAuth', () => {
  let made: MadeByBetterAuth;
  beforeAll(async () => {
    made = await madeBy('better-auth');
    old = await fillWith(await createDatabase(), made, dialect);
  });
  afterAll(() => old.drop());

  test('moves users in with passwords, usernames, providers, second factors and bans', async () => {
    const { secrets } = made;
    const { users, skipped } = await app.auth.movingIn.importUsers(
      fromBetterAuth(old.sequelize, { secret: secrets }),
    );
    expect(skipped).toEqual([]);
    expect(users.map(({ ref }) => ref).sort()).toEqual(made.tables.user?.map(({ id }) => id).sort());
    const ada = made.tables.user?.find(({ name }) => name === 'ada');
    expect(await app.auth.users.find({ username: 'ADA_lovelace' })).toMatchObject({
      email: 'ada@example.com',
      usernameDisplay: 'Ada_Lovelace',
      emailVerifiedAt: expect.any(Date),
    });
    // Sequelize writes whole seconds into the tables of the old app on MySQL.
    const since = new Date(String(ada?.createdAt)).getTime();
    const { createdAt } = (await app.auth.users.find({ username: 'ada_lovelace' })) ?? {};
    expect(Math.abs(Number(createdAt?.getTime()) - since)).toBeLessThan(1000);
    expect(await app.auth.users.find({ email: 'hedy@example.com' })).toMatchObject({ emailVerifiedAt: null });

    expectProblem(await signIn('grace@example.com', 'wrong'), 401, 'invalid_credentials');
    const grace = await signIn('grace@example.com', made.password).expect(200);
    expect(grace.body.user.email).toBe('grace@example.com');
    expectProblem(await signIn('eve@example.com', made.password), 403, 'account_suspended');
    const joan = await app.auth.users.find({ email: 'joan@example.com' });
    const links = await app.auth.oauth.accounts(String(joan?.id));
    expect(
      links.map(({ provider, issuer, providerAccountId }) => [provider, issuer, providerAccountId]).sort(),
    ).toEqual([
      ['github', 'https://github.com/login/oauth', '583231'],
      ['google', 'https://accounts.google.com', '117800000000000000042'],
    ]);
  });

  test.each(['ada', 'hedy'] as const)('takes over the second factor of %s', async (name) => {
    await app.auth.movingIn.importUsers(fromBetterAuth(old.sequelize, { secret: made.secrets }));
    const secret = String(new URL(made.totpUris[name]).searchParams.get('secret'));
    const [used, ...unused] = made.backupCodes[name];
    const complete = async (given: object) => {
      const browser = app.browser();
      const body = { credential: `${name}@example.com`, password: made.password };
      await browser.post('/auth/signin/credential').send(body).expect(200);
      return browser.post('/auth/signin/second-factor').send(given);
    };
    expect((await complete({ method: 'totp', code: codeOf(secret) })).status).toBe(200);
    expect((await complete({ method: 'recovery_code', code: unused[0] })).status).toBe(200);
    expect((await complete({ method: 'recovery_code', code: unused[0] })).status).toBe(401);
    // Ada has used her first one in the old app.
    const status = (await complete({ method: 'recovery_code', code: used })).status;
    expect(status).toBe(name === 'ada' ? 401 : 200);
    await forgetSteps(app);
  });

  test.each([
    ['no secret', undefined],
    ['another secret', 'a secret of another app, of 32 bytes'],
    ['only the newer of two secrets', 'the second secret of better-auth, of 32 bytes'],
  ])('refuses to leave a second factor behind: %s', async (_what, secret) => {
    await expect(all(fromBetterAuth(old.sequelize, secret === undefined ? {} : { secret }))).rejects.toThrow(
      /the second factor of user \w+ cannot be decrypted: set secret/,
    );
  });

  test('takes other names of tables, columns and providers, and values for fields', async () => {
    const [user] = await all(
      fromBetterAuth(old.sequelize, {
        secret: made.secrets,
        tables: { user: 'user', account: 'account' },
        columns: { user: { username: 'displayUsername' } },
        providers: { github: 'work', google: null },
        fields: ({ name }) => ({ name: String(name).toUpperCase() }),
      }),
    ).then((list) => list.filter(({ accounts = [] }) => (accounts?.length ?? 0) > 0));
    expect(user).toMatchObject({
      accounts: [{ provider: 'work', subject: '583231' }],
      fields: { name: 'JOAN' },
    });
  });
});

describe('fromAuthJs', () => {
  beforeAll(async () => {
    old = await fillWith(await createDatabase(), await madeBy('auth-js'), dialect);
  });
  afterAll(() => old.drop());

  test('moves users in with their accounts at providers', async () => {
    const { users, skipped } = await app.auth.movingIn.importUsers(fromAuthJs(old.sequelize));
    expect([users.length, skipped]).toEqual([2, []]);
    for (const { ref, id } of users) expect(id).toBe(ref);
    const ada = await app.auth.users.find({ email: 'ada@example.com' });
    const joan = await app.auth.users.find({ email: 'joan@example.com' });
    expect([ada?.emailVerifiedAt, joan?.emailVerifiedAt]).toEqual([expect.any(Date), null]);
    const of = async (id: unknown) =>
      (await app.auth.oauth.accounts(String(id)))
        .map((one) => `${one.provider} ${one.providerAccountId}`)
        .sort();
    expect(await of(ada?.id)).toEqual(['microsoft AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ']);
    expect(await of(joan?.id)).toEqual(['github 583231', 'x 12']);
  });
});

describe('fromTable', () => {
  beforeAll(async () => {
    old = await createDatabase();
    await rows(
      old,
      'CREATE TABLE members (id INTEGER PRIMARY KEY, mail VARCHAR(99), hash VARCHAR(99), joined VARCHAR(30), ok INTEGER)',
    );
    const list = Array.from({ length: 1201 }, (_, index) => ({
      id: 3 * index,
      mail: index === 7 ? '' : `m-${index}@example.com`,
      hash: index === 8 ? '!' : '$2y$05$b4arMjmQm5Cghbd7RLH8rOmlm8QIxdxETXnBzWzGYMXNsDwA4U8Ae',
      joined: '2020-01-02 03:04:05',
      ok: index % 2,
    }));
    await old.sequelize.getQueryInterface().bulkInsert('members', list);
  });
  afterAll(() => old.drop());

  const columns = { ref: 'id', email: 'mail', emailVerified: 'ok', createdAt: 'joined' } as const;

  test('reads every row once, in batches, with columns and functions', async () => {
    const found = await all(
      fromTable(old.sequelize, {
        table: 'members',
        columns: {
          ...columns,
          passwordHash: ({ hash }) => (hash === '!' ? null : String(hash)),
          fields: { number: 'id', name: async ({ mail }) => `${mail}!` },
        },
      }),
    );
    expect(found.map(({ ref }) => Number(ref))).toEqual(
      Array.from({ length: 1201 }, (_, index) => 3 * index),
    );
    expect(found[1]).toEqual({
      ...{ ref: 3, email: 'm-1@example.com', emailVerified: true },
      createdAt: new Date('2020-01-02T03:04:05Z'),
      passwordHash: expect.stringMatching(/^\$2y/),
      fields: { number: 3, name: 'm-1@example.com!' },
    });
    expect([found[7]?.email, found[8]?.passwordHash, found[2]?.emailVerified]).toEqual([null, null, false]);
  });

  test('names the source by its table, unlike that of any other table', () => {
    const long = 'm'.repeat(62);
    const tables = ['members', 'our members', 'our-members', `${long}1`, `${long}2`];
    const sources = tables.map((table) => String(fromTable(old.sequelize, { table, columns }).source));
    expect(sources[0]).toBe('table:members');
    expect(new Set(sources).size).toBe(tables.length);
    for (const source of sources) expect(source).toMatch(/^[A-Za-z0-9._:-]{1,64}$/);
  });

  test.each<[string, object, string]>([
    [
      'a column that does not exist',
      { table: 'members', columns: { ref: 'id', email: 'email' } },
      'members has no column email: it has id, mail',
    ],
    ['a key that is none', { table: 'members', columns, key: 'nothing' }, 'nothing'],
    ['no columns', { table: 'members' }, 'pass { table, columns }'],
  ])('refuses %s', async (_what, options, message) => {
    await expect(all(fromTable(old.sequelize, options as never))).rejects.toThrow(message);
  });

  test('refuses what is no Sequelize instance', async () => {
    await expect(all(fromTable({} as never, { table: 'members', columns }))).rejects.toThrow(
      'must be a Sequelize instance',
    );
  });
});
