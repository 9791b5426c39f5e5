import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Sequelize, Transaction } from 'sequelize';
import { type AuthConfig, createAuth } from '../../lib/index.js';
import { memoryLogger, password, SECRET } from '../support/app.js';
import { connectAsApp } from '../support/app-database.js';
import { advance } from '../support/clock.js';
import { dialect, rows, type SpecDatabase } from '../support/database.js';
import { databaseFor } from '../support/migrated.js';

const ada = { email: 'ada@example.com', password: 'an analytical engine' };
const undone = new Error('the app undoes it');

const plugins = [password({ username: true })] as const;

let database: SpecDatabase;
let own: Sequelize;
let auth: ReturnType<typeof open>;

function open(rateLimit: AuthConfig['rateLimit'] = {}) {
  return createAuth({
    database: own,
    secret: SECRET,
    logger: memoryLogger(),
    rateLimit,
    plugins,
  });
}

beforeEach(async () => {
  const created = await databaseFor({ plugins });
  database = created.database;
  own = connectAsApp(database);
  auth = open();
  await created.migrate(auth);
  await auth.users.create(ada);
});
afterEach(async () => {
  await auth.close();
  await own.close();
  await database.drop();
});

/** Signs in within a transaction that is rolled back. @returns the code of the error, or nothing */
async function tryIn(password: string, ip: string | undefined = undefined): Promise<string | undefined> {
  let code: string | undefined;
  const work = own.transaction(async (transaction) => {
    const signIn = auth.credential.signIn({ credential: ada.email, password, ip, transaction });
    code = await signIn.then(
      () => undefined,
      (error) => error.code,
    );
    throw undone;
  });
  await expect(work).rejects.toBe(undone);
  return code;
}

test('failed sign-ins count although their transactions are rolled back', async () => {
  for (let failures = 0; failures < 5; failures++) expect(await tryIn('wrong')).toBe('invalid_credentials');
  expect(await tryIn(ada.password)).toBe('rate_limited');
});

test('a success clears them', async () => {
  for (let round = 0; round < 3; round++) {
    for (let failures = 0; failures < 4; failures++) await tryIn('wrong');
    expect(await tryIn(ada.password)).toBeUndefined();
  }
});

test('requests count by address', async () => {
  await auth.close();
  auth = open({ signIn: { limit: 3, window: 60 } });
  const codes = [];
  for (let tries = 0; tries < 5; tries++) codes.push(await tryIn(ada.password, '192.0.2.1'));
  expect(codes).toEqual([undefined, undefined, undefined, 'rate_limited', 'rate_limited']);
  expect(await tryIn(ada.password, '192.0.2.2')).toBeUndefined();
});

test('of many attempts at once, as many are looked at as the limit allows', async () => {
  const codes = await Promise.all(Array.from({ length: 10 }, () => tryIn('wrong')));
  expect(codes.filter((code) => code === 'invalid_credentials')).toHaveLength(5);
});

if (dialect === 'sqlite') {
  test('a window ends, and expired counters are pruned', async () => {
    await auth.close();
    auth = open({ signIn: { limit: 1, window: 0.3 } });
    expect(await tryIn(ada.password, '192.0.2.1')).toBeUndefined();
    expect(await tryIn(ada.password, '192.0.2.1')).toBe('rate_limited');
    advance(auth, 0.3);
    const expired = await auth.prune({ dryRun: true });
    expect(expired).toBeGreaterThan(0);
    expect(await auth.prune()).toBe(expired);
    expect(await tryIn(ada.password, '192.0.2.1')).toBeUndefined();
  });
} else {
  test('what counts within transactions and outside is one count, in the database', async () => {
    for (let failures = 0; failures < 3; failures++) await tryIn('wrong');
    for (let failures = 0; failures < 2; failures++) {
      const signIn = auth.credential.signIn({ credential: ada.email, password: 'wrong' });
      await expect(signIn).rejects.toMatchObject({ code: 'invalid_credentials' });
    }
    expect(await tryIn(ada.password)).toBe('rate_limited');
    expect(await rows(database, 'SELECT hits FROM rate_limits')).toEqual([{ hits: 5 }]);
  });

  test('a transaction holds no lock on a counter, so that it holds up no other', async () => {
    const signIn = (transaction?: Transaction) =>
      auth.credential
        .signIn({ credential: ada.email, password: 'wrong', transaction })
        .catch(() => undefined);
    await own.transaction(async (transaction) => {
      await signIn(transaction);
      await signIn();
      await own.transaction((other) => signIn(other));
    });
    expect(await rows(database, 'SELECT hits FROM rate_limits')).toEqual([{ hits: 3 }]);
  });

  test('a refused attempt does not wait for another one, which might wait for a lock of its transaction', async () => {
    await auth.close();
    auth = open({ account: { failures: 1, firstPause: 900, maxPause: 900 } });
    const { id } = (await auth.users.find({ email: ada.email })) as { id: string };
    const isReserved = async () => (await rows(database, 'SELECT hits FROM rate_limits')).length > 0;
    let waiting: Promise<unknown> | undefined;
    await own.transaction(async (transaction) => {
      await auth.users.update(id, { username: 'ada', transaction });
      waiting = own.transaction((other) =>
        auth.credential.signIn({ credential: ada.email, password: ada.password, transaction: other }),
      );
      waiting.catch(() => undefined);
      while (!(await isReserved())) await new Promise((resolve) => setTimeout(resolve, 5));
      const refused = auth.credential.signIn({ credential: ada.email, password: 'wrong', transaction });
      await expect(refused).rejects.toMatchObject({ code: 'rate_limited' });
    });
    await expect(waiting).resolves.toMatchObject({ user: { id } });
  });

  test('the connections for them are opened like the app’s, at most two, and closed with the Auth', async () => {
    const opened: unknown[] = [];
    const ended: unknown[] = [];
    own.addHook('beforeConnect', (config) => void opened.push(config));
    own.addHook('afterDisconnect', (connection: unknown) => void ended.push(connection));
    await own.transaction(async (transaction) => {
      await Promise.all(
        Array.from({ length: 4 }, () =>
          own.transaction((other) =>
            auth.credential
              .signIn({ credential: ada.email, password: 'wrong', transaction: other })
              .catch(() => 0),
          ),
        ),
      );
      return transaction;
    });
    const before = ended.length;
    await auth.close();
    expect(ended.length - before).toBeGreaterThan(0);
    expect(ended.length - before).toBeLessThanOrEqual(2);
    expect(opened.length).toBeGreaterThan(0);
  });
}
