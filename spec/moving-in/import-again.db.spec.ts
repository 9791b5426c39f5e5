import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  admin,
  createAuth,
  type ImportRow,
  oauth,
  type Plugin,
  passkeys,
  suspension,
  twoFactor,
} from '../../lib/index.js';
import { type ImportUsersOptions, movingIn } from '../../lib/moving-in.js';
import { password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { ownRows } from '../support/own-rows.js';
import { authenticator, PAGE, signInWith } from '../support/passkeys.js';
import { expectProblem } from '../support/problem.js';
import { loggingSequelize } from '../support/statements.js';
import { codeOf } from '../support/two-factor.js';

// htpasswd -nbB -C 5 ada …
const WORDS = 'correct horse battery';
const HASH = '$2y$05$b4arMjmQm5Cghbd7RLH8rOmlm8QIxdxETXnBzWzGYMXNsDwA4U8Ae';
const NEW_WORDS = 'another horse altogether';
const NEW_HASH = '$2b$05$T6W1u3NUW2m.Is1iGCbA..aqo2qhKi4E2TNjNM1bANQJTcTSqI2ZO';
const TOTP = ['JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', 'KRSXG5CTMVRXEZLUKRSXG5CTMVRXEZLU'] as const;
const CODES = ['abcde-12345', 'fghjk-67890'];
const NEWER = 'a newer secret for specs, of 32 bytes and more';

const CONFIG = {
  baseUrl: PAGE,
  user: { fields: { plan: { type: 'string', maxLength: 20, default: 'free', input: 'none' } } },
} as const;

const plugins = () =>
  [
    password({ username: true }),
    oauth(),
    fixedProvider(),
    twoFactor(),
    admin({ adminEmails: ['root@example.com'] }),
    suspension(),
    passkeys(),
    movingIn(),
  ] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
beforeAll(async () => {
  app = await startApp({
    plugins: plugins(),
    config: CONFIG,
  });
});
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  await rows(app.database, 'DELETE FROM imported_users');
});
afterAll(() => app.stop());

const once = (given: readonly object[], options: ImportUsersOptions = {}) =>
  app.auth.movingIn.importUsers(given as ImportRow[], options);
const again = (given: readonly object[], options: ImportUsersOptions = {}) =>
  app.auth.movingIn.importUsers(given as ImportRow[], { ...options, update: true });
const signIn = (credential: string, given = WORDS) =>
  app.http.post('/auth/signin/credential').send({ credential, password: given });
const link = (subject: string) => ({ provider: 'fixed', subject });
const lines = () =>
  rows<{ source: string; ref: string | null; user_id: string | null; ref_hash: Buffer }>(
    app.database,
    'SELECT source, ref, user_id, ref_hash FROM imported_users ORDER BY source, ref',
  );

/** A passkey that another system has stored. */
function passkey() {
  const device = authenticator();
  device.create({
    challenge: 'AAAA',
    rp: { id: 'localhost', name: 'old' },
    user: { id: randomBytes(16).toString('base64url'), name: 'ada', displayName: 'ada' },
    pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
  } as never);
  const [{ id, publicKey }] = device.credentials as never as [{ id: Buffer; publicKey: Buffer }];
  return {
    device,
    row: {
      credentialId: id.toString('base64url'),
      publicKey: publicKey.toString('base64url'),
      deviceType: 'multiDevice',
      backedUp: true,
    },
  };
}

const ADA = { ref: 7, email: 'ada@example.com', emailVerified: true, passwordHash: HASH } as const;

describe('what is remembered of a row', () => {
  test('source and ref, by which a row is found whose email and username have changed', async () => {
    const { users } = await once([
      { ...ADA, username: 'ada' },
      { ref: 'b', email: 'b@example.com' },
    ]);
    expect(await lines()).toEqual([
      expect.objectContaining({ source: 'rows', ref: '7', user_id: users[0]?.id }),
      expect.objectContaining({ source: 'rows', ref: 'b', user_id: users[1]?.id }),
    ]);
    expect((await once([{ ...ADA, email: 'new@example.com', username: 'nada' }])).users).toEqual([users[0]]);
    // Another system has its own refs.
    const other = await once([{ ref: '7', email: 'grace@example.com' }], { source: 'crm' });
    expect(other.users[0]?.id).not.toBe(users[0]?.id);
    expect((await lines()).map(({ source, ref }) => `${source} ${ref}`)).toContain('crm 7');
  });

  test('a dry run remembers nothing, and names are checked', async () => {
    await once([ADA], { dryRun: true });
    expect(await lines()).toEqual([]);
    for (const source of ['', 'a b', 'x'.repeat(65), 'ensure'])
      await expect(once([ADA], { source })).rejects.toThrow(
        'latchkey: auth.movingIn.importUsers: source must',
      );
  });

  test('after the account is deleted, source and a keyed hash alone, and it is never made again', async () => {
    const { users } = await once([ADA, { ref: 8, email: 'b@example.com' }]);
    await app.auth.users.delete(String(users[0]?.id));
    const forgotten = (await lines()).find(({ ref }) => ref === null);
    expect(forgotten).toMatchObject({ source: 'rows', ref: null, user_id: null });
    expect(
      JSON.stringify(await rows(app.database, 'SELECT * FROM imported_users WHERE ref IS NULL')),
    ).not.toMatch(/\bada\b|2y\$/);
    expect(forgotten?.ref_hash).toHaveLength(32);
    expect(await once([ADA])).toEqual({
      users: [],
      skipped: [{ ref: 7, code: 'account_deleted', detail: expect.stringContaining('deleted here') }],
    });
    expect(
      await again([
        { ...ADA, email: 'new@example.com' },
        { ref: 8, email: 'b@example.com' },
      ]),
    ).toEqual({
      users: [users[1]],
      skipped: [],
      imported: 0,
      updated: 0,
      unchanged: 1,
      vanished: [],
      conflicts: [{ ref: 7, field: 'id', detail: expect.stringContaining('deleted here') }],
    });
    expect(await app.auth.users.find({ email: 'ada@example.com' })).toBeNull();
  });
});

describe('importUsers with update', () => {
  test('brings an account to the state of its row', async () => {
    const [first, second] = [passkey(), passkey()];
    const before = {
      ...ADA,
      username: 'ada',
      fields: { plan: 'free' },
      accounts: [link('1')],
      totpSecret: TOTP[0],
      recoveryCodes: CODES,
      passkeys: [first.row],
    };
    const plain = { ref: 8, email: 'grace@example.com', passwordHash: HASH };
    const { users } = await once([before, plain]);
    const id = String(users[0]?.id);
    expect(await again([before, plain])).toEqual({
      users,
      skipped: [],
      imported: 0,
      updated: 0,
      unchanged: 2,
      conflicts: [],
      vanished: [],
    });
    const session = await app.auth.createSession(id);
    const other = await app.auth.createSession(String(users[1]?.id));
    const after = {
      ref: '7',
      email: 'countess@example.com',
      emailVerified: true,
      passwordHash: NEW_HASH,
      username: 'countess',
      fields: { plan: 'pro' },
      accounts: [link('2')],
      totpSecret: TOTP[1],
      recoveryCodes: ['zzzzz-11111'],
      passkeys: [second.row],
    };
    const rest = { ...plain, suspended: { reason: 'spam' } };
    const planned = await again([after, rest, { ref: 9, email: 'new@example.com' }], { dryRun: true });
    expect(await app.auth.users.get(id)).toMatchObject({ email: 'ada@example.com', plan: 'free' });
    const report = await again([after, rest, { ref: 9, email: 'new@example.com' }]);
    expect(planned).toEqual(report);
    expect(report).toEqual({
      users: [{ ref: '7', id }, users[1], { ref: 9, id: expect.any(String) }],
      skipped: [],
      imported: 1,
      updated: 2,
      unchanged: 0,
      conflicts: [],
      vanished: [],
    });
    expect(await app.auth.users.get(id)).toMatchObject({
      email: 'countess@example.com',
      username: 'countess',
      plan: 'pro',
      emailVerifiedAt: expect.any(Date),
    });
    expect((await app.auth.oauth.accounts(id)).map((one) => one.providerAccountId)).toEqual(['2']);
    expect(await app.auth.passkeys.list(id)).toHaveLength(1);
    for (const { token } of [session, other])
      expectProblem(
        await app.http.get('/auth/me').set('Cookie', `latchkey=${token}`),
        401,
        'invalid_session',
      );
    expectProblem(await signIn('grace@example.com'), 403, 'account_suspended');
    expectProblem(await signIn('countess', WORDS), 401, 'invalid_credentials');
    for (const given of [
      { method: 'totp', code: codeOf(TOTP[1]) },
      { method: 'recovery_code', code: 'zzzzz11111' },
    ]) {
      const browser = app.browser();
      const body = { credential: 'countess', password: NEW_WORDS };
      await browser.post('/auth/signin/credential').send(body).expect(200);
      await browser.post('/auth/signin/second-factor').send(given).expect(200);
    }
    expect(await again([after, rest, { ref: 9, email: 'new@example.com' }])).toMatchObject({ unchanged: 3 });
    // What the row no longer has goes too.
    const bare = { ref: 7, email: 'countess@example.com', passwordHash: NEW_HASH };
    expect(await again([bare, plain])).toMatchObject({ updated: 2, conflicts: [] });
    expect(await app.auth.users.get(id)).toMatchObject({ username: null, emailVerifiedAt: expect.any(Date) });
    expect(await app.auth.twoFactor.status(id)).toMatchObject({ totp: false });
    expect(await app.auth.oauth.accounts(id)).toEqual([]);
    expect(await app.auth.passkeys.list(id)).toEqual([]);
    await signIn('countess@example.com', NEW_WORDS).expect(200);
    await signIn('grace@example.com').expect(200);
  });

  test('keeps the sessions of an account with the same password, and used recovery codes used', async () => {
    const row = { ...ADA, totpSecret: TOTP[0], recoveryCodes: CODES };
    const { users } = await once([row]);
    const browser = app.browser();
    await browser
      .post('/auth/signin/credential')
      .send({ credential: ADA.email, password: WORDS })
      .expect(200);
    await browser
      .post('/auth/signin/second-factor')
      .send({ method: 'recovery_code', code: CODES[0] })
      .expect(200);
    // The sign-in has hashed the password again, and used up a code: neither is a change.
    expect(await again([{ ...row, accounts: [link('1')] }])).toMatchObject({ updated: 1, conflicts: [] });
    await browser.get('/auth/me').expect(200);
    const more = [...CODES, 'qqqqq-22222'];
    expect(await again([{ ...row, accounts: [link('1')], recoveryCodes: more }])).toMatchObject({
      updated: 1,
    });
    expect(await app.auth.twoFactor.status(String(users[0]?.id))).toMatchObject({ recoveryCodesLeft: 2 });
  });

  test('ends the sessions of an account that gets a second factor by its row', async () => {
    const row = { ref: 1, email: 'new-factor@example.com', passwordHash: HASH };
    const { users } = await once([row]);
    const { token } = await app.auth.createSession(String(users[0]?.id));
    expect(await again([{ ...row, totpSecret: TOTP[0] }])).toMatchObject({ updated: 1 });
    const answer = await app.http.get('/auth/me').set('Cookie', `latchkey=${token}`);
    expectProblem(answer, 401, 'invalid_session');
  });

  test('a proof of the address is no change, and is kept', async () => {
    const { users } = await once([{ ...ADA, emailVerified: false }]);
    await app.auth.markEmailVerified(String(users[0]?.id));
    const row = { ...ADA, emailVerified: false, username: 'ada' };
    expect(await again([row])).toMatchObject({ updated: 1, conflicts: [] });
    expect(await app.auth.users.find({ username: 'ada' })).toMatchObject({
      emailVerifiedAt: expect.any(Date),
    });
    expect(await again([{ ...row, emailVerified: true }])).toMatchObject({ updated: 1 });
  });

  const row = { ...ADA, username: 'ada', accounts: [link('1')], totpSecret: TOTP[0], recoveryCodes: CODES };
  const renewCodes = async () => {
    const browser = app.browser();
    const body = { credential: 'ada', password: WORDS };
    await browser.post('/auth/signin/credential').send(body).expect(200);
    const step = { method: 'totp', code: codeOf(TOTP[0]) };
    await browser.post('/auth/signin/second-factor').send(step).expect(200);
    await browser.post('/auth/two-factor/recovery-codes').expect(200);
  };
  test.each([
    ['the app', 'app'],
    ['nobody', false],
  ])(
    'that proves the mailbox, of which %s knew before, still removes what the row no longer has',
    async (_who, before) => {
      const suspended = { reason: 'spam' };
      const row = { ...ADA, emailVerified: before, totpSecret: TOTP[0], suspended };
      const { users } = await once([row]);
      const { totpSecret: _totp, suspended: _suspended, ...left } = row;
      expect(await again([{ ...left, emailVerified: true, email: 'moved@example.com' }])).toMatchObject({
        updated: 1,
      });
      expect(await app.auth.twoFactor.status(`${users[0]?.id}`)).toMatchObject({ totp: false });
      const signedIn = await signIn('moved@example.com');
      expect([signedIn.status, signedIn.body.second_factor]).toEqual([200, undefined]);
      expect(await again([{ ...left, emailVerified: true, email: 'moved@example.com' }])).toMatchObject({
        unchanged: 1,
      });
    },
  );

  test('ends the sign-ins in progress, which can have begun with what the row no longer has', async () => {
    const { users } = await once([{ ...ADA, totpSecret: TOTP[0], accounts: [link('of-ada')] }]);
    await signIn(ADA.email).expect(200);
    const pending = () =>
      rows(app.database, 'SELECT * FROM unfinished_sign_ins WHERE user_id = :id', { id: users[0]?.id });
    expect(await pending()).toHaveLength(1);
    expect(await again([{ ...ADA, totpSecret: TOTP[0] }])).toMatchObject({ updated: 1 });
    expect(await pending()).toEqual([]);
  });

  test('takes no second factor from an account that has made its passkeys one', async () => {
    const given = { ...row, passkeys: [passkey().row] };
    const { users } = await once([given]);
    const id = String(users[0]?.id);
    const browser = app.browser();
    await browser.post('/auth/signin/credential').send({ credential: 'ada', password: WORDS }).expect(200);
    const step = { method: 'totp', code: codeOf(TOTP[0]) };
    await browser.post('/auth/signin/second-factor').send(step).expect(200);
    await browser.put('/auth/two-factor/passkeys').send({ on: true }).expect(200);
    const before = await app.auth.twoFactor.status(id);
    const { passkeys: _, ...withoutPasskeys } = given;
    const { totpSecret: __, recoveryCodes: ___, ...withoutCodes } = given;
    const { totpSecret, recoveryCodes, ...bare } = withoutPasskeys;
    for (const [changed, field] of [
      [withoutPasskeys, 'passkeys'],
      [withoutCodes, 'totpSecret'],
      [{ ...given, totpSecret: TOTP[1] }, 'totpSecret'],
      [bare, 'passkeys'],
    ] as const) {
      const report = await again([changed]);
      expect(report.updated).toBe(0);
      expect(report.conflicts.map((one) => one.field)).toContain(field);
      expect(await app.auth.twoFactor.status(id)).toEqual(before);
      expect(await app.auth.passkeys.list(id)).toHaveLength(1);
    }
  });

  test.each<[string, string, (id: string) => Promise<unknown>]>([
    ['the password', 'passwordHash', (id) => app.auth.users.setPassword(id, 'a password of this app')],
    ['the address', 'email', (id) => app.auth.users.changeEmail(id, 'mine@example.com')],
    ['the username', 'username', (id) => app.auth.users.update(id, { username: 'mine' })],
    ['a link', 'accounts', (id) => app.auth.oauth.unlink(id, 'fixed')],
    ['the second factor', 'totpSecret', (id) => app.auth.twoFactor.disable(id)],
    [
      'the passkeys',
      'passkeys',
      async (id) => app.auth.passkeys.remove(id, String((await app.auth.passkeys.list(id))[0]?.id)),
    ],
    ['the recovery codes', 'recoveryCodes', renewCodes],
    ['the state', 'suspended', (id) => app.auth.suspension.suspend(id)],
  ])('leaves an account as it is whose user or app has changed %s', async (_what, field, change) => {
    const given = { ...row, passkeys: [passkey().row] };
    const { users } = await once([given]);
    const id = String(users[0]?.id);
    await change(id);
    const before = await app.auth.users.get(id);
    const newer = { ...given, fields: { plan: 'pro' } };
    const report = await again([newer]);
    expect(report).toMatchObject({ users, imported: 0, updated: 0, unchanged: 0 });
    const fields = report.conflicts.map((one) => one.field);
    const also = field === 'totpSecret' ? ['recoveryCodes'] : [];
    expect(fields.sort()).toEqual([field, 'fields.plan', ...also].sort());
    expect(report.conflicts[0]).toEqual({ ref: 7, field: expect.any(String), detail: expect.any(String) });
    expect(await app.auth.users.get(id)).toEqual(before);
    expect((await again([given])).conflicts.map((one) => one.field)).toContain(field);
  });
  test('a change that was taken back is a conflict from then on, with one entry', async () => {
    const { users } = await once([row]);
    const id = String(users[0]?.id);
    await app.auth.suspension.suspend(id);
    await app.auth.suspension.reinstate(id);
    for (let run = 0; run < 2; run++)
      expect(await again([row])).toMatchObject({
        users,
        updated: 0,
        unchanged: 0,
        conflicts: [{ ref: 7, field: 'suspended', detail: expect.stringContaining('changed here') }],
      });
  });

  test('a change in a process without the plugin is a conflict too', async () => {
    const others: Plugin[] = plugins().filter(({ name }) => name !== 'movingIn');
    const elsewhere = createAuth({ ...CONFIG, database: app.database.url, secret: SECRET, plugins: others });
    const given = [ADA, { ref: 8, email: 'b@example.com', passwordHash: HASH }];
    const { users } = await once(given);
    const [first, second] = users.map(({ id }) => id) as [string, string];
    await elsewhere.users.changeEmail(first, 'mine@example.com');
    await elsewhere.users.setPassword(second, 'a password of this app');
    expect(await again(given.map((one) => ({ ...one, passwordHash: NEW_HASH })))).toMatchObject({
      updated: 0,
      conflicts: [
        { ref: 7, field: 'passwordHash' },
        { ref: 7, field: 'email', detail: 'was changed here since the import' },
        { ref: 8, field: 'passwordHash', detail: 'was changed here since the import' },
      ],
    });
    await elsewhere.close();
  });

  test('a change is noted once, and nothing is noted if no value has changed', async () => {
    const { users } = await once([{ ...ADA, username: 'ada' }]);
    const id = String(users[0]?.id);
    const noted = () => rows<{ changed: string }>(app.database, 'SELECT changed FROM imported_users');
    await app.auth.users.update(id, { username: 'ada' });
    expect(await noted()).toEqual([{ changed: '' }]);
    for (const username of ['mine', 'yours']) await app.auth.users.update(id, { username });
    await app.auth.users.setPassword(id, 'a password of this app');
    expect(await noted()).toEqual([{ changed: 'username passwordHash' }]);
  });

  test('what another account has is a conflict, and nothing of the row is applied', async () => {
    await app.auth.users.create({ email: 'taken@example.com', username: 'taken' });
    await once([ADA, { ref: 8, email: 'b@example.com', accounts: [link('1')] }]);
    const changed = { ...ADA, passwordHash: NEW_HASH };
    for (const [more, field] of [
      [{ email: 'taken@example.com' }, 'email'],
      [{ username: 'taken' }, 'username'],
      [{ accounts: [link('1')] }, 'accounts'],
    ] as const)
      expect((await again([{ ...changed, ...more }])).conflicts).toEqual([
        { ref: 7, field, detail: expect.stringMatching(/another/) },
      ]);
    await signIn(ADA.email).expect(200);
    expect(await again([changed])).toMatchObject({ updated: 1, conflicts: [] });
  });

  test('lists the accounts whose rows have vanished, where the rows came to their end', async () => {
    const given = Array.from({ length: 1200 }, (_, ref) => ({ ref, email: `user-${ref}@example.com` }));
    const { users } = await once(given);
    await once([{ ref: 'x', email: 'x@example.com' }], { source: 'other' });
    const gone = [3, 700, 1199];
    const left = given.filter(({ ref }) => !gone.includes(ref));
    const report = await again([...left.slice(0, -1), { ...left.at(-1), email: 'nobody' }]);
    expect(report.vanished).toEqual(users.filter(({ ref }) => gone.includes(ref as number)));
    expect(report).toMatchObject({ unchanged: 1196, skipped: [{ ref: 1198 }] });
    expect(await app.auth.users.get(String(users[3]?.id))).not.toBeNull();
  });

  test('an account of another source is a conflict if it differs from its row, else known from then on', async () => {
    const others = [{ ref: 8, email: 'b@example.com', passwordHash: HASH }];
    await once([ADA, ...others], { source: 'other' });
    expect(await again([{ ...ADA, passwordHash: NEW_HASH }, ...others])).toMatchObject({
      updated: 0,
      unchanged: 1,
      conflicts: [{ ref: 7, field: 'passwordHash' }],
    });
    expect(
      await again([
        { ...ADA, username: 'ada' },
        { ...others[0], passwordHash: NEW_HASH },
      ]),
    ).toMatchObject({
      updated: 1,
      unchanged: 0,
      conflicts: [{ ref: 7, field: 'username' }],
    });
  });
});

describe('of two rows with one email', () => {
  const pair = (distance: number) => [
    { ref: 'first', email: 'ADA@example.com', username: 'first', accounts: [link('1')] },
    ...Array.from({ length: distance }, (_, ref) => ({ ref, email: `user-${ref}@example.com` })),
    { ref: 'second', email: 'ada@example.com', emailVerified: true, accounts: [link('1')] },
  ];
  test.each([
    ['near', 1],
    ['far apart', 600],
  ])('the verified one wins, and both are named: %s', async (_what, distance) => {
    const planned = await once(pair(distance), { dryRun: true });
    const report = await once(pair(distance));
    expect(planned).toEqual(report);
    expect(report.users).toHaveLength(distance + 1);
    expect(report.users.at(-1)?.ref).toBe('second');
    expect(report.skipped).toEqual([
      {
        ref: 'first',
        code: 'email_taken',
        detail: expect.stringMatching(/first and second .*second was imported/),
      },
    ]);
    expect(await app.auth.users.find({ email: 'ada@example.com' })).toMatchObject({
      id: report.users.at(-1)?.id,
      username: null,
    });
    expect((await lines()).map(({ ref }) => ref)).not.toContain('first');
    expect(await once(pair(distance))).toEqual(report);
  });

  test('of two that are alike, the first', async () => {
    const { skipped } = await once([ADA, { ...ADA, ref: 9 }]);
    expect(skipped).toEqual([
      { ref: 9, code: 'email_taken', detail: expect.stringMatching(/rows 9 and 7 .*row 7 was imported/) },
    ]);
  });
});

test('an unknown provider or an odd username costs that part, which is reported', async () => {
  const { users, skipped } = await once([
    { ...ADA, username: 'A Countess!', accounts: [link('1'), { provider: 'myspace', subject: '1' }] },
    { ref: 8, username: 'no good', accounts: [{ provider: 'myspace', subject: '2' }] },
  ]);
  expect(users.map(({ ref }) => ref)).toEqual([7]);
  expect(skipped).toEqual([
    {
      ref: 7,
      code: 'unknown_provider',
      part: 'accounts',
      detail: expect.stringContaining('accounts[1].provider'),
    },
    { ref: 7, code: 'invalid_username', part: 'username', detail: expect.stringContaining('username must') },
    { ref: 8, code: 'invalid_username', detail: expect.stringContaining('username must') },
  ]);
  expect(await app.auth.oauth.accounts(String(users[0]?.id))).toHaveLength(1);
  await signIn(ADA.email).expect(200);
});

test('an imported passkey signs in, and keeps the user handle of its first use', async () => {
  const { device, row } = passkey();
  const { users } = await once([
    { ...ADA, passkeys: [{ ...row, name: 'Phone', transports: ['internal', '?'] }] },
  ]);
  const id = String(users[0]?.id);
  expect(await app.auth.passkeys.list(id)).toMatchObject([{ name: 'Phone', transports: ['internal'] }]);
  for (let use = 0; use < 2; use++) expect((await signInWith(app.browser(), device)).status).toBe(200);
  const lies = { userHandle: randomBytes(16) };
  expectProblem(await signInWith(app.browser(), device, { lies }), 401, 'invalid_passkey');
  expect((await once([{ ref: 9, email: 'b@example.com', passkeys: [row] }])).skipped).toMatchObject([
    { ref: 9, code: 'passkey_taken' },
  ]);
  for (const [given, detail] of [
    [{ ...row, publicKey: 'AAAA' }, 'passkeys[0].publicKey must be a COSE key'],
    [{ ...row, credentialId: 'AA==' }, 'passkeys[0].credentialId must be'],
    [{ ...row, aaguid: '0' }, 'passkeys[0] has an unknown key, aaguid'],
    [{ ...row, counter: -1 }, 'passkeys[0].counter must be'],
    [{ ...row, deviceType: 'phone' }, 'passkeys[0].deviceType must be'],
  ] as const)
    expect((await once([{ ref: 10, email: 'c@example.com', passkeys: [given] }])).skipped).toEqual([
      { ref: 10, code: 'invalid_passkeys', detail: expect.stringContaining(detail) },
    ]);
});

test('with rows of the app, the row of an account that was put aside is kept, and gets none', async () => {
  let own = {} as ReturnType<typeof ownRows>;
  const withRows = await startApp({
    plugins: [password(), movingIn()],
    async config(database) {
      own = ownRows(database);
      await own.model.sync();
      return own.config;
    },
  });
  await own.model.bulkCreate([{ name: 'Eve' }, { name: 'Ada' }] as never[]);
  const many = Array.from({ length: 510 }, (_, n) => ({
    email: `user-${n}@example.com`,
    fields: { name: 'x' },
  }));
  const { users } = await withRows.auth.movingIn.importUsers([
    { ref: 1, email: 'ada@example.com' },
    ...many,
    { ref: 2, email: 'ada@example.com', emailVerified: true },
  ]);
  expect(users).toHaveLength(511);
  const ids = await Promise.all([1, 2].map(async (id) => (await own.model.findByPk(id))?.get('authId')));
  expect(ids).toEqual([null, users.at(-1)?.id]);
  await withRows.stop();
});

test('a change of an account that was not imported reads nothing about imports', async () => {
  let statements: string[] = [];
  const logged = await startApp({
    plugins: plugins(),
    tables: {},
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      return { ...CONFIG, database: own.sequelize };
    },
  });
  const { auth } = logged;
  const ada = await auth.users.create({ email: 'ada@example.com', password: WORDS });
  const { users } = await auth.movingIn.importUsers([{ ref: 8, email: 'b@example.com' }]);
  const change = async (id: string) => {
    statements.length = 0;
    await auth.users.changeEmail(id, `new-${id}@example.com`);
    await auth.users.setPassword(id, 'a password of this app');
    await auth.suspension.suspend(id);
    return statements.filter((sql) => sql.includes('imported_users')).length;
  };
  expect(await change(ada.id)).toBe(0);
  expect(await change(String(users[0]?.id))).toBe(6);
  await logged.stop();
});

test('the hash of a deleted account is found after the secrets were rotated', async () => {
  const plugins = [password(), movingIn()] as const;
  const first = await startApp({ plugins });
  const { users } = await first.auth.movingIn.importUsers([ADA]);
  await first.auth.users.delete(String(users[0]?.id));
  const rotated = (secret: string | string[]) =>
    createAuth({ database: first.database.url, secret, plugins });
  const both = rotated([NEWER, SECRET]);
  expect(await both.rotateSecrets()).toBe(1);
  await both.close();
  const newer = rotated(NEWER);
  expect((await newer.movingIn.importUsers([ADA])).skipped).toMatchObject([{ code: 'account_deleted' }]);
  await newer.close();
  await expect(first.auth.movingIn.importUsers([ADA])).rejects.toMatchObject({ code: 'unavailable' });
  await first.stop();
});
