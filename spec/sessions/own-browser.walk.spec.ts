import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import type request from 'supertest';
import { internalsOf } from '../../lib/auth.js';
import { cookieSchema } from '../../lib/config/session.js';
import { type AuthConfig, apiKeys, createAuth, emailSignIn } from '../../lib/index.js';
import { expressSession, jwtSessions, movingIn } from '../../lib/moving-in.js';
import { ada, password, SECRET, type SpecApp, startApp } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';

// What counts as the account's own browser, and as a cookie of this host alone. Both must be impossible to plant: a
// stranger who has signed up with Ada's address, and who controls a sibling host, makes her browser send his cookies.

const OLD = 'the secret of the previous system';
const SID = 'old-session';
type Headers = Readonly<Record<string, string>>;
type Plugins = ReturnType<typeof plugins>;
type App = SpecApp<Plugins>;

interface Way {
  readonly name: string;
  /** Why it counts, or does not. */
  readonly because: string;
  readonly config: Partial<AuthConfig>;
  /** Whether a session that arrives in this way makes the browser the account's own. */
  readonly isOwn: boolean;
  /** Whether the browser of a sign-up counts: its device value cannot come from another host. */
  readonly isOfThisHost: boolean;
  /** The options of `session.cookie`, the carrier and the method that the row is about. */
  readonly about: readonly string[];
  /** The headers of a request with a session of Ada's account. @default signs in with the password */
  session?(app: App, userId: string): Promise<Headers>;
  /** The header of a client that names its device. */
  readonly device?: Headers;
}

const https = { baseUrl: 'https://app.example.com' };
const cookie = (
  options: NonNullable<NonNullable<AuthConfig['session']>['cookie']>,
  base: object = https,
) => ({
  ...base,
  session: { cookie: options },
});

const WAYS: readonly Way[] = [
  {
    name: 'the cookie __Host-latchkey',
    because: 'browsers accept it only from this host',
    config: https,
    isOwn: true,
    isOfThisHost: true,
    about: ['cookie.secure', 'via cookie', 'by password'],
  },
  {
    name: 'a cookie with a domain',
    because: 'a sibling host can set it; the device cookie has no domain',
    config: cookie({ domain: 'example.com' }),
    isOwn: false,
    isOfThisHost: true,
    about: ['cookie.domain'],
  },
  {
    name: 'a cookie with a domain, in a browser in which the user has signed in',
    because: 'the device cookie says so, which no sibling host can set',
    config: cookie({ domain: 'example.com' }),
    isOwn: true,
    isOfThisHost: true,
    about: ['cookie.domain'],
    session: async (app) => ({ cookie: cookiesOf(await signIn(app)) }),
  },
  {
    name: 'a cookie with a domain, and the device of another account',
    because: 'this user has not signed in there',
    config: cookie({ domain: 'example.com' }),
    isOwn: false,
    isOfThisHost: true,
    about: ['cookie.domain'],
    async session(app) {
      const eve = { email: 'eve@example.com', password: 'the password of another one' };
      await app.http.post('/auth/signup/credential').send(eve).expect(201);
      const device = cookiesOf(await signIn(app, eve), '__Host-latchkey-device');
      const session = cookiesOf(await signIn(app), '__Secure-latchkey=');
      return { cookie: `${session}; ${device}` };
    },
  },
  {
    name: 'a cookie with a path',
    because: 'it cannot have the prefix; the device cookie has the path /',
    config: cookie({ path: '/auth' }),
    isOwn: false,
    isOfThisHost: true,
    about: ['cookie.path'],
  },
  {
    name: 'a cookie whose name has no prefix',
    because: 'a sibling host can set one with this name; the device cookie has the prefix',
    config: cookie({ name: 'sid' }),
    isOwn: false,
    isOfThisHost: true,
    about: ['cookie.name'],
  },
  {
    name: 'a cookie whose name has another prefix',
    because: '__Secure- does not say which host has set it',
    config: cookie({ name: '__Secure-sid' }),
    isOwn: false,
    isOfThisHost: true,
    about: ['cookie.name'],
  },
  {
    name: 'a cookie whose name has the prefix',
    because: 'browsers accept it only from this host',
    config: cookie({ name: '__Host-sid' }),
    isOwn: true,
    isOfThisHost: true,
    about: ['cookie.name'],
  },
  {
    name: 'a partitioned cookie for other sites',
    because: 'it has the prefix',
    config: cookie({ sameSite: 'none', partitioned: true }),
    isOwn: true,
    isOfThisHost: true,
    about: ['cookie.sameSite', 'cookie.partitioned'],
  },
  {
    name: 'a cookie that had a domain before',
    because: 'a former cookie has another name',
    config: cookie({ former: [{ domain: 'example.com' }] }),
    isOwn: true,
    isOfThisHost: true,
    about: ['cookie.former'],
  },
  {
    name: 'plain http',
    because: 'no cookie can have the prefix',
    config: { baseUrl: 'http://app.example.com' },
    isOwn: false,
    isOfThisHost: false,
    about: ['cookie.secure'],
  },
  {
    name: 'plain http at localhost',
    because: 'the machine of a developer has no sibling hosts',
    config: { baseUrl: 'http://localhost:3000' },
    isOwn: true,
    isOfThisHost: true,
    about: ['cookie.secure'],
  },
  {
    name: 'a bearer token over plain http',
    because: 'no other host can set a header',
    config: { baseUrl: 'http://app.example.com', bearerEnabled: true },
    isOwn: true,
    isOfThisHost: true,
    about: ['via bearer'],
    device: { 'latchkey-device': 'new' },
    session: async (app) => ({ authorization: `Bearer ${(await signIn(app)).headers['set-auth-token']}` }),
  },
  {
    name: 'a session that was taken over from the cookie of a previous system',
    because: 'that cookie can be planted',
    config: https,
    isOwn: false,
    isOfThisHost: true,
    about: ['by previous_system'],
    async session(app, userId) {
      const signed = `s:${SID}-${userId}.${createHmac('sha256', OLD).update(`${SID}-${userId}`).digest('base64').replace(/=+$/, '')}`;
      const answer = await app.http
        .get('/auth/me')
        .set('cookie', `connect.sid=${encodeURIComponent(signed)}`)
        .expect(200);
      return { cookie: cookiesOf(answer, '__Host-latchkey') };
    },
  },
  {
    name: 'the same after a reauthentication with the password',
    because: 'another browser can have the session too',
    config: https,
    isOwn: false,
    isOfThisHost: true,
    about: ['by previous_system'],
    async session(app, userId) {
      const headers = await wayOf('a session that was taken over').session!(app, userId);
      const { password } = ada;
      await app.http.post('/auth/reauthenticate').set(headers).send({ password }).expect(204);
      return headers;
    },
  },
  {
    name: 'a token of the app’s own',
    because: 'the person has not authenticated here',
    config: https,
    isOwn: false,
    isOfThisHost: true,
    about: ['via bearer', 'by previous_system'],
    async session(app, userId) {
      const jwt = new SignJWT({ sub: userId }).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('1h');
      const authorization = `Bearer ${await jwt.setIssuedAt().sign(Buffer.from(OLD))}`;
      await app.http.get('/auth/me').set({ authorization }).expect(200);
      return { authorization };
    },
  },
  {
    name: 'a session with an open task',
    because: 'a task limits the rights of the session, and not whose browser it is',
    config: { ...https, tasks: { terms: { open: () => hasNewTerms, page: '/terms' } } },
    isOwn: true,
    isOfThisHost: true,
    about: ['tasks'],
    async session(app) {
      const cookie = cookiesOf(await signIn(app), '__Host-latchkey=');
      hasNewTerms = true;
      return { cookie };
    },
  },
  {
    name: 'a session of auth.createSession',
    because: 'the app has its own proof',
    config: https,
    isOwn: true,
    isOfThisHost: true,
    about: ['by app'],
    session: async (app, userId) => ({
      cookie: `__Host-latchkey=${(await app.auth.createSession(userId)).token}`,
    }),
  },
];
const wayOf = (start: string) => WAYS.find(({ name }) => name.startsWith(start)) as Way;

/** What no row above is about, and why. */
const NO_ROW: Readonly<Record<string, string>> = {
  'via api-key': 'it presents no session',
  'by sign_up': 'begins a session like a sign-in with the password',
  'by provider': 'begins a session whose amr is fed, by an authentication here',
  'by passkey': 'begins a session whose amr names the authenticator, by an authentication here',
  'by email': 'begins a session whose amr is email, by an authentication here',
  'by second_step': 'completes one of the others',
};

const lib = new URL('../../lib/', import.meta.url);
let hasNewTerms = false;
const people = new Map<string, string>();
const store = {
  get: (id: string, done: (error: null, data: never) => void) =>
    done(null, (people.has(id) ? { user: people.get(id), cookie: {} } : null) as never),
  destroy: (id: string, done: () => void) => {
    people.delete(id);
    done();
  },
};

function plugins(link: boolean) {
  const until = new Date(Date.now() + 86_400_000);
  return [
    // With a domain, only this option can remember the browsers of sign-ups.
    password(link ? { verifyEmailBy: 'link' } : { unknownBrowser: 'code' }),
    apiKeys(),
    emailSignIn(),
    movingIn({
      bridges: [
        expressSession({
          store: store as never,
          secret: OLD,
          userId: (data) => (data as { user?: string }).user,
        }),
        jwtSessions({ keys: OLD, algorithms: ['HS256'], userId: ({ sub }) => sub, until }),
      ],
    }),
  ] as const;
}

let app: App;
const mails = mailbox();
let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
  stop = undefined;
});
const start = async ({ config }: Way, link = config.session?.cookie?.domain === undefined) => {
  people.clear();
  hasNewTerms = false;
  app = await startApp<Plugins>({
    plugins: plugins(link),
    config: { email: { send: mails.send }, ...config } as never,
  });
  stop = app.stop;
};

/** The cookies that a response sets, as a browser sends them back. */
function cookiesOf(response: request.Response, prefix = ''): string {
  const lines = (response.headers['set-cookie'] ?? []) as unknown as string[];
  const pairs = lines.map((line) => line.split(';')[0] ?? '').filter((pair) => !pair.endsWith('='));
  return pairs.filter((pair) => pair.startsWith(prefix)).join('; ');
}

function signIn(given: App, { email: credential, password } = ada) {
  return given.http.post('/auth/signin/credential').send({ credential, password }).expect(200);
}

/** Signs up, as a stranger does with Ada's address. @returns the headers by which the browser of the sign-up is known */
async function signUp({ device = {} }: Way): Promise<{ id: string; key: string; headers: Headers }> {
  const answer = await app.http.post('/auth/signup/credential').set(device).send(ada).expect(201);
  const { id } = (await app.auth.users.find({ email: ada.email }))!;
  people.set(`${SID}-${id}`, id);
  const { key } = await app.auth.apiKeys.create(id, { name: 'of the stranger' });
  const headers: Headers = device['latchkey-device']
    ? { 'latchkey-device': answer.body.device_token }
    : { cookie: cookiesOf(answer) };
  return { id, key, headers };
}

/** Signs up, and forgets the browser of the sign-up. @returns the headers by which the session arrives, and no other ones */
async function inSession(way: Way) {
  const { id, key } = await signUp(way);
  await app.auth.models.RecentBrowser.destroy({ where: {} });
  const { cookie: name } = internalsOf(app.auth as never).core.settings;
  const headers = way.session
    ? await way.session(app, id)
    : { cookie: cookiesOf(await signIn(app), `${name.name}=`) };
  await app.http
    .get('/auth/me')
    .set(headers)
    .expect(({ status }) => [200, 403].includes(status));
  return { id, key, headers };
}

/** Chooses a new password with an emailed link. @returns whether the stranger's API key has survived it */
async function resets(key: string, headers: Headers): Promise<boolean> {
  const { token } = await mails.mailOf(ada.email, 'reset-password', () =>
    app.http.post('/auth/passwords/request-reset').set(headers).send({ email: ada.email }).expect(202),
  );
  const body = { token, new_password: 'the password of the owner' };
  await app.http.post('/auth/passwords/reset').set(headers).send(body).expect(204);
  const { status } = await app.http.get('/auth/me').set('x-service-api-key', key);
  return status === 200;
}

const both = (headers: Headers, pending: string): Headers => ({
  ...headers,
  cookie: [headers.cookie, pending].filter(Boolean).join('; '),
});

/** Signs in with an emailed code. @returns whether the stranger's password has survived it */
async function signsInByCode(headers: Headers): Promise<boolean> {
  let pending = '';
  const { code } = await mails.mailOf(ada.email, 'sign-in-code', async () => {
    const asked = app.http.post('/auth/signin/email').set(headers).send({ email: ada.email });
    pending = cookiesOf(await asked.expect(202));
  });
  const confirmed = app.http.post('/auth/signin/email/confirm').set(both(headers, pending)).send({ code });
  return (await confirmed.expect(200)).body.password_removed === undefined;
}

describe.each(WAYS.map((way) => [way.name, way] as const))('%s', (_name, way) => {
  const says = (counts: boolean) => (counts ? 'counts' : 'does not count');

  test(`${says(way.isOwn)} as the own browser when the password is reset`, async () => {
    await start(way);
    const { key, headers } = await inSession(way);
    expect(await resets(key, headers)).toBe(way.isOwn);
  });

  test(`${says(way.isOwn)} as the own browser of a sign-in by code`, async () => {
    await start(way);
    expect(await signsInByCode((await inSession(way)).headers)).toBe(way.isOwn);
  });

  test(`${way.isOwn ? 'verifies' : 'does not verify'} the address without the password`, async () => {
    await start(way);
    const { id, key, headers } = await inSession(way);
    const { token } = await mails.mailOf(ada.email, 'verify-email', () =>
      app.auth.credential.sendVerification({ userId: id }),
    );
    const verify = (more: object = {}) =>
      app.http
        .post('/auth/verify-email')
        .set(headers)
        .send({ token, ...more });
    const code = app.auth.credential.verifyEmail({ token, sessionUserId: id, request: { headers } });
    if (way.isOwn) await code;
    else {
      await expect(code).rejects.toMatchObject({ code: 'unauthenticated' });
      expectProblem(await verify(), 401, 'unauthenticated');
      // The next step leads out, and removes nothing.
      await verify({ password: ada.password }).expect(200);
    }
    await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
  });

  test(`the browser of the sign-up ${says(way.isOfThisHost)}`, async () => {
    await start(way);
    const { key, headers } = await signUp(way);
    expect(await resets(key, headers)).toBe(way.isOfThisHost);
  });

  test('the device cookie has no domain, and the prefix if it is Secure', async () => {
    await start(way);
    await signUp(way);
    const lines = ((await signIn(app)).headers['set-cookie'] ?? []) as unknown as string[];
    const device = lines.find((line) => /^[^=]*-device=/.test(line)) ?? '';
    expect(device).toMatch(/; Path=\/;/);
    expect(device).not.toMatch(/; Domain=/);
    const isSecure = way.config.baseUrl?.startsWith('https:') ?? false;
    expect(device.startsWith('__Host-')).toBe(isSecure);
    expect(/; Secure/.test(device)).toBe(isSecure);
  });
});

describe('a change of the email', () => {
  const confirm = async (way: Way) => {
    await start(way);
    const { headers, id } = await inSession(way);
    await app.auth.models.Session.update({ authenticatedAt: new Date() }, { where: { userId: id } });
    const { token } = await mails.mailOf('new@example.com', 'verify-new-email', () =>
      app.http.post('/auth/email-changes').set(headers).send({ new_email: 'new@example.com' }).expect(202),
    );
    const send = (more: object = {}) =>
      app.http
        .post('/auth/email-changes/confirm')
        .set(headers)
        .send({ token, ...more });
    return send;
  };

  test.each(['a cookie with a domain', 'a cookie with a path'])(
    'is not confirmed by a session that a sibling host can have planted: %s',
    async (name) => {
      const send = await confirm(wayOf(name));
      expectProblem(await send(), 401, 'unauthenticated');
      await send({ password: ada.password }).expect(200);
    },
  );

  test('of an account with a second factor goes on with the session, after the password', async () => {
    const way = wayOf('a cookie with a domain');
    await start(way);
    const { headers, id } = await inSession(way);
    await app.auth.models.Session.update({ authenticatedAt: new Date(), aal: 2 }, { where: { userId: id } });
    const { token } = await mails.mailOf('new@example.com', 'verify-new-email', () =>
      app.http.post('/auth/email-changes').set(headers).send({ new_email: 'new@example.com' }).expect(202),
    );
    const body = { token, password: ada.password };
    const done = await app.http.post('/auth/email-changes/confirm').set(headers).send(body).expect(200);
    expect(done.body.session).toBeDefined();
  });

  test.each([
    'a cookie with a domain, in a browser in which the user has',
    'the cookie __Host-',
    'plain http',
  ])('is confirmed by the session with %s', async (name) => {
    await (await confirm(wayOf(name)))().expect(200);
  });
});

test('a session that was taken over does not count either once the bridge is gone', async () => {
  const way = wayOf('a session that was taken over');
  await start(way);
  const { id, headers } = await inSession(way);
  const { token } = await mails.mailOf(ada.email, 'verify-email', () =>
    app.auth.credential.sendVerification({ userId: id }),
  );
  const auth = createAuth({
    ...https,
    database: app.database.url,
    secret: SECRET,
    email: { send: () => {} },
    plugins: [password()],
  });
  const verified = auth.credential.verifyEmail({ token, sessionUserId: id, request: { headers } });
  await expect(verified).rejects.toMatchObject({ code: 'unauthenticated' });
  await auth.close();
});

describe('the device of a browser whose cookie had another name before', () => {
  test('is a new one, and the sign-in works', async () => {
    await start(wayOf('a cookie with a domain'));
    await signUp(wayOf('a cookie with a domain'));
    const device = cookiesOf(await signIn(app), '__Host-latchkey-device').replace('__Host-', '__Secure-');
    const { email: credential, password } = ada;
    const answer = await app.http
      .post('/auth/signin/credential')
      .set('cookie', device)
      .send({ credential, password })
      .expect(200);
    expect(cookiesOf(answer, '__Host-latchkey-device')).toMatch(/=lkd_/);
  });
});

describe('a new way for a session to arrive has a row', () => {
  const rows = new Set([...WAYS.flatMap(({ about }) => about), ...Object.keys(NO_ROW)]);
  const withoutRow = (prefix: string, names: readonly string[]) =>
    names.map((name) => `${prefix}${name}`).filter((name) => !rows.has(name));

  test('for each option of the cookie', () => {
    const { shape } = cookieSchema as unknown as { shape: object };
    expect(Object.keys(shape).length).toBeGreaterThan(5);
    expect(withoutRow('cookie.', Object.keys(shape))).toEqual([]);
  });

  test('for each kind of credential', async () => {
    const auth = createAuth({
      ...https,
      database: 'sqlite::memory:',
      secret: SECRET,
      bearerEnabled: true,
      email: { send: () => {} },
      plugins: [...everyPlugin({ sendsEmails: true }), fixedProvider()],
    });
    const vias = internalsOf(auth).core.carriers.map(({ via }) => via);
    expect(vias).toContain('api-key');
    expect(withoutRow('via ', vias)).toEqual([]);
    await auth.close();
  });

  test('for each method that begins one', () => {
    const type = /export type SignInMethod =([^;]*);/.exec(read('telemetry.ts'))?.[1] ?? '';
    const methods = [...type.matchAll(/\| '(\w+)'/g)].map(([, method]) => method ?? '');
    expect(methods).toContain('previous_system');
    expect(withoutRow('by ', methods)).toEqual([]);
  });
});

/** What decides, or could decide, about these notions, and where. */
const DECIDE: readonly (readonly [what: string, pattern: RegExp, files: Readonly<Record<string, string>>])[] =
  [
    [
      'where a cookie can come from',
      /isOfThisHost\(|isOnlyOurs\(|cookie\??\.(domain|path)\b|\bdomain\b[^;\n]*\} = [^;\n]*cookie|['"`]__(Host|Secure)-/i,
      {
        'config/session.ts': 'decides it',
        'sessions/devices.ts': 'asks about the device cookie',
        'sessions/own-browser.ts': 'asks about the session cookie',
        'sessions/carriers.ts': 'names the options in a line of the log',
        'pages/site.ts': 'asks about the device cookie, so that the page has the field for the password',
        'plugins/oauth/flows.ts': 'names a cookie that is always of this host, and decides nothing',
        'plugins/credential-password/options.ts': 'rejects options that exclude each other',
        'cli/checks/settings.ts': 'warns the operator',
        'moving-in/systems/bridge-options.ts': 'names the cookies of previous systems',
      },
    ],
    [
      'whose browser it is',
      /\b(ownBrowser|hasSignedUp|OwnBrowser)\b/,
      {
        'sessions/own-browser.ts': 'decides it for sessions',
        'sessions/devices.ts': 'decides it for the browsers of sign-ups',
        'core/core.ts': 'creates the part',
        'verification/email-verification.ts': 'verifies by a click',
        'plugins/credential-password/password-reset.ts': 'asks about the browser of the sign-up',
        'plugins/credential-password/routes.ts': 'asks for verifications and resets',
        'routes/account.ts': 'asks for changes of the email',
        'plugins/credential-password/api.ts': 'asks for verifications and resets by code',
        'plugins/email-sign-in/confirmation.ts': 'asks for sign-ins by code and link',
        'pages/entrance/emails.ts': 'asks, so that the page has the field for the password',
      },
    ],
    [
      'whose session a request without a guard presents',
      /\b(sessionOf|usableSession)\(/,
      {
        'core/core.ts': 'leaves out sessions with open tasks; names the user who asks for an email',
        'sessions/carriers.ts': 'finds the session',
        'sessions/own-browser.ts': 'decides whether it counts',
        'http/own-sign-in.ts': 'ends it',
        'pages/serve.ts': 'binds a value that is shown once to it',
        'routes/account.ts': 'asks for a new email whether it counts; clears the cookie after an undo',
        'plugins/oauth/complete-flow.ts': 'compares it with the session that began the flow',
        'http/ask-human.ts': 'leaves out the human check for requests about its own account',
        'plugins/credential-password/routes.ts': 'asks for the code of a session whether it counts',
      },
    ],
  ];

const decidesIn = (source: string, pattern: RegExp) => pattern.test(source);

describe.each(DECIDE)('%s', (_what, pattern, known) => {
  test('is decided only where this list says', () => {
    const files = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((one) =>
      one.endsWith('.ts'),
    );
    const found = files.filter((file) => decidesIn(read(file), pattern)).sort();
    expect(found).toEqual(Object.keys(known).sort());
  });
});

test.each([
  ['settings.cookie.domain === undefined', 0],
  ['const { domain } = core.settings.cookie;', 0],
  ["name.startsWith('__Host-')", 0],
  ['isOfThisHost(cookie)', 0],
  ['isOnlyOurs(cookie, baseUrl, host)', 0],
  ['await core.devices.hasSignedUp(id)', 1],
  ['(await core.usableSession(req))?.user.id', 2],
  ['await sessionOf(core.carriers, req)', 2],
])('these lists notice %s', (source, index) => {
  expect(decidesIn(source, DECIDE[index]![1])).toBe(true);
});

function read(path: string): string {
  return readFileSync(new URL(path, lib), 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}
