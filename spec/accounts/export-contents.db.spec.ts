import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { exportedColumns, exportedTables } from '../../lib/accounts/export.js';
import { internalsOf } from '../../lib/auth.js';
import { authRouter } from '../../lib/index.js';
import { type Columns, columnName, snakeCase } from '../../lib/tables/column.js';
import { rows } from '../support/database.js';
import { everyPlugin } from '../support/every-plugin.js';
import { importUsers } from '../support/import-users.js';
import { type LyingProvider, startLyingProvider } from '../support/lying-provider.js';
import { mailbox } from '../support/mailbox.js';
import { type Browser, linkWith, type OAuthApp, oidcPlugin, startOAuthApp } from '../support/oauth-app.js';
import { Overheard } from '../support/overheard.js';
import { addPasskey, authenticator } from '../support/passkeys.js';
import { settled } from '../support/sessions.js';
import { enroll, firstStep, forgetSteps, secondStep } from '../support/two-factor.js';

// An account that has used every feature, and an administrator and a stranger who have had to do with it.
const PASSWORD = 'an analytical engine';
const ADA = 'ada@example.com';
const ROOT = { email: 'root@example.com', ip: '203.0.113.77', agent: 'Browser of the administrator' };
const NOTE = 'a note that users never see';
const RANK = 'a rank that users never see';

const mail = mailbox();
const overheard = new Overheard();
let provider: LyingProvider;
let app: OAuthApp;
let others: readonly string[];
let id: string;
let data: Readonly<Record<string, unknown>>;

const core = () => internalsOf(app.auth).core;

async function signIn(email: string, password: string): Promise<Browser> {
  const browser = app.browser();
  await firstStep(browser, { email, password }).expect(200);
  return browser;
}

/** What the user does. @returns the recovery codes */
async function useEverything(): Promise<readonly string[]> {
  const first = await signIn(ADA, PASSWORD);
  await first
    .patch('/auth/me')
    .send({ username: 'Ada', nickname: 'Countess', password: PASSWORD })
    .expect(200);
  provider.lies = { claims: { sub: 'ada-at-the-provider', email: ADA } };
  await linkWith(first, 'oidc');
  const made = await first.post('/auth/api-keys').send({ name: 'a program' }).expect(201);
  overheard.add(made.body.key);
  await first.post('/auth/organizations').send({ name: 'Acme', slug: 'acme' }).expect(201);
  const device = authenticator({ origin: app.origin });
  await addPasskey(first, device, 'a phone');
  const removed = await addPasskey(first, authenticator({ origin: app.origin }), 'a lost phone');
  await first.delete(`/auth/passkeys/${removed.id}`).expect(204);
  await first.post('/auth/passkeys/options').expect(200);
  const { recoveryCodes } = await enroll(first);
  await forgetSteps(app as never);
  // Another authenticator app that is not confirmed.
  await first.post('/auth/two-factor/totp').expect(201);
  return recoveryCodes;
}

/** What the user leaves unfinished. */
async function startMore(recoveryCode: string | undefined): Promise<void> {
  const browser = await signIn(ADA, PASSWORD);
  await secondStep(browser, { method: 'recovery_code', code: recoveryCode }).expect(200);
  await app.http.post('/auth/signin/credential').send({ credential: ADA, password: 'wrong' }).expect(401);
  await signIn(ADA, PASSWORD);
  await mail.mailOf('new@example.com', 'verify-new-email', () =>
    browser.post('/auth/email-changes').send({ new_email: 'new@example.com' }).expect(202),
  );
  await mail.mailOf(ADA, 'sign-in-code', () => app.http.post('/auth/signin/email').send({ email: ADA }));
}

/** What an administrator does to the account. */
async function administrate(): Promise<string> {
  const root = app.browser();
  root.set('user-agent', ROOT.agent).set('x-forwarded-for', ROOT.ip);
  const { body } = await root
    .post('/auth/signup/credential')
    .send({ email: ROOT.email, password: PASSWORD })
    .expect(201);
  await app.auth.markEmailVerified(body.user.id);
  await firstStep(root, { email: ROOT.email, password: PASSWORD }).expect(200);
  const path = `/auth/admin/users/${id}`;
  await root.patch(path).send({ rank: RANK, nickname: 'The Countess' }).expect(200);
  await root.post(`${path}/suspend`).send({ reason: NOTE }).expect(200);
  await root.post(`${path}/reinstate`).expect(200);
  await root.post(`${path}/revoke-sessions`).expect(200);
  return body.user.id;
}

beforeAll(async () => {
  provider = await startLyingProvider();
  app = await startOAuthApp({
    host: 'localhost',
    providers: () => [],
    config: {
      plugins: [
        ...everyPlugin({ sendsEmails: true, password: { unknownBrowser: 'notify' } }),
        oidcPlugin(provider),
      ],
      email: { send: mail.send },
      user: {
        fields: {
          nickname: { type: 'string' },
          rank: { type: 'string', input: 'none', output: 'admin' },
        },
      },
    } as never,
    mount: (server, auth) =>
      void server.set('trust proxy', true).use(overheard.middleware).use('/auth', authRouter(auth)),
  });
  const row = { ref: 'ada-in-the-previous-system', email: ADA, emailVerified: true };
  const { users } = await importUsers(app.auth, [row as never], { source: 'previous' });
  id = users[0]?.id ?? '';
  await app.auth.users.setPassword(id, PASSWORD);
  const [recoveryCode] = await useEverything();
  const stranger = await app.auth.users.create({ email: 'mallory@example.com', password: PASSWORD });
  others = [await administrate(), stranger.id];
  await startMore(recoveryCode);
  // An undo of a change by an intruder, with a detail of a later version of latchkey.
  const undone = { kind: 'email-changed', restoredEmail: ADA, removedEmail: 'mallory@example.com' };
  core().events.emit('account.recovered', { userId: id, ...undone, later: 'mallory@example.com' } as never);
  await settled(app.auth);
  for (const { token, url, code } of mail.mails) overheard.add(token, url, code);
  data = JSON.parse(JSON.stringify(await app.auth.exportUser(id)));
}, 60_000);
afterAll(async () => {
  await app.stop();
  await provider.stop();
});

/** The rows of the user in a table, as the database has them, without the event of the export itself. */
async function stored(table: string, by: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const found = await rows(app.database, `SELECT * FROM ${table} WHERE ${by} = :id`, { id });
  return found.filter(({ kind }) => kind !== 'user.exported');
}

const keysOf = (columns: Columns) => Object.keys(exportedColumns(columns)).map(snakeCase);

test('contains each row of each table that is exported, with all columns that are exported', async () => {
  const tables = exportedTables(core());
  expect(Object.keys(data)).toEqual(['exported_at', 'user', ...tables.map(({ rows }) => rows.as)]);
  for (const {
    declaration,
    rows: { as, by },
  } of tables) {
    const { name, columns } = declaration;
    const list = data[as] as readonly Readonly<Record<string, unknown>>[];
    const found = await stored(name, columnName(by, columns[by] as never));
    // The user has used every feature, so no list is empty.
    expect([as, list.length]).toEqual([as, found.length]);
    expect([as, found.length > 0]).toEqual([as, true]);
    for (const row of list) expect([as, Object.keys(row)]).toEqual([as, keysOf(columns)]);
    for (const [attribute, column] of Object.entries(exportedColumns(columns))) {
      if (column.kind !== 'text' && column.kind !== 'uuid') continue;
      const of = (key: string) => (one: Readonly<Record<string, unknown>>) => one[key];
      const values = found.map(of(columnName(attribute, column))).sort();
      // An administrator's IP address and browser are left out.
      const given = list.map(of(snakeCase(attribute))).sort();
      if (as === 'audit_events' && given.includes(null)) continue;
      expect([as, attribute, given]).toEqual([as, attribute, values]);
    }
  }
});

test('contains the account with the fields that the user sees', () => {
  expect(data.user).toMatchObject({
    id,
    email: ADA,
    username: 'ada',
    username_display: 'Ada',
    nickname: 'The Countess',
    suspended_at: null,
    second_factor_at: expect.stringMatching(/Z$/),
  });
  expect(Object.keys(data.user as object)).toEqual(keysOf(core().users.columns));
  expect(data.imports).toMatchObject([{ source: 'previous', ref: 'ada-in-the-previous-system' }]);
  expect(data.linked_accounts).toMatchObject([
    { provider: 'oidc', provider_account_id: 'ada-at-the-provider' },
  ]);
  expect(data.passkeys).toMatchObject([{ name: 'a phone' }]);
  expect(data.audit_events).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'sign_in.failed', ip_address: expect.any(String) }),
      expect.objectContaining({ kind: 'user.suspended', ip_address: null, user_agent: null, details: {} }),
      // The administrator has changed the rank too, which the user does not see.
      expect.objectContaining({ kind: 'user.updated', ip_address: null, details: { changed: ['nickname'] } }),
      expect.objectContaining({
        kind: 'account.recovered',
        details: { kind: 'email-changed', restored_email: ADA },
      }),
    ]),
  );
});

test('contains no secret, and nothing of other people', async () => {
  const text = JSON.stringify(data);
  const { declaration } = core().users;
  const tables = [declaration, ...exportedTables(core()).map(({ declaration }) => declaration)];
  for (const { name, columns } of tables)
    for (const [attribute, column] of Object.entries(columns)) {
      if (column.visibility !== 'secret' && column.kind !== 'digest') continue;
      expect([name, attribute, column.inExport]).toEqual([name, attribute, expect.any(String)]);
      for (const row of await rows(app.database, `SELECT * FROM ${name}`)) {
        const value = row[columnName(attribute, column)];
        for (const form of formsOf(value))
          expect([name, attribute, text.includes(form)]).toEqual([name, attribute, false]);
      }
    }
  // What the export shows of these is no secret.
  const shown = new Set(JSON.stringify([data.user, data.passkeys, data.linked_accounts]).match(/[^"]+/g));
  expect(overheard.secrets.size).toBeGreaterThan(50);
  expect([...overheard.secrets].filter((secret) => text.includes(secret) && !shown.has(secret))).toEqual([]);
  for (const other of [...others, ...Object.values(ROOT), 'mallory@example.com', NOTE, RANK])
    expect([other, text.includes(other)]).toEqual([other, false]);
});

/** The ways in which a value could be written. */
function formsOf(value: unknown): string[] {
  if (value === null) return [];
  if (Buffer.isBuffer(value))
    return (['hex', 'base64', 'base64url'] as const).map((form) => value.toString(form));
  return [String(value)];
}
