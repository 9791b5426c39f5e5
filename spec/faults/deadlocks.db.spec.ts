// Deadlocks with a second connection, which locks in the other order. The database ends latchkey's transaction each time.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { dialect, rows, type SpecDatabase } from '../support/database.js';
import { brokenInvariants } from '../support/invariants.js';
import { expectProblem } from '../support/problem.js';

/** How to let the database end the other transaction of a deadlock, and what it is doing meanwhile. */
const ON = {
  // The one that has changed fewer rows is ended.
  mysql: {
    prepare: () => 'CREATE TABLE ballast (number INTEGER NOT NULL)',
    survive: `INSERT INTO ballast VALUES ${Array(300).fill('(1)')}`,
    connection: 'SELECT CONNECTION_ID() AS id',
    isWaiting: `SELECT trx_id FROM information_schema.INNODB_TRX
      WHERE trx_mysql_thread_id = :id AND trx_state = 'LOCK WAIT'`,
  },
  // The one that is the first to find it is ended.
  postgres: {
    prepare: ({ sequelize }: SpecDatabase) =>
      `ALTER DATABASE ${sequelize.getDatabaseName()} SET deadlock_timeout = '10ms'`,
    survive: "SET LOCAL deadlock_timeout = '1h'",
    connection: 'SELECT pg_backend_pid() AS id',
    isWaiting: 'SELECT pid FROM pg_locks WHERE pid = :id AND NOT granted',
  },
};

// On SQLite, one transaction writes at a time.
(dialect === 'sqlite' ? describe.skip : describe)('deadlocks in a row', () => {
  const on = ON[dialect as keyof typeof ON];
  let app: SpecApp<readonly [ReturnType<typeof password>]>;
  let cookie: string;
  let deadlocks = 0;
  let attempts: number;
  let others: Promise<unknown>[];
  beforeAll(async () => {
    app = await startApp({
      plugins: [password()],
      config: async (database) => {
        await rows(database, on.prepare(database));
        return {
          hooks: {
            // The transaction has locked the user, and is going to delete the sessions.
            async beforeDeleteUser({ id }) {
              attempts++;
              if (deadlocks-- > 0) others.push((await lockInTheOtherOrder(id)).ended);
            },
          },
        };
      },
    });
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    [attempts, others] = [0, []];
    await app.auth.credential.signUp(ada);
    const { token } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
    cookie = `latchkey=${token}`;
  });

  /** Locks the user's sessions, and waits for the user. @returns when it waits; `ended` resolves when it is over */
  async function lockInTheOtherOrder(userId: string): Promise<{ ended: Promise<unknown> }> {
    const { sequelize } = app.database;
    const transaction = await sequelize.transaction();
    const run = async (sql: string) =>
      (await sequelize.query(sql, { transaction, replacements: { userId } }))[0] as { id: number }[];
    await run(on.survive);
    await run('SELECT id FROM sessions WHERE user_id = :userId FOR UPDATE');
    const [{ id } = { id: 0 }] = await run(on.connection);
    const got = run('SELECT id FROM users WHERE id = :userId FOR UPDATE');
    const ended = got.finally(() => transaction.rollback());
    ended.catch(() => undefined);
    // InnoDB does not refresh INNODB_TRX while it is read more often than every 100 ms.
    while ((await rows(app.database, on.isWaiting, { id })).length === 0)
      await new Promise((resolve) => setTimeout(resolve, 150));
    return { ended };
  }

  const deleteMe = () => app.http.delete('/auth/me').set('cookie', cookie);

  test('two are not noticed', async () => {
    deadlocks = 2;
    await deleteMe().expect(204);
    expect(attempts).toBe(3);
    await Promise.all(others);
    expect(await rows(app.database, 'SELECT id FROM users')).toEqual([]);
  });

  test('three are 503, and nothing is half done', async () => {
    deadlocks = 3;
    const refused = await deleteMe();
    expectProblem(refused, 503, 'unavailable');
    expect(refused.headers['retry-after']).toMatch(/^[1-9]\d*$/);
    expect(refused.headers['set-cookie']).toBeUndefined();
    expect(attempts).toBe(3);
    await Promise.all(others);
    expect(app.log.join('\n')).toMatch(/ER_LOCK_DEADLOCK|40P01/);
    await app.http.get('/auth/me').set('cookie', cookie).expect(200);
    expect(await rows(app.database, 'SELECT auth_epoch FROM users')).toEqual([{ auth_epoch: 0 }]);
    expect(await brokenInvariants(app.database)).toEqual([]);
    await deleteMe().expect(204);
    expect(attempts).toBe(4);
  });
});
