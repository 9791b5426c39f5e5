import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express, { type Express, type RequestHandler } from 'express';
import request from 'supertest';
import {
  type Auth,
  authRouter,
  createAuth,
  emailSignIn,
  requireSession,
  twoFactor,
} from '../../lib/index.js';
import { type PagesOptions, pages } from '../../lib/pages.js';
import { ada, memoryLogger, password, SECRET } from '../support/app.js';
import { attribute, type PageBrowser, type Shown } from '../support/page-browser.js';
import {
  createPerson,
  isSignedIn,
  type PagesApp,
  pathOf,
  signInOn,
  startPagesApp,
} from '../support/pages-app.js';

const plugins = [password({ signInOnSignUp: true }), emailSignIn({ signUp: true }), twoFactor()] as const;

/** What a proxy does in front of the app: it removes the prefix, and passes nothing else on. */
const withoutPrefix: RequestHandler = (req, res, next) => {
  if (!req.url.startsWith('/app/')) {
    res.status(502).send('outside of the app');
    return;
  }
  req.url = req.url.slice('/app'.length);
  req.originalUrl = req.url;
  next();
};

const done: RequestHandler = (_req, res) => void res.send('done');
const pass: RequestHandler = (_req, _res, next) => next();

interface Mount {
  /** Where browsers see the routes. */
  readonly at: string;
  /** Where they see the app. */
  readonly app?: string;
  readonly config?: object;
  readonly pages?: PagesOptions;
  mount(server: Express, auth: Auth): void;
}

const MOUNTS: Record<string, Mount> = {
  'at /auth': {
    at: '/auth',
    mount: (server, auth) => void server.use('/auth', authRouter(auth)),
  },
  'at another path': {
    at: '/accounts',
    mount: (server, auth) => void server.use('/accounts', authRouter(auth)),
  },
  'at a path of several segments, with httpBasePath': {
    at: '/my/accounts',
    config: { httpBasePath: '/my/accounts' },
    mount: (server, auth) => void server.use('/my/accounts', authRouter(auth)),
  },
  'at the root, with httpBasePath': {
    at: '/id',
    config: { httpBasePath: '/id' },
    mount: (server, auth) => void server.use(authRouter(auth)),
  },
  'at the root, without it': {
    at: '/auth',
    mount: (server, auth) => void server.use(authRouter(auth)),
  },
  'in an app of an app': {
    at: '/inner/auth',
    mount(server, auth) {
      const inner = express();
      inner.use('/auth', authRouter(auth));
      server.use('/inner', inner);
    },
  },
  'in a router, with httpBasePath': {
    at: '/inner/auth',
    config: { httpBasePath: '/inner/auth' },
    mount: (server, auth) => void server.use('/inner', express.Router().use('/auth', authRouter(auth))),
  },
  'behind a proxy that removes a prefix': {
    at: '/app/auth',
    app: '/app',
    config: { baseUrl: 'http://localhost/app' },
    mount(server, auth) {
      server.use(withoutPrefix);
      server.use('/auth', authRouter(auth));
    },
  },
  'behind such a proxy, at another path': {
    at: '/app/accounts',
    app: '/app',
    config: { baseUrl: 'http://localhost/app', httpBasePath: '/accounts' },
    mount(server, auth) {
      server.use(withoutPrefix);
      server.use(authRouter(auth));
    },
  },
};

describe.each(Object.entries(MOUNTS))('%s', (_title, { at, app: prefix = '', config = {}, mount }) => {
  const home = `${prefix}/home`;
  let app: PagesApp<typeof plugins>;
  beforeAll(async () => {
    app = await startPagesApp(plugins, {
      pages: { home },
      config: config as never,
      mount(server, auth) {
        mount(server, auth as never);
        server.get('/guarded', requireSession(auth), done);
        server.get('/fresh', requireSession(auth, { freshWithin: 60 }), done);
        server.get('/home', done);
      },
    });
    await createPerson(app as never, ada);
  });
  afterAll(() => app.stop());

  /** Opens everything that a page leads to or loads. */
  const faultsOf = async (browser: PageBrowser, shown: Shown) => {
    const faults: string[] = [];
    for (const element of shown.elements)
      for (const name of ['href', 'src']) {
        const address = attribute(element, name);
        if (address === undefined || address.startsWith('#')) continue;
        const answer = await browser.copy().open(address);
        if (answer.status >= 400) faults.push(`${address} at ${shown.url}: ${answer.status}`);
      }
    for (const action of shown.actions)
      if (!action.startsWith(`${at}/`)) faults.push(`${action} at ${shown.url}`);
    return faults;
  };

  test('what the pages load and lead to is there', async () => {
    const visitor = app.open();
    const browser = app.open();
    await signInOn(browser, ada, `${at}/sign-in`);
    for (const page of [
      'sign-in',
      'sign-up',
      'forgot-password',
      'reset-password',
      'second-factor',
      'sign-in/email',
    ])
      expect(await faultsOf(visitor, await visitor.open(`${at}/${page}`))).toEqual([]);
    for (const page of ['sign-out', 'reauthenticate', 'account', 'account/security', 'account/sessions'])
      expect([page, await faultsOf(browser, await browser.open(`${at}/${page}`))]).toEqual([page, []]);
  });

  test('a guard leads to the sign-in, that leads back, and the sign-out leads to the sign-in', async () => {
    const browser = app.open();
    const refused = await browser.open(`${prefix}/guarded?x=y`);
    const back = encodeURIComponent(`${prefix}/guarded?x=y`);
    expect(refused.location).toBe(`${at}/sign-in?return_to=${back}`);
    const page = await browser.follow(refused);
    const wrong = await browser.submit(page, 'password', { credential: ada.email, password: 'wrong' });
    expect([wrong.status, wrong.heading]).toEqual([401, 'Sign in to localhost']);
    const signedIn = await browser.submit(wrong, 'password', { password: ada.password });
    expect(signedIn.location).toBe(`${prefix}/guarded?x=y`);
    expect((await browser.follow(signedIn)).body).toBe('done');
    expect((await browser.open(`${at}/sign-in`)).location).toBe(home);
    const out = await browser.submit(await browser.open(`${at}/sign-out`), 'confirm');
    expect(out.location).toBe(`${at}/sign-in?done=signed-out`);
    expect(await isSignedIn(browser, at)).toBe(false);
  });

  test('a page of the account leads to the sign-in and back', async () => {
    const browser = app.open();
    const page = await browser.visit(`${at}/account/sessions`);
    expect(page.url).toBe(`${at}/sign-in?return_to=${encodeURIComponent(`${at}/account/sessions`)}`);
    const signedIn = await browser.submit(page, 'password', {
      credential: ada.email,
      password: ada.password,
    });
    expect(signedIn.location).toBe(`${at}/account/sessions`);
    expect((await browser.follow(signedIn)).status).toBe(200);
  });

  test('a reauthentication leads back', async () => {
    const browser = app.open();
    await signInOn(browser, ada, `${at}/sign-in`);
    await app.auth.models.Session.update({ authenticatedAt: new Date(0) }, { where: {} });
    const page = await browser.visit(`${prefix}/fresh`);
    const confirmed = await browser.submit(page, 'confirm', { password: ada.password });
    expect(confirmed.location).toBe(`${prefix}/fresh`);
    expect((await browser.follow(confirmed)).body).toBe('done');
  });

  test('a route of the mount is never gone on to', async () => {
    for (const path of [`${at}/oauth/x/link`, `${at}/SIGN-OUT`, `${at}/%73ign-out`, at, `${at}/`]) {
      const answer = await signInOn(app.open(), ada, `${at}/sign-in?return_to=${encodeURIComponent(path)}`);
      expect([path, answer.location]).toEqual([path, home]);
    }
  });

  test('links in emails lead to the pages, and the cookies that pages keep come along', async () => {
    const browser = app.open();
    const page = await browser.open(`${at}/sign-up?return_to=${encodeURIComponent(`${prefix}/guarded`)}`);
    const email = `new-${Date.now()}@example.com`;
    const mail = await app.mailOf(email, 'sign-in-code', () => browser.submit(page, 'send-code', { email }));
    expect(pathOf(mail.url)).toBe(`${at}/sign-in/email?token=${mail.token}`);
    const done = await browser.submit(await browser.open(pathOf(mail.url)), 'confirm');
    expect(done.location).toBe(`${prefix}/guarded`);
    expect(await isSignedIn(browser, at)).toBe(true);
  });

  test('every cookie reaches the whole app, and no page outside of it', async () => {
    const browser = app.open();
    await signInOn(browser, ada, `${at}/sign-in`);
    expect(browser.cookies.length).toBeGreaterThan(1);
    for (const { name, path } of browser.cookies) {
      const isWide = `${prefix}/`.startsWith(path.endsWith('/') ? path : `${path}/`);
      expect([name, isWide]).toEqual([name, true]);
    }
  });

  test('auth.pages.url gives the address that browsers see', () => {
    expect(app.auth.pages.url('sign-in')).toBe(`${at}/sign-in`);
    expect(app.auth.pages.url('sign-in', { returnTo: `${prefix}/x` })).toBe(
      `${at}/sign-in?return_to=${encodeURIComponent(`${prefix}/x`)}`,
    );
    expect(() => app.auth.pages.url('nonsense')).toThrow('there is no page nonsense');
  });
});

test('without home, one goes to the root of the app', async () => {
  for (const [baseUrl, home] of [
    ['http://localhost', '/'],
    ['http://localhost/app', '/app/'],
  ] as const) {
    const app = await startPagesApp([password()] as const, {
      pages: {},
      config: { baseUrl },
      mount(server, auth) {
        if (home !== '/') server.use(withoutPrefix);
        server.use('/auth', authRouter(auth));
      },
    });
    await createPerson(app as never, ada);
    expect((await signInOn(app.open(), ada, `${home}auth/sign-in`)).location).toBe(home);
    await app.stop();
  }
});

describe('before the first request to the router', () => {
  const open = (config: object = {}) => {
    const logger = memoryLogger();
    // The requests of these tests never reach a database.
    const auth = createAuth({
      database: 'sqlite:nowhere.db',
      secret: SECRET,
      rateLimit: false,
      outbox: { interval: false },
      baseUrl: 'http://localhost',
      logger,
      plugins: [password(), pages({ home: '/home' })],
      ...config,
    });
    const server = express();
    const warned = (text: string) => logger.lines.filter((line) => line.includes(text));
    return {
      auth,
      server,
      guard: () => void server.get('/guarded', requireSession(auth), done),
      open: (path: string) => request(server).get(path).set('accept', 'text/html'),
      /** Opens a guarded page. @returns the path of the page to which the guard redirects */
      async redirect() {
        const { headers } = await request(server).get('/guarded').set('accept', 'text/html').expect(303);
        return String(headers.location).split('?')[0];
      },
      /** The numbers of warnings: of a guessed path, and of a wrong one. */
      warnings: () => [warned('this is a guess').length, warned('the router serves').length],
    };
  };

  type Opened = ReturnType<typeof open>;
  const inApp = (path: string, auth: Auth) => express().use(path, authRouter(auth));
  const LEARNED: [string, string, ({ server, auth }: { server: Express; auth: Auth }) => unknown][] = [
    ['at /auth', '/auth', ({ server, auth }) => server.use('/auth', authRouter(auth))],
    ['at another path', '/account', ({ server, auth }) => server.use('/account', authRouter(auth))],
    ['at a path with a slash', '/account', ({ server, auth }) => server.use('/account/', authRouter(auth))],
    ['at the root', '/auth', ({ server, auth }) => server.use(authRouter(auth))],
    [
      'behind a middleware',
      '/a/b',
      ({ server, auth }) => server.use('/a/b', [pass, [authRouter(auth)]] as never),
    ],
    [
      'at the paths of an array',
      '/one',
      ({ server, auth }) => server.use(['/one', '/two'], authRouter(auth)),
    ],
    ['in an app of an app', '/v1/account', ({ server, auth }) => server.use('/v1', inApp('/account', auth))],
    [
      'in an app that is mounted later',
      '/v1/account',
      ({ server, auth }) => {
        const inner = express();
        const outer = express();
        inner.use('/account', authRouter(auth));
        outer.use('/v1', inner);
        server.use(outer);
      },
    ],
    [
      'twice, as one router',
      '/first',
      ({ server, auth }) => {
        const router = authRouter(auth);
        server.use('/first', router).use('/second', router);
      },
    ],
    [
      'twice, as two routers',
      '/first',
      ({ server, auth }) => server.use('/first', authRouter(auth)).use('/second', authRouter(auth)),
    ],
    [
      'at a plain path and one with a parameter',
      '/account',
      ({ server, auth }) => server.use('/:tenant/auth', authRouter(auth)).use('/account', authRouter(auth)),
    ],
  ];

  test.each(LEARNED)(
    'guards and addresses know the path of a router mounted %s',
    async (_where, at, mount) => {
      const app = open();
      // The guard is in front of the router, and is asked first.
      app.guard();
      mount(app as never);
      expect(app.auth.pages.url('sign-in')).toBe(`${at}/sign-in`);
      expect(await app.redirect()).toBe(`${at}/sign-in`);
      await app.open(`${at}/sign-in`).expect(200);
      expect(await app.redirect()).toBe(`${at}/sign-in`);
      expect(app.warnings()).toEqual([0, 0]);
      await app.auth.close();
    },
  );

  test('requests to another mount change nothing, and neither does their spelling', async () => {
    const app = open();
    app.guard();
    app.server.use('/first', authRouter(app.auth)).use('/second', authRouter(app.auth));
    app.server.use('/third', express.Router().use(authRouter(app.auth)));
    for (const path of ['/third/auth', '/second', '/FIRST', '/first', '/third']) {
      await app.open(`${path}/sign-in`);
      expect([path, await app.redirect()]).toEqual([path, '/first/sign-in']);
    }
    expect(app.warnings()).toEqual([0, 0]);
    await app.auth.close();
  });

  test('a path that a client has chosen does not replace the plain one', async () => {
    const app = open();
    app.guard();
    app.server.use('/auth', authRouter(app.auth)).use('/:tenant/auth', authRouter(app.auth));
    await app.open('/evil/auth/sign-in').expect(200);
    expect(await app.redirect()).toBe('/auth/sign-in');
    expect(app.warnings()).toEqual([0, 0]);
    await app.auth.close();
  });

  test('two Auths of an app have their own paths', async () => {
    const [app, staff] = [open(), open({ session: { cookie: { name: 'staff' } } })];
    app.server.use('/account', authRouter(app.auth)).use('/staff', authRouter(staff.auth));
    expect(app.auth.pages.url('sign-in')).toBe('/account/sign-in');
    expect(staff.auth.pages.url('sign-in')).toBe('/staff/sign-in');
    await Promise.all([app.auth.close(), staff.auth.close()]);
  });

  const UNLEARNED: [string, string, (app: Opened) => unknown][] = [
    [
      'a router',
      '/v1/auth',
      ({ server, auth }) => server.use('/v1', express.Router().use('/auth', authRouter(auth))),
    ],
    [
      'a function',
      '/account',
      ({ server, auth }) => server.use('/account', (req, res, next) => authRouter(auth)(req, res, next)),
    ],
  ];

  test.each(UNLEARNED)(
    'a guard warns of its guess, once, for a router below %s',
    async (_what, at, mount) => {
      const app = open();
      app.guard();
      mount(app);
      for (let i = 0; i < 2; i++) expect(await app.redirect()).toBe('/auth/sign-in');
      expect(app.warnings()).toEqual([1, 0]);
      // The first request shows that the guess was wrong.
      for (let i = 0; i < 2; i++) await app.open(`${at}/sign-in`).expect(200);
      expect(app.warnings()).toEqual([1, 1]);
      expect(await app.redirect()).toBe(`${at}/sign-in`);
      await app.auth.close();
    },
  );

  const CHOSEN: [string, string, (app: Opened) => unknown][] = [
    ['a parameter', '/evil/auth', ({ server, auth }) => server.use('/:tenant/auth', authRouter(auth))],
    ['a pattern', '/v6', ({ server, auth }) => server.use(/^\/v\d/, authRouter(auth))],
    [
      'an app below a parameter',
      '/evil/auth',
      ({ server, auth }) => server.use('/:tenant', inApp('/auth', auth as never)),
    ],
    [
      'a parameter in a router',
      '/evil/auth',
      ({ server, auth }) => server.use(express.Router().use('/:tenant/auth', authRouter(auth))),
    ],
    [
      'a parameter above a router that merges its parameters',
      '/evil/auth',
      ({ server, auth }) =>
        server.use('/:tenant', express.Router({ mergeParams: true }).use('/auth', authRouter(auth))),
    ],
  ];

  test.each(CHOSEN)(
    'no request decides where users are led if clients choose a part of the path: %s',
    async (_what, at, mount) => {
      const app = open();
      app.guard();
      mount(app);
      for (let i = 0; i < 2; i++) {
        await app.open(`${at}/sign-in`).expect(200);
        expect(await app.redirect()).toBe('/auth/sign-in');
      }
      expect(app.auth.pages.url('sign-in')).toBe('/auth/sign-in');
      expect(app.warnings()).toEqual([1, 1]);
      await app.auth.close();
    },
  );

  test('a router whose outer path has a parameter keeps the first path, and warns about another one', async () => {
    const app = open();
    app.guard();
    // Express does not show this parameter to the inner router.
    app.server.use('/:tenant', express.Router().use('/auth', authRouter(app.auth)));
    for (const [tenant, warnings] of [
      ['one', 0],
      ['one', 0],
      ['two', 1],
      ['three', 1],
    ] as const) {
      await app.open(`/${tenant}/auth/sign-in`).expect(200);
      expect(await app.redirect()).toBe('/one/auth/sign-in');
      expect(app.warnings()).toEqual([0, warnings]);
    }
    await app.auth.close();
  });

  test('an address is a guess too, and a guess that proves right is told only once', async () => {
    const app = open();
    app.guard();
    app.server.use(express.Router().use('/auth', authRouter(app.auth)));
    for (let i = 0; i < 2; i++) expect(app.auth.pages.url('sign-in')).toBe('/auth/sign-in');
    expect(app.warnings()).toEqual([1, 0]);
    await app.open('/auth/sign-in').expect(200);
    await app.redirect();
    expect(app.warnings()).toEqual([1, 0]);
    await app.auth.close();
  });

  test.each([
    ['right', '/auth', 0],
    ['wrong', '/account', 1],
  ])('an address that is asked for before app.use, and is %s', async (_what, at, warnings) => {
    const app = open();
    expect(app.auth.pages.url('sign-in')).toBe('/auth/sign-in');
    app.guard();
    app.server.use(at, authRouter(app.auth));
    expect(app.warnings()).toEqual([0, 0]);
    for (let i = 0; i < 2; i++) expect(await app.redirect()).toBe(`${at}/sign-in`);
    expect(app.warnings()).toEqual([0, warnings]);
    await app.auth.close();
  });

  test('an app that does not know where it is mounted itself is found by a request', async () => {
    const app = open();
    app.guard();
    app.server.use(express.Router().use('/v1', inApp('/account', app.auth as never)));
    expect(await app.redirect()).toBe('/account/sign-in');
    await app.open('/v1/account/sign-in').expect(200);
    expect(await app.redirect()).toBe('/v1/account/sign-in');
    expect(app.warnings()).toEqual([0, 1]);
    await app.auth.close();
  });

  test('httpBasePath is never a guess', async () => {
    const app = open({ httpBasePath: '/v1/auth' });
    app.guard();
    app.server.use('/v1', express.Router().use('/auth', authRouter(app.auth)));
    expect(await app.redirect()).toBe('/v1/auth/sign-in');
    expect(app.auth.pages.url('sign-in')).toBe('/v1/auth/sign-in');
    await app.open('/v1/auth/sign-in').expect(200);
    expect(app.warnings()).toEqual([0, 0]);
    await app.auth.close();
  });

  test('a page of the app is not a guess', async () => {
    const app = open({ plugins: [password(), pages({ home: '/home', own: { 'sign-in': '/login' } })] });
    app.guard();
    expect(await app.redirect()).toBe('/login');
    expect(app.auth.pages.url('sign-in')).toBe('/login');
    expect(app.warnings()).toEqual([0, 0]);
    await app.auth.close();
  });
});
