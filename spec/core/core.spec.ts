import { expect, test } from '@jest/globals';
import { Core } from '../../lib/core/core.js';
import { createAuth } from '../../lib/index.js';
import { SECRET } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';

/** Calls `work`, and returns the members of cores that it has read before they existed. */
function readTooEarly(work: () => unknown): string[] {
  const early: string[] = [];
  // A member that does not exist yet is looked up in the last prototype.
  const lastClass = Object.getPrototypeOf(Core).prototype as object;
  const watched = new Proxy(Object.prototype, {
    get(target, name, core) {
      if (typeof name === 'string' && !(name in target)) early.push(name);
      return Reflect.get(target, name, core);
    },
  });
  Object.setPrototypeOf(lastClass, watched);
  try {
    work();
  } finally {
    Object.setPrototypeOf(lastClass, Object.prototype);
  }
  return early;
}

test('no part of the core reads another part before it exists', () => {
  const everything = () =>
    createAuth({
      database: 'sqlite:./unused.db',
      secret: SECRET,
      baseUrl: 'http://localhost:3000',
      bearerEnabled: true,
      email: { send: () => undefined },
      plugins: [...everyPlugin({ sendsEmails: true }), fixedProvider()],
    });
  expect(readTooEarly(everything)).toEqual([]);
});

test('this would be noticed', () => {
  const empty = Object.create(Core.prototype) as Core;
  expect(readTooEarly(() => empty.users)).toEqual(['users']);
});
