import { afterEach, describe, expect, test } from '@jest/globals';
import { type AuthConfig, AuthError } from '../../lib/index.js';
import { password, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { importUsers } from '../support/import-users.js';

// Imports with hooks and fields, which undo what was refused. Sign-ups are in sign-up.spec.ts.
type Hooks = NonNullable<AuthConfig['hooks']>;
type App = SpecApp<readonly [ReturnType<typeof password>]>;

let app: App | undefined;
afterEach(async () => {
  await app?.stop();
  app = undefined;
});

const fields = {
  name: { type: 'string', maxLength: 10, required: true },
  plan: { type: 'string', default: 'free', input: 'none' },
} as const;

async function start(config: Partial<AuthConfig>): Promise<App> {
  app = (await startApp({ plugins: [password()], config: config as never })) as App;
  return app;
}

const emails = async ({ database }: App) =>
  (await rows<{ email: string }>(database, 'SELECT email FROM users ORDER BY email')).map(
    ({ email }) => email,
  );

describe('importUsers with hooks and fields', () => {
  const row = (name: string, more: object = {}) => ({
    email: `${name}@example.com`,
    fields: { name },
    ...more,
  });

  test.each([
    ['with hooks', { beforeCreateUser() {} }],
    ['without hooks', {}],
  ])('checks fields, %s', async (_what, hooks: Hooks) => {
    const importing = await start({ user: { fields }, hooks });
    const result = await importUsers(importing.auth, [
      row('ada', { fields: { name: 'Ada', plan: 'pro' } }),
      row('b', { fields: { name: 'longer than ten' } }),
      row('c', { fields: {} }),
      row('d', { fields: undefined }),
      row('e', { fields: { name: 'E', role: 'admin' } }),
      row('ada'),
    ]);
    expect(result.users).toHaveLength(1);
    expect(result.skipped.map(({ ref, code }) => [ref, code])).toEqual([
      [1, 'invalid_fields'],
      [2, 'invalid_fields'],
      [3, 'invalid_fields'],
      [4, 'invalid_fields'],
      [5, 'duplicate_row'],
    ]);
    expect(await rows(importing.database, 'SELECT email, name, plan FROM users')).toEqual([
      { email: 'ada@example.com', name: 'Ada', plan: 'pro' },
    ]);
  });

  test('skips whom a hook refuses, with what the hook wrote for them', async () => {
    const importing = await start({
      user: { fields },
      hooks: {
        async beforeCreateUser({ email }, { transaction }) {
          // A row of the app's, in the same transaction.
          await importing.auth.models.User.update(
            { updatedAt: new Date('2030-01-01') } as never,
            { where: { email: 'ada@example.com' }, transaction } as never,
          );
          if (email?.startsWith('eve')) throw new AuthError('sign_up_refused', { detail: 'No.' });
        },
      },
    });
    await importUsers(importing.auth, [row('ada')]);
    const result = await importUsers(importing.auth, [row('eve')]);
    expect(result).toEqual({
      users: [],
      skipped: [{ ref: 0, code: 'sign_up_refused', detail: 'No.' }],
    });
    const user = await importing.auth.users.find({ email: 'ada@example.com' });
    expect(user?.updatedAt.getFullYear()).not.toBe(2030);
    expect(await importUsers(importing.auth, [row('bob'), row('eve2'), row('carl')])).toMatchObject({
      users: [{ ref: 0 }, { ref: 2 }],
      skipped: [{ ref: 1, code: 'sign_up_refused' }],
    });
    expect((await importing.auth.users.find({ email: 'ada@example.com' }))?.updatedAt.getFullYear()).toBe(
      2030,
    );
  });

  test('ends at an error of the app, keeps the accounts before it, and can be run again', async () => {
    let isBroken = true;
    const importing = await start({
      hooks: {
        afterCreateUser({ email }) {
          if (isBroken && email === 'b@example.com') throw new Error('a bug of the app');
        },
      },
    });
    const users = ['a', 'b', 'c'].map((name) => ({ email: `${name}@example.com` }));
    await expect(importUsers(importing.auth, users)).rejects.toThrow('a bug of the app');
    expect(await emails(importing)).toEqual(['a@example.com']);
    isBroken = false;
    expect(await importUsers(importing.auth, users)).toMatchObject({
      users: [{ ref: 0 }, { ref: 1 }, { ref: 2 }],
      skipped: [],
    });
  });
});
