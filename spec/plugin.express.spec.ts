import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { route } from '../lib/http/route.js';
import { admin, apiKeys, auditLog, createAuth, oauth, type Plugin } from '../lib/index.js';
import { definePlugin } from '../lib/plugin.js';
import { definePurpose } from '../lib/verification/purposes.js';
import { ada, password, SECRET, sessionCookie, signedIn } from './support/app.js';
import { rows } from './support/database.js';
import { fixedProvider } from './support/fixed-provider.js';
import { type MailApp, startMailApp } from './support/mail-app.js';
import { mailedLink } from './support/mailed-link.js';
import { expectProblem } from './support/problem.js';

const plugins = [
  password({ sendVerificationOnSignUp: false }),
  apiKeys(),
  oauth(),
  fixedProvider(),
  mailedLink(),
] as const;

describe('a way to sign in that a plugin adds, by mailed links', () => {
  let app: MailApp<typeof plugins>;
  beforeEach(async () => {
    app = await startMailApp({ plugins });
  });
  afterEach(() => app.stop());

  const linkTo = async (email = ada.email) =>
    (await app.mailOf(() => app.http.post('/auth/signin/link/request').send({ email }).expect(202))).token;
  const follow = (token: string) => app.http.post('/auth/signin/link').send({ token });
  const me = (cookie: string) => app.http.get('/auth/me').set('cookie', cookie);

  test('begins a session with its cookie, and proves the email', async () => {
    await app.auth.credential.signUp(ada);
    const events: string[] = [];
    for (const name of ['session.created', 'user.email_verified'] as const)
      app.auth.on(name, (event) => events.push(`${name} ${event.ip}`));
    const answer = await follow(await linkTo()).expect(200);
    expect(answer.body.user).toMatchObject({ email: ada.email, email_verified_at: expect.any(String) });
    await me(`latchkey=${sessionCookie(answer)?.value}`).expect(200);
    expect(events.sort()).toEqual(['session.created 127.0.0.1', 'user.email_verified 127.0.0.1']);
  });

  test('leads to a page of its own', async () => {
    await app.auth.credential.signUp(ada);
    const mail = await app.mailOf(() => app.auth.links.request(ada.email));
    expect(mail).toMatchObject({ kind: 'sign-in-link', to: ada.email });
    expect(mail.url).toBe(`http://app.example.com/sign-in-link?token=${mail.token}`);
  });

  test('cannot forget that somebody else may have signed up with the address', async () => {
    const stranger = await signedIn(app);
    const { body } = await stranger.post('/auth/api-keys').send({ name: 'backdoor' }).expect(201);
    const { user } = (await stranger.get('/auth/me')).body;
    await app.auth.models.Account.create({
      id: '01900000-0000-7000-8000-000000000001',
      userId: user.id,
      provider: 'fixed',
      issuer: 'https://fixed.example',
      providerAccountId: 'stranger',
      scopes: '',
      relinkRequired: false,
      refreshedAt: new Date(),
      createdAt: new Date(),
      updatedAt: new Date(),
    });
    const revoked: string[] = [];
    app.auth.on('session.revoked', ({ userId }) => revoked.push(userId));

    const owner = await follow(await linkTo()).expect(200);

    expect(owner.body.user.id).toBe(user.id);
    await me(`latchkey=${sessionCookie(owner)?.value}`).expect(200);
    expectProblem(await stranger.get('/auth/me'), 401, 'invalid_session');
    expectProblem(await app.http.get('/auth/me').set('x-service-api-key', body.key), 401, 'invalid_api_key');
    expectProblem(
      await app.http.post('/auth/signin/credential').send({ credential: ada.email, password: ada.password }),
      401,
      'invalid_credentials',
    );
    expect(await app.auth.oauth.accounts(user.id)).toEqual([]);
    expect(revoked).toEqual([user.id]);
  });

  test('leaves alone what was added after the first proof', async () => {
    await app.auth.credential.signUp(ada);
    await follow(await linkTo()).expect(200);
    const { user } = (await follow(await linkTo()).expect(200)).body;
    await app.auth.credential.setPassword({ userId: user.id, newPassword: ada.password });
    const { key } = await app.auth.apiKeys.create(user.id, { name: 'program' });
    await follow(await linkTo()).expect(200);
    await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
    await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
  });

  test('accepts a link only once, even 16 times at once, and ends the others', async () => {
    const { user } = (await app.auth.credential.signUp(ada))!;
    // Or the first proof would end the others.
    await app.auth.markEmailVerified(user.id);
    const [first, second] = [await linkTo(), await linkTo()];
    const statuses = (await Promise.all(Array.from({ length: 16 }, () => follow(first)))).map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 400)).toHaveLength(15);
    expectProblem(await follow(second), 400, 'invalid_token');
  });

  test('ends the session that the browser had', async () => {
    const browser = await signedIn(app);
    const before = (await browser.get('/auth/me')).body.session.id;
    await app.auth.markEmailVerified((await browser.get('/auth/me')).body.user.id);
    await browser
      .post('/auth/signin/link')
      .send({ token: await linkTo() })
      .expect(200);
    const { sessions } = (await browser.get('/auth/sessions').expect(200)).body;
    expect(sessions.map(({ id }: { id: string }) => id)).not.toContain(before);
    expect(sessions).toHaveLength(1);
  });

  test('is no longer valid after a password change, as the plugin declares', async () => {
    const browser = await signedIn(app);
    const token = await linkTo();
    await browser
      .post('/auth/passwords/change')
      .send({ current_password: ada.password, new_password: 'a difference engine' })
      .expect(200);
    expectProblem(await follow(token), 400, 'invalid_token');
  });

  test('can demand a fresh session by its declaration', async () => {
    const browser = await signedIn(app);
    await browser.post('/auth/signin/link/sensitive').expect(204);
    await rows(app.database, "UPDATE sessions SET authenticated_at = '2026-01-01 00:00:00'");
    expectProblem(await browser.post('/auth/signin/link/sensitive'), 403, 'reauthentication_required');
    expectProblem(await app.http.post('/auth/signin/link/sensitive'), 401, 'unauthenticated');
    const operation = app.auth.openapi().paths['/signin/link/sensitive']?.post as {
      responses: Record<string, { description: string }>;
    };
    expect(operation.responses[403]?.description).toContain('reauthentication_required');
  });

  test('cannot issue one-time tokens for the purpose of another plugin', () => {
    const define = (name: string) => () => definePurpose({ name: 'twin' }, { name, lifetimeMs: 60_000 });
    const twice = (name: string, owner: string) =>
      new TypeError(`latchkey: the purpose '${name}' is declared twice: by ${owner} and by twin()`);
    expect(define('sign-in-link')).toThrow(twice('sign-in-link', 'links()'));
    expect(define('reset-password')).toThrow(twice('reset-password', 'the core'));
  });

  test('counts as a way in when another one is removed', async () => {
    const { user } = (await app.auth.credential.signUp(ada))!;
    await app.auth.models.User.update({ passwordHash: null }, { where: { id: user.id } });
    await app.auth.models.Account.create({
      id: '01900000-0000-7000-8000-000000000002',
      userId: user.id,
      provider: 'fixed',
      issuer: 'https://fixed.example',
      providerAccountId: 'ada',
      scopes: '',
      relinkRequired: false,
      refreshedAt: new Date(),
      createdAt: new Date(),
      updatedAt: new Date(),
    });
    await app.auth.oauth.unlink(user.id, 'fixed');
    expect(await app.auth.oauth.accounts(user.id)).toEqual([]);
  });
});

describe('the order of plugins', () => {
  const all = (): Plugin[] => [
    password({ username: true }),
    admin({ adminEmails: [ada.email] }),
    auditLog(),
    apiKeys(),
    oauth(),
    fixedProvider(),
  ];
  const open = (list: Plugin[]) =>
    createAuth({ database: 'sqlite:x.db', secret: SECRET, baseUrl: 'http://app.example.com', plugins: list });

  test('changes nothing in the OpenAPI document, the models or the operations', () => {
    const [one, other] = [open(all()), open(all().reverse())];
    expect(JSON.stringify(one.openapi())).toBe(JSON.stringify(other.openapi()));
    expect(Object.keys(one.models)).toEqual(Object.keys(other.models));
    expect(Object.keys(one)).toEqual(Object.keys(other));
    expect(JSON.stringify(one.openapi().components.schemas.User)).toContain('username');
  });

  test('changes nothing on the wire: administrators see usernames', async () => {
    const app = await startMailApp({
      plugins: [admin({ adminEmails: [ada.email] }), password({ username: true })] as const,
    });
    const { user } = (await app.auth.credential.signUp({ ...ada, username: 'ada' }))!;
    await app.auth.markEmailVerified(user.id);
    const { token } = await app.auth.credential.signIn({ credential: 'ada', password: ada.password });
    const { body } = await app.http.get('/auth/admin/users').set('cookie', `latchkey=${token}`).expect(200);
    expect(body.users).toMatchObject([{ username: 'ada' }]);
    await app.stop();
  });
});

test('a request whose account is deleted meanwhile has no valid session', async () => {
  // Its handler deletes the account of the request, as another request can at any time.
  const vanishing = definePlugin({
    name: 'links',
    setup: (core) => ({
      api: null,
      routes: () => [
        route({
          method: 'post',
          path: '/vanish',
          summary: 'Read the account after it was deleted',
          access: 'session',
          answers: { 204: { description: 'Done' } },
          async handle({ auth }) {
            await app.auth.users.delete(auth.user.id);
            await core.users.require(auth.user.id);
            return { status: 204 };
          },
        }),
      ],
    }),
  });
  const app = await startMailApp({ plugins: [password({ sendVerificationOnSignUp: false }), vanishing] });
  const browser = await signedIn(app);
  expectProblem(await browser.post('/auth/vanish'), 401, 'invalid_session');
  await app.stop();
});
