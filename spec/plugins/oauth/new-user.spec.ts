import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type AuthConfig, AuthError } from '../../../lib/index.js';
import { github, oauth2, oidc } from '../../../lib/providers.js';
import { ada } from '../../support/app.js';
import { rows } from '../../support/database.js';
import { proveMailbox } from '../../support/email-proof.js';
import { type LyingProvider, startLyingProvider } from '../../support/lying-provider.js';
import {
  countRows,
  linkWith,
  type OAuthApp,
  oidcPlugin,
  signInWith,
  startOAuthApp,
} from '../../support/oauth-app.js';
import { CLIENT } from '../../support/oidc.js';
import { overdue } from '../../support/timers.js';

type Hooks = NonNullable<AuthConfig['hooks']>;

const fields = {
  name: { type: 'string', maxLength: 10, required: true },
  plan: { type: 'string', enum: ['free', 'pro'], default: 'free', input: 'none' },
  bornAt: { type: 'date' },
  age: { type: 'integer' },
} as const;
const NOBODY = { users: 0, accounts: 0, sessions: 0 };

let provider: LyingProvider;
beforeAll(async () => {
  provider = await startLyingProvider();
});
afterAll(() => provider.stop());

let app: OAuthApp;
let hooks: Hooks = {};
afterEach(async () => {
  provider.lies = {};
  hooks = {};
  await rows(app.database, 'DELETE FROM users');
});

const signIn = async (id = 'oidc') => {
  const browser = app.browser();
  const { headers } = await signInWith(browser, id);
  return { browser, location: headers.location };
};
const meOf = async ({ browser }: Awaited<ReturnType<typeof signIn>>) =>
  (await browser.get('/auth/me').expect(200)).body.user;

describe('fields of a provider', () => {
  beforeAll(async () => {
    app = await startOAuthApp({
      providers: () => [
        oidcPlugin(provider, {
          fields: ({ name, plan, birthdate, age }) => ({ name, plan, bornAt: birthdate, age, role: 'admin' }),
        }),
        oidcPlugin(provider, { id: 'alias', profile: ({ nickname }) => ({ name: nickname }) }),
        oidcPlugin(provider, { id: 'none' }),
        oidcPlugin(provider, { id: 'later', fields: async ({ name }) => ({ name }) }),
        oidcPlugin(provider, { id: 'wrong', fields: ((claims: { a: { b: 1 } }) => claims.a.b) as never }),
        oidcPlugin(provider, { id: 'list', fields: (() => ['name']) as never }),
        oidcPlugin(provider, {
          id: 'refuses',
          fields() {
            throw new AuthError('sign_up_refused');
          },
        }),
        oidcPlugin(provider, { id: 'hangs', fields: (() => overdue(2000)) as never }),
        oidcPlugin(provider, {
          id: 'writes',
          fields(claims) {
            Object.assign(claims.address as object, { country: 'XX' });
            return { name: 'Ada' };
          },
        }),
        oauth2({
          id: 'plain',
          ...CLIENT,
          authorizationUrl: `${provider.issuer}/authorize`,
          tokenUrl: `${provider.issuer}/token`,
          userinfoUrl: `${provider.issuer}/userinfo`,
          issuer: provider.issuer,
          profile: ({ sub, email }) => ({ subject: sub, email, emailIsProof: true }),
          fields: ({ display_name }) => ({ name: display_name }),
        }),
      ],
      config: { user: { fields } },
    });
  });
  afterAll(() => app.stop());

  test('become fields of the new user, those with input: none too', async () => {
    const bornAt = '1815-12-10T00:00:00.000Z';
    provider.lies = { claims: { name: 'Ada', plan: 'pro', birthdate: bornAt, age: 36 } };
    const me = await meOf(await signIn());
    expect(me).toMatchObject({ name: 'Ada', plan: 'pro', born_at: bornAt, age: 36 });
    expect(me).not.toHaveProperty('role');
  });

  test('are read from userinfo too, and may have another name or come later', async () => {
    provider.lies = { userinfo: { nickname: 'Countess', name: 'Augusta' } };
    expect(await meOf(await signIn('alias'))).toMatchObject({ name: 'Countess', plan: 'free' });
    await rows(app.database, 'DELETE FROM users');
    expect(await meOf(await signIn('later'))).toMatchObject({ name: 'Augusta' });
  });

  test('of oauth2() stand beside its profile', async () => {
    provider.lies = { userinfo: { display_name: 'Ada' } };
    expect(await meOf(await signIn('plain'))).toMatchObject({ name: 'Ada', email: ada.email });
  });

  test('that break a rule are left out', async () => {
    provider.lies = {
      claims: { name: 'Ada', plan: 'gold', birthdate: '1815-12-10', age: '36' },
    };
    expect(await meOf(await signIn())).toMatchObject({ name: 'Ada', plan: 'free', born_at: null, age: null });
    await rows(app.database, 'DELETE FROM users');
    provider.lies = { claims: { name: 'Ada', plan: null, birthdate: null, age: 36.5 } };
    expect(await meOf(await signIn())).toMatchObject({ plan: 'free', born_at: null, age: null });
  });

  test.each([
    ['is missing', 'oidc', {}],
    ['is null', 'oidc', { name: null }],
    ['is too long', 'oidc', { name: 'Ada Lovelace' }],
    ['has another type', 'oidc', { name: { first: 'Ada' } }],
    ['has a NUL', 'oidc', { name: 'A\0da' }],
    ['is given to a provider without the option', 'none', { name: 'Ada' }],
    ['is not in the result, which is a list', 'list', { name: 'Ada' }],
  ])('end the flow with sign_up_incomplete if a required one %s', async (_what, id, claims) => {
    provider.lies = { claims };
    const { browser, location } = await signIn(id);
    expect(location).toBe('/done?error=sign_up_incomplete');
    await browser.get('/auth/me').expect(401);
    expect(await countRows(app.database)).toEqual(NOBODY);
    expect(app.log.join('\n')).toMatch(/provider \w+: a new user was refused, .*: name/);
  });

  test.each([
    ['throws', 'wrong', 'provider_error'],
    ['never returns', 'hangs', 'provider_error'],
    ['throws an AuthError', 'refuses', 'sign_up_refused'],
    ['writes to the claims', 'writes', 'provider_error'],
  ])('end the flow if the function %s', async (_what, id, code) => {
    provider.lies = { claims: { name: 'Ada', address: { country: 'GB' } } };
    expect((await signIn(id)).location).toBe(`/done?error=${code}`);
    expect(await countRows(app.database)).toEqual(NOBODY);
  });

  test('do not change a user who signs in again, nor one who links', async () => {
    provider.lies = { claims: { name: 'Ada' } };
    await signIn();
    provider.lies = { claims: { name: 'Eve' } };
    expect(await meOf(await signIn())).toMatchObject({ name: 'Ada' });
    // Without what a new user would need.
    provider.lies = {};
    expect((await signIn()).location).toBe('/done');
    await rows(app.database, 'DELETE FROM users');
    const body = { email: 'grace@example.com', password: ada.password };
    const browser = app.browser();
    await browser
      .post('/auth/signup/credential')
      .send({ ...body, name: 'Grace' })
      .expect(201);
    await browser
      .post('/auth/signin/credential')
      .send({ ...body, email: undefined, credential: body.email })
      .expect(200);
    provider.lies = { claims: { name: 'Eve' } };
    expect((await linkWith(browser, 'oidc')).headers.location).toBe('/linked');
    expect((await browser.get('/auth/me')).body.user.name).toBe('Grace');
  });

  test.each([
    [
      () => oidc({ id: 'x', issuer: 'https://x.example', ...CLIENT, fields: 'name' as never }),
      /fields must be a function/,
    ],
    [() => github({ ...CLIENT, profile: {} as never }), /profile must be a function/],
    [
      () => github({ ...CLIENT, fields: () => ({}), profile: () => ({}) }),
      /fields and profile are the same option: use one of them/,
    ],
  ])('the options are checked: %s', (make, message) => {
    expect(make).toThrow(message);
  });
});

describe('hooks and new users of providers', () => {
  const told: unknown[] = [];
  beforeAll(async () => {
    app = await startOAuthApp({
      providers: () => [oidcPlugin(provider)],
      options: { linkByVerifiedEmail: true },
      config: {
        hooks: {
          beforeCreateUser(user, context) {
            told.push(user);
            return hooks.beforeCreateUser?.(user, context);
          },
          afterCreateUser: (user, context) => hooks.afterCreateUser?.(user, context),
        },
      },
    });
  });
  afterEach(() => void told.splice(0));
  afterAll(() => app.stop());

  test('beforeCreateUser is told of the provider and its claims, which it cannot change', async () => {
    provider.lies = { claims: { groups: ['staff'] }, userinfo: { locale: 'en' } };
    await signIn();
    expect(told).toEqual([
      {
        email: ada.email,
        username: null,
        usernameDisplay: null,
        fields: {},
        via: 'oauth',
        provider: 'oidc',
        claims: expect.objectContaining({
          sub: 'ada',
          groups: ['staff'],
          locale: 'en',
          iss: provider.issuer,
        }),
      },
    ]);
    const [{ claims }] = told as [{ claims: { groups: string[] } }];
    expect(() => claims.groups.push('root')).toThrow('not extensible');
    expect(() => Object.assign(claims, { sub: 'eve' })).toThrow('read only');
    expect(JSON.stringify(claims)).not.toMatch(/provider-(access|refresh)/);
    // The second sign-in makes nobody.
    await signIn();
    expect(told).toHaveLength(1);
  });

  test('what it refuses ends the flow, and nothing is made', async () => {
    hooks = {
      beforeCreateUser({ claims }) {
        if (!(claims?.groups as string[] | undefined)?.includes('staff'))
          throw new AuthError('sign_up_refused', { detail: 'Staff only.' });
      },
    };
    const failures: unknown[] = [];
    const off = app.auth.on('sign_in.failed', (event) => failures.push(event));
    const { browser, location } = await signIn();
    expect(location).toBe('/done?error=sign_up_refused');
    await browser.get('/auth/me').expect(401);
    expect(await countRows(app.database)).toEqual(NOBODY);
    expect(failures).toMatchObject([{ userId: null, provider: 'oidc' }]);
    off();
    provider.lies = { claims: { groups: ['staff'] } };
    expect((await signIn()).location).toBe('/done');
  });

  test('what afterCreateUser throws undoes the account and its link', async () => {
    hooks = {
      afterCreateUser() {
        throw new Error('a bug of the app');
      },
    };
    const browser = app.browser();
    expect((await signInWith(browser, 'oidc')).status).toBe(500);
    expect(await countRows(app.database)).toEqual(NOBODY);
    hooks = {};
    expect((await signIn()).location).toBe('/done');
  });

  test('a link by verified email makes nobody', async () => {
    const { user } = (await app.auth.credential.signUp(ada)) as { user: { id: string } };
    told.splice(0);
    await proveMailbox(app.auth, user.id);
    hooks = {
      beforeCreateUser() {
        throw new AuthError('sign_up_refused');
      },
    };
    const signed = await signIn();
    expect(signed.location).toBe('/done');
    expect((await meOf(signed)).id).toBe(user.id);
    expect(told).toEqual([]);
  });

  test('sixteen first sign-ins of one person make one user', async () => {
    let runs = 0;
    hooks = { beforeCreateUser: () => void runs++ };
    const answers = await Promise.all(Array.from({ length: 16 }, () => signIn()));
    expect(new Set(answers.map(({ location }) => location))).toEqual(new Set(['/done']));
    expect(await countRows(app.database)).toMatchObject({ users: 1, accounts: 1 });
    expect(runs).toBeGreaterThanOrEqual(1);
  });
});

describe("signUp: 'closed'", () => {
  beforeAll(async () => {
    app = await startOAuthApp({
      providers: () => [
        oidcPlugin(provider, {
          fields() {
            throw new Error('asked for the fields of nobody');
          },
        }),
      ],
      config: { signUp: 'closed' },
    });
  });
  afterAll(() => app.stop());

  test('refuses new users of a provider, and lets those with an account sign in', async () => {
    expect((await signIn()).location).toBe('/done?error=sign_up_refused');
    expect(await countRows(app.database)).toEqual(NOBODY);
    await app.auth.credential.signUp(ada);
    const browser = app.browser();
    await browser
      .post('/auth/signin/credential')
      .send({ credential: ada.email, password: ada.password })
      .expect(200);
    provider.lies = { claims: { email: 'other@example.com' } };
    expect((await linkWith(browser, 'oidc')).headers.location).toBe('/linked');
    expect((await signIn()).location).toBe('/done');
    expect(await countRows(app.database)).toMatchObject({ users: 1, accounts: 1 });
  });
});
