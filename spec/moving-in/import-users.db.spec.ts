import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DataTypes } from 'sequelize';
import { AuthError, admin, type ImportRow, oauth, suspension, twoFactor } from '../../lib/index.js';
import { movingIn } from '../../lib/moving-in.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { dialect, rows } from '../support/database.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { ownRows } from '../support/own-rows.js';
import { expectProblem } from '../support/problem.js';
import { loggingSequelize } from '../support/statements.js';
import { codeOf } from '../support/two-factor.js';

// htpasswd -nbB -C 5 ada "correct horse battery"
const HASH = '$2y$05$b4arMjmQm5Cghbd7RLH8rOmlm8QIxdxETXnBzWzGYMXNsDwA4U8Ae';
const WORDS = 'correct horse battery';
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const SINCE = '2021-03-04T05:06:07.890Z';
/** The number of rows in a batch. */
const BATCH = dialect === 'sqlite' ? 50 : 200;

const plugins = () =>
  [
    password({ username: true }),
    oauth(),
    fixedProvider(),
    twoFactor(),
    admin({ adminEmails: ['root@example.com'] }),
    suspension(),
    movingIn(),
  ] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
let statements: string[] = [];
beforeAll(async () => {
  app = await startApp({
    plugins: plugins(),
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      return {
        database: own.sequelize,
        baseUrl: 'http://localhost:3000',
        user: { fields: { plan: { type: 'string', enum: ['free', 'pro'], default: 'free', input: 'none' } } },
      };
    },
  });
});
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  await rows(app.database, 'DELETE FROM imported_users');
  statements.length = 0;
});
afterAll(() => app.stop());

const importUsers = (given: unknown, options = {}) =>
  app.auth.movingIn.importUsers(given as ImportRow[], options);
const idsInDatabase = async () =>
  (await rows<{ id: string }>(app.database, 'SELECT id FROM users ORDER BY id')).map(({ id }) => id);
const signIn = (credential: string, given = WORDS) =>
  app.http.post('/auth/signin/credential').send({ credential, password: given });

/** Rows of 2021, of which every 100th cannot be imported. */
const many = (count: number): ImportRow[] =>
  Array.from({ length: count }, (_, index) => ({
    ref: index,
    email: index % 100 === 99 ? 'nobody' : `user-${index}@example.com`,
    passwordHash: HASH,
    createdAt: new Date(Date.UTC(2021, 0, 1) + index * 1000),
    accounts: [{ provider: 'fixed', subject: String(index) }],
  }));

async function* stream<T>(given: readonly T[], before: (index: number) => void = () => {}) {
  for (const [index, row] of given.entries()) {
    before(index);
    yield row;
  }
}

describe('auth.movingIn.importUsers', () => {
  test('takes over everything of a user', async () => {
    const id = '0190A5B0-0000-7000-8000-00000000000A';
    const report = await importUsers([
      {
        ref: 'a-1',
        id,
        email: 'Ada@Example.com',
        emailVerified: true,
        username: 'Ada',
        passwordHash: HASH,
        createdAt: SINCE,
        fields: { plan: 'pro' },
        accounts: [{ provider: 'fixed', subject: 42 }],
        totpSecret: 'jbsw y3dp ehpk 3pxp jbsw y3dp ehpk 3pxp',
        recoveryCodes: ['AbCdE-12345', 'zzzzz-99999', 'abcde-12345'],
      },
    ]);
    expect(report).toEqual({ users: [{ ref: 'a-1', id: id.toLowerCase() }], skipped: [] });
    expect(await app.auth.users.get(id.toLowerCase())).toMatchObject({
      email: 'ada@example.com',
      username: 'ada',
      plan: 'pro',
      createdAt: new Date(SINCE),
      emailVerifiedAt: expect.any(Date),
    });
    const [link] = await app.auth.oauth.accounts(id.toLowerCase());
    expect(link).toMatchObject({ provider: 'fixed', providerAccountId: '42', relinkRequired: true });
    expect(await app.auth.twoFactor.status(id.toLowerCase())).toMatchObject({
      totp: true,
      recoveryCodesLeft: 2,
    });
    for (const given of [{ code: codeOf(SECRET) }, { code: 'abcde12345', method: 'recovery_code' }]) {
      const browser = app.browser();
      const body = { credential: 'ada', password: WORDS };
      const pending = await browser.post('/auth/signin/credential').send(body).expect(200);
      expect(pending.body.second_factor.methods).toEqual(['totp', 'recovery_code']);
      await browser
        .post('/auth/signin/second-factor')
        .send({ method: 'totp', ...given })
        .expect(200);
    }
  });

  test('takes over bans: the account is shut', async () => {
    const suspended = { reason: 'spam' };
    await importUsers([{ email: 'eve@example.com', passwordHash: HASH, suspended }]);
    expectProblem(await signIn('eve@example.com'), 403, 'account_suspended');
    expectProblem(await signIn('eve@example.com', 'wrong'), 401, 'invalid_credentials');
  });

  test('makes accounts for those who sign in at a provider or by username only', async () => {
    const accounts = [{ provider: 'fixed', subject: 's-1', issuer: 'https://fixed.example' }];
    const { users } = await importUsers([{ accounts }, { username: 'grace' }]);
    expect(users.map(({ ref }) => ref)).toEqual([0, 1]);
    expect(await app.auth.oauth.accounts(String(users[0]?.id))).toHaveLength(1);
    expect(await app.auth.users.find({ username: 'grace' })).toMatchObject({ id: users[1]?.id, email: null });
  });

  test.each<[unknown, string, string | RegExp]>([
    [null, 'invalid_row', 'a row must be an object'],
    [['ada@example.com'], 'invalid_row', 'a row must be an object'],
    [{}, 'missing_identifier', 'email is missing'],
    [{ email: '', username: null, accounts: [] }, 'missing_identifier', 'email is missing'],
    [{ email: 'nobody' }, 'invalid_email', 'email must be an email address'],
    [{ email: 7 }, 'invalid_email', 'email must be an email address'],
    [{ email: ['x@example.com'] }, 'invalid_email', 'email must be an email address'],
    [{ username: 'a@example.com' }, 'invalid_username', 'username must be 3 to 30 characters'],
    [{ username: 7 }, 'invalid_username', 'username must be'],
    [{ email: ada.email, password_hash: HASH }, 'unknown_key', 'the row has an unknown key, password_hash'],
    [{ email: ada.email, passwordHash: 'plain' }, 'unknown_hash', 'passwordHash must be a bcrypt'],
    [{ email: ada.email, passwordHash: 7 }, 'unknown_hash', 'passwordHash must be a bcrypt'],
    [
      { email: ada.email, passwordHash: `$2b$24$${'.'.repeat(53)}` },
      'hash_too_costly',
      'passwordHash has a cost',
    ],
    [{ email: ada.email, passwordHash: '$legacy$md5$0' }, 'unknown_hash', 'passwordHash must be a bcrypt'],
    [{ email: ada.email, ref: {} }, 'invalid_ref', 'ref must be a string or a number'],
    [{ email: ada.email, ref: Number.NaN }, 'invalid_ref', 'ref must be a string or a number'],
    [{ email: ada.email, id: '7' }, 'invalid_id', 'id must be a UUID'],
    [
      { email: ada.email, emailVerified: 'yes' },
      'invalid_email_verified',
      "emailVerified must be true, false or 'app'",
    ],
    [{ email: ada.email, createdAt: '2021-03-04' }, 'invalid_created_at', 'createdAt must be a time'],
    [
      { email: ada.email, createdAt: '2121-03-04T00:00:00Z' },
      'invalid_created_at',
      'createdAt must be a time',
    ],
    [{ email: ada.email, createdAt: new Date(Number.NaN) }, 'invalid_created_at', 'createdAt must be a time'],
    [{ email: ada.email, fields: { plan: 'gold' } }, 'invalid_fields', 'plan'],
    [{ email: ada.email, fields: { nothing: 1 } }, 'invalid_fields', 'nothing'],
    [{ email: ada.email, accounts: 'fixed' }, 'invalid_accounts', 'accounts must be a list'],
    [{ email: ada.email, accounts: [7] }, 'invalid_accounts', 'accounts[0] must be an object'],
    [
      { email: ada.email, accounts: [{ provider: 'fixed', id: 1 }] },
      'invalid_accounts',
      'accounts[0] has an unknown key, id',
    ],
    [{ accounts: [{ provider: 'x', subject: 1 }] }, 'unknown_provider', 'accounts[0].provider is not one'],
    [
      { email: ada.email, accounts: [{ provider: 'fixed' }] },
      'invalid_accounts',
      'accounts[0].subject is not valid',
    ],
    [
      { email: ada.email, accounts: [{ provider: 'fixed', subject: 2 ** 60 }] },
      'invalid_accounts',
      'accounts[0].subject is not valid',
    ],
    [
      { email: ada.email, accounts: ['1', '2'].map((subject) => ({ provider: 'fixed', subject })) },
      'invalid_accounts',
      'accounts has two accounts at fixed',
    ],
    [{ email: ada.email, totpSecret: 'not base32!' }, 'invalid_totp_secret', 'totpSecret must be base32'],
    [{ email: ada.email, totpSecret: 'JBSWY3DP' }, 'invalid_totp_secret', 'totpSecret must be base32'],
    [{ email: ada.email, recoveryCodes: ['abcdefgh'] }, 'invalid_totp_secret', 'totpSecret is missing'],
    [
      { email: ada.email, totpSecret: SECRET, recoveryCodes: ['1234'] },
      'invalid_recovery_codes',
      'recoveryCodes must',
    ],
    [{ email: ada.email, suspended: true }, 'invalid_suspension', 'suspended must be an object'],
  ])('skips %j, and says why', async (row, code, detail) => {
    expect(await importUsers([row])).toEqual({
      users: [],
      skipped: [
        { ref: 0, code, detail: expect.stringMatching(detail instanceof RegExp ? detail : escaped(detail)) },
      ],
    });
    expect(await idsInDatabase()).toEqual([]);
  });

  test('skips what others have already, also in the list itself', async () => {
    const [eve] = (await importUsers([{ email: 'eve@example.com', username: 'eve', accounts: [link(1)] }]))
      .users;
    const codes = ['abcdefghij'];
    const { users, skipped } = await importUsers([
      { ref: 'a', email: 'EVE@example.com' },
      { ref: 'b', username: 'EVE' },
      { ref: 'c', email: 'c@example.com', accounts: [link(1)] },
      { ref: 'd', email: 'd@example.com', accounts: [link(2)] },
      { ref: 'e', email: 'e@example.com', accounts: [link(2)] },
      { ref: 'f', email: 'd@example.com' },
      { ref: 'g', id: eve?.id, email: 'g@example.com' },
      { ref: 'h', email: 'h@example.com', totpSecret: SECRET, recoveryCodes: codes },
      { ref: 'i', email: 'i@example.com', totpSecret: SECRET, recoveryCodes: codes },
      { ref: 'h', email: 'h@example.com' },
    ]);
    expect(users.map(({ ref }) => ref)).toEqual(['d', 'h']);
    expect(skipped.map(({ ref, code }) => `${ref} ${code}`)).toEqual([
      ...['a email_taken', 'b username_taken', 'c account_taken', 'e account_taken', 'f email_taken'],
      ...['g id_taken', 'i recovery_code_taken', 'h duplicate_row'],
    ]);
  });

  test('reads an async iterable in batches, tells how far it is, and sends few statements', async () => {
    const progress: object[] = [];
    let read = 0;
    let ahead = 0;
    const source = stream(many(1300), (index) => {
      read = index + 1;
    });
    const onProgress = (one: { rows: number }) => {
      progress.push(one);
      ahead = Math.max(ahead, read - one.rows);
    };
    const { users, skipped } = await importUsers(source, { onProgress });
    expect([users.length, skipped.length]).toEqual([1287, 13]);
    expect(progress).toHaveLength(Math.ceil(1300 / BATCH));
    expect(progress[0]).toMatchObject({ rows: BATCH });
    expect(progress).toContainEqual({ rows: 1000, imported: 990, skipped: 10 });
    expect(progress.at(-1)).toEqual({ rows: 1300, imported: 1287, skipped: 13 });
    expect(ahead).toBe(0);
    expect(statements.length).toBeLessThan(10 * progress.length);
    expect(statements.join()).not.toContain('$2y$');
    await signIn('user-1234@example.com').expect(200);
  });

  test('a dry run leaves nothing, and reports what a run that broke off and was repeated reports in the end', async () => {
    const given = [...many(1200), { ref: 'twice', email: 'user-3@example.com' }, ...many(2)];
    const planned = await importUsers(stream(given), { dryRun: true });
    expect([planned.users.length, planned.skipped.length]).toEqual([1188, 15]);
    expect(await idsInDatabase()).toEqual([]);
    const broken = stream(given, (index) => {
      if (index === 1010) throw new Error('the source is gone');
    });
    await expect(importUsers(broken)).rejects.toThrow('the source is gone');
    expect(await idsInDatabase()).toHaveLength(990);
    expect(await importUsers(stream(given))).toEqual(planned);
    const ids = await idsInDatabase();
    expect(ids).toEqual(planned.users.map(({ id }) => id).sort());
    // Once more, after one of them has changed their email.
    await app.auth.users.changeEmail(String(planned.users[7]?.id), 'other@example.com');
    expect(await importUsers(given)).toEqual(planned);
    expect(await idsInDatabase()).toEqual(ids);
  });

  test('several runs at once make each account once', async () => {
    const given = many(90);
    const reports = await Promise.all(
      [given, [...given].reverse(), given.slice(30)].map((list) => importUsers(list)),
    );
    for (const { skipped } of reports) for (const { code } of skipped) expect(code).toBe('invalid_email');
    expect(await idsInDatabase()).toHaveLength(90);
  });

  test('sign-ups of the same people at once make each account once too', async () => {
    for (let round = 0; round < 5; round++) {
      const given = Array.from({ length: 60 }, (_, index) => ({
        email: `race-${round}-${index}@example.com`,
      }));
      const [reports, signUps] = await Promise.all([
        Promise.all([given, [...given].reverse()].map((list) => importUsers(list))),
        Promise.all(
          given
            .slice(0, 5)
            .map(({ email }) => app.http.post('/auth/signup/credential').send({ email, password: WORDS })),
        ),
      ]);
      for (const { status } of signUps) expect([201, 409]).toContain(status);
      const signedUp = signUps.filter(({ status }) => status === 201).length;
      for (const { users, skipped } of reports) {
        expect(users).toHaveLength(60 - signedUp);
        expect(skipped.map(({ code }) => code)).toEqual(Array(signedUp).fill('email_taken'));
      }
      expect(await idsInDatabase()).toHaveLength(60 * (round + 1));
    }
  });

  test('nobody signs in to an account without a password with one, until its owner sets one', async () => {
    const { users } = await importUsers([
      { email: 'none@example.com', passwordHash: null },
      { email: 'empty@example.com', passwordHash: '' },
    ]);
    expect(users).toHaveLength(2);
    for (const credential of ['none@example.com', 'empty@example.com'])
      for (const given of ['', 'null', WORDS])
        await expect(app.auth.credential.signIn({ credential, password: given })).rejects.toMatchObject({
          code: 'invalid_credentials',
        });
    await app.auth.credential.setPassword({ userId: String(users[0]?.id), newPassword: ada.password });
    await signIn('none@example.com', ada.password).expect(200);
  });

  test('an empty list is imported', async () => {
    expect(await importUsers([])).toEqual({ users: [], skipped: [] });
  });

  test('stops the source, and goes no further, when onProgress throws', async () => {
    let isStopped = false;
    async function* endless() {
      try {
        for (let index = 0; ; index++) yield { email: `e-${index}@example.com` };
      } finally {
        isStopped = true;
      }
    }
    const onProgress = () => Promise.reject(new Error('enough'));
    await expect(importUsers(endless(), { onProgress })).rejects.toThrow('enough');
    expect(isStopped).toBe(true);
    expect(await idsInDatabase()).toHaveLength(BATCH);
  });

  test.each<[string, unknown, object, string]>([
    ['rows that are no list', {}, {}, 'rows must be a list'],
    ['rows that are text', 'ada@example.com', {}, 'rows must be a list'],
    ['an option that does not exist', [], { dryrun: true }, 'did you mean dryRun?'],
    ['a progress that is no function', [], { onProgress: 1 }, 'onProgress must be a function'],
    ['verifiers that are none', [], { verifyLegacy: { md5: 1 } }, 'verifyLegacy.md5 must be a function'],
    [
      'a bad name',
      [],
      { verifyLegacy: { 'M D 5': () => true } },
      'a name must have 1 to 32 characters of a-z',
    ],
  ])('refuses %s', async (_what, given, options, message) => {
    await expect(importUsers(given, options)).rejects.toThrow(message);
  });
});

test('a row that names something whose plugin is off is skipped, and the detail says what to add', async () => {
  const plain = await startApp({ plugins: [password(), movingIn()] });
  const { skipped } = await plain.auth.movingIn.importUsers([
    { ref: 1, email: ada.email, accounts: [link(1)] },
    { ref: 2, email: ada.email, totpSecret: SECRET },
    { ref: 3, email: ada.email, recoveryCodes: ['abcdefghij'] },
    { ref: 4, email: ada.email, suspended: {} },
    { ref: 5, email: ada.email, username: 'ada' },
  ]);
  expect(skipped.map(({ detail }) => detail)).toEqual([
    'accounts is not accepted: add oauth() and a provider to plugins, or leave it out',
    'totpSecret is not accepted: add twoFactor() to plugins, or leave it out',
    'recoveryCodes is not accepted: add twoFactor() to plugins, or leave it out',
    'suspended is not accepted: add suspension() to plugins, or leave it out',
    'username is not accepted: usernames are not enabled',
  ]);
  const { users } = await plain.auth.movingIn.importUsers([
    { email: ada.email, accounts: [], totpSecret: null },
  ]);
  expect(users).toHaveLength(1);
  await plain.stop();
});

describe('with rows of the app', () => {
  let own: ReturnType<typeof ownRows>;
  let withRows: SpecApp<readonly [ReturnType<typeof password>, ReturnType<typeof movingIn>]>;
  let refuses = false;
  beforeAll(async () => {
    withRows = (await startApp({
      plugins: [password(), movingIn()],
      async config(database) {
        own = ownRows(database, { score: { type: DataTypes.INTEGER, validate: { max: 9 } } });
        own.model.beforeUpdate((row) => {
          if (refuses && row.get('name') === 'Eve') throw new AuthError('sign_up_refused');
        });
        await own.model.sync();
        return own.config;
      },
    })) as never;
  });
  beforeEach(async () => {
    refuses = false;
    await rows(withRows.database, 'DELETE FROM users');
    await rows(app.database, 'DELETE FROM imported_users');
    await rows(withRows.database, 'DELETE FROM auth_users');
    await own.model.bulkCreate(
      ['Ada', 'Eve', 'Joan'].map((name, index) => ({ id: index + 1, name, score: 10 }) as never),
    );
  });
  afterAll(() => withRows.stop());

  const accountOf = async (id: number) => (await own.model.findByPk(id))?.get('authId') ?? null;
  const row = (ref: string | number, name: string): ImportRow => ({
    ref,
    email: `${name}@example.com`,
    passwordHash: HASH,
    fields: { name: 'Other' },
  });

  test('ref is the primary key of the row that gets the account; its columns stay', async () => {
    const before = (await own.model.findByPk(2))?.get();
    const given = [row(1, 'ada'), row('2', 'eve')];
    const report = await withRows.auth.movingIn.importUsers(given);
    expect(report).toEqual({
      users: [expect.objectContaining({ ref: 1 }), expect.objectContaining({ ref: '2' })],
      skipped: [],
    });
    expect([await accountOf(1), await accountOf(2), await accountOf(3)]).toEqual([
      ...report.users.map(({ id }) => id),
      null,
    ]);
    expect((await own.model.findByPk(2))?.get()).toEqual({ ...before, authId: report.users[1]?.id });
    // Again, and with another email: the row has its account.
    expect(await withRows.auth.movingIn.importUsers([row(1, 'countess'), row('2', 'eve')])).toEqual(report);
    expect(await own.model.count()).toBe(3);
  });

  test('a row that does not exist, or that names no account, is skipped; without ref, a new one is made', async () => {
    await own.model.update({ authId: '0190a5b0-0000-7000-8000-00000000000a' }, { where: { id: 3 } });
    const report = await withRows.auth.movingIn.importUsers([
      ...[row(4, 'd'), row('1x', 'e'), row(3, 'f'), row(1, 'g'), row('1', 'h')],
      { email: 'new@example.com', fields: { name: 'New' } },
    ]);
    expect(report.skipped.map(({ ref, code }) => `${ref} ${code}`)).toEqual([
      ...['4 ref_not_found', '1x ref_not_found', '3 ref_taken', '1 duplicate_row'],
    ]);
    expect(report.users.map(({ ref }) => ref)).toEqual([1, 5]);
    expect(await own.model.findAll({ where: { name: 'New' } })).toMatchObject([
      { authId: report.users[1]?.id },
    ]);
  });

  test('one whom the app refuses is skipped alone, and a dry run leaves the rows as they are', async () => {
    refuses = true;
    const given = [row(1, 'ada'), row(2, 'eve'), row(3, 'joan')];
    const planned = await withRows.auth.movingIn.importUsers(given, { dryRun: true });
    expect(planned.skipped).toEqual([{ ref: 2, code: 'sign_up_refused', detail: expect.any(String) }]);
    expect([await accountOf(1), await accountOf(3)]).toEqual([null, null]);
    expect(await withRows.auth.movingIn.importUsers(given)).toEqual(planned);
    expect([await accountOf(1), await accountOf(2), await accountOf(3)]).toEqual([
      planned.users[0]?.id,
      null,
      planned.users[1]?.id,
    ]);
  });
});

function link(subject: number) {
  return { provider: 'fixed', subject };
}

function escaped(text: string): RegExp {
  return new RegExp(text.replace(/[[\]().?]/g, '\\$&'));
}
