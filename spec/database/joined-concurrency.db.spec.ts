import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Sequelize, Transaction } from 'sequelize';
import { internalsOf } from '../../lib/auth.js';
import { createAuth } from '../../lib/index.js';
import { memoryLogger, password, SECRET } from '../support/app.js';
import { connectAsApp } from '../support/app-database.js';
import { dialect, rows, type SpecDatabase } from '../support/database.js';
import { databaseFor } from '../support/migrated.js';

const person = (name: string) => ({ email: `${name}@example.com`, password: 'an analytical engine' });

const plugins = [password()] as const;

let database: SpecDatabase;
let own: Sequelize;
let auth: ReturnType<typeof open>;

function open() {
  return createAuth({
    database: own,
    secret: SECRET,
    logger: memoryLogger(),
    // With limits, which are counted beside the transactions.
    rateLimit: { signUp: { limit: 100, window: 60 }, signIn: { limit: 100, window: 60 } },
    plugins,
  });
}

beforeEach(async () => {
  const created = await databaseFor({ plugins });
  database = created.database;
  own = connectAsApp(database);
  const earlier = open();
  await created.migrate(earlier);
  await earlier.close();
  // It has not read the database's clock yet.
  auth = open();
});
afterEach(async () => {
  await auth.close();
  await own.close();
  await database.drop();
});

async function userNamed(name: string): Promise<string> {
  return (await auth.users.create(person(name))).id;
}

test('ten transactions at once, on a pool of five, all finish', async () => {
  const work = Array.from({ length: 10 }, (_, index) =>
    own.transaction(async (transaction) => {
      const client = { ip: '192.0.2.1', transaction };
      const { email, password } = person(`user-${index}`);
      const { user } = (await auth.credential.signUp({ email, password, ...client }))!;
      const { token, session } = await auth.credential.signIn({ credential: email, password, ...client });
      const wrong = auth.credential.signIn({ credential: email, password: 'wrong', ...client });
      await expect(wrong).rejects.toMatchObject({ code: 'invalid_credentials' });
      expect(await auth.revokeSession(token, { transaction })).toBe(true);
      await auth.createSession(user.id, client);
      return [user.id, session.userId];
    }),
  );
  for (const [id, owner] of await Promise.all(work)) expect(id).toBe(owner);
  expect(await rows(database, 'SELECT id FROM sessions')).toHaveLength(10);
});

if (dialect === 'sqlite') {
  describe('while a transaction of the app writes', () => {
    test('other calls stand in line', async () => {
      let waiting: Promise<unknown> = Promise.resolve();
      await own.transaction(async (transaction) => {
        await auth.credential.signUp({ ...person('ada'), transaction });
        waiting = Promise.all(['bob', 'eve', 'zoe'].map((name) => auth.credential.signUp(person(name))));
        waiting.catch(() => undefined);
        // Longer than Sequelize tries again.
        await new Promise((resolve) => setTimeout(resolve, 1500));
        await auth.credential.signUp({ ...person('ann'), transaction });
      });
      await waiting;
      expect(await rows(database, 'SELECT id FROM users')).toHaveLength(5);
    });

    test('one that waits in vain does not take effect, and its error names the remedy', async () => {
      const transaction = await own.transaction();
      const waiting = auth.credential.signUp(person('ada'));
      await expect(waiting).rejects.toMatchObject({
        code: 'unavailable',
        cause: { message: expect.stringMatching(/SQLite file.*pass it as the option transaction/) },
      });
      await transaction.commit();
      await auth.close();
      expect(await rows(database, 'SELECT id FROM users')).toEqual([]);
    });
  });
} else {
  test('a deadlock in a transaction of the app is thrown as Sequelize’s error, for the app to try again', async () => {
    const ids = [await userNamed('ada'), await userNamed('bob')];
    const both = meeting(2);
    const lockBoth = (order: string[]) =>
      own.transaction(async (transaction) => {
        for (const id of order) {
          await auth.revokeAllSessions(id, { transaction });
          if (id === order[0]) await both();
        }
      });
    const outcomes = await Promise.allSettled([lockBoth(ids), lockBoth([...ids].reverse())]);
    const failures = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    expect(failures).toHaveLength(1);
    expect(failures[0].name).toMatch(/^Sequelize/);
    expect(failures[0].parent.code).toMatch(/^(ER_LOCK_DEADLOCK|40P01)$/);
    // As the app would.
    await lockBoth(ids);
    const epochs = await rows<{ auth_epoch: number }>(database, 'SELECT auth_epoch FROM users');
    expect(epochs.map(({ auth_epoch }) => auth_epoch)).toEqual([2, 2]);
  });

  test('a deadlock between transactions of latchkey’s own is tried again', async () => {
    const ids = [await userNamed('ada'), await userNamed('bob')];
    const { core } = internalsOf(auth);
    const both = meeting(2);
    let attempts = 0;
    const lockBoth = (order: string[]) =>
      core.database.transaction(async (transaction: Transaction) => {
        attempts++;
        for (const id of order) {
          await core.sessions.endAll(id, transaction);
          if (id === order[0]) await both();
        }
      });
    await Promise.all([lockBoth(ids), lockBoth([...ids].reverse())]);
    expect(attempts).toBe(3);
    const epochs = await rows<{ auth_epoch: number }>(database, 'SELECT auth_epoch FROM users');
    expect(epochs.map(({ auth_epoch }) => auth_epoch)).toEqual([2, 2]);
  });
}

/** Waits until so many have come; whoever comes later passes. */
function meeting(size: number): () => Promise<void> {
  let come = 0;
  let open: () => void;
  const all = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    if (++come >= size) open();
    return all;
  };
}
