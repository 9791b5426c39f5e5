import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { passkeys } from '../../../../lib/index.js';
import { password, type SpecApp, sessionCookie, signedIn, startApp } from '../../../support/app.js';
import { type Authenticator, base64url } from '../../../support/authenticator.js';
import { rows } from '../../../support/database.js';
import { addPasskey, authenticator, optionsOf, PAGE } from '../../../support/passkeys.js';
import { expectProblem } from '../../../support/problem.js';

const plugins = [password(), passkeys()] as const;
let app: SpecApp<typeof plugins>;
beforeAll(async () => {
  app = await startApp({ plugins, config: { baseUrl: PAGE } });
});
afterAll(() => app.stop());

let people = 0;
let browser: Awaited<ReturnType<typeof signedIn>>;
let userId: string;
let sessionId: string;
let device: Authenticator;
beforeEach(async () => {
  const email = `user-${people++}@example.com`;
  browser = await signedIn(app, { email, password: 'an analytical engine' });
  const { user, session } = (await browser.get('/auth/me').expect(200)).body;
  [userId, sessionId, device] = [user.id, session.id, authenticator({ counter: 1 })];
  await addPasskey(browser, device);
});
const confirm = (passkey: object, from = browser) => from.post('/auth/reauthenticate').send({ passkey });
const makeStale = () =>
  rows(app.database, 'UPDATE sessions SET authenticated_at = :past WHERE id = :sessionId', {
    sessionId,
    past: new Date(Date.now() - 601_000),
  });

describe('POST /reauthenticate/options', () => {
  test('asks for the passkeys of the user only', async () => {
    const second = authenticator();
    await addPasskey(browser, second);
    const options = await optionsOf(browser, '/reauthenticate/options');
    expect(options).toEqual({
      rpId: 'localhost',
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      timeout: 300_000,
      allowCredentials: [second, device].map(({ credentials }) => ({
        id: base64url(credentials[0]!.id),
        type: 'public-key',
        transports: ['internal', 'hybrid'],
      })),
      userVerification: 'required',
    });
  });

  test('needs no recent sign-in', async () => {
    await makeStale();
    await optionsOf(browser, '/reauthenticate/options');
  });
});

describe('POST /reauthenticate with a passkey', () => {
  test('makes the session fresh, with two factors, and with a new token', async () => {
    await makeStale();
    expectProblem(await browser.post('/auth/passkeys/options'), 403, 'reauthentication_required');
    const answer = await confirm(device.get(await optionsOf(browser, '/reauthenticate/options')));
    expect(answer.status).toBe(204);
    expect(sessionCookie(answer)?.value).toMatch(/^lks_/);
    const { session } = (await browser.get('/auth/me').expect(200)).body;
    expect(session).toMatchObject({ id: sessionId, aal: 2, amr: ['pwd', 'swk', 'user', 'mfa'] });
    await optionsOf(browser, '/passkeys/options');
  });

  test('does not need the user handle, since the user is known', async () => {
    const options = await optionsOf(browser, '/reauthenticate/options');
    await confirm(device.get(options, { userHandle: null })).expect(204);
  });

  test('refuses what does not verify', async () => {
    for (const lies of [{ userVerified: false }, { origin: 'http://localhost:1' }, { crossOrigin: true }]) {
      const options = await optionsOf(browser, '/reauthenticate/options');
      expectProblem(await confirm(device.get(options, lies)), 401, 'invalid_passkey');
    }
  });

  test("refuses somebody else's passkey", async () => {
    const other = await signedIn(app, {
      email: `other-${people++}@example.com`,
      password: 'an analytical engine',
    });
    const its = authenticator();
    await addPasskey(other, its);
    const options = await optionsOf(browser, '/reauthenticate/options');
    const response = its.get(options, { credential: its.credentials[0]! });
    expectProblem(await confirm(response), 401, 'invalid_passkey');
  });

  test('takes a challenge of this session and this purpose only', async () => {
    const elsewhere = app.browser();
    const { email } = (await browser.get('/auth/me')).body.user;
    await elsewhere
      .post('/auth/signin/credential')
      .send({ credential: email, password: 'an analytical engine' })
      .expect(200);
    for (const [from, path] of [
      [elsewhere, '/reauthenticate/options'],
      [browser, '/signin/passkey/options'],
      [browser, '/passkeys/options'],
    ] as const) {
      const { challenge } = await optionsOf(from, path);
      const options = await optionsOf(browser, '/reauthenticate/options');
      expectProblem(await confirm(device.get({ ...options, challenge })), 401, 'invalid_passkey');
    }
    const options = await optionsOf(browser, '/reauthenticate/options');
    const response = device.get(options);
    expectProblem(await browser.post('/auth/signin/passkey').send({ response }), 401, 'invalid_passkey');
    await confirm(response).expect(204);
  });

  test('of sixteen equal responses, one is taken', async () => {
    const response = device.get(await optionsOf(browser, '/reauthenticate/options'));
    const answers = await Promise.all(Array.from({ length: 16 }, () => confirm(response)));
    expect(answers.filter(({ status }) => status === 204)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(15);
  });

  test('by code', async () => {
    const owner = { userId, sessionId };
    const { options } = await app.auth.passkeys.reauthenticationOptions(owner);
    const response = device.get(options as never);
    const issued = await app.auth.passkeys.reauthenticate({ ...owner, response });
    expect(issued).toMatchObject({ user: { id: userId }, session: { id: sessionId, aal: 2 } });
    const again = app.auth.passkeys.reauthenticate({ ...owner, response });
    await expect(again).rejects.toMatchObject({ code: 'invalid_passkey' });
  });

  test.each(['018f0000-0000-7000-8000-000000000000', 'nobody'])('by code, of %s is 404', async (nobody) => {
    const options = app.auth.passkeys.reauthenticationOptions({ userId: nobody, sessionId });
    await expect(options).rejects.toMatchObject({ code: 'user_not_found' });
  });
});
