import { afterEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { createToken } from '../../lib/crypto/token.js';
import { admin, apiKeys, suspension } from '../../lib/index.js';
import { UNDO_PREFIX } from '../../lib/notices/notices.js';
import { ada, password, type SpecApp, sessionCookie, signedIn, startApp } from '../support/app.js';
import { beforeChange, byUser } from '../support/changes.js';
import { rows } from '../support/database.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';
import { ago, DAY } from '../support/sessions.js';

const plugins = () =>
  [
    password({ username: true }),
    apiKeys(),
    admin({ adminEmails: ['owner@example.com'] }),
    suspension(),
  ] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
let mails: ReturnType<typeof mailbox>;
afterEach(() => app.stop());

/** The cookie of the browser in which Ada first signed in. */
let known = '';

const EVE = { email: 'eve@example.com', password: 'the words of an intruder' };

const start = async (config = {}) => {
  mails = mailbox();
  app = await startApp({
    plugins: plugins(),
    config: { baseUrl: 'http://app.example.com', ...config, email: { send: mails.send } },
  });
};

/** Ada, and the browser in which she is signed in. */
const startWithAda = async (config = {}) => {
  await start(config);
  const browser = app.browser();
  const { user } = (await browser.post('/auth/signup/credential').send({ ...ada, username: 'ada' })).body;
  const signIn = await browser
    .post('/auth/signin/credential')
    .send({ credential: ada.email, password: ada.password });
  await app.auth.markEmailVerified(user.id);
  known = `latchkey-device=${sessionCookie(signIn, 'latchkey-device')?.value}`;
  return { browser, id: user.id as string, device: known };
};
const undo = (body: object, cookies = known) =>
  app.http.post('/auth/undo-change').set('cookie', cookies).send(body);
const signIn = (person = ada, cookies = '') =>
  app.http
    .post('/auth/signin/credential')
    .set('cookie', cookies)
    .send({ credential: person.email, password: person.password });
/** Somebody takes the account over. @returns the token of the first notice */
const takeOver = async (id: string) => {
  const { token } = await mails.mailOf(ada.email, 'email-changed', () =>
    byUser(app.auth, id, (own) => app.auth.users.changeEmail(id, EVE.email, { verified: true, ...own })),
  );
  await byUser(app.auth, id, (own) => app.auth.users.setPassword(id, EVE.password, own));
  await app.auth.users.update(id, { username: 'eve' });
  return token;
};

describe('POST /undo-change', () => {
  test('puts back what a change and every later one did, and lets nobody in', async () => {
    const { browser, id } = await startWithAda();
    const events: string[] = [];
    app.auth.on('account.recovered', ({ userId, kind }) => events.push(`recovered ${userId} ${kind}`));
    app.auth.on('user.email_changed', ({ userId }) => events.push(`email ${userId}`));
    app.auth.on('session.revoked', () => events.push('session'));
    const before = await app.auth.users.get(id);
    const token = await takeOver(id);
    await signIn(EVE).expect(200);
    events.length = 0;
    const reset = await mails.mailOf(ada.email, 'reset-password', () =>
      undo({ token, password: ada.password }).expect(200, { undone: 'email-changed' }),
    );
    expect(await app.auth.users.get(id)).toEqual({ ...before, updatedAt: expect.any(Date) });
    expect(events).toEqual(['session', `recovered ${id} email-changed`, `email ${id}`]);
    await browser.get('/auth/me').expect(401);
    for (const person of [EVE, ada, { ...ada, password: EVE.password }])
      expectProblem(await signIn(person), 401, 'invalid_credentials');
    await app.http
      .post('/auth/passwords/reset')
      .send({ token: reset.token, new_password: 'a difference engine' })
      .expect(204);
    await signIn({ ...ada, password: 'a difference engine' }).expect(200);
  });

  test('leads only back: links of what it undid are dead, earlier ones are not', async () => {
    const { id } = await startWithAda();
    const first = await beforeChange(app.auth, id, 'password-changed');
    await byUser(app.auth, id, (own) => app.auth.users.setPassword(id, 'a difference engine', own));
    const second = await takeOver(id);
    const third = await beforeChange(app.auth, id, 'password-changed');
    await byUser(app.auth, id, (own) => app.auth.users.setPassword(id, 'more words of an intruder', own));
    await undo({ token: second, password: 'a difference engine' }).expect(200);
    for (const token of [second, third])
      for (const word of ['a difference engine', EVE.password, 'more words of an intruder'])
        expectProblem(await undo({ token, password: word }), 400, 'invalid_token');
    await undo({ token: first, password: ada.password }).expect(200, { undone: 'password-changed' });
    const live = 'SELECT kind FROM account_changes WHERE token_hash IS NOT NULL';
    expect(await rows(app.database, live)).toEqual([]);
  });

  test('takes a token once, for seven days', async () => {
    const { id } = await startWithAda();
    const token = await beforeChange(app.auth, id);
    for (const junk of ['junk', `lku_${'A'.repeat(48)}`, token.replace('lku_', 'lkm_')])
      expectProblem(await undo({ token: junk, password: ada.password }), 400, 'invalid_token');
    expectProblem(await undo({ password: ada.password }), 422, 'validation_failed');
    expectProblem(await undo({ token, password: 5 }), 422, 'validation_failed');
    expectProblem(await undo({ token, trusted: true }), 422, 'validation_failed');
    await rows(app.database, 'UPDATE account_changes SET expires_at = :at', {
      at: new Date(Date.now() - 1000),
    });
    expectProblem(await undo({ token, password: ada.password }), 400, 'invalid_token');
    await rows(app.database, 'UPDATE account_changes SET expires_at = :at', {
      at: new Date(Date.now() + 9000),
    });
    await undo({ token, password: ada.password }).expect(200);
    expectProblem(await undo({ token, password: ada.password }), 400, 'invalid_token');
  });

  test('is done once by 16 at once', async () => {
    const { id } = await startWithAda();
    const token = await takeOver(id);
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => undo({ token, password: ada.password })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(15).fill(400)]);
    expect(await app.auth.users.get(id)).toMatchObject({ email: ada.email, username: 'ada' });
  });

  test('is done by a form', async () => {
    const { id } = await startWithAda();
    const token = await beforeChange(app.auth, id);
    const send = (fields: object) =>
      app.http.post('/auth/undo-change').set('cookie', known).type('form').send(fields);
    const refused = await send({ token, error_to: '/undo', password: '' });
    expect([refused.status, refused.headers.location]).toEqual([303, '/undo?error=proof_required']);
    const done = await send({ token, password: ada.password, redirect_to: '/undone' });
    expect([done.status, done.headers.location]).toEqual([303, '/undone']);
  });

  test('clears the cookie of a session that it ended', async () => {
    const { browser, id } = await startWithAda();
    const bob = await signedIn(app, { email: 'bob@example.com', password: ada.password });
    const first = await browser
      .post('/auth/undo-change')
      .send({ token: await beforeChange(app.auth, id), password: ada.password });
    expect([first.status, sessionCookie(first)?.value]).toEqual([200, '']);
    const token = await beforeChange(app.auth, id);
    await byUser(app.auth, id, (own) => app.auth.users.setPassword(id, 'a difference engine', own));
    const second = await bob.post('/auth/undo-change').send({ token, password: ada.password });
    expectProblem(second, 403, 'proof_required');
    await bob.get('/auth/me').expect(200);
  });

  test('is not there without mail or notices', async () => {
    app = await startApp({ plugins: plugins() });
    await app.http.post('/auth/undo-change').send({ token: 'x' }).expect(404);
    await app.stop();
    const email = { send: () => undefined, notices: false };
    app = await startApp({ plugins: plugins(), config: { email } });
    await app.http.post('/auth/undo-change').send({ token: 'x' }).expect(404);
  });
});

describe('the proof beside the token', () => {
  test('is the browser in which the account first signed in, whatever has been signed out since', async () => {
    const { browser, id, device } = await startWithAda();
    await browser.post('/auth/signout').expect(204);
    const token = await takeOver(id);
    await rows(app.database, 'UPDATE known_devices SET forgotten_at = :at', { at: new Date() });
    const refused = await undo({ token, password: ada.password }, '');
    expectProblem(refused, 403, 'proof_required', ['browser']);
    await undo({ token, password: ada.password }, device).expect(200);
  });

  test('is no browser that came with the change, or is of another account; and nothing else is looked at', async () => {
    const { id } = await startWithAda();
    await app.auth.credential.signUp({ email: 'bob@example.com', password: ada.password });
    const bobs = sessionCookie(await signIn({ ...ada, email: 'bob@example.com' }), 'latchkey-device');
    const token = await takeOver(id);
    const eves = sessionCookie(await signIn(EVE), 'latchkey-device');
    const events: string[] = [];
    app.auth.on('sign_in.failed', () => events.push('failed'));
    for (const other of [bobs, eves])
      for (const word of [ada.password, 'wrong']) {
        const refused = await undo({ token, password: word }, `latchkey-device=${other?.value}`);
        expectProblem(refused, 403, 'proof_required', ['browser']);
      }
    expect(events).toEqual([]);
  });

  test('is the password as it was then, and no other', async () => {
    const { id } = await startWithAda();
    const token = await takeOver(id);
    const refused = await undo({ token });
    expectProblem(refused, 403, 'proof_required', ['password']);
    for (const wrong of [EVE.password, 'x'.repeat(1024)])
      expectProblem(await undo({ token, password: wrong }), 401, 'invalid_credentials');
    expect(await app.auth.users.get(id)).toMatchObject({ email: EVE.email });
    await undo({ token, password: ada.password }).expect(200);
  });

  test('is the browser alone if there was no password', async () => {
    const { id } = await startWithAda();
    await rows(app.database, 'UPDATE users SET password_hash = NULL');
    const token = await beforeChange(app.auth, id);
    await byUser(app.auth, id, (own) => app.auth.users.setPassword(id, EVE.password, own));
    for (const wrong of [EVE.password, 'x'])
      expectProblem(await undo({ token, password: wrong }), 401, 'invalid_credentials');
    expectProblem(await undo({ token }, ''), 403, 'proof_required');
    await undo({ token }).expect(200);
  });

  test('is the earlier password where an undo has left none', async () => {
    const { id } = await startWithAda();
    await undo({ token: await beforeChange(app.auth, id), password: ada.password }).expect(200);
    const token = await beforeChange(app.auth, id);
    await byUser(app.auth, id, (own) => app.auth.users.setPassword(id, EVE.password, own));
    const refused = await undo({ token });
    expectProblem(refused, 403, 'proof_required', ['password']);
    expectProblem(await undo({ token, password: EVE.password }), 401, 'invalid_credentials');
    await undo({ token, password: ada.password }).expect(200);
  });

  test('is counted for the link alone, so that hammering the account does not keep the owner out', async () => {
    const { id } = await startWithAda({ rateLimit: { signIn: false } });
    const token = await beforeChange(app.auth, id);
    const other = await beforeChange(app.auth, id);
    const wrong = () => signIn({ ...ada, password: 'wrong' });
    while ((await wrong()).status !== 429);
    const bad = { token, password: 'wrong' };
    for (let i = 0; i < 5; i++) expectProblem(await undo(bad), 401, 'invalid_credentials');
    expectProblem(await undo(bad), 429, 'rate_limited');
    expectProblem(await undo({ token, password: ada.password }), 429, 'rate_limited');
    await undo({ token: other, password: ada.password }).expect(200);
  });

  test('is looked at five times by 40 at once', async () => {
    const { id } = await startWithAda({ rateLimit: { signIn: false } });
    const token = await beforeChange(app.auth, id);
    const answers = await Promise.all(Array.from({ length: 40 }, () => undo({ token, password: 'wrong' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array(5).fill(401),
      ...Array(35).fill(429),
    ]);
  });

  test('counts against the limit of the address', async () => {
    const { id } = await startWithAda({ rateLimit: { signIn: { limit: 3, window: 60 } } });
    const token = await beforeChange(app.auth, id);
    for (let i = 0; i < 2; i++) expectProblem(await undo({ token }), 403, 'proof_required');
    expectProblem(await undo({ token }), 429, 'rate_limited');
  });

  test('is not needed by code that has its own, and junk is no such word', async () => {
    const { id } = await startWithAda();
    const token = await takeOver(id);
    await expect(app.auth.undoChange(token)).rejects.toMatchObject({ code: 'proof_required' });
    for (const trusted of ['yes', 1, {}] as never[])
      await expect(app.auth.undoChange(token, { trusted })).rejects.toMatchObject({ code: 'proof_required' });
    await expect(app.auth.undoChange(token, { password: ada.password })).rejects.toMatchObject({
      code: 'proof_required',
      missing: ['browser'],
    });
    const request = { headers: { cookie: known } };
    await expect(app.auth.undoChange(token, { request, password: 'x' })).rejects.toMatchObject({
      code: 'invalid_credentials',
    });
    expect(await app.auth.undoChange(token, { trusted: true })).toEqual({ undone: 'email-changed' });
    await expect(app.auth.undoChange(token, { trusted: true })).rejects.toMatchObject({
      code: 'invalid_token',
    });
  });
});

describe('an undo', () => {
  test('ends the API keys made since, and emailed links', async () => {
    const { browser, id } = await startWithAda();
    const key = async (name: string) => (await app.auth.apiKeys.create(id, { name })).apiKey.id;
    const earlier = await key('earlier');
    const gone = await key('gone');
    const token = await beforeChange(app.auth, id, 'api-key-created');
    await key('since');
    await app.auth.apiKeys.revoke(id, gone);
    const change = await mails.mailOf(EVE.email, 'verify-new-email', () =>
      browser.post('/auth/email-changes').send({ new_email: EVE.email }).expect(202),
    );
    const reset = await mails.mailOf(ada.email, 'reset-password', () =>
      app.http.post('/auth/passwords/request-reset').send({ email: ada.email }).expect(202),
    );
    await undo({ token, password: ada.password }).expect(200);
    expect((await app.auth.apiKeys.list(id)).map((one) => one.id)).toEqual([earlier]);
    const confirm = { token: change.token, password: ada.password };
    expectProblem(await app.http.post('/auth/email-changes/confirm').send(confirm), 400, 'invalid_token');
    const choose = { token: reset.token, new_password: EVE.password };
    expectProblem(await app.http.post('/auth/passwords/reset').send(choose), 400, 'invalid_token');
  });

  test('forgets the devices that came since, and what undoes their sign-ins', async () => {
    const { id } = await startWithAda();
    const token = await takeOver(id);
    await signIn(EVE).expect(200);
    await undo({ token, password: ada.password }).expect(200);
    const devices = await rows<object>(
      app.database,
      'SELECT forgotten_at, dropped, undo_token_hash FROM known_devices ORDER BY created_at',
    );
    expect(devices).toEqual([
      { forgotten_at: null, dropped: null, undo_token_hash: expect.anything() },
      { forgotten_at: expect.anything(), dropped: expect.anything(), undo_token_hash: null },
    ]);
  });

  test('takes a mark for the state before the next change, or as it is', async () => {
    const { id } = await startWithAda();
    const { core } = internalsOf(app.auth);
    const marked = async () => {
      const token = createToken(UNDO_PREFIX);
      await core.history.recordEvent(id, { kind: 'recovery-code-used', token });
      return token;
    };
    await undo({ token: await marked(), password: ada.password }).expect(200, {
      undone: 'recovery-code-used',
    });
    await byUser(app.auth, id, (own) => app.auth.users.setPassword(id, ada.password, own));
    const token = await marked();
    await takeOver(id);
    await undo({ token, password: ada.password }).expect(200);
    expect(await app.auth.users.get(id)).toMatchObject({ email: ada.email, username: 'ada' });
  });

  test('keeps what somebody else has got in the meantime with them, and does the rest', async () => {
    const { id } = await startWithAda();
    const token = await takeOver(id);
    await app.auth.users.create({ username: 'ada' });
    await undo({ token, password: ada.password }).expect(200);
    expect(await app.auth.users.get(id)).toMatchObject({ email: ada.email, username: 'eve' });
    const again = await takeOver(id);
    const bob = await app.auth.users.create({ email: 'bob@example.com' });
    await rows(app.database, 'UPDATE users SET email = :email WHERE id = :id', {
      email: ada.email,
      id: bob.id,
    });
    // Nothing would be left to sign in with.
    await expect(app.auth.undoChange(again, { trusted: true })).rejects.toMatchObject({
      code: 'last_sign_in_method',
    });
    expect(await app.auth.users.get(id)).toMatchObject({ email: EVE.email });
  });

  test('tells the hook, which can refuse it', async () => {
    const changes: string[][] = [];
    let refuses = false;
    const { id } = await startWithAda({
      hooks: {
        afterUpdateUser(_user: object, changed: string[]) {
          if (refuses) throw new Error('not now');
          changes.push(changed);
        },
      },
    });
    // Not in the same millisecond as the intruder's.
    await rows(app.database, 'UPDATE users SET email_verified_at = created_at');
    const token = await takeOver(id);
    changes.length = 0;
    refuses = true;
    await expect(app.auth.undoChange(token, { trusted: true })).rejects.toThrow('not now');
    expect(await app.auth.users.get(id)).toMatchObject({ email: EVE.email });
    refuses = false;
    await app.auth.undoChange(token, { trusted: true });
    expect(changes).toEqual([['email', 'emailVerifiedAt', 'username']]);
  });

  test('leaves a suspended account suspended', async () => {
    const { id } = await startWithAda();
    const token = await takeOver(id);
    await app.auth.suspension.suspend(id);
    await undo({ token, password: ada.password }).expect(200);
    expect(await app.auth.users.get(id)).toMatchObject({ email: ada.email, suspendedAt: expect.any(Date) });
  });

  test('leads to nobody who had the address before its owner, who arrives by a reset', async () => {
    await start();
    const { id: second } = await app.auth.users.create({ ...EVE });
    const theirs = await beforeChange(app.auth, second);
    const reset = await mails.mailOf(EVE.email, 'reset-password', () =>
      app.http.post('/auth/passwords/request-reset').send({ email: EVE.email }).expect(202),
    );
    const choose = { token: reset.token, new_password: 'a difference engine' };
    await app.http.post('/auth/passwords/reset').send(choose).expect(204);
    expectProblem(await undo({ token: theirs, password: EVE.password }), 400, 'invalid_token');
  });
});

describe('what is kept for it', () => {
  test('is unreadable, is re-encrypted, and ends with the account', async () => {
    const { id } = await startWithAda();
    const [user] = await rows<{ password_hash: string }>(app.database, 'SELECT password_hash FROM users');
    const token = await takeOver(id);
    const dump = async () => JSON.stringify(await rows(app.database, 'SELECT * FROM account_changes'));
    expect(await dump()).not.toContain(user?.password_hash);
    expect(await dump()).not.toContain(token);
    expect(await dump()).not.toContain('"parts"');
    expect(await app.auth.rotateSecrets()).toBe(0);
    expect(await app.auth.prune()).toBe(0);
    await app.auth.users.delete(id);
    expect(await dump()).toBe('[]');
    expectProblem(await undo({ token, password: ada.password }), 400, 'invalid_token');
  });

  test('goes when it is of no use any more, and the line in the list later', async () => {
    const { id } = await startWithAda();
    await takeOver(id);
    await rows(app.database, 'UPDATE account_changes SET expires_at = :at', { at: ago(1000) });
    expect(await app.auth.prune({ dryRun: true })).toBe(3);
    expect(await app.auth.prune()).toBe(3);
    const left = await rows(app.database, 'SELECT token_hash, email, state FROM account_changes');
    expect(left).toEqual(Array(3).fill({ token_hash: null, email: null, state: null }));
    expect(await app.auth.prune()).toBe(0);
    await rows(app.database, 'UPDATE account_changes SET expires_at = :at', { at: ago(31 * DAY) });
    expect(await app.auth.prune()).toBe(3);
    expect(await rows(app.database, 'SELECT id FROM account_changes')).toEqual([]);
  });
});
