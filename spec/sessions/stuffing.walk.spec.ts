import { afterAll, beforeAll, expect, test } from '@jest/globals';
import bcrypt from 'bcrypt';
import type { Response } from 'supertest';
import { ada, password, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { importUsers } from '../support/import-users.js';
import { mailbox } from '../support/mailbox.js';
import { ago, DAY, settled } from '../support/sessions.js';

// Right pairs that another service has leaked, tried from browsers that no account knows (credential stuffing).
const ACCOUNTS = 300;
const AT_ONCE = 20;
const plugins = [password({ unknownBrowser: 'code' })] as const;
const emails = Array.from({ length: ACCOUNTS }, (_, index) => `user${index}@example.com`);
let app: SpecApp<typeof plugins>;
let mails: ReturnType<typeof mailbox>;

beforeAll(async () => {
  mails = mailbox();
  app = await startApp({
    plugins,
    config: { baseUrl: 'http://app.example.com', bearerEnabled: true, email: { send: mails.send } },
  });
  const passwordHash = await bcrypt.hash(ada.password, 4);
  // All are imported. Some have signed in here long ago, the others never.
  const imported = emails.map((email) => ({ email, passwordHash, emailVerified: true }));
  expect((await importUsers(app.auth, imported)).users).toHaveLength(ACCOUNTS);
  const dormant = 'UPDATE users SET first_used_at = :at WHERE email LIKE :some';
  await rows(app.database, dormant, { at: ago(400 * DAY), some: 'user%5@example.com' });
}, 300_000);
afterAll(() => app.stop());

/** Sends a request for each account, a few at once. */
async function each(send: (email: string) => PromiseLike<Response>): Promise<Map<string, Response>> {
  const answers = new Map<string, Response>();
  for (let from = 0; from < ACCOUNTS; from += AT_ONCE)
    await Promise.all(
      emails.slice(from, from + AT_ONCE).map(async (email) => answers.set(email, await send(email))),
    );
  return answers;
}

const signIn = (email: string, cookie = '') =>
  app.http
    .post('/auth/signin/credential')
    .set('cookie', cookie)
    .send({ credential: email, password: ada.password });
const sessionsIn = (answers: Map<string, Response>) =>
  [...answers.values()].filter(({ body }) => 'session' in body).length;

test('there is no session, and the owners, whose browsers the accounts know, sign in without an email', async () => {
  const stuffed = await each((email) => signIn(email));
  expect([...stuffed.values()].every(({ status }) => status === 200)).toBe(true);
  expect(sessionsIn(stuffed)).toBe(0);
  expect(await app.auth.models.Session.count()).toBe(0);
  expect(await app.auth.models.Device.count()).toBe(0);

  // The owners get to know what is in their mailboxes.
  await settled(app.auth);
  const codes = new Map(mails.mails.map(({ to, code }) => [to, code]));
  expect(codes.size).toBe(ACCOUNTS);
  const done = await each((email) =>
    app.http.post('/auth/signin/second-factor').send({
      method: 'email_code',
      code: codes.get(email),
      pending_token: stuffed.get(email)?.body.second_factor.pending_token,
    }),
  );
  expect(sessionsIn(done)).toBe(ACCOUNTS);

  await settled(app.auth);
  const before = mails.mails.length;
  const again = await each((email) => {
    const device = sessionCookie(done.get(email) as Response, 'latchkey-device')?.value;
    return signIn(email, `latchkey-device=${device}`);
  });
  expect(sessionsIn(again)).toBe(ACCOUNTS);
  await settled(app.auth);
  expect(mails.mails.length).toBe(before);
}, 300_000);
