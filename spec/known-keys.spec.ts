import { describe, expect, test } from '@jest/globals';
import { nearest, requireKnownKeys } from '../lib/known-keys.js';
import { pages } from '../lib/pages.js';
import { ada, password, startApp } from './support/app.js';
import { everyPlugin } from './support/every-plugin.js';
import { fixedProvider } from './support/fixed-provider.js';
import { mailbox } from './support/mailbox.js';

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

describe('an argument after the last one', () => {
  const OF_REQUESTS = ['auth.getSession', 'auth.establishSession', 'auth.endSession', 'auth.formValues'];
  /** The functions whose first argument can be an object: a request, or rows. */
  const OTHERS = [...OF_REQUESTS, 'auth.movingIn.importUsers', 'auth.movingIn.importOrganizations'];

  test('is refused by every function of an Auth', async () => {
    const plugins = [...everyPlugin({ sendsEmails: true }), fixedProvider(), pages()];
    const app = await startApp({
      plugins,
      config: { baseUrl: 'http://localhost:3000', email: { send: mailbox().send } },
    });
    try {
      const calls = callsOf('auth', app.auth);
      for (const name of OTHERS) expect(calls.delete(name)).toBe(true);
      expect(calls.size).toBeGreaterThan(80);
      const accepting = [...calls].filter(([name, call]) => {
        try {
          call({}, { transaction: null });
        } catch (error) {
          return !`${error}`.startsWith(
            `TypeError: latchkey: ${name} accepts no object after its argument 1`,
          );
        }
        return true;
      });
      expect(accepting.map(([name]) => name)).toEqual([]);
    } finally {
      await app.stop();
    }
  });

  test('changes nothing', async () => {
    const app = await startApp({ plugins: [password({ username: true })] });
    try {
      const { id } = await app.auth.users.create({ ...ada, username: 'ada' });
      const update = app.auth.users.update.bind(app.auth.users) as (...given: unknown[]) => Promise<unknown>;
      expect(() => update(id, { username: 'countess' }, { transaction: {} })).toThrow(
        'latchkey: auth.users.update accepts no object after its argument 2: pass everything in that object, also transaction',
      );
      expect(await app.auth.users.get(id)).toMatchObject({ username: 'ada' });
      await update(id, { username: 'countess' }, undefined);
      expect(await app.auth.users.get(id)).toMatchObject({ username: 'countess' });
    } finally {
      await app.stop();
    }
  });
});

/** The functions of an API and of the APIs in it, by name. Models are not ours. */
function callsOf(where: string, api: object): Map<string, (...given: unknown[]) => unknown> {
  const names = [api, Object.getPrototypeOf(api)].flatMap((one) =>
    one === Object.prototype ? [] : Object.keys(Object.getOwnPropertyDescriptors(one)),
  );
  const found = new Map<string, (...given: unknown[]) => unknown>();
  for (const name of new Set(names)) {
    if (name === 'constructor' || name === 'models') continue;
    const value = (api as Record<string, unknown>)[name];
    if (typeof value === 'function') found.set(`${where}.${name}`, value.bind(api));
    else if (where === 'auth' && typeof value === 'object' && value !== null)
      for (const [inner, call] of callsOf(`${where}.${name}`, value)) found.set(inner, call);
  }
  return found;
}
