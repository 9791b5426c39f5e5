import { expect, test } from '@jest/globals';
import { nearest, requireKnownKeys } from '../lib/known-keys.js';

const KNOWN = ['remember', 'transaction'];
const refused = (input: object) => {
  try {
    requireKnownKeys('auth.call', input, KNOWN);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('all keys are known');
};

test('an unknown key is an error that names the nearest known key', () => {
  requireKnownKeys('auth.call', { remember: true, other: undefined }, KNOWN);
  expect(refused({ remembr: true })).toBe(
    'latchkey: auth.call does not accept remembr (did you mean remember?): it accepts remember, transaction',
  );
});

test('a long key is cut, and not compared with the known keys', () => {
  const long = `transaction${'x'.repeat(100_000)}`;
  expect(nearest(long, KNOWN)).toBeUndefined();
  expect(refused({ [long]: 1 })).toBe(
    `latchkey: auth.call does not accept ${long.slice(0, 40)}…: it accepts remember, transaction`,
  );
  expect(refused({ [`${'x'.repeat(39)}\u{1F600}`]: 1 })).toContain(`${'x'.repeat(39)}\ufffd…`);
});

test('at most ten keys are named and compared', () => {
  const keys = [...Array.from({ length: 10 }, (_, index) => `key${index}`), 'remembr', 'key11'];
  expect(refused(Object.fromEntries(keys.map((key) => [key, 1])))).toBe(
    `latchkey: auth.call does not accept ${keys.slice(0, 10).join(', ')} and 2 more: it accepts remember, transaction`,
  );
});
