import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createAuth, credentialPassword, type Logger } from '../lib/index.js';
import { ada, SECRET } from './support/app.js';
import { createDatabase, type SpecDatabase } from './support/database.js';
import { settled } from './support/sessions.js';

let database: SpecDatabase;
let auth: ReturnType<typeof make>;
const said: unknown[][] = [];
const make = (send: () => unknown, logger?: Logger) =>
  createAuth({
    database: database.url,
    secret: SECRET,
    rateLimit: false,
    plugins: [credentialPassword({ bcryptCost: 4, isBreached: () => Promise.reject(thrown) })],
    baseUrl: 'http://app.example.com',
    email: { send },
    ...(logger && { logger }),
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
    await settled(auth);
    expect(said.sort()).toEqual([
      ['error', `latchkey: a listener for 'user.created' failed ${ESCAPED}`],
      ['error', "latchkey: a listener for 'user.created' failed no error\\nat all"],
      ['error', `latchkey: an email was not sent: ${ESCAPED}. It will be retried for three days`],
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
    await settled(auth);
    const lines = said.map(([, line]) => line as string);
    expect(lines).toHaveLength(6);
    for (const line of lines) expect(line).not.toMatch(/[\n\r]/);
  });
});

describe('a logger that fails', () => {
  const fails = () => {
    throw new Error('the disk is full\nlatchkey: forged');
  };
  const rejects = () => Promise.reject(new Error('the disk is full\nlatchkey: forged'));

  test.each([
    ['throws', fails],
    ['rejects', rejects],
  ])('changes no answer, and what it was given is on the console: it %s', async (_how, write) => {
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    auth = make(() => fails(), { debug: write, info: write, warn: write, error: write });
    await auth.migrate();
    auth.on('user.created', () => Promise.reject(new Error('no')));
    await auth.credential.signUp(ada);
    await auth.credential.requestPasswordReset({ email: ada.email });
    await settled(auth);
    const failed =
      'latchkey: the logger failed: Error: the disk is full\\nlatchkey: forged - the line was: latchkey: ';
    expect(said.sort()).toEqual([
      ['error', expect.stringContaining(`${failed}a listener for 'user.created' failed Error: no`)],
      ['error', expect.stringContaining(`${failed}an email was not sent: Error: the disk is full`)],
      ['error', expect.stringContaining(`${failed}the breach check failed: TypeError`)],
    ]);
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });

  test('changes nothing even if the console fails too', async () => {
    jest.spyOn(console, 'error').mockImplementation(fails);
    auth = make(() => undefined, { debug: fails, info: fails, warn: fails, error: fails });
    await auth.migrate();
    expect(await auth.credential.signUp(ada)).toMatchObject({ user: { email: ada.email } });
  });

  test('keeps its methods\u2019 this', async () => {
    class Lines {
      readonly lines: string[] = [];
      debug() {}
      info() {}
      error() {}
      warn(line: string) {
        this.lines.push(line);
      }
    }
    const logger = new Lines();
    auth = make(() => undefined, logger);
    await auth.migrate();
    await auth.credential.signUp(ada);
    expect(logger.lines).toEqual([expect.stringContaining('the breach check failed')]);
  });
});
