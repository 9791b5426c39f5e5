import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { SMTPServer } from 'smtp-server';
import type { MailMessage } from '../lib/index.js';
import { nodemailerEmail } from '../lib/nodemailer.js';
import { ada, password, type SpecApp, signedIn, startApp } from './support/app.js';
import { allSent } from './support/mail-app.js';

interface Mail {
  readonly from: string;
  readonly to: string[];
  readonly source: string;
}

const mails: Mail[] = [];
let refuses = false;
let server: SMTPServer;
let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeAll(async () => {
  server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo: (_address, _session, done) => done(refuses ? new Error('no such mailbox here') : null),
    onData(stream, { envelope }, done) {
      let source = '';
      stream.on('data', (chunk) => {
        source += chunk;
      });
      stream.on('end', () => {
        const from = envelope.mailFrom ? envelope.mailFrom.address : '';
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), source });
        done();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.server.address() as AddressInfo;
  app = await startApp({
    plugins: [password({ sendVerificationOnSignUp: true })],
    config: {
      baseUrl: 'http://app.example.com',
      email: nodemailerEmail(createTransport({ host: '127.0.0.1', port, ignoreTLS: true }), {
        from: 'The app <app@example.com>',
      }),
    },
  });
});
afterAll(async () => {
  await app.stop();
  await new Promise<void>((resolve) => server.close(resolve));
});

const next = async () => {
  const before = mails.length;
  return async () => {
    const end = Date.now() + 5000;
    while (mails.length === before && Date.now() < end)
      await new Promise((resolve) => setTimeout(resolve, 10));
    return mails[before] as Mail;
  };
};

/** The first link in an email, as an email program shows it. */
function linkOf({ source }: Mail): URL {
  const text = source.replaceAll('=\r\n', '').replaceAll('=3D', '=');
  return new URL(/http:\S+token=[\w-]+/.exec(text)?.[0] ?? '');
}

test('nodemailerEmail sends emails through a real SMTP server, and the tokens in their links work', async () => {
  const verification = await next();
  const browser = await signedIn(app);
  const mail = await verification();
  expect([mail.from, mail.to]).toEqual(['app@example.com', [ada.email]]);
  expect(mail.source).toMatch(/^From: The app <app@example\.com>\r$/m);
  expect(mail.source).toMatch(/^To: ada@example\.com\r$/m);
  expect(mail.source).toMatch(/^Auto-Submitted: auto-generated\r$/m);
  expect(mail.source).toMatch(/^Subject: Confirm your email - app\.example\.com\r$/m);
  expect(mail.source).toMatch(/multipart\/alternative[\s\S]*text\/plain[\s\S]*text\/html/);
  const link = linkOf(mail);
  expect(link.origin + link.pathname).toBe('http://app.example.com/verify-email');
  const token = link.searchParams.get('token');
  const { body } = await browser
    .post('/auth/verify-email')
    .send({ token, password: ada.password })
    .expect(200);
  expect(body.user.email_verified_at).not.toBeNull();

  const reset = await next();
  await app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202);
  const resetLink = linkOf(await reset());
  expect(resetLink.pathname).toBe('/reset-password');
  await app.http
    .post('/auth/passwords/reset')
    .send({ token: resetLink.searchParams.get('token'), new_password: 'a difference engine' })
    .expect(204);
  await app.http
    .post('/auth/signin/credential')
    .send({ credential: ada.email, password: 'a difference engine' })
    .expect(200);
});

test('an SMTP server that rejects an email does not affect the response', async () => {
  refuses = true;
  await app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202);
  await allSent(app.auth);
  expect(app.log.join()).toContain('no such mailbox here');
});

/** What `send` throws when it is refused, by a server that answers everything in its own way. */
async function refusedBy(port: number, options: object = {}): Promise<unknown> {
  const { send } = nodemailerEmail(
    createTransport({ host: '127.0.0.1', port, ignoreTLS: true, ...options }),
    {
      from,
    },
  );
  const message = { to: ada.email, subject: 's', text: 't', html: 'h' } as MailMessage;
  return send(message).then(
    () => null,
    (error) => error,
  );
}

/** Runs `work` with a server that listens on a port. */
async function listening<T>(
  made: { listen(port: number, host: string, done: () => void): unknown; close(done: () => void): void },
  portOf: () => AddressInfo,
  work: (port: number) => Promise<T>,
): Promise<T> {
  await new Promise<void>((resolve) => void made.listen(0, '127.0.0.1', resolve));
  try {
    return await work(portOf().port);
  } finally {
    await new Promise<void>((resolve) => made.close(resolve));
  }
}

test.each([
  [550, true],
  [501, true],
  [450, false],
])(
  'an address that a server of LMTP takes at first and refuses after the email with %i',
  async (code, isFinal) => {
    const lmtp = new SMTPServer({
      lmtp: true,
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData(stream, _session, done) {
        stream.resume();
        const refused = Object.assign(new Error('not this one'), { responseCode: code });
        stream.on('end', () => (done as (error: null, answers: unknown[]) => void)(null, [refused]));
      },
    });
    const error = await listening(
      lmtp,
      () => lmtp.server.address() as AddressInfo,
      (port) => refusedBy(port, { lmtp: true }),
    );
    expect(error).toBeInstanceOf(Error);
    expect((error as { code: unknown }).code === 'mail_refused').toBe(isFinal);
  },
);

test('a server that refuses the app itself has not refused the address', async () => {
  const strict = new SMTPServer({
    disabledCommands: ['STARTTLS'],
    onAuth: (_auth, _session, done) => done(null, {}),
  });
  const auth = { user: 'app', pass: 'wrong' };
  const wrong = await listening(
    strict,
    () => strict.server.address() as AddressInfo,
    (port) => refusedBy(port, { auth }),
  );
  expect(wrong).toMatchObject({ code: 'EAUTH', responseCode: 535 });
  const closed = createServer((socket) => socket.end('554 5.3.2 no service for you\r\n'));
  const greeted = await listening(closed, () => closed.address() as AddressInfo, refusedBy);
  expect(greeted).toMatchObject({ responseCode: 554 });
  expect(greeted).not.toMatchObject({ code: 'mail_refused' });
  const choosy = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onMailFrom: (_address, _session, done) =>
      done(Object.assign(new Error('not from you'), { responseCode: 550 })),
  });
  const sender = await listening(choosy, () => choosy.server.address() as AddressInfo, refusedBy);
  expect(sender).toMatchObject({ code: 'EENVELOPE', responseCode: 550, command: 'MAIL FROM' });
});

test('a transport gets timeouts, unless it has its own', () => {
  const optionsOf = (given: object) => {
    const transport = createTransport({ host: 'localhost', ...given });
    nodemailerEmail(transport, { from });
    return Reflect.get(transport.transporter, 'options');
  };
  const defaults = {
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    socketCloseTimeout: 1000,
  };
  expect(optionsOf({})).toMatchObject({ host: 'localhost', ...defaults });
  expect(optionsOf({ pool: true, socketTimeout: 5 })).toMatchObject({ ...defaults, socketTimeout: 5 });
});

test('a mail server that says nothing is given up', async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const { send } = nodemailerEmail(createTransport({ host: '127.0.0.1', port, greetingTimeout: 50 }), {
    from,
  });
  const message = { to: ada.email, subject: 's', text: 't', html: 'h' } as MailMessage;
  await expect(send(message)).rejects.toThrow(/[Gg]reeting/);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
});

const transport = createTransport({});
const from = 'app@example.com';

test.each<[string, unknown, unknown, RegExp]>([
  [
    'an object that is not a transport',
    {},
    { from },
    /nodemailerEmail: transport must be the result of nodemailer's createTransport/,
  ],
  ['no transport', undefined, { from }, /transport must be the result of nodemailer's createTransport/],
  ['a URL', 'smtp://localhost', { from }, /transport must be the result of nodemailer's createTransport/],
  ['no options', transport, undefined, /nodemailerEmail: from is missing: set it to the sender's address/],
  ['no sender', transport, {}, /from is missing/],
  ['an empty sender', transport, { from: '' }, /from is missing/],
])(
  'nodemailerEmail rejects %s when it is called, not when the first email is sent',
  (_what, given, options, message) => {
    const make = () => nodemailerEmail(given as never, options as never);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  },
);
