import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { importUsers } from '../support/import-users.js';
import { outboxOf, untilDue } from '../support/outbox.js';
import { startProcess } from '../support/processes.js';
import { settled } from '../support/sessions.js';
import { smtpEmail, startSmtp } from '../support/smtp.js';

let smtp: Awaited<ReturnType<typeof startSmtp>>;
let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeEach(async () => {
  smtp = await startSmtp();
  app = await startApp({
    plugins: [password()],
    config: { baseUrl: 'http://app.example.com', email: smtpEmail(smtp.port) },
  });
});
afterEach(async () => {
  await app.stop();
  await smtp.stop();
});

const task = (action: string) => ({ url: app.database.url, port: smtp.port, action });

test('a process that is killed between the commit and the sending loses no email: another one sends it', async () => {
  const { id: userId } = await app.auth.users.create({ ...ada, emailVerified: true });
  const process = await startProcess('outbox', { ...task('set-password-and-hang'), userId });
  expect(await process.go()).toBe('about to send');
  process.kill();
  await app.auth.credential.signIn({ credential: ada.email, password: 'a difference engine' });
  expect(smtp.mails).toEqual([]);
  // Nobody knows yet that it is dead.
  expect(await app.auth.outbox.deliver()).toEqual({ sent: 0, failed: 0 });
  await untilDue(app.database);
  expect(await app.auth.outbox.deliver()).toEqual({ sent: 1, failed: 0 });
  expect(smtp.mails.map(({ to }) => to)).toEqual([ada.email]);
  expect(smtp.mails[0]?.source).toContain('Your password was changed');
});

test.each([
  ['between the statements of a change and its commit', 'INSERT INTO outbox', false],
  ['right after the commit of a change', 'COMMIT', true],
])('a process that is killed %s has written down all of it, or nothing', async (_when, last, isDone) => {
  const { id: userId } = await app.auth.users.create({ ...ada, emailVerified: true });
  const { token } = await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
  const killed = await startProcess('outbox', { ...task('set-password-and-die'), userId, last });
  await expect(killed.go()).rejects.toThrow('ended');
  const password = isDone ? 'a difference engine' : ada.password;
  await app.auth.credential.signIn({ credential: ada.email, password });
  const session = app.auth.getSession({ headers: { cookie: `latchkey=${token}` } });
  await (isDone ? expect(session).rejects.toMatchObject({ code: 'invalid_session' }) : session);
  // The notice, and the webhook.
  const written = await outboxOf(app.database);
  expect(written.map(({ kind }) => kind).sort()).toEqual(
    isDone ? ['password-changed', 'password.changed'] : [],
  );
});

test('two processes send a hundred emails, each of them once', async () => {
  const emails = Array.from({ length: 100 }, (_, index) => `user-${index}@example.com`);
  await importUsers(
    app.auth,
    emails.map((email) => ({ email })),
  );
  const { port } = smtp;
  await smtp.stop();
  for (const email of emails) await app.auth.credential.requestPasswordReset({ email });
  await settled(app.auth);
  expect((await outboxOf(app.database)).map(({ state }) => state)).toEqual(emails.map(() => 'waiting'));
  await smtp.start();
  expect(smtp.port).toBe(port);
  const processes = await Promise.all([1, 2].map(() => startProcess<number>('outbox', task('deliver'))));
  await untilDue(app.database);
  const sent = await Promise.all(processes.map((one) => one.go()));
  expect(sent.reduce((a, b) => a + b)).toBe(100);
  expect(smtp.mails.map(({ to }) => to).sort()).toEqual([...emails].sort());
  const left = await rows(app.database, "SELECT id FROM outbox WHERE state <> 'sent' OR content IS NOT NULL");
  expect(left).toEqual([]);
});
