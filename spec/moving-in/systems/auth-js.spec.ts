import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { authJsSessions, fromAuthJs, movingIn } from '../../../lib/moving-in.js';
import { password, type SpecApp, startApp } from '../../support/app.js';
import { startAuthJs } from '../../support/auth-js.js';
import { CookieJar } from '../../support/cookie-jar.js';
import { rows } from '../../support/database.js';

// Sessions that Auth.js has made with its Sequelize adapter, in the same database.
const MONTH = 30 * 24 * 3_600_000;
let app: SpecApp<readonly [ReturnType<typeof password>, ReturnType<typeof movingIn>]>;
let old: Awaited<ReturnType<typeof startAuthJs>>;
let jar: CookieJar;
let count = 0;
let email: string;

beforeAll(async () => {
  app = (await startApp({
    plugins: ({ sequelize }) => [password(), movingIn({ bridges: [authJsSessions({ sequelize })] })] as const,
    config: { tablePrefix: 'lk_' },
  })) as never;
  old = await startAuthJs(app.database);
});
afterAll(async () => {
  await old.stop();
  await app.stop();
});
beforeEach(() => {
  old.settings.strategy = 'database';
  jar = new CookieJar();
  email = `person${++count}@example.com`;
});

const me = () => jar.visit(`${app.origin}/auth/me`);
const oldSession = () => old.session(jar);

async function signInByEmail(): Promise<string> {
  const id = await old.signIn(jar, email);
  expect((await oldSession()).body.user?.email).toBe(email);
  return id;
}

async function account(id?: string) {
  const made = await app.auth.users.create({ email, emailVerified: true });
  if (id) await rows(app.database, 'UPDATE lk_users SET id = :id WHERE id = :made', { id, made: made.id });
  return id ?? made.id;
}

test('a session of Auth.js goes on with the id of its user, until its end, and has ended there', async () => {
  const id = await account(await signInByEmail());
  expect(await me()).toMatchObject({ status: 200, body: { user: { id, email } } });
  const [session] = await app.auth.listSessions(id);
  const left = (session?.expiresAt.getTime() ?? 0) - Date.now();
  expect(left).toBeGreaterThan(MONTH - 60_000);
  expect(left).toBeLessThanOrEqual(MONTH);
  expect((await oldSession()).body).toBeNull();
  expect((await me()).status).toBe(200);
  expect(jar.cookies.has('authjs.session-token')).toBe(false);
});

test('one leads to the imported account with the email, if both have verified it', async () => {
  await signInByEmail();
  const made = await account();
  expect((await me()).status).toBe(401);
  await app.auth.users.delete(made);
  const { users } = await app.auth.movingIn.importUsers([{ email, emailVerified: true }]);
  const id = users[0]?.id;
  await rows(app.database, 'UPDATE users SET email_verified = NULL WHERE email = :email', { email });
  expect((await me()).status).toBe(401);
  await rows(app.database, 'UPDATE users SET email_verified = :now WHERE email = :email', {
    email,
    now: new Date(),
  });
  expect((await me()).body.user?.id).toBe(id);
});

test('users whose emails nobody has verified go on with the accounts that were imported from them', async () => {
  await signInByEmail();
  await rows(app.database, 'UPDATE users SET email_verified = NULL WHERE email = :email', { email });
  const { users } = await app.auth.movingIn.importUsers(fromAuthJs(app.database.sequelize));
  const seen = await me();
  expect(seen).toMatchObject({ status: 200, body: { user: { email } } });
  expect(users.map(({ id }) => id)).toContain(seen.body.user?.id);
});

test('the cookie of NextAuth.js 4 counts too', async () => {
  const id = await account(await signInByEmail());
  const headers = { cookie: `next-auth.session-token=${jar.cookies.get('authjs.session-token')}` };
  const seen = await new CookieJar().visit(`${app.origin}/auth/me`, { headers });
  expect(seen.body.user?.id).toBe(id);
});

test('a token in other letters, one that has ended, and a JWT are none', async () => {
  const id = await account(await signInByEmail());
  const token = jar.cookies.get('authjs.session-token') ?? '';
  jar.cookies.set('authjs.session-token', token.toUpperCase());
  expect((await me()).status).toBe(401);
  jar.cookies.set('authjs.session-token', token);
  await rows(app.database, 'UPDATE sessions SET expires = :ago WHERE user_id = :id', {
    id,
    ago: new Date(Date.now() - 1000),
  });
  expect((await me()).status).toBe(401);
  old.settings.strategy = 'jwt';
  jar = new CookieJar();
  email = `person${++count}@example.com`;
  await account(await signInByEmail());
  expect(jar.cookies.get('authjs.session-token')?.split('.')).toHaveLength(5);
  expect((await me()).status).toBe(401);
});
