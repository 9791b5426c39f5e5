import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  admin,
  apiKeys,
  authRouter,
  emailSignIn,
  requireAdmin,
  requireSession,
  twoFactor,
} from '../../lib/index.js';
import { ada, password } from '../support/app.js';
import type { PageBrowser, Shown } from '../support/page-browser.js';
import {
  createPerson,
  createProtected,
  type PagesApp,
  signInOn,
  startPagesApp,
} from '../support/pages-app.js';
import { codeOf, forgetSteps } from '../support/two-factor.js';

const fields = { termsAcceptedAt: { type: 'date', input: 'none' } } as const;
const plugins = [
  password(),
  emailSignIn(),
  twoFactor(),
  apiKeys(),
  admin({ adminEmails: ['root@example.com'] }),
] as const;

let app: PagesApp<typeof plugins>;
const ada2 = { ...ada, email: 'protected@example.com' };
const newcomer = { ...ada, email: 'newcomer@example.com' };
let secret: string;
beforeAll(async () => {
  app = await startPagesApp(plugins, {
    config: {
      bearerEnabled: true,
      user: { fields },
      tasks: {
        terms: {
          open: (user: { email: string | null }) => user.email === newcomer.email,
          page: '/terms?from=task',
        },
      },
    } as never,
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      const done = (_req: unknown, res: { send(body: string): unknown }) => void res.send('done');
      express.all('/guarded', requireSession(auth), done);
      express.all('/fresh', requireSession(auth, { freshWithin: 60 }), done);
      express.all('/strong', requireSession(auth, { aal: 2 }), done);
      express.all('/scoped', requireSession(auth, { accept: ['bearer'] }), done);
      express.all('/admin', requireAdmin(auth), done);
      express.all('/terms', requireSession(auth, { tasks: ['terms'] }), done);
      express.all('/terms-unnamed', requireSession(auth), done);
      express.all(
        '/own',
        requireSession(auth, { onError: ({ code }, _req, res) => res.status(418).send(`own ${code}`) }),
        done,
      );
      express.use('/area', requireSession(auth), done);
    },
  });
  await createPerson(app as never, ada);
  await createPerson(app as never, newcomer);
  secret = (await createProtected(app as never, ada2)).secret;
});
afterAll(() => app.stop());

const isJson = ({ headers }: Shown) => headers['content-type'] === 'application/problem+json; charset=utf-8';
const isHtml = ({ headers }: Shown) => headers['content-type'] === 'text/html; charset=utf-8';
const OVER = 'Your session has ended. Sign in again.';
const signedIn = async (person = ada) => {
  const browser = app.open();
  await signInOn(browser, person);
  return browser;
};

describe('a document', () => {
  test.each(['GET', 'HEAD'])('by %s leads to the sign-in, and from there back', async (method) => {
    const answer = await app.open().send(method, '/guarded?a=b&c=%20');
    expect([answer.status, answer.location, answer.body]).toEqual([
      303,
      '/auth/sign-in?return_to=%2Fguarded%3Fa%3Db%26c%3D%2520',
      '',
    ]);
    expect(answer.headers['cache-control']).toBe('no-store');
    const browser = app.open();
    const page = await browser.visit('/guarded?a=b&c=%20');
    const done = await browser.submit(page, 'password', { credential: ada.email, password: ada.password });
    expect(done.location).toBe('/guarded?a=b&c=%20');
    expect((await browser.follow(done)).body).toBe('done');
  });

  test('without Sec-Fetch-Dest, as older browsers send it, leads there too', async () => {
    const answer = await app.open().open('/guarded', { 'sec-fetch-dest': '', 'sec-fetch-mode': '' });
    expect(answer.location).toBe('/auth/sign-in?return_to=%2Fguarded');
  });

  test('below a path where the guard is mounted, leads back to the whole path', async () => {
    expect((await app.open().open('/area/51?x=y')).location).toBe(
      '/auth/sign-in?return_to=%2Farea%2F51%3Fx%3Dy',
    );
  });

  test('whose session has ended leads to the sign-in', async () => {
    const browser = await signedIn();
    await app.auth.models.Session.destroy({ where: {} });
    const answer = await browser.open('/guarded');
    expect(answer.location).toBe('/auth/sign-in?return_to=%2Fguarded');
    // It stays when the page is reloaded, and ends with a mistake or the sign-in.
    for (let times = 0; times < 2; times++) expect((await browser.follow(answer)).text).toContain(OVER);
    const mistaken = await signInOn(browser, { ...ada, password: 'a wrong password' }, answer.location ?? '');
    expect([mistaken.status, mistaken.text]).toEqual([401, expect.not.stringContaining(OVER)]);
    await signInOn(browser, ada, answer.location ?? '');
    await browser.submit(await browser.open('/auth/sign-out'), 'confirm');
    expect((await browser.open('/auth/sign-in')).text).not.toContain(OVER);
  });

  test('without a session, or with two cookies of sessions, says of none that it has ended', async () => {
    const tokens = await Promise.all(
      [1, 2].map(
        async () => /^latchkey=[^;]+/m.exec((await signInOn(app.open(), ada)).cookies.join('\n'))?.[0],
      ),
    );
    for (const cookie of ['', tokens.join('; ')]) {
      const browser = app.open();
      const answer = await browser.open('/guarded', cookie ? { cookie } : {});
      expect([answer.location, answer.cookies.join()]).toEqual([
        '/auth/sign-in?return_to=%2Fguarded',
        expect.not.stringContaining('note'),
      ]);
      expect((await browser.follow(answer)).text).not.toContain(OVER);
    }
    // No link can say it.
    expect((await app.open().open('/auth/sign-in?done=session-over')).text).not.toContain(OVER);
  });

  test('of an account whose session has ended leads to the sign-in, which says so', async () => {
    const browser = await signedIn();
    await app.auth.models.Session.destroy({ where: {} });
    const answer = await browser.open('/auth/account/security');
    expect((await browser.follow(answer)).text).toContain(OVER);
  });

  test('that needs a recent sign-in leads to the reauthentication', async () => {
    const browser = await signedIn();
    await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: {} });
    expect((await browser.open('/fresh')).location).toBe('/auth/reauthenticate?return_to=%2Ffresh');
  });

  test('that the user has no right to is a small page with 403', async () => {
    const answer = await (await signedIn()).open('/admin');
    expect([answer.status, isHtml(answer), answer.actions]).toEqual([403, true, []]);
    expect(answer.links).toContain('/home');
    expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect([answer.heading, answer.text]).toEqual([
      'You do not have access',
      expect.stringContaining(`You are signed in as ${ada.email}. Only administrators can open this page.`),
    ]);
    expect(answer.links).toEqual(expect.arrayContaining(['/home', '/auth/sign-out']));
  });

  test('that is for programs alone gets the problem, because a sign-in would lead around in circles', async () => {
    for (const browser of [app.open(), await signedIn()]) {
      const answer = await browser.open('/scoped');
      expect([answer.status, answer.location, isJson(answer)]).toEqual([401, null, true]);
    }
  });
});

describe('a second factor', () => {
  test('that the session has not shown leads to the reauthentication', async () => {
    const browser = app.open();
    const second = await browser.follow(await signInOn(browser, ada2));
    await forgetSteps(app as never);
    await browser.submit(second, 'confirm', { code: codeOf(secret) }, { method: 'totp' });
    expect((await browser.open('/strong')).body).toBe('done');
    await app.auth.models.Session.update({ amr: 'pwd', aal: 1 } as never, { where: {} });
    const answer = await browser.open('/strong');
    expect([answer.status, answer.location]).toEqual([303, '/auth/reauthenticate?return_to=%2Fstrong']);
    await forgetSteps(app as never);
    const page = await browser.follow(answer);
    const done = await browser.submit(page, 'confirm', { code: codeOf(secret) }, { code: '' });
    expect((await browser.follow(done)).body).toBe('done');
  });

  test('that the user does not have leads to its enrolment', async () => {
    const answer = await (await signedIn()).open('/strong');
    expect([answer.status, answer.location]).toEqual([
      303,
      '/auth/account/security?done=second-factor-needed&return_to=%2Fstrong',
    ]);
  });

  test('that a sign-in waits for leads to its page, and then on', async () => {
    const browser = app.open();
    await signInOn(browser, ada2);
    const answer = await browser.open('/guarded?x=y');
    expect([answer.status, answer.location]).toEqual([
      303,
      '/auth/second-factor?return_to=%2Fguarded%3Fx%3Dy',
    ]);
    await forgetSteps(app as never);
    const page = await browser.follow(answer);
    const done = await browser.submit(page, 'confirm', { code: codeOf(secret) }, { method: 'totp' });
    expect(done.location).toBe('/guarded?x=y');
    expect((await browser.follow(done)).body).toBe('done');
  });

  test('that a sign-in waits for is asked for by the pages of the account too', async () => {
    const browser = app.open();
    await signInOn(browser, ada2);
    const answer = await browser.open('/auth/account');
    expect([answer.status, answer.location]).toEqual([
      303,
      '/auth/second-factor?return_to=%2Fauth%2Faccount',
    ]);
  });

  test('that no sign-in waits for any longer leads to the sign-in', async () => {
    const browser = app.open();
    await signInOn(browser, ada2);
    await app.auth.models.UnfinishedSignIn.update({ expiresAt: new Date(0) }, { where: {} });
    expect((await browser.open('/guarded')).location).toBe('/auth/sign-in?return_to=%2Fguarded');
  });
});

describe('a task', () => {
  test("of the app leads to the app's page", async () => {
    const browser = await signedIn(newcomer);
    const answer = await browser.open('/guarded');
    expect([answer.status, answer.location]).toEqual([303, '/terms?from=task&return_to=%2Fguarded']);
    expect((await browser.follow(answer)).body).toBe('done');
  });
});

describe('a form of a document', () => {
  const form = (browser: PageBrowser, path: string, headers: Record<string, string> = {}) =>
    browser.post(path, { a: 'b' }, headers);

  test('that is refused is a small page with the status, and no redirect', async () => {
    const answer = await form(app.open(), '/guarded');
    expect([answer.status, answer.location, isHtml(answer)]).toEqual([401, null, true]);
    const fresh = await signedIn();
    await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: {} });
    const refused = await form(fresh, '/fresh');
    expect([refused.status, refused.location, isHtml(refused)]).toEqual([403, null, true]);
    const evil = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const forged = await form(fresh, '/guarded', evil);
    expect([forged.status, forged.location, isHtml(forged)]).toEqual([403, null, true]);
  });
});

describe('everything else gets the problem as JSON', () => {
  test.each([
    ['fetch', { 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' }],
    ['an image', { 'sec-fetch-dest': 'image' }],
    ['a frame', { 'sec-fetch-dest': 'iframe' }],
    ['a script that asks for HTML', { 'sec-fetch-dest': 'empty', accept: 'text/html' }],
    ['JSON', { accept: 'application/json' }],
    ['anything', { accept: '*/*' }],
    ['nothing', { accept: '' }],
    ['a bearer token', { authorization: 'Bearer x' }],
    ['an API key', { 'x-service-api-key': 'lka_x' }],
    ['an API key in Authorization', { authorization: 'ApiKey lka_x' }],
  ] as [string, Record<string, string>][])('%s', async (_title, headers) => {
    for (const method of ['GET', 'POST']) {
      const answer = await app.open().send(method, '/guarded', null, headers);
      expect([answer.status, answer.location, isJson(answer)]).toEqual([401, null, true]);
    }
  });
});

describe('htmx', () => {
  const htmx = (headers: Record<string, string> = {}) => ({
    'hx-request': 'true',
    accept: '*/*',
    'sec-fetch-dest': 'empty',
    ...headers,
  });

  test.each(['GET', 'POST'])(
    'by %s gets 401 with HX-Redirect to the sign-in, and back to its page',
    async (method) => {
      const headers = htmx({ 'hx-current-url': `${app.origin}/page?x=y` });
      const answer = await app.open().send(method, '/guarded', null, headers);
      expect([answer.status, answer.body]).toEqual([401, '']);
      expect(answer.headers['hx-redirect']).toBe('/auth/sign-in?return_to=%2Fpage%3Fx%3Dy');
    },
  );

  test('from another page than one of the app leads to the sign-in alone', async () => {
    for (const url of ['https://evil.example//evil.example', 'javascript:alert(1)', 'nonsense', '']) {
      const answer = await app.open().send('GET', '/guarded', null, htmx({ 'hx-current-url': url }));
      expect([answer.status, answer.headers['hx-redirect']]).toEqual([401, '/auth/sign-in']);
    }
  });

  test('that the user has no right to gets the problem', async () => {
    const answer = await (await signedIn()).send('GET', '/admin', null, htmx());
    expect([answer.status, answer.headers['hx-redirect'], isJson(answer)]).toEqual([403, undefined, true]);
  });
});

test('onError wins', async () => {
  for (const headers of [{}, { accept: 'application/json' }, { 'hx-request': 'true' }] as Record<
    string,
    string
  >[]) {
    const answer = await app.open().open('/own', headers);
    expect([answer.status, answer.body]).toEqual([418, 'own unauthenticated']);
  }
});

describe('a required second factor', () => {
  let strict: PagesApp<readonly [ReturnType<typeof password>, ReturnType<typeof twoFactor>]>;
  beforeAll(async () => {
    strict = (await startPagesApp([password(), twoFactor({ required: () => true })] as const, {
      mount(express, auth) {
        express.use('/auth', authRouter(auth));
        express.get('/guarded', requireSession(auth), (_req, res) => void res.send('done'));
      },
    })) as never;
    await createPerson(strict as never, ada);
  });
  afterAll(() => strict.stop());

  test('that the user has not set up leads to its enrolment', async () => {
    const browser = strict.open();
    const signIn = await browser.open('/auth/sign-in');
    const { code } = await strict.mailOf(ada.email, 'browser-code', () =>
      browser.submit(signIn, 'password', { credential: ada.email, password: ada.password }),
    );
    const page = await browser.open('/auth/second-factor');
    await browser.submit(page, 'confirm', { code }, { method: 'email_code' });
    const answer = await browser.open('/guarded?x=y');
    expect(answer.status).toBe(303);
    expect(answer.location).toContain('/auth/account/security');
    expect(answer.location).toContain('return_to=%2Fguarded%3Fx%3Dy');
  });
});

describe('limits', () => {
  let limited: PagesApp<readonly [ReturnType<typeof password>]>;
  beforeAll(async () => {
    limited = (await startPagesApp([password()] as const, { config: { rateLimit: {} } })) as never;
    await createPerson(limited as never, ada);
  });
  afterAll(() => limited.stop());

  test('a form that is sent too often says when to try again', async () => {
    const browser = limited.open();
    let answer = await signInOn(browser, { ...ada, password: 'wrong' });
    for (let time = 0; answer.status !== 429 && time < 50; time++)
      answer = await signInOn(browser, { ...ada, password: 'wrong' });
    expect([answer.status, isHtml(answer)]).toEqual([429, true]);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.text).toMatch(/Try again in \d+ (second|minute|hour)s?\./);
  });

  test('a form that is too large, or of another type, is a page with its status', async () => {
    const large = await limited.open().post('/auth/sign-in/password', { credential: 'x'.repeat(17_000) });
    expect([large.status, isHtml(large)]).toEqual([413, true]);
    const typed = await limited.open().post('/auth/sign-in/password', {}, { 'content-type': 'text/plain' });
    expect([typed.status, isHtml(typed)]).toEqual([415, true]);
  });
});
