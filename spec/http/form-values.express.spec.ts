import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { RequestHandler } from 'express';
import { internalsOf } from '../../lib/auth.js';
import { takesForms } from '../../lib/http/route.js';
import { type AuthConfig, authRouter, type FormValues } from '../../lib/index.js';
import { fieldsShownAgain } from '../../lib/shown-again.js';
import { ada, type password, type SpecApp, startApp } from '../support/app.js';
import { CookieJar } from '../support/cookie-jar.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';

const NOTHING: FormValues = { values: {}, error: null, errors: [] };

/** The fields of all forms that are kept. A new field of a route must be in one of these two lists. */
const KEPT = `
  credential email new_email username remember_me name reason until others method nickname age newsletter
  born_at preferences trust_device roles role slug`;
const SECRET = `
  password new_password current_password code email_code recovery_code token pending_token response passkey security_answer`;
const namesIn = (list: string) => list.trim().split(/\s+/);

const plugins = [
  ...everyPlugin({ sendsEmails: true, admin: { adminEmails: [ada.email] } }),
  fixedProvider(),
] as const;
const config = {
  baseUrl: 'http://app.localhost',
  email: { send: () => {} },
  user: {
    fields: {
      nickname: { type: 'string' },
      age: { type: 'integer' },
      newsletter: { type: 'boolean' },
      bornAt: { type: 'date' },
      preferences: { type: 'json', output: 'admin' },
      securityAnswer: { type: 'string', output: 'none' },
    },
  },
} as const;

/** Every path below /pages is a page with forms. */
const pages =
  (auth: Pick<SpecApp<readonly []>['auth'], 'formValues'>): RequestHandler =>
  (req, res) =>
    void res.json(auth.formValues(req, res));

async function start<const P extends readonly ReturnType<typeof password>[]>(
  given: Partial<AuthConfig<P>> = {},
  before: RequestHandler = (_req, _res, next) => next(),
) {
  return startApp<P>({
    config: given,
    mount(app, auth) {
      app.use(before);
      app.use('/v1/auth', authRouter(auth));
      app.use('/pages', pages(auth));
    },
  });
}

type App = Awaited<ReturnType<typeof start>>;

const wrong = { credential: ada.email, password: 'not the password', remember_me: 'on' };
const refusal = { values: { credential: ada.email, remember_me: 'on' }, error: 'invalid_credentials' };

/** Sends the form of a sign-in. */
const send = (
  jar: CookieJar,
  { origin }: Pick<App, 'origin'>,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
) =>
  jar.visit(`${origin}/v1/auth/signin/credential`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers,
  });
const read = async (jar: CookieJar, { origin }: Pick<App, 'origin'>, path: string) =>
  (await jar.visit(origin + path)).body as unknown as FormValues;
const formCookies = ({ cookies }: { readonly cookies: readonly string[] }) =>
  cookies.filter((line) => /^[^=]*-form-/.test(line));

describe('the declaration of every route', () => {
  let app: SpecApp<typeof plugins>;
  beforeAll(async () => {
    app = await startApp({ plugins, config });
  });
  afterAll(() => app.stop());

  const forms = () => {
    const { core, routes } = internalsOf(app.auth);
    return routes().filter((route) => takesForms(core.settings, route));
  };
  interface Shape {
    properties?: object;
    oneOf?: Shape[];
  }
  interface Paths {
    [path: string]: { post: { requestBody: { content: Record<string, { schema: Shape }> } } };
  }
  const fieldsOf = (path: string) => {
    const paths = app.auth.openapi().paths as unknown as Paths;
    const { content } = paths[path.replace(/:(\w+)/g, '{$1}')]?.post.requestBody ?? {};
    const schema = content?.['application/x-www-form-urlencoded']?.schema;
    const variants = schema?.oneOf ?? [schema];
    return [...new Set(variants.flatMap((one) => Object.keys(one?.properties ?? {})))];
  };

  test('says of each field of its form whether it is kept', () => {
    const said = forms().flatMap(({ path, body }) => {
      const kept = body ? fieldsShownAgain(body) : new Set<string>();
      return fieldsOf(path)
        .filter((name) => !/^(redirect|error|second_factor|confirm)_to$/.test(name))
        .map((name) => ({ path, name, kept: kept.has(name) }));
    });
    expect(said.length).toBeGreaterThan(40);
    const wrongly = said.filter(({ name, kept }) => !namesIn(kept ? KEPT : SECRET).includes(name));
    expect(wrongly).toEqual([]);
    // Every name in the lists is one of a form.
    const names = new Set(said.map(({ name }) => name));
    const unused = namesIn(KEPT + SECRET).filter((name) => !names.has(name));
    expect(unused).toEqual([]);
  });
});

describe('what a page gets of every form', () => {
  let app: SpecApp<typeof plugins>;
  let session: string;
  beforeAll(async () => {
    app = await startApp({
      plugins,
      config,
      mount: (mounted, auth) => {
        mounted.use('/v1/auth', authRouter(auth));
        mounted.use('/pages', pages(auth));
      },
    });
    await app.auth.credential.signUp({ ...ada, fields: {} });
    const user = await app.auth.users.find({ email: ada.email });
    await app.auth.markEmailVerified(String(user?.id));
    session = (await app.auth.createSession(String(user?.id), { authenticatedAt: new Date() })).token;
  });
  afterAll(() => app.stop());

  test('is no secret, and no field that the route does not have', async () => {
    const { core, routes } = internalsOf(app.auth);
    const kept: Record<string, string[]> = {};
    for (const { path, body } of routes().filter((route) => takesForms(core.settings, route))) {
      const jar = new CookieJar();
      jar.cookies.set('latchkey', session);
      const typed = Object.fromEntries(
        [...namesIn(KEPT), ...namesIn(SECRET), 'made_up', '__proto__'].map((name) => [name, `x ${name}`]),
      );
      const answer = await jar.visit(`${app.origin}/v1/auth${path.replace(/:\w+/, 'x')}`, {
        method: 'POST',
        body: new URLSearchParams([...Object.entries(typed), ['error_to', '/pages/form']]),
      });
      expect([path, answer.status]).toEqual([path, 303]);
      const { values, error } = await read(jar, app, '/pages/form');
      expect([path, typeof error]).toEqual([path, 'string']);
      const shown = body ? [...fieldsShownAgain(body)] : [];
      expect(values).toEqual(Object.fromEntries(shown.map((name) => [name, `x ${name}`])));
      kept[path] = Object.keys(values).sort();
    }
    expect(kept).toMatchObject({
      '/signin/credential': ['credential', 'remember_me'],
      '/signup/credential': ['age', 'born_at', 'email', 'newsletter', 'nickname', 'preferences', 'username'],
      '/email-changes': ['new_email'],
      '/signin/second-factor': ['method', 'trust_device'],
      '/passwords/change': [],
      '/me/delete': [],
      '/signout': [],
    });
  });
});

describe('auth.formValues', () => {
  let app: App;
  let jar: CookieJar;
  beforeAll(async () => {
    app = await start({ trustedOrigins: ['https://www.example'] });
    await app.auth.credential.signUp(ada);
  });
  afterAll(() => app.stop());
  beforeEach(() => {
    jar = new CookieJar();
  });
  const skip = (ms: number) => internalsOf(app.auth).core.database.clock.skip(ms);

  test('gives what was typed and the problem, once', async () => {
    const answer = await send(jar, app, { ...wrong, error_to: '/pages/in?next=1#form' });
    expect(answer.location).toBe('/pages/in?next=1&error=invalid_credentials#form');
    const [cookie = '', ...others] = formCookies(answer);
    expect(others).toEqual([]);
    const hash = createHash('sha256').update('/pages/in').digest('hex').slice(0, 8);
    expect(cookie).toMatch(
      new RegExp(`^latchkey-form-${hash}=v1\\.[^;]+; Max-Age=300; Path=/; HttpOnly; SameSite=Lax$`),
    );
    const page = await jar.visit(`${app.origin}/pages/in?next=1&error=invalid_credentials`);
    expect(page.body).toEqual({ ...refusal, errors: [] });
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('vary')).toBe('Cookie');
    expect(formCookies(page)).toEqual([
      expect.stringMatching(
        new RegExp(`^latchkey-form-${hash}=; Path=/; Expires=Thu, 01 Jan 1970 .*; HttpOnly; SameSite=Lax$`),
      ),
    ]);
    const again = await jar.visit(`${app.origin}/pages/in`);
    expect([again.body, formCookies(again)]).toEqual([NOTHING, []]);
    expect(again.headers.get('cache-control')).toBeNull();
    expect(again.headers.get('vary')).toBe('Cookie');
  });

  test('gives the invalid fields as the problem lists them', async () => {
    const fields = { credential: 'x'.repeat(400), role: 'admin', error_to: '/pages/in' };
    await send(jar, app, fields);
    const json = await jar.visit(`${app.origin}/v1/auth/signin/credential`, {
      method: 'POST',
      body: { credential: fields.credential, role: fields.role },
    });
    expect(await read(jar, app, '/pages/in')).toEqual({
      values: { credential: fields.credential },
      error: 'validation_failed',
      errors: (json.body as { errors?: unknown }).errors,
    });
  });

  test('gives values as they were typed, also empty and strange ones', async () => {
    for (const credential of ['', ' Ada ', '<b>"&\'', '日本 🎉', '__proto__']) {
      await send(jar, app, { credential, password: '', error_to: '/pages/in' });
      expect((await read(jar, app, '/pages/in')).values).toEqual({ credential });
    }
  });

  test('gives nothing of a field that was sent twice but one of its values, and none from __proto__', async () => {
    const answer = await jar.visit(`${app.origin}/v1/auth/signin/credential`, {
      method: 'POST',
      body: new URLSearchParams('credential=a&credential=b&__proto__=x&error_to=/pages/in'),
    });
    expect(answer.status).toBe(303);
    const { values, error } = await read(jar, app, '/pages/in');
    expect([values, error]).toEqual([{ credential: 'b' }, 'validation_failed']);
  });

  test('gives the problem even of a form that could not be read', async () => {
    const headers = { referer: `${app.origin}/pages/in` };
    await send(jar, app, { ...wrong, credential: 'x'.repeat(17_000) }, headers);
    expect(await read(jar, app, '/pages/in')).toEqual({ ...NOTHING, error: 'body_too_large' });
  });

  test('works for the page that sent the form, below a mount path too', async () => {
    const answer = await send(jar, app, wrong, { referer: `${app.origin}/pages/deep/in?next=1` });
    expect(answer.location).toBe('/pages/deep/in?next=1&error=invalid_credentials');
    expect(await read(jar, app, '/pages/deep/in?other')).toEqual({ ...refusal, errors: [] });
  });

  test('finds a page whatever the spelling of its path', async () => {
    for (const [page, path] of [
      ['/pages/日本', '/pages/%E6%97%A5%E6%9C%AC'],
      ['/pages/a/../in', '/pages/in'],
      ['/pages//double', '/pages//double'],
    ] as const) {
      await send(jar, app, { ...wrong, error_to: page });
      expect([page, await read(jar, app, path)]).toEqual([page, { ...refusal, errors: [] }]);
    }
  });

  test('does not mix the forms of two pages', async () => {
    await send(jar, app, { ...wrong, credential: 'one', error_to: '/pages/one' });
    await send(jar, app, { ...wrong, credential: 'two', error_to: '/pages/two' });
    expect(await read(jar, app, '/pages/three')).toEqual(NOTHING);
    expect((await read(jar, app, '/pages/two')).values).toMatchObject({ credential: 'two' });
    expect((await read(jar, app, '/pages/one')).values).toMatchObject({ credential: 'one' });
  });

  test('does not take the cookie of another page under its own name', async () => {
    await send(jar, app, { ...wrong, error_to: '/pages/one' });
    const [[name = '', value = ''] = []] = jar.cookies;
    const hash = createHash('sha256').update('/pages/two').digest('hex').slice(0, 8);
    jar.cookies.set(name.replace(/[0-9a-f]{8}$/, hash), value);
    expect(await read(jar, app, '/pages/two')).toEqual(NOTHING);
  });

  test('gives nothing after five minutes', async () => {
    for (const [ms, expected] of [
      [299_000, { ...refusal, errors: [] }],
      [300_000, NOTHING],
    ] as const) {
      await send(jar, app, { ...wrong, error_to: '/pages/in' });
      skip(ms);
      expect(await read(jar, app, '/pages/in')).toEqual(expected);
      expect(jar.cookies.size).toBe(0);
      skip(0);
    }
  });

  test('gives nothing of a forged cookie, and clears it', async () => {
    await send(jar, app, { ...wrong, error_to: '/pages/in' });
    const [[name = '', value = ''] = []] = jar.cookies;
    const last = value.slice(0, -2) + (value.endsWith('AA') ? 'BB' : 'AA');
    for (const forged of [last, 'x', '{}', 'v1.x.y', `"${value}"`, `${value}; ${name}=x`]) {
      jar.cookies.set(name, forged);
      const page = await jar.visit(`${app.origin}/pages/in`);
      expect([forged, page.body, formCookies(page).length]).toEqual([forged, NOTHING, 1]);
    }
  });

  test('requires the URL of the page', () => {
    const call = (req: object) => () => app.auth.formValues(req as never, {} as never);
    expect(call({ headers: {} })).toThrow(
      'latchkey: formValues: pass the request for the page, with its url',
    );
    expect(call({ url: '/in' })).toThrow(TypeError);
  });

  test.each([
    ['/pages/in', '/pages/in'],
    ['/pages/in?a=b#c', '/pages/in'],
    ['http://app.example/pages/in?a=b', '/pages/in'],
    ['//host/in', '//host/in'],
    ['', '/'],
    ['*', '/*'],
    ['mailto::99999', '/:99999'],
  ])('takes the URL %j for the path %s', (url, path) => {
    const read: string[] = [];
    const res = { getHeader: () => 'Accept, Cookie', appendHeader: () => {}, setHeader: () => {} };
    const hash = createHash('sha256').update(path).digest('hex').slice(0, 8);
    const cookie = `latchkey-form-${hash}=x`;
    const cleared = { ...res, appendHeader: (_name: string, line: string) => read.push(line) };
    app.auth.formValues({ headers: new Headers({ cookie }), url }, cleared as never);
    expect(read).toEqual([expect.stringContaining(`latchkey-form-${hash}=;`)]);
  });

  describe('keeps nothing', () => {
    test('for a page of another origin', async () => {
      const answer = await send(jar, app, { ...wrong, error_to: 'https://www.example/pages/in' });
      expect(answer.location).toBe('https://www.example/pages/in?error=invalid_credentials');
      expect(formCookies(answer)).toEqual([]);
    });

    test('of a form from another site, which leads nowhere', async () => {
      const fields = { ...wrong, error_to: '/pages/in' };
      const answer = await send(jar, app, fields, { 'sec-fetch-site': 'cross-site' });
      expect([answer.status, answer.location, answer.cookies]).toEqual([403, null, []]);
    });

    test('of a form that leads to no page, and of JSON', async () => {
      expect((await send(jar, app, wrong)).cookies).toEqual([]);
      const json = await jar.visit(`${app.origin}/v1/auth/signin/credential`, {
        method: 'POST',
        body: wrong,
        headers: { referer: `${app.origin}/pages/in` },
      });
      expect([json.status, json.cookies]).toEqual([422, []]);
    });
  });

  describe('the cookie', () => {
    const LONG = 3 * 1024;

    test('has at most 3 KB: longer fields are left out', async () => {
      const answer = await send(jar, app, { ...wrong, credential: 'x'.repeat(5000), error_to: '/pages/in' });
      expect(formCookies(answer).join().length).toBeLessThan(500);
      expect((await read(jar, app, '/pages/in')).values).toEqual({ remember_me: 'on' });
    });

    test('keeps what fits into it', async () => {
      const credential = '日'.repeat(600);
      const answer = await send(jar, app, { ...wrong, credential, error_to: '/pages/in' });
      const [, value = ''] = /=([^;]+)/.exec(formCookies(answer).join()) ?? [];
      expect(value.length).toBeGreaterThan(2000);
      expect(value.length).toBeLessThanOrEqual(LONG);
      expect((await read(jar, app, '/pages/in')).values).toEqual({ credential, remember_me: 'on' });
    });

    test('leaves out the last of many errors too', async () => {
      const names = Array.from({ length: 30 }, (_, index) => [`${index}${'x'.repeat(300)}`, 'x']);
      const answer = await send(jar, app, { ...Object.fromEntries(names), error_to: '/pages/in' });
      expect(formCookies(answer).join().length).toBeLessThan(LONG + 150);
      const { errors, error } = await read(jar, app, '/pages/in');
      expect(error).toBe('validation_failed');
      expect(errors.length).toBeGreaterThan(3);
      expect(errors.length).toBeLessThan(20);
    });

    test('replaces the oldest of other pages where they would be too long together', async () => {
      const credential = 'x'.repeat(1800);
      for (const page of ['a', 'b', 'c', 'd'])
        await send(jar, app, { ...wrong, credential, error_to: `/pages/${page}` });
      expect(jar.header.length).toBeLessThan(2 * LONG + 200);
      const left = [];
      for (const page of ['a', 'b', 'c', 'd']) left.push((await read(jar, app, `/pages/${page}`)).error);
      expect(left).toEqual([null, null, 'validation_failed', 'validation_failed']);
    });
  });
});

describe('the cookie of a refused form', () => {
  const cookieOf = async (given: Partial<AuthConfig<readonly ReturnType<typeof password>[]>>) => {
    const app = await start(given);
    const answer = await send(new CookieJar(), app, { ...wrong, error_to: '/pages/in' });
    await app.stop();
    return formCookies(answer).map((line) => line.replace(/[0-9a-f]{8}=[^;]+/, '…'));
  };
  const HTTPS = 'https://app.example';

  test.each([
    [{ baseUrl: HTTPS }, '__Host-latchkey-form-…; Max-Age=300; Path=/; HttpOnly; Secure; SameSite=Lax'],
    [
      { baseUrl: HTTPS, session: { cookie: { domain: 'app.example', sameSite: 'none' } } },
      '__Host-latchkey-form-…; Max-Age=300; Path=/; HttpOnly; Secure; SameSite=Lax',
    ],
    [
      { baseUrl: HTTPS, session: { cookie: { path: '/auth', sameSite: 'strict' } } },
      '__Host-latchkey-form-…; Max-Age=300; Path=/; HttpOnly; Secure; SameSite=Lax',
    ],
    [
      { baseUrl: HTTPS, session: { cookie: { name: 'sid' } } },
      '__Host-sid-form-…; Max-Age=300; Path=/; HttpOnly; Secure; SameSite=Lax',
    ],
    [{}, 'latchkey-form-…; Max-Age=300; Path=/; HttpOnly; SameSite=Lax'],
  ] as const)('with %j is %s', async (given, line) => {
    expect(await cookieOf(given)).toEqual([line]);
  });
});

test('behind a proxy that removes a path, a page is found by the path that browsers see', async () => {
  const app = await start({ baseUrl: 'http://app.example/app' }, (req, _res, next) => {
    req.url = req.url.replace(/^\/app(?=\/)/, '');
    req.originalUrl = req.url;
    next();
  });
  const jar = new CookieJar();
  for (const given of [
    [{ error_to: '/app/pages/in' }, {}],
    [{ error_to: 'http://app.example/app/pages/in' }, {}],
    [{}, { referer: 'http://app.example/app/pages/in' }],
  ] as const) {
    const answer = await send(jar, app, { ...wrong, ...given[0] }, { ...given[1] });
    expect(answer.location).toMatch(/\/app\/pages\/in\?error=invalid_credentials$/);
    expect(await read(jar, app, '/app/pages/in')).toEqual({ ...refusal, errors: [] });
  }
  // A page outside of the app's path.
  await send(jar, app, { ...wrong, error_to: '/pages/in' });
  expect(await read(jar, app, '/app/pages/in')).toEqual(NOTHING);
  await app.stop();
});
