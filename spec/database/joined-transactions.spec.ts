import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Sequelize, Transaction } from 'sequelize';
import { connectByUrl } from '../../lib/database/connect.js';
import { createAuth } from '../../lib/index.js';
import type { MailMessage } from '../../lib/mail/message.js';
import { memoryLogger, password, SECRET } from '../support/app.js';
import { createDatabase, dialect, rows, type SpecDatabase } from '../support/database.js';

const person = (name: string) => ({ email: `${name}@example.com`, password: 'an analytical engine' });
const undone = new Error('the app undoes it');

let database: SpecDatabase;
let own: Sequelize;
let mails: MailMessage[];
let events: string[];
let auth: ReturnType<typeof open>;

function open() {
  return createAuth({
    database: own,
    secret: SECRET,
    baseUrl: 'http://localhost',
    rateLimit: false,
    logger: memoryLogger(),
    email: { send: (message) => void mails.push(message) },
    plugins: [password({ sendVerificationOnSignUp: true })],
  });
}

/** Opens the database as an app might. On SQLite, its transactions take the lock at their start, and wait for it. */
function connect(max = 5): Sequelize {
  if (dialect !== 'sqlite') return new Sequelize(database.url, { logging: false, pool: { max } });
  const sqlite = connectByUrl(database.url) as Sequelize;
  const { options } = sqlite as unknown as { options: { transactionType: string; retry: { max: number } } };
  options.transactionType = Transaction.TYPES.IMMEDIATE;
  options.retry.max = 30;
  return sqlite;
}

beforeEach(async () => {
  database = await createDatabase();
  own = connect();
  [mails, events] = [[], []];
  auth = open();
  await auth.migrate();
  for (const name of ['user.created', 'session.created'] as const)
    auth.on(name, () => void events.push(name));
});
afterEach(async () => {
  await auth.close();
  await own.close();
  await database.drop();
});

const emails = async () =>
  (await rows<{ email: string }>(database, 'SELECT email FROM users ORDER BY email')).map(
    ({ email }) => email,
  );

test('what a call writes is committed with the app’s transaction, and its events and emails go out then', async () => {
  await own.transaction(async (transaction) => {
    await auth.credential.signUp({ ...person('ada'), transaction });
    expect(await emails()).toEqual([]);
    expect(events).toEqual([]);
  });
  expect(await emails()).toEqual(['ada@example.com']);
  expect(events).toEqual(['user.created']);
  await auth.close();
  expect(mails.map(({ to }) => to)).toEqual(['ada@example.com']);
});

test('nothing of it remains after a rollback', async () => {
  const work = own.transaction(async (transaction) => {
    await auth.credential.signUp({ ...person('ada'), transaction });
    throw undone;
  });
  await expect(work).rejects.toBe(undone);
  expect(await emails()).toEqual([]);
  await auth.close();
  expect([events, mails]).toEqual([[], []]);
});

test('a refused call leaves the transaction usable', async () => {
  await auth.credential.signUp(person('ada'));
  await own.transaction(async (transaction) => {
    await auth.credential.signUp({ ...person('bob'), transaction });
    const twice = auth.credential.signUp({ ...person('ada'), transaction });
    await expect(twice).rejects.toMatchObject({ code: 'email_taken' });
    await auth.credential.signUp({ ...person('eve'), transaction });
  });
  expect(await emails()).toEqual(['ada@example.com', 'bob@example.com', 'eve@example.com']);
});

test('a session can be created for a user of the transaction, and revoked in another', async () => {
  const signUp = async () => {
    const issued = await own.transaction(async (transaction) => {
      const created = await auth.credential.signUp({ ...person('ada'), transaction });
      return auth.createSession(created?.user.id ?? '', { transaction });
    });
    return {
      userId: issued.user.id,
      sessionId: issued.session.id,
      headers: { cookie: `latchkey=${issued.token}` },
    };
  };
  const { userId, sessionId, headers } = await signUp();
  expect(events).toEqual(['user.created', 'session.created']);
  const revoke = own.transaction(async (transaction) => {
    expect(await auth.revokeSessionById(userId, sessionId, { transaction })).toBe(true);
    throw undone;
  });
  await expect(revoke).rejects.toBe(undone);
  expect((await auth.getSession({ headers })).session?.id).toBe(sessionId);
  await own.transaction((transaction) => auth.revokeSessionById(userId, sessionId, { transaction }));
  await expect(auth.getSession({ headers })).rejects.toMatchObject({ code: 'invalid_session' });
});
