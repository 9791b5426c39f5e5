import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Hooks } from '../../lib/config/hooks.js';
import { createAuth } from '../../lib/index.js';
import { memoryLogger, password, SECRET } from '../support/app.js';
import { createDatabase, rows, type SpecDatabase } from '../support/database.js';
import { until } from '../support/until.js';

const person = (name: string) => ({ email: `${name}@example.com`, password: 'an analytical engine' });

let database: SpecDatabase;
let afterCreateUser: Hooks['afterCreateUser'];
let auth: ReturnType<typeof open>;

function open() {
  return createAuth({
    database: database.url,
    secret: SECRET,
    rateLimit: false,
    logger: memoryLogger(),
    hooks: { afterCreateUser: (...given) => afterCreateUser?.(...given) },
    plugins: [password()],
  });
}

beforeEach(async () => {
  database = await createDatabase();
  auth = open();
  await auth.migrate();
});
afterEach(async () => {
  await auth.close();
  await database.drop();
});

async function stored(): Promise<string> {
  const users = await rows<{ email: string }>(database, 'SELECT email FROM users');
  return users.map(({ email }) => email.replace(/@.*/, '')).join(' ');
}

test.each(['at once', 'late', 'around another hook'])(
  'a hook cannot use a connection any longer after its time, which it gets %s',
  async (when) => {
    const late: unknown[] = [];
    const waiting: (() => void)[] = [];
    afterCreateUser = async (user, given) => {
      const early = when === 'late' ? null : given.connection;
      if (when === 'around another hook')
        await auth.markEmailVerified(user.id, { transaction: given.transaction });
      await new Promise<void>((resolve) => waiting.push(resolve));
      const sql = `INSERT INTO notes VALUES ('late')`;
      try {
        const connection = early ?? given.connection;
        const { exec, query } = connection as { exec?: unknown; query?: unknown };
        const send = (exec ?? query) as (sql: string, done: (error: unknown) => void) => void;
        send.call(connection, sql, (error) => late.push(error));
        if (exec) late.push(null);
      } catch (error) {
        late.push(error);
      }
    };
    await rows(database, 'CREATE TABLE notes (note VARCHAR(10))');
    await expect(auth.credential.signUp(person('ada'))).rejects.toMatchObject({ code: 'unavailable' });
    afterCreateUser = undefined;
    for (const resume of waiting) resume();
    await until(() => late.length > 0);
    // On SQLite, this waits for the end of the transaction.
    await auth.credential.signUp(person('bob'));
    expect([await stored(), await rows(database, 'SELECT * FROM notes')]).toEqual(['bob', []]);
  },
);
