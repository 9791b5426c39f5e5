import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Sequelize } from 'sequelize';
import { connectByUrl } from '../../lib/database/connect.js';
import { createAuth } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

// On SQLite the transactions meet a locked file, on other databases they meet each other's locks.
test('concurrent transactions of two processes on one user all succeed', async () => {
  const other = createAuth({
    database: app.database.url,
    secret: SECRET,
    rateLimit: false,
    plugins: [password()],
  });
  const { id } = (await app.auth.credential.signUp(ada))!.user;
  const signIn = (auth: typeof other) =>
    auth.credential.signIn({ credential: ada.email, password: ada.password });
  const work = Array.from({ length: 20 }, (_, index) => {
    const auth = index % 2 ? other : app.auth;
    return [auth.revokeAllSessions(id), signIn(auth)];
  });
  await Promise.all(work.flat());
  const [user] = await rows<{ auth_epoch: number }>(app.database, 'SELECT auth_epoch FROM users');
  expect(user?.auth_epoch).toBe(20);
  await other.close();
});

test('a transaction that takes longer than its caller waits is rolled back', async () => {
  const person = { email: 'slow@example.com', password: ada.password };
  const { id: userId } = (await app.auth.credential.signUp(person))!.user;
  const slow = connectByUrl(app.database.url) as Sequelize;
  const other = createAuth({ database: slow, secret: SECRET, rateLimit: false, plugins: [password()] });
  const query = slow.query.bind(slow) as (...args: unknown[]) => Promise<unknown>;
  slow.query = (async (...args: unknown[]) => {
    // Each is quick enough for itself.
    if (/^(UPDATE|DELETE)/.test(String(args[0]))) await new Promise((resolve) => setTimeout(resolve, 1500));
    return query(...args);
  }) as Sequelize['query'];
  const change = other.credential.changePassword({
    userId,
    currentPassword: person.password,
    newPassword: 'a difference engine',
  });
  await expect(change).rejects.toMatchObject({ code: 'unavailable' });
  slow.query = query as Sequelize['query'];
  // Waits for the transaction, whose lock is on the user's row.
  await app.auth.revokeAllSessions(userId);
  await app.auth.credential.signIn({ credential: person.email, password: person.password });
  await other.close();
  await slow.close();
});
