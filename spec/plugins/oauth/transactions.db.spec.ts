import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Sequelize, Transaction } from 'sequelize';
import { createAuth, oauth } from '../../../lib/index.js';
import { oauth2 } from '../../../lib/providers.js';
import { memoryLogger, password, SECRET } from '../../support/app.js';
import { connectAsApp } from '../../support/app-database.js';
import { createDatabase, dialect, type SpecDatabase } from '../../support/database.js';
import { CLIENT } from '../../support/oidc.js';

const url = (path: string) => `http://127.0.0.1:1/${path}`;
const provider = (id: string) =>
  oauth2({
    ...CLIENT,
    id,
    authorizationUrl: url('authorize'),
    tokenUrl: url('token'),
    userinfoUrl: url('userinfo'),
  });

let database: SpecDatabase;
let own: Sequelize;
let auth: ReturnType<typeof open>;

function open() {
  return createAuth({
    database: own,
    secret: SECRET,
    baseUrl: 'http://localhost',
    rateLimit: false,
    logger: memoryLogger(),
    plugins: [password(), oauth(), provider('one'), provider('two')],
  });
}

beforeAll(async () => {
  database = await createDatabase();
  own = connectAsApp(database);
  auth = open();
  await auth.migrate();
});
afterAll(async () => {
  await auth.close();
  await own.close();
  await database.drop();
});

/** A user whose only ways to sign in are two providers. */
async function linkedTwice(email: string): Promise<string> {
  const { id: userId } = await auth.users.create({ email });
  for (const name of ['one', 'two']) {
    const now = new Date();
    const account = { id: randomUUID(), userId, provider: name, issuer: name, providerAccountId: email };
    const rest = { scopes: '', relinkRequired: false, refreshedAt: now, createdAt: now, updatedAt: now };
    await auth.models.Account.create({ ...account, ...rest } as never);
  }
  return userId;
}

test('a transaction that has removed one way to sign in cannot remove the last', async () => {
  const id = await linkedTwice('ada@example.com');
  await own.transaction(async (transaction) => {
    await auth.oauth.unlink(id, 'one', { transaction });
    const last = auth.oauth.unlink(id, 'two', { transaction });
    await expect(last).rejects.toMatchObject({ code: 'last_sign_in_method' });
  });
  expect(await auth.oauth.accounts(id)).toMatchObject([{ provider: 'two' }]);
});

// On SQLite, no other connection can write while the transaction is open.
if (dialect !== 'sqlite') {
  test('nor can one that does not see what another has removed', async () => {
    const id = await linkedTwice('bob@example.com');
    const isolationLevel = Transaction.ISOLATION_LEVELS.REPEATABLE_READ;
    const work = own.transaction({ isolationLevel }, async (transaction) => {
      // From now on, it sees the accounts as they are now.
      await own.query('SELECT * FROM accounts', { transaction });
      await auth.oauth.unlink(id, 'one');
      await auth.oauth.unlink(id, 'two', { transaction });
    });
    const refusal = dialect === 'mysql' ? { code: 'last_sign_in_method' } : { parent: { code: '40001' } };
    await expect(work).rejects.toMatchObject(refusal);
    expect(await auth.oauth.accounts(id)).toMatchObject([{ provider: 'two' }]);
  });
}
