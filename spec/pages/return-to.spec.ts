import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { internalsOf } from '../../lib/auth.js';
import { authRouter, requireSession } from '../../lib/index.js';
import { readSettings, withConfig } from '../../lib/pages/options.js';
import { pagesOf } from '../../lib/pages/pages.js';
import { Site } from '../../lib/pages/site.js';
import { SEED } from '../fuzz/property.js';
import { ada } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { attribute, type PageBrowser } from '../support/page-browser.js';
import { type PagesApp, signInOn, startPagesApp } from '../support/pages-app.js';
import { BASE, faultOf, OWN, TRUSTED } from '../support/return-to.js';

const plugins = [
  ...everyPlugin({ sendsEmails: true, password: { unknownBrowser: 'notify' } }),
  fixedProvider(),
] as const;
let app: PagesApp<typeof plugins>;
let site: Site;
/** A browser that is signed in: its sign-in page goes on to where it is asked to. */
let browser: PageBrowser;
beforeAll(async () => {
  app = await startPagesApp(plugins, {
    config: { trustedOrigins: [TRUSTED] },
    pages: { home: '/home', own: OWN },
    mount(express, auth) {
      express.use('/auth', authRouter(auth));
      express.get('/guarded', requireSession(auth), (_req, res) => void res.send('guarded'));
    },
  });
  const { core, routes } = internalsOf(app.auth);
  site = new Site(core, withConfig(readSettings({ home: '/home', own: OWN }), core), routes());
  site.pages = pagesOf(site);
  await app.auth.users.create(ada);
  browser = app.open();
  await signInOn(browser, ada);
});
afterAll(() => app.stop());

const ROUTES = [
  '/auth',
  '/auth/',
  '/auth/oauth/fixed/link',
  '/auth/oauth/fixed/authorize',
  '/auth/oauth/fixed/reauthenticate',
  '/auth/oauth/fixed/callback',
  '/auth/me',
  '/auth/sign-in',
  '/auth/sign-in/email',
  '/auth/sign-in/password',
  '/auth/sign-up',
  '/auth/sign-out',
  '/auth/second-factor',
  '/auth/reauthenticate',
  '/auth/undo-change',
  '/auth/reset-password',
  '/auth/assets/style.0000000000.css',
  '/auth/unknown',
  '/bye',
];

const encoded = (path: string) => path.replace(/[a-z]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
const DISGUISES: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => `${path}/`,
  (path) => `${path}//`,
  (path) => `${path}?callback_url=/x`,
  (path) => `${path}#x`,
  (path) => `${path}/.`,
  (path) => `${path}/x/..`,
  (path) => path.toUpperCase(),
  (path) => path.replace('/', '/./'),
  (path) => path.replace('/', '/x/../'),
  (path) => path.replace('/', '/x/%2e%2e/'),
  (path) => path.replace('/', '/x/%2E./'),
  (path) => path.replace('/', '/x/%252e%252e/'),
  (path) => path.replace('/', '/x/..%2f'),
  (path) => path.replace('/', '/x%2f..%2f'),
  (path) => path.replace('/', '/x%23/..%2f'),
  (path) => path.replace('/', '/x%3f/..%2f'),
  (path) => path.replace('/', '/x%2523/..%252f'),
  (path) => path.replace('/', '/%2f'),
  (path) => path.replace('/', '/%5c'),
  (path) => path.replace('/', '/x/..%5c'),
  (path) => path.replaceAll('/', '//').slice(1),
  (path) => `/${path}`,
  (path) => `//localhost${path}`,
  (path) => `/\\localhost${path}`,
  (path) => `http:${path}`,
  (path) => `${BASE}${path}`,
  (path) => `HTTP://LOCALHOST:80${path}`,
  (path) => `http://user@localhost${path}`,
  encoded,
  (path) => encoded(encoded(path)),
  (path) => path.replace(/(?!^)\//g, '%2f'),
  (path) => path.replace(/(?!^)\//g, '%252F'),
  (path) => path.replace('a', '%61'),
  (path) => path.replace('u', '\t%75'),
  (path) => path.replace('u', 'u\n'),
  (path) => ` ${path}`,
  (path) => `${path} `,
  (path) => path.replace('u', 'u%00'),
  (path) => path.replace('u', 'u%09'),
];

const ELSEWHERE = [
  ...[
    '//evil.example',
    '///evil.example',
    '////evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '\\/evil.example',
  ],
  ...[
    '/\t/evil.example',
    '\t//evil.example',
    '/\n/evil.example',
    '/\r\n/evil.example',
    '/ /evil.example',
    ' //evil.example',
  ],
  ...[
    '/.//evil.example',
    '/..//evil.example',
    '/x/..//evil.example',
    '/%2e//evil.example',
    '/x/%2e%2e//evil.example',
  ],
  ...[
    '/%2f/evil.example',
    '/%2fevil.example',
    '/%5cevil.example',
    '/%5c/evil.example',
    '/%09/evil.example',
    '/%0d%0a/evil.example',
  ],
  ...[
    'https://evil.example',
    'http://evil.example/',
    'https:evil.example',
    'https:/evil.example',
    'https:\\evil.example',
    'http:///evil.example',
  ],
  ...[
    'HTTPS://EVIL.EXAMPLE',
    'https://evil.example\\@localhost',
    'https://localhost@evil.example',
    'https://localhost:x@evil.example',
  ],
  ...[
    'http://localhost.evil.example',
    'http://localhost:1',
    'https://localhost',
    'http://[::1]',
    'http://127.0.0.1',
    'http://localhosT.',
  ],
  ...[
    'https://www.example.evil.example',
    'https://www.example@evil.example',
    'https://www.example:444',
    'http://www.example',
    'https://user@www.example',
    'https://wwwXexample',
    'https://www.example%2eevil.example',
    'https://www。example.evil',
  ],
  ...[
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'java\tscript:alert(1)',
    '\u0001javascript:alert(1)',
    'javascript://localhost/%0aalert(1)',
    'data:text/html,x',
    'vbscript:x',
    'blob:http://localhost/x',
    'file:///etc/passwd',
    'about:blank',
    'mailto:x@y',
    'ftp://localhost/',
    'ws://localhost/',
    'view-source:http://localhost/',
  ],
  ...[
    'evil.example',
    'evil',
    './x',
    '../x',
    '?x',
    '#x',
    '',
    ' ',
    '.',
    '..',
    '@evil.example',
    ':80',
    '*',
    'null',
    'undefined',
  ],
  ...[
    '/\u0000',
    '/\u2028',
    '/\u202e',
    '/\ufeff//evil.example',
    '/\u3000/evil.example',
    '／／evil.example',
    '/．．//evil.example',
    '/\ud800',
    '/%',
    '/%zz',
    '/%ff',
    '/%c0%af%c0%afevil.example',
    '/%e0%80%af',
  ],
  ...[
    '/x\r\nSet-Cookie: a=b',
    '/x%0d%0aSet-Cookie:%20a=b',
    `/${'x'.repeat(2000)}`,
    `/${'é'.repeat(900)}`,
    '/"><script>',
    "/'onload='",
    '/x;//evil.example',
  ],
];

describe('signed in, the sign-in page goes on', () => {
  const goOn = async (value: string) => {
    const answer = await browser.open(
      `/auth/sign-in?return_to=${encodeURIComponent(value.toWellFormed?.() ?? value)}`,
    );
    return answer.location ?? answer.links[0] ?? null;
  };

  test.each([
    ['/', '/'],
    ['/x?a=b&c=%20d#e', '/x?a=b&c=%20d#e'],
    ['/authors', '/authors'],
    ['/auth-docs/x', '/auth-docs/x'],
    ['/x/auth/oauth/fixed/link', '/x/auth/oauth/fixed/link'],
    ['/日本', '/%E6%97%A5%E6%9C%AC'],
    [`${BASE}/x`, `${BASE}/x`],
    [`${TRUSTED}/x?y#z`, `${TRUSTED}/x?y#z`],
    ['/100%', '/home'],
  ])('%j leads to %j', async (value, location) => {
    expect(await goOn(value)).toBe(location);
  });

  test('nothing of a corpus leads elsewhere, nor to a route', async () => {
    const corpus = [...ELSEWHERE, ...ROUTES.flatMap((route) => DISGUISES.map((disguise) => disguise(route)))];
    expect(corpus.length).toBeGreaterThan(700);
    const faults: [string, string][] = [];
    for (const value of corpus) {
      const fault = faultOf(await goOn(value));
      if (fault !== null) faults.push([value, fault]);
    }
    expect(faults).toEqual([]);
  });
});

describe('after a sign-in', () => {
  test.each([
    ['/deep', '/deep'],
    ['//evil.example', '/home'],
    ['/auth/oauth/fixed/link', '/home'],
    ['/%61uth/oauth/fixed/link', '/home'],
    ['/auth/sign-out', '/home'],
    ['/bye', '/home'],
  ])('%j leads to %j, from the address and from the form', async (value, location) => {
    const page = `/auth/sign-in?return_to=${encodeURIComponent(value)}`;
    expect((await signInOn(app.open(), ada, page)).location).toBe(location);
    const fields = { credential: ada.email, password: ada.password, return_to: value };
    expect((await app.open().post('/auth/sign-in/password', fields)).location).toBe(location);
  });

  test('an address is not taken twice', async () => {
    const page = '/auth/sign-in?return_to=/good&return_to=//evil.example';
    expect(faultOf((await signInOn(app.open(), ada, page)).location)).toBeNull();
    const form = new URLSearchParams([
      ['credential', ada.email],
      ['password', ada.password],
      ['return_to', '/good'],
      ['return_to', '//evil.example'],
    ]);
    const answer = await app.open().post('/auth/sign-in/password', form);
    expect([answer.status, answer.location]).toEqual([422, null]);
  });

  test('a trusted origin is led to by a document, not by a redirect, which Chrome holds against form-action', async () => {
    const to = `${TRUSTED}/x?a="b'&c=<d>`;
    const answer = await signInOn(app.open(), ada, `/auth/sign-in?return_to=${encodeURIComponent(to)}`);
    expect([answer.status, answer.location]).toEqual([200, null]);
    expect(answer.cookies.some((one) => one.startsWith('latchkey='))).toBe(true);
    const href = new URL(to).href;
    const [refresh] = answer.all('meta').filter((one) => attribute(one, 'http-equiv') === 'refresh');
    expect(attribute(refresh!, 'content')).toBe(`0; url=${href}`);
    expect(answer.links).toEqual([href]);
    expect(answer.headers['content-security-policy']).toContain("form-action 'self'");
  });

  test('the own origin, written as a URL, is no trusted origin for a redirect after a form either', async () => {
    const answer = await signInOn(
      app.open(),
      ada,
      `/auth/sign-in?return_to=${encodeURIComponent(`${BASE}/x`)}`,
    );
    expect(answer.links.concat(answer.location ?? [])).toEqual([`${BASE}/x`]);
  });

  test('a form of a user who is signed in already does not leave by two redirects', async () => {
    const to = `${TRUSTED}/x`;
    for (const [path, fields] of [
      ['/auth/sign-in/password', { credential: ada.email, password: ada.password }],
      ['/auth/sign-in/send-code', { email: ada.email }],
      ['/auth/sign-up/password', { email: `new-${Date.now()}@example.com`, password: ada.password }],
    ] as const) {
      const signedIn = app.open();
      await signInOn(signedIn, ada);
      let answer = await signedIn.post(path, { ...fields, return_to: to });
      while (answer.location !== null) {
        expect([path, new URL(answer.location, BASE).origin]).toEqual([path, BASE]);
        answer = await signedIn.open(answer.location);
      }
      expect(answer.status).toBe(200);
    }
  });
});

describe('the rule, with thousands of values', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '/',
      '//',
      '\\',
      '.',
      '..',
      '%2e',
      '%2F',
      '%5c',
      '%25',
      '%23',
      '%3f',
      '?',
      '#',
      '@',
      ':',
      ';',
      '%09',
      '\t',
    ),
    fc.constantFrom(
      'auth',
      'AUTH',
      '%61uth',
      '%2561uth',
      'oauth',
      'fixed',
      'link',
      'sign-out',
      'me',
      'bye',
      'account',
      'x',
    ),
    fc.constantFrom(
      'evil.example',
      'localhost',
      'www.example',
      'http:',
      'https:',
      'javascript:',
      BASE,
      TRUSTED,
    ),
    fc.string({ maxLength: 4, unit: 'binary' }),
  );
  const value = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
  const path = fc
    .array(
      fc.tuple(fc.constantFrom('/', '%2f', '//', '/./', '/x/../', '/x/..%2f', '\\', '/%2e%2e/'), piece),
      { maxLength: 6 },
    )
    .map((pieces) => `/${pieces.flat().join('')}`);

  test('it never leaves the origin, and never is a route', () => {
    const holds = (given: string) => {
      const to = site.returnTo(given);
      if (to !== null) expect([given, faultOf(to)]).toEqual([given, null]);
    };
    fc.assert(fc.property(value, holds), { numRuns: 4000, seed: SEED });
    fc.assert(fc.property(path, holds), { numRuns: 4000, seed: SEED });
    for (const given of ELSEWHERE) holds(given);
  });

  test('a path without anything special is taken as it is', () => {
    const plain = fc.array(fc.stringMatching(/^[a-z0-9_~-]{1,8}$/), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(plain, fc.webQueryParameters(), (segments, query) => {
        if (segments[0] === 'auth' || segments[0] === 'bye') return;
        const to = `/${segments.join('/')}?x=${query.replace(/[^\w=&]/g, '')}`;
        expect(site.returnTo(to)).toBe(to);
      }),
      { numRuns: 1000, seed: SEED },
    );
  });
});
