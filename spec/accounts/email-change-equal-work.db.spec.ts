import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { BASE_URL } from '../support/mail-app.js';
import { loggingSequelize } from '../support/statements.js';

const plugin = () => password();

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
      const email = { send: ({ kind, to }: { kind: string; to: string }) => sent.push(`${kind} ${to}`) };
      const rateLimit = { mail: { limit: 100, window: 60 } };
      return { database: own.sequelize, baseUrl: BASE_URL, email, rateLimit };
    },
  });
});
afterAll(() => app.stop());

/** The statements without their values. */
const shapes = () =>
  statements.map((statement) =>
    statement
      .replace(/ \{.*$/s, '')
      .replace(/^Execut\w+ \([^)]*\): /, '')
      .replace(/(X|0x|')[^\s,)]*/g, '?')
      .replace(/\d+/g, 'n'),
  );

test('asking for an address that is taken sends the same statements, as many mails and the same answer', async () => {
  await app.auth.users.create({ ...ada, emailVerified: true });
  for (const email of ['held@example.com', 'taken@example.com']) await app.auth.users.create({ email });
  const browser = app.browser();
  const signIn = { credential: ada.email, password: ada.password };
  await browser.post('/auth/signin/credential').send(signIn).expect(200);
  const askFor = async (email: string) => {
    statements.length = 0;
    sent.length = 0;
    const { status, text, headers } = await browser.post('/auth/email-changes').send({ new_email: email });
    const { date: _, ...others } = headers;
    const end = Date.now() + 5000;
    while (sent.length < 2 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
    return { answer: { status, text, others }, work: shapes(), sent: [...sent].sort() };
  };
  // Begins the counters, and leaves a link to replace.
  await askFor('held@example.com');
  const free = await askFor('other@example.com');
  const taken = await askFor('taken@example.com');
  expect(free.sent).toEqual([`email-change-requested ${ada.email}`, 'verify-new-email other@example.com']);
  expect(taken.sent).toEqual([
    'email-change-conflict taken@example.com',
    `email-change-requested ${ada.email}`,
  ]);
  expect(taken.answer).toEqual(free.answer);
  expect(taken.work.length).toBeGreaterThan(5);
  expect(taken.work).toEqual(free.work);
});
