import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { apiKeys } from '../../lib/index.js';
import { ada, password, signedIn } from '../support/app.js';
import { importUsers } from '../support/import-users.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';
import { expectProblem } from '../support/problem.js';

const plugins = [password({ sendVerificationOnSignUp: true }), apiKeys()] as const;

let app: MailApp<typeof plugins>;
let stranger: Awaited<ReturnType<typeof signedIn>>;
let userId: string;
let key: string;
let verification: string;

beforeEach(async () => {
  app = await startMailApp({ plugins });
  verification = (
    await app.mailOf(async () => {
      stranger = await signedIn(app);
    })
  ).token;
  userId = (await stranger.get('/auth/me')).body.user.id;
  key = (await stranger.post('/auth/api-keys').send({ name: 'backdoor' }).expect(201)).body.key;
});
afterEach(() => app.stop());

const withKey = () => app.http.get('/auth/me').set('x-service-api-key', key);
const resetToken = async (email = ada.email) =>
  (await app.mailOf(() => app.http.post('/auth/passwords/request-reset').send({ email }), 'reset-password'))
    .token;
const reset = (token: string) =>
  app.http.post('/auth/passwords/reset').send({ token, new_password: 'the owner of it' });
const verify = (token: string) => app.http.post('/auth/verify-email').send({ token, password: ada.password });

describe('auth.markEmailVerified()', () => {
  test('leaves a later reset the first proof, which no API key from before outlives', async () => {
    await app.auth.markEmailVerified(userId);
    await reset(await resetToken()).expect(204);
    expectProblem(await withKey(), 401, 'invalid_api_key');
  });

  test('keeps the password and the sessions, because the app has checked who signs in', async () => {
    await app.auth.markEmailVerified(userId);
    await stranger.get('/auth/me').expect(200);
    await app.auth.credential.signIn({ credential: ada.email, password: ada.password });
  });

  test('changes nothing the second time', async () => {
    const first = await app.auth.markEmailVerified(userId);
    const { key: later } = (await stranger.post('/auth/api-keys').send({ name: 'program' }).expect(201)).body;
    const events: string[] = [];
    app.auth.on('user.email_verified', ({ userId }) => events.push(userId));
    expect(await app.auth.markEmailVerified(userId)).toEqual(first);
    expect(events).toEqual([]);
    await app.http.get('/auth/me').set('x-service-api-key', later).expect(200);
  });

  test('verifies the email once if it is called 16 times at once', async () => {
    const events: string[] = [];
    app.auth.on('user.email_verified', ({ userId }) => events.push(userId));
    const users = await Promise.all(Array.from({ length: 16 }, () => app.auth.markEmailVerified(userId)));
    expect(new Set(users.map(({ emailVerifiedAt }) => emailVerifiedAt?.getTime())).size).toBe(1);
    expect(events).toEqual([userId]);
  });

  test.each(['01900000-0000-7000-8000-000000000000', 'nobody', ''])('finds no user %j', async (id) => {
    await expect(app.auth.markEmailVerified(id)).rejects.toMatchObject({ code: 'user_not_found' });
  });
});

describe('the first access to the mailbox after auth.markEmailVerified()', () => {
  let later: string;
  let before: string | null;

  beforeEach(async () => {
    await app.auth.markEmailVerified(userId);
    before = (await stranger.get('/auth/me')).body.user.email_verified_at;
    // The app was mistaken: whoever signed up is not the owner, and goes on.
    later = (await stranger.post('/auth/api-keys').send({ name: 'later' }).expect(201)).body.key;
  });

  const laterKey = () => app.http.get('/auth/me').set('x-service-api-key', later);

  test('by a reset ends what the app kept, and what was attached since', async () => {
    const events: string[] = [];
    app.auth.on('user.email_verified', ({ userId }) => events.push(userId));
    await laterKey().expect(200);
    await reset(await resetToken()).expect(204);
    expectProblem(await laterKey(), 401, 'invalid_api_key');
    expectProblem(await stranger.get('/auth/me'), 401, 'invalid_session');
    const old = app.auth.credential.signIn({ credential: ada.email, password: ada.password });
    await expect(old).rejects.toMatchObject({ code: 'invalid_credentials' });
    // The email was verified before, and remains verified since then.
    const { user } = await app.auth.credential.signIn({ credential: ada.email, password: 'the owner of it' });
    expect(user.emailVerifiedAt?.toISOString()).toBe(before);
    expect(events).toEqual([]);
  });

  test('is the first one: keys that the owner makes after it outlive another reset', async () => {
    await reset(await resetToken()).expect(204);
    const { session } = await app.auth.credential.signIn({
      credential: ada.email,
      password: 'the owner of it',
    });
    const { key } = await app.auth.apiKeys.create(userId, { sessionId: session.id, name: 'program' });
    // A proof by the app is weaker, so it changes nothing.
    await app.auth.markEmailVerified(userId);
    await reset(await resetToken()).expect(204);
    await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
  });

  test('is no first one any more at another address that the app has set as verified', async () => {
    await reset(await resetToken()).expect(204);
    const { key } = await app.auth.apiKeys.create(userId, { name: 'program' });
    await app.auth.users.changeEmail(userId, 'other@example.com', { verified: true });
    await reset(await resetToken('other@example.com')).expect(204);
    await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
  });

  test('is a first one again at another address that nobody has vouched for', async () => {
    await reset(await resetToken()).expect(204);
    const { key } = await app.auth.apiKeys.create(userId, { name: 'program' });
    await app.auth.users.changeEmail(userId, 'other@example.com');
    await reset(await resetToken('other@example.com')).expect(204);
    expectProblem(await app.http.get('/auth/me').set('x-service-api-key', key), 401, 'invalid_api_key');
  });
});

test('an imported email that the other system verified is proved: a reset leaves API keys alone', async () => {
  const email = 'imported@example.com';
  const { passwordHash } = (
    await app.auth.models.User.unscoped().findByPk(userId, { rejectOnEmpty: true })
  ).get({
    plain: true,
  }) as unknown as { passwordHash: string };
  // The hash of another account cannot be imported, so the account gets it afterwards.
  await importUsers(app.auth, [{ email, emailVerified: true }]);
  await app.auth.models.User.update({ passwordHash } as never, { where: { email } });
  const { user } = await app.auth.credential.signIn({ credential: email, password: ada.password });
  const { key } = await app.auth.apiKeys.create(user.id, { name: 'program' });
  const { token } = await app.mailOf(() =>
    app.http.post('/auth/passwords/request-reset').send({ email }).expect(202),
  );
  await reset(token).expect(204);
  await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
});

describe('the first proof of an email', () => {
  test('by a reset ends password, sessions and API keys from before', async () => {
    const revoked: string[] = [];
    app.auth.on('session.revoked', (event) => revoked.push(event.userId));
    await reset(await resetToken()).expect(204);
    expectProblem(await withKey(), 401, 'invalid_api_key');
    expectProblem(await stranger.get('/auth/me'), 401, 'invalid_session');
    expect(revoked).toEqual([userId]);
    const { user } = await app.auth.credential.signIn({ credential: ada.email, password: 'the owner of it' });
    expect(user.emailVerifiedAt).toBeInstanceOf(Date);
  });

  test('by a link with the password shows that all of it is theirs', async () => {
    await verify(verification).expect(200);
    await withKey().expect(200);
    await stranger.get('/auth/me').expect(200);
  });

  test('by a link with the password leaves a link for another password alone', async () => {
    const token = await resetToken();
    await verify(verification).expect(200);
    await reset(token).expect(204);
  });
});

test('a later reset ends neither API keys nor anything else but the sessions', async () => {
  await verify(verification).expect(200);
  await reset(await resetToken()).expect(204);
  await withKey().expect(200);
  expectProblem(await stranger.get('/auth/me'), 401, 'invalid_session');
});
