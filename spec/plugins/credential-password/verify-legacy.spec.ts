import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import type { LegacyVerifiers } from '../../../lib/index.js';
import { password, type SpecApp, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { importUsers } from '../../support/import-users.js';
import { expectProblem } from '../../support/problem.js';

const WORDS = 'correct horse battery';
const sha1 = (text: string) => createHash('sha1').update(text).digest('hex');
const PEPPER = 'the pepper of the old app';
const verifyLegacy: LegacyVerifiers = {
  sha1: (given, stored) => sha1(given) === stored,
  devise: (given, stored) => bcrypt.compare(given + PEPPER, stored),
  broken: (given) => {
    throw new Error(`cannot verify ${given}`);
  },
  careless: () => 'yes' as never,
};

type App = SpecApp<readonly [ReturnType<typeof password>]>;

let app: App;
const others: App[] = [];
beforeAll(async () => {
  app = await startApp({ plugins: [password({ verifyLegacy })] });
});
afterEach(async () => {
  for (const other of others.splice(0)) await other.stop();
});
afterAll(() => app.stop());

/** Another process, as far as what it knows of verifiers is concerned. */
const another = async (verifyLegacy?: LegacyVerifiers): Promise<App> => {
  const { url } = app.database;
  const plugins = [password(verifyLegacy && { verifyLegacy })] as const;
  const other = await startApp({ plugins, config: { database: url } });
  others.push(other);
  return other;
};
const signIn = (email: string, given = WORDS, by = app) =>
  by.http.post('/auth/signin/credential').send({ credential: email, password: given });
const hashOf = async (email: string) =>
  (
    await rows<{ hash: string }>(
      app.database,
      'SELECT password_hash AS hash FROM users WHERE email = :email',
      {
        email,
      },
    )
  )[0]?.hash;

test('a hash of a named scheme is verified by its function, and replaced at the first sign-in', async () => {
  const devise = await bcrypt.hash(WORDS + PEPPER, 4);
  const report = await importUsers(app.auth, [
    { email: 'a@example.com', passwordHash: `$legacy$sha1$${sha1(WORDS)}` },
    { email: 'b@example.com', passwordHash: `$legacy$devise$${devise}` },
  ]);
  expect(report.skipped).toEqual([]);
  for (const email of ['a@example.com', 'b@example.com']) {
    expectProblem(await signIn(email, 'wrong'), 401, 'invalid_credentials');
    expect(await hashOf(email)).toMatch(/^\$legacy\$/);
    await signIn(email).expect(200);
    expect(await hashOf(email)).toMatch(/^\$bcrypt-hmac-sha384\$/);
    await signIn(email).expect(200);
  }
});

test('with several schemes, a hash in no known format is not guessed', async () => {
  const passwordHash = sha1(WORDS);
  expect(await importUsers(app.auth, [{ email: 'c@example.com', passwordHash }])).toMatchObject({
    skipped: [{ code: 'unknown_hash' }],
  });
  // Which scheme it is, if the import names one.
  const { users } = await importUsers(app.auth, [{ email: 'c@example.com', passwordHash }], {
    verifyLegacy: { sha1: verifyLegacy.sha1 as never },
  });
  expect(users).toHaveLength(1);
  expect(await hashOf('c@example.com')).toBe(`$legacy$sha1$${passwordHash}`);
  await signIn('c@example.com').expect(200);
});

test('accounts of auth.users.create may have them too', async () => {
  const one = await another({ sha1: verifyLegacy.sha1 as never });
  await one.auth.users.create({ email: 'd@example.com', passwordHash: sha1(WORDS) });
  await signIn('d@example.com', WORDS, one).expect(200);
});

test('what the import alone names works in its process, and says what the server needs', async () => {
  const importing = await another();
  const md5: LegacyVerifiers = {
    md5: (given, stored) => createHash('md5').update(given).digest('hex') === stored,
  };
  const passwordHash = createHash('md5').update(WORDS).digest('hex');
  await importUsers(importing.auth, [{ email: 'f@example.com', passwordHash }], { verifyLegacy: md5 });
  expect(importing.log.join()).toContain(
    'cannot be verified by other processes: add it to credentialPassword()',
  );
  expectProblem(await signIn('f@example.com'), 401, 'invalid_credentials');
  expect(app.log.join()).toContain('add md5 to verifyLegacy of credentialPassword()');
  await signIn('f@example.com', WORDS, importing).expect(200);
  await signIn('f@example.com').expect(200);
});

test('only true accepts a password, and a function that throws is logged without it', async () => {
  const passwordHash = (name: string) => `$legacy$${name}$x`;
  await importUsers(app.auth, [
    { email: 'g@example.com', passwordHash: passwordHash('broken') },
    { email: 'h@example.com', passwordHash: passwordHash('careless') },
  ]);
  for (const email of ['g@example.com', 'h@example.com'])
    expectProblem(await signIn(email), 401, 'invalid_credentials');
  expect(app.log.join()).toContain('verifyLegacy.broken threw');
  expect(app.log.join()).not.toContain(WORDS);
});

test('another function under a known name is refused', async () => {
  const given = { verifyLegacy: { sha1: () => true } };
  await expect(importUsers(app.auth, [], given)).rejects.toThrow(
    'verifyLegacy.sha1 differs from the function',
  );
  expect(() => password({ verifyLegacy: { 'No name': () => true } })).toThrow(
    'a name must have 1 to 32 characters of a-z',
  );
  expect(() => password({ verifyLegacy: { md5: true as never } })).toThrow('must be a function');
});
