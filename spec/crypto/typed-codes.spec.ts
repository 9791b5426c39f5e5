import { describe, expect, test } from '@jest/globals';
import { readCode } from '../../lib/crypto/typed-codes.js';

// spec/http/typed-codes.walk.spec.ts sends codes in many forms to the routes.
describe('readCode', () => {
  const digits = Array.from({ length: 0x110000 }, (_, point) => point)
    .filter((point) => point < 0xd800 || point > 0xdfff)
    .filter((point) => /\p{Nd}/u.test(String.fromCodePoint(point)));

  test('reads the decimal digits of every script, which Unicode encodes from zero to nine', () => {
    expect(digits.length).toBeGreaterThan(600);
    const wrong = digits.filter(
      (point, index) => readCode(String.fromCodePoint(point)) !== String(index % 10),
    );
    expect(wrong).toEqual([]);
  });

  test.each([
    ['B C-D\u20132', 'BCD2'],
    ['\u2066bcd\u2069\ufeff', 'bcd'],
    ['\uff22\uff43\u30fc\u0663', 'Bc3'],
    // These are neither separators nor other forms of something.
    ['b.c_d/2', 'b.c_d/2'],
    ['\u0432', '\u0432'],
    ['', ''],
  ])('%j is %j', (typed, code) => {
    expect(readCode(typed)).toBe(code);
  });
});
