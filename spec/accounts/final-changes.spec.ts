import { afterEach, describe, expect, test } from '@jest/globals';
import { admin, twoFactor } from '../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { beforeChange, byUser } from '../support/changes.js';
import { rows } from '../support/database.js';
import { proveMailbox } from '../support/email-proof.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';
import { ago, HOUR, settled } from '../support/sessions.js';
import { codeOf, enroll, firstStep, forgetSteps, wrongCode } from '../support/two-factor.js';

const NEW = 'a difference engine';
const plugins = () => [password(), twoFactor(), admin({ adminEmails: ['root@example.com'] })] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
let mails: ReturnType<typeof mailbox>;
/** The browser in which Ada first signed in. */
let adas: ReturnType<typeof app.browser>;
afterEach(() => app.stop());

/** Ada in her browser. */
const start = async (email: object = {}, config: object = {}) => {
  mails = mailbox();
  app = await startApp({
    plugins: plugins(),
    config: { baseUrl: 'http://app.example.com', ...config, email: { send: mails.send, ...email } },
  });
  const { id } = await app.auth.users.create(ada);
  await proveMailbox(app.auth, id);
  const browser = app.browser();
  await firstStep(browser).expect(200);
  adas = browser;
  return { id, browser };
};
/** An administrator, who has signed in just now. */
const root = async () => {
  await app.auth.users.create({ ...ada, email: 'root@example.com', emailVerified: true });
  const browser = app.browser();
  await firstStep(browser, { email: 'root@example.com', password: ada.password }).expect(200);
  return browser;
};
const undo = (body: object) => adas.post('/auth/undo-change').send(body);
const openLinks = async (id: string) =>
  (
    await rows(
      app.database,
      'SELECT id FROM account_changes WHERE user_id = :id AND token_hash IS NOT NULL',
      { id },
    )
  ).length +
  (
    await rows(
      app.database,
      'SELECT id FROM known_devices WHERE user_id = :id AND undo_token_hash IS NOT NULL',
      { id },
    )
  ).length;

describe('what the app’s code or an administrator does to a way in', () => {
  const FINAL: Record<string, (id: string) => Promise<unknown>> = {
    'auth.users.setPassword': (id) => app.auth.users.setPassword(id, NEW),
    'auth.users.changeEmail': (id) => app.auth.users.changeEmail(id, 'new@example.com'),
    'auth.users.changeEmail to the same': (id) => app.auth.users.changeEmail(id, ada.email),
    'auth.users.delete': (id) => app.auth.users.delete(id),
    'auth.twoFactor.disable without a factor': (id) => app.auth.twoFactor.disable(id),
    'auth.twoFactor.disable': async (id) => {
      await rows(app.database, 'UPDATE users SET second_factor_at = created_at WHERE id = :id', { id });
      await app.auth.twoFactor.disable(id);
    },
    'DELETE /admin/users/:id': async (id) => (await root()).delete(`/auth/admin/users/${id}`).expect(204),
    'POST /admin/users/:id/disable-second-factor': async (id) => {
      await rows(app.database, 'UPDATE users SET second_factor_at = created_at WHERE id = :id', { id });
      await (await root()).post(`/auth/admin/users/${id}/disable-second-factor`).expect(204);
    },
  };

  test.each(Object.keys(FINAL))('ends every link, and issues none: %s', async (name) => {
    const { id } = await start({}, { accountDeletion: { graceDays: 30 } });
    const earlier = await beforeChange(app.auth, id, 'password-changed');
    // A sign-in in another browser, whose notice has a link too.
    await firstStep(app.browser()).expect(200);
    expect(await openLinks(id)).toBeGreaterThan(1);
    await FINAL[name]?.(id);
    expect(await openLinks(id)).toBe(0);
    expectProblem(await undo({ token: earlier, password: ada.password }), 400, 'invalid_token');
  });

  const LEFT: Record<string, (id: string) => Promise<unknown>> = {
    'auth.revokeAllSessions': (id) => app.auth.revokeAllSessions(id),
    'auth.markEmailVerified': (id) => app.auth.markEmailVerified(id),
    'auth.users.update': (id) => app.auth.users.update(id, {}),
    'auth.admin.sendPasswordReset': (id) => app.auth.admin.sendPasswordReset(id),
  };
  test.each(Object.keys(LEFT))('nothing else does: %s', async (name) => {
    const { id } = await start();
    const earlier = await beforeChange(app.auth, id, 'password-changed');
    await LEFT[name]?.(id);
    await undo({ token: earlier, password: ada.password }).expect(200);
  });

  test('leaves the browsers known that were known', async () => {
    const { id, browser } = await start();
    await app.auth.users.setPassword(id, NEW);
    await settled(app.auth);
    mails.mails.length = 0;
    await firstStep(browser, { email: ada.email, password: NEW }).expect(200);
    await settled(app.auth);
    expect(mails.mails.filter(({ kind }) => kind === 'new-device')).toEqual([]);
  });

  test('is told with whom to ask, and no link', async () => {
    const { id } = await start({ supportUrl: '/help' });
    const mail = await mails.mailOf(ada.email, 'email-changed', () =>
      app.auth.users.changeEmail(id, 'new@example.com'),
    );
    expect(mail).toMatchObject({ token: '', url: '' });
    expect(mail.text).toContain('If you did not expect it, ask http://app.example.com/help.');
    // Nothing holds the address.
    await app.auth.users.create(ada);
  });

  test('does not reveal the device of the administrator', async () => {
    const { id } = await start();
    await rows(app.database, 'UPDATE users SET second_factor_at = created_at WHERE id = :id', { id });
    const administrator = await root();
    const userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
    const mail = await mails.mailOf(ada.email, 'second-factor-disabled', () =>
      administrator
        .post(`/auth/admin/users/${id}/disable-second-factor`)
        .set('user-agent', userAgent)
        .expect(204),
    );
    expect(JSON.stringify(mail)).not.toMatch(/Firefox|127\.0\.0\.1/);
  });

  test.each([
    ['mailto:help@example.com', 'ask help@example.com.'],
    ['https://help.example.com/', 'ask https://help.example.com/.'],
    [undefined, 'ask the people who run app.example.com.'],
  ])('names supportUrl: %s', async (supportUrl, words) => {
    const { id } = await start({ supportUrl });
    const mail = await mails.mailOf(ada.email, 'password-changed', () => app.auth.users.setPassword(id, NEW));
    expect(mail.text).toContain(words);
  });

  test('keeps an account shut until the app restores it', async () => {
    const { id } = await start({}, { accountDeletion: { graceDays: 30 } });
    const mail = await mails.mailOf(ada.email, 'account-deleted', () => app.auth.users.delete(id));
    expect(mail.token).toBe('');
    expectProblem(await firstStep(app.browser()), 403, 'account_deleted');
    await app.auth.users.restore(id);
    await firstStep(app.browser()).expect(200);
  });
});

describe('auth.users.setPassword and changeEmail with a session', () => {
  test('are the user’s change, which a link undoes', async () => {
    const { id } = await start();
    const { token } = await mails.mailOf(ada.email, 'password-changed', () =>
      byUser(app.auth, id, (own) => app.auth.users.setPassword(id, NEW, own)),
    );
    await undo({ token, password: ada.password }).expect(200, { undone: 'password-changed' });
  });

  test('ask for a recent sign-in, a session of that user, and the second factor', async () => {
    const { id, browser } = await start();
    const { session } = (await browser.get('/auth/me')).body;
    const codesOf = async (sessionId: string) => [
      await app.auth.users.setPassword(id, NEW, { sessionId }).catch(({ code }) => code),
      await app.auth.users.changeEmail(id, 'new@example.com', { sessionId }).catch(({ code }) => code),
    ];
    const both = (code: string) => [code, code];
    const other = await app.auth.users.create({ ...ada, email: 'bob@example.com' });
    const bobs = await app.auth.createSession(other.id);
    expect(await codesOf(bobs.session.id)).toEqual(both('invalid_session'));
    await rows(app.database, 'UPDATE sessions SET authenticated_at = :at', { at: ago(HOUR) });
    expect(await codesOf(session.id)).toEqual(both('reauthentication_required'));
    await rows(app.database, 'UPDATE sessions SET authenticated_at = :at', { at: new Date() });
    await rows(app.database, 'UPDATE users SET second_factor_at = created_at WHERE id = :id', { id });
    expect(await codesOf(session.id)).toEqual(both('second_factor_required'));
  });
});

describe('auth.endUndo()', () => {
  test('ends all links of one account, and frees the email that it holds', async () => {
    const { id } = await start();
    await byUser(app.auth, id, (own) => app.auth.users.changeEmail(id, 'new@example.com', own));
    await firstStep(app.browser(), { email: 'new@example.com', password: ada.password }).expect(200);
    expect(await openLinks(id)).toBeGreaterThan(1);
    await expect(app.auth.users.create(ada)).rejects.toMatchObject({ code: 'email_taken' });
    await app.auth.endUndo(id);
    expect(await openLinks(id)).toBe(0);
    await app.auth.users.create(ada);
    const nobody = app.auth.endUndo('01900000-0000-7000-8000-000000000000');
    await expect(nobody).rejects.toMatchObject({ code: 'user_not_found' });
  });
});

describe('an undo', () => {
  test('is told to both addresses, without a link, and the event names them', async () => {
    const { id } = await start();
    const events: unknown[] = [];
    app.auth.on('account.recovered', (event) => events.push(event));
    const { token } = await mails.mailOf(ada.email, 'email-changed', () =>
      byUser(app.auth, id, (own) => app.auth.users.changeEmail(id, 'new@example.com', own)),
    );
    await undo({ token, password: ada.password }).expect(200);
    await settled(app.auth);
    const told = mails.mails.filter(({ kind }) => kind === 'account-recovered');
    expect(told.map(({ to }) => to).sort()).toEqual([ada.email, 'new@example.com'].sort());
    for (const mail of told) expect(mail.token).toBe('');
    // The address that was removed may be an intruder's, who must not learn where the owner is.
    const [removed] = told.filter(({ to }) => to === 'new@example.com');
    expect(removed?.details).toMatchObject({ device: null, ip: null });
    const reset = mails.mails.find(({ kind }) => kind === 'reset-password');
    expect(reset).toMatchObject({ to: ada.email, text: expect.stringContaining('the password was removed') });
    expect(reset?.text).not.toContain('has not changed');
    expect(events).toMatchObject([
      { userId: id, kind: 'email-changed', restoredEmail: ada.email, removedEmail: 'new@example.com' },
    ]);
  });

  test('counts wrong codes as a sign-in does, and unlocks nothing', async () => {
    const { id, browser } = await start();
    const { secret } = await enroll(browser);
    await forgetSteps(app);
    const token = await beforeChange(app.auth, id);
    const proof = { password: ada.password };
    const wrongCodes = async () =>
      (await rows<{ wrong_codes: number }>(app.database, 'SELECT wrong_codes FROM totp_secrets'))[0]
        ?.wrong_codes;
    for (let tries = 0; tries < 3; tries++)
      expectProblem(await undo({ token, ...proof, code: wrongCode(secret) }), 401, 'invalid_code');
    expect(await wrongCodes()).toBe(3);
    await rows(app.database, 'UPDATE totp_secrets SET wrong_codes = 100');
    expectProblem(await undo({ token, ...proof, code: codeOf(secret) }), 401, 'invalid_code');
    await rows(app.database, 'UPDATE totp_secrets SET wrong_codes = 50');
    await undo({ token, ...proof, code: codeOf(secret) }).expect(200);
    expect(await wrongCodes()).toBe(50);
  });

  test('does not take a code that was used at a sign-in since', async () => {
    const { id, browser } = await start();
    const { secret } = await enroll(browser);
    await forgetSteps(app);
    const token = await beforeChange(app.auth, id);
    const code = codeOf(secret);
    await browser.post('/auth/reauthenticate').send({ code }).expect(204);
    expectProblem(await undo({ token, password: ada.password, code }), 401, 'invalid_code');
    expect(sessionCookie(await browser.get('/auth/me').expect(200))).toBeUndefined();
  });
});
