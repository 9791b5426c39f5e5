import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ada, SECRET } from '../support/app.js';
import type { Authenticator } from '../support/authenticator.js';
import { type CliProject, startProject } from '../support/cli.js';
import { rows } from '../support/database.js';
import { proveMailbox } from '../support/email-proof.js';
import { PAGE, signInWith } from '../support/passkeys.js';
import { codeOf, enroll, forgetSteps, wrongCode } from '../support/two-factor.js';
import {
  app,
  linked,
  mail as mails,
  NEW,
  newPerson,
  type Person,
  resetToken,
  startWays,
  stopWays,
  verificationToken,
  withPasskey,
} from '../support/ways-in.js';

/**
 * Every sentence of the docs about what a change removes is in one table, on docs/account.md. Each row is tried over HTTP on an
 * account that has one of everything, and each cell is compared with what is left.
 */
const HEADING = 'What each change removes';
const COLUMNS = [
  ...(['sessions', 'password', 'API keys', 'linked accounts', 'passkeys', 'second factor'] as const),
  ...(['trusted browsers', 'known browsers', 'emailed links', 'pending sign-ins'] as const),
];
type Column = (typeof COLUMNS)[number];
/** What has changed, in the words of the table. An empty text says that nothing has. */
type Left = Readonly<Record<Column, string>>;

interface Account extends Person {
  /** Another browser, which the user trusts. */
  readonly laptop: Person['browser'];
  readonly deviceIds: readonly [here: string, laptop: string];
  readonly key: string;
  readonly passkey: Authenticator;
  readonly passkeyId: string;
  readonly secret: string;
  /** The token of a sign-in that waits for the second factor. */
  readonly pendingToken: string;
  readonly links: Readonly<Record<'verification' | 'password' | 'new email', string>>;
}

interface Case {
  readonly act: (account: Account) => PromiseLike<unknown>;
  /**
   * How well the account's email is proven before. `never` says that no one has ever vouched for it, as if the second factor were
   * older than the option `email`.
   *
   * @default 'mailbox'
   */
  readonly proof?: 'mailbox' | 'app' | 'none' | 'never';
  /** Makes the account usable again. */
  readonly reopen?: (account: Account) => PromiseLike<unknown>;
}

const withoutPassword = ({ id }: Account) =>
  rows(app.database, 'UPDATE users SET password_hash = NULL WHERE id = :id', { id });
const password = ada.password;
const reinstate = ({ id }: Account) => app.auth.suspension.reinstate(id);
const restore = ({ id }: Account) => app.auth.users.restore(id);
const byReset = (browser: (account: Account) => Person['browser']): Case['act'] => {
  return (account) =>
    browser(account)
      .post('/auth/passwords/reset')
      .send({ token: account.links.password, new_password: NEW })
      .expect(204);
};
const here = ({ browser }: Account) => browser;
const elsewhere = () => app.browser();
const byEmailedCode =
  (browserOf: (account: Account) => Person['browser']): Case['act'] =>
  async (account) => {
    const browser = browserOf(account);
    const { code } = await mails.mailOf(account.email, 'sign-in-code', () =>
      browser.post('/auth/signin/email').send({ email: account.email }).expect(202),
    );
    await browser.post('/auth/signin/email/confirm').send({ code }).expect(200);
    await forgetSteps(app);
    await browser
      .post('/auth/signin/second-factor')
      .send({ method: 'totp', code: codeOf(account.secret) })
      .expect(200);
  };
const byAdmin =
  (what: string): Case['act'] =>
  async ({ id }) =>
    expect(
      (
        await app.http
          .post(`/auth/admin/users/${id}/${what}`)
          .set(await bearer(adminId))
          .send({})
      ).ok,
    ).toBe(true);
const byCommand =
  (command: string): Case['act'] =>
  async ({ id }) => {
    const environment = { DATABASE_URL: app.database.url, AUTH_SECRET: SECRET };
    const ended = await project.call(
      ['users', command, id],
      environment,
      command === 'set-password' ? `${NEW}\n` : '',
    );
    if (ended.code !== 0) throw new Error(ended.stderr);
  };

/** The changes, as the first column of the table names them. */
const CASES: Readonly<Record<string, Case>> = {
  'POST `/passwords/change`': {
    act: ({ browser }) =>
      browser
        .post('/auth/passwords/change')
        .send({ current_password: password, new_password: NEW })
        .expect(200),
  },
  'PUT `/passwords`': {
    async act(account) {
      await withoutPassword(account);
      await account.browser.put('/auth/passwords').send({ new_password: NEW }).expect(204);
    },
  },
  '`auth.credential.setPassword`': {
    async act(account) {
      await withoutPassword(account);
      await app.auth.credential.setPassword({ userId: account.id, newPassword: NEW });
    },
  },
  '`auth.credential.changePassword`': {
    act: ({ id }) =>
      app.auth.credential.changePassword({ userId: id, currentPassword: password, newPassword: NEW }),
  },
  'DELETE `/passwords`': { act: ({ browser }) => browser.delete('/auth/passwords').expect(204) },
  '`auth.credential.removePassword`': {
    act: ({ id }) => app.auth.credential.removePassword({ userId: id }),
  },
  '`auth.users.setPassword`': { act: ({ id }) => app.auth.users.setPassword(id, NEW) },
  '`users set-password`': { act: byCommand('set-password') },
  '`auth.users.requireNewPassword`': { act: ({ id }) => app.auth.users.requireNewPassword(id) },
  'POST `/admin/users/:id/require-new-password`': { act: byAdmin('require-new-password') },
  '`users require-new-password`': { act: byCommand('require-new-password') },
  'POST `/passwords/reset`, after the first proof': { act: byReset(here) },
  "POST `/passwords/reset` as the first proof, in the account's own browser": {
    act: byReset(here),
    proof: 'app',
  },
  'POST `/passwords/reset` as the first proof, elsewhere': { act: byReset(elsewhere), proof: 'app' },
  'the same, if no one has ever vouched for the address': { act: byReset(elsewhere), proof: 'never' },
  'POST `/signin/email/confirm`, after the first proof': { act: byEmailedCode(elsewhere) },
  "POST `/signin/email/confirm` as the first proof, in the account's own browser": {
    act: byEmailedCode(here),
    proof: 'app',
  },
  'POST `/signin/email/confirm` as the first proof, elsewhere': {
    act: byEmailedCode(elsewhere),
    proof: 'app',
  },
  'POST `/verify-email`': {
    act: ({ links }) =>
      app.http.post('/auth/verify-email').send({ token: links.verification, password }).expect(200),
    proof: 'none',
  },
  '`auth.markEmailVerified`': { act: ({ id }) => app.auth.markEmailVerified(id), proof: 'none' },
  '`users verify-email`': { act: byCommand('verify-email'), proof: 'none' },
  'POST `/email-changes/confirm`': {
    act: ({ browser, links }) =>
      browser.post('/auth/email-changes/confirm').send({ token: links['new email'] }).expect(200),
  },
  '`auth.users.changeEmail`': {
    act: ({ id, email }) => app.auth.users.changeEmail(id, `other.${email}`),
  },
  'POST `/two-factor/totp/confirm`': { act: ({ browser }) => enroll(browser) },
  'PUT `/two-factor/passkeys` with `on`': {
    act: ({ browser }) => browser.put('/auth/two-factor/passkeys').send({ on: true }).expect(200),
  },
  'DELETE `/two-factor/totp`': { act: ({ browser }) => browser.delete('/auth/two-factor/totp').expect(204) },
  '`auth.twoFactor.disable`': { act: ({ id }) => app.auth.twoFactor.disable(id) },
  'POST `/admin/users/:id/disable-second-factor`': { act: byAdmin('disable-second-factor') },
  '`users disable-second-factor`': { act: byCommand('disable-second-factor') },
  'POST `/two-factor/recovery-codes`': {
    act: ({ browser }) => browser.post('/auth/two-factor/recovery-codes').expect(200),
  },
  'DELETE `/passkeys/:id`': {
    act: ({ browser, passkeyId }) => browser.delete(`/auth/passkeys/${passkeyId}`).expect(204),
  },
  '`auth.passkeys.remove`': { act: ({ id, passkeyId }) => app.auth.passkeys.remove(id, passkeyId) },
  '`auth.oauth.unlink`': { act: ({ id }) => app.auth.oauth.unlink(id, 'oidc') },
  'DELETE `/oauth/:provider/unlink`': {
    act: ({ browser }) => browser.delete('/auth/oauth/oidc/unlink').expect(204),
  },
  'POST `/revoke-sessions` with `others`': {
    act: ({ browser }) => browser.post('/auth/revoke-sessions').send({ others: true }).expect(200),
  },
  'POST `/revoke-sessions`': { act: ({ browser }) => browser.post('/auth/revoke-sessions').expect(200) },
  '`auth.revokeAllSessions`': { act: ({ id }) => app.auth.revokeAllSessions(id) },
  'POST `/admin/users/:id/revoke-sessions`': { act: byAdmin('revoke-sessions') },
  '`users sign-out`': { act: byCommand('sign-out') },
  '`auth.suspension.suspend`': { act: ({ id }) => app.auth.suspension.suspend(id), reopen: reinstate },
  'POST `/admin/users/:id/suspend`': { act: byAdmin('suspend'), reopen: reinstate },
  '`users suspend`': { act: byCommand('suspend'), reopen: reinstate },
  'DELETE `/me` with a grace period, then `auth.users.restore`': {
    act: ({ browser }) => browser.delete('/auth/me').expect(204),
    reopen: restore,
  },
  '`auth.users.delete` with `atOnce`': { act: ({ id }) => app.auth.users.delete(id, { atOnce: true }) },
};

/** The rows of the table: what has changed after each change. */
const documented = new Map<string, Left>();
const section =
  readFileSync(new URL('../../docs/account.md', import.meta.url), 'utf8').split(`## ${HEADING}\n`)[1] ?? '';
const [head = '', , ...lines] = section.split('\n## ')[0]?.match(/^\|.*$/gm) ?? [];
for (const line of lines) {
  const [changes = '', ...cells] = cellsOf(line);
  const left = Object.fromEntries(COLUMNS.map((column, at) => [column, cells[at] ?? ''])) as Left;
  for (const change of changes.split('; ')) documented.set(change, left);
}

function cellsOf(line: string): string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
}

const CONFIG = `import { admin, apiKeys, createAuth, credentialPassword, oauth, passkeys, suspension, twoFactor } from 'latchkey';
  import { oidc } from 'latchkey/providers';
  export const auth = createAuth({
    database: process.env.DATABASE_URL,
    secret: process.env.AUTH_SECRET,
    baseUrl: '${PAGE}',
    email: { send: () => undefined },
    plugins: [
      credentialPassword({ username: true, bcryptCost: 4 }), admin({ adminEmails: ['root@example.com'] }), twoFactor({ trustDevices: { days: 30 } }),
      apiKeys(), passkeys(), suspension(), oauth(), oidc({ id: 'oidc', issuer: 'https://id.example.com', clientId: 'id', clientSecret: 's' }),
    ],
  });`;

let project: CliProject;
let adminId: string;

beforeAll(async () => {
  const options = { verifyEmailBy: 'password', resetBy: 'link', unknownBrowser: 'notify' } as const;
  project = await startProject();
  await project.write({ 'package.json': '{ "type": "module" }', 'latchkey.config.mjs': CONFIG });
  await startWays(options, { accountDeletion: { graceDays: 30 } });
  adminId = (await app.auth.users.create({ email: 'root@example.com', emailVerified: true })).id;
}, 180_000);
afterAll(async () => {
  await stopWays();
  await project.remove();
});

const bearer = async (id: string) => ({
  authorization: `Bearer ${(await app.auth.createSession(id)).token}`,
});

/** Creates an account that has one of everything that a change can remove. */
async function newAccount(proof: Case['proof']): Promise<Account> {
  const person = await newPerson();
  const { id, email, browser } = person;
  await linked(person);
  const passkey = await withPasskey(person);
  const { secret } = await enroll(browser);
  await forgetSteps(app);
  const laptop = app.browser();
  await laptop.post('/auth/signin/credential').send({ credential: email, password }).expect(200);
  await laptop
    .post('/auth/signin/second-factor')
    .send({ method: 'totp', code: codeOf(secret), trust_device: true })
    .expect(200);
  await forgetSteps(app);
  const begun = await app.http.post('/auth/signin/credential').send({ credential: email, password });
  const { key } = (await browser.post('/auth/api-keys').send({ name: 'program' }).expect(201)).body;
  const [{ id: passkeyId }] = (await browser.get('/auth/passkeys').expect(200)).body.passkeys;
  const [inLaptop, inBrowser] = await Promise.all([laptop, browser].map(deviceIdIn));
  const verification = await verificationToken(person);
  const reset = await resetToken(person);
  const change = await mails.mailOf(`new.${email}`, 'verify-new-email', () =>
    browser
      .post('/auth/email-changes')
      .send({ new_email: `new.${email}` })
      .expect(202),
  );
  if (proof === undefined || proof === 'mailbox') await proveMailbox(app.auth, id);
  if (proof === 'none' || proof === 'never')
    await rows(
      app.database,
      `UPDATE users SET email_proof = 'none', email_verified_at = NULL${
        proof === 'never' ? ', email_vouched_at = NULL' : ''
      } WHERE id = :id`,
      { id },
    );
  return {
    ...person,
    laptop,
    deviceIds: [inBrowser ?? '', inLaptop ?? ''],
    key,
    passkey,
    passkeyId,
    secret,
    pendingToken: begun.body.second_factor.pending_token,
    links: { verification, password: reset, 'new email': change.token },
  };
}

async function deviceIdIn(browser: Person['browser']): Promise<string> {
  const { devices } = (await browser.get('/auth/devices').expect(200)).body;
  return devices.find(({ current }: { current: boolean }) => current).id;
}

/** Compares an account with what it had. */
async function changesOf(account: Account): Promise<Left> {
  const { id, browser, laptop, deviceIds, key, passkey } = account;
  const isActive = async (one: Person['browser']) => (await one.get('/auth/me')).status === 200;
  const ended = await endedLinks(account);
  const left = {
    sessions: wordOf([await isActive(browser), await isActive(laptop)], 'others end', 'end'),
    'API keys':
      (await app.http.get('/auth/me').set('x-service-api-key', key)).status === 401 ? 'removed' : '',
    passkeys: (await signInWith(app.browser(), passkey)).status === 401 ? 'removed' : '',
    'emailed links': ended.length === 3 ? 'all' : ended.join(', '),
    'pending sign-ins': (await isPending(account)) ? '' : 'end',
  };
  const user = await app.auth.users.get(id);
  if (!user) {
    for (const table of ['accounts', 'known_devices', 'totp_secrets'])
      expect(await rows(app.database, `SELECT * FROM ${table} WHERE user_id = :id`, { id })).toEqual([]);
    const others = { password: 'removed', 'linked accounts': 'removed', 'second factor': 'removed' };
    return { ...left, ...others, 'trusted browsers': 'end', 'known browsers': 'forgotten' };
  }
  const session = await bearer(id);
  const get = async (path: string) => (await app.http.get(`/auth${path}`).set(session).expect(200)).body;
  const devices: { id: string; trusted_until: string | null }[] = (await get('/devices')).devices;
  const isKnown = deviceIds.map((one) => devices.some((device) => device.id === one));
  const methods = await get('/sign-in-methods');
  return {
    ...left,
    password: await passwordAfter(`${user.email}`, methods.password),
    'linked accounts': methods.providers.includes('oidc') ? '' : 'removed',
    'second factor': (await get('/two-factor')).totp ? await factorAfter(account, session) : 'removed',
    'trusted browsers': devices.some((device) => device.trusted_until !== null) ? '' : 'end',
    'known browsers': wordOf(isKnown, 'others forgotten', 'forgotten'),
  };
}

/** @param stays whether it stays in the browser that makes the change, and in the other one */
function wordOf(stays: readonly boolean[], others: string, all: string): string {
  const words: Readonly<Record<string, string>> = {
    'true,true': '',
    'true,false': others,
    'false,false': all,
  };
  return words[stays.join()] ?? stays.join();
}

/** Tries each link with a request that uses nothing up. */
async function endedLinks({ links }: Account): Promise<string[]> {
  const tries = {
    verification: ['/verify-email', {}, 401],
    password: ['/passwords/reset', { new_password: 'short' }, 422],
    'new email': ['/email-changes/confirm', {}, 401],
  } as const;
  const ended: string[] = [];
  for (const [what, [path, body, status]] of Object.entries(tries)) {
    const token = links[what as keyof typeof links];
    const answer = await app.http.post(`/auth${path}`).send({ ...body, token });
    expect([what, status, 'invalid_token']).toContain(answer.status === status ? status : answer.body.code);
    if (answer.status !== status) ended.push(what);
  }
  return ended;
}

/** Tries a pending sign-in with a wrong code, which it survives. */
async function isPending({ pendingToken: pending_token, secret }: Account): Promise<boolean> {
  const step = { method: 'totp', code: wrongCode(secret), pending_token };
  const { code } = (await app.http.post('/auth/signin/second-factor').send(step)).body;
  expect(['invalid_code', 'sign_in_expired']).toContain(code);
  return code === 'invalid_code';
}

async function passwordAfter(credential: string, hasPassword: boolean): Promise<string> {
  const { code } = (await app.http.post('/auth/signin/credential').send({ credential, password })).body;
  if (code === undefined) return '';
  if (code === 'new_password_required') return 'invalid';
  expect(code).toBe('invalid_credentials');
  return hasPassword ? 'new' : 'removed';
}

/** @param session headers with a session of the account */
async function factorAfter({ secret }: Account, session: Record<string, string>): Promise<string> {
  await forgetSteps(app);
  const answer = await app.http
    .post('/auth/reauthenticate')
    .set(session)
    .send({ code: codeOf(secret) });
  await forgetSteps(app);
  if (answer.status === 204) return '';
  expect(answer.body.code).toBe('invalid_code');
  return 'new';
}

describe(`docs/account.md, "${HEADING}"`, () => {
  test('the table has the columns and the changes that are tried here, and no others', () => {
    expect(cellsOf(head)).toEqual(['change', ...COLUMNS]);
    expect([...documented.keys()].sort()).toEqual(Object.keys(CASES).sort());
  });

  test.each(Object.keys(CASES))('%s', async (change) => {
    const { act, proof, reopen } = CASES[change] as Case;
    const account = await newAccount(proof);
    expect(Object.values(await changesOf(account)).join('')).toBe('');
    await act(account);
    await reopen?.(account);
    expect(await changesOf(account)).toEqual(documented.get(change));
  });
});
