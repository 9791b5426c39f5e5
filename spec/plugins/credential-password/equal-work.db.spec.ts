import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ada, password, type SpecApp, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { importUsers } from '../../support/import-users.js';
import { loggingSequelize } from '../../support/statements.js';

const plugin = () => password({ concealExistingEmails: true, verifyEmailBy: 'link' });

let app: SpecApp<readonly [ReturnType<typeof plugin>]>;
let statements: string[] = [];
const sent: string[] = [];

beforeAll(async () => {
  app = await startApp({
    plugins: [plugin()],
    tables: {},
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      const email = { send: ({ to }: { to: string }) => sent.push(to) };
      const rateLimit = { mail: { limit: 100, window: 60 } };
      // Only over https, the browsers of sign-ups are remembered.
      return { database: own.sequelize, baseUrl: 'https://app.example.com', email, rateLimit };
    },
  });
  await importUsers(app.auth, [{ email: ada.email }]);
  // Begins the counters of the address.
  await workOf(() => signUp('first@example.com'), { tokens: 1, mails: 1 });
  await workOf(() => requestReset('first@example.com'), { tokens: 1, mails: 1 });
});
afterAll(() => app.stop());

const signUp = (email: string) =>
  app.http.post('/auth/signup/credential').send({ email, password: ada.password }).expect(202);
const requestReset = (email: string) =>
  app.http.post('/auth/passwords/request-reset').send({ email }).expect(202);

const tokens = async () =>
  Number((await rows<{ n: number }>(app.database, 'SELECT COUNT(*) AS n FROM one_time_tokens'))[0]?.n);

const workSoFar = () =>
  statements
    .map((statement) => {
      const [, verb, table] =
        /\b(SELECT|INSERT|UPDATE|DELETE)\b(?:.*?\b(?:FROM|INTO|UPDATE)|(?<=UPDATE))\s+[`"]?(\w+)/s.exec(
          statement,
        ) ?? [];
      return `${verb} ${table}`;
    })
    // The first count of a mailbox in an hour is an INSERT after the UPDATE, whether or not it has an account.
    .filter((step) => step !== 'INSERT rate_limits');

/** What a request does in the database, as verbs and tables, and who gets an email. */
async function workOf(request: () => PromiseLike<unknown>, expected: { tokens: number; mails: number }) {
  statements.length = 0;
  sent.length = 0;
  await request();
  // The work goes on after the response, and ends with a token and then an email.
  const inserts = () => workSoFar().filter((step) => step === 'INSERT one_time_tokens').length;
  const end = Date.now() + 5000;
  while ((inserts() < expected.tokens || sent.length < expected.mails) && Date.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 5));
  expect([inserts(), sent.length]).toEqual([expected.tokens, expected.mails]);
  return { work: workSoFar(), sent: [...sent] };
}

describe('the work for an email', () => {
  test('of a reset request is the same whether or not it has an account', async () => {
    const known = await workOf(() => requestReset(ada.email), { tokens: 1, mails: 1 });
    const unknown = await workOf(() => requestReset('nobody@example.com'), { tokens: 1, mails: 0 });
    expect(known.sent).toEqual([ada.email]);
    expect(unknown.work).toEqual(known.work);
  });

  test('of a concealed sign-up after the response is the same whether or not it has an account', async () => {
    // Statements with hashes, or with what is to be sent, are not logged.
    const known = await workOf(() => signUp(ada.email), { tokens: 1, mails: 1 });
    const unknown = await workOf(() => signUp('new@example.com'), { tokens: 1, mails: 1 });
    expect([known.sent, unknown.sent]).toEqual([[ada.email], ['new@example.com']]);
    // The refused one rolls back before it looks whether the email is held.
    expect(unknown.work.sort()).toEqual(known.work.sort());
  });

  test('leaves a token that belongs to nobody, names no email, and is pruned', async () => {
    await workOf(() => requestReset('somebody@example.com'), { tokens: 1, mails: 0 });
    const left = await rows<{ email: string; purpose: string }>(
      app.database,
      "SELECT email, purpose FROM one_time_tokens WHERE user_id IS NULL AND purpose = 'reset-password'",
    );
    expect(new Set(left.map(({ email }) => email))).toEqual(new Set(['']));
    await rows(app.database, "UPDATE one_time_tokens SET expires_at = '2020-01-01 00:00:00'");
    await app.auth.prune();
    expect(await tokens()).toBe(0);
  });
});
