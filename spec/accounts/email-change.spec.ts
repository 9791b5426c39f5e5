import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { apiKeys } from '../../lib/index.js';
import { declaredNotices } from '../../lib/mail/notice-kinds.js';
import { ada, password, sessionCookie, signedIn } from '../support/app.js';
import { rows } from '../support/database.js';
import { allSent, type MailApp, startMailApp } from '../support/mail-app.js';
import { expectProblem } from '../support/problem.js';

const plugins = () => [password({ username: true }), apiKeys()] as const;
type Browser = Awaited<ReturnType<typeof signedIn>>;

const NEW = 'lovelace@example.com';
const bob = { email: 'bob@example.com', password: ada.password };

let app: MailApp<ReturnType<typeof plugins>>;
let browser: Browser;
let userId: string;
const changed: unknown[] = [];
const start = async (config = {}) => {
  app = await startMailApp({ plugins: plugins(), config });
  browser = await signedIn(app);
  userId = (await browser.get('/auth/me')).body.user.id;
};
beforeEach(() => {
  changed.length = 0;
  return start({
    hooks: {
      afterUpdateUser: (user: { email: string }, names: readonly string[]) =>
        changed.push([user.email, names]),
    },
  });
});
afterEach(() => app.stop());

const age = () =>
  rows(app.database, 'UPDATE sessions SET authenticated_at = :at', {
    at: new Date(Date.now() - 601_000),
  });
const ask = (email = NEW, more = {}, by: { post: Browser['post'] } = browser) =>
  by.post('/auth/email-changes').send({ new_email: email, ...more });
const confirm = (token: string, more = {}, by: { post: Browser['post'] } = browser) =>
  by.post('/auth/email-changes/confirm').send({ token, ...more });
/** The mails that a request causes, apart from notices of something else. */
async function mailsOf(count: number, work: () => PromiseLike<unknown>) {
  await allSent(app.auth);
  const before = app.mails.length;
  const sent = () => app.mails.slice(before).filter(({ kind }) => !OTHER_NOTICES.includes(kind));
  await work();
  await allSent(app.auth);
  expect(sent()).toHaveLength(count);
  return sent().sort((a, b) => (a.kind < b.kind ? -1 : 1));
}
const OTHER_NOTICES = declaredNotices.names.filter((kind) => !kind.startsWith('email-'));
const tokenFor = async (email = NEW, by = browser) => {
  const mails = await mailsOf(2, () => ask(email, {}, by).expect(202));
  return mails.find(({ kind }) => kind === 'verify-new-email')?.token ?? '';
};
const me = async (by = browser) => (await by.get('/auth/me').expect(200)).body.user;
const signIn = (credential: string, by: { post: Browser['post'] } = app.http) =>
  by.post('/auth/signin/credential').send({ credential, password: ada.password });
const reset = (token: string) =>
  app.http.post('/auth/passwords/reset').send({ token, new_password: 'a difference engine' });

describe('a change of email', () => {
  test('goes through a link to the new address, and the old one is told', async () => {
    const events: unknown[] = [];
    app.auth.on('user.email_changed', (event) => events.push(['changed', event.userId]));
    app.auth.on('user.email_verified', (event) => events.push(['verified', event.userId]));
    const mails = await mailsOf(2, () => ask('Lovelace@EXAMPLE.com').expect(202));
    expect(mails.map(({ kind, to }) => [kind, to])).toEqual([
      ['email-change-requested', ada.email],
      ['verify-new-email', NEW],
    ]);
    const [notice, link] = mails;
    expect([notice?.token, notice?.url]).toEqual(['', '']);
    expect(notice?.text).not.toContain(link?.token);
    expect(link?.url).toBe(`http://app.example.com/change-email?token=${link?.token}`);
    expect((await me()).email).toBe(ada.email);
    const told = await mailsOf(1, async () => {
      const { body, headers } = await confirm(link?.token ?? '').expect(200);
      expect(body.user).toMatchObject({ email: NEW, email_verified_at: expect.any(String) });
      expect(body.session.user_id).toBe(userId);
      expect(headers['cache-control']).toBe('no-store');
    });
    expect(told.map(({ kind, to }) => [kind, to])).toEqual([['email-changed', ada.email]]);
    expect(events.sort()).toEqual([
      ['changed', userId],
      ['verified', userId],
    ]);
    expect(changed).toEqual([[NEW, ['email', 'emailVerifiedAt', 'emailProof']]]);
    expect((await signIn(NEW)).status).toBe(200);
    expectProblem(await signIn(ada.email), 401, 'invalid_credentials');
  });

  test('ends every other session, and gives this one a new token without making it fresh', async () => {
    const other = app.browser();
    await signIn(ada.email, other).expect(200);
    const token = await tokenFor();
    await age();
    const before = (await browser.get('/auth/sessions')).body.sessions.find(
      (one: { current: boolean }) => one.current,
    );
    const old = app.browser();
    const confirmed = await confirm(token).expect(200);
    expect(sessionCookie(confirmed)?.value).toMatch(/^lks_/);
    expect(confirmed.body.session.id).toBe(before.id);
    expectProblem(await other.get('/auth/me'), 401, 'invalid_session');
    await browser.get('/auth/me').expect(200);
    expectProblem(await ask('third@example.com'), 403, 'reauthentication_required');
    await old.get('/auth/me').expect(401);
  });

  test('can be canceled at any time, and then its link is dead', async () => {
    const token = await tokenFor();
    await age();
    const cancel = () => browser.delete('/auth/email-changes').expect(204);
    expect(await mailsOf(0, cancel)).toEqual([]);
    expectProblem(await confirm(token), 400, 'invalid_token');
    expect((await me()).email).toBe(ada.email);
    await cancel();
  });

  test('is canceled by its own session only', async () => {
    const token = await tokenFor();
    const other = await signedIn(app, bob);
    await other.delete('/auth/email-changes').expect(204);
    const { key } = (await browser.post('/auth/api-keys').send({ name: 'program' }).expect(201)).body;
    const byKey = app.http.delete('/auth/email-changes').set('x-service-api-key', key);
    expectProblem(await byKey, 403, 'session_required');
    expectProblem(await app.http.delete('/auth/email-changes'), 401, 'unauthenticated');
    await confirm(token).expect(200);
  });

  test('kills the links that were mailed to the old address', async () => {
    const verification = (await mailsOf(1, () => browser.post('/auth/email-verifications').expect(202)))[0];
    const resetting = (
      await mailsOf(1, () =>
        app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
      )
    )[0];
    await confirm(await tokenFor()).expect(200);
    expectProblem(await reset(resetting?.token ?? ''), 400, 'invalid_token');
    const verify = browser.post('/auth/verify-email').send({ token: verification?.token });
    expectProblem(await verify, 400, 'invalid_token');
  });

  test('removes nothing, because it is confirmed in the account, and proves the mailbox for good', async () => {
    const newKey = async () =>
      (await browser.post('/auth/api-keys').send({ name: 'program' }).expect(201)).body.key;
    const use = (key: string) => app.http.get('/auth/me').set('x-service-api-key', key);
    const key = await newKey();
    await confirm(await tokenFor()).expect(200);
    await use(key).expect(200);
    await confirm(await tokenFor('third@example.com')).expect(200);
    await use(key).expect(200);
    // The mailbox is proved: a reset is no first proof any more.
    const [mail] = await mailsOf(1, () =>
      app.http.post('/auth/passwords/request-reset').send({ email: 'third@example.com' }).expect(202),
    );
    await reset(mail?.token ?? '').expect(204);
    await use(key).expect(200);
  });

  test('needs a recent sign-in or the password', async () => {
    await age();
    expectProblem(await ask(), 403, 'reauthentication_required');
    expectProblem(await ask(NEW, { password: 'wrong' }), 401, 'invalid_credentials');
    await mailsOf(2, () => ask(NEW, { password: ada.password }).expect(202));
  });

  test.each([[{ new_email: 'nobody' }], [{}], [{ new_email: NEW, email: NEW }], [{ new_email: [NEW] }]])(
    'is refused with %j',
    async (body) => {
      await mailsOf(0, async () =>
        expectProblem(await browser.post('/auth/email-changes').send(body), 422, 'validation_failed'),
      );
    },
  );

  test('is confirmed in another browser with the password', async () => {
    const token = await tokenFor();
    expectProblem(await confirm(token, {}, app.http), 401, 'unauthenticated');
    expectProblem(await confirm(token, { password: 'wrong' }, app.http), 401, 'invalid_credentials');
    const stranger = await signedIn(app, bob);
    expectProblem(await confirm(token, {}, stranger), 401, 'unauthenticated');
    const { body, headers } = await confirm(token, { password: ada.password }, app.http).expect(200);
    expect(body).toEqual({ user: expect.objectContaining({ id: userId, email: NEW }) });
    expect(headers['set-cookie']).toBeUndefined();
    expectProblem(await browser.get('/auth/me'), 401, 'invalid_session');
    await stranger.get('/auth/me').expect(200);
  });

  test('works once, and of several links only the newest', async () => {
    const first = await tokenFor();
    const second = await tokenFor('second@example.com');
    expectProblem(await confirm(first), 400, 'invalid_token');
    await confirm(second).expect(200);
    expectProblem(await confirm(second), 400, 'invalid_token');
    expect((await me()).email).toBe('second@example.com');
  });

  test.each([
    [
      'a password change',
      () =>
        browser
          .post('/auth/passwords/change')
          .send({ current_password: ada.password, new_password: 'a difference engine' })
          .expect(200),
    ],
    ['a revocation of all sessions', () => app.auth.revokeAllSessions(userId)],
    ['a new password by code', () => app.auth.users.setPassword(userId, 'a difference engine')],
    [
      'a new password by code that keeps the sessions',
      () => app.auth.users.setPassword(userId, 'a difference engine', { keepSessions: true }),
    ],
    ['another change by code', () => app.auth.users.changeEmail(userId, 'other@example.com')],
  ])('dies with %s', async (_what, act) => {
    const token = await tokenFor();
    await act();
    const again = app.browser();
    const { email } = (await app.auth.users.get(userId)) as { email: string };
    const passwords = [ada.password, 'a difference engine'];
    for (const one of passwords)
      await again.post('/auth/signin/credential').send({ credential: email, password: one });
    expectProblem(await confirm(token, {}, again), 400, 'invalid_token');
  });

  test('dies with a reset', async () => {
    const token = await tokenFor();
    const [mail] = await mailsOf(1, () =>
      app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
    );
    await reset(mail?.token ?? '').expect(204);
    const change = confirm(token, { password: 'a difference engine' }, app.http);
    expectProblem(await change, 400, 'invalid_token');
  });

  test('expires after an hour', async () => {
    const token = await tokenFor();
    const then = new Date(Date.now() + 3_590_000);
    const late = await rows(app.database, 'SELECT * FROM one_time_tokens WHERE expires_at < :then', { then });
    expect(late).toEqual([]);
    await rows(app.database, "UPDATE one_time_tokens SET expires_at = '2020-01-01 00:00:00'");
    expectProblem(await confirm(token), 400, 'invalid_token');
  });

  test('cannot be confirmed with a link for something else, nor the other way round', async () => {
    const [mail] = await mailsOf(1, () => browser.post('/auth/email-verifications').expect(202));
    expectProblem(await confirm(mail?.token ?? ''), 400, 'invalid_token');
    const token = await tokenFor();
    expectProblem(await browser.post('/auth/verify-email').send({ token }), 400, 'invalid_token');
    expectProblem(await reset(token), 400, 'invalid_token');
  });
});

describe('an address of another account', () => {
  let other: Browser;
  beforeEach(async () => {
    other = await signedIn(app, bob);
  });

  test('is accepted like any other, and its owner is told', async () => {
    const mails = await mailsOf(2, () => ask(bob.email).expect(202));
    expect(mails.map(({ kind, to, token }) => [kind, to, token])).toEqual([
      ['email-change-conflict', bob.email, ''],
      ['email-change-requested', ada.email, ''],
    ]);
  });

  test('that it has got since is refused at the confirmation, which uses the link up', async () => {
    const token = await tokenFor();
    await signedIn(app, { email: NEW, password: ada.password });
    expectProblem(await confirm(token), 409, 'email_taken');
    expect((await me()).email).toBe(ada.email);
    await app.auth.users.delete(((await app.auth.users.find({ email: NEW })) as { id: string }).id);
    expectProblem(await confirm(token), 400, 'invalid_token');
    await other.get('/auth/me').expect(200);
  });

  test('ends the earlier link all the same', async () => {
    const token = await tokenFor();
    await mailsOf(2, () => ask(bob.email).expect(202));
    expectProblem(await confirm(token), 400, 'invalid_token');
  });
});

test('an account without an email gets its first one so', async () => {
  const user = await app.auth.users.create({ username: 'grace', password: ada.password });
  const grace = app.browser();
  await signIn('grace', grace).expect(200);
  const { key } = (await grace.post('/auth/api-keys').send({ name: 'program' }).expect(201)).body;
  const mails = await mailsOf(1, () => ask(NEW, {}, grace).expect(202));
  expect(mails[0]?.kind).toBe('verify-new-email');
  await mailsOf(0, () => confirm(mails[0]?.token ?? '', {}, grace).expect(200));
  expect(await app.auth.users.find({ email: NEW })).toMatchObject({ id: user.id });
  await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
});

test('the own address is verified by such a link', async () => {
  const mails = await mailsOf(1, () => ask(ada.email).expect(202));
  const { body } = await confirm(mails[0]?.token ?? '').expect(200);
  expect(body.user).toMatchObject({ email: ada.email, email_verified_at: expect.any(String) });
});

test('the other links to the own address end with it', async () => {
  const [mail] = await mailsOf(1, () =>
    app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
  );
  const mails = await mailsOf(1, () => ask(ada.email).expect(202));
  await confirm(mails[0]?.token ?? '').expect(200);
  expectProblem(await reset(mail?.token ?? ''), 400, 'invalid_token');
});

test('forms work, and account.changeEmail: false takes the routes away', async () => {
  const asked = await browser
    .post('/auth/email-changes')
    .type('form')
    .send({ new_email: NEW, redirect_to: '/check-your-mail' });
  expect([asked.status, asked.headers.location]).toEqual([303, '/check-your-mail']);
  const off = await startMailApp({ plugins: plugins(), config: { account: { changeEmail: false } } });
  await off.http.post('/auth/email-changes').send({ new_email: NEW }).expect(404);
  await off.http.post('/auth/email-changes/confirm').send({ token: 'x' }).expect(404);
  await off.stop();
});

describe('auth.users.changeEmail()', () => {
  test('changes it at once; the new one is not verified, links end and the old one is told', async () => {
    await app.auth.markEmailVerified(userId);
    const [mail] = await mailsOf(1, () =>
      app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
    );
    const told = await mailsOf(1, async () => {
      const user = await app.auth.users.changeEmail(userId, ' Lovelace@example.com');
      expect(user).toMatchObject({ email: NEW, emailVerifiedAt: null });
    });
    expect(told[0]).toMatchObject({ kind: 'email-changed', to: ada.email });
    expectProblem(await reset(mail?.token ?? ''), 400, 'invalid_token');
    expect((await me()).email).toBe(NEW);
  });

  test('does not take just anything for the word of the app', async () => {
    const options = { verified: 'false' } as unknown as { verified: boolean };
    const user = await app.auth.users.changeEmail(userId, NEW, options);
    expect(user.emailVerifiedAt).toBeNull();
  });

  test('takes the word of the app, which is no access to the mailbox', async () => {
    const { key } = (await browser.post('/auth/api-keys').send({ name: 'program' }).expect(201)).body;
    const user = await app.auth.users.changeEmail(userId, NEW, { verified: true });
    expect(user.emailVerifiedAt).toBeInstanceOf(Date);
    await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
    const later = (await browser.post('/auth/api-keys').send({ name: 'later' }).expect(201)).body.key;
    const [mail] = await mailsOf(1, () =>
      app.http.post('/auth/passwords/request-reset').send({ email: NEW }).expect(202),
    );
    await reset(mail?.token ?? '').expect(204);
    expectProblem(await app.http.get('/auth/me').set('x-service-api-key', later), 401, 'invalid_api_key');
  });

  test('leaves what an account without an email has', async () => {
    const { id } = await app.auth.users.create({ username: 'grace' });
    const { key } = await app.auth.apiKeys.create(id, { name: 'program' });
    await app.auth.users.changeEmail(id, NEW, { verified: true });
    await app.http.get('/auth/me').set('x-service-api-key', key).expect(200);
  });

  test('refuses what a sign-up would', async () => {
    await signedIn(app, bob);
    const change = (email: string, id = userId) => app.auth.users.changeEmail(id, email);
    await expect(change(bob.email)).rejects.toMatchObject({ code: 'email_taken' });
    await expect(change('nobody')).rejects.toMatchObject({ errors: [{ pointer: '/email' }] });
    await expect(change(NEW, '01900000-0000-7000-8000-000000000000')).rejects.toMatchObject({
      code: 'user_not_found',
    });
    const before = await app.auth.markEmailVerified(userId);
    expect((await change(ada.email)).emailVerifiedAt).toEqual(before.emailVerifiedAt);
  });
});
