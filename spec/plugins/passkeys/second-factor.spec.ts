import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { passkeys, twoFactor } from '../../../lib/index.js';
import { password, type SpecApp, sessionCookie, signedIn, startApp } from '../../support/app.js';
import { type Authenticator, base64url } from '../../support/authenticator.js';
import { rows } from '../../support/database.js';
import { addPasskey, authenticator, optionsOf, PAGE, signInWith } from '../../support/passkeys.js';
import { expectProblem } from '../../support/problem.js';
import {
  codeOf,
  enroll,
  firstStep,
  forgetSteps,
  secondStep,
  withSecondFactor,
} from '../../support/two-factor.js';

const plugins = [password(), passkeys(), twoFactor()] as const;
let app: SpecApp<typeof plugins>;
beforeAll(async () => {
  app = await startApp({ plugins, config: { baseUrl: PAGE } });
});
afterAll(() => app.stop());

let people = 0;
let person: { email: string; password: string };
let browser: Awaited<ReturnType<typeof withSecondFactor>>['browser'];
let userId: string;
let device: Authenticator;
const newPerson = () => ({ email: `user-${people++}@example.com`, password: 'an analytical engine' });
beforeEach(async () => {
  person = newPerson();
  ({ browser, userId } = await withSecondFactor(app, person));
  device = authenticator();
  await addPasskey(browser, device);
});
const makeStale = () =>
  rows(app.database, 'UPDATE sessions SET authenticated_at = :past WHERE user_id = :userId', {
    userId,
    past: new Date(Date.now() - 601_000),
  });

describe('a passkey as the second step', () => {
  test('completes a sign-in with a password', async () => {
    const other = app.browser();
    const { body } = await firstStep(other, person).expect(200);
    expect(body.second_factor.methods).toContain('passkey');
    const options = await optionsOf(other, '/signin/second-factor/options');
    expect(options.allowCredentials.map(({ id }: { id: string }) => id)).toEqual([
      base64url(device.credentials[0]!.id),
    ]);
    const answer = await secondStep(other, { method: 'passkey', response: device.get(options) });
    expect(answer.status).toBe(200);
    expect(answer.body.user.id).toBe(userId);
    expect(answer.body.session.aal).toBe(2);
    expect([...answer.body.session.amr].sort()).toEqual(['mfa', 'pwd', 'swk', 'user']);
    expect(sessionCookie(answer)).toBeDefined();
  });

  test('is no method of an account without passkeys', async () => {
    const without = newPerson();
    await withSecondFactor(app, without);
    const { body } = await firstStep(app.browser(), without).expect(200);
    expect(body.second_factor.methods).not.toContain('passkey');
  });

  test('refuses what does not verify, and takes a right one afterwards', async () => {
    const other = app.browser();
    await firstStep(other, person).expect(200);
    for (const lies of [{ userVerified: false }, { topOrigin: PAGE }, { rpId: 'example.com' }]) {
      const options = await optionsOf(other, '/signin/second-factor/options');
      const answer = await secondStep(other, { method: 'passkey', response: device.get(options, lies) });
      expectProblem(answer, 401, 'invalid_passkey');
    }
    const options = await optionsOf(other, '/signin/second-factor/options');
    await secondStep(other, { method: 'passkey', response: device.get(options) }).expect(200);
  });

  test("refuses somebody else's passkey, whatever it says", async () => {
    const eve = await withSecondFactor(app, newPerson());
    const its = authenticator();
    await addPasskey(eve.browser, its);
    const other = app.browser();
    await firstStep(other, person).expect(200);
    const { id, userHandle } = device.credentials[0]!;
    for (const lies of [{}, { userHandle }, { id: base64url(id), userHandle }]) {
      const options = await optionsOf(other, '/signin/second-factor/options');
      const response = its.get(options, { ...lies, credential: its.credentials[0]! });
      expectProblem(await secondStep(other, { method: 'passkey', response }), 401, 'invalid_passkey');
    }
  });

  test('takes challenges of this step of this sign-in only', async () => {
    const other = app.browser();
    await firstStep(other, person).expect(200);
    const options = await optionsOf(other, '/signin/second-factor/options');
    const elsewhere = app.browser();
    await firstStep(elsewhere, person).expect(200);
    for (const [from, path] of [
      [elsewhere, '/signin/second-factor/options'],
      [other, '/signin/passkey/options'],
      [browser, '/reauthenticate/options'],
    ] as const) {
      const { challenge } = await optionsOf(from, path);
      const response = device.get({ ...options, challenge });
      expectProblem(await secondStep(other, { method: 'passkey', response }), 401, 'invalid_passkey');
    }
    // Nor is it good for anything else.
    const response = device.get(options);
    expectProblem(await other.post('/auth/signin/passkey').send({ response }), 401, 'invalid_passkey');
    const reauthentication = await browser.post('/auth/reauthenticate').send({ passkey: response });
    expectProblem(reauthentication, 401, 'invalid_passkey');
  });

  test('of sixteen equal responses, one signs in', async () => {
    const other = app.browser();
    await firstStep(other, person).expect(200);
    const response = device.get(await optionsOf(other, '/signin/second-factor/options'));
    const given = { method: 'passkey', response };
    const answers = await Promise.all(Array.from({ length: 16 }, () => secondStep(other, given)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(15).fill(401)]);
  });
});

describe('an account with an authenticator app', () => {
  test('needs no second step after a passkey', async () => {
    const answer = await signInWith(app.browser(), device);
    expect(answer.status).toBe(200);
    expect(answer.body.session).toMatchObject({ aal: 2, amr: ['swk', 'user', 'mfa'] });
  });

  test('adds and removes passkeys only in a session that has shown the second factor recently', async () => {
    const { id } = (await browser.get('/auth/passkeys')).body.passkeys[0];
    const { token } = await app.auth.createSession(userId);
    const weak = { cookie: `latchkey=${token}` };
    expectProblem(await app.http.post('/auth/passkeys/options').set(weak), 403, 'second_factor_required');
    expectProblem(await app.http.delete(`/auth/passkeys/${id}`).set(weak), 403, 'second_factor_required');
    const response = authenticator().create(await optionsOf(browser, '/passkeys/options'));
    expectProblem(
      await app.http.post('/auth/passkeys').set(weak).send({ response }),
      403,
      'second_factor_required',
    );
    await makeStale();
    for (const answer of [
      await browser.post('/auth/passkeys/options'),
      await browser.post('/auth/passkeys').send({ response }),
      await browser.delete(`/auth/passkeys/${id}`),
    ])
      expectProblem(answer, 403, 'reauthentication_required');
    const options = await optionsOf(browser, '/reauthenticate/options');
    await browser
      .post('/auth/reauthenticate')
      .send({ passkey: device.get(options) })
      .expect(204);
    await browser.post('/auth/passkeys').send({ response }).expect(201);
    await browser.delete(`/auth/passkeys/${id}`).expect(204);
  });

  test('in code, with a session that has not', async () => {
    const { session } = await app.auth.createSession(userId);
    const [passkey] = await app.auth.passkeys.list(userId);
    const removing = app.auth.passkeys.remove(userId, String(passkey?.id), { sessionId: session.id });
    await expect(removing).rejects.toMatchObject({ code: 'second_factor_required' });
  });

  test('may switch it off after a passkey', async () => {
    const other = app.browser();
    await signInWith(other, device);
    await other.delete('/auth/two-factor/totp').expect(204);
  });
});

test('a passkey alone makes no second step for the password', async () => {
  const alone = newPerson();
  const its = await signedIn(app, alone);
  await addPasskey(its, authenticator());
  const { body } = await firstStep(app.browser(), alone).expect(200);
  expect(body.session).toMatchObject({ aal: 1, amr: ['pwd'] });
});

test('a session that began with a passkey may switch an authenticator app on', async () => {
  const other = newPerson();
  const its = authenticator();
  await addPasskey(await signedIn(app, other), its);
  const there = app.browser();
  await signInWith(there, its);
  const { secret } = await enroll(there);
  await forgetSteps(app);
  const later = app.browser();
  await firstStep(later, other).expect(200);
  await secondStep(later, { method: 'totp', code: codeOf(secret) }).expect(200);
});
