import { Auth, type AuthConfig as AuthJsConfig } from '@auth/core';
import SequelizeAdapter from '@auth/sequelize-adapter';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { toNodeHandler } from 'better-auth/node';
import express from 'express';
import { authJsSessions } from '../../lib/bridges.js';
import { fromAuthJs } from '../../lib/importers.js';
import { password, type SpecApp, startApp } from '../support/app.js';
import { CookieJar } from '../support/cookie-jar.js';
import { rows } from '../support/database.js';
import { listening } from '../support/old-app.js';

// Sessions that Auth.js has made with its Sequelize adapter, in the same database.
const MONTH = 30 * 24 * 3_600_000;
let app: SpecApp<readonly ReturnType<typeof password>[]>;
let old: { origin: string; stop(): Promise<void> };
let strategy: 'database' | 'jwt' = 'database';
let link: string;
let jar: CookieJar;
let count = 0;
let email: string;

beforeAll(async () => {
  app = (await startApp({
    plugins: [password()],
    config: async ({ sequelize }) => ({ tablePrefix: 'lk_', bridges: [authJsSessions({ sequelize })] }),
  })) as never;
  const adapter = SequelizeAdapter(app.database.sequelize as never, { synchronize: false });
  // In order, since they refer to each other.
  for (const name of ['user', 'account', 'session', 'verificationToken'])
    await app.database.sequelize.models[name]?.sync();
  const config = (): AuthJsConfig => ({
    adapter,
    basePath: '/old-auth',
    secret: 'the secret of Auth.js, of 32 bytes and more',
    trustHost: true,
    session: { strategy },
    providers: [
      {
        id: 'email',
        type: 'email',
        name: 'Email',
        from: 'app@example.com',
        maxAge: 3600,
        options: {},
        sendVerificationRequest: async ({ url }: { url: string }) => {
          link = url;
        },
      } as never,
    ],
  });
  old = await listening(
    express().use(toNodeHandler({ handler: (request: Request) => Auth(request, config()) } as never)),
  );
});
afterAll(async () => {
  await old.stop();
  await app.stop();
});
beforeEach(() => {
  strategy = 'database';
  jar = new CookieJar();
  email = `person${++count}@example.com`;
});

const me = () => jar.visit(`${app.origin}/auth/me`);
const oldSession = () => jar.visit(`${old.origin}/old-auth/session`);

async function signInByEmail(): Promise<string> {
  const { body } = await jar.visit(`${old.origin}/old-auth/csrf`);
  const form = new URLSearchParams({ email, csrfToken: String((body as Record<string, unknown>).csrfToken) });
  await jar.visit(`${old.origin}/old-auth/signin/email`, { method: 'POST', body: form });
  await jar.visit(link);
  expect((await oldSession()).body.user?.email).toBe(email);
  const [user] = await rows<{ id: string }>(app.database, 'SELECT id FROM users WHERE email = :email', {
    email,
  });
  return user?.id ?? '';
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
  const { users } = await app.auth.importUsers([{ email, emailVerified: true }]);
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
  const { users } = await app.auth.importUsers(fromAuthJs(app.database.sequelize));
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
  strategy = 'jwt';
  jar = new CookieJar();
  email = `person${++count}@example.com`;
  await account(await signInByEmail());
  expect(jar.cookies.get('authjs.session-token')?.split('.')).toHaveLength(5);
  expect((await me()).status).toBe(401);
});
