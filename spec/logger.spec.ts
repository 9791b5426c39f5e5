import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createAuth, credentialPassword } from '../lib/index.js';
import { ada, SECRET } from './support/app.js';
import { createDatabase, type SpecDatabase } from './support/database.js';

let database: SpecDatabase;
let auth: ReturnType<typeof make>;
const said: unknown[][] = [];
const make = (send: () => unknown) =>
  createAuth({
    database: database.url,
    secret: SECRET,
    rateLimit: false,
    plugins: [credentialPassword({ bcryptCost: 4, isBreached: () => Promise.reject(thrown) })],
    baseUrl: 'http://app.example.com',
    email: { send },
  });

/** An error as a hostile or careless program might throw it. */
const thrown = new TypeError(
  'first line\nlatchkey: a line that nobody wrote\r\n\u001b[31mred\u2028\u0085 %s',
  {
    cause: Object.assign(new Error('the cause\nof it'), { code: 'ECONNREFUSED' }),
  },
);
const ESCAPED =
  'TypeError: first line\\nlatchkey: a line that nobody wrote\\r\\n\\u001b[31mred\\u2028\\u0085 %s, caused by Error: the cause\\nof it (ECONNREFUSED)';

beforeEach(async () => {
  database = await createDatabase();
  for (const level of ['warn', 'error'] as const)
    jest.spyOn(console, level).mockImplementation((...args) => void said.push([level, ...args]));
});
afterEach(async () => {
  jest.restoreAllMocks();
  said.length = 0;
  await auth.close();
  await database.drop();
});

describe('the default logger', () => {
  test('prints each event as one line on the console', async () => {
    auth = make(() => {
      throw thrown;
    });
    await auth.migrate();
    auth.on('user.created', () => {
      throw thrown;
    });
    auth.on('user.created', () => Promise.reject('no error\nat all'));
    await auth.credential.signUp(ada);
    await auth.credential.requestPasswordReset({ email: ada.email });
    for (let round = 0; round < 100 && said.length < 4; round++)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(said.sort()).toEqual([
      ['error', `latchkey: a listener for 'user.created' failed ${ESCAPED}`],
      ['error', "latchkey: a listener for 'user.created' failed no error\\nat all"],
      ['error', `latchkey: an email was not sent: ${ESCAPED}`],
      ['warn', 'latchkey: the breach check failed: TypeError, caused by Error (ECONNREFUSED)'],
    ]);
  });

  test('prints one line even if an error cannot be read', async () => {
    const unreadable = new Proxy(new Error(), {
      get() {
        throw new Error('never');
      },
    });
    const circle = new Error('round');
    circle.cause = circle;
    auth = make(() => undefined);
    await auth.migrate();
    for (const it of [unreadable, circle, undefined, { password: 'x\ny' }, Symbol('a\nsymbol')])
      auth.on('user.created', () => Promise.reject(it));
    await auth.credential.signUp(ada);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const lines = said.map(([, line]) => line as string);
    expect(lines).toHaveLength(6);
    for (const line of lines) expect(line).not.toMatch(/[\n\r]/);
  });
});
