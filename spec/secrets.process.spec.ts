import { expect, test } from '@jest/globals';
import { createAuth } from '../lib/index.js';
import { definePlugin } from '../lib/plugin.js';
import { everyPlugin } from './support/every-plugin.js';
import { fixedProvider } from './support/fixed-provider.js';
import { mailedLink } from './support/mailed-link.js';

const SECRETS = ['the current secret, of 32 bytes and more', 'the previous secret, of 32 bytes and more'];

/** Every string that can be reached from an object by its properties, symbols and maps. */
function stringsIn(root: unknown): Set<string> {
  const strings = new Set<string>();
  const seen = new Set<unknown>();
  const queue = [root];
  for (const value of queue) {
    if (typeof value === 'string') strings.add(value);
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value))
      continue;
    seen.add(value);
    if (value instanceof Map) queue.push(...value.keys(), ...value.values());
    if (value instanceof Set) queue.push(...value);
    for (const key of Reflect.ownKeys(value)) {
      try {
        queue.push((value as Record<PropertyKey, unknown>)[key]);
      } catch {
        // A getter that needs more than this.
      }
    }
  }
  return strings;
}

test('the secrets of the config cannot be reached from an Auth, nor by a plugin', async () => {
  let reached: unknown;
  const spy = definePlugin({
    name: 'spy',
    setup(core) {
      reached = core;
      return { api: null };
    },
  });
  const auth = createAuth({
    database: 'sqlite:./unused.db',
    secret: SECRETS,
    baseUrl: 'http://app.example.com',
    plugins: [
      ...everyPlugin({ password: { pepper: 'a pepper of 32 bytes and more than that' } }),
      fixedProvider(),
      mailedLink(),
      spy,
    ],
  });
  const strings = [...stringsIn([auth, reached])];
  expect(strings.length).toBeGreaterThan(100);
  // What is not secret in the same config can be reached.
  expect(strings).toEqual(expect.arrayContaining(['http://app.example.com', './unused.db']));
  expect(strings.filter((text) => SECRETS.some((secret) => text.includes(secret)))).toEqual([]);
  expect(strings.filter((text) => text.includes('pepper of') || text === 'the client secret')).toEqual([]);
  await auth.close();
});
