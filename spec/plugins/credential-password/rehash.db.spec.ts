import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createAuth } from '../../../lib/index.js';
import { ada, memoryLogger, password, SECRET, type SpecApp, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { loggingSequelize } from '../../support/statements.js';

// A sign-in replaces a hash whose cost is lower than that of the config.
let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const dearerIn = (database: ReturnType<typeof loggingSequelize>['sequelize'], bcryptCost: number) =>
  createAuth({
    database,
    secret: SECRET,
    rateLimit: false,
    logger: memoryLogger(),
    plugins: [password({ bcryptCost })],
  });
const hashOf = async (id: string) =>
  (
    await rows<{ password_hash: string }>(app.database, 'SELECT password_hash FROM users WHERE id = :id', {
      id,
    })
  )[0]?.password_hash;

test('a hash with a lower cost is replaced once, at the next sign-in', async () => {
  const { id } = (await app.auth.credential.signUp(ada))!.user;
  const { sequelize } = loggingSequelize(app.database);
  const dearer = dearerIn(sequelize, 6);
  const credentials = { credential: ada.email, password: ada.password };
  const before = await hashOf(id);
  const wrong = dearer.credential.signIn({ ...credentials, password: 'not her password' });
  await expect(wrong).rejects.toMatchObject({ code: 'invalid_credentials' });
  expect(await hashOf(id)).toBe(before);
  await dearer.credential.signIn(credentials);
  const after = await hashOf(id);
  expect(after).toMatch(/\$06\$/);
  await dearer.credential.signIn(credentials);
  // A hash is never replaced by one with a lower cost.
  await app.auth.credential.signIn(credentials);
  expect(await hashOf(id)).toBe(after);
  await dearer.close();
  await sequelize.close();
});

test('a new password is not overwritten with a new hash of the old one', async () => {
  const { id } = (await app.auth.credential.signUp({ ...ada, email: 'rehash@example.com' }))!.user;
  const { sequelize, statements } = loggingSequelize(app.database);
  const dearer = dearerIn(sequelize, 12);
  const signingIn = dearer.credential.signIn({ credential: 'rehash@example.com', password: ada.password });
  // The old hash has been read, and computing the new one takes a while.
  while (!statements.some((sql) => /^Executed.*SELECT.*password_hash/s.test(sql)))
    await new Promise((resolve) => setTimeout(resolve, 1));
  await app.auth.models.User.update({ passwordHash: 'another' }, { where: { id } });
  await signingIn;
  expect(await hashOf(id)).toBe('another');
  await dearer.close();
  await sequelize.close();
});
