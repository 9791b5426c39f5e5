import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { SMTPServer } from 'smtp-server';
import { nodemailerEmail } from '../../lib/nodemailer.js';
import { ada, password, type SpecApp, signedIn, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';
import { settled } from '../support/sessions.js';

// What contributing/learned-from.md says of addresses: who gets a mail, and what one can do to it. A real SMTP server receives
// what the app sends through nodemailer.
const mails: { to: string[]; source: string }[] = [];
let server: SMTPServer;
let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeAll(async () => {
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, { envelope }, done) {
      let source = '';
      stream.on('data', (chunk) => {
        source += chunk;
      });
      stream.on('end', () => {
        mails.push({ to: envelope.rcptTo.map(({ address }) => address), source });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  app = await startApp({
    plugins: [password({ sendVerificationOnSignUp: true })],
    config: {
      baseUrl: 'http://app.example.com',
      email: nodemailerEmail(transport, { from: 'app@example.com' }),
    },
  });
});
afterEach(async () => {
  await settled(app.auth);
  mails.length = 0;
  await rows(app.database, 'DELETE FROM users');
});
afterAll(async () => {
  await app.stop();
  await new Promise<void>((resolve) => server.close(resolve));
});

const signUp = (email: unknown) =>
  app.http.post('/auth/signup/credential').send({ email, password: ada.password });
const requestReset = (email: unknown) => app.http.post('/auth/passwords/request-reset').send({ email });
const users = () => rows<{ email: string }>(app.database, 'SELECT email FROM users');

/** An account, and the mails of its sign-up already received. */
async function account(email = ada.email) {
  await app.auth.users.create({ email, password: ada.password });
}

describe('a reset goes to the stored address of the account, and to nobody else', () => {
  test.each([
    ['CVE-2023-7028: a list of addresses', [ada.email, 'eve@evil.example']],
    ['CVE-2023-7028: a list of one', [ada.email]],
    ['CVE-2023-7028: an object', { 0: ada.email, 1: 'eve@evil.example' }],
  ])('%s', async (_title, email) => {
    await account();
    expectProblem(await requestReset(email), 422, 'validation_failed');
    await settled(app.auth);
    expect(mails).toEqual([]);
  });

  test.each([
    ['twice', 'email=ada%40example.com&email=eve%40evil.example'],
    ['as a list', 'email%5B%5D=ada%40example.com&email%5B%5D=eve%40evil.example'],
  ])('CVE-2023-7028: the field %s in a form', async (_title, form) => {
    await account();
    const { status } = await app.http.post('/auth/passwords/request-reset').type('form').send(form);
    expect(status).toBe(422);
    await settled(app.auth);
    expect(mails).toEqual([]);
  });

  test.each([
    ['the Kelvin sign', 'mike@example.com', 'mi\u212ae@example.com'],
    ['a dotless i', 'mike@example.com', 'm\u0131ke@example.com'],
    ['a long s in the domain', 'mike@site.example', 'mike@\u017fite.example'],
  ])('CVE-2019-19844: an address that equals it by Unicode case alone: %s', async (_title, owner, typed) => {
    await account(owner);
    await requestReset(typed);
    await settled(app.auth);
    // The domain is converted as browsers and mail programs do: to the same domain, so the mail is its owner's.
    expect(mails.flatMap(({ to }) => to).filter((to) => to !== owner)).toEqual([]);
    expect([201, 409, 422]).toContain((await signUp(typed)).status);
    expect(await users()).toEqual([{ email: owner }]);
  });

  test.each([
    ['an accent in the domain', 'julian@cure53.example', 'julian@c\u00fcre53.example'],
    ['an accent in the local part', 'julian@cure53.example', 'juli\u00e1n@cure53.example'],
    ['a full-width letter', 'julian@cure53.example', 'j\uff55lian@cure53.example'],
  ])(
    'CVE-2024-27295: an address that equals it by the collation of the database alone: %s',
    async (_title, owner, typed) => {
      await account(owner);
      await requestReset(typed);
      await requestReset(owner).expect(202);
      await settled(app.auth);
      expect(mails.map(({ to }) => to)).toEqual([[owner]]);
    },
  );
});

describe('one address is one mailbox', () => {
  test.each([
    ['CVE-2022-35924: two addresses', 'eve@evil.example,ada@example.com'],
    ['CVE-2022-35924: two addresses and a space', 'eve@evil.example, ada@example.com'],
    ['CVE-2022-35924: two addresses and a semicolon', 'eve@evil.example;ada@example.com'],
    ['GHSA-5jpx-9hw9-2fx4: a quoted local part', '"eve@evil.example"@example.com'],
    ['CVE-2025-13033: a quoted local part with a space', '"eve@evil.example x"@example.com'],
    ['CVE-2025-13033: a name and an address', 'ada@example.com <eve@evil.example>'],
    ['CVE-2025-13033: a comment', 'eve@evil.example(@example.com'],
    ['CVE-2021-23400: another header', 'ada@example.com\r\nBcc: eve@evil.example'],
    ['CVE-2021-23400: another header after a line feed', 'ada@example.com\nBcc:eve@evil.example'],
    ['CVE-2022-31127: markup', 'ada@example.com, <a href="http://evil.example">Claim your money</a>'],
    ['CVE-2022-31127: markup in the local part', '<b>ada</b>@example.com'],
    ['GHSA-rcmh-qjqh-p98v: groups in groups', `${'g:'.repeat(3000)}ada@example.com;`],
    ['GHSA-rcmh-qjqh-p98v: groups within the length of an address', `${'g:'.repeat(100)}ada@example.com;`],
  ])('%s is refused, and no mail is sent', async (_title, email) => {
    for (const answer of [await signUp(email), await requestReset(email)]) {
      // A reset says the same of an address that nobody can have.
      expect([answer.status, answer.body.code ?? null]).toEqual(
        answer.status === 202 ? [202, null] : [422, 'validation_failed'],
      );
    }
    expect((await signUp(email)).status).toBe(422);
    const browser = await signedIn(app, { email: 'eve@evil.example', password: ada.password });
    await settled(app.auth);
    mails.length = 0;
    await browser.post('/auth/email-changes').send({ new_email: email }).expect(422);
    await settled(app.auth);
    expect(mails).toEqual([]);
    expect(await users()).toEqual([{ email: 'eve@evil.example' }]);
  });

  test('CVE-2020-7769: an address that a mail program could take for an option is refused', async () => {
    await signUp('-oQ/tmp@example.com').expect(422);
    await signUp('-froot@example.com').expect(422);
    await settled(app.auth);
    expect(mails).toEqual([]);
  });
});
