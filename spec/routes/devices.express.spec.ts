import { afterEach, describe, expect, test } from '@jest/globals';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { proveMailbox } from '../support/email-proof.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';
import { ago, DAY, HOUR, SECOND } from '../support/sessions.js';
import { firstStep } from '../support/two-factor.js';

const plugins = () => [password()] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
let mails: ReturnType<typeof mailbox>;
afterEach(() => app.stop());

type Browser = ReturnType<typeof app.browser>;

/** Ada, in two browsers. */
const start = async () => {
  mails = mailbox();
  const config = { baseUrl: 'http://app.example.com', email: { send: mails.send } };
  app = await startApp({ plugins: plugins(), config });
  const { id } = await app.auth.users.create(ada);
  await proveMailbox(app.auth, id);
  const [browser, other] = [app.browser(), app.browser()];
  await firstStep(browser).set('user-agent', 'curl/8.5').expect(200);
  await firstStep(other).set('user-agent', '').expect(200);
  return { id, browser, other };
};
const list = async (browser: Browser) => (await browser.get('/auth/devices').expect(200)).body.devices;
const currentOf = async (browser: Browser) =>
  (await list(browser)).find(({ current }: { current: boolean }) => current);

describe('GET /devices', () => {
  test('lists the browsers that the account knows, most recently used first', async () => {
    const { browser } = await start();
    expect(await list(browser)).toEqual([
      {
        id: expect.stringMatching(/^[\da-f-]{36}$/),
        name: null,
        first_seen_at: expect.stringMatching(/Z$/),
        last_seen_at: expect.stringMatching(/Z$/),
        current: false,
      },
      expect.objectContaining({ name: 'curl', current: true }),
    ]);
    await app.http.get('/auth/devices').expect(401);
  });

  test('lists neither forgotten ones nor those unused for 90 days', async () => {
    const { browser } = await start();
    await rows(app.database, 'UPDATE known_devices SET forgotten_at = :at WHERE name IS NULL', {
      at: ago(1),
    });
    expect(await list(browser)).toHaveLength(1);
    await rows(app.database, 'UPDATE known_devices SET last_used_at = :at', {
      at: ago(90 * DAY + SECOND),
    });
    expect(await list(browser)).toEqual([]);
  });
});

describe('DELETE /devices/:id', () => {
  test('forgets a browser, ends no session, and is told with a link that undoes it', async () => {
    const { browser, other } = await start();
    const { id } = await currentOf(browser);
    const mail = await mails.mailOf(ada.email, 'device-forgotten', () =>
      other.delete(`/auth/devices/${id}`).expect(204),
    );
    expect(mail.text).toContain('Browser: curl');
    expect(mail.token).toMatch(/^lku_/);
    await browser.get('/auth/me').expect(200);
    expect(await list(other)).toHaveLength(1);
    mails.mails.length = 0;
    await mails.mailOf(ada.email, 'new-device', () => firstStep(browser).expect(200));
    // The browser still proves who undoes it, although it has another token now.
    const undo = { token: mail.token, password: ada.password };
    expectProblem(await other.post('/auth/undo-change').send(undo), 403, 'proof_required', ['browser']);
    await browser.post('/auth/undo-change').send(undo).expect(200, { undone: 'device-forgotten' });
  });

  test('asks for a recent sign-in or the password, and for a browser of this account', async () => {
    const { browser, other } = await start();
    const eve = { ...ada, email: 'eve@example.com' };
    await app.auth.users.create(eve);
    const eves = app.browser();
    await firstStep(eves, eve).expect(200);
    const { id: theirs } = await currentOf(eves);
    for (const id of [theirs, '01900000-0000-7000-8000-000000000000', 'junk'])
      expectProblem(await browser.delete(`/auth/devices/${id}`), 404, 'device_not_found');
    const { id } = await currentOf(other);
    await rows(app.database, 'UPDATE sessions SET authenticated_at = :at', { at: ago(HOUR) });
    const forget = (body: object) => browser.delete(`/auth/devices/${id}`).send(body);
    expectProblem(await forget({}), 403, 'reauthentication_required');
    expectProblem(await forget({ password: 'wrong' }), 401, 'invalid_credentials');
    await forget({ password: ada.password }).expect(204);
    expectProblem(await forget({ password: ada.password }), 404, 'device_not_found');
  });

  test('has a form', async () => {
    const { browser, other } = await start();
    const { id } = await currentOf(other);
    const form = browser.post(`/auth/devices/${id}/forget`).type('form');
    const done = await form.send({ redirect_to: '/devices' });
    expect([done.status, done.headers.location]).toEqual([303, '/devices']);
    expect(await list(browser)).toHaveLength(1);
  });
});

describe('GET /account-changes', () => {
  const changesIn = async (browser: Browser) =>
    (await browser.get('/auth/account-changes').expect(200)).body.changes;

  test('lists the changes of 30 days, and whether their links still work', async () => {
    const { id, browser, other } = await start();
    expect(await changesIn(browser)).toEqual([]);
    const change = { current_password: ada.password, new_password: 'a difference engine' };
    const { token } = await mails.mailOf(ada.email, 'password-changed', () =>
      browser.post('/auth/passwords/change').set('user-agent', 'curl/8.5').send(change).expect(200),
    );
    expect(await changesIn(browser)).toEqual([
      {
        id: expect.stringMatching(/^[\da-f-]{36}$/),
        kind: 'password-changed',
        at: expect.stringMatching(/Z$/),
        device: 'curl',
        ip: '127.0.0.1',
        undoable: true,
      },
    ]);
    await browser.post('/auth/undo-change').send({ token, password: ada.password }).expect(200);
    await app.auth.users.setPassword(id, ada.password);
    await firstStep(other).expect(200);
    const seen = (await changesIn(other)).map(({ kind, device, ip, undoable }: Record<string, unknown>) => [
      kind,
      device,
      ip,
      undoable,
    ]);
    expect(seen).toEqual([
      ['password-set', null, null, false],
      ['account-recovered', null, '127.0.0.1', false],
      ['password-changed', 'curl', '127.0.0.1', false],
    ]);
    await rows(app.database, 'UPDATE account_changes SET created_at = :at', { at: ago(31 * DAY) });
    expect(await changesIn(other)).toEqual([]);
  });

  test('is that of the session’s user, and empty where notices are off', async () => {
    app = await startApp({
      plugins: plugins(),
      config: { baseUrl: 'http://app.example.com', email: { send: () => undefined, notices: false } },
    });
    await app.auth.users.create(ada);
    const browser = app.browser();
    await firstStep(browser).expect(200);
    const change = { current_password: ada.password, new_password: 'a difference engine' };
    await browser.post('/auth/passwords/change').send(change).expect(200);
    expect(await changesIn(browser)).toEqual([]);
    await app.http.get('/auth/account-changes').expect(401);
  });
});
