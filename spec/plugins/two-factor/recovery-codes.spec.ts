import { hash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { queueHash, waitingHashes } from '../../../lib/crypto/hash-queue.js';
import { type SlowValue, slowDigests } from '../../../lib/crypto/slow-digest.js';
import { digestToken } from '../../../lib/crypto/token.js';
import { createAuth, twoFactor } from '../../../lib/index.js';
import { ada, password, SECRET, type SpecApp, startApp } from '../../support/app.js';
import { setLimits } from '../../support/limits.js';
import { expectProblem } from '../../support/problem.js';
import { firstStep, secondStep, withSecondFactor } from '../../support/two-factor.js';
import { until } from '../../support/until.js';

const plugins = [password(), twoFactor()] as const;
let app: SpecApp<typeof plugins>;
beforeAll(async () => {
  app = await startApp({ plugins });
});
afterAll(() => app.stop());

let people = 0;
/** Creates a user with a second factor, and codes. */
const owner = async () => {
  const person = { ...ada, email: `owner-${people++}@example.com` };
  const { browser, recoveryCodes, userId } = await withSecondFactor(app, person);
  return { browser, person, recoveryCodes, userId };
};
const stored = async (userId: string) =>
  (
    (await app.auth.models.RecoveryCode.unscoped().findAll({ where: { userId } })) as { codeHash?: unknown }[]
  ).map(({ codeHash }) => Buffer.from(codeHash as Buffer).toString('hex'));
const plain = (code: string) => code.replaceAll('-', '');
/** The second step of a sign-in with a recovery code. */
const signIn = async (person: typeof ada, code: string) => {
  const browser = app.browser();
  await firstStep(browser, person).expect(200);
  return secondStep(browser, { method: 'recovery_code', code });
};

/** The slow hash of one value. */
const slowDigest = async (value: string, options: Omit<SlowValue, 'value'>) =>
  (await slowDigests([{ value, ...options }], ''))[0] as Buffer;

describe('recovery codes', () => {
  test('are stored as slow hashes, with the user as the salt', async () => {
    const { recoveryCodes, userId: id } = await owner();
    const hashes = await stored(id);
    expect(hashes).toHaveLength(10);
    const slow = (code: string, userId: string) =>
      slowDigest(plain(code), { salt: `latchkey recovery codes ${userId}`, cost: 4 });
    for (const code of recoveryCodes) {
      expect(hashes).toContain((await slow(code, id)).toString('hex'));
      expect(hashes).not.toContain((await slow(code, `${id}x`)).toString('hex'));
      expect(hashes).not.toContain(hash('sha256', plain(code)));
    }
  });

  test('of earlier versions, with 24 characters, still work once', async () => {
    const { person, userId } = await owner();
    const code = 'dyx0-ygcz-9j68-4f7k-92mx-1rde';
    await app.auth.models.RecoveryCode.create({
      codeHash: digestToken(plain(code)),
      userId,
      usedAt: null,
    } as never);
    expect((await signIn(person, code.toUpperCase().replaceAll('0', 'o'))).status).toBe(200);
    expectProblem(await signIn(person, code), 401, 'invalid_code');
  });

  test('still work after the cost of passwords has changed, in both directions', async () => {
    const { person, recoveryCodes, userId } = await owner();
    const other = createAuth({
      database: app.database.url,
      secret: SECRET,
      plugins: [password({ bcryptCost: 10 }), twoFactor()],
      rateLimit: false,
      outbox: { interval: false },
    });
    try {
      const signedIn = await other.credential.signIn({
        credential: person.email,
        password: person.password,
      });
      if (!('secondFactor' in signedIn)) throw new Error('a session');
      const { pendingToken } = signedIn.secondFactor;
      const [code = ''] = recoveryCodes;
      const { session } = await other.completeSignIn({ pendingToken, method: 'recovery_code', code });
      expect(session.aal).toBe(2);
      const [renewed = ''] = await other.twoFactor.renewRecoveryCodes({ userId, sessionId: session.id });
      expect((await signIn(person, renewed)).status).toBe(200);
    } finally {
      await other.close();
    }
  });

  test('are hashed in one turn of the queue', async () => {
    const { browser } = await owner();
    const ends: (() => void)[] = [];
    let begun = 0;
    const work = () =>
      new Promise<void>((resolve) => {
        begun++;
        ends.push(resolve);
      });
    // Occupy all slots, and one place in the queue.
    const others: Promise<void>[] = [];
    while (waitingHashes() === 0) others.push(queueHash(work, 'others'));
    const renewed = browser.post('/auth/two-factor/recovery-codes').then(({ body }) => body);
    await until(() => waitingHashes() === 2);
    others.push(queueHash(work, 'others'));
    try {
      // The first free slot passes to the others, and the second one to the codes. The others wait for the third one.
      for (let free = 0; free < 2; free++) ends.shift()?.();
      await until(() => begun === others.length);
      expect(waitingHashes()).toBe(0);
    } finally {
      for (let left = 1; left > 0; left = ends.length + waitingHashes()) {
        ends.shift()?.();
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    expect((await renewed).recovery_codes).toHaveLength(10);
    await Promise.all(others);
  });

  test('of one user are not accepted for another', async () => {
    const [other, { person }] = [await owner(), await owner()];
    expectProblem(await signIn(person, other.recoveryCodes[0] ?? ''), 401, 'invalid_code');
  });

  test.each(['0000-0000-0000', '4f7k-92mx', 'u'.repeat(12), randomBytes(40).toString('hex'), '💥'])(
    'reject %j',
    async (code) => {
      const { person } = await owner();
      expectProblem(await signIn(person, code), 401, 'invalid_code');
    },
  );
});

test('new codes are limited for each account, because they cost slow hashes', async () => {
  const limited = await startApp({ plugins, config: { rateLimit: { signIn: false, signUp: false } } });
  try {
    setLimits(limited.auth, { recoveryCodes: { limit: 3, window: 60 } });
    // Confirming the app counts too.
    const { browser } = await withSecondFactor(limited);
    const renew = () => browser.post('/auth/two-factor/recovery-codes');
    for (const status of [200, 200]) await renew().expect(status);
    const refused = await renew();
    expectProblem(refused, 429, 'rate_limited');
    expect(refused.headers['ratelimit-policy']).toBe('"recoveryCodes";q=3;w=60');
    await withSecondFactor(limited, { ...ada, email: 'other@example.com' });
  } finally {
    await limited.stop();
  }
});

describe('slowDigest', () => {
  const options = { salt: 'a', cost: 4 };

  test('is the same for the same value, salt and cost, and for no other', async () => {
    const digests = await Promise.all([
      slowDigest('value', options),
      slowDigest('value', options),
      slowDigest('valuf', options),
      slowDigest('value', { ...options, salt: 'b' }),
      slowDigest('value', { ...options, cost: 5 }),
    ]);
    expect(digests.map((one) => one.length)).toEqual([32, 32, 32, 32, 32]);
    expect(new Set(digests.map(String)).size).toBe(4);
    expect(digests[0]).toEqual(digests[1]);
  });

  test('passes bcrypt a salt that it accepts as it is', async () => {
    const { default: bcrypt } = await import('bcrypt');
    // bcrypt('value') at cost 4 with the first 16 bytes of SHA-256('a') as the salt.
    const salt = hash('sha256', 'a', 'buffer').subarray(0, 16);
    const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
    let bits = BigInt(`0x${salt.toString('hex')}`) << 4n;
    let encoded = '';
    for (let index = 0; index < 22; index++, bits >>= 6n) encoded = alphabet[Number(bits & 63n)] + encoded;
    const whole = await bcrypt.hash('value', `$2b$04$${encoded}`);
    expect(whole.slice(0, 29)).toBe(`$2b$04$${encoded}`);
    expect(await slowDigest('value', options)).toEqual(hash('sha256', whole, 'buffer'));
  });

  test('refuses a value that bcrypt would cut', async () => {
    await expect(slowDigest('x'.repeat(73), options)).rejects.toThrow(TypeError);
  });
});
