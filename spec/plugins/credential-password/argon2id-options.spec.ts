import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../../lib/auth.js';
import { createAuth, credentialPassword } from '../../../lib/index.js';
import { testAuth } from '../../../lib/testing.js';
import { memoryLogger, SECRET } from '../../support/app.js';
import { createDatabase, type SpecDatabase } from '../../support/database.js';
import { inAnotherProcess } from '../../support/processes.js';

const started: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const auth of started.splice(0)) await auth.close();
});

describe('the options of argon2id', () => {
  test.each([
    [{ argon2: {} }, "argon2 requires hash: 'argon2id'"],
    [{ hash: 'bcrypt', argon2: { iterations: 3 } }, "argon2 requires hash: 'argon2id'"],
    [{ hash: 'scrypt' }, "hash must be 'bcrypt' or 'argon2id'"],
    [{ hash: 'argon2id', argon2: true }, 'argon2 must be an object'],
    [{ hash: 'argon2id', argon2: { memory: 19_455 } }, 'argon2.memory must be 19456 to 1048576 KiB'],
    [{ hash: 'argon2id', argon2: { memory: 1_048_577 } }, 'argon2.memory must be 19456 to 1048576 KiB'],
    [{ hash: 'argon2id', argon2: { memory: 20_000.5 } }, 'argon2.memory must be a whole number'],
    [{ hash: 'argon2id', argon2: { iterations: 1 } }, 'argon2.iterations must be 2 to 20'],
    [{ hash: 'argon2id', argon2: { iterations: 21 } }, 'argon2.iterations must be 2 to 20'],
    [{ hash: 'argon2id', argon2: { memorySize: 65_536 } }, 'argon2.memorySize is not an option'],
  ])('rejects %j', (options, message) => {
    expect(() => credentialPassword(options as never)).toThrow(`latchkey: credentialPassword: ${message}`);
  });

  test.each([
    {},
    { argon2: {} },
    { argon2: { memory: 1_048_576, iterations: 20 } },
    // It is ignored, and so is its minimum in production.
    { bcryptCost: 4 },
  ])('accepts %j', (options) => {
    const { NODE_ENV } = process.env;
    process.env.NODE_ENV = 'production';
    try {
      const auth = createAuth({
        database: 'sqlite::memory:',
        secret: SECRET,
        baseUrl: 'https://app.example.com',
        logger: memoryLogger(),
        plugins: [credentialPassword({ hash: 'argon2id', ...options })],
      });
      started.push(auth);
      expect(auth.credential).toBeDefined();
    } finally {
      process.env.NODE_ENV = NODE_ENV;
    }
  });
});

test('latchkey/testing uses bcrypt, so that tests are fast', async () => {
  const auth = testAuth({ plugins: [credentialPassword({ hash: 'argon2id', argon2: { iterations: 20 } })] });
  started.push(auth);
  await auth.credential.signUp({ email: 'ada@example.com', password: 'engine' });
  const { database } = internalsOf(auth).core;
  const [row] = await database.select<{ password_hash: string }>('SELECT password_hash FROM users');
  expect(row?.password_hash).toMatch(/^\$bcrypt-hmac-sha384\$2b\$04\$/);
});

describe('without the package', () => {
  const MISSING = 'Error: latchkey: argon2id hashes need an additional package: npm install @node-rs/argon2';
  let database: SpecDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());
  const run = (hash: string) =>
    inAnotherProcess(['hashing', database.url, hash], {
      NODE_OPTIONS: '--import ./spec/support/without-packages.mjs',
      WITHOUT: '@node-rs/argon2',
    });

  test('the log says at start what to install, migrate() rejects, and health() says that no user can sign in', async () => {
    expect(await run('argon2id')).toEqual({
      refused: MISSING,
      lines: [`latchkey: passwords cannot be hashed or verified ${MISSING}`],
      ready: { sessions: true, signIns: false },
      degraded: ['passwords'],
    });
  });

  test('an app that does not configure it starts', async () => {
    expect(await run('bcrypt')).toEqual({
      refused: null,
      lines: [],
      ready: { sessions: true, signIns: true },
      degraded: [],
    });
  });
});
