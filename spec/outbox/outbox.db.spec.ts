import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { AuthError, createAuth, type MailMessage } from '../../lib/index.js';
import { ada, memoryLogger, password, SECRET, type SpecApp, signedIn, startApp } from '../support/app.js';
import { connectAsApp } from '../support/app-database.js';
import { rows } from '../support/database.js';
import { proveMailbox } from '../support/email-proof.js';
import { BASE_URL } from '../support/mail-app.js';
import { outboxOf, untilDue, untilTooLate } from '../support/outbox.js';
import { ago, HOUR, settled } from '../support/sessions.js';
import { smtpEmail, startSmtp, tokenIn } from '../support/smtp.js';

type Plugins = readonly [ReturnType<typeof password>];

let app: SpecApp<Plugins>;
afterEach(() => app.stop());

const requestReset = (email = ada.email) =>
  app.http.post('/auth/passwords/request-reset').send({ email }).expect(202);
const counts = () => internalsOf(app.auth).core.outbox.rows.counts();
const states = async () => (await outboxOf(app.database)).map(({ state }) => state);

describe('with a real mail server, an email', () => {
  let smtp: Awaited<ReturnType<typeof startSmtp>>;
  beforeEach(async () => {
    smtp = await startSmtp();
    app = await startApp({ config: { baseUrl: BASE_URL, email: smtpEmail(smtp.port) } });
    await app.auth.users.create({ ...ada, emailVerified: true });
  });
  afterEach(() => smtp.stop());

  test('that is written while the server is down arrives once it is up, with a link that works', async () => {
    await smtp.stop();
    await requestReset();
    await settled(app.auth);
    expect(await states()).toEqual(['waiting']);
    expect(app.log.join()).toMatch(/error latchkey: an email was not sent: .*ECONNREFUSED/);
    // The time of the link begins when it is sent.
    await rows(app.database, "UPDATE one_time_tokens SET expires_at = '2020-01-01 00:00:00.000'");
    await untilDue(app.database);
    await smtp.start();
    expect(await app.auth.outbox.deliver()).toEqual({ sent: 1, failed: 0 });
    expect(smtp.mails.map(({ to }) => to)).toEqual([ada.email]);
    const token = tokenIn(smtp.mails[0] as never);
    await app.http
      .post('/auth/passwords/reset')
      .send({ token, new_password: 'a difference engine' })
      .expect(204);
  });

  test('that is refused at first arrives later, and holds up no other', async () => {
    await app.auth.users.create({ email: 'refused@example.com', emailVerified: true });
    smtp.refuse((to) => to === 'refused@example.com' && 451);
    await requestReset('refused@example.com');
    await requestReset();
    await smtp.arrived(1);
    await settled(app.auth);
    expect((await states()).sort()).toEqual(['sent', 'waiting']);
    smtp.refuse(() => false);
    await untilDue(app.database);
    await app.auth.outbox.deliver();
    expect(smtp.mails.map(({ to }) => to)).toEqual([ada.email, 'refused@example.com']);
  });

  test('to an address that the server refuses for good has failed, and is not retried', async () => {
    await app.auth.users.create({ email: 'refused@example.com', emailVerified: true });
    smtp.refuse((to) => to === 'refused@example.com' && 550, '5.1.1 no such mailbox here');
    await requestReset('refused@example.com');
    await requestReset();
    await smtp.arrived(1);
    await settled(app.auth);
    expect((await states()).sort()).toEqual(['failed', 'sent']);
    await rows(app.database, "UPDATE outbox SET created_at = '2020-01-01 00:00:00.000'");
    // What will not be sent is not old.
    expect(await counts()).toEqual({ pending: 0, held: 0, failed: 1, oldestSeconds: 0 });
    expect(app.log).toEqual([
      expect.stringMatching(
        /^warn latchkey: an email was refused, and will not be retried: .*550 5\.1\.1 no such mailbox here/,
      ),
    ]);
    const { entries } = await app.auth.outbox.list({ state: 'failed' });
    const lastError = 'AuthError (mail_refused), caused by Error (EENVELOPE)';
    expect(entries).toMatchObject([{ kind: 'reset-password', attempts: 1, lastError, nextAttemptAt: null }]);
    expect(await app.auth.outbox.deliver()).toEqual({ sent: 0, failed: 0 });
    smtp.refuse(() => false);
    expect(await app.auth.outbox.retry(entries[0]?.id ?? '')).toBe(true);
    await smtp.arrived(2);
  });

  test.each([
    [550, '5.7.1 we do not relay for you'],
    [550, 'relay not permitted'],
    [530, 'sign in first'],
  ])('that the server refuses because of the sender (%i %s) is retried', async (code, because) => {
    smtp.refuse(() => code, because);
    await requestReset();
    await settled(app.auth);
    expect(await states()).toEqual(['waiting']);
    expect(await counts()).toMatchObject({ pending: 1, failed: 0 });
    expect(app.log.join()).toMatch(/error latchkey: an email was not sent: .*retried for three days/);
  });
});

describe('the outbox', () => {
  let mails: MailMessage[];
  let send: (mail: MailMessage) => unknown;
  const start = async (config: object = {}) => {
    mails = [];
    send = (mail) => mails.push(mail);
    app = await startApp({
      config: { baseUrl: BASE_URL, email: { send: (mail) => send(mail) }, ...config },
    });
  };
  const failing = () => {
    throw Object.assign(new Error(`no to ${ada.email}`), { code: 'EDOWN' });
  };

  test('forgets what an email was once it is sent, and in the meantime shows it to nobody', async () => {
    await start();
    await app.auth.users.create({ ...ada, emailVerified: true });
    send = failing;
    await app.auth.users.setPassword(
      (await app.auth.users.find({ email: ada.email }))?.id ?? '',
      'another one',
    );
    await settled(app.auth);
    const [waiting] = await outboxOf(app.database);
    expect(waiting).toMatchObject({ kind: 'password-changed', state: 'waiting' });
    expect(waiting?.content).toMatch(/^v1\.[\w-]+\.[\w-]+$/);
    expect(JSON.stringify(await rows(app.database, 'SELECT * FROM outbox'))).not.toMatch(/ada@|lku_/);
    expect(JSON.stringify(await app.auth.outbox.list())).not.toMatch(/ada@|lku_|v1\./);
    expect(await app.auth.models.OutboxEntry.findOne()).not.toHaveProperty('dataValues.content');
    send = (mail) => mails.push(mail);
    await untilDue(app.database);
    await app.auth.outbox.deliver();
    expect(mails[0]).toMatchObject({ to: ada.email, details: { at: expect.any(Date) } });
    expect(mails[0]?.user?.createdAt).toBeInstanceOf(Date);
    expect(await outboxOf(app.database)).toMatchObject([{ state: 'sent', content: null }]);
  });

  test('is a part of the transaction of the app: a rollback sends nothing', async () => {
    let own: ReturnType<typeof connectAsApp> | undefined;
    mails = [];
    app = await startApp({
      tables: {},
      config: async (database) => {
        own = connectAsApp(database);
        return { database: own, baseUrl: BASE_URL, email: { send: (mail: MailMessage) => mails.push(mail) } };
      },
    });
    const { id } = await app.auth.users.create({ ...ada, emailVerified: true });
    const change = (text: string, fails: boolean) =>
      own?.transaction(async (transaction) => {
        await app.auth.users.setPassword(id, text, { transaction });
        if (fails) throw new Error('the app rolls back');
      });
    await expect(change('a first password', true)).rejects.toThrow('the app rolls back');
    await settled(app.auth);
    expect([await outboxOf(app.database), mails]).toEqual([[], []]);
    await change('a second password', false);
    await settled(app.auth);
    expect(mails.map(({ kind }) => kind)).toEqual(['password-changed']);
  });

  test('sends nothing of a change that is refused', async () => {
    await start({ hooks: { afterCreateUser: () => Promise.reject(new Error('no')) } });
    await expect(app.auth.users.create(ada)).rejects.toThrow('no');
    await settled(app.auth);
    expect(await outboxOf(app.database)).toEqual([]);
  });

  test('drops what nobody is to get any more', async () => {
    await start({ plugins: [password({ sendVerificationOnSignUp: true })] });
    await requestReset('nobody@example.com');
    send = failing;
    const browser = await signedIn(app);
    await settled(app.auth);
    await proveMailbox(app.auth, (await app.auth.users.find({ email: ada.email }))?.id ?? '');
    for (const to of ['first@example.com', 'second@example.com'])
      await browser.post('/auth/email-changes').send({ new_email: to, password: ada.password }).expect(202);
    await settled(app.auth);
    await rows(app.database, "UPDATE outbox SET created_at = '2020-01-01 00:00:00.000'");
    await app.auth.models.OneTimeToken.update({ expiresAt: ago(HOUR) }, { where: {} });
    await app.auth.prune();
    await untilDue(app.database);
    send = (mail) => mails.push(mail);
    await app.auth.outbox.deliver();
    const late = mails.filter(({ kind }) => kind === 'verify-new-email');
    // Not the one that the second request replaced.
    expect(late.map(({ to }) => to)).toEqual(['second@example.com']);
    const found = (await outboxOf(app.database)).map(({ kind, state }) => `${kind} ${state}`);
    expect(found).toEqual(
      expect.arrayContaining(['reset-password dropped', 'verify-email dropped', 'verify-new-email dropped']),
    );
    const token = late[0]?.token;
    await browser.post('/auth/email-changes/confirm').send({ token }).expect(200);
  });

  test.each(['free', 'taken'])('restarts the time of a late link to an address that is %s', async (which) => {
    await start();
    await app.auth.users.create({ email: 'taken@example.com', emailVerified: true });
    send = failing;
    const browser = await signedIn(app);
    await settled(app.auth);
    const new_email = `${which}@example.com`;
    await browser.post('/auth/email-changes').send({ new_email, password: ada.password }).expect(202);
    await settled(app.auth);
    await rows(app.database, "UPDATE outbox SET created_at = '2020-01-01 00:00:00.000'");
    await app.auth.models.OneTimeToken.update({ expiresAt: ago(HOUR) }, { where: {} });
    await untilDue(app.database);
    send = (mail) => mails.push(mail);
    await app.auth.outbox.deliver();
    expect(mails.map(({ to }) => to)).toContain(new_email);
    // The page of the account shows how long the address waits, so it must not depend on whose it is.
    const found = await app.auth.models.OneTimeToken.findAll({ where: { purpose: 'verify-new-email' } });
    const ends = found.map((one) => (one.get('expiresAt') as Date).getTime());
    expect(ends.map((end) => end > Date.now())).toEqual([true]);
  });

  test('gives up after three days, and tries again on demand', async () => {
    await start();
    send = failing;
    await app.auth.users.create({ ...ada, emailVerified: true });
    await requestReset();
    await settled(app.auth);
    const { entries } = await app.auth.outbox.list({ state: 'waiting' });
    expect(entries).toMatchObject([
      {
        channel: 'email',
        kind: 'reset-password',
        endpoint: null,
        attempts: 1,
        lastError: 'Error (EDOWN)',
        finishedAt: null,
      },
    ]);
    const pauseMs = (entries[0]?.nextAttemptAt?.getTime() ?? 0) - Date.now();
    expect(pauseMs).toBeGreaterThan(5000);
    expect(pauseMs).toBeLessThan(31_000);
    await untilTooLate(app.database);
    await app.auth.outbox.deliver();
    expect((await app.auth.outbox.list({ state: 'failed' })).entries).toHaveLength(1);
    await requestReset();
    await settled(app.auth);
    const id = entries[0]?.id ?? '';
    send = (mail) => mails.push(mail);
    expect(await app.auth.outbox.retry(id)).toBe(true);
    await settled(app.auth);
    expect(mails).toHaveLength(1);
    expect(await app.auth.outbox.retry(id)).toBe(false);
    expect(await app.auth.outbox.retry('00000000-0000-7000-8000-000000000000')).toBe(false);
    await expect(app.auth.outbox.list({ state: 'lost' as never })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const page = await app.auth.outbox.list({ limit: 1 });
    const next = await app.auth.outbox.list({ limit: 1, cursor: page.nextCursor ?? '' });
    expect([...page.entries, ...next.entries].map(({ state }) => state)).toEqual(['waiting', 'sent']);
    expect(next.nextCursor).toBeNull();
    await rows(app.database, "UPDATE outbox SET expires_at = '2020-01-01 00:00:00.000'");
    expect(await app.auth.prune()).toBeGreaterThanOrEqual(2);
    expect(await outboxOf(app.database)).toEqual([]);
  });

  test('gives up at once if send throws mail_refused, and does not count what nobody will try again', async () => {
    await start();
    await app.auth.users.create({ ...ada, emailVerified: true });
    send = () => Promise.reject(new AuthError('mail_refused', { cause: new Error(`no ${ada.email}`) }));
    await requestReset();
    await settled(app.auth);
    send = failing;
    await requestReset();
    await settled(app.auth);
    expect((await states()).sort()).toEqual(['failed', 'waiting']);
    expect(await counts()).toMatchObject({ pending: 1, failed: 1 });
    await rows(app.database, "UPDATE outbox SET created_at = '2020-01-01 00:00:00.000'");
    expect((await counts()).oldestSeconds).toBeGreaterThan(100_000_000);
    await untilTooLate(app.database);
    expect(await counts()).toEqual({ pending: 0, held: 0, failed: 2, oldestSeconds: 0 });
    await app.auth.outbox.deliver();
    expect(app.log.join('\n')).toMatch(/an email was not sent, and was given up: Error \(EDOWN\)/);
    expect(await counts()).toEqual({ pending: 0, held: 0, failed: 2, oldestSeconds: 0 });
  });

  test('leaves what another process is sending to that, until its lease ends', async () => {
    await start();
    let begun: () => void = () => {};
    let release: () => void = () => {};
    const beginning = new Promise<void>((resolve) => {
      begun = resolve;
    });
    send = (mail) =>
      new Promise<void>((resolve) => {
        mails.push(mail);
        release = resolve;
        begun();
      });
    await app.auth.users.create({ ...ada, emailVerified: true });
    await requestReset();
    await beginning;
    const others: MailMessage[] = [];
    const other = createAuth({
      database: app.database.url,
      secret: SECRET,
      plugins: [password()],
      logger: memoryLogger(),
      baseUrl: BASE_URL,
      email: { send: (mail) => others.push(mail) },
    });
    try {
      expect(await other.outbox.deliver()).toEqual({ sent: 0, failed: 0 });
      await untilDue(app.database);
      expect(await other.outbox.deliver()).toEqual({ sent: 1, failed: 0 });
      release();
      await settled(app.auth);
      expect([mails.length, others.length]).toEqual([1, 1]);
      expect(await outboxOf(app.database)).toMatchObject([{ state: 'sent', attempts: 2 }]);
    } finally {
      await other.close();
    }
  });

  test.each([
    ['sent', { sent: 1, failed: 0 }],
    ['waiting', { sent: 0, failed: 1 }],
  ])('that this process is sending is waited for and counted by deliver(): %s', async (state, delivered) => {
    await start();
    let begun: () => void = () => {};
    let end: () => void = () => {};
    const beginning = new Promise<void>((resolve) => {
      begun = resolve;
    });
    send = () =>
      new Promise<void>((resolve, reject) => {
        end = state === 'sent' ? resolve : () => reject(new Error('no'));
        begun();
      });
    await app.auth.users.create({ ...ada, emailVerified: true });
    await requestReset();
    await beginning;
    const deliveries = [app.auth.outbox.deliver(), app.auth.outbox.deliver()] as const;
    end();
    expect(await deliveries[0]).toEqual(delivered);
    expect(await states()).toEqual([state]);
    expect(await deliveries[1]).toEqual({ sent: 0, failed: 0 });
  });

  test('that was committed just before deliver() is called is counted by it', async () => {
    await start();
    await app.auth.users.create({ ...ada, emailVerified: true });
    await app.auth.credential.requestPasswordReset({ email: ada.email });
    expect(await app.auth.outbox.deliver()).toEqual({ sent: 1, failed: 0 });
  });

  test('is looked through by a timer', async () => {
    await start({ outbox: { interval: 1 } });
    send = failing;
    await app.auth.users.create({ ...ada, emailVerified: true });
    await requestReset();
    await settled(app.auth);
    const arrival = new Promise<MailMessage>((resolve) => {
      send = resolve;
    });
    await untilDue(app.database);
    expect(await arrival).toMatchObject({ to: ada.email, kind: 'reset-password' });
  });

  test('is encrypted anew with the first secret', async () => {
    await start();
    send = failing;
    await app.auth.users.create({ ...ada, emailVerified: true });
    await requestReset();
    await settled(app.auth);
    const next = 'the next secret of this app, long enough';
    const withSecret = (secret: string | string[]) =>
      createAuth({
        database: app.database.url,
        secret,
        plugins: [password()],
        logger: memoryLogger(),
        baseUrl: BASE_URL,
        email: { send: (mail) => mails.push(mail) },
      });
    const rotating = withSecret([next, SECRET]);
    const without = withSecret(next);
    try {
      await untilDue(app.database);
      expect(await without.outbox.deliver()).toEqual({ sent: 0, failed: 1 });
      expect(await rotating.rotateSecrets({ dryRun: true })).toBe(1);
      expect(await rotating.rotateSecrets()).toBe(1);
      await untilDue(app.database);
      expect(await without.outbox.deliver()).toEqual({ sent: 1, failed: 0 });
      expect(mails).toHaveLength(1);
    } finally {
      await rotating.close();
      await without.close();
    }
  });
});
