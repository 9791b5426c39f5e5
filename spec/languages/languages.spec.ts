import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { defaultDetails } from '../../lib/errors.js';
import {
  admin,
  authRouter,
  emailSignIn,
  type MailMessage,
  organizations,
  type ProblemDetails,
  requireSession,
  roles,
} from '../../lib/index.js';
import { LOADERS, type ShippedLanguage } from '../../lib/languages/shipped.js';
import { ada, logEveryLine, password, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { allSent, BASE_URL } from '../support/mail-app.js';
import { mailbox } from '../support/mailbox.js';
import { untilDue } from '../support/outbox.js';
import { expectProblem } from '../support/problem.js';
import { loggingSequelize } from '../support/statements.js';

const ROOT = 'root@example.com';
const OTHER_ROOT = 'other-root@example.com';
const PASSWORD = 'an analytical engine';
const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt-BR'] as const;
const locale = { languages: LANGUAGES };
/** The texts of errors and emails, by language. */
const errors = Object.fromEntries(
  await Promise.all(LANGUAGES.map(async (tag) => [tag, await LOADERS[tag].errors()] as const)),
);
const emails = Object.fromEntries(
  await Promise.all(LANGUAGES.map(async (tag) => [tag, await LOADERS[tag].emails()] as const)),
);

const plugins = [
  password({ sendVerificationOnSignUp: true }),
  emailSignIn({ signUp: true }),
  organizations(),
  admin({ adminEmails: [ROOT, OTHER_ROOT], role: 'admin' }),
  roles({ roles: { admin: ['*'], editor: ['posts:write'] } }),
] as const;
type App = SpecApp<typeof plugins>;

let app: App;
const mails = mailbox();
/** Whether the app's server for emails is down. */
let isDown = false;
/** What the app's function says. */
let byApp: (req: { url?: string; originalUrl?: string }, user: object | null) => unknown;
const noOne = () => undefined;
const rejected = () => Promise.reject(new Error('the app has a fault in what it awaits'));
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: {
      baseUrl: BASE_URL,
      locale: { ...locale, of: (req, user) => byApp(req as never, user) as string },
      email: {
        send(mail) {
          if (isDown) throw new Error('421 the server is down');
          mails.send(mail);
        },
      },
    },
    mount(server, auth) {
      server.get('/reports', requireSession(auth), (_req, res) => void res.json({}));
      server.use('/auth', authRouter(auth));
    },
  });
  logEveryLine(app.auth);
});
beforeEach(() => {
  byApp = noOne;
  isDown = false;
});
afterAll(() => app.stop());

let people = 0;
const newEmail = () => `person-${people++}@example.com`;

/** A verified user who has chosen a language, and the headers of a session. */
async function person(chosen: string | null = null, email = newEmail()) {
  const fields = { locale: chosen };
  const { id } = await app.auth.users.create({
    ...{ email, password: PASSWORD, emailVerified: true },
    fields: fields as never,
  });
  const { token } = await app.auth.createSession(id);
  return { id, email, headers: { cookie: `latchkey=${token}` } };
}

const signIn = (accepted: string, credential = 'nobody@example.com') =>
  app.http
    .post('/auth/signin/credential')
    .set('accept-language', accepted)
    .send({ credential, password: 'wrong' });

/** Signs up, and returns the user's id with the headers of the request. */
const signUp = (email: string, accepted: string) =>
  app.http
    .post('/auth/signup/credential')
    .set('accept-language', accepted)
    .send({ email, password: PASSWORD });

/** Returns the language of an answer about a wrong password. */
function languageOf(detail: string): string | undefined {
  return LANGUAGES.find((tag) => errors[tag]?.problems.invalid_credentials === detail);
}

/** Checks that an email says that it is in a language, and is. */
function expectMail({ kind, language, subject, text, html }: MailMessage, tag: ShippedLanguage): void {
  const words = emails[tag]?.texts[kind as 'verify-email'];
  expect({ kind, language, subject }).toEqual({
    kind,
    language: tag,
    subject: expect.stringContaining(words?.subject ?? ''),
  });
  expect(html).toContain(`<html lang="${tag}"`);
  expect(text).not.toContain('undefined');
}

/** Runs a function, and returns the email of this kind that it causes. */
async function mailOf(to: string, kind: string, work: () => PromiseLike<unknown>): Promise<MailMessage> {
  mails.mails.length = 0;
  await work();
  await allSent(app.auth);
  const sent = mails.mails.filter((mail) => mail.to === to);
  expect(sent.map((mail) => mail.kind)).toContain(kind);
  return sent.find((mail) => mail.kind === kind) as MailMessage;
}

describe('the language of a response', () => {
  test('is the one of locale.of, else the choice of the user, else what the browser accepts, else the default', async () => {
    const chosen = await person('es');
    const none = await person();
    const patch = (who: typeof none, accepted: string) =>
      app.http.patch('/auth/me').set(who.headers).set('accept-language', accepted).send({ locale: 'xx' });
    const saidTo = async (who: typeof none, accepted: string) => {
      const { errors: fields } = expectProblem(await patch(who, accepted), 422, 'validation_failed');
      const said = LANGUAGES.filter(
        (tag) => errors[tag]?.phrases['not-one-of']({ values: LANGUAGES }) === fields?.[0]?.detail,
      );
      return said.join();
    };
    expect(await saidTo(none, '')).toBe('en');
    expect(await saidTo(none, 'de')).toBe('de');
    expect(await saidTo(chosen, 'de')).toBe('es');
    byApp = (_req, user) => (user ? 'fr' : undefined);
    expect(await saidTo(chosen, 'de')).toBe('fr');
    expect(languageOf((await signIn('de')).body.detail)).toBe('de');
  });

  test.each([
    ['', 'en'],
    ['*', 'en'],
    ['de', 'de'],
    ['DE', 'de'],
    ['de-AT', 'de'],
    ['pt', 'pt-BR'],
    ['pt-br', 'pt-BR'],
    ['pt-PT,pt;q=0.9,en;q=0.8', 'pt-BR'],
    ['es-MX', 'es'],
    ['es-419', 'es'],
    ['nl', 'en'],
    ['nl,fr', 'fr'],
    ['en;q=0.5,de;q=0.9', 'de'],
    ['de;q=0,fr;q=0.1', 'fr'],
    ['nl, *;q=0.1', 'en'],
    ['fr;q=0.3, de;q=0.3', 'fr'],
    [' fr ', 'fr'],
  ])('for Accept-Language %p is %s', async (accepted, tag) => {
    const answer = await signIn(accepted);
    const { detail } = expectProblem(answer, 401, 'invalid_credentials');
    expect(languageOf(detail)).toBe(tag);
    expect(answer.headers.vary).toMatch(/\bAccept-Language\b/);
  });

  test('is the one of locale.of, which reads the request, and is ignored if there is no such language', async () => {
    const seen: unknown[] = [];
    byApp = (req, user) => {
      seen.push([req.originalUrl, user]);
      return 'pt';
    };
    expect(languageOf((await signIn('de')).body.detail)).toBe('pt-BR');
    expect(new Set(seen.map(String))).toEqual(new Set(['/auth/signin/credential,']));
    for (const unknown of ['nl', '', 'x', '\0', 5, null, {}]) {
      byApp = () => unknown;
      expect(languageOf((await signIn('de')).body.detail)).toBe('de');
    }
  });

  test('is chosen without locale.of if it returns a promise, even one that is rejected', async () => {
    app.log.length = 0;
    for (const promised of [async () => 'fr', rejected]) {
      byApp = promised;
      expect(languageOf((await signIn('de')).body.detail)).toBe('de');
    }
    expect(app.log).toHaveLength(2);
    expect(app.log[0]).toContain('locale.of threw');
    expect(app.log[0]).toContain('it returned a promise: return a tag');
  });

  test('is chosen without locale.of if it throws, which is logged once for each request', async () => {
    app.log.length = 0;
    let calls = 0;
    byApp = () => {
      calls++;
      throw new Error('the app has a fault');
    };
    expect(languageOf((await signIn('de')).body.detail)).toBe('de');
    expect(calls).toBe(1);
    expect(languageOf((await signIn('nl')).body.detail)).toBe('en');
    expect(app.log.map((line) => line.replace(/\n[\s\S]*/, ''))).toEqual([
      expect.stringMatching(/^error latchkey: locale\.of threw, .*the app has a fault/),
      expect.stringMatching(/^error latchkey: locale\.of threw, /),
    ]);
  });

  test('is that of guards of the app too, whose first request is the first of all', async () => {
    const guarded = (accepted: string) => app.http.get('/reports').set('accept-language', accepted);
    const answer = await guarded('de');
    expect(expectProblem(answer, 401, 'unauthenticated').detail).toBe(errors.de?.problems.unauthenticated);
    expect(answer.headers.vary).toMatch(/\bAccept-Language\b/);
    const own = await startApp({
      plugins: [password()],
      config: { locale },
      mount: (server, auth) => {
        server.get('/reports', requireSession(auth), (_req, res) => void res.json({}));
      },
    });
    const first = await own.http.get('/reports').set('accept-language', 'fr');
    expect(first.body.detail).toBe(errors.fr?.problems.unauthenticated);
    await own.stop();
  });

  test.each([
    ['ten kilobytes', 'x'.repeat(10_000)],
    ['5,000 tags', Array.from({ length: 5_000 }, (_, index) => (index % 10).toString()).join()],
    ['tags that are almost ones', 'd'.repeat(499).concat(',de')],
    ['thousands of commas', ','.repeat(10_000)],
    ['thousands of weights', 'nl;q=0.1,'.repeat(1_000)],
    ['a weight of thousands of digits', `nl;q=0.${'9'.repeat(9_000)}`],
    ['letters of Latin-1', 'd\u00e9,\u00ff\u00ff'],
    ['an escaped NUL', 'de%00'],
    ['tabs', '\t'.repeat(5_000)],
    ['marks', ';;;===,,;q=;q=q,*;*;*'],
    ['a name of every object', '__proto__,constructor,toString'],
  ])('for %s in Accept-Language is the default', async (_what, accepted) => {
    const usual = await signIn('');
    const answer = await signIn(accepted);
    expect({ status: answer.status, body: answer.body }).toEqual({ status: 401, body: usual.body });
    expect(Object.keys(answer.headers).sort()).toEqual(Object.keys(usual.headers).sort());
  });

  test('counts the first tags of a header that is too long', async () => {
    expect(languageOf((await signIn(`fr,${'nl,'.repeat(3_000)}`)).body.detail)).toBe('fr');
  });

  test('does not change the codes, the statuses and the titles', async () => {
    const [german, english] = [await signIn('de'), await signIn('')];
    expect({ ...german.body, detail: '' }).toEqual({ ...english.body, detail: '' });
    expect(english.body.detail).toBe(defaultDetails().invalid_credentials);
  });
});

describe('the choice of a user', () => {
  test('is in GET /me, and changes with PATCH /me', async () => {
    const { headers, id } = await person();
    const me = async () => (await app.http.get('/auth/me').set(headers).expect(200)).body.user.locale;
    const choose = (chosen: unknown) =>
      app.http.patch('/auth/me').set(headers).set('accept-language', 'fr').send({ locale: chosen });
    expect(await me()).toBeNull();
    expect((await choose('de').expect(200)).body.user.locale).toBe('de');
    expect(await me()).toBe('de');
    await choose('pt-BR').expect(200);
    expect(await me()).toBe('pt-BR');
    for (const wrong of ['nl', 'pt', 'DE', '', 'de '])
      expect(expectProblem(await choose(wrong), 422, 'validation_failed').errors).toEqual([
        {
          pointer: '/locale',
          code: 'invalid',
          detail: errors['pt-BR']?.phrases['not-one-of']({ values: LANGUAGES }),
        },
      ]);
    for (const wrong of [5, ['de'], { tag: 'de' }])
      expectProblem(await choose(wrong), 422, 'validation_failed');
    expect(await me()).toBe('pt-BR');
    await choose(null).expect(200);
    expect(await me()).toBeNull();
    const { errors: fields } = expectProblem(await choose('nl'), 422, 'validation_failed');
    expect(fields?.[0]?.detail).toBe(errors.fr?.phrases['not-one-of']({ values: LANGUAGES }));
    expect(await app.auth.users.get(id)).toMatchObject({ locale: null });
  });

  test('is a field of sign-ups, and in the export', async () => {
    const email = newEmail();
    const sent = { email, password: PASSWORD, locale: 'es' };
    await app.http.post('/auth/signup/credential').send(sent).expect(201);
    const user = await app.auth.users.find({ email });
    expect(user).toMatchObject({ locale: 'es' });
    const { token } = await app.auth.createSession(user?.id ?? '');
    const exported = await app.http.post('/auth/me/export').set('cookie', `latchkey=${token}`).expect(200);
    expect(exported.body.user).toMatchObject({ locale: 'es', sign_up_language: 'en' });
  });

  test('is changed by administrators, and is no column that others read', async () => {
    const root = await rootOf('es');
    const { id } = await person('de');
    const path = `/auth/admin/users/${id}`;
    const changed = await app.http.patch(path).set(root.headers).send({ locale: 'fr' }).expect(200);
    expect(changed.body.user ?? changed.body).toMatchObject({ locale: 'fr' });
    expect(JSON.stringify(changed.body)).not.toMatch(/sign_?up_?language/i);
  });
});

describe('an email', () => {
  const askReset = (email: string, accepted: string) =>
    app.http
      .post('/auth/passwords/request-reset')
      .set('accept-language', accepted)
      .send({ email })
      .expect(202);

  const choose = (id: string, chosen: string | null) =>
    app.auth.users.update(id, { fields: { locale: chosen } as never });

  test('about a sign-up is in the language of the request, and so are later ones of the account', async () => {
    const email = newEmail();
    const first = await mailOf(email, 'verify-email', () => signUp(email, 'fr').expect(201));
    expectMail(first, 'fr');
    const reset = () => mailOf(email, 'reset-password', () => askReset(email, 'es'));
    expectMail(await reset(), 'fr');
    const user = await app.auth.users.find({ email });
    await choose(user?.id ?? '', 'de');
    expectMail(await reset(), 'de');
    await choose(user?.id ?? '', null);
    expectMail(await reset(), 'fr');
  });

  test('about a sign-up with a choice is in the chosen language', async () => {
    const email = newEmail();
    const sent = { email, password: PASSWORD, locale: 'es' };
    const work = () => app.http.post('/auth/signup/credential').set('accept-language', 'de').send(sent);
    expectMail(await mailOf(email, 'verify-email', () => work().expect(201)), 'es');
  });

  test('to a user whom an administrator creates is in the default language', async () => {
    const root = await rootOf('de');
    const email = newEmail();
    const create = () =>
      app.http
        .post('/auth/admin/users')
        .set({ ...root.headers, 'accept-language': 'fr' })
        .send({ email });
    expectMail(await mailOf(email, 'invitation', () => create().expect(201)), 'en');
  });

  test('to a user whom code creates is in the default language, unless it sets one', async () => {
    for (const [chosen, tag] of [
      [null, 'en'],
      ['es', 'es'],
    ] as const) {
      const email = newEmail();
      const { id } = await app.auth.users.create({ email, fields: { locale: chosen } as never });
      const notice = () => app.auth.users.setPassword(id, 'another password of hers');
      expectMail(await mailOf(email, 'password-set', notice), tag);
    }
  });

  test('that a stranger asks for is in the language of the account', async () => {
    const { email } = await person('de');
    const mail = await mailOf(email, 'reset-password', () => askReset(email, 'fr'));
    expectMail(mail, 'de');
    byApp = () => 'es';
    expectMail(await mailOf(email, 'reset-password', () => askReset(email, 'fr')), 'de');
  });

  test('that an administrator sends is in the language of the account', async () => {
    const root = await rootOf('de');
    const { id, email } = await person('pt-BR');
    const send = () => app.http.post(`/auth/admin/users/${id}/send-password-reset`).set(root.headers);
    expectMail(await mailOf(email, 'reset-password', () => send().expect(202)), 'pt-BR');
  });

  const askCode = (email: string, accepted: string) =>
    app.http.post('/auth/signin/email').set('accept-language', accepted).send({ email }).expect(202);

  test('with the code of a sign-in is in the language of the account, or of the request that creates it', async () => {
    const { email } = await person('de');
    expectMail(await mailOf(email, 'sign-in-code', () => askCode(email, 'fr')), 'de');
    const created = newEmail();
    const browser = app.browser();
    const ask = () =>
      browser.post('/auth/signin/email').set('accept-language', 'fr').send({ email: created }).expect(202);
    const mail = await mailOf(created, 'sign-in-code', ask);
    expectMail(mail, 'fr');
    const confirm = browser.post('/auth/signin/email/confirm').set('accept-language', 'fr');
    await confirm.send({ code: mail.code }).expect(200);
    expectMail(await mailOf(created, 'sign-in-code', () => askCode(created, 'es')), 'fr');
  });

  test('to other administrators is in their language, and that to the new one in theirs', async () => {
    await rootOf('fr');
    const { id, email } = await person('de');
    const own = await mailOf(email, 'administrator-added', () => app.auth.roles.set(id, ['admin']));
    expectMail(own, 'de');
    const others = mails.mails.filter(({ to }) => to === ROOT || to === OTHER_ROOT);
    expect(Object.fromEntries(others.map(({ to, language }) => [to, language]))).toEqual({
      [ROOT]: 'fr',
      [OTHER_ROOT]: 'en',
    });
  });

  test('that invites to an organization is in the language of the account with the address, or the default', async () => {
    const owner = await person('fr');
    const { id } = await app.auth.organizations.create({
      ...{ name: 'Acme', slug: `acme-${people}`, ownerId: owner.id },
    });
    const invite = (email: string) =>
      app.http
        .post(`/auth/organizations/${id}/invitations`)
        .set({ ...owner.headers, 'accept-language': 'es' })
        .send({ email, role: 'member' });
    const stranger = newEmail();
    const known = await person('de');
    const mailTo = (email: string) =>
      mailOf(email, 'organization-invitation', () => invite(email).expect(201));
    expectMail(await mailTo(stranger), 'en');
    expectMail(await mailTo(known.email), 'de');
  });

  test('keeps its language if the choice changes after it was written and before it is sent', async () => {
    const { id, email } = await person('de');
    isDown = true;
    await app.auth.users.setPassword(id, 'another password of hers');
    await allSent(app.auth);
    await choose(id, 'fr');
    isDown = false;
    await untilDue(app.database);
    const work = () => app.auth.outbox.deliver();
    expectMail(await mailOf(email, 'password-changed', work), 'de');
    const later = () => app.auth.users.setPassword(id, 'yet another password');
    expectMail(await mailOf(email, 'password-changed', later), 'fr');
  });
});

/** An administrator, who has chosen a language. */
async function rootOf(chosen: string) {
  const known = await app.auth.users.find({ email: ROOT });
  if (known) await app.auth.users.delete(known.id);
  return person(chosen, ROOT);
}

describe('an address', () => {
  const own = mailbox();
  const both = [password({ concealExistingEmails: true, verifyEmailBy: 'link' }), emailSignIn()] as const;
  let closed: SpecApp<typeof both>;
  let statements: string[] = [];
  const KNOWN = 'known@example.com';
  beforeAll(async () => {
    closed = await startApp({
      plugins: both,
      async config(database) {
        const logging = loggingSequelize(database);
        statements = logging.statements;
        const rateLimit = { mail: { limit: 100, window: 60 }, mailAddress: false } as const;
        const email = { send: own.send };
        return { database: logging.sequelize, baseUrl: 'https://app.example.com', locale, email, rateLimit };
      },
    });
    const fields = { locale: 'de' } as never;
    for (const email of ['first@example.com', KNOWN])
      await closed.auth.users.create({ email, password: PASSWORD, emailVerified: true, fields });
  });
  afterAll(() => closed.stop());

  /** What a request answers, does in the database, and emails. */
  async function workOf(path: string, email: string) {
    statements.length = 0;
    own.mails.length = 0;
    const body = { email, ...(path.startsWith('signup') && { password: PASSWORD }) };
    const answer = await closed.http.post(`/auth/${path}`).set('accept-language', 'fr').send(body);
    await allSent(closed.auth);
    const { date: _, 'set-cookie': cookies, ...headers } = answer.headers;
    const work = statements.map((line) => {
      const found =
        /\b(SELECT|INSERT|UPDATE|DELETE)\b(?:.*?\b(?:FROM|INTO|UPDATE)|(?<=UPDATE))\s+[`"(]?(\w+)/s.exec(
          line,
        );
      return found?.slice(1, 3).join(' ') ?? '';
    });
    return {
      answer: { status: answer.status, names: Object.keys(answer.body), headers },
      cookies: [cookies ?? []].flat().map((line) => String(line).split('=')[0]),
      // The first count of a mailbox in an hour is an INSERT after the UPDATE. Refused work rolls back earlier.
      work: work.filter((step) => step !== '' && step !== 'INSERT rate_limits').sort(),
      sent: own.mails.map(({ kind, language }) => `${kind} ${language}`),
    };
  }

  test.each([
    ['passwords/request-reset', ['reset-password de'], []],
    ['signin/email', ['sign-in-code de'], ['no-account en']],
    ['signup/credential', ['reset-password de'], ['verify-email fr']],
  ])(
    'with an account and one without get the same answer and statements from POST /%s',
    async (path, mail, otherMail) => {
      // Begins the counters.
      await workOf(path, 'first@example.com');
      const known = await workOf(path, KNOWN);
      const { sent, ...unknown } = await workOf(path, `unknown-${people++}@example.com`);
      expect([known.sent, sent]).toEqual([mail, otherMail]);
      expect(known.answer.status).toBe(202);
      expect(known.work.length).toBeGreaterThan(3);
      expect({ ...unknown, sent: known.sent }).toEqual(known);
    },
  );

  test('gets the same answer to a wrong password, in the language of the request', async () => {
    const wrong = (credential: string) =>
      closed.http
        .post('/auth/signin/credential')
        .set('accept-language', 'fr')
        .send({ credential, password: 'wrong' });
    const [known, unknown] = [await wrong(KNOWN), await wrong('unknown@example.com')];
    expect(known.body).toEqual(unknown.body);
    expect(languageOf(known.body.detail)).toBe('fr');
  });
});

describe('a language that the config no longer has', () => {
  test('is no choice any more, and stays in the row', async () => {
    const { id, headers, email } = await person('fr');
    const { email: other } = { email: newEmail() };
    await signUp(other, 'es').expect(201);
    await allSent(app.auth);
    const later = mailbox();
    const fewer = await startApp({
      plugins,
      config: {
        ...{ database: app.database.url, baseUrl: BASE_URL, email: { send: later.send } },
        locale: { languages: ['en', 'de'] },
      },
    });
    const patch = (body: object) =>
      fewer.http.patch('/auth/me').set(headers).set('accept-language', 'de').send(body);
    const me = await fewer.http.get('/auth/me').set(headers).expect(200);
    expect(me.body.user).toMatchObject({ email, locale: 'fr' });
    const refused = expectProblem(await patch({ locale: 'fr' }), 422, 'validation_failed');
    expect(refused.errors?.[0]?.detail).toBe(errors.de?.phrases['not-one-of']({ values: ['en', 'de'] }));
    const reset = (to: string) =>
      later.mailOf(to, 'reset-password', () =>
        fewer.http.post('/auth/passwords/request-reset').send({ email: to }).expect(202),
      );
    expectMail(await reset(email), 'en');
    expectMail(await reset(other), 'en');
    await fewer.stop();
    expect(await app.auth.users.get(id)).toMatchObject({ locale: 'fr' });
  });
});

describe('what the app does with errors', () => {
  let shaped: SpecApp<readonly [ReturnType<typeof password>]>;
  beforeAll(async () => {
    shaped = await startApp({
      plugins: [password()] as const,
      config: {
        locale,
        baseUrl: 'http://app.localhost',
        problems: ({ code, detail, errors: fields }: ProblemDetails) => ({ code, message: detail, fields }),
      },
      mount(server, auth) {
        server.use('/auth', authRouter(auth));
        server.get('/sign-up', (req, res) => void res.json(auth.formValues(req, res)));
      },
    });
  });
  afterAll(() => shaped.stop());

  test('gets the translated details in the hook problems', async () => {
    const answer = await shaped.http
      .post('/auth/signup/credential')
      .set('accept-language', 'de')
      .send({ email: 'ada', password: PASSWORD });
    expect(answer.body).toEqual({
      code: 'validation_failed',
      message: errors.de?.problems.validation_failed,
      fields: [{ pointer: '/email', code: 'invalid_email', detail: errors.de?.phrases['invalid-email'] }],
    });
  });

  test('gets the translated details of a form from auth.formValues', async () => {
    const browser = shaped.browser();
    const sent = new URLSearchParams({ email: 'ada', password: PASSWORD, error_to: '/sign-up' });
    const answer = await browser
      .post('/auth/signup/credential')
      .set({ 'accept-language': 'es', origin: 'http://app.localhost', accept: 'text/html' })
      .type('form')
      .send(String(sent));
    expect([answer.status, answer.headers.location]).toEqual([303, expect.stringMatching(/^\/sign-up\?/)]);
    // What was written down stays in its language.
    const shown = await browser.get('/sign-up').set('accept-language', 'fr').expect(200);
    expect(shown.body.errors).toEqual([
      { pointer: '/email', code: 'invalid_email', detail: errors.es?.phrases['invalid-email'] },
    ]);
  });
});

describe('with one language', () => {
  test.each([
    ['none in the config', undefined],
    ['English alone', { languages: ['en'] }],
    ['German alone', { default: 'de' }],
  ] as const)('%s, there is no field, no column and no statement more, and no Vary', async (_case, given) => {
    let statements: string[] = [];
    const box = mailbox();
    const one = await startApp({
      plugins: [password({ sendVerificationOnSignUp: true })] as const,
      async config(database) {
        const logging = loggingSequelize(database);
        statements = logging.statements;
        const config = { database: logging.sequelize, baseUrl: BASE_URL, email: { send: box.send } };
        return { ...config, ...(given && { locale: given as { default?: string } }) };
      },
    });
    const tag = given && 'default' in given ? 'de' : 'en';
    statements.length = 0;
    await one.http.post('/auth/signup/credential').set('accept-language', 'fr').send(ada).expect(201);
    await allSent(one.auth);
    const { token } = await one.auth.credential.signIn({ credential: ada.email, password: ada.password });
    const me = await one.http.get('/auth/me').set('cookie', `latchkey=${token}`).expect(200);
    expect(Object.keys(me.body.user)).not.toContain('locale');
    const refused = await one.http
      .patch('/auth/me')
      .set('cookie', `latchkey=${token}`)
      .set('accept-language', 'fr')
      .send({ locale: 'de' });
    // Without any field, the app does not have the route.
    expect(expectProblem(refused, 405, 'method_not_allowed').detail).toBe(
      errors[tag]?.problems.method_not_allowed,
    );
    expect(refused.headers.vary ?? '').not.toMatch(/language/i);
    expect(box.mails.map(({ kind, language }) => [kind, language])).toEqual([['verify-email', tag]]);
    expect(statements.filter((line) => /locale|language/i.test(line))).toEqual([]);
    expect(statements.length).toBeGreaterThan(5);
    const [row] = await rows(one.database, 'SELECT * FROM users');
    expect(Object.keys(row ?? {}).filter((name) => /locale|language/.test(name))).toEqual([]);
    expect(JSON.stringify(one.auth.openapi())).not.toMatch(/"locale"/);
    await one.stop();
  });

  test('as many statements are sent as without the option, and with several one more for an email to a new account', async () => {
    const counted = async (given: object) => {
      let statements: string[] = [];
      const one = await startApp({
        plugins: [password({ sendVerificationOnSignUp: true })] as const,
        async config(database) {
          const logging = loggingSequelize(database);
          statements = logging.statements;
          return { database: logging.sequelize, baseUrl: BASE_URL, email: { send() {} }, ...given };
        },
      });
      const work: Record<string, number> = {};
      const count = async (name: string, step: () => PromiseLike<unknown>) => {
        await allSent(one.auth);
        statements.length = 0;
        await step();
        await allSent(one.auth);
        work[name] = statements.length;
      };
      const send = (path: string, body: object) => one.http.post(`/auth/${path}`).send(body);
      await count('first', () => send('signin/credential', { credential: 'a', password: 'b' }));
      await count('sign-up', () => send('signup/credential', ada).expect(201));
      const signsIn = { credential: ada.email, password: ada.password };
      await count('sign-in', () => send('signin/credential', signsIn).expect(200));
      await count('reset', () => send('passwords/request-reset', { email: ada.email }).expect(202));
      await count('error', () => one.http.get('/auth/me').expect(401));
      await one.stop();
      return work;
    };
    const [without, single, several] = [
      await counted({}),
      await counted({ locale: { default: 'de' } }),
      await counted({ locale }),
    ];
    expect(single).toEqual(without);
    expect(several).toEqual({ ...without, 'sign-up': (without['sign-up'] ?? 0) + 1 });
  });
});
