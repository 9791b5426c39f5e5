import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { EmailedCodes } from '../../../lib/crypto/emailed-codes.js';
import { digestInHex, tokenOfBytes } from '../../../lib/crypto/token.js';
import { createAuth, emailSignIn } from '../../../lib/index.js';
import { ada, memoryLogger, SECRET } from '../../support/app.js';
import { connectAsApp } from '../../support/app-database.js';
import { createDatabase, rows, type SpecDatabase } from '../../support/database.js';
import { mailbox } from '../../support/mailbox.js';

/** Codes and links are derived from the row and the secret, and are nowhere in the database. */
const NEW_SECRET = 'another secret of at least 32 characters';

let database: SpecDatabase;
let mails: ReturnType<typeof mailbox>;
let opened: { close: () => Promise<void> }[];
const open = (secret: string | string[], own: unknown = database.url) => {
  const auth = createAuth({
    database: own as string,
    secret,
    plugins: [emailSignIn()],
    email: { send: mails.send },
    baseUrl: 'http://app.example.com',
    rateLimit: false,
    outbox: { interval: false },
    logger: memoryLogger(),
  });
  opened.push(auth);
  return auth;
};
beforeEach(async () => {
  database = await createDatabase();
  mails = mailbox();
  opened = [];
  const auth = open(SECRET);
  await auth.migrate();
  await auth.importUsers([{ email: ada.email, emailVerified: true }]);
});
afterEach(async () => {
  for (const auth of opened) await auth.close();
  await database.drop();
});

async function ask(auth: ReturnType<typeof open>) {
  let pendingToken = '';
  const mail = await mails.mailOf(ada.email, 'sign-in-code', async () => {
    ({ pendingToken } = await auth.emailSignIn.request({ email: ada.email }));
  });
  return { pendingToken, mail };
}
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'session',
    (error) => error.code,
  );

test.each(['code', 'token'] as const)(
  'a %s goes on after a rotation, until the old secret is removed',
  async (what) => {
    const [before, rotated, after] = [open(SECRET), open([NEW_SECRET, SECRET]), open(NEW_SECRET)];
    const [first, second] = [await ask(before), await ask(before)];
    const confirm = (auth: typeof after, { pendingToken, mail }: typeof first) =>
      outcome(auth.emailSignIn.confirm({ [what]: mail[what], pendingToken }));
    expect(await confirm(rotated, first)).toBe('session');
    // The token is compared by its hash, which needs no secret.
    expect(await confirm(after, second)).toBe(what === 'code' ? 'invalid_code' : 'session');
  },
);

test('neither code nor token is in the database', async () => {
  const { pendingToken, mail } = await ask(open(SECRET));
  const tables = await Promise.all(
    ['emailed_sign_ins', 'outbox'].map((table) => rows(database, `SELECT * FROM ${table}`)),
  );
  const all = JSON.stringify(tables, (_key, value) =>
    value?.type === 'Buffer' ? Buffer.from(value).toString('latin1') : value,
  );
  for (const secret of [mail.code, mail.code.replace('-', ''), mail.token, pendingToken])
    expect(all).not.toContain(secret);
});

test('neither code nor token follows from the secret and what a client knows', async () => {
  const auth = open(SECRET);
  const { pendingToken, mail } = await ask(auth);
  // The salt is only in the row of the request.
  const codes = new EmailedCodes([SECRET]);
  const known = `${digestInHex(pendingToken)} ${ada.email}`;
  const code = codes.codeFor(`sign-in ${known}`);
  const token = tokenOfBytes('lkl_', codes.bytesFor(`sign-in-link ${known}`)[0]);
  expect(await outcome(auth.emailSignIn.confirm({ code, pendingToken }))).toBe('invalid_code');
  expect(await outcome(auth.emailSignIn.confirm({ token, pendingToken }))).toBe('sign_in_expired');
  expect(await outcome(auth.emailSignIn.confirm({ code: mail.code, pendingToken }))).toBe('session');
});

test('a code is not guessed in transactions of the app that are rolled back', async () => {
  // With one connection, which the app's transaction holds.
  const own = connectAsApp(database, 1);
  const auth = open(SECRET, own);
  const { pendingToken, mail } = await ask(auth);
  const attempt = (code: string) =>
    outcome(own.transaction((transaction) => auth.emailSignIn.confirm({ code, pendingToken, transaction })));
  const codes: string[] = [];
  for (let count = 0; count < 6; count++) codes.push(await attempt('BBBB-BBBB'));
  expect(codes).toEqual([...Array(4).fill('invalid_code'), 'sign_in_expired', 'sign_in_expired']);
  expect(await attempt(mail.code)).toBe('sign_in_expired');
  await auth.close();
  await own.close();
});

test('without links, no token is right', async () => {
  const auth = open(SECRET);
  const { pendingToken, mail } = await ask(auth);
  const without = createAuth({
    database: database.url,
    secret: SECRET,
    plugins: [emailSignIn({ link: false })],
    email: { send: mails.send },
    baseUrl: 'http://app.example.com',
    logger: memoryLogger(),
  });
  opened.push(without);
  expect(await outcome(without.emailSignIn.confirm({ token: mail.token, pendingToken }))).toBe(
    'sign_in_expired',
  );
  const other = await ask(without);
  expect(other.mail).toMatchObject({ token: '', url: '' });
  expect(other.mail.text).not.toContain('http');
  expect(
    await outcome(without.emailSignIn.confirm({ code: other.mail.code, pendingToken: other.pendingToken })),
  ).toBe('session');
});
