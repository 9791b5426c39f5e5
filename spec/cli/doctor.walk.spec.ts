import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { SECRET } from '../support/app.js';
import { type Doctor, startDoctor } from '../support/doctor.js';

// What it says of the database is in doctor.db.walk.spec.ts.
let examine: Doctor['examine'];
let stop: Doctor['stop'];
beforeAll(async () => {
  const doctor = await startDoctor();
  ({ examine, stop } = doctor);
  const auth = createAuth({ database: doctor.database.url, secret: SECRET });
  await auth.migrate();
  await auth.close();
}, 180_000);
afterAll(() => stop());

test('names settings that are not safe', async () => {
  const plain = await examine({ baseUrl: 'http://app.example.com', rateLimit: false }, { TRUST: '1' });
  expect(plain).toMatchObject({
    code: 1,
    wrong: {
      baseUrl: expect.stringMatching(/^problem: .*is not https/),
      cookie: expect.stringMatching(/^problem: .*is Secure although baseUrl is http/),
      limits: expect.stringMatching(/^warning/),
    },
  });
  const loose = { session: { cookie: { secure: false } } };
  expect((await examine(loose, { TRUST: '1', NODE_ENV: 'test' })).wrong).toEqual({
    environment: expect.stringMatching(/^warning: NODE_ENV is test/),
    cookie: expect.stringMatching(/^problem: .*is not Secure/),
  });
  const named = { session: { cookie: { name: 'sid' } } };
  expect((await examine(named, { TRUST: '1' })).wrong).toEqual({
    cookie: expect.stringMatching(/^warning: sid does not start with __Host-/),
  });
});

test("names the texts that the app's own languages lack", async () => {
  const nl = { tag: 'nl', emails: {}, errors: {} };
  const { code, wrong } = await examine({ locale: { default: 'nl', languages: [nl] } }, { TRUST: '1' });
  expect([code, wrong]).toEqual([
    1,
    { languages: expect.stringMatching(/^problem: nl lacks the texts email\.\S+, .* and \d+ more$/) },
  ]);
});

test('prints how passwords are hashed, and how much memory that takes at most', async () => {
  const found = async (environment: NodeJS.ProcessEnv) => {
    const { code, findings } = await examine({}, { TRUST: '1', ...environment });
    return { code, passwords: findings.filter(({ check }) => check === 'passwords'), findings };
  };
  expect((await found({})).passwords).toEqual([]);
  // As many as there are cores, or threads of libuv but one.
  const most = Math.min(availableParallelism(), 2);
  const environment = { UV_THREADPOOL_SIZE: '3' };
  const detail = (text: string) => [{ check: 'passwords', status: 'ok', detail: text, fix: null }];
  expect((await found({ PASSWORDS: '{}', ...environment })).passwords).toEqual(
    detail(`bcrypt with cost 12, at most ${most} at the same time`),
  );
  const argon2 = { hash: 'argon2id', argon2: { memory: 65_536, iterations: 3 } };
  const PASSWORDS = JSON.stringify(argon2);
  expect((await found({ PASSWORDS, ...environment })).passwords).toEqual(
    detail(
      `argon2id with 65536 KiB and 3 iterations, at most ${most} at the same time, which need ${64 * most} MiB of memory`,
    ),
  );
  const without = fileURLToPath(new URL('../support/without-packages.mjs', import.meta.url));
  const missing = { NODE_OPTIONS: `--import ${without}`, WITHOUT: '@node-rs/argon2' };
  const { code, passwords, findings } = await found({ PASSWORDS, ...missing });
  expect([code, passwords]).toEqual([
    1,
    [
      {
        check: 'passwords',
        status: 'problem',
        detail: 'argon2id hashes need an additional package: npm install @node-rs/argon2',
        fix: 'install the package, or remove hash from the config',
      },
    ],
  ]);
  expect(findings.at(-1)?.check).toBe('passwords');
});

test.each([
  ['true', /^problem: 'trust proxy' is true/],
  ['', /^warning: 'trust proxy' is disabled/],
])('names a setting of the proxy that is not safe: %j', async (TRUST, message) => {
  expect((await examine({}, { TRUST })).wrong).toEqual({ proxy: expect.stringMatching(message) });
});

test('sees that the counters of the limits cannot be used in Redis', async () => {
  const { code, wrong } = await examine({ rateLimit: { store: 'redis://127.0.0.1:1' } }, { TRUST: '1' });
  expect([code, wrong]).toEqual([
    1,
    { counters: expect.stringMatching(/^problem: the rate-limit counters cannot be used in Redis/) },
  ]);
});
