import { afterEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { type AuthConfig, createAuth, type MailMessage } from '../../lib/index.js';
import { ada, logEveryLine, password, SECRET, signedIn, startApp } from '../support/app.js';
import { allSent, BASE_URL, type MailApp, startMailApp } from '../support/mail-app.js';
import { untilDue } from '../support/outbox.js';
import { alsoToPino } from '../support/pino.js';

type Plugins = readonly [ReturnType<typeof password>];
type Email = NonNullable<AuthConfig<Plugins>['email']>;

let app: MailApp<Plugins>;
const start = async (email: Partial<Email> = {}, config: Partial<AuthConfig<Plugins>> = {}) => {
  app = await startMailApp({
    plugins: [password({ sendVerificationOnSignUp: true })],
    config: { ...config, email: email as Email },
  });
};
const signUp = (person = ada) => app.http.post('/auth/signup/credential').send(person).expect(201);
const requestReset = (email = ada.email) =>
  app.http.post('/auth/passwords/request-reset').send({ email }).expect(202);

describe('an email', () => {
  afterEach(() => app.stop());

  test('is sent after a sign-up only if the option is set', async () => {
    app = await startMailApp({ plugins: [password()] });
    await app.noMailOf(() => signUp());
    const browser = await app.browser();
    await browser.post('/auth/signin/credential').send({ credential: ada.email, password: ada.password });
    const mail = await app.mailOf(() => browser.post('/auth/email-verifications').expect(202));
    expect(mail.kind).toBe('verify-email');
    expect(() =>
      createAuth({
        database: 'sqlite:x',
        secret: SECRET,
        plugins: [password({ sendVerificationOnSignUp: true })],
      }),
    ).toThrow('sendVerificationOnSignUp requires email');
  });

  test('contains a link, a token and the user, for a sign-up and for a password reset', async () => {
    await start();
    const verify = await app.mailOf(() => signUp());
    expect(Object.keys(verify).sort()).toEqual(
      ['code', 'details', 'html', 'kind', 'language', 'subject', 'text', 'to', 'token', 'url', 'user'].sort(),
    );
    expect(verify).toMatchObject({
      kind: 'verify-email',
      to: ada.email,
      user: { email: ada.email, emailVerifiedAt: null },
      subject: 'Confirm your email - app.example.com',
      url: `${BASE_URL}/verify-email?token=${verify.token}`,
    });
    const lost = await app.mailOf(() => requestReset());
    expect(lost).toMatchObject({
      kind: 'reset-password',
      to: ada.email,
      user: { email: ada.email },
      subject: 'Choose a new password - app.example.com',
      url: `${BASE_URL}/reset-password?token=${lost.token}`,
    });
    for (const { text, html, url, token, user } of [verify, lost]) {
      expect(token).toMatch(/^lkm_[A-Za-z0-9_-]{48}$/);
      expect(text).toContain(`\n${url}\n`);
      expect(html).toContain(`<a href="${url}" `);
      expect(JSON.stringify(user)).not.toMatch(/hash|bcrypt|epoch/i);
    }
    expect(lost.token).not.toBe(verify.token);
  });

  test('names the app and looks as configured, also if it was written before', async () => {
    await start({ send: () => Promise.reject(new Error('down')) });
    await app.auth.credential.signUp(ada);
    await allSent(app.auth);
    const sent: MailMessage[] = [];
    const next = createAuth({
      database: app.database.url,
      secret: SECRET,
      plugins: [password()],
      baseUrl: BASE_URL,
      appName: '<Example>',
      email: {
        send: (mail) => sent.push(mail),
        brand: { logoUrl: '/logo.png', color: '#ff0', footer: 'A & B' },
      },
    });
    const { entries } = await next.outbox.list();
    await untilDue(app.database);
    await next.outbox.deliver();
    await next.close();
    expect(entries).toHaveLength(1);
    expect(sent).toHaveLength(1);
    const { subject, text, html } = sent[0]!;
    expect(subject).toBe('Confirm your email - <Example>');
    expect(text).toMatch(/\n\n— <Example>\n\nA & B\n$/);
    for (const part of [
      `<img src="${BASE_URL}/logo.png" alt="&lt;Example&gt;" `,
      'background-color:#ff0;color:#000000;',
      '>— &lt;Example&gt;</p>',
      '>A &amp; B</p>',
    ])
      expect(html).toContain(part);
  });

  test('links to the configured pages and keeps their query string', async () => {
    await start({
      verifyUrl: 'https://www.example.com/confirm?lang=de&next=%2Fhome',
      resetUrl: 'https://www.example.com/#/reset',
    });
    const verify = await app.mailOf(() => signUp());
    expect(verify.url).toBe(`https://www.example.com/confirm?lang=de&next=%2Fhome&token=${verify.token}`);
    // In HTML, an ampersand is escaped.
    expect(verify.html).toContain(`lang=de&amp;next=%2Fhome&amp;token=${verify.token}`);
    const lost = await app.mailOf(() => requestReset());
    expect(lost.url).toBe(`https://www.example.com/?token=${lost.token}#/reset`);
  });

  test('is sent to the stored address, not to the typed one', async () => {
    await start();
    await app.mailOf(() => signUp());
    const lost = await app.mailOf(() => requestReset('  ADA@Example.COM '));
    expect(lost.to).toBe(ada.email);
    await app.auth.models.User.update({ email: 'moved@example.com' }, { where: { email: ada.email } });
    await app.noMailOf(() => requestReset());
    expect((await app.mailOf(() => requestReset('moved@example.com'))).to).toBe('moved@example.com');
  });

  test('is not sent to unknown, invalid and look-alike addresses, and the response is the same', async () => {
    await start({}, { rateLimit: false });
    await app.mailOf(() => signUp());
    const answers: unknown[] = [];
    const ask = async (email: string) => {
      const { status, text, headers } = await requestReset(email);
      const { date, ...rest } = headers;
      answers.push({ status, text, rest });
    };
    await app.mailOf(() => ask(ada.email));
    await app.noMailOf(async () => {
      for (const email of [
        'nobody@example.com',
        'no address',
        'ada@example.com,eve@example.com',
        'ada＠example.com',
        'ada@example.com\u200b',
        '"ada"@example.com',
        '%',
      ])
        await ask(email);
    });
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: 202, text: '' });
  });
});

describe('a send function', () => {
  afterEach(() => app.stop());

  test.each<[string, (message: MailMessage) => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no connection to the mail server');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no connection to the mail server'))],
  ])(
    'that %s does not affect the response, and the error is logged without the token',
    async (_how, send) => {
      const tokens: string[] = [];
      await start({
        send: (message) => {
          tokens.push(message.token);
          return send(message);
        },
      });
      logEveryLine(app.auth);
      const browser = await signedIn(app);
      await browser.post('/auth/email-verifications').expect(202);
      await requestReset();
      await requestReset('nobody@example.com');
      const failures = () =>
        app.log.filter((line) => line.startsWith('error latchkey: an email was not sent'));
      await allSent(app.auth);
      expect(tokens).toHaveLength(3);
      const lines = failures();
      expect(lines).toHaveLength(3);
      for (const token of tokens) expect(lines.join()).not.toContain(token);
    },
  );

  test.each<[string, (message: MailMessage) => unknown]>([
    ['url', ({ url }) => new Error(`boom ${url}`)],
    ['text', ({ text }) => new Error(text)],
    ['html', ({ html }) => new Error(html)],
    ['token', ({ token }) => token],
    ['url, encoded', ({ url }) => new Error(`GET /send?link=${encodeURIComponent(url)}`)],
    ['message', (message) => new Error(JSON.stringify(message))],
    ['message in a cause', ({ text }) => new Error('not sent', { cause: new Error(text) })],
    ['token in a code', ({ token }) => Object.assign(new Error('no'), { code: token })],
    ['message itself', (message) => message],
  ])('that fails with the %s causes one log line without the token', async (_what, failure) => {
    const tokens: string[] = [];
    await start({
      send: async (message) => {
        tokens.push(message.token);
        throw failure(message);
      },
    });
    logEveryLine(app.auth);
    alsoToPino(internalsOf(app.auth).core.settings.log, (line) => app.log.push(`pino ${line}`));
    await app.auth.credential.signUp(ada);
    await requestReset();
    const failures = () => app.log.filter((line) => line.startsWith('error latchkey: an email was not sent'));
    await allSent(app.auth);
    expect(tokens.length).toBeGreaterThan(0);
    expect(failures()).toHaveLength(tokens.length);
    expect(app.log.filter((line) => line.startsWith('pino {'))).toHaveLength(tokens.length);
    for (const token of tokens) expect(app.log.join()).not.toContain(token.slice(4));
    for (const line of app.log) expect(line).not.toMatch(/[\n\r]/);
  });

  test('that hangs does not delay the response', async () => {
    let release = () => {};
    const sent = new Promise<void>((resolve) => {
      release = resolve;
    });
    await start({ send: () => sent });
    const browser = await signedIn(app);
    await browser.post('/auth/email-verifications').expect(202);
    await requestReset();
    await browser.get('/auth/me').expect(200);
    release();
  });

  test('is completed before the app closes, so that no email is lost', async () => {
    await start();
    await signUp();
    let sent = 0;
    let release = () => {};
    const isClosing = new Promise<void>((resolve) => {
      release = resolve;
    });
    const closing = createAuth({
      database: app.database.url,
      secret: SECRET,
      plugins: [password({ sendVerificationOnSignUp: true })],
      baseUrl: BASE_URL,
      email: {
        send: async () => {
          await isClosing;
          sent++;
        },
      },
    });
    await closing.credential.signUp({ email: 'late@example.com', password: ada.password });
    await closing.credential.requestPasswordReset({ email: ada.email });
    const closed = closing.close();
    release();
    await closed;
    expect(sent).toBe(2);
  });
});

describe('without email in the config', () => {
  test('there are no email routes, and no email is sent', async () => {
    const plain = await startApp({ plugins: [password()] });
    for (const path of ['passwords/request-reset', 'passwords/reset', 'email-verifications', 'verify-email'])
      await plain.http.post(`/auth/${path}`).send({}).expect(404);
    expect(JSON.stringify(plain.auth.openapi())).not.toMatch(/request-reset|verify-email/);
    await expect(plain.auth.credential.requestPasswordReset({ email: ada.email })).rejects.toThrow(
      /email: \{ send \}/,
    );
    await plain.auth.credential.signUp(ada);
    expect(plain.log.join()).not.toContain('mail');
    await plain.stop();
  });
});
