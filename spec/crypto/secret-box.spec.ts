import { describe, expect, test } from '@jest/globals';
import { SecretBox } from '../../lib/crypto/secret-box.js';

const OLD = 'an old secret for specs, of 32 bytes and more';
const NEW = 'a new secret for specs, of 32 bytes and more';

describe('a sealed value', () => {
  const box = new SecretBox([OLD]);
  const sealed = box.seal('a token', 'row 1');

  test('opens only with the same context and with any of the listed secrets', () => {
    expect(box.open(sealed, 'row 1')).toBe('a token');
    expect(box.open(sealed, 'row 2')).toBeNull();
    expect(new SecretBox([NEW, OLD]).open(sealed, 'row 1')).toBe('a token');
    expect(new SecretBox([NEW]).open(sealed, 'row 1')).toBeNull();
  });

  test.each(['.', '.x', '=', '==', ' ', '\n', '\0', 'A', '-', '$', 'é'])(
    'does not open with %j appended',
    (junk) => {
      expect(box.open(sealed + junk, 'row 1')).toBeNull();
    },
  );

  test('does not open if any character is changed or removed', () => {
    // Three lengths, because in two of three lengths the last character of base64url contains unused bits.
    for (const value of ['a token', 'a token.', 'a token..']) {
      const whole = box.seal(value, 'row 1');
      for (let at = 0; at < whole.length; at++) {
        for (const other of ['A', 'B', 'C', 'D', '_', '/', '+', '.']) {
          const changed = whole.slice(0, at) + other + whole.slice(at + 1);
          if (changed !== whole) expect([changed, box.open(changed, 'row 1')]).toEqual([changed, null]);
        }
        expect(box.open(whole.slice(0, at) + whole.slice(at + 1), 'row 1')).toBeNull();
      }
    }
  });

  test.each(['', '.', '..', 'v1', 'v1..', 'v2.x.y', '.'.repeat(100_000)])(
    'does not open if it is %j',
    (value) => {
      expect(box.open(value, 'row 1')).toBeNull();
    },
  );
});
