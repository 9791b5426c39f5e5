import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ada, password, type SpecApp, sessionCookie, startApp } from '../support/app.js';
import { byUser } from '../support/changes.js';
import { mailbox } from '../support/mailbox.js';
import { expectProblem } from '../support/problem.js';
import { settled } from '../support/sessions.js';
import { firstStep } from '../support/two-factor.js';

// The device of a client without cookies.
const plugins = () => [password()] as const;

let app: SpecApp<ReturnType<typeof plugins>>;
let mails: ReturnType<typeof mailbox>;
let id: string;
const start = async (config: object) => {
  mails = mailbox();
  app = await startApp({
    plugins: plugins(),
    config: { baseUrl: 'http://app.example.com', email: { send: mails.send }, ...config },
  });
  id = (await app.auth.users.create(ada)).id;
};
afterEach(() => app.stop());

const signIn = (device: string, cookie = '') => {
  const sent = app.http.post('/auth/signin/credential').set('latchkey-device', device).set('cookie', cookie);
  return sent.send({ credential: ada.email, password: ada.password });
};
const noticesOfDevices = async () => {
  await settled(app.auth);
  return mails.mails.filter(({ kind }) => kind === 'new-device').length;
};

describe('the header Latchkey-Device', () => {
  beforeEach(() => start({ bearerEnabled: true }));

  test('gets a device token in the answer, and no cookie', async () => {
    const first = await signIn('new').expect(200);
    const { device_token: token } = first.body;
    expect(token).toMatch(/^lkd_/);
    expect(sessionCookie(first, 'latchkey-device')).toBeUndefined();
    const again = await signIn(token).expect(200);
    expect(again.body.device_token).toBe(token);
    expect(await noticesOfDevices()).toBe(0);
    const other = await signIn('new').expect(200);
    expect(other.body.device_token).not.toBe(token);
    expect(await noticesOfDevices()).toBe(1);
  });

  test('decides in place of the cookie, which stays what it is', async () => {
    const browser = await firstStep(app.browser()).expect(200);
    expect(browser.body).not.toHaveProperty('device_token');
    const cookie = `latchkey-device=${sessionCookie(browser, 'latchkey-device')?.value}`;
    const { body } = await signIn('new', cookie).expect(200);
    expect(await noticesOfDevices()).toBe(1);
    const kept = await app.http
      .post('/auth/signin/credential')
      .set('cookie', cookie)
      .send({ credential: ada.email, password: ada.password });
    expect(`latchkey-device=${sessionCookie(kept, 'latchkey-device')?.value}`).toBe(cookie);
    for (const device of ['junk', `${body.device_token}, ${body.device_token}`]) {
      const made = await signIn(device, cookie).expect(200);
      expect(`latchkey-device=${made.body.device_token}`).not.toBe(cookie);
    }
    expect(await noticesOfDevices()).toBe(3);
  });

  test('is the browser of an undo', async () => {
    const { device_token: device } = (await signIn('new').expect(200)).body;
    const { token } = await mails.mailOf(ada.email, 'password-changed', () =>
      byUser(app.auth, id, (own) => app.auth.users.setPassword(id, 'a difference engine', own)),
    );
    const undo = (sent: string) =>
      app.http.post('/auth/undo-change').set('latchkey-device', sent).send({ token, password: ada.password });
    expectProblem(await undo('new'), 403, 'proof_required', ['browser']);
    await undo(device).expect(200);
  });
});

test('without bearerEnabled, the header means nothing', async () => {
  await start({});
  const answer = await signIn('new').expect(200);
  expect(answer.body).not.toHaveProperty('device_token');
  expect(sessionCookie(answer, 'latchkey-device')?.value).toMatch(/^lkd_/);
});
