import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { admin, credentialPassword, suspension } from '../../../lib/index.js';
import { type SpecApp, sessionCookie, startApp } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { mailbox } from '../../support/mailbox.js';
import { settled } from '../../support/sessions.js';
import { loggingSequelize } from '../../support/statements.js';

// Whether an address has an account must show neither in the response nor in the work that delays the next one.
const plugins = [
  credentialPassword({ resetBy: 'code', bcryptCost: 4 }),
  suspension(),
  admin({ adminEmails: ['admin@example.com'] }),
] as const;
const NEW_PASSWORD = 'a difference engine';
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
      };
    },
  });
  for (const name of ['known', 'known-too', 'suspended'])
    await app.auth.users.create({ email: `${name}@example.com`, emailVerified: true });
  const suspended = await app.auth.users.find({ email: 'suspended@example.com' });
  await app.auth.suspension.suspend(suspended?.id ?? '');
  // Begins the counters of the process.
  await workOf('first');
});
afterAll(() => app.stop());

function steps() {
  return statements
    .map((line) => {
      const [, verb, table] =
        /\b(SELECT|INSERT|UPDATE|DELETE)\b(?:.*?\b(?:FROM|INTO|UPDATE)|(?<=UPDATE))\s+[`"(]?(\w+)/s.exec(
          line,
        ) ?? [];
      return `${verb} ${table}`;
    })
    .filter((step) => step !== 'INSERT rate_limits');
}

/** What happens after a request and after wrong codes, and who gets which email. */
async function workOf(name: string) {
  const email = `${name}@example.com`;
  statements.length = 0;
  mails.mails.length = 0;
  const browser = app.browser();
  const answer = await browser.post('/auth/passwords/request-reset').send({ email });
  await settled(app.auth);
  const asking = steps();
  const [row] = await rows<{ mails: number; sent_at: unknown }>(
    app.database,
    `SELECT mails, sent_at FROM code_requests WHERE email = '${email}'`,
  );
  statements.length = 0;
  const wrong = { code: '0', new_password: NEW_PASSWORD };
  const tried = [];
  for (let time = 0; time < 6; time++) {
    const { status, body, headers } = await browser.post('/auth/passwords/reset').send(wrong);
    tried.push([status, body.code, Object.keys(headers).sort()]);
  }
  const shown = [
    answer.status,
    Object.keys(answer.headers).sort(),
    answer.headers['content-length'],
    Object.keys(answer.body),
    sessionCookie(answer, 'latchkey-reset')?.value.length,
    tried,
  ];
  return {
    shown,
    asking,
    trying: steps(),
    row,
    kinds: mails.mails.map(({ kind, to }) => [kind, to === email]),
  };
}

test.each([
  ['unknown', []],
  ['suspended', [['reset-code', true]]],
])('a request for a %s address, and wrong codes, do as much as for a known one', async (name, kinds) => {
  const known = await workOf(name === 'unknown' ? 'known' : 'known-too');
  expect(known.kinds).toEqual([['reset-code', true]]);
  expect(known.row).toMatchObject({ mails: 1, sent_at: expect.anything() });
  const other = await workOf(name);
  expect(other.kinds).toEqual(kinds);
  expect(other.row?.mails).toBe(1);
  expect(other.row?.sent_at === null).toBe(name === 'unknown');
  expect(other.asking.length).toBeGreaterThan(4);
  expect(other.asking).toEqual(known.asking);
  expect(other.trying.length).toBeGreaterThan(4);
  expect(other.trying).toEqual(known.trying);
  expect(other.shown).toEqual(known.shown);
});
