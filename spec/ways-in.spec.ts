import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Response } from 'supertest';
import { type AuthWith, internalsOf } from '../lib/auth.js';
import { passwordsOf } from '../lib/core/passwords.js';
import { admin, apiKeys, auditLog, oauth, suspension } from '../lib/index.js';
import { ada, password, signedIn } from './support/app.js';
import { rows } from './support/database.js';
import { startLyingProvider } from './support/lying-provider.js';
import { mailbox } from './support/mailbox.js';
import { mailedLink } from './support/mailed-link.js';
import {
  begin,
  linkWith,
  type OAuthApp,
  oidcPlugin,
  signInWith,
  startOAuthApp,
} from './support/oauth-app.js';
import { visitProvider } from './support/oidc.js';

/**
 * Every way in, and what each says of a suspended account: nothing before the proof, 403 after it, and nothing is used up
 * or changed. The list of ways is checked against the routes and operations there are, so that a new one needs a row.
 */
const provider = await startLyingProvider();
const plugins = [
  password({ username: true }),
  oauth({ linkByVerifiedEmail: true }),
  oidcPlugin(provider),
  admin({ adminEmails: ['root@example.com'] }),
  apiKeys(),
  auditLog(),
  suspension(),
  mailedLink(),
] as const;

const mail = mailbox();
let app: OAuthApp & { readonly auth: AuthWith<typeof plugins> };
beforeAll(async () => {
  const config = { plugins, bearerEnabled: true, email: { send: mail.send } };
  app = (await startOAuthApp({ providers: () => [], config: config as never })) as never;
});
afterAll(async () => {
  await app.stop();
  await provider.stop();
});

type Person = Awaited<ReturnType<typeof newPerson>>;
let people = 0;
async function newPerson() {
  const name = `person${people++}`;
  const account = { email: `${name}@example.com`, password: ada.password };
  const browser = await signedIn(app, account);
  const { user, session } = (await browser.get('/auth/me').expect(200)).body;
  await rows(app.database, 'UPDATE users SET username = :name WHERE id = :id', { name, id: user.id });
  return { ...account, username: name, id: user.id as string, sessionId: session.id as string, browser };
}

/** `ok`, or the code of the problem. */
type Outcome = Promise<string>;

interface Attempts {
  /** An attempt without the proof, and what it is told whether or not the account is suspended. */
  readonly wrong?: readonly [attempt: () => Outcome, code: string];
  /** An attempt with the proof, which succeeds while the account is not suspended. */
  readonly right: () => Outcome;
  /** What both are told after a suspension, if it ends the way for good, as it ends all sessions. */
  readonly ended?: string;
}

/** A way in: what is prepared before the suspension. */
type Way = (person: Person) => Promise<Attempts>;

/** What opens nothing: it needs a live session of the account, or acts on the app's word, or on no account. */
const NOTHING: readonly Way[] = [];

async function answered(answer: PromiseLike<Response>): Outcome {
  const { status, body, headers } = await answer;
  if (status === 303) return new URL(headers.location ?? '', app.origin).searchParams.get('error') ?? 'ok';
  return status < 300 ? 'ok' : body.code;
}

function called(call: Promise<unknown>): Outcome {
  return call.then(
    () => 'ok',
    (error) => error.code ?? String(error),
  );
}

const WRONG = 'not the password at all';
const NEW = 'a difference engine';
const post = (path: string, body: object) => answered(app.http.post(`/auth${path}`).send(body));
const claim = ({ id, email }: Person) => {
  provider.lies.claims = { sub: id, email, email_verified: true };
};
const mailedTo = async ({ email, browser }: Person, kind: string, path: string) =>
  (await mail.mailOf(email, kind, () => browser.post(`/auth${path}`).send({ email }).expect(202))).token;
const resetToken = (person: Person) => mailedTo(person, 'reset-password', '/passwords/request-reset');
const verificationToken = async ({ email, id }: Person) =>
  (await mail.mailOf(email, 'verify-email', () => app.auth.credential.sendVerification({ userId: id })))
    .token;

const byPassword =
  (credential: 'email' | 'username'): Way =>
  async (person) => {
    const attempt = (typed: string) =>
      post('/signin/credential', { credential: person[credential], password: typed });
    return { wrong: [() => attempt(WRONG), 'invalid_credentials'], right: () => attempt(person.password) };
  };

const byForm: Way = async (person) => {
  const attempt = (typed: string) =>
    answered(
      app.http
        .post('/auth/signin/credential')
        .type('form')
        .send({ credential: person.email, password: typed, error_to: '/sign-in' }),
    );
  return { wrong: [() => attempt(WRONG), 'invalid_credentials'], right: () => attempt(person.password) };
};

const byReset: Way = async (person) => {
  const token = await resetToken(person);
  const attempt = (sent: string) => post('/passwords/reset', { token: sent, new_password: NEW });
  return { wrong: [() => attempt('x'), 'invalid_token'], right: () => attempt(token) };
};

const byInvitation: Way = async ({ email, id }) => {
  await rows(app.database, 'UPDATE users SET password_hash = NULL WHERE id = :id', { id });
  const user = await app.auth.admin.getUser(id);
  const { token } = await mail.mailOf(email, 'invitation', async () =>
    passwordsOf(internalsOf(app.auth).core)?.links?.invite(user),
  );
  return { right: () => post('/passwords/reset', { token, new_password: NEW }) };
};

const byVerification: Way = async (person) => {
  const token = await verificationToken(person);
  const attempt = (typed: string) => post('/verify-email', { token, password: typed });
  return { wrong: [() => attempt(WRONG), 'invalid_credentials'], right: () => attempt(person.password) };
};

const byNewEmail: Way = async (person) => {
  const new_email = `new.${person.email}`;
  const { token } = await mail.mailOf(new_email, 'verify-new-email', () =>
    person.browser.post('/auth/email-changes').send({ new_email }).expect(202),
  );
  const attempt = (typed: string) => post('/email-changes/confirm', { token, password: typed });
  const wrong = [() => attempt(WRONG), 'invalid_credentials'] as const;
  return { wrong, right: () => attempt(person.password), ended: 'invalid_token' };
};

const byLink: Way = async (person) => {
  const token = await mailedTo(person, 'sign-in-link', '/signin/link/request');
  return { right: () => post('/signin/link', { token }) };
};

const linked = async (person: Person) => {
  claim(person);
  await linkWith(person.browser, 'oidc');
};

const byProvider: Way = async (person) => {
  await linked(person);
  return {
    right: () => {
      claim(person);
      return answered(signInWith(app.browser(), 'oidc'));
    },
  };
};

const byProvidersEmail: Way = async (person) => {
  await app.auth.markEmailVerified(person.id);
  return {
    right: () => {
      claim(person);
      return answered(signInWith(app.browser(), 'oidc'));
    },
  };
};

const byFormPost: Way = async (person) => {
  await linked(person);
  return {
    async right() {
      claim(person);
      const browser = app.browser();
      const url = new URL(await visitProvider(await begin(browser, '/auth/oauth/oidc/authorize')));
      return answered(browser.post(url.pathname).type('form').send(Object.fromEntries(url.searchParams)));
    },
  };
};

/** The routes that anybody may call. Those that need a session are walked through below. */
const PUBLIC_ROUTES: Readonly<Record<string, readonly Way[]>> = {
  'POST /signin/credential': [byPassword('email'), byPassword('username'), byForm],
  'POST /passwords/reset': [byReset, byInvitation],
  'POST /verify-email': [byVerification],
  'POST /email-changes/confirm': [byNewEmail],
  'GET /oauth/:provider/callback': [byProvider, byProvidersEmail],
  'POST /oauth/:provider/callback': [byFormPost],
  'POST /signin/link': [byLink],
  'POST /signup/credential': NOTHING,
  'POST /usernames/check': NOTHING,
  'POST /passwords/request-reset': NOTHING,
  'GET /oauth/:provider/authorize': NOTHING,
  'POST /signin/link/request': NOTHING,
  'GET /openapi.json': NOTHING,
};

const byCode =
  (attempt: (person: Person, password: string) => Promise<unknown>): Way =>
  async (person) => ({
    wrong: [() => called(attempt(person, WRONG)), 'invalid_credentials'],
    right: () => called(attempt(person, person.password)),
  });

const onTheAppsWord =
  (call: (person: Person) => Promise<unknown>): Way =>
  async (person) => ({ right: () => called(call(person)) });

const byKey =
  (call: 'getSession' | 'authenticate'): Way =>
  async ({ id }) => {
    const { key } = await app.auth.apiKeys.create(id, { name: 'program' });
    const attempt = (sent: string) => called(app.auth[call]({ headers: { 'x-service-api-key': sent } }));
    return {
      wrong: [() => attempt(`${key.slice(0, -1)}${key.endsWith('x') ? 'y' : 'x'}`), 'invalid_api_key'],
      right: () => attempt(key),
    };
  };

const OPERATIONS: Readonly<Record<string, readonly Way[]>> = {
  getSession: [byKey('getSession')],
  authenticate: [byKey('authenticate')],
  createSession: [onTheAppsWord(({ id }) => app.auth.createSession(id))],
  'apiKeys.create': [onTheAppsWord(({ id }) => app.auth.apiKeys.create(id, { name: 'program' }))],
  'credential.signIn': [
    byCode(({ email }, typed) => app.auth.credential.signIn({ credential: email, password: typed })),
  ],
  'credential.changePassword': [
    byCode(({ id }, typed) =>
      app.auth.credential.changePassword({ userId: id, currentPassword: typed, newPassword: NEW }),
    ),
  ],
  'credential.reauthenticate': [
    byCode(({ id, sessionId }, typed) =>
      app.auth.credential.reauthenticate({ userId: id, sessionId, password: typed }),
    ),
  ],
  'credential.setPassword': [
    async ({ id }) => {
      await rows(app.database, 'UPDATE users SET password_hash = NULL WHERE id = :id', { id });
      return { right: () => called(app.auth.credential.setPassword({ userId: id, newPassword: NEW })) };
    },
  ],
  'credential.resetPassword': [
    async (person) => {
      const token = await resetToken(person);
      return { right: () => called(app.auth.credential.resetPassword({ token, newPassword: NEW })) };
    },
  ],
  'credential.verifyEmail': [
    async (person) => {
      const token = await verificationToken(person);
      const attempt = (typed: string) => called(app.auth.credential.verifyEmail({ token, password: typed }));
      return { wrong: [() => attempt(WRONG), 'invalid_credentials'], right: () => attempt(person.password) };
    },
    // The session that the app says belongs to the user.
    async (person) => {
      const token = await verificationToken(person);
      return {
        right: () => called(app.auth.credential.verifyEmail({ token, sessionUserId: person.id })),
      };
    },
  ],
  'oauth.callback': [
    async (person) => {
      await linked(person);
      return {
        async right() {
          claim(person);
          const { url, browser } = await app.auth.oauth.authorizeUrl('oidc');
          const { searchParams } = new URL(await visitProvider(url));
          const { callbackUrl } = await app.auth.oauth.callback({
            provider: 'oidc',
            parameters: searchParams,
            browser,
          });
          return new URL(callbackUrl, app.origin).searchParams.get('error') ?? 'ok';
        },
      };
    },
  ],
  'links.signIn': [
    async (person) => {
      const token = await mailedTo(person, 'sign-in-link', '/signin/link/request');
      return { right: () => called(app.auth.links.signIn(token)) };
    },
  ],
};

/** The operations that are no way in. */
const OTHER_OPERATIONS = `
  listSessions revokeSession revokeAllSessions revokeSessionById establishSession endSession markEmailVerified
  migrate prune rotateSecrets close on openapi
  users.get users.find users.create users.setPassword users.update users.changeEmail users.delete
  credential.signUp credential.usernameAvailable credential.sendVerification credential.requestPasswordReset
  credential.importUsers
  oauth.authorizeUrl oauth.linkUrl oauth.reauthenticateUrl oauth.isPending oauth.accounts oauth.tokens oauth.refresh
  oauth.unlink oauth.keepForm
  apiKeys.list apiKeys.revoke auditLog.listEvents links.request
  admin.isAdministrator admin.listUsers admin.getUser admin.createUser admin.updateUser admin.deleteUser
  admin.sendPasswordReset admin.listUserSessions admin.revokeUserSession admin.revokeUserSessions
  suspension.suspend suspension.reinstate
  auditLog.record auditLog.forget auditLog.prune auditLog.settle suspension.isSuspended
`;

describe('the lists of ways in', () => {
  test('have a row for every route that anybody may call', () => {
    const routes = internalsOf(app.auth).routes.filter(({ access }) => access === 'public');
    const names = routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect(Object.keys(PUBLIC_ROUTES).sort()).toEqual(names.sort());
  });

  test('have a row for every operation', () => {
    const names = Object.entries(app.auth).flatMap(([name, value]) => {
      if (typeof value === 'function') return name;
      if (name === 'models') return [];
      const methods = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(value)));
      return methods
        .filter(([method, { value: it }]) => typeof it === 'function' && method !== 'constructor')
        .map(([method]) => `${name}.${method}`);
    });
    const rowsOf = [...Object.keys(OPERATIONS), ...OTHER_OPERATIONS.trim().split(/\s+/)];
    expect(rowsOf.sort()).toEqual(names.sort());
  });
});

const WAYS = [...Object.entries(PUBLIC_ROUTES), ...Object.entries(OPERATIONS)].flatMap(([name, ways]) =>
  ways.map((way, index) => ({ name: ways.length > 1 ? `${name}, ${index + 1}` : name, way })),
);

describe('a suspended account', () => {
  test.each(WAYS)('$name', async ({ way }) => {
    const person = await newPerson();
    const { wrong, right, ended } = await way(person);
    if (wrong) expect(await wrong[0]()).toBe(wrong[1]);
    await app.auth.suspension.suspend(person.id);
    const before = await attachedTo(person);
    if (wrong) expect(await wrong[0]()).toBe(ended ?? wrong[1]);
    expect(await right()).toBe(ended ?? 'account_suspended');
    expect(await attachedTo(person)).toEqual(before);
    await app.auth.suspension.reinstate(person.id);
    expect(await right()).toBe(ended ?? 'ok');
  });

  test('gets nothing from any route with a session that it had, or with an API key', async () => {
    const person = await newPerson();
    const { key } = await app.auth.apiKeys.create(person.id, { name: 'program' });
    const { token } = await app.auth.credential.signIn({
      credential: person.email,
      password: person.password,
    });
    await app.auth.suspension.suspend(person.id);
    const guarded = internalsOf(app.auth).routes.filter(({ access }) => access !== 'public');
    expect(guarded.length).toBeGreaterThan(20);
    for (const { method, path } of guarded) {
      const url = `/auth${path.replace(':provider', 'oidc').replace(/:\w+/g, person.id)}`;
      const codeWith = async (name: string, value: string) => {
        const { status, body } = await app.http[method](url).set(name, value);
        return [path, status, body.code];
      };
      expect(await codeWith('authorization', `Bearer ${token}`)).toEqual([path, 401, 'invalid_session']);
      expect(await codeWith('x-service-api-key', key)).toEqual([path, 403, 'account_suspended']);
      const cookie = await person.browser[method](url);
      expect([path, cookie.status, cookie.body.code]).toEqual([path, 401, 'invalid_session']);
    }
  });

  test('asks for links, and signs up again, with the same responses as any other', async () => {
    const [open, shut] = [await newPerson(), await newPerson()];
    await app.auth.suspension.suspend(shut.id);
    for (const [path, more] of [
      ['/passwords/request-reset', {}],
      ['/signup/credential', { password: NEW }],
      ['/signin/link/request', {}],
    ] as const) {
      const [one, other] = await Promise.all(
        [open, shut].map(({ email }) => app.http.post(`/auth${path}`).send({ email, ...more })),
      );
      expect([path, other?.status, other?.body]).toEqual([path, one?.status, one?.body]);
    }
  });
});

/** What a refused attempt must not change. */
async function attachedTo({ id }: Person) {
  const of = (table: string, columns: string, key = 'user_id') =>
    rows(app.database, `SELECT ${columns} FROM ${table} WHERE ${key} = :id ORDER BY 1`, { id });
  return {
    users: await of('users', 'id, email_verified_at, password_hash, auth_epoch', 'id'),
    sessions: await of('sessions', 'id'),
    accounts: await of('accounts', 'id, access_token, created_at'),
    keys: await of('api_keys', 'id'),
    tokens: await of('one_time_tokens', 'token_hash'),
    devices: await of('known_devices', '*'),
  };
}
