import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { admin, emailSignIn, suspension } from '../../../lib/index.js';
import { password, type SpecApp, sessionCookie, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { mailbox } from '../../support/mailbox.js';
import { settled } from '../../support/sessions.js';
import { loggingSequelize } from '../../support/statements.js';

// Whether an address has an account must show neither in the response nor in the work that delays the next one.
const plugins = [
  password(),
  emailSignIn(),
  suspension(),
  admin({ adminEmails: ['admin@example.com'] }),
] as const;
let app: SpecApp<typeof plugins>;
let statements: string[] = [];
const mails = mailbox();
beforeAll(async () => {
  app = await startApp({
    plugins,
    tables: {},
    async config(database) {
      const own = loggingSequelize(database);
      statements = own.statements;
      const rateLimit = { mail: { limit: 1000, window: 60 }, mailAddress: false, signIn: false } as const;
      return {
        database: own.sequelize,
        baseUrl: 'http://app.example.com',
        email: { send: mails.send },
        rateLimit,
        accountDeletion: { graceDays: 30 },
      };
    },
  });
  const made = async (name: string) =>
    (await app.auth.users.create({ email: `${name}@example.com`, emailVerified: true })).id;
  for (const other of ['suspended', 'closed', 'held', 'unknown']) await made(`known-${other}`);
  await app.auth.suspension.suspend(await made('suspended'));
  await app.auth.users.delete(await made('closed'));
  const { id: held } = await app.auth.users.create({ email: 'held@example.com' });
  await app.auth.models.AccountChange.create({
    id: '01900000-0000-7000-8000-000000000001',
    userId: held,
    kind: 'email-changed',
    email: 'held@example.com',
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 3_600_000),
  } as never);
  await app.auth.models.User.update({ email: 'moved@example.com' }, { where: { id: held } });
  // Begins the counters of the process.
  await workOf('first');
});
afterAll(() => app.stop());

/** What happens after a request, and who gets which email. */
async function workOf(name: string) {
  const email = `${name}@example.com`;
  statements.length = 0;
  mails.mails.length = 0;
  const answer = await app.http.post('/auth/signin/email').send({ email });
  await settled(app.auth);
  const work = statements
    .map((line) => {
      const [, verb, table] =
        /\b(SELECT|INSERT|UPDATE|DELETE)\b(?:.*?\b(?:FROM|INTO|UPDATE)|(?<=UPDATE))\s+[`"(]?(\w+)/s.exec(
          line,
        ) ?? [];
      return `${verb} ${table}`;
    })
    .filter((step) => step !== 'INSERT rate_limits');
  const [row] = await rows<{ mails: number; sent_at: unknown; tries: number }>(
    app.database,
    `SELECT mails, sent_at, tries FROM emailed_sign_ins WHERE email = '${email}'`,
  );
  const kinds = mails.mails.map(({ kind, to }) => [kind, to === email]);
  return { answer, work, row, kinds };
}

test.each([
  ['suspended', 'sign-in-code'],
  ['closed', 'no-account'],
  ['held', 'no-account'],
  ['unknown', 'no-account'],
])('a request for a %s address does as much as for a known one', async (name, kind) => {
  // The counters of a mailbox know how often it was asked for, so each address is asked for once.
  const known = await workOf(`known-${name}`);
  expect(known.kinds).toEqual([['sign-in-code', true]]);
  expect(known.row).toMatchObject({ mails: 1, sent_at: expect.anything() });
  const other = await workOf(name);
  expect(other.kinds).toEqual([[kind, true]]);
  expect(other.row?.mails).toBe(1);
  expect(other.row?.sent_at === null).toBe(kind === 'no-account');
  expect(other.work.length).toBeGreaterThan(4);
  expect(other.work).toEqual(known.work);
  const shown = ({ answer: { status, headers, body } }: typeof known) => [
    status,
    Object.keys(headers).sort(),
    headers['content-length'],
    Object.keys(body),
    sessionCookie({ headers } as never, 'latchkey-pending')?.value.length,
  ];
  expect(shown(other)).toEqual(shown(known));
  await app.auth.models.EmailedSignIn.destroy({ where: {} });
});
