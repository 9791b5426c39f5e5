import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { authRouter, requireSession } from '../../lib/index.js';
import { ada } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { attribute, FormShown, type PageBrowser, type Shown, textOf } from '../support/page-browser.js';
import { isSignedIn, type PagesApp, rowsOfAllTables, signInOn, startPagesApp } from '../support/pages-app.js';
import { formsIn, pagesIn } from '../support/pages-walk.js';

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const APP_NAME = '<b>A" & \'B</b>';
const EVIL = '<img src=x onerror=alert(1)>';
/** What would end an attribute, an element or a text, in one value. */
const MARKUP = [
  EVIL,
  `"${EVIL}`,
  `'${EVIL}`,
  `"><script>alert(1)</script>`,
  '</title><script>alert(1)</script>',
  '</main></body>',
  '" autofocus onfocus="alert(1)',
  "' onfocus='alert(1)",
  '&quot;&gt;&lt;img&gt;',
  '-->',
].join(' ');
const HOSTILE = [
  MARKUP,
  'javascript:alert(1)',
  '\u0000\u2028\u202e',
  'constructor',
  '__proto__',
  'toString',
  `${'x'.repeat(3000)}`,
];

const root = { email: 'root@example.com', password: ada.password };
const plugins = [
  ...everyPlugin({ sendsEmails: true, password: { unknownBrowser: 'notify' } }),
  fixedProvider(),
] as const;
let app: PagesApp<typeof plugins>;
let userId: string;
/** An organization whose owner is the administrator. */
let organizationId: string;
beforeAll(async () => {
  app = await startPagesApp(plugins, {
    config: {
      appName: APP_NAME,
      user: { fields: { fullName: { type: 'string', maxLength: 4000 } } },
    },
    mount(express, auth) {
      // What an app sets for its own pages, as helmet does.
      express.use((_req, res, next) => {
        res.setHeader('Content-Security-Policy', "default-src * 'unsafe-inline'");
        res.setHeader('Referrer-Policy', 'unsafe-url');
        res.setHeader('Cache-Control', 'public, max-age=3600');
        res.setHeader('Vary', 'Origin');
        next();
      });
      express.use('/auth', authRouter(auth));
      express.get('/guarded', requireSession(auth), (_req, res) => void res.send('guarded'));
    },
  });
  userId = (await app.auth.users.create(ada)).id;
  await administrator();
});
afterAll(() => app.stop());

/** Signs in as an administrator. After a form was sent, both accounts can be gone. */
const administrator = async (): Promise<PageBrowser> => {
  const unlessThere = (error: { code?: string }) => {
    if (error.code !== 'email_taken') throw error;
    return null;
  };
  const created = await app.auth.users.create(ada).catch(unlessThere);
  userId = created?.id ?? userId;
  await app.auth.users.create({ ...root, emailVerified: true }).catch(unlessThere);
  const { id: ownerId = '' } = (await app.auth.users.find({ email: root.email })) ?? {};
  const { organizations } = app.auth;
  const own = (await organizations.ofUser(ownerId)).organizations.at(0);
  organizationId = (own ?? (await organizations.create({ name: 'Acme', slug: `acme-${made++}`, ownerId })))
    .id;
  const browser = app.open();
  const { status, location, body } = await signInOn(browser, root);
  expect({ status, location, body }).toEqual({ status: 303, location: '/home', body: '' });
  return browser;
};
let made = 0;
const at = (path: string) =>
  `/auth${path.replace(/organizations\/:id/, `organizations/${organizationId}`).replace(/:\w+/g, userId)}`;

/** What is wrong with the headers and the document of a page, or of the answer to its form. */
function faultsOf(shown: Shown): string[] {
  const { headers } = shown;
  const faults: string[] = [];
  const fault = (isOne: boolean, what: string) => isOne && faults.push(`${what} at ${shown.url}`);
  const wanted = {
    'content-security-policy': CSP,
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  };
  for (const [name, value] of Object.entries(wanted))
    fault(headers[name] !== value, `${name}: ${headers[name]}`);
  const varies = (headers.vary ?? '').split(/, */);
  for (const name of ['Accept', 'Accept-Language', 'Cookie', 'Origin'])
    fault(!varies.includes(name), `Vary without ${name}`);
  if (shown.location !== null) {
    fault(!shown.location.startsWith('/') || shown.location.startsWith('//'), `Location: ${shown.location}`);
    return faults;
  }
  // A browser saves a file and does not show it.
  if (headers['content-disposition']?.startsWith('attachment')) return faults;
  fault(headers['content-type'] !== 'text/html; charset=utf-8', `Content-Type: ${headers['content-type']}`);
  // A parser puts another character in its place.
  const errors = shown.parseErrors.filter((error) => !error.startsWith('unexpected-null-character'));
  faults.push(...errors.map((error) => `${error} at ${shown.url}`));
  for (const element of shown.elements) {
    const { tagName, attrs } = element;
    for (const { name, value } of attrs) {
      fault(/^on|^style$|^srcdoc$/.test(name), `<${tagName} ${name}>`);
      const isAddress = /^(href|src|action|formaction|data-options|data-send|data-go)$/.test(name);
      const isOwn = value.startsWith('#') || (value.startsWith('/') && !value.startsWith('//'));
      fault(isAddress && !isOwn, `<${tagName} ${name}="${value}">`);
    }
    fault(tagName === 'style' || tagName === 'base' || tagName === 'iframe', `<${tagName}>`);
    fault(tagName === 'script' && (textOf(element) !== '' || !attribute(element, 'src')), 'an inline script');
    // A search is a GET, and has nothing secret.
    const isPost = attribute(element, 'method') === 'post';
    const isSearch =
      attribute(element, 'role') === 'search' &&
      !new FormShown(element).names.some((one) => /password|code|token/.test(one));
    fault(tagName === 'form' && !isPost && !isSearch, 'a form that is no POST');
  }
  fault(shown.all('h1').length !== 1, `${shown.all('h1').length} h1`);
  const [html] = shown.all('html');
  fault(!html || attribute(html, 'lang') !== 'en' || attribute(html, 'dir') !== 'ltr', 'no lang or dir');
  const ids = shown.elements.map((one) => attribute(one, 'id')).filter((id) => id !== undefined);
  fault(new Set(ids).size !== ids.length, `ids that are there twice: ${ids}`);
  for (const element of shown.elements)
    for (const name of ['for', 'aria-describedby', 'data-copy'])
      for (const id of (attribute(element, name) ?? '').split(' '))
        fault(id !== '' && !ids.includes(id), `${name}="${id}" without an element`);
  return faults;
}

/** The elements and their attributes, without what is in them. */
const skeletonOf = (shown: Shown) =>
  shown.elements.map(({ tagName, attrs }) => `${tagName} ${attrs.map(({ name }) => name).sort()}`).join('\n');

test('every page has the headers of pages in place of those of the app, and nothing inline', async () => {
  const pages = pagesIn(app.auth);
  expect(pages.length).toBeGreaterThanOrEqual(12);
  const browser = await administrator();
  const faults: string[] = [];
  for (const { path } of pages)
    for (const visitor of [app.open(), browser])
      for (const query of ['', '?token=nonsense', '?error=access_denied&return_to=/deep', '?done=check-mail'])
        faults.push(...faultsOf(await visitor.open(at(path) + query)));
  expect(faults).toEqual([]);
});

test('HEAD has the headers of GET, without a body', async () => {
  for (const { path } of pagesIn(app.auth)) {
    const [get, head] = [await app.open().open(at(path)), await app.open().send('HEAD', at(path))];
    expect([head.status, head.body, head.headers['content-security-policy']]).toEqual([get.status, '', CSP]);
  }
});

test('every answer to a form has them too: done, refused, and not read', async () => {
  const forms = formsIn(pagesIn(app.auth));
  expect(forms.length).toBeGreaterThanOrEqual(14);
  const faults: string[] = [];
  const statuses = new Set<number>();
  for (const { path } of forms) {
    const bodies: [string, Record<string, string>][] = [
      ['', {}],
      [`x=${'x'.repeat(17_000)}`, {}],
      ['{}', { 'content-type': 'application/json' }],
      ['a=%FF', {}],
    ];
    let browser = await administrator();
    for (const [body, headers] of bodies) {
      if (!(await isSignedIn(browser))) browser = await administrator();
      for (const visitor of [app.open(), browser]) {
        const answer = await visitor.send('POST', at(path), body, {
          origin: app.origin,
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
          ...headers,
        });
        statuses.add(answer.status);
        faults.push(...faultsOf(answer));
      }
    }
  }
  expect(faults).toEqual([]);
  for (const status of [303, 413, 415, 422]) expect([...statuses]).toContain(status);
});

test('other methods of a form are refused with 405, and a GET leads to its page', async () => {
  for (const { page, path } of formsIn(pagesIn(app.auth))) {
    const answer = await app.open().send('PUT', at(path));
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    expect(faultsOf(answer)).toEqual([]);
    expect((await app.open().open(at(path))).location).toBe(at(page.path));
  }
});

test('other methods of a page are refused with 405, unless a route has them', async () => {
  const { routes } = internalsOf(app.auth);
  const methodsAt = (path: string) =>
    routes().flatMap((route) => (route.path === path ? route.method.toUpperCase() : []));
  const pages = pagesIn(app.auth);
  expect(pages.filter(({ path }) => methodsAt(path).length === 0).length).toBeGreaterThan(10);
  expect(pages.filter(({ path }) => methodsAt(path).length > 0).length).toBeGreaterThan(2);
  for (const { path } of pages) {
    const answer = await app.open().send('PUT', at(path));
    const allow = ['GET', 'HEAD', ...methodsAt(path)].join(', ');
    expect([path, answer.status, answer.headers.allow]).toEqual([path, 405, allow]);
    if (methodsAt(path).length === 0) expect(faultsOf(answer)).toEqual([]);
    else expect(answer.headers['content-type']).toContain('application/problem+json');
  }
});

describe('a form from another site', () => {
  const evil = {
    origin: 'https://evil.example',
    'sec-fetch-site': 'cross-site',
    referer: 'https://evil.example/',
  };
  const contents = async () => {
    const found = await rowsOfAllTables(app.auth, app.database);
    expect(Object.keys(found).length).toBeGreaterThan(10);
    return found;
  };

  test('is refused with 403, and nothing changes', async () => {
    const browser = await administrator();
    const before = await contents();
    const mails = app.mails.length;
    for (const { path } of formsIn(pagesIn(app.auth)))
      for (const headers of [
        evil,
        { ...evil, origin: 'null' },
        { ...evil, 'sec-fetch-site': '', referer: '' },
      ])
        for (const visitor of [app.open(), browser]) {
          const answer = await visitor.post(
            at(path),
            { credential: ada.email, email: ada.email, password: ada.password },
            headers,
          );
          // Without a session, a form that needs one is refused wherever it comes from.
          const isRefused = answer.status === 401 || answer.location === '/auth/sign-in';
          const isRight = answer.status === 403 || (visitor !== browser && isRefused);
          expect([path, answer.status, isRight]).toEqual([path, answer.status, true]);
          expect([faultsOf(answer), answer.cookies.filter((one) => !/max-age=0/i.test(one))]).toEqual([
            [],
            [],
          ]);
        }
    expect(await contents()).toEqual(before);
    expect(app.mails.length).toBe(mails);
    expect((await browser.open('/guarded')).body).toBe('guarded');
  });

  test('from a subdomain of the same site is refused too', async () => {
    const answer = await app
      .open()
      .post(
        '/auth/sign-in/password',
        { credential: ada.email, password: ada.password },
        { origin: 'http://other.localhost', 'sec-fetch-site': 'same-site' },
      );
    expect([answer.status, answer.cookies]).toEqual([403, []]);
  });
});

test('no path has both a page and a JSON route', () => {
  const pages = pagesIn(app.auth);
  const { routes } = internalsOf(app.auth);
  const ofPages = [
    ...pages.map(({ path }) => `get ${path}`),
    ...formsIn(pages).flatMap(({ path }) => [`get ${path}`, `post ${path}`]),
  ];
  const overlaps = (one: string, other: string) => {
    const [left, right] = [one.split(/[ /]/), other.split(/[ /]/)];
    const isOpen = (segment = '') => segment.startsWith(':');
    return (
      left.length === right.length &&
      left.every((segment, i) => segment === right[i] || isOpen(segment) || isOpen(right[i]))
    );
  };
  const both = ofPages.flatMap((page) =>
    routes()
      .map(({ method, path }) => `${method} ${path}`)
      .filter((route) => overlaps(page, route))
      .map((route) => `${page} and ${route}`),
  );
  expect(both).toEqual([]);
});

test('a page answers HTML, whatever Accept says', async () => {
  const browser = await administrator();
  for (const { path } of pagesIn(app.auth))
    for (const accept of [
      '',
      '*/*',
      'application/json',
      'application/problem+json',
      'image/png',
      'text/plain',
    ])
      for (const visitor of [app.open(), browser]) {
        const answer = await visitor.open(at(path), { accept });
        const isPage =
          answer.location !== null || answer.headers['content-type'] === 'text/html; charset=utf-8';
        expect([path, accept, isPage]).toEqual([path, accept, true]);
      }
});

describe('what strangers choose stays text', () => {
  test.each([
    ['return_to'],
    ['done', 'provider', 'x'],
    ['error', 'waiting'],
    ['token', 'second_factor', 'user'],
  ])('in the query string: %s', async (...names: string[]) => {
    const browser = await administrator();
    const withAll = (path: string, value: string) =>
      `${at(path)}?${new URLSearchParams(names.map((name) => [name, value]))}`;
    for (const { path } of pagesIn(app.auth))
      for (const visitor of [app.open(), browser]) {
        const harmless = [at(path), withAll(path, '/x'), withAll(path, 'x')];
        const allowed: string[] = [];
        for (const one of harmless) allowed.push(skeletonOf(await visitor.open(one)));
        for (const value of HOSTILE) {
          const given = names.includes('return_to') ? `/${value}` : value;
          const answer = await visitor.open(withAll(path, given));
          expect([path, given, answer.status < 400, faultsOf(answer)]).toEqual([path, given, true, []]);
          expect([path, given, allowed.includes(skeletonOf(answer))]).toEqual([path, given, true]);
        }
      }
  });

  test('in the fields of forms', async () => {
    for (const { page, form, path } of formsIn(pagesIn(app.auth))) {
      if (page.access !== 'anyone' || form.name === 'send') continue;
      const names = [
        'email',
        'credential',
        'username',
        'full_name',
        'code',
        'token',
        'return_to',
        'password',
        'new_password',
        'remember_me',
        'method',
      ];
      const send = async (value: string) =>
        app.open().post(at(path), Object.fromEntries(names.map((name) => [name, value])));
      for (const value of HOSTILE) {
        const answer = await send(value);
        expect([path, value, faultsOf(answer)]).toEqual([path, value, []]);
      }
    }
  });

  test('what was typed comes back as it was', async () => {
    for (const value of HOSTILE.filter((one) => !one.includes('\u0000'))) {
      const answer = await app
        .open()
        .post('/auth/sign-up/password', { email: value, full_name: value, password: 'x' });
      expect([answer.status, answer.form('password').value('full_name')]).toEqual([422, value]);
      expect(answer.form('password').value('email')).toBe(value);
    }
  });

  test('as the name of the app', async () => {
    const page = await app.open().open('/auth/sign-in');
    expect(page.title).toBe(`Sign in – ${APP_NAME}`);
    expect(page.all('b')).toEqual([]);
  });
});
