import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Model, ModelStatic } from 'sequelize';
import { github } from '../../lib/providers.js';
import { signedIn, testAuth } from '../../lib/testing.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';
import { everyPlugin } from '../support/every-plugin.js';
import { ownRows } from '../support/own-rows.js';

let database: SpecDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

test('auth.testing.reset empties every table, and that of user.model', async () => {
  const { model, config } = ownRows(database);
  await model.sync();
  const auth = testAuth({
    ...config,
    tablePrefix: 'test_',
    rateLimit: {},
    plugins: [...everyPlugin(), github({ clientId: 'a', clientSecret: 'b' })],
  });
  await model.create({ name: 'without an account' });
  const { user, session, token } = await signedIn(auth, {
    email: 'ada@example.com',
    fields: { name: 'Ada' },
  });
  await auth.apiKeys.create(user.id, { name: 'one' });
  await auth.twoFactor.enroll({ userId: user.id, sessionId: session.id });
  await auth.credential.requestPasswordReset({ email: 'ada@example.com', ip: '192.0.2.1' });
  await auth.testing.nextMail({ kind: 'reset-password' });
  const counts = async () => {
    const models = Object.entries(auth.models as object as Record<string, ModelStatic<Model>>);
    return Object.fromEntries(
      await Promise.all(models.map(async ([name, one]) => [name, await one.count()])),
    );
  };
  expect(await counts()).toMatchObject({ User: 1, Session: 1, ApiKey: 1, OneTimeToken: 1 });
  await auth.testing.reset();
  expect(Object.values(await counts()).filter((count) => count !== 0)).toEqual([]);
  expect((await model.findAll()).map(({ name }) => name)).toEqual(['without an account']);
  await expect(auth.getSession({ headers: { cookie: `latchkey=${token}` } })).rejects.toThrow();
  await signedIn(auth, { email: 'ada@example.com' });
  await auth.close();
  await model.sequelize?.close();
});

test('it keeps everything while rows of the app refer to users', async () => {
  const auth = testAuth({ database: database.url, tablePrefix: 'test_' });
  const { user } = await signedIn(auth);
  const { sequelize } = database;
  const id = (await sequelize.getQueryInterface().describeTable('test_users')).id?.type;
  await sequelize.query(
    `CREATE TABLE orders (user_id ${id} ${dialect === 'mysql' ? 'COLLATE utf8mb4_bin' : ''} NOT NULL, FOREIGN KEY (user_id) REFERENCES test_users (id))`,
  );
  await sequelize.query(`INSERT INTO orders SELECT id FROM test_users`);
  await expect(auth.testing.reset()).rejects.toThrow(
    /rows of your app refer to users.*Delete those rows first/,
  );
  expect(await auth.listSessions(user.id)).toHaveLength(1);
  await rows(database, 'DELETE FROM orders');
  await auth.testing.reset();
  await auth.close();
});

test('it refuses a database that may be needed', async () => {
  const auth = testAuth({ database: database.url });
  const { user } = await signedIn(auth);
  await expect(auth.testing.reset()).rejects.toThrow(/might contain data that you need/);
  expect(await auth.users.get(user.id)).not.toBeNull();
  await auth.close();
});
