import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import { PasswordHasher } from '../../lib/crypto/password.js';

const hasher = new PasswordHasher(4);

describe('PasswordHasher', () => {
  test('stores its scheme and cost, and another salt each time', async () => {
    const [first, second] = await Promise.all([hasher.hash('engine'), hasher.hash('engine')]);
    expect(first).toMatch(/^\$bcrypt-hmac-sha384\$2b\$04\$[./A-Za-z0-9]{53}$/);
    expect(first).not.toBe(second);
    for (const stored of [first, second])
      expect(await hasher.verify('engine', stored as string)).toEqual({ matches: true, outdated: false });
  });

  test.each([
    ['beyond 72 bytes', `${'x'.repeat(72)}one`, `${'x'.repeat(72)}two`],
    ['behind a NUL', 'before\0after', 'before\0other'],
    ['a NUL itself', 'before', 'before\0'],
    ['letter case', 'engine', 'Engine'],
    ['spaces', 'engine', 'engine '],
    ['compatibility characters', 'ﬁnally', 'finally'],
  ])('%s counts', async (_name, password, other) => {
    const stored = await hasher.hash(password);
    expect((await hasher.verify(password, stored)).matches).toBe(true);
    expect((await hasher.verify(other, stored)).matches).toBe(false);
  });

  test('takes a password however its accents are composed', async () => {
    const stored = await hasher.hash('crème'.normalize('NFD'));
    expect((await hasher.verify('crème'.normalize('NFC'), stored)).matches).toBe(true);
  });

  test('is no plain bcrypt of the password, nor of its SHA-384', async () => {
    const stored = (await hasher.hash('engine')).replace('$bcrypt-hmac-sha384', '');
    expect(await bcrypt.compare('engine', stored)).toBe(false);
    const digest = createHash('sha384').update('engine').digest('base64');
    expect(await bcrypt.compare(digest, stored)).toBe(false);
  });

  test('finds a hash of a lower cost outdated where it matches, and one of a higher never', async () => {
    const dearer = new PasswordHasher(6);
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
  ])('matches nothing with %j in its place', async (stored) => {
    for (const password of ['', 'engine', stored ?? 'null'])
      expect(await hasher.verify(password, stored)).toEqual({ matches: false, outdated: false });
  });

  test('takes as long to fail whatever is stored', async () => {
    const today = new PasswordHasher(9);
    const stored = [await today.hash('engine'), await new PasswordHasher(6).hash('engine'), null, 'junk'];
    const times = stored.map(() => [] as number[]);
    for (let round = 0; round < 7; round++) {
      for (const [index, one] of stored.entries()) {
        const started = performance.now();
        await today.verify('wrong', one);
        times[index]?.push(performance.now() - started);
      }
    }
    // Generous, for a machine that is busy with other specs: a failure that hashed nothing would be near 0.
    const fastest = times.map((one) => Math.min(...one));
    expect(Math.min(...fastest) / Math.max(...fastest)).toBeGreaterThan(0.7);
  });
});
