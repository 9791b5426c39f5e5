import { afterAll, beforeAll, expect, test } from '@jest/globals';
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
