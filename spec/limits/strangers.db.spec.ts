import { afterEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { checkHealth } from '../../lib/cli/checks/health.js';
import { type AuthEvents, authRouter, emailSignIn, type MailMessage } from '../../lib/index.js';
import { ada, password, SECRET, type SpecApp, signedIn, startApp } from '../support/app.js';
import { advance } from '../support/clock.js';
import { rows } from '../support/database.js';
import { allSent, BASE_URL } from '../support/mail-app.js';
import { outboxOf, untilDue, untilTooLate } from '../support/outbox.js';
import { smtpEmail, startSmtp } from '../support/smtp.js';
import { loggingSequelize } from '../support/statements.js';

const plugins = (options: object) =>
  [password({ sendVerificationOnSignUp: true, ...options }), emailSignIn({ signUp: true })] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
let mails: MailMessage[];
let send: (mail: MailMessage) => unknown;
let statements: string[];
const HOUR_S = 3600;

interface Options {
  readonly rateLimit?: object;
  readonly options?: object;
  readonly config?: object;
}
const start = async ({ rateLimit = {}, options = {}, config = {} }: Options = {}) => {
  mails = [];
  send = (mail) => mails.push(mail);
  app = (await startApp({
    plugins: plugins(options),
    tables: {},
    config: async (database) => {
      const own = loggingSequelize(database);
      statements = own.statements;
      return {
        database: own.sequelize,
        secret: SECRET,
        baseUrl: BASE_URL,
        email: { send: (mail: MailMessage) => send(mail) },
        rateLimit: { signIn: false, signUp: false, mailAddress: false, mail: false, ...rateLimit },
        ...config,
      };
    },
    mount: (express, auth) => void express.set('trust proxy', true).use('/auth', authRouter(auth)),
  })) as unknown as typeof app;
};
afterEach(() => app.stop());

const strangers = (limit: number, window = HOUR_S) => ({ rateLimit: { strangers: { limit, window } } });
const signUp = (name: string) =>
  app.http
    .post('/auth/signup/credential')
    .send({ email: `${name}@example.com`, password: ada.password })
    .expect(201);
const reset = (email: string, browser = app.browser()) =>
  browser.post('/auth/passwords/request-reset').send({ email }).expect(202);
/** The names to which emails were sent, in this order. Those of one delivery are sent at the same time, in any order. */
const sentTo = async () => {
  await allSent(app.auth);
  return mails.map(({ to }) => to.replace('@example.com', ''));
};
const held = async () =>
  (await app.auth.outbox.list({ state: 'waiting', limit: 200 })).entries.filter((one) => one.held);
const states = async () => (await outboxOf(app.database)).map(({ state }) => state);
const nextWindow = async (seconds = HOUR_S) => {
  advance(app.auth, seconds);
  await app.auth.outbox.deliver();
  await allSent(app.auth);
};
/** Makes all accounts older than a window. */
const old = () =>
  rows(app.database, 'UPDATE users SET created_at = :at', { at: new Date(Date.now() - 2 * HOUR_S * 1000) });
const one = async (count: number) => {
  for (let index = 1; index <= count; index++) {
    await signUp(`n${index}`);
    await allSent(app.auth);
  }
};

describe('a flood of sign-ups from many addresses', () => {
  test('sends no more emails to strangers than the limit, and its responses stay the same', async () => {
    const smtp = await startSmtp();
    await start({ ...strangers(20), config: { email: smtpEmail(smtp.port) } });
    const own = ['date', 'etag', 'connection', 'keep-alive'];
    const seen: object[] = [];
    const ask = async (index: number) => {
      const name = `stranger-${String(index).padStart(3, '0')}`;
      const { status, headers, text } = await app.http
        .post('/auth/signup/credential')
        .set('x-forwarded-for', `10.1.0.${index}`)
        .send({ email: `${name}@example.com`, password: ada.password });
      const others = Object.keys(headers).filter((key) => !own.includes(key));
      seen.push([status, others, headers['content-length'], text.length]);
    };
    for (let start = 0; start < 150; start += 25)
      await Promise.all(Array.from({ length: 25 }, (_, index) => ask(start + index)));
    await allSent(app.auth);
    for (const one of seen) expect(one).toEqual(seen[0]);
    expect(smtp.mails).toHaveLength(20);
    expect(await held()).toHaveLength(130);
    await smtp.stop();
  });

  test('leaves the newest for the start of the next window, in their order', async () => {
    await start(strangers(3));
    await one(8);
    expect((await sentTo()).sort()).toEqual(['n1', 'n2', 'n3']);
    await app.auth.outbox.deliver();
    expect(await sentTo()).toHaveLength(3);
    await nextWindow();
    expect((await sentTo()).slice(3).sort()).toEqual(['n6', 'n7', 'n8']);
    // They have used up the window, in which they were sent.
    await signUp('n9');
    expect(await sentTo()).toHaveLength(6);
    await nextWindow();
    expect((await sentTo()).slice(6).sort()).toEqual(['n4', 'n5', 'n9']);
    expect(await held()).toEqual([]);
  });

  test('keeps ten times the limit, and writes no more than that', async () => {
    await start(strangers(1));
    await one(14);
    expect(await sentTo()).toEqual(['n1']);
    expect(await held()).toHaveLength(10);
    // The rows of the others are gone.
    expect(await states()).toEqual(['sent', ...Array(10).fill('held')]);
    await nextWindow();
    expect(await sentTo()).toEqual(['n1', 'n11']);
  });

  test('never delays emails to proven addresses, nor to owners who ask in their own browser', async () => {
    await start(strangers(1));
    await app.auth.users.create({ email: 'proven@example.com', emailVerified: true });
    const owner = await signedIn(app);
    await old();
    await reset(ada.email);
    await one(1);
    expect(await sentTo()).toEqual(['ada']);
    await reset('proven@example.com');
    await owner.post('/auth/email-verifications').expect(202);
    await owner.post('/auth/signout').expect(204);
    await reset(ada.email, owner);
    expect((await sentTo()).slice(1).sort()).toEqual(['ada', 'ada', 'proven']);
  });

  test('counts what bots ask for in the sessions of their sign-ups', async () => {
    await start({ ...strangers(3), options: { signInOnSignUp: true, sendVerificationOnSignUp: false } });
    for (let index = 0; index < 6; index++) {
      const browser = app.browser();
      const email = `n${index}@example.com`;
      await browser.post('/auth/signup/credential').send({ email, password: ada.password }).expect(201);
      await browser.post('/auth/email-verifications').expect(202);
      await reset(email, browser);
      await browser.post('/auth/email-changes').send({ new_email: email }).expect(202);
      await browser.post('/auth/signin/email').send({ email }).expect(202);
    }
    expect(await sentTo()).toHaveLength(3);
    expect((await held()).length).toBeGreaterThan(10);
  });

  test('is not held with strangers: false, and neither are emails that were held before', async () => {
    await start({ rateLimit: { strangers: false } });
    await one(5);
    expect(await sentTo()).toHaveLength(5);
    await app.stop();
    await start(strangers(1));
    await one(4);
    expect(await held()).toHaveLength(3);
    Object.assign(internalsOf(app.auth).core.settings.rateLimit?.rules ?? {}, { strangers: null });
    expect(await app.auth.outbox.deliver()).toEqual({ sent: 3, failed: 0 });
    expect((await sentTo()).sort()).toEqual(['n1', 'n2', 'n3', 'n4']);
  });
});

describe('a held email', () => {
  test('is shown as waiting, is not retried by hand, and does not count as delayed', async () => {
    await start(strangers(1));
    await one(2);
    const [entry] = await held();
    expect(entry).toMatchObject({
      state: 'waiting',
      held: true,
      attempts: 0,
      lastError: null,
      nextAttemptAt: null,
    });
    expect(await app.auth.outbox.retry(entry?.id ?? '')).toBe(false);
    await rows(app.database, "UPDATE outbox SET created_at = '2020-01-01 00:00:00.000'");
    const { degraded, outbox } = await app.auth.health();
    expect({ degraded, outbox }).toEqual({
      degraded: ['mails_to_strangers'],
      outbox: { pending: 1, failed: 0, oldestSeconds: 0 },
    });
    await rows(app.database, 'UPDATE outbox SET created_at = finished_at WHERE finished_at IS NOT NULL');
    await nextWindow();
    expect((await app.auth.health()).degraded).toEqual([]);
    expect(await states()).toEqual(['sent', 'sent']);
  });

  test('with a code is dropped once the code has expired, and does not count', async () => {
    await start(strangers(1));
    await one(1);
    const browser = app.browser();
    await browser.post('/auth/signin/email').send({ email: 'late@example.com' }).expect(202);
    await allSent(app.auth);
    expect(await held()).toHaveLength(1);
    await signUp('n2');
    await allSent(app.auth);
    await nextWindow();
    expect((await sentTo()).sort()).toEqual(['n1', 'n2']);
    expect(await states()).toEqual(['sent', 'dropped', 'sent']);
  });

  test('with a code that was not sent is not the code', async () => {
    await start(strangers(1, 60));
    await one(1);
    const browser = app.browser();
    const ask = () => browser.post('/auth/signin/email').send({ email: 'new@example.com' }).expect(202);
    const confirm = (code: string) => browser.post('/auth/signin/email/confirm').send({ code });
    await ask();
    await allSent(app.auth);
    const [row] = await internalsOf(app.auth).core.outbox.rows.held('mail', 1);
    expect(internalsOf(app.auth).core.outbox.rows.open(row as never).content).not.toHaveProperty('code');
    const signIns = internalsOf(app.auth).core.emailedSignIns;
    const [request] = (await signIns?.row.select('', {})) ?? [];
    const code = signIns?.codeFor(request as never) ?? '';
    expect((await confirm(code)).status).toBe(401);
    await nextWindow(60);
    expect(mails.at(-1)).toMatchObject({ kind: 'sign-in-code', code });
    expect((await confirm(code)).status).toBe(200);
  });

  test('that lost its recipient leaves its place to the next one', async () => {
    await start(strangers(1));
    await one(3);
    const gone = await app.auth.users.find({ email: 'n3@example.com' });
    await app.auth.users.delete(gone?.id ?? '');
    await nextWindow();
    expect((await sentTo()).filter((to) => to !== 'n3').sort()).toEqual(['n1', 'n2']);
  });

  test('is given up after three days, like any other', async () => {
    await start(strangers(1));
    await one(2);
    await untilTooLate(app.database);
    await app.auth.outbox.deliver();
    expect(await states()).toEqual(['sent', 'dropped']);
    expect(await outboxOf(app.database)).toMatchObject([{}, { content: null }]);
  });
});

describe('an email counts', () => {
  test('when it is first handed to the sender, and not again at a retry', async () => {
    await start(strangers(2));
    send = () => Promise.reject(new Error('no'));
    await one(1);
    for (let round = 0; round < 3; round++) {
      await untilDue(app.database);
      await app.auth.outbox.deliver();
    }
    send = (mail) => mails.push(mail);
    await signUp('n2');
    await signUp('n3');
    expect(await sentTo()).toHaveLength(1);
    await untilDue(app.database);
    await app.auth.outbox.deliver();
    expect((await sentTo()).sort()).toContain('n1');
    expect(mails).toHaveLength(2);
    expect(await held()).toHaveLength(1);
  });

  test('once if it is retried by hand after it was given up', async () => {
    await start(strangers(1));
    send = () => Promise.reject(new Error('no'));
    await one(1);
    await untilTooLate(app.database);
    await app.auth.outbox.deliver();
    expect(await states()).toEqual(['failed']);
    send = (mail) => mails.push(mail);
    const [failed] = (await app.auth.outbox.list({ state: 'failed' })).entries;
    expect(await app.auth.outbox.retry(failed?.id ?? '')).toBe(true);
    expect(await sentTo()).toEqual(['n1']);
  });

  test('even if its first attempt failed because the counters could not be written', async () => {
    await start({
      rateLimit: { strangers: { limit: 2, window: HOUR_S }, mail: { limit: 1, window: HOUR_S } },
    });
    await app.auth.users.create({ email: 'n0@example.com' });
    await rows(app.database, 'ALTER TABLE rate_limits RENAME TO rate_limits_elsewhere');
    for (let round = 0; round < 2; round++)
      await app.auth.credential.requestPasswordReset({ email: 'n0@example.com' });
    await allSent(app.auth);
    await rows(app.database, 'ALTER TABLE rate_limits_elsewhere RENAME TO rate_limits');
    const waiting = (await app.auth.outbox.list()).entries;
    expect(waiting).toMatchObject(
      Array(2).fill({ state: 'waiting', attempts: 0, lastError: expect.stringMatching(/^AuthError/) }),
    );
    await untilDue(app.database);
    await app.auth.outbox.deliver();
    // The limit of the mailbox holds, and so does the limit on strangers.
    expect(await sentTo()).toEqual(['n0']);
    await one(2);
    expect(await sentTo()).toEqual(['n0', 'n1']);
  });

  test('if another process has to send it, because the first one died or was too busy', async () => {
    await start(strangers(1));
    const { core } = internalsOf(app.auth);
    await app.auth.credential.requestPasswordReset({ email: 'nobody@example.com' });
    await allSent(app.auth);
    const ids = ['a', 'b'];
    for (const name of ids) await app.auth.users.create({ email: `${name}@example.com` });
    const left = ids.map((name) => {
      const link = core.passwordLinks?.reset;
      const content = {
        type: 'link',
        email: `${name}@example.com`,
        links: [{ userId: null, link }],
        asked: core.asked(false),
      };
      const id = `01900000-0000-7000-8000-00000000000${name}`;
      return { id, lane: 'mail', kind: 'reset-password', content, timeoutMs: 60_000, traceparent: null };
    });
    await core.outbox.rows.insert(left);
    await untilDue(app.database);
    await app.auth.outbox.deliver();
    expect(await sentTo()).toHaveLength(1);
    expect(await held()).toHaveLength(1);
  });
});

describe('held emails are reported', () => {
  test('by an event and a log line, each at most once a minute', async () => {
    await start(strangers(1));
    const events: AuthEvents['mail.held'][] = [];
    app.auth.on('mail.held', (event) => events.push(event));
    const lines = () => app.log.filter((line) => line.includes('rateLimit.strangers'));
    await one(4);
    expect(events.map(({ count }) => count)).toEqual([1]);
    expect(lines()).toHaveLength(1);
    advance(app.auth, 59);
    await app.auth.outbox.deliver();
    expect(events).toHaveLength(1);
    advance(app.auth, 1);
    await app.auth.outbox.deliver();
    await allSent(app.auth);
    expect(events).toEqual([
      { ip: null, userAgent: null, count: 1 },
      { ip: null, userAgent: null, count: 2 },
    ]);
    await signUp('n5');
    await allSent(app.auth);
    advance(app.auth, 60);
    await signUp('n6');
    await allSent(app.auth);
    expect(events.map(({ count }) => count)).toEqual([1, 2, 2]);
    expect(lines()).toEqual([
      expect.stringMatching(/^warn latchkey: emails to addresses that no account has proven wait, .*: 1$/),
      expect.stringMatching(/: 2$/),
      expect.stringMatching(/: 2$/),
    ]);
  });

  test('with the number of those that were not kept', async () => {
    await start(strangers(1));
    await one(13);
    advance(app.auth, 60);
    await app.auth.outbox.deliver();
    expect(app.log.at(-1)).toMatch(/is reached: 9, and were not kept, because too many wait already: 2$/);
  });
});

test('doctor says how many are held, and that there should be a limit', async () => {
  const found = async () => {
    const { settings } = internalsOf(app.auth).core;
    const findings = [];
    for await (const one of checkHealth(app.auth, settings)) findings.push(one);
    return findings
      .filter(({ check }) => ['strangers', 'outbox'].includes(check))
      .map(({ check, status, detail }) => `${check} ${status}: ${detail}`);
  };
  await start(strangers(1));
  const limit = 'at most 1 email in 60 minutes to addresses that no account has proven';
  expect(await found()).toEqual([
    `strangers ok: ${limit}; none is held`,
    'outbox ok: no email or webhook is waiting',
  ]);
  await one(3);
  expect(await found()).toEqual([
    `strangers warning: ${limit}; 2 more are held until the next window`,
    'outbox ok: no email or webhook is waiting',
  ]);
  Object.assign(internalsOf(app.auth).core.settings.rateLimit?.rules ?? {}, { strangers: null });
  expect((await found())[0]).toMatch(/^strangers warning: .* is not limited/);
});

describe('the statements', () => {
  const shapes = (lines: readonly string[]) =>
    lines.map((line) =>
      line
        .replace(/ \{.*$/s, '')
        .replace(/^Execut\w+ \([^)]*\): /, '')
        .replace(/(X|0x|')[^\s,)]*/g, '?')
        .replace(/\d+/g, 'n')
        .replace(/NULL|(_\w+ )?[xXE]\?/g, '?')
        .replace(/auth_epoch = n/g, 'auth_epoch = ?'),
    );
  const counting = (lines: readonly string[]) => lines.filter((line) => line.includes('rate_limits'));
  const of = async (work: () => PromiseLike<unknown>) => {
    statements.length = 0;
    await work();
    await allSent(app.auth);
    return shapes(statements);
  };

  test('of a request to an unproven and to an unknown address are the same, and one more than without the limit', async () => {
    await start(strangers(100));
    await app.auth.users.create({ email: 'unproven@example.com' });
    await app.auth.users.create({ email: 'proven@example.com', emailVerified: true });
    const names = ['unproven', 'unknown', 'proven'];
    const asking = (name: string) => () => reset(`${name}@example.com`);
    for (const name of names) await of(asking(name));
    const all = [];
    for (const name of names) all.push(await of(asking(name)));
    expect(all[1]).toEqual(all[0]);
    expect(all[2]).toEqual(all[0]);
    expect(counting(all[0] ?? [])).toHaveLength(1);
    Object.assign(internalsOf(app.auth).core.settings.rateLimit?.rules ?? {}, { strangers: null });
    const without = await of(asking('unproven'));
    expect(counting(without)).toEqual([]);
    expect(all[0]?.length).toBe(without.length + 1);
  });

  test('of a sign-in code are the same for every address, and for no account', async () => {
    await start(strangers(100));
    await app.auth.users.create({ email: 'unproven@example.com' });
    await app.auth.users.create({ email: 'proven@example.com', emailVerified: true });
    const all = [];
    for (let round = 0; round < 2; round++)
      for (const name of ['unproven', 'unknown', 'proven'])
        all.push(
          await of(() =>
            app
              .browser()
              .post('/auth/signin/email')
              .send({ email: `${name}@example.com` })
              .expect(202),
          ),
        );
    expect(all[4]).toEqual(all[3]);
    expect(all[5]).toEqual(all[3]);
  });

  test('of a sign-up end with its commit, before the email is counted', async () => {
    await start(strangers(100));
    await of(() => signUp('first'));
    const work = await of(() => signUp('second'));
    const first = work.findIndex((line) => line.includes('rate_limits'));
    expect(counting(work)).toHaveLength(1);
    expect(first).toBeGreaterThan(work.findLastIndex((line) => /COMMIT/.test(line)));
    Object.assign(internalsOf(app.auth).core.settings.rateLimit?.rules ?? {}, { strangers: null });
    const without = await of(() => signUp('third'));
    expect(work.filter((line) => !line.includes('rate_limits'))).toEqual(without);
  });

  test('of an email that no stranger gets do not change', async () => {
    await start(strangers(100));
    const owner = await signedIn(app);
    await old();
    await allSent(app.auth);
    const work = await of(() => owner.post('/auth/email-verifications').expect(202));
    expect(counting(work)).toEqual([]);
  });
});
