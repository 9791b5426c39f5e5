// The deliberate breaks that the crash test must find: npm run crash-test -- --dialect postgres --break all
import { expect, test } from '@jest/globals';
import { transform } from 'esbuild';
import { BREAKS, breakOf, broken } from '../support/crash/breaks.js';

test.each(BREAKS.map((one) => [one.name, one] as const))('%s: it still fits the code', async (_name, one) => {
  const texts = [...(await broken(one)).values()];
  expect(texts.length).toBeGreaterThan(0);
  for (const text of texts) await expect(transform(text, { loader: 'ts' })).resolves.toBeDefined();
});

test('there are at least ten, each with a name of its own', () => {
  expect(new Set(BREAKS.map(({ name }) => name)).size).toBe(BREAKS.length);
  expect(BREAKS.length).toBeGreaterThanOrEqual(10);
  expect(() => breakOf('none')).toThrow('there is no break "none": no lock on users; ');
});

test('one that does not fit any more says so', async () => {
  const edit = { file: 'users/users.ts', text: 'a text that is not there', by: '' };
  await expect(broken({ name: 'old', edits: [edit] })).rejects.toThrow(
    'the break "old" does not fit lib/users/users.ts any more: what it replaces is there 0 times',
  );
  // What is there twice would be replaced once.
  await expect(broken({ name: 'old', edits: [{ ...edit, text: 'import ' }] })).rejects.toThrow(
    /must be there once/,
  );
});
