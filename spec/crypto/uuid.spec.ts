import { describe, expect, test } from '@jest/globals';
import { isUuid, uuidv7 } from '../../lib/crypto/uuid.js';

describe('uuidv7', () => {
  test('returns a UUID of version 7 that starts with the time', () => {
    const id = uuidv7(0x0123456789ab);
    expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(isUuid(id)).toBe(true);
  });

  test('sorts by time and is unique within a millisecond', () => {
    const ids = Array.from({ length: 1000 }, (_, index) => uuidv7(1_700_000_000_000 + index));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(Array.from({ length: 10_000 }, () => uuidv7(1))).size).toBe(10_000);
  });

  test.each([
    '',
    'junk',
    uuidv7().toUpperCase(),
    `${uuidv7()}\n`,
    ` ${uuidv7()}`,
    `{${uuidv7()}}`,
    uuidv7().replaceAll('-', ''),
    null,
    5,
    [uuidv7()],
  ])('isUuid rejects %j', (value) => {
    expect(isUuid(value)).toBe(false);
  });
});
