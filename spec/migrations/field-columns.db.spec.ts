import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { FieldOptions } from '../../lib/config/user.js';
import { createAuth } from '../../lib/index.js';
import { ada, memoryLogger, password, SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';

let database: SpecDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

const logger = memoryLogger();
const open = (fields: Record<string, FieldOptions> = {}) =>
  createAuth({
    database: database.url,
    secret: SECRET,
    rateLimit: false,
    plugins: [password()],
    user: { fields },
    logger,
  });

/** What the database has of the user's row, as text. */
async function stored(column: string): Promise<unknown> {
  const [row] = await rows<{ it: unknown }>(database, `SELECT ${quote(column)} AS it FROM users`);
  return row?.it;
}
const quote = (name: string) => (dialect === 'mysql' ? `\`${name}\`` : `"${name}"`);

/** An app that has a user already. */
async function withUser(fields: Record<string, FieldOptions> = {}) {
  const auth = open(fields);
  await auth.migrate();
  await auth.credential.signUp(ada);
  await auth.close();
}

test('migrate() adds what is missing once, with the defaults for users who were there before', async () => {
  await withUser();
  const fields: Record<string, FieldOptions> = {
    plan: { type: 'string', default: "free's é\\" },
    level: { type: 'integer', default: -3 },
    ratio: { type: 'number', default: 0.5 },
    newsletter: { type: 'boolean', default: false },
    since: { type: 'date', default: new Date('0999-12-31T23:59:59.123Z') },
    until: { type: 'date', default: '2026-01-31T12:00:00.000+02:00' },
    settings: { type: 'json', default: { theme: 'dark', list: ['é'] } },
    label: { type: 'json', default: 'none' },
    bio: { type: 'string', maxLength: 4000, default: 'none yet' },
    note: { type: 'string' },
  };
  const auth = open(fields);
  expect((await auth.migrate()).sort()).toEqual(
    Object.keys(fields)
      .map((name) => `users.${name}`)
      .sort(),
  );
  expect(await auth.migrate()).toEqual([]);
  const user = await auth.users.find(ada);
  const defaults = Object.fromEntries(
    Object.entries(fields).map(([name, one]) => [name, one.default ?? null]),
  );
  const whole = { ...defaults, until: new Date('2026-01-31T10:00:00Z') };
  expect(user).toMatchObject(whole);
  expect(await auth.users.create({ email: 'bob@example.com' })).toMatchObject(whole);
  expect(await auth.users.find({ email: 'bob@example.com' })).toMatchObject(whole);
  await auth.close();
});

test('fields may have names that are words of SQL', async () => {
  const names = [
    'order',
    'group',
    'select',
    'rank',
    'default',
    'from',
    'key',
    'desc',
    'user2',
    'limit',
    'check',
  ];
  const auth = open(Object.fromEntries(names.map((name) => [name, { type: 'string' } as const])));
  await auth.migrate();
  const fields = Object.fromEntries(names.map((name) => [name, `the ${name}`]));
  await auth.credential.signUp({ ...ada, fields });
  expect(await auth.users.find(ada)).toMatchObject(fields);
  await auth.close();
});

test('a field that is left out of the config keeps its column and its values', async () => {
  await withUser({ plan: { type: 'string', default: 'pro' } });
  const without = open();
  expect(await without.migrate()).toEqual([]);
  expect(await without.users.find(ada)).not.toHaveProperty('plan');
  await without.close();
  expect(await stored('plan')).toBe('pro');
});

test('a longer maxLength widens the column, a shorter one leaves it as it is', async () => {
  const text = 'é'.repeat(80);
  await withUser({ bio: { type: 'string', maxLength: 80, default: text } });
  for (const [maxLength, isChanged] of [
    [40, false],
    [200, true],
    [100, false],
    [3000, true],
    [80, false],
  ] as const) {
    const auth = open({ bio: { type: 'string', maxLength } });
    const changed = await auth.migrate();
    expect([maxLength, changed]).toEqual([maxLength, isChanged && dialect !== 'sqlite' ? ['users.bio'] : []]);
    expect(await stored('bio')).toBe(text);
    const fields = { bio: 'ü'.repeat(maxLength) };
    await auth.credential.signUp({ ...ada, email: `${maxLength}@example.com`, fields });
    expect(await auth.users.find({ email: `${maxLength}@example.com` })).toMatchObject(fields);
    await auth.models.User.destroy({ where: { email: `${maxLength}@example.com` } });
    await auth.close();
  }
});

test('a column of another type is named before anything is changed', async () => {
  await withUser({ level: { type: 'string' } });
  const auth = open({ added: { type: 'string' }, level: { type: 'integer' } });
  await expect(auth.migrate()).rejects.toThrow(/^latchkey: migrate: the column users\.level is of the type/);
  await expect(stored('added')).rejects.toThrow();
  await auth.close();
});

test('many fields of the default length fit into a row', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `field${index}`);
  const auth = open(Object.fromEntries(names.map((name) => [name, { type: 'string' } as const])));
  await auth.migrate();
  const fields = Object.fromEntries(names.map((name) => [name, '€'.repeat(255)]));
  await auth.credential.signUp({ ...ada, fields });
  expect(await auth.users.find(ada)).toMatchObject(fields);
  await auth.close();
});

test("undo 'all' drops the fields with the table, and migrate() makes both again", async () => {
  await withUser({ plan: { type: 'string' } });
  const auth = open({ plan: { type: 'string', default: 'free' } });
  await auth.migrate({ undo: 'all' });
  await expect(stored('plan')).rejects.toThrow();
  expect(await auth.migrate()).toContain('users.plan');
  await auth.credential.signUp(ada);
  expect(await stored('plan')).toBe('free');
  await auth.close();
});

test('while migrate() has not run for a new field, sign-ins are 503 and the log says what to do', async () => {
  await withUser();
  const auth = open({ plan: { type: 'string' } });
  const refused = await auth.credential
    .signIn({ credential: ada.email, password: ada.password })
    .catch((error) => error);
  expect(refused).toMatchObject({ status: 503, code: 'unavailable' });
  expect(String(refused.cause)).toMatch(/plan.*run auth\.migrate\(\)/);
  await auth.close();
});
