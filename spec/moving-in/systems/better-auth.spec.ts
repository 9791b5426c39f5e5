import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { authRouter } from '../../../lib/index.js';
import { betterAuthSessions, fromBetterAuth, movingIn } from '../../../lib/moving-in.js';
import { password, type SpecApp, startApp } from '../../support/app.js';
import { BETTER_AUTH_SECRET, startBetterAuth } from '../../support/better-auth.js';
import { CookieJar } from '../../support/cookie-jar.js';
import { dialect, rows } from '../../support/database.js';

// Sessions that better-auth has made, in the same database.
const DAY = 24 * 3_600_000;
let app: SpecApp<readonly [ReturnType<typeof password>, ReturnType<typeof movingIn>]>;
let other: { origin: string; stop(): Promise<void> };
let old: { origin: string; stop(): Promise<void> };
let jar: CookieJar;
let count = 0;
let email: string;

beforeAll(async () => {
  app = (await startApp({
    plugins: ({ sequelize }) => {
      const bridge = betterAuthSessions({ sequelize, secret: ['a newer secret', BETTER_AUTH_SECRET] });
      return [password(), movingIn({ bridges: [bridge] })] as const;
    },
    mount: (express, auth) => void express.use('/auth', authRouter(auth)),
  })) as never;
  old = await startBetterAuth(app.database, { session: { cookieCache: { enabled: true, maxAge: 3600 } } });
});
afterAll(async () => {
  await old.stop();
  await other?.stop();
  await app.stop();
});
beforeEach(() => {
  jar = new CookieJar();
  email = `person${++count}@example.com`;
});

const quoted = (name: string) => (dialect === 'mysql' ? `\`${name}\`` : `"${name}"`);
/** As better-auth stores it. */
const time = (ms: number) => {
  const at = new Date(Date.now() + ms);
  return dialect === 'sqlite' ? at.toISOString() : at;
};
const me = () => jar.visit(`${app.origin}/auth/me`);
const oldSession = (at = old) => jar.visit(`${at.origin}/api/auth/get-session?disableCookieCache=true`);

async function signUp({ rememberMe = true, isVerified = true, at = old } = {}) {
  const headers = { origin: at.origin };
  const body = { email, password: 'an analytical engine', name: 'Ada' };
  const made = await jar.visit(`${at.origin}/api/auth/sign-up/email`, { method: 'POST', body, headers });
  expect(made).toMatchObject({ status: 200, body: { user: { email } } });
  if (!rememberMe) {
    jar = new CookieJar();
    const signIn = { email, password: body.password, rememberMe };
    const seen = await jar.visit(`${at.origin}/api/auth/sign-in/email`, {
      method: 'POST',
      body: signIn,
      headers,
    });
    expect(seen.status).toBe(200);
  }
  if (isVerified)
    await rows(
      app.database,
      `UPDATE ${quoted('user')} SET ${quoted('emailVerified')} = true WHERE email = :email`,
      { email },
    );
  expect((await oldSession(at)).body.user?.email).toBe(email);
}

/** An account that is older than the session. */
async function account(emailVerified = true) {
  const made = await app.auth.users.create({ email, emailVerified });
  await rows(app.database, 'UPDATE users SET created_at = :at WHERE id = :id', {
    at: new Date(Date.now() - DAY),
    id: made.id,
  });
  return made;
}

test('a session of better-auth goes on, until its end, and has ended there', async () => {
  await signUp();
  const { id } = await account();
  const seen = await me();
  expect(seen).toMatchObject({ status: 200, body: { user: { id } } });
  expect(seen.cookies.join()).toMatch(/latchkey=[^;]+; Max-Age=60\d{4};/);
  const [session] = await app.auth.listSessions(id);
  const left = (session?.expiresAt.getTime() ?? 0) - Date.now();
  expect(left).toBeGreaterThan(7 * DAY - 60_000);
  expect(left).toBeLessThanOrEqual(7 * DAY);
  const ended = await rows(
    app.database,
    `SELECT s.token FROM ${quoted('session')} s JOIN ${quoted('user')} u ON u.id = s.${quoted('userId')} WHERE u.email = :email`,
    { email },
  );
  expect(ended).toEqual([]);
  expect((await me()).cookies).toEqual([expect.stringMatching(/^better-auth\.session_token=; /)]);
  expect((await me()).status).toBe(200);
});

test('one that is not to be remembered ends with the browser', async () => {
  await signUp({ rememberMe: false });
  await account();
  const { cookies } = await me();
  expect(cookies).toEqual([expect.stringMatching(/^latchkey=[^;]+; Path=\/; HttpOnly; SameSite=Lax$/)]);
});

describe('an id of better-auth', () => {
  let uuids: { origin: string; stop(): Promise<void> };
  beforeAll(async () => {
    uuids = await startBetterAuth(app.database, {
      advanced: { database: { generateId: () => randomUUID() } },
    });
  });
  afterAll(() => uuids.stop());

  test('that is a UUID leads to the account with it, whatever the emails', async () => {
    await signUp({ isVerified: false, at: uuids });
    const [user] = await rows<{ id: string }>(
      app.database,
      `SELECT id FROM ${quoted('user')} WHERE email = :email`,
      { email },
    );
    const made = await app.auth.users.create({ email: `new.${email}` });
    await rows(app.database, 'UPDATE users SET id = :to WHERE id = :from', { from: made.id, to: user?.id });
    expect((await me()).body.user).toMatchObject({ id: user?.id, email: `new.${email}` });
  });
});

test('users whose emails nobody has verified go on with the accounts that were imported from them', async () => {
  await signUp({ isVerified: false });
  // The passwords here are not hashed, so that the spec is quick.
  async function* people() {
    for await (const { passwordHash: _, ...row } of fromBetterAuth(app.database.sequelize)) yield row;
  }
  const { users } = await app.auth.movingIn.importUsers(people());
  const seen = await me();
  expect(seen).toMatchObject({ status: 200, body: { user: { email } } });
  expect(users.map(({ id }) => id)).toContain(seen.body.user?.id);
});

describe('a session is not taken over', () => {
  test('if better-auth has not verified the email, which may be somebody else’s', async () => {
    await signUp({ isVerified: false });
    await account();
    expect((await me()).status).toBe(401);
    expect((await oldSession()).body.user?.email).toBe(email);
  });

  test('if the account’s email is not verified, since somebody else may have signed up with it', async () => {
    await signUp();
    await account(false);
    expect((await me()).status).toBe(401);
  });

  test('if the account was made after it, since the address may have another owner', async () => {
    await signUp();
    await app.auth.users.create({ email, emailVerified: true });
    expect((await me()).status).toBe(401);
  });

  test('if the account got the address later, since the address may have another owner', async () => {
    await signUp();
    const { id } = await account();
    await app.auth.users.changeEmail(id, `former.${email}`, { verified: true });
    await rows(app.database, 'UPDATE users SET auth_epoch = 0');
    await app.auth.users.changeEmail(id, email, { verified: true });
    expect((await me()).status).toBe(401);
  });

  test('if the account with its email was imported from the row of another user', async () => {
    await signUp();
    const createdAt = new Date(Date.now() - DAY);
    await app.auth.movingIn.importUsers([{ ref: 'another', email, emailVerified: true, createdAt }]);
    expect((await me()).status).toBe(401);
  });

  test('if there is no account', async () => {
    await signUp();
    expect((await me()).status).toBe(401);
    expect((await oldSession()).body.user?.email).toBe(email);
  });

  test('if only the cookie cache knows it', async () => {
    await signUp();
    await account();
    await rows(app.database, `DELETE FROM ${quoted('session')}`);
    expect(jar.cookies.has('better-auth.session_data')).toBe(true);
    expect((await jar.visit(`${old.origin}/api/auth/get-session`)).body.user?.email).toBe(email);
    expect((await me()).status).toBe(401);
  });

  test.each([
    ['an administrator impersonates the user', 'session', 'impersonatedBy', 'an administrator', null],
    ['it has ended', 'session', 'expiresAt', time(-1000), time(DAY)],
    ['the user is banned', 'user', 'banned', true, false],
  ])('if %s', async (_what, table, column, value, otherwise) => {
    await signUp();
    await account();
    const set = (to: unknown) =>
      rows(app.database, `UPDATE ${quoted(table)} SET ${quoted(column)} = :to`, { to });
    await set(value);
    expect((await me()).status).toBe(401);
    await set(otherwise);
    expect((await me()).status).toBe(200);
  });

  test('if the signature is wrong', async () => {
    await signUp();
    await account();
    const token = decodeURIComponent(jar.cookies.get('better-auth.session_token') ?? '');
    const [id = '', signature = ''] = token.split('.');
    const another = signature.startsWith('A') ? 'B' : 'A';
    jar.cookies.set('better-auth.session_token', encodeURIComponent(`${id}.${another}${signature.slice(1)}`));
    expect((await me()).status).toBe(401);
    jar.cookies.set('better-auth.session_token', token.split('.')[0] ?? '');
    expect((await me()).status).toBe(401);
  });
});

test('the cookie with the prefix __Secure- counts where cookies are Secure, and no other', async () => {
  other = await startBetterAuth(app.database, { advanced: { useSecureCookies: true } });
  const { url, sequelize } = app.database;
  const bridges = [betterAuthSessions({ sequelize, secret: BETTER_AUTH_SECRET })];
  const secure = (await startApp({
    plugins: [password(), movingIn({ bridges })],
    config: { database: url, session: { cookie: { secure: true } } },
  })) as never as typeof app;
  try {
    await signUp({ at: other });
    await account();
    const value = jar.cookies.get('__Secure-better-auth.session_token') ?? '';
    const visit = (name: string) =>
      new CookieJar().visit(`${secure.origin}/auth/me`, { headers: { cookie: `${name}=${value}` } });
    expect((await visit('better-auth.session_token')).status).toBe(401);
    expect((await visit('__Secure-better-auth.session_token')).status).toBe(200);
  } finally {
    await secure.stop();
  }
});
