import { describe, expect, test } from '@jest/globals';
import { EmailedCodes } from '../../lib/crypto/emailed-codes.js';

const SECRET = 'a secret of at least 32 characters';
const codes = new EmailedCodes([SECRET]);
const some = Array.from({ length: 2000 }, (_, index) => `request ${index}`);

describe('an emailed code', () => {
  test('has eight digits, which are all equally frequent, and differs from others', () => {
    const all = some.map((what) => codes.codeFor(what));
    for (const code of all) expect(code).toMatch(/^\d{8}$/);
    expect(new Set(all).size).toBe(all.length);
    const counts = Array.from({ length: 10 }, (_, digit) => all.join('').split(String(digit)).length - 1);
    for (const count of counts) expect(Math.abs(count - 1600)).toBeLessThan(200);
  });

  test('is derived from the secret, and is the same each time', () => {
    expect(codes.codeFor('a')).toBe(new EmailedCodes([SECRET]).codeFor('a'));
    expect(codes.codeFor('a')).not.toBe(new EmailedCodes([`${SECRET}!`]).codeFor('a'));
  });

  test('is accepted with spaces, hyphens and digits of any script, and for nothing else', () => {
    const code = codes.codeFor('a');
    const arabic = [...code].map((digit) => String.fromCodePoint(0x660 + Number(digit))).join('');
    for (const typed of [
      code,
      ` ${code.slice(0, 4)} ${code.slice(4)} `,
      `${code.slice(0, 4)}-${code.slice(4)}`,
      arabic,
    ])
      expect(codes.matches(typed, 'a')).toBe(true);
    for (const typed of ['', code.slice(1), `${code}0`, `x${code}`, codes.codeFor('b')])
      expect(codes.matches(typed, 'a')).toBe(false);
  });

  test('of each secret is accepted while secrets are rotated', () => {
    const rotated = new EmailedCodes([`${SECRET}!`, SECRET]);
    for (const what of some.slice(0, 20)) {
      const [current, former] = rotated.codesFor(what) as [string, string];
      expect(former).toBe(codes.codeFor(what));
      for (const code of [current, former]) expect(rotated.matches(code, what)).toBe(true);
      expect(rotated.matches(former, `${what}!`)).toBe(false);
    }
  });
});
