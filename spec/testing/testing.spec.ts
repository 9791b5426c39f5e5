import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import express from 'express';
import request from 'supertest';
import {
  admin,
  apiKeys,
  auditLog,
  authRouter,
  credentialPassword,
  currentUser,
  organizations,
  requireAdmin,
  requireSession,
  twoFactor,
} from '../../lib/index.js';
import { signedIn, testAuth } from '../../lib/testing.js';
import { caught } from '../support/app.js';
import { settled } from '../support/sessions.js';
import { codeOf } from '../support/two-factor.js';

const HOUR = 3600;
const DAY = 24 * HOUR;

const auth = testAuth({
  plugins: [
    credentialPassword({ signInOnSignUp: true }),
    admin({ adminUserIds: ['0190a000-0000-7000-8000-000000000000'] }),
    apiKeys(),
    auditLog(),
    twoFactor(),
  ],
  user: { fields: { name: { type: 'string', default: 'nobody' } } },
});
const app = express();
app.use('/auth', authRouter(auth));
app.get('/hello', requireSession(auth), (req, res) => void res.json({ hello: currentUser(req).email }));
app.get('/ops', requireAdmin(auth), (_req, res) => void res.json({}));
app.post(
  '/fresh',
  requireSession(auth, { freshWithin: 600 }),
  caught(async (_req, res) => void res.json({})),
);
const http = request(app);

afterAll(() => auth.close());
beforeEach(() => auth.testing.reset());

describe('testAuth', () => {
  test('needs no options and no migration', async () => {
    const bare = testAuth();
    const { user } = await signedIn(bare);
    expect(await bare.listSessions(user.id)).toHaveLength(1);
    await bare.close();
  });

  test('has a database of its own', async () => {
    const other = testAuth();
    await signedIn(other, { email: 'ada@example.com' });
    expect(await auth.users.find({ email: 'ada@example.com' })).toBeNull();
    await other.close();
  });

  test('accepts short and common passwords, and limits nothing', async () => {
    for (let user = 0; user < 25; user++) {
      const body = { email: `u${user}@example.com`, password: 'a' };
      await http.post('/auth/signup/credential').send(body).expect(201);
    }
    for (let attempt = 0; attempt < 8; attempt++) {
      const body = { credential: 'u1@example.com', password: 'wrong' };
      await http.post('/auth/signin/credential').send(body).expect(401);
    }
    await http
      .post('/auth/signin/credential')
      .send({ credential: 'u1@example.com', password: 'a' })
      .expect(200);
  });

  test('hashes at the lowest cost, whatever the app sets', async () => {
    const other = testAuth({ plugins: [credentialPassword({ bcryptCost: 12 })] });
    await other.credential.signUp({ email: 'ada@example.com', password: 'a' });
    const row = await other.models.User.unscoped().findOne();
    expect(row?.get('passwordHash')).toMatch(/\$2b\$04\$/);
    await other.close();
  });

  test('keeps the limits and password rules that the options name', async () => {
    const strict = testAuth({
      plugins: [credentialPassword({ passwordRules: { minLength: 10 } })],
      rateLimit: { signUp: { limit: 1, window: 60 } },
    });
    const server = request(express().use('/auth', authRouter(strict)));
    const signUp = (password: string) =>
      server.post('/auth/signup/credential').send({ email: 'ada@example.com', password });
    expect((await signUp('short')).body.errors).toEqual([
      expect.objectContaining({ pointer: '/password', code: 'too_short' }),
    ]);
    expect((await signUp('long enough')).body.code).toBe('rate_limited');
    strict.testing.advance(61);
    expect((await signUp('long enough')).status).toBe(201);
    await strict.close();
  });

  test('refuses to work in production', async () => {
    const { NODE_ENV } = process.env;
    process.env.NODE_ENV = 'production';
    try {
      expect(() => testAuth()).toThrow(/latchkey\/testing is for tests/);
      await expect(signedIn(auth)).rejects.toThrow(/latchkey\/testing is for tests/);
    } finally {
      process.env.NODE_ENV = NODE_ENV;
    }
  });

  test('says which option is wrong', () => {
    expect(() => testAuth({ session: { lifetime: -1 } })).toThrow(/session\.lifetime/);
  });
});

describe('signedIn with organization', () => {
  const own = testAuth({ plugins: [organizations()] });
  const rolesIn = async (id: string) =>
    (await own.organizations.members(id)).members.map(({ user, role }) => `${user.email} ${role}`).sort();
  afterAll(() => own.close());
  beforeEach(() => own.testing.reset());

  test('creates one that the user owns', async () => {
    const { user, headers, organization } = await signedIn(own, { organization: {} });
    expect(organization).toMatchObject({ id: expect.any(String), slug: 'organization-2' });
    expect(await rolesIn(String(organization?.id))).toEqual([`${user.email} owner`]);
    const app = express().use('/auth', authRouter(own));
    const { body } = await request(app).get('/auth/organizations').set(headers).expect(200);
    expect(body.organizations).toMatchObject([{ id: organization?.id, role: 'owner' }]);
    expect((await signedIn(own)).organization).toBeNull();
    expect(own.testing.mails).toEqual([]);
  });

  test('creates one with another owner, and several users in one', async () => {
    const acme = { slug: 'acme', name: 'Acme' };
    const { organization } = await signedIn(own, {
      email: 'ada@example.com',
      organization: { ...acme, role: 'member' },
    });
    const id = String(organization?.id);
    expect(organization).toMatchObject(acme);
    expect(await rolesIn(id)).toEqual([
      'ada@example.com member',
      expect.stringMatching(/^user-\d+@.* owner$/),
    ]);
    const bob = await signedIn(own, {
      email: 'bob@example.com',
      organization: { slug: 'acme', role: 'admin' },
    });
    expect(bob.organization?.id).toBe(id);
    await signedIn(own, { email: 'ada@example.com', organization: { id } });
    expect(await rolesIn(id)).toContain('ada@example.com member');
    await signedIn(own, { email: 'ada@example.com', organization: { id, role: 'admin' } });
    expect(await rolesIn(id)).toEqual([
      ...['ada@example.com admin', 'bob@example.com admin', expect.stringMatching(/ owner$/)],
    ]);
  });

  test('mistakes', async () => {
    const joined = (organization: object) => signedIn(own, { organization });
    await expect(joined({ id: '0190a000-0000-7000-8000-000000000000' })).rejects.toThrow(
      /^latchkey: signedIn: there is no organization with the id '0190a000-/,
    );
    await expect(joined({ role: 'chief' })).rejects.toMatchObject({ code: 'validation_failed' });
    await expect(joined({ slgu: 'acme' })).rejects.toThrow(/signedIn does not accept slgu/);
    // @ts-expect-error: only with organizations() in the plugins
    await expect(signedIn(auth, { organization: {} })).rejects.toThrow(
      'latchkey: signedIn: organization: { … } requires organizations() in the plugins',
    );
  });
});

describe('signedIn', () => {
  test('gives what a request needs', async () => {
    const { user, session, token, cookie, headers } = await signedIn(auth, { email: 'ada@example.com' });
    const { body } = await http.get('/hello').set(headers).expect(200);
    expect(body).toEqual({ hello: 'ada@example.com' });
    expect(cookie).toBe(`latchkey=${token}`);
    expect(session.userId).toBe(user.id);
    expect(user.emailVerifiedAt).toBeInstanceOf(Date);
    await http.post('/fresh').set({ cookie }).expect(200);
  });

  test('makes a user of their own at each call without an email', async () => {
    const [one, two] = [await signedIn(auth), await signedIn(auth)];
    expect(one.user.id).not.toBe(two.user.id);
  });

  test('signs in the user of an account that is there', async () => {
    const { user } = await signedIn(auth, { email: 'ada@example.com' });
    const again = await signedIn(auth, { email: 'Ada@Example.com' });
    expect(again.user.id).toBe(user.id);
    expect(await auth.listSessions(user.id)).toHaveLength(2);
  });

  test('takes fields', async () => {
    const { user } = await signedIn(auth, { fields: { name: 'Ada' } });
    expect(user.name).toBe('Ada');
  });

  test('makes administrators', async () => {
    const { headers } = await signedIn(auth, { admin: true });
    await http.get('/ops').set(headers).expect(200);
    await http
      .get('/ops')
      .set((await signedIn(auth)).headers)
      .expect(403);
  });

  test('gives a session of the level and the age that a route asks for', async () => {
    const strong = express();
    strong.get('/strong', requireSession(auth, { aal: 2 }), (_req, res) => void res.json({}));
    const status = async (options: object) =>
      (
        await request(strong)
          .get('/strong')
          .set((await signedIn(auth, options)).headers)
      ).status;
    expect([await status({}), await status({ aal: 2 })]).toEqual([403, 200]);
    const { session, headers } = await signedIn(auth, { aal: 2, fresh: false });
    expect(session).toMatchObject({ aal: 2, amr: ['pwd', 'otp', 'mfa'] });
    await http.post('/fresh').set(headers).expect(403);
  });

  test('gives the account a second factor', async () => {
    const given = { email: 'ada@example.com', secondFactor: true, aal: 2 } as const;
    const { headers, user, secondFactor } = await signedIn(auth, given);
    await auth.users.setPassword(user.id, 'b', { keepSessions: true });
    const { body } = await http.get('/auth/two-factor').set(headers).expect(200);
    expect(body).toMatchObject({ totp: true, recovery_codes_left: 2 });
    for (const proof of [
      { method: 'totp', code: codeOf(String(secondFactor?.secret)) },
      { method: 'recovery_code', code: secondFactor?.recoveryCodes[1] },
    ]) {
      const browser = request.agent(app);
      const first = await browser
        .post('/auth/signin/credential')
        .send({ credential: 'ada@example.com', password: 'b' });
      expect(first.body).toHaveProperty('second_factor');
      await browser.post('/auth/signin/second-factor').send(proof).expect(200);
    }
    // One that never showed it.
    expect((await signedIn(auth, { email: 'ada@example.com' })).session).toMatchObject({ aal: 1 });
    expect((await signedIn(auth)).secondFactor).toBeNull();
  });

  test('opens tasks, and closes them', async () => {
    const own = testAuth({ tasks: { terms: { open: () => true, page: '/terms' } } });
    const guarded = express();
    guarded.get('/guarded', requireSession(own), (_req, res) => void res.json({}));
    const status = async (options: object) =>
      (
        await request(guarded)
          .get('/guarded')
          .set((await signedIn(own, options)).headers)
      ).status;
    expect([await status({}), await status({ tasks: [] }), await status({ tasks: ['terms'] })]).toEqual([
      403, 200, 403,
    ]);
    expect((await signedIn(own, { tasks: ['terms'] })).session.tasks).toEqual(['terms']);
    await expect(signedIn(own, { tasks: ['typo'] })).rejects.toThrow(
      /typo is not a task: the tasks are terms/,
    );
    await own.close();
  });

  test('refuses what it does not know, and a second factor without the plugin', async () => {
    const without = testAuth();
    await expect(signedIn(without, { secondFactor: true })).rejects.toThrow(/twoFactor\(\) in the plugins/);
    await expect(signedIn(without, { AAL: 2 } as never)).rejects.toThrow(/signedIn does not accept AAL/);
    await without.close();
  });

  test('does not hide that the app has no administrators', async () => {
    const without = testAuth();
    await expect(signedIn(without, { admin: true })).rejects.toThrow(/add admin\(/);
    expect(() => requireAdmin(without)).toThrow(/admin\(/);
    await without.close();
  });
});

describe('auth.testing.nextMail', () => {
  const requestReset = (email: string) =>
    http.post('/auth/passwords/request-reset').send({ email }).expect(202);

  test('waits for an email that is sent after the response', async () => {
    await signedIn(auth, { email: 'ada@example.com' });
    await requestReset('ada@example.com');
    const { kind, to, token } = await auth.testing.nextMail();
    expect({ kind, to }).toEqual({ kind: 'reset-password', to: 'ada@example.com' });
    await http.post('/auth/passwords/reset').send({ token, new_password: 'b' }).expect(204);
    expect((await auth.testing.nextMail()).kind).toBe('password-set');
    expect(auth.testing.mails).toHaveLength(2);
  });

  test('finds the email of a kind or a recipient, and leaves the others', async () => {
    for (const email of ['ada@example.com', 'grace@example.com']) {
      await signedIn(auth, { email });
      await requestReset(email);
    }
    const { to } = await auth.testing.nextMail({ to: 'grace@example.com' });
    expect(to).toBe('grace@example.com');
    expect((await auth.testing.nextMail({ kind: 'reset-password' })).to).toBe('ada@example.com');
  });

  test('says which emails there were instead', async () => {
    await signedIn(auth, { email: 'ada@example.com' });
    await requestReset('ada@example.com');
    while (auth.testing.mails.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await expect(auth.testing.nextMail({ kind: 'invitation', within: 0.01 })).rejects.toThrow(
      'latchkey: no email of the kind invitation within 0.01 seconds; the other emails are: reset-password to ada@example.com',
    );
  });

  test('an app without emails can be tested', async () => {
    const silent = testAuth({ email: false, plugins: [credentialPassword()] });
    expect(Object.keys(silent.openapi().paths)).not.toContain('/passwords/reset');
    await silent.close();
  });
});

describe('auth.testing.advance', () => {
  test('ends sessions', async () => {
    const { headers } = await signedIn(auth);
    auth.testing.advance(DAY - 60);
    await http.get('/hello').set(headers).expect(200);
    auth.testing.advance(61);
    await http.get('/hello').set(headers).expect(401);
  });

  test('makes sessions less fresh', async () => {
    const { headers } = await signedIn(auth);
    auth.testing.advance(601);
    expect((await http.post('/fresh').set(headers)).body.code).toBe('reauthentication_required');
  });

  test('ends emailed links', async () => {
    await signedIn(auth, { email: 'ada@example.com' });
    await http.post('/auth/passwords/request-reset').send({ email: 'ada@example.com' }).expect(202);
    const { token } = await auth.testing.nextMail();
    auth.testing.advance(DAY);
    const { body } = await http.post('/auth/passwords/reset').send({ token, new_password: 'b' });
    expect(body.code).toBe('invalid_token');
  });

  test('ends API keys', async () => {
    const { user } = await signedIn(auth);
    const expiresAt = new Date(Date.now() + HOUR * 1000);
    const { key } = await auth.apiKeys.create(user.id, { name: 'one', expiresAt });
    await http.get('/hello').set('x-service-api-key', key).expect(200);
    auth.testing.advance(HOUR + 1);
    await http.get('/hello').set('x-service-api-key', key).expect(401);
  });

  test('moves on the steps of codes', async () => {
    const { headers } = await signedIn(auth);
    const { body } = await http.post('/auth/two-factor/totp').set(headers).expect(201);
    const confirm = (code: string) => http.post('/auth/two-factor/totp/confirm').set(headers).send({ code });
    auth.testing.advance(300);
    expect((await confirm(codeOf(body.secret))).body.code).toBe('invalid_code');
    await confirm(codeOf(body.secret, 10)).expect(200);
  });

  test('dates events and rows', async () => {
    const { user } = await signedIn(auth);
    auth.testing.advance(7 * DAY);
    const before = Date.now() + 6.9 * DAY * 1000;
    await auth.createSession(user.id);
    const [session] = await auth.listSessions(user.id);
    expect(session?.createdAt.getTime()).toBeGreaterThan(before);
    await auth.prune();
    await settled(auth);
    const { events } = await auth.auditLog.listEvents({ kind: 'session.created' });
    const times = events.map(({ createdAt }) => createdAt.getTime() > before);
    expect(times).toEqual([true, false]);
  });

  test.each([-1, Number.NaN, '60' as never])('refuses %p', (seconds) => {
    expect(() => auth.testing.advance(seconds)).toThrow(/number of seconds/);
  });
});

describe('auth.testing.reset', () => {
  test('forgets users, emails, administrators and the time', async () => {
    const { headers, user } = await signedIn(auth, { email: 'ada@example.com', admin: true });
    await http.post('/auth/passwords/request-reset').send({ email: 'ada@example.com' }).expect(202);
    await auth.testing.nextMail();
    auth.testing.advance(DAY);
    await auth.testing.reset();
    expect(auth.testing.mails).toEqual([]);
    await http.get('/hello').set(headers).expect(401);
    expect(await auth.users.get(user.id)).toBeNull();
    const again = await signedIn(auth, { email: 'ada@example.com' });
    expect(Math.abs(again.session.createdAt.getTime() - Date.now())).toBeLessThan(DAY * 500);
    await http.get('/ops').set(again.headers).expect(403);
  });
});
