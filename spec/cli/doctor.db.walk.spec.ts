import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuth, credentialPassword } from '../../lib/index.js';
import { memoryLogger, SECRET } from '../support/app.js';
import { dialect, rows } from '../support/database.js';
import { type Doctor, HTTPS, startDoctor } from '../support/doctor.js';
import { untilTooLate } from '../support/outbox.js';
import { settled } from '../support/sessions.js';

// The settings that it examines are in doctor.walk.spec.ts.
let project: Doctor['project'];
let database: Doctor['database'];
let examine: Doctor['examine'];
let stop: Doctor['stop'];
beforeAll(async () => {
  ({ project, database, examine, stop } = await startDoctor());
}, 180_000);
afterAll(() => stop());

test('names pending migrations, and how to run them', async () => {
  const { code, wrong, findings } = await examine({}, { TRUST: '1' });
  expect([code, wrong]).toEqual([
    1,
    { schema: expect.stringMatching(/^problem: migrations are pending: 0001-/) },
  ]);
  expect(findings.find(({ check }) => check === 'schema')?.fix).toBe('npx latchkey migrate');
});

test('finds nothing where all is well', async () => {
  const auth = createAuth({ database: database.url, secret: SECRET });
  await auth.migrate();
  await auth.close();
  expect(await examine({}, { TRUST: '1' })).toMatchObject({ code: 0, wrong: {} });
  const { stdout } = await project.call(['doctor'], { DATABASE_URL: database.url, MORE: '{}' });
  expect(stdout).toMatch(/^versions: latchkey \d\S+, Node \d.*\nok {7}config: .*\n/);
  expect(stdout).toMatch(/\nwarning {2}baseUrl: not set.*\n {9}set baseUrl to /);
});

test('prints the versions', async () => {
  const version = expect.stringMatching(/^\d+\.\d+\.\d+/);
  const sqlite = process.getBuiltinModule('node:sqlite') ? 'node:sqlite' : '@photostructure/sqlite';
  const drivers = { mysql: 'mysql2', postgres: 'pg', sqlite };
  const run = async (more: object) => {
    const env = { DATABASE_URL: database.url, MORE: JSON.stringify(more) };
    return JSON.parse((await project.call(['doctor', '--json'], env)).stdout).versions;
  };
  const versions = await run({});
  expect(versions).toEqual({
    latchkey: version,
    node: process.versions.node,
    express: version,
    sequelize: version,
    dialect,
    server: { product: expect.any(String), version: expect.stringMatching(/^\d+\.\d+/) },
    drivers: { [drivers[dialect]]: version },
  });
  const redis = await run({ rateLimit: { store: 'redis://127.0.0.1:1' } });
  expect(redis.drivers).toEqual({ ...versions.drivers, ioredis: version });
});

test('sees by the sessions that the app knows the proxy alone', async () => {
  const auth = createAuth({ database: database.url, secret: SECRET });
  const { id } = await auth.users.create({ email: 'ada@example.com' });
  const addresses = ['10.0.0.7', '::ffff:127.0.0.1', 'fd00::1'];
  for (let n = 0; n < 12; n++) await auth.createSession(id, { ip: addresses[n % 3] ?? null });
  const { code, wrong } = await examine({}, { TRUST: '1' });
  expect([code, wrong]).toEqual([
    1,
    { proxy: expect.stringMatching(/^problem: the last 12 sessions came from /) },
  ]);
  await auth.createSession(id, { ip: '203.0.113.9' });
  expect((await examine({}, { TRUST: '1' })).wrong).toEqual({});
  await auth.close();
});

test('sees that nobody prunes', async () => {
  await rows(database, "UPDATE sessions SET expires_at = '2020-01-01 00:00:00'");
  expect((await examine({}, { TRUST: '1' })).wrong).toEqual({
    pruning: expect.stringMatching(/^warning: there are sessions that expired more than a week ago/),
  });
  await rows(database, 'DELETE FROM sessions');
});

test('sees emails that wait for long, and those that were given up', async () => {
  const auth = createAuth({
    ...HTTPS,
    database: database.url,
    secret: SECRET,
    plugins: [credentialPassword({ bcryptCost: 4 })],
    logger: memoryLogger(),
    outbox: { interval: false },
    email: { send: () => Promise.reject(new RangeError('no')) },
  });
  await auth.users.create({ email: 'grace@example.com', emailVerified: true });
  await auth.credential.requestPasswordReset({ email: 'grace@example.com' });
  await settled(auth);
  const found = async () => {
    const { code, findings } = await examine({}, { TRUST: '1' });
    expect(code).toBe(0);
    return findings
      .filter(({ check }) => check === 'outbox')
      .map(({ status, detail, fix }) => `${status}: ${detail} / ${fix}`);
  };
  expect(await found()).toEqual([
    expect.stringMatching(/^ok: 1 email or webhook waits to be sent, the oldest for \d+ \w+ \/ null$/),
  ]);
  await rows(database, "UPDATE outbox SET created_at = '2020-01-01 00:00:00.000'");
  expect(await found()).toEqual([
    expect.stringMatching(
      /^warning: 1 email .* the oldest for [\d,]+ days\. The last error, for reset-password: RangeError \/ fix /,
    ),
  ]);
  await rows(database, 'UPDATE outbox SET last_error = NULL');
  expect(await found()).toEqual([
    expect.stringMatching(
      /^warning: .* no process has tried to send them lately \/ let a process of the app run/,
    ),
  ]);
  await untilTooLate(database);
  await auth.outbox.deliver();
  expect(await found()).toEqual([
    'ok: no email or webhook is waiting / null',
    expect.stringMatching(
      /^warning: 1 email or webhook could not be sent, and will not be retried\..*reset-password: .*npx latchkey outbox retry --all-failed/,
    ),
  ]);
  await auth.close();
  await rows(database, 'DELETE FROM outbox');
});

test('names columns with a collation in which different emails are equal', async () => {
  const [loosen, tighten] = COLLATIONS[dialect];
  for (const sql of loosen) await rows(database, sql);
  const { code, wrong } = await examine({}, { TRUST: '1' });
  expect([code, wrong]).toEqual([
    1,
    { collations: expect.stringMatching(/^problem: users\.\w+ has the collation \w+/) },
  ]);
  for (const sql of tighten) await rows(database, sql);
});

const COLLATIONS = {
  mysql: [
    ['ALTER TABLE users MODIFY email VARCHAR(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci NULL'],
    [],
  ],
  postgres: [
    [
      "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
      'ALTER TABLE users ALTER COLUMN email TYPE varchar(254) COLLATE loose',
    ],
    ['ALTER TABLE users ALTER COLUMN email TYPE varchar(254) COLLATE "C"'],
  ],
  sqlite: [
    ['CREATE UNIQUE INDEX users_by_email ON users (email COLLATE NOCASE)'],
    ['DROP INDEX users_by_email'],
  ],
} as const;

test('names a column that is missing', async () => {
  await rows(database, 'ALTER TABLE sessions DROP COLUMN user_agent');
  const { code, wrong } = await examine({}, { TRUST: '1' });
  expect([code, wrong.schema]).toEqual([
    1,
    expect.stringMatching(/^problem: .*missing: sessions\.user_agent$/),
  ]);
});

test('says that the database does not answer, and not its password', async () => {
  const urls = {
    mysql: 'mysql://root:hunter2@127.0.0.1:1/app',
    postgres: 'postgres://root:hunter2@127.0.0.1:1/app',
    sqlite: 'sqlite:/nowhere/at/all/app.db',
  };
  const DATABASE_URL = dialect === 'sqlite' ? `sqlite:${project.folder}` : urls[dialect];
  const { code, wrong, findings } = await examine({}, { DATABASE_URL });
  expect([code, wrong.database]).toEqual([1, expect.stringMatching(/^problem: /)]);
  expect(JSON.stringify(findings)).not.toContain('hunter2');
});
