import { createRequire } from 'node:module';
import { afterAll, beforeEach, expect, test } from '@jest/globals';
import type * as argon2 from '@node-rs/argon2';
import bcrypt from 'bcrypt';
import { performance } from '../../../lib/timers.js';
import { ada, password, type SpecApp, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { importUsers } from '../../support/import-users.js';

/** The hashes that were computed, as in `argon2id m=19456,t=2,p=1` and `bcrypt 10`. */
const computed: string[] = [];
const real = { compare: bcrypt.compare, now: performance.now };
// latchkey measures what hashes cost. By this clock, it is the same on a busy machine: about as much as on an idle one.
let nowMs = 0;
performance.now = () => nowMs;
const MS_PER_ROUND = 0.06;
const MS_PER_PASS = 0.0016;
bcrypt.compare = (async (input: string, stored: string) => {
  const cost = Number(stored.slice(4, 6));
  computed.push(`bcrypt ${cost}`);
  const matches = await real.compare(input, stored);
  nowMs += 2 ** cost * MS_PER_ROUND;
  return matches;
}) as typeof bcrypt.compare;
// Before latchkey imports the package, which copies its functions.
const module = createRequire(import.meta.url)('@node-rs/argon2') as { verify: typeof argon2.verify };
const { verify } = module;
module.verify = async (stored, input) => {
  const [parameters, memory = '0', passes = '0'] = /m=(\d+),t=(\d+),p=\d+/.exec(String(stored)) ?? [];
  computed.push(`argon2id ${parameters}`);
  const matches = await verify(stored, input);
  nowMs += Number(memory) * Number(passes) * MS_PER_PASS;
  return matches;
};
const { hash: argon2id } = await import('@node-rs/argon2');

const OWN = 'argon2id m=19456,t=2,p=1';
const KINDS = ['unknown', 'no-password', 'own', 'junk'] as const;

type App = SpecApp<readonly [ReturnType<typeof password>]>;
const started: App[] = [];
const start = async (options: Parameters<typeof password>[0], database?: string): Promise<App> => {
  const plugins = [password(options)] as const;
  const app = await startApp({ plugins, config: async () => (database ? { database } : {}) });
  started.push(app);
  return app;
};
const first = await start({ hash: 'argon2id' });
await importUsers(first.auth, [{ email: 'no-password@example.com' }]);
for (const kind of ['own', 'junk'])
  await first.auth.credential.signUp({ ...ada, email: `${kind}@example.com` });
const where = { where: { email: 'junk@example.com' } };
await first.auth.models.User.update({ passwordHash: '$argon2id-hmac-sha384$x' } as never, where);
afterAll(async () => {
  for (const app of started.reverse()) await app.stop();
  performance.now = real.now;
});

/** What a wrong password computes. */
const workOf = async (app: App, kind: string) => {
  computed.length = 0;
  await app.http
    .post('/auth/signin/credential')
    .send({ credential: `${kind}@example.com`, password: 'a wrong password' })
    .expect(401);
  return [...computed];
};
const roundsIn = (work: readonly string[]) =>
  work.reduce((sum, one) => sum + (one.startsWith('bcrypt ') ? 2 ** Number(one.slice(7)) : 0), 0);

/** What a process has learned is forgotten by the next one. */
let app: App;
beforeEach(async () => {
  app = await start({ hash: 'argon2id' }, first.database.url);
  // Learns what the hashes in the database cost.
  await workOf(app, 'unknown');
});

test('every failure computes argon2id once, with the memory of the config, and no bcrypt', async () => {
  for (const kind of KINDS) expect(await workOf(app, kind)).toEqual([OWN]);
  const parameters = { memory: 65_536, iterations: 3 };
  const raised = await start({ hash: 'argon2id', argon2: parameters }, first.database.url);
  await workOf(raised, 'unknown');
  for (const kind of ['unknown', 'no-password', 'junk'])
    expect(await workOf(raised, kind)).toEqual(['argon2id m=65536,t=3,p=1']);
  const [ofOwn, ...filled] = await workOf(raised, 'own');
  expect(ofOwn).toBe(OWN);
  expect(roundsIn(filled)).toBeGreaterThan(0);
});

test('an imported hash that costs less is filled up', async () => {
  const passwordHash = await argon2id(ada.password, { memoryCost: 1024, timeCost: 1, parallelism: 1 });
  await importUsers(first.auth, [{ email: 'imported@example.com', passwordHash }]);
  const [own, ...filled] = await workOf(app, 'imported');
  expect(own).toBe('argon2id m=1024,t=1,p=1');
  expect(roundsIn(filled)).toBeGreaterThan(0);
  for (const kind of KINDS) expect(await workOf(app, kind)).toEqual([OWN]);
});

test('a hash of bcrypt from before raises the work of all failures', async () => {
  const bcrypted = await start({ bcryptCost: 11 }, first.database.url);
  await bcrypted.auth.credential.signUp({ ...ada, email: 'left@example.com' });
  const moved = await start({ hash: 'argon2id' }, first.database.url);
  await workOf(moved, 'unknown');
  for (const kind of KINDS) {
    const [own, ...filled] = await workOf(moved, kind);
    expect(own).toBe(OWN);
    // The rest of 2^11 rounds.
    expect(roundsIn(filled)).toBeGreaterThan(0);
    expect(roundsIn(filled)).toBeLessThan(2 ** 11);
  }
  expect(await workOf(moved, 'left')).toEqual(['bcrypt 11']);
  await rows(first.database, "DELETE FROM users WHERE email = 'left@example.com'");
});

test('without argon2id in the config, an unknown account computes bcrypt alone, and only once', async () => {
  const plain = await start({ bcryptCost: 11 }, first.database.url);
  await workOf(plain, 'unknown');
  for (const kind of ['unknown', 'no-password', 'junk'])
    expect(await workOf(plain, kind)).toEqual(['bcrypt 11']);
  const [own, ...filled] = await workOf(plain, 'own');
  expect(own).toBe(OWN);
  expect(roundsIn(filled)).toBeGreaterThan(0);
});
