import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { admin, suspension } from '../../lib/index.js';
import { isPending } from '../../lib/sessions/signed-in.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { advance } from '../support/clock.js';
import { dialect, rows } from '../support/database.js';
import { lockWait } from '../support/lock-waits.js';
import { type SupportCode, supportCodesPlugin } from '../support/support-codes.js';

// A plugin's own codes, in a table that it has declared with `defineWaiting`.
const plugins = () =>
  [password(), admin({ adminEmails: ['root@example.com'] }), suspension(), supportCodesPlugin()] as const;
let app: SpecApp<ReturnType<typeof plugins>>;
let id: string;
beforeEach(async () => {
  app = await startApp({ plugins: plugins(), config: { accountDeletion: { graceDays: 7 } } });
  ({ id } = await app.auth.users.create({ ...ada, emailVerified: true }));
});
afterEach(() => app.stop());

const DEAD = { code: 'invalid_token' };
const signIn = (code: SupportCode) => app.auth.support.signIn(code);
const left = async () => (await rows(app.database, 'SELECT * FROM support_codes')).length;

describe('a code', () => {
  test('signs in once, of three at the same time', async () => {
    const code = await app.auth.support.issue(id);
    const all = await Promise.allSettled(Array.from({ length: 3 }, () => signIn(code)));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(signIn(code)).rejects.toMatchObject(DEAD);
    expect(await app.auth.listSessions(id)).toHaveLength(1);
  });

  test('is stored as a hash only', async () => {
    const { ticket, code } = await app.auth.support.issue(id);
    const stored = JSON.stringify(await rows(app.database, 'SELECT * FROM support_codes'));
    for (const secret of [ticket, code]) expect(stored).not.toContain(secret);
  });

  test('can be tried three times', async () => {
    const code = await app.auth.support.issue(id);
    const wrong = { ...code, code: 'wrong' };
    for (let time = 0; time < 3; time++)
      await expect(signIn(wrong)).rejects.toMatchObject({ code: 'invalid_credentials' });
    await expect(signIn(code)).rejects.toMatchObject(DEAD);
    expect(await left()).toBe(0);
  });

  test('expires, and prune deletes it', async () => {
    const code = await app.auth.support.issue(id);
    advance(app.auth, 599);
    expect(await app.auth.prune()).toBe(0);
    advance(app.auth, 1);
    await expect(signIn(code)).rejects.toMatchObject(DEAD);
    expect(await app.auth.prune()).toBe(1);
    expect(await left()).toBe(0);
  });
});

describe('does not survive', () => {
  type Auth = SpecApp<ReturnType<typeof plugins>>['auth'];
  test.each<[what: string, end: (auth: Auth) => Promise<unknown>]>([
    ['auth.revokeAllSessions', (auth) => auth.revokeAllSessions(id)],
    [
      'auth.revokeAllSessions except the current session',
      async (auth) => auth.revokeAllSessions(id, { except: (await auth.createSession(id)).session.id }),
    ],
    ['a new password', (auth) => auth.users.setPassword(id, 'a loom of cards')],
    [
      'a new password that keeps sessions',
      (auth) => auth.users.setPassword(id, 'a loom', { keepSessions: true, skipPasswordRules: true }),
    ],
    ['a password that must be replaced', (auth) => auth.users.requireNewPassword(id)],
    ['another email', (auth) => auth.users.changeEmail(id, 'other@example.com', { verified: true })],
    ['a suspension', (auth) => auth.suspension.suspend(id)],
    ['the deletion of the account', (auth) => auth.users.delete(id)],
  ])('%s', async (_what, end) => {
    const code = await app.auth.support.issue(id);
    await end(app.auth);
    await expect(signIn(code)).rejects.toMatchObject(DEAD);
  });

  test('a revocation between the code and its use', async () => {
    const found = await app.auth.support.find(await app.auth.support.issue(id));
    await app.auth.revokeAllSessions(id);
    const { database } = internalsOf(app.auth).core;
    const use = database.transaction((transaction) => app.auth.support.use(found, transaction));
    await expect(use).rejects.toMatchObject(DEAD);
  });

  test('a permanent deletion, which deletes it', async () => {
    await app.auth.support.issue(id);
    await app.auth.users.delete(id, { atOnce: true });
    expect(await left()).toBe(0);
  });
});

test('a revocation waits for a use that has begun, and ends what it has created', async () => {
  const found = await app.auth.support.find(await app.auth.support.issue(id));
  const { core } = internalsOf(app.auth);
  const checked = await core.checkSignIn({ ...found.record, amr: ['otp'] });
  const order: string[] = [];
  const revoked = { promise: Promise.resolve(0) };
  const signedIn = await core.database.transaction(async (transaction) => {
    const record = await app.auth.support.use(found, transaction);
    revoked.promise = app.auth.revokeAllSessions(id).finally(() => order.push('revoked'));
    // SQLite runs one transaction after the other.
    if (dialect !== 'sqlite') await lockWait(app.database);
    order.push('used');
    return checked.begin(record, transaction);
  });
  expect(await revoked.promise).toBe(1);
  expect(order).toEqual(['used', 'revoked']);
  const { token } = isPending(signedIn) ? { token: '' } : signedIn;
  await expect(app.auth.getSession({ headers: { cookie: `latchkey=${token}` } })).rejects.toMatchObject({
    code: 'invalid_session',
  });
});
