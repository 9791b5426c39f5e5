import { createHash, pbkdf2Sync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import { bcryptHash } from '../../lib/crypto/own-hash.js';
import { PasswordHasher } from '../../lib/crypto/password.js';

const withBcrypt = (cost: number) => new PasswordHasher(bcryptHash(cost));
const hasher = withBcrypt(4);

describe('PasswordHasher', () => {
  test('stores its scheme and cost, and a different salt each time', async () => {
    const [first, second] = await Promise.all([hasher.hash('engine'), hasher.hash('engine')]);
    expect(first).toMatch(/^\$bcrypt-hmac-sha384\$2b\$04\$[./A-Za-z0-9]{53}$/);
    expect(first).not.toBe(second);
    for (const stored of [first, second])
      expect(await hasher.verify('engine', stored as string)).toEqual({ matches: true, outdated: false });
  });

  test.each([
    ['bytes after the first 72', `${'x'.repeat(72)}one`, `${'x'.repeat(72)}two`],
    ['characters after a NUL', 'before\0after', 'before\0other'],
    ['a NUL itself', 'before', 'before\0'],
    ['letter case', 'engine', 'Engine'],
    ['spaces', 'engine', 'engine '],
    ['compatibility characters', 'ﬁnally', 'finally'],
  ])('distinguishes passwords that differ in: %s', async (_name, password, other) => {
    const stored = await hasher.hash(password);
    expect((await hasher.verify(password, stored)).matches).toBe(true);
    expect((await hasher.verify(other, stored)).matches).toBe(false);
  });

  test('accepts a password with composed or decomposed accents', async () => {
    const stored = await hasher.hash('crème'.normalize('NFD'));
    expect((await hasher.verify('crème'.normalize('NFC'), stored)).matches).toBe(true);
  });

  test('is not plain bcrypt of the password or of its SHA-384', async () => {
    const stored = (await hasher.hash('engine')).replace('$bcrypt-hmac-sha384', '');
    expect(await bcrypt.compare('engine', stored)).toBe(false);
    const digest = createHash('sha384').update('engine').digest('base64');
    expect(await bcrypt.compare(digest, stored)).toBe(false);
  });

  test('reports a hash with a lower cost as outdated if it matches, and never one with a higher cost', async () => {
    const dearer = withBcrypt(6);
    const cheap = await hasher.hash('engine');
    expect(await dearer.verify('engine', cheap)).toEqual({ matches: true, outdated: true });
    expect(await dearer.verify('wrong', cheap)).toEqual({ matches: false, outdated: false });
    expect(await hasher.verify('engine', await dearer.hash('engine'))).toEqual({
      matches: true,
      outdated: false,
    });
  });

  test.each([
    null,
    '',
    'junk',
    '$bcrypt-hmac-sha384',
    '$bcrypt-hmac-sha384$2b$99$x',
    '$bcrypt-hmac-sha384$2a$04$x',
    `$2b$04$${'.'.repeat(53)}`,
  ])('matches no password if the stored hash is %j', async (stored) => {
    for (const password of ['', 'engine', stored ?? 'null'])
      expect(await hasher.verify(password, stored)).toEqual({ matches: false, outdated: false });
  });

  test('takes the same time to fail for any stored hash', async () => {
    const today = withBcrypt(8);
    // It takes next to nothing, so that nearly all of the work is filled up, however busy the machine is when it is measured.
    const derived = pbkdf2Sync('engine', 'salt', 1, 32, 'sha256').toString('base64');
    const stored = [
      await today.hash('engine'),
      await withBcrypt(6).hash('engine'),
      await bcrypt.hash('engine', 8),
      `pbkdf2_sha256$1$salt$${derived}`,
      null,
      'junk',
    ];
    // The limit is generous because of what else the process does. A failure without a hash would be near 0, and one that
    // computes a hash of ours beside an imported one near 0.5.
    expect(await leastRatio(today, stored)).toBeGreaterThan(0.6);
  });

  test('takes the same time to fail after the cost was lowered, once it has learned what hashes there are', async () => {
    const lowered = withBcrypt(4);
    const stored = [
      await withBcrypt(8).hash('engine'),
      await bcrypt.hash('engine', 7),
      await lowered.hash('engine'),
      null,
    ];
    await lowered.learn(stored.filter((one) => one !== null));
    expect(await leastRatio(lowered, stored)).toBeGreaterThan(0.6);
  });
});

/**
 * The typical CPU time of a failure with each of the hashes, and how far the least of these is from the most. Of all threads
 * of the process, and not the time that passes, which depends on what else runs on the machine.
 */
async function leastRatio(hasher: PasswordHasher, stored: readonly (string | null)[]): Promise<number> {
  const times = stored.map(() => [] as number[]);
  for (let round = 0; round < 15; round++) {
    for (const [index, one] of stored.entries()) {
      const before = process.cpuUsage();
      expect(await hasher.verify('wrong', one)).toEqual({ matches: false, outdated: false });
      const { user, system } = process.cpuUsage(before);
      times[index]?.push(user + system);
    }
  }
  const typical = times.map((one) => one.sort((a, b) => a - b)[7] as number);
  return Math.min(...typical) / Math.max(...typical);
}
