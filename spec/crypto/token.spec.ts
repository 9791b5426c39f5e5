import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { createToken, digestToken, isWellFormedToken } from '../../lib/crypto/token.js';

describe('a token', () => {
  test('consists of a prefix, 32 random bytes and a checksum', () => {
    const token = createToken('lks_');
    expect(token).toMatch(/^lks_[A-Za-z0-9_-]{48}$/);
    expect(isWellFormedToken('lks_', token)).toBe(true);
    expect(isWellFormedToken('lkk_', token)).toBe(false);
    expect(isWellFormedToken('lkk_', `lkk_${token.slice(4)}`)).toBe(false);
  });

  test('is never the same twice, and every bit varies', () => {
    const tokens = Array.from({ length: 500 }, () => createToken(''));
    expect(new Set(tokens).size).toBe(500);
    const bytes = tokens.map((token) => Buffer.from(token, 'base64url').subarray(0, 32));
    for (let bit = 0; bit < 256; bit++) {
      const ones = bytes.filter((one) => ((one[bit >> 3] ?? 0) >> (bit & 7)) & 1).length;
      expect(ones).toBeGreaterThan(150);
      expect(ones).toBeLessThan(350);
    }
  });

  test('is rejected if any single character is changed', () => {
    const token = createToken('lks_');
    for (let place = 4; place < token.length; place++) {
      const other = token[place] === 'A' ? 'B' : 'A';
      expect(isWellFormedToken('lks_', token.slice(0, place) + other + token.slice(place + 1))).toBe(false);
    }
  });

  test.each([
    ['shorter', (token: string) => token.slice(0, -1)],
    ['longer', (token: string) => `${token}A`],
    [
      'in plain base64',
      (token: string) => `lks_${Buffer.from(token.slice(4), 'base64url').toString('base64')}=`,
    ],
    ['with a newline', (token: string) => `${token}\n`],
    ['with a space before it', (token: string) => ` ${token}`],
    ['in upper case', (token: string) => token.toUpperCase()],
    ['repeated', (token: string) => token + token],
    ['empty', () => ''],
    ['only a prefix', () => 'lks_'],
    ['very long', () => `lks_${'A'.repeat(1_000_000)}`],
  ])('is rejected if it is malformed: %s', (_name, mangle) => {
    expect(isWellFormedToken('lks_', mangle(createToken('lks_')))).toBe(false);
  });

  test('is stored as the SHA-256 of the whole token', () => {
    const token = createToken('lks_');
    expect(digestToken(token)).toEqual(createHash('sha256').update(token).digest());
  });
});
