// What a row of an import must never get: the account of another row, or what it did not say.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { type ImportRow, oauth } from '../../lib/index.js';
import { ImportedRows } from '../../lib/moving-in/imported-rows.js';
import { type ImportUsersOptions, movingIn } from '../../lib/moving-in.js';
import { password, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { fixedProvider } from '../support/fixed-provider.js';

const HASH = '$2y$05$b4arMjmQm5Cghbd7RLH8rOmlm8QIxdxETXnBzWzGYMXNsDwA4U8Ae';
const NEW_HASH = '$2b$05$T6W1u3NUW2m.Is1iGCbA..aqo2qhKi4E2TNjNM1bANQJTcTSqI2ZO';

const plugins = () => [password({ username: true }), oauth(), fixedProvider(), movingIn()] as const;
let app: SpecApp<ReturnType<typeof plugins>>;
beforeAll(async () => {
  app = await startApp({ plugins: plugins(), config: { baseUrl: 'http://localhost:3000' } });
});
afterAll(() => app.stop());
beforeEach(async () => {
  await rows(app.database, 'DELETE FROM users');
  await rows(app.database, 'DELETE FROM imported_users');
});

const run = (given: readonly object[], options: ImportUsersOptions = {}) =>
  app.auth.movingIn.importUsers(given as ImportRow[], options);
const again = (given: readonly object[], options: ImportUsersOptions = {}) =>
  app.auth.movingIn.importUsers(given as ImportRow[], { ...options, update: true });
const users = () => rows(app.database, 'SELECT email, username FROM users ORDER BY email, username');

test('a username that looks like a ref leads to no account of the ref', async () => {
  await run([{ ref: 1007, email: 'victim@example.com', emailVerified: true, passwordHash: HASH }]);
  const report = await again([{ username: '1007', passwordHash: NEW_HASH }]);
  expect(report).toMatchObject({ imported: 1, updated: 0, conflicts: [] });
  expect(await users()).toEqual(
    expect.arrayContaining([
      { email: 'victim@example.com', username: null },
      { email: null, username: '1007' },
    ]),
  );
  // Nor from a bridge.
  const imported = new ImportedRows(internalsOf(app.auth).core);
  const victim = await app.auth.users.find({ email: 'victim@example.com' });
  expect(await imported.userId(1007, null)).toBe(victim?.id);
  await run([{ username: '2008' }]);
  expect(await imported.userId(2008, null)).toBeNull();
});

test('the account of another system with the same ref stays out of reach after one was deleted', async () => {
  const imported = new ImportedRows(internalsOf(app.auth).core);
  await run([{ ref: 1, email: 'root@example.com' }], { source: 'admins' });
  const [eve] = (await run([{ ref: 1, email: 'eve@example.com' }], { source: 'customers' })).users;
  expect(await imported.userId(1, null)).toBeNull();
  await app.auth.users.delete(String(eve?.id), { atOnce: true });
  expect(await imported.userId(1, null)).toBeNull();
});

test('of two rows with one ref, the second is a duplicate, also when the account exists', async () => {
  const two = [
    { ref: 1, email: 'a@example.com', passwordHash: HASH },
    { ref: 1, email: 'b@example.com', passwordHash: NEW_HASH },
    { ref: 2, email: 'c@example.com' },
  ];
  for (const call of [() => run(two), () => again(two), () => again(two)]) {
    const report = await call();
    expect(report.users).toHaveLength(2);
    expect(report.skipped).toEqual([expect.objectContaining({ ref: 1, code: 'duplicate_row' })]);
  }
  expect(await users()).toEqual([
    { email: 'a@example.com', username: null },
    { email: 'c@example.com', username: null },
  ]);
});

test('a ref that a database cannot hold is refused', async () => {
  const { skipped } = await run([
    { ref: 'a\0', email: 'a@example.com' },
    { ref: 'b\ud800', email: 'b@example.com' },
  ]);
  expect(skipped.map(({ code }) => code)).toEqual(['invalid_ref', 'invalid_ref']);
});

test('an update keeps what was left out of the row', async () => {
  const row = {
    ref: 1,
    email: 'ada@example.com',
    username: 'ada',
    accounts: [{ provider: 'fixed', subject: '7' }],
  };
  await run([row]);
  const odd = { ...row, username: 'a b', accounts: [{ provider: 'gone', subject: '7' }], passwordHash: HASH };
  const report = await again([odd]);
  expect(report).toMatchObject({ updated: 1, conflicts: [] });
  expect(report.skipped.map((one) => (one as { part?: string }).part).sort()).toEqual([
    'accounts',
    'username',
  ]);
  expect(await users()).toEqual([{ email: 'ada@example.com', username: 'ada' }]);
  expect(await rows(app.database, 'SELECT subject FROM accounts')).toEqual([{ subject: '7' }]);
  // Once they can be read again, they are as they were.
  expect(await again([{ ...row, passwordHash: HASH }])).toMatchObject({ unchanged: 1, conflicts: [] });
});

test('an update leaves an account alone that no import has made', async () => {
  const { user } = await app.auth.users.ensure({ email: 'owner@example.com', emailVerified: true });
  const row = { id: user.id, ref: 1, email: 'owner@example.com' };
  expect(await again([row])).toMatchObject({ conflicts: [{ ref: 1, field: 'id' }] });
  expect(await again([{ ...row, email: 'evil@example.com', passwordHash: HASH }])).toMatchObject({
    updated: 0,
  });
  expect(await users()).toEqual([{ email: 'owner@example.com', username: null }]);
});
