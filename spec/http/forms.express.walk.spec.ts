import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import type { Response } from 'supertest';
import { authRouter } from '../../lib/index.js';
import { oidc } from '../../lib/providers.js';
import { ada, password, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { everyPlugin } from '../support/every-plugin.js';
import { expectProblem } from '../support/problem.js';

const FORM = 'application/x-www-form-urlencoded';
const plugins = [
  ...everyPlugin({ sendsEmails: true, admin: { adminEmails: [ada.email] } }),
  oidc({ id: 'oidc', issuer: 'https://issuer.example', clientId: 'a', clientSecret: 'b' }),
] as const;
const config = {
  baseUrl: 'http://app.localhost',
  email: { send: () => {} },
  user: { fields: { newsletter: { type: 'boolean' } } },
} as const;

interface Variant {
  properties: Record<string, { type?: string }>;
}
interface Operation {
  summary: string;
  requestBody?: { content: Record<string, { schema: Variant & { oneOf?: Variant[] } }> };
  responses: Record<string, unknown>;
}
const operationsOf = (app: { auth: { openapi(): { paths: object } } }) =>
  Object.entries(app.auth.openapi().paths as Record<string, Record<string, Operation>>).flatMap(
    ([path, operations]) =>
      Object.entries(operations).map(
        ([method, operation]) =>
          [`${method.toUpperCase()} ${path.replace(/{(\w+)}/g, ':$1')}`, operation] as const,
      ),
  );

/** An app that is not started, to know the routes before the first spec. */
const routes = await (async () => {
  const app = await startApp({ plugins, config });
  const all = operationsOf(app);
  await app.stop();
  return all;
})();
const takesForm = ([, { requestBody, responses }]: (typeof routes)[number]) =>
  requestBody?.content[FORM] !== undefined && '303' in responses;
const forms = routes
  .filter(takesForm)
  .filter(([name]) => name !== 'POST /oauth/:provider/callback')
  .map(([name, operation]) => [name.replace('POST ', ''), operation] as const);

describe('which routes take forms', () => {
  const names = (some: readonly (typeof routes)[number][]) => some.map(([name]) => name);

  test('all POST routes with a body, except those that show something once or are for scripts', () => {
    const without = routes.filter(
      (one) => one[1].requestBody && one[0].startsWith('POST') && !takesForm(one),
    );
    expect(names(without).sort()).toEqual([
      'POST /api-keys',
      'POST /invitations/lookup',
      'POST /signin/second-factor/options',
      'POST /two-factor/totp/confirm',
      'POST /undo-change/lookup',
      'POST /undo-change/options',
    ]);
  });

  test('those of pages that have no body', () => {
    const empty = forms.filter(
      ([, { requestBody }]) => Object.keys(requestBody?.content[FORM]?.schema.properties ?? {}).length === 2,
    );
    expect(empty.map(([name]) => name).sort()).toEqual([
      '/admin/users/:id/disable-second-factor',
      '/admin/users/:id/reinstate',
      '/admin/users/:id/require-new-password',
      '/admin/users/:id/send-password-reset',
      '/email-changes/cancel',
      '/email-verifications',
      '/organizations/:id/delete',
      '/organizations/:id/invitations/:invitationId/revoke',
      '/reauthenticate/email',
      '/signout',
      '/two-factor/trusted-devices/delete',
    ]);
  });

  test('no other methods', () => {
    expect(names(routes.filter(takesForm)).filter((name) => !name.startsWith('POST'))).toEqual([]);
  });
});

/** The cookie of a new session. */
async function cookieOf({ auth }: SpecApp<typeof plugins>): Promise<string> {
  const user = await auth.users.find({ email: ada.email });
  const authenticatedAt = new Date();
  return `latchkey=${(await auth.createSession(String(user?.id), { authenticatedAt })).token}`;
}

/** Of several kinds of bodies, the first. */
function firstOf(schema: (Variant & { oneOf?: Variant[] }) | undefined): Variant | undefined {
  return schema?.oneOf?.[0] ?? schema;
}

/** What decides which other fields there are. */
const VALUES: Readonly<Record<string, string>> = { method: 'totp' };

/** Body parsers of the app in front of the router must make no difference. */
const apps = {
  'an app without parsers': undefined,
  'an app with a plain parser': () => [express.urlencoded({ extended: false })],
  'an app with all parsers': () => [express.json(), express.text(), express.urlencoded({ extended: true })],
};

describe.each(Object.entries(apps))('every form in %s', (_name, parsers) => {
  let app: SpecApp<typeof plugins>;
  let cookie: string;
  beforeAll(async () => {
    app = await startApp({
      plugins,
      config,
      mount: (mounted, auth) => {
        for (const parser of parsers?.() ?? []) mounted.use(parser);
        mounted.use('/auth', authRouter(auth));
      },
    });
    await app.auth.credential.signUp({ ...ada, fields: {} });
    const [user] = await rows<{ id: string }>(app.database, 'SELECT id FROM users');
    await app.auth.markEmailVerified(String(user?.id));
  });
  afterAll(() => app.stop());
  beforeEach(async () => {
    cookie = await cookieOf(app);
  });
  afterEach(() => expect(app.log).toEqual([]));

  const urlOf = (path: string) => `/auth${path.replace(/:\w+/g, 'oidc')}`;
  const post = (path: string, body: string, type = FORM) =>
    app.http.post(urlOf(path)).set({ cookie, 'content-type': type }).send(body);
  const lead = 'redirect_to=/done&error_to=/failed';
  const stateOf = async () => ({
    users: await rows(app.database, 'SELECT id, password_hash FROM users'),
    sessions: (await rows(app.database, 'SELECT id FROM sessions')).length,
  });

  /** A form that fits the schema, though the values may be wrong. */
  const filled = ({ requestBody }: Operation) =>
    Object.entries(firstOf(requestBody?.content[FORM]?.schema)?.properties ?? {})
      .filter(([name]) => !/^(redirect|error|second_factor|confirm)_to$/.test(name))
      .map(([name, { type }]) => `${name}=${VALUES[name] ?? (type === 'string' ? 'x' : 'on')}`);

  test.each(forms)('%s is accepted, and leads to a page', async (path, operation) => {
    const { properties = {} } = firstOf(operation.requestBody?.content[FORM]?.schema) ?? {};
    const next = 'confirm_to' in properties ? ['confirm_to=/done'] : [];
    const answer = await post(path, [...filled(operation), lead, ...next].join('&'));
    expect([answer.status, answer.text]).toEqual([303, '']);
    expect(answer.headers.location).toMatch(/^\/(done|failed\?error=[a-z_]+(&error_fields=[a-z_,]+)?)$/);
    expect(answer.headers.location).not.toMatch(/unsupported|invalid_json|invalid_request/);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['content-type']).toBeUndefined();
  });

  const refused = async (path: string, body: string, fields: string[]) => {
    const before = await stateOf();
    const answer = await post(path, body);
    const url = new URL(answer.headers.location ?? '', 'http://x');
    const errorFields = url.searchParams.get('error_fields')?.split(',') ?? [];
    expect([path, body, answer.status, url.pathname, url.searchParams.get('error')]).toEqual([
      path,
      body,
      303,
      '/failed',
      'validation_failed',
    ]);
    expect(errorFields).toEqual(expect.arrayContaining(fields));
    expect([answer.text, sessionCookie(answer)]).toEqual(['', undefined]);
    expect(await stateOf()).toEqual(before);
  };

  test.each(forms)('%s is refused with a field twice', async (path, operation) => {
    const { properties = {} } = firstOf(operation.requestBody?.content[FORM]?.schema) ?? {};
    // A list is sent as several fields with the same name.
    const isList = (field: string) => properties[String(field.split('=')[0])]?.type === 'array';
    for (const field of filled(operation).filter((one) => !isList(one)))
      await refused(path, [...filled(operation), field, lead].join('&'), [String(field.split('=')[0])]);
    await refused(path, `x=1&x=1&${lead}`, ['x']);
  });

  test.each(forms)('%s is refused with unknown fields', async (path, operation) => {
    const names = ['role', 'is_admin', 'email_verified_at', 'auth_epoch', 'constructor'];
    for (const name of names)
      await refused(path, [...filled(operation), `${name}=x`, lead].join('&'), [name]);
    for (const name of ['toString', 'hasOwnProperty', 'redirectTo', 'a%2Fb', '%3Cscript%3E', 'password[x]'])
      await refused(path, [...filled(operation), `${name}=x`, lead].join('&'), []);
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  if (!parsers)
    test.each(forms)('%s is refused with __proto__', async (path, operation) => {
      await refused(path, [...filled(operation), '__proto__=x', lead].join('&'), []);
      await refused(path, [...filled(operation), '__proto__[x]=x', lead].join('&'), []);
    });

  test.each(forms)('%s is refused with nested fields', async (path, operation) => {
    for (const field of filled(operation)) {
      const name = String(field.split('=')[0]);
      const others = filled(operation).filter((one) => one !== field);
      for (const nested of [`${name}[]=x`, `${name}[$ne]=`, `${name}[a][b]=c`])
        await refused(path, [...others, nested, lead].join('&'), []);
    }
  });

  test.each(forms)('%s is refused with more than 16 KiB', async (path) => {
    expectProblem(await post(path, `x=${'x'.repeat(16 * 1024)}`), 413, 'body_too_large');
  });

  test.each(forms)('%s is refused in another type, character set or encoding', async (path) => {
    for (const type of ['multipart/form-data; boundary=x', 'text/plain', `${FORM}ed`])
      expectProblem(await post(path, 'x=1', type), 415, 'unsupported_media_type');
    if (parsers) return;
    for (const charset of ['latin1', 'utf-16', 'nonsense'])
      expectProblem(await post(path, 'x=1', `${FORM}; charset=${charset}`), 415, 'unsupported_media_type');
    const zipped = await post(path, 'x=1').set('content-encoding', 'gzip');
    expectProblem(zipped, 415, 'unsupported_media_type');
  });

  test.each(forms)('%s is refused from other sites, and leads nowhere', async (path, operation) => {
    const before = await stateOf();
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
      const answer = await post(path, [...filled(operation), lead].join('&')).set({
        ...headers,
        referer: 'https://evil.example/',
      });
      expectProblem(answer, 403, 'origin_not_allowed');
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    expect(await stateOf()).toEqual(before);
  });

  test.each(forms)('%s does nothing if one of its pages is not allowed', async (path, operation) => {
    const before = await stateOf();
    for (const pages of [
      'redirect_to=//evil.example&error_to=/failed',
      'redirect_to=/done&error_to=https://evil.example/',
      'redirect_to=/done&redirect_to=/done&error_to=/failed',
      'error_to=/%5Cevil.example',
    ]) {
      const answer = await post(path, [...filled(operation), pages].join('&')).set(
        'referer',
        `${app.origin}/`,
      );
      expectProblem(answer, 400, 'invalid_callback_url');
    }
    expect(await stateOf()).toEqual(before);
  });

  test('of a wrong sign-in sends nothing back that was typed', async () => {
    const wrong = { credential: 'somebody@example.com', password: 'my secret', error_to: '/in' };
    const answer = await post('/signin/credential', `${new URLSearchParams(wrong)}`);
    expect(answer.headers.location).toBe('/in?error=invalid_credentials');
    expect(JSON.stringify([answer.headers, answer.text])).not.toMatch(/somebody|secret/);
  });
});

const credentials = { credential: ada.email, password: ada.password };
const encoded = (fields: Record<string, string>) => `${new URLSearchParams(fields)}`;

describe('a form', () => {
  const some = [password()] as const;
  let app: SpecApp<typeof some>;
  beforeAll(async () => {
    app = await startApp({
      plugins: some,
      config: {
        bearerEnabled: true,
        user: {
          fields: {
            newsletter: { type: 'boolean' },
            plan: { type: 'string', default: 'free', input: 'none' },
          },
        },
      },
      mount: (mounted, auth) => void mounted.use('/v1/auth', authRouter(auth)),
    });
  });
  afterAll(() => app.stop());
  beforeEach(() => rows(app.database, 'DELETE FROM users'));

  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    app.http.post(`/v1/auth${path}`).set(headers).type('form').send(encoded(fields));
  const cookieOf = (answer: Response) => `latchkey=${sessionCookie(answer)?.value}`;

  test('signs up, signs in and signs out, and leads to / each time', async () => {
    const created = await post('/signup/credential', { ...ada, newsletter: 'on' });
    expect([created.status, created.headers.location, created.text]).toEqual([303, '/', '']);
    expect(created.headers['set-cookie']).toBeUndefined();
    const signedIn = await post('/signin/credential', { ...credentials, remember_me: 'on' });
    expect([signedIn.status, signedIn.headers.location, signedIn.text]).toEqual([303, '/', '']);
    const { value, attributes } = sessionCookie(signedIn) ?? {};
    expect(attributes).toContainEqual(expect.stringMatching(/^Max-Age=/));
    expect(signedIn.headers['set-auth-token']).toBe(value);
    const cookie = cookieOf(signedIn);
    const { body } = await app.http.get('/v1/auth/me').set({ cookie }).expect(200);
    expect(body.user).toMatchObject({ email: ada.email, newsletter: true });
    const signedOut = await post('/signout', {}, { cookie });
    expect([signedOut.status, signedOut.headers.location]).toEqual([303, '/']);
    expect(sessionCookie(signedOut)?.value).toBe('');
    expectProblem(await app.http.get('/v1/auth/me').set({ cookie }), 401, 'invalid_session');
  });

  test('without a body at all signs out too', async () => {
    await post('/signup/credential', ada).expect(303);
    const cookie = cookieOf(await post('/signin/credential', credentials));
    const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' };
    expect((await app.http.post('/v1/auth/signout').set(headers)).status).toBe(303);
    expectProblem(await app.http.get('/v1/auth/me').set({ cookie }), 401, 'invalid_session');
  });

  test('that signs in ends the session that the browser had', async () => {
    await post('/signup/credential', ada).expect(303);
    const earlier = cookieOf(await post('/signin/credential', credentials));
    const later = cookieOf(await post('/signin/credential', credentials, { cookie: earlier }));
    expectProblem(await app.http.get('/v1/auth/me').set('cookie', earlier), 401, 'invalid_session');
    await app.http.get('/v1/auth/me').set('cookie', later).expect(200);
  });

  test('that changes the password sets the new cookie', async () => {
    await post('/signup/credential', ada).expect(303);
    const cookie = cookieOf(await post('/signin/credential', credentials));
    const change = { current_password: ada.password, new_password: 'a difference engine' };
    const answer = await post('/passwords/change', { ...change, redirect_to: '/account' }, { cookie });
    expect([answer.status, answer.headers.location]).toEqual([303, '/account']);
    await app.http.get('/v1/auth/me').set('cookie', cookieOf(answer)).expect(200);
    expectProblem(await app.http.get('/v1/auth/me').set({ cookie }), 401, 'invalid_session');
  });

  test('without a session leads to error_to, and sets no session cookie', async () => {
    const answer = await post('/revoke-sessions', { error_to: '/in?next=%2Fa' });
    expect([answer.status, answer.headers.location]).toEqual([303, '/in?next=%2Fa&error=unauthenticated']);
    expect(sessionCookie(answer)).toBeUndefined();
    expectProblem(await post('/revoke-sessions', {}), 401, 'unauthenticated');
  });

  test('that signs out leads to redirect_to without a session too, and removes what is left of the session', async () => {
    for (const cookie of ['', `latchkey=lks_${'A'.repeat(48)}`, 'latchkey=x']) {
      const answer = await post('/signout', { redirect_to: '/bye', error_to: '/in' }, { cookie });
      expect([answer.status, answer.headers.location]).toEqual([303, '/bye']);
      expect(sessionCookie(answer)?.value).toBe('');
    }
    await post('/signout', {}).expect(303).expect('location', '/');
  });

  test('works for a program with a Bearer token', async () => {
    await app.auth.credential.signUp({ ...ada, fields: {} });
    const { token } = await app.auth.credential.signIn(credentials);
    const headers = { authorization: `Bearer ${token}`, origin: 'https://elsewhere.example' };
    await post('/signout', {}, headers).expect(303).expect('location', '/');
    await expect(app.auth.getSession({ headers })).rejects.toMatchObject({ code: 'invalid_session' });
  });

  test('names the fields that are wrong', async () => {
    const invalid = { email: 'ada', password: 'short', newsletter: 'maybe', error_to: '/up' };
    const answer = await post('/signup/credential', invalid);
    expect(answer.headers.location).toBe(
      '/up?error=validation_failed&error_fields=email,password,newsletter',
    );
    const { newsletter: _, ...rest } = invalid;
    const rules = await post('/signup/credential', rest);
    expect(rules.headers.location).toBe('/up?error=validation_failed&error_fields=email,password');
    const empty = await post('/signup/credential', { email: '', password: '', error_to: '/up' });
    expect(empty.headers.location).toBe('/up?error=validation_failed&error_fields=email,password');
  });

  test('cannot set a field that only code may set', async () => {
    for (const plan of ['pro', 'free', '']) {
      const answer = await post('/signup/credential', { ...ada, plan, error_to: '/up' });
      expect(answer.headers.location).toBe('/up?error=validation_failed&error_fields=plan');
    }
    expect(await rows(app.database, 'SELECT id FROM users')).toEqual([]);
    await post('/signup/credential', ada).expect(303).expect('location', '/');
    const cookie = cookieOf(await post('/signin/credential', credentials));
    const update = await post('/me/update', { newsletter: 'on', plan: 'pro', error_to: '/me' }, { cookie });
    expect(update.headers.location).toBe('/me?error=validation_failed&error_fields=plan');
    await post('/me/update', { newsletter: 'on', redirect_to: '/me' }, { cookie }).expect('location', '/me');
    const { body } = await app.http.get('/v1/auth/me').set({ cookie });
    expect(body.user).toMatchObject({ plan: 'free', newsletter: true });
  });

  test('can set a boolean to false, by naming its checkboxes', async () => {
    await post('/signup/credential', { ...ada, newsletter: 'on' }).expect(303);
    const cookie = cookieOf(await post('/signin/credential', credentials));
    const newsletter = async () => (await app.http.get('/v1/auth/me').set({ cookie })).body.user.newsletter;
    expect(await newsletter()).toBe(true);
    await post('/me/update', { checkboxes: 'newsletter', redirect_to: '/me' }, { cookie }).expect(
      'location',
      '/me',
    );
    expect(await newsletter()).toBe(false);
    for (const checkboxes of ['plan', 'email', 'newsletter nothing']) {
      const refused = await post('/me/update', { checkboxes, error_to: '/me' }, { cookie });
      expect(refused.headers.location).toBe('/me?error=validation_failed&error_fields=checkboxes');
    }
  });

  test('that is not UTF-8 is refused', async () => {
    for (const body of ['email=%ff%fe', 'email=%zz', 'email=%c3%28', 'password=%ed%a0%80'])
      expectProblem(
        await app.http.post('/v1/auth/signup/credential').type('form').send(body),
        400,
        'invalid_request',
      );
    const raw = await fetch(`${app.origin}/v1/auth/signup/credential`, {
      method: 'POST',
      headers: { 'content-type': FORM },
      body: new Uint8Array([...Buffer.from('email='), 0xff, 0xfe]),
    });
    expect(raw.status).toBe(400);
  });
});

describe('a form that comes too often', () => {
  test('leads to error_to, with Retry-After', async () => {
    const app = await startApp({ config: { rateLimit: { signIn: { limit: 1, window: 60 } } } });
    const signIn = () =>
      app.http
        .post('/auth/signin/credential')
        .type('form')
        .send(encoded({ ...credentials, error_to: '/in' }));
    expect((await signIn()).headers.location).toBe('/in?error=invalid_credentials');
    const answer = await signIn();
    expect([answer.status, answer.headers.location]).toEqual([303, '/in?error=rate_limited']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.headers.ratelimit).toMatch(/r=0/);
    await app.stop();
  });
});

describe('a form while the database is down', () => {
  test('leads to error_to with Retry-After, and is logged', async () => {
    const app = await startApp();
    await rows(app.database, 'ALTER TABLE users RENAME TO elsewhere');
    const answer = await app.http
      .post('/auth/signin/credential')
      .type('form')
      .send(encoded({ ...credentials, error_to: '/in' }));
    expect([answer.status, answer.headers.location]).toEqual([303, '/in?error=unavailable']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(app.log).toEqual([expect.stringMatching(/^error/)]);
    await app.stop();
  });
});

describe('with forms: false', () => {
  let app: SpecApp<typeof plugins>;
  let cookie: string;
  beforeAll(async () => {
    app = await startApp({ plugins, config: { ...config, forms: false } });
    const created = await app.auth.credential.signUp({ ...ada, fields: {} });
    await app.auth.markEmailVerified(created?.user.id ?? '');
    cookie = await cookieOf(app);
  });
  afterAll(() => app.stop());

  const isTwin = ([, { summary }]: (typeof forms)[number]) => summary.endsWith(', by a form');
  test.each(forms.filter((one) => !isTwin(one)))('POST %s takes JSON only', async (path) => {
    const form = app.http.post(`/auth${path}`).set({ cookie }).type('form');
    expectProblem(await form.send('x=1&redirect_to=/done'), 415, 'unsupported_media_type');
  });

  test('the twins are gone, also from the OpenAPI document', async () => {
    for (const [path] of forms.filter(isTwin)) {
      const answer = await app.http.post(`/auth${path}`).set({ cookie }).type('form').send('x=1');
      expect([path, [404, 405].includes(answer.status)]).toEqual([path, true]);
    }
    const answer = await app.http.post('/auth/oauth/oidc/unlink');
    expectProblem(answer, 405, 'method_not_allowed');
    expect(answer.headers.allow).toBe('DELETE');
    const withForms = operationsOf(app).filter(takesForm);
    expect(withForms.map(([name]) => name)).toEqual(['POST /oauth/:provider/callback']);
    expect(app.auth.openapi().paths['/passwords/set']).toBeUndefined();
  });
});

describe('a twin', () => {
  let app: SpecApp<typeof plugins>;
  let cookie: string;
  beforeAll(async () => {
    app = await startApp({ plugins, config });
    await app.auth.credential.signUp({ ...ada, fields: {} });
    cookie = await cookieOf(app);
  });
  afterAll(() => app.stop());

  test('takes forms only', async () => {
    const json = await app.http.post('/auth/passwords/set').set({ cookie }).send({ new_password: 'x' });
    expectProblem(json, 415, 'unsupported_media_type');
    expectProblem(
      await app.http.post('/auth/oauth/oidc/unlink').set({ cookie }),
      415,
      'unsupported_media_type',
    );
  });

  test('does what its route does', async () => {
    const form = (path: string, body: string) =>
      app.http.post(`/auth${path}`).set({ cookie }).type('form').send(`${body}&error_to=/failed`);
    const set = await form('/passwords/set', 'new_password=a+difference+engine');
    expect(set.headers.location).toBe('/failed?error=password_already_set');
    const unlink = await form('/oauth/oidc/unlink', '');
    expect(unlink.headers.location).toBe('/failed?error=account_not_linked');
    await rows(app.database, 'UPDATE users SET password_hash = NULL');
    const done = await form('/passwords/set', 'new_password=a+difference+engine&redirect_to=/account');
    expect(done.headers.location).toBe('/account');
    await app.auth.credential.signIn({ ...credentials, password: 'a difference engine' });
  });

  test('shares the path of its route, or has one of its own', async () => {
    const allowed = async (path: string) => (await app.http.put(`/auth${path}`)).headers.allow;
    expect(await allowed('/oauth/oidc/unlink')).toBe('DELETE, POST');
    expect(await allowed('/passwords/set')).toBe('POST');
    expect(await allowed('/passwords/change')).toBe('POST');
  });
});
