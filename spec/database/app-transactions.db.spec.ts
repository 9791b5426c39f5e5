import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Sequelize } from 'sequelize';
import { createAuth } from '../../lib/index.js';
import { memoryLogger, password, SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';

let database: SpecDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

if (dialect === 'sqlite') {
  test('a locked file is reported without a warning of Sequelize’s on the console', async () => {
    const auth = createAuth({ database: database.url, secret: SECRET, plugins: [password()] });
    await auth.migrate();
    const warned: unknown[] = [];
    const { warn } = console;
    console.warn = (...args) => void warned.push(args);
    const lock = await database.sequelize.transaction({ type: 'IMMEDIATE' as never });
    await expect(
      auth.credential.signUp({ email: 'ada@example.com', password: 'an analytical engine' }),
    ).rejects.toMatchObject({ code: 'unavailable' });
    await lock.rollback();
    console.warn = warn;
    expect(warned).toEqual([]);
    await auth.close();
  });
} else {
  test('calls within more transactions of the app than its pool has connections fail, and name the cause', async () => {
    const own = new Sequelize(database.url, { logging: false, pool: { max: 5 } });
    const auth = createAuth({
      database: own,
      secret: SECRET,
      rateLimit: false,
      logger: memoryLogger(),
      plugins: [password()],
    });
    await auth.migrate();
    await auth.listSessions('01900000-0000-7000-8000-000000000000');
    const signUps = Array.from({ length: 10 }, (_, index) =>
      own
        .transaction(() =>
          auth.credential.signUp({ email: `user-${index}@example.com`, password: 'an analytical engine' }),
        )
        .then(
          () => null,
          (error) => error,
        ),
    );
    const failures = (await Promise.all(signUps)).filter((error) => error !== null);
    expect(failures.length).toBeGreaterThan(0);
    const causes = failures.map(({ cause }) => String(cause?.message));
    expect(causes.join()).toMatch(/all 5 of the pool are in use.*pass it as the option transaction/);
    // What failed did not happen.
    expect(await rows(database, 'SELECT id FROM users')).toHaveLength(10 - failures.length);
    // The pool is free again.
    await auth.credential.signUp({ email: 'ada@example.com', password: 'an analytical engine' });
    await auth.close();
    await own.close();
  });
}
