import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AuthEvents, passkeys, twoFactor } from '../../../lib/index.js';
import { PASSKEY_REFUSAL_REASONS } from '../../../lib/outbox/events.js';
import { logEveryLine, password, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { type Authenticator, base64url, type Lies } from '../../support/authenticator.js';
import { rows } from '../../support/database.js';
import { addPasskey, authenticator, optionsOf, PAGE, signInWith } from '../../support/passkeys.js';
import { expectProblem } from '../../support/problem.js';
import { firstStep, secondStep } from '../../support/two-factor.js';

const plugins = [password(), passkeys(), twoFactor()] as const;
let app: SpecApp<typeof plugins>;
let owner: Awaited<ReturnType<typeof signedIn>>;
let person: { email: string; password: string };
let userId: string;
const failed: AuthEvents['sign_in.failed'][] = [];
beforeAll(async () => {
  app = await startApp({ plugins, config: { baseUrl: PAGE } });
  logEveryLine(app.auth);
  app.auth.on('sign_in.failed', (event) => failed.push(event));
});
afterAll(() => app.stop());
let count = 0;
beforeEach(async () => {
  person = { email: `ada-${count++}@example.com`, password: 'an analytical engine' };
  owner = await signedIn(app, person);
  userId = (await owner.get('/auth/me')).body.user.id;
});
afterEach(() => {
  failed.length = 0;
  app.log.length = 0;
});

const stored = async () => {
  const sql = 'SELECT device_type, backed_up, counter FROM passkeys WHERE user_id = :userId';
  const [row] = await rows<{ device_type: string; backed_up: unknown; counter: unknown }>(app.database, sql, {
    userId,
  });
  return { type: row?.device_type, backedUp: Boolean(row?.backed_up), counter: Number(row?.counter) };
};
const added = async (options: Parameters<typeof authenticator>[0]) => {
  const device = authenticator(options);
  await addPasskey(owner, device);
  return device;
};
const use = (device: Authenticator, lies: Lies = {}) => signInWith(app.browser(), device, { lies });
const amrOf = ({ body }: { body: { session: { amr?: string[] } } }) => body.session.amr;

describe('a passkey that can be copied by now', () => {
  test('signs in, and is stored as such', async () => {
    const device = await added({ backupEligible: false });
    expect(await stored()).toMatchObject({ type: 'singleDevice', backedUp: false });
    expect((await use(device)).status).toBe(200);
    // Before its first sync.
    const first = await use(device, { backupEligible: true, backedUp: false });
    expect([first.status, amrOf(first)]).toEqual([200, ['swk', 'user', 'mfa']]);
    expect(await stored()).toMatchObject({ type: 'multiDevice', backedUp: false });
    expect((await use(device, { backupEligible: true, backedUp: true })).status).toBe(200);
    expect(await stored()).toMatchObject({ type: 'multiDevice', backedUp: true });
  });

  test('never becomes one that cannot be copied', async () => {
    const device = await added({ backupEligible: false });
    expect((await use(device, { backupEligible: true })).status).toBe(200);
    expectProblem(await use(device), 401, 'invalid_passkey');
    expect(failed).toMatchObject([{ userId, reason: 'backup' }]);
    expect(await stored()).toMatchObject({ type: 'multiDevice' });
  });

  test('must still count, as long as it is stored as one that cannot be copied', async () => {
    const device = await added({ backupEligible: false, counter: 7 });
    expectProblem(await use(device, { backupEligible: true, counter: 7 }), 401, 'invalid_passkey');
    expect(failed).toMatchObject([{ userId, reason: 'counter' }]);
    expect(await stored()).toMatchObject({ type: 'singleDevice' });
    expect((await use(device, { backupEligible: true, counter: 8 })).status).toBe(200);
  });
});

describe('a counter that goes back', () => {
  test.each([9, 8, 0])('to %i is a copy of a passkey that cannot be copied', async (counter) => {
    const device = await added({ backupEligible: false, counter: 1 });
    expect((await use(device, { counter: 9 })).status).toBe(200);
    expectProblem(await use(device, { counter }), 401, 'invalid_passkey');
    expect(failed).toMatchObject([{ userId, reason: 'counter' }]);
    expect(await stored()).toMatchObject({ counter: 9 });
  });

  test.each([9, 8, 0])('to %i is told of a synced passkey, which signs in', async (counter) => {
    const device = await added({ counter: 1 });
    expect((await use(device, { counter: 9 })).status).toBe(200);
    const told = () => app.log.filter((line) => line.includes('counter of a synced passkey'));
    expect(told()).toEqual([]);
    expect((await use(device, { counter })).status).toBe(200);
    expect(failed).toEqual([]);
    expect(await stored()).toMatchObject({ counter: 9 });
    expect(told()).toEqual([expect.stringMatching(new RegExp(`^warn .*${userId}`))]);
  });
});

describe('a refusal has its reason in the log and in the event, and not in the response', () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const CASES: readonly [reason: (typeof PASSKEY_REFUSAL_REASONS)[number], Lies][] = [
    ['unknown', { id: base64url(Buffer.alloc(32)), rawId: base64url(Buffer.alloc(32)) }],
    ['owner', { userHandle: randomBytes(32) }],
    ['origin', { origin: 'http://localhost:3001' }],
    ['origin', { rpId: 'example.com' }],
    ['origin', { crossOrigin: true }],
    ['user_verification', { userVerified: false }],
    ['signature', { signingKey: other }],
    ['backup', { backupEligible: false }],
    ['malformed', { trailing: Buffer.from([0]) }],
    ['malformed', { credentialType: 'password' }],
  ];
  const logged = () => app.log.filter((line) => line.includes('a passkey was refused'));

  test.each(CASES)('%s, for %j', async (reason, lies) => {
    const answer = await use(await added({}), lies);
    expect([answer.status, answer.text.includes(reason)]).toEqual([401, reason === 'unknown']);
    expect(failed).toMatchObject([{ reason }]);
    expect(logged()).toEqual([expect.stringMatching(new RegExp(`^warn .*refused: ${reason}`))]);
  });

  test('challenge and browser, which are only logged, because they cost an attacker nothing', async () => {
    const device = await added({});
    const browser = app.browser();
    const response = device.get(await optionsOf(browser, '/signin/passkey/options'));
    await browser.post('/auth/signin/passkey').send({ response }).expect(200);
    expectProblem(await browser.post('/auth/signin/passkey').send({ response }), 401, 'invalid_passkey');
    expectProblem(await app.http.post('/auth/signin/passkey').send({ response }), 401, 'invalid_passkey');
    expect(failed).toEqual([]);
    expect(logged()).toEqual([
      expect.stringContaining('refused: challenge'),
      expect.stringContaining('refused: browser'),
    ]);
  });

  test('in the second step of a sign-in too', async () => {
    const device = await added({});
    await owner.put('/auth/two-factor/passkeys').send({ on: true }).expect(200);
    const browser = app.browser();
    await firstStep(browser, person).expect(200);
    const options = await optionsOf(browser, '/signin/second-factor/options');
    const response = device.get(options, { userVerified: false });
    expectProblem(await secondStep(browser, { method: 'passkey', response }), 401, 'invalid_passkey');
    expect(failed).toMatchObject([{ userId, reason: 'user_verification' }]);
  });

  test('the reasons are those of docs/events.md', () => {
    const [, row = ''] =
      /^(\| `sign_in\.failed` .*)$/m.exec(
        readFileSync(new URL('../../../docs/events.md', import.meta.url), 'utf8'),
      ) ?? [];
    for (const reason of PASSKEY_REFUSAL_REASONS) expect(row).toContain(`\`${reason}\``);
    const tried = new Set<string>([...CASES.map(([reason]) => reason), 'challenge', 'browser', 'counter']);
    expect([...tried].sort()).toEqual([...PASSKEY_REFUSAL_REASONS].sort());
  });
});
