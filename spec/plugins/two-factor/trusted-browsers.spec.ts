import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ada } from '../../support/app.js';
import { beforeChange } from '../../support/changes.js';
import { rows } from '../../support/database.js';
import { addPasskey, authenticator, optionsOf } from '../../support/passkeys.js';
import { expectProblem } from '../../support/problem.js';
import { ago, DAY } from '../../support/sessions.js';
import {
  app,
  type Browser,
  browser,
  complete,
  deviceOf,
  devices,
  enrollOwner,
  isTrusted,
  mails,
  owner,
  required,
  secret,
  start,
  status,
  told,
  trust,
  userId,
  withCookie,
} from '../../support/trusted-browsers.js';
import { codeOf, enroll, firstStep, forgetSteps, secondStep } from '../../support/two-factor.js';

// Browsers that stand in for the second factor. Every way in is in spec/ways-in/trusted-browser.walk.spec.ts. Those at once are in
// trusted-browsers.db.spec.ts.
const NEW = 'a difference engine';

beforeEach(() => required.clear());
afterEach(() => app.stop());

describe('a browser that its user trusts', () => {
  beforeEach(() => start());

  test('signs in with the password alone, which counts as one factor and is not recent', async () => {
    const { session } = await trust();
    expect(session).toMatchObject({ aal: 2 });
    const { body } = await firstStep(browser).expect(200);
    expect(body.session).toMatchObject({ aal: 1, amr: ['pwd'] });
    const [row] = await app.auth.models.Session.findAll({ where: { id: body.session.id } });
    expect(row?.get().authenticatedAt).toEqual(new Date(0));
    expect(told).toEqual([{ userId, deviceId: expect.any(String), ip: expect.any(String), userAgent: null }]);
    // What changes sign-in methods still asks for the second factor, and reauthenticating with it is enough.
    expectProblem(await browser.post('/auth/two-factor/totp'), 403, 'second_factor_required');
    expectProblem(
      await browser.post('/auth/reauthenticate').send({ password: ada.password }),
      403,
      'second_factor_required',
    );
    await forgetSteps(app);
    await browser
      .post('/auth/reauthenticate')
      .send({ code: codeOf(secret) })
      .expect(204);
    await browser.post('/auth/two-factor/totp').expect(201);
    expect((await browser.get('/auth/me').expect(200)).body.session.aal).toBe(2);
  });

  test('is not trusted by another account there', async () => {
    const eve = { email: 'eve@example.com', password: ada.password };
    const { id } = await app.auth.users.create({ ...eve, emailVerified: true });
    await trust();
    // A new account in this browser changes the value of its cookie, which the first account follows.
    await firstStep(browser, eve).expect(200);
    const { secret: hers } = await enroll(browser);
    expect(await isTrusted()).toBe(true);
    const { body } = await firstStep(browser, eve).expect(200);
    expect(body).toHaveProperty('second_factor');
    await complete(browser, { trust_device: true }, hers);
    await app.auth.revokeAllSessions(userId);
    expect(await isTrusted()).toBe(false);
    expect((await firstStep(browser, eve).expect(200)).body.session).toMatchObject({ user_id: id, aal: 1 });
  });

  test('is one with the current value of the cookie, and not with a copy of an earlier one', async () => {
    await firstStep(browser).expect(200);
    const copied = deviceOf(await complete(browser));
    expect((await withCookie(copied)).body).toHaveProperty('session');
    // A sign-in of another account gives the browser another value. The earlier one is still known for a week.
    const eve = { email: 'eve@example.com', password: ada.password };
    await app.auth.users.create({ ...eve, emailVerified: true });
    await firstStep(browser, eve).expect(200);
    for (let attempt = 0; attempt < 2; attempt++) {
      const { body, headers } = await withCookie(copied).expect(200);
      expect(body).toHaveProperty('second_factor');
      expect(String(headers['set-cookie'])).not.toContain('latchkey-device=');
    }
    expect(await isTrusted()).toBe(true);
    // Two cookies, of which one can be planted, name no browser.
    const both = `latchkey-device=${copied}; latchkey-device=lkd_${'A'.repeat(43)}`;
    const answer = await app.http
      .post('/auth/signin/credential')
      .set('cookie', both)
      .send({ credential: ada.email, password: ada.password });
    expect(answer.body).toHaveProperty('second_factor');
  });

  describe('after its cookie was copied', () => {
    const eve = (name: string) => ({ email: `${name}@example.com`, password: ada.password });
    let copied: string;
    /** Presents a value in a sign-in of another account, which makes the browser of that value one of its devices. */
    const launder = async (value: string, name: string) => {
      await app.auth.users.create({ ...eve(name), emailVerified: true });
      const other = deviceOf(await withCookie(value, eve(name)).expect(200));
      expect(other).not.toBe(value);
      return other;
    };
    const expectAsked = async (...values: string[]) => {
      for (const value of values)
        expect((await withCookie(value).expect(200)).body).toHaveProperty('second_factor');
    };
    beforeEach(async () => {
      await firstStep(browser).expect(200);
      copied = deviceOf(await complete(browser, {}));
    });

    test('is trusted with another value, which no copy has', async () => {
      await trust();
      expect(await isTrusted()).toBe(true);
      await expectAsked(copied);
    });

    test('is not trusted with a value that another account got before', async () => {
      const others = [await launder(copied, 'eve'), await launder(copied, 'mallory')];
      await trust();
      expect(await isTrusted()).toBe(true);
      await expectAsked(copied, ...others);
    });

    test('is not trusted with a value that another account gets afterwards', async () => {
      const before = await launder(copied, 'eve');
      await trust();
      const after = [await launder(copied, 'mallory'), await launder(before, 'trudy')];
      // The accounts that got a value before get another one.
      for (const value of [copied, before, ...after])
        for (const name of ['eve', 'mallory', 'trudy']) {
          const other = deviceOf(await withCookie(value, eve(name)).expect(200));
          await expectAsked(value, ...(other ? [other] : []));
        }
      expect(await isTrusted()).toBe(true);
    });

    test('asks again if the new value did not arrive, and can be trusted again', async () => {
      await trust();
      const known = await devices(browser);
      const { body } = await withCookie(copied).expect(200);
      await forgetSteps(app);
      const again = await app.http
        .post('/auth/signin/second-factor')
        .set('cookie', `latchkey-device=${copied}`)
        .send({
          method: 'totp',
          code: codeOf(secret),
          pending_token: body.second_factor.pending_token,
          trust_device: true,
        })
        .expect(200);
      expect((await withCookie(deviceOf(again))).body).toHaveProperty('session');
      expect(await devices(browser)).toHaveLength(known.length);
    });
  });

  test('is asked again if a session there must be verified with two factors', async () => {
    await trust();
    required.add(userId);
    expect(await isTrusted()).toBe(false);
    const { body } = await complete(browser);
    expect(body.session.aal).toBe(2);
    // Meanwhile, no browser can be trusted, but the earlier choice counts again afterwards.
    expect(told).toHaveLength(1);
    expect(await status(browser)).toMatchObject({ required: true, trusted_devices: 0 });
    expect((await devices(browser)).map((one: { trusted_until: string }) => one.trusted_until)).toEqual([
      null,
      null,
    ]);
    required.clear();
    expect(await isTrusted()).toBe(true);
  });

  test('and by its form', async () => {
    await trust();
    const form = browser.post('/auth/two-factor/trusted-devices/delete').type('form');
    const { headers } = await form.send({ redirect_to: '/account' }).expect(303);
    expect(headers.location).toBe('/account');
    expect(await isTrusted()).toBe(false);
  });

  test('can be one that showed a passkey, or one of a form', async () => {
    const device = authenticator();
    await addPasskey(owner, device);
    await firstStep(browser).expect(200);
    const response = device.get(await optionsOf(browser, '/signin/second-factor/options'));
    await secondStep(browser, { method: 'passkey', response, trust_device: true }).expect(200);
    expect(await isTrusted()).toBe(true);

    const third = app.browser();
    await firstStep(third).expect(200);
    await forgetSteps(app);
    const form = { method: 'totp', code: codeOf(secret), trust_device: 'on', redirect_to: '/home' };
    await third.post('/auth/signin/second-factor').type('form').send(form).expect(303);
    expect(await isTrusted(third)).toBe(true);
  });

  test('is named by the request of a call from code', async () => {
    const sent = (cookie: string) => ({ headers: { cookie } }) as IncomingMessage;
    const signIn = (cookie: string) =>
      app.auth.credential.signIn({ credential: ada.email, password: ada.password, request: sent(cookie) });
    const first = await signIn('');
    if (!('secondFactor' in first)) throw new Error('no second factor was asked for');
    const { pendingToken } = first.secondFactor;
    await forgetSteps(app);
    const issued = await app.auth.completeSignIn({
      pendingToken,
      method: 'totp',
      code: codeOf(secret),
      trustDevice: true,
      request: sent(''),
    });
    expect(await signIn(`latchkey-device=${issued.device}`)).toMatchObject({ session: { aal: 1 } });
    expect(
      await app.auth.credential.signIn({ credential: ada.email, password: ada.password }),
    ).toHaveProperty('secondFactor');
  });
});

describe('a browser does not become trusted', () => {
  test.each<[string, object]>([
    ['without the choice', {}],
    ['by false', { trust_device: false }],
  ])('%s', async (_what, more) => {
    await start();
    await firstStep(browser).expect(200);
    expect((await complete(browser, more)).status).toBe(200);
    expect(await isTrusted()).toBe(false);
    expect(told).toEqual([]);
  });

  test('by a text in JSON', async () => {
    await start();
    await firstStep(browser).expect(200);
    expectProblem(await complete(browser, { trust_device: 'true' }), 422, 'validation_failed', [
      'trust_device',
    ]);
  });

  test('by a wrong code', async () => {
    await start();
    await firstStep(browser).expect(200);
    await secondStep(browser, { method: 'totp', code: '000000', trust_device: true }).expect(401);
    expect(told).toEqual([]);
    const { body } = await firstStep(browser).expect(200);
    expect(body).toHaveProperty('second_factor');
  });

  test('by a recovery code', async () => {
    await start();
    const { body } = await owner.post('/auth/two-factor/recovery-codes').expect(200);
    await firstStep(browser).expect(200);
    const [code] = body.recovery_codes;
    await secondStep(browser, { method: 'recovery_code', code, trust_device: true }).expect(200);
    expect(await isTrusted()).toBe(false);
  });

  test('if the user must have a second factor', async () => {
    await start();
    required.add(userId);
    await trust();
    required.clear();
    expect(await isTrusted()).toBe(false);
    expect(told).toEqual([]);
  });

  test('if a header names it', async () => {
    await start();
    const named = (value: string) => app.http.post('/auth/signin/credential').set('latchkey-device', value);
    const right = { credential: ada.email, password: ada.password };
    const { body } = await named('new').send(right).expect(200);
    await forgetSteps(app);
    const completed = await app.http
      .post('/auth/signin/second-factor')
      .set('latchkey-device', 'new')
      .send({
        method: 'totp',
        code: codeOf(secret),
        pending_token: body.second_factor.pending_token,
        trust_device: true,
      })
      .expect(200);
    expect(told).toEqual([]);
    const { device_token: token } = completed.body;
    expect((await named(token).send(right).expect(200)).body).toHaveProperty('second_factor');
    // The value of a trusted cookie is worth nothing in the header either.
    await firstStep(browser).expect(200);
    const value = deviceOf(await complete(browser));
    expect((await named(value).send(right).expect(200)).body).toHaveProperty('second_factor');
    expect((await withCookie(value)).body).toHaveProperty('session');
  });

  test('without the option, which leaves bodies as they are', async () => {
    await start({});
    await trust();
    expect(await isTrusted()).toBe(false);
    expect(await status(owner)).toEqual({
      totp: true,
      passkeys: false,
      recovery_codes_left: 10,
      required: false,
    });
    expect(Object.keys((await devices(owner))[0])).not.toContain('trusted_until');
    await owner.delete('/auth/two-factor/trusted-devices').expect(404);
  });
});

/** Signs a user in who has just enabled the second factor again. */
const enrollAgain = async () => {
  await firstStep(owner).expect(200);
  await enrollOwner();
};
const byMail = async (kind: string, path: string, body: object, to = ada.email) =>
  (await mails.mailOf(to, kind, () => owner.post(`/auth${path}`).send(body).expect(202))).token;
/** Makes the session of the owner verified with the second factor a moment ago. */
const renewed = async () => {
  await forgetSteps(app);
  await owner
    .post('/auth/reauthenticate')
    .send({ code: codeOf(secret) })
    .expect(204);
};
/** Undoes everything since a moment ago, in this browser. */
const undoIn = async (one: Browser) => {
  await forgetSteps(app);
  // The account has known both browsers for long.
  for (const table of ['users', 'known_devices'])
    await rows(app.database, `UPDATE ${table} SET created_at = :at`, { at: ago(40 * DAY) });
  const token = await beforeChange(app.auth, userId);
  const proof = { password: ada.password, code: codeOf(secret) };
  await one
    .post('/auth/undo-change')
    .send({ token, ...proof })
    .expect(200);
  // An undo leaves the account without a password.
  await app.auth.users.setPassword(userId, NEW);
  return NEW;
};
const changes = { current_password: ada.password, new_password: NEW };

describe('the trust ends with', () => {
  /** Returns the password from then on, if it is another one. */
  const ENDS: Readonly<Record<string, () => PromiseLike<unknown>>> = {
    'a new password, in another browser': async () => {
      await owner.post('/auth/passwords/change').send(changes).expect(200);
      return NEW;
    },
    'a new password, in the same browser': async () => {
      await forgetSteps(app);
      await browser
        .post('/auth/reauthenticate')
        .send({ code: codeOf(secret) })
        .expect(204);
      await browser.post('/auth/passwords/change').send(changes).expect(200);
      return NEW;
    },
    'a reset, in another browser': async () => {
      const token = await byMail('reset-password', '/passwords/request-reset', { email: ada.email });
      await app.http.post('/auth/passwords/reset').send({ token, new_password: NEW }).expect(204);
      return NEW;
    },
    'a reset, in the same browser': async () => {
      const token = await byMail('reset-password', '/passwords/request-reset', { email: ada.email });
      await browser.post('/auth/passwords/reset').send({ token, new_password: NEW }).expect(204);
      return NEW;
    },
    'a password set by code': async () => {
      await app.auth.users.setPassword(userId, NEW);
      return NEW;
    },
    'a password set by code that keeps sessions': async () => {
      await app.auth.users.setPassword(userId, NEW, { keepSessions: true });
      return NEW;
    },
    'POST /revoke-sessions': () => owner.post('/auth/revoke-sessions').expect(200),
    'POST /revoke-sessions for the others': () =>
      owner.post('/auth/revoke-sessions').send({ others: true }).expect(200),
    'POST /revoke-sessions for the others, in the same browser': () =>
      browser.post('/auth/revoke-sessions').send({ others: true }).expect(200),
    revokeAllSessions: () => app.auth.revokeAllSessions(userId),
    'an administrator who ends the sessions': () => app.auth.admin.revokeUserSessions(userId),
    'a suspension': async () => {
      await app.auth.suspension.suspend(userId);
      await app.auth.suspension.reinstate(userId);
    },
    'another email': async () => {
      const email = 'countess@example.com';
      await renewed();
      const token = await byMail('verify-new-email', '/email-changes', { new_email: email }, email);
      await owner.post('/auth/email-changes/confirm').send({ token }).expect(200);
      await app.auth.users.changeEmail(userId, ada.email, { verified: true });
    },
    'another email, set by code': async () => {
      await app.auth.users.changeEmail(userId, 'countess@example.com', { verified: true });
      await rows(app.database, 'UPDATE users SET email = :email', { email: ada.email });
    },
    'another authenticator app': async () => {
      await renewed();
      await enrollOwner();
    },
    'disabling the second factor': async () => {
      await renewed();
      await owner.delete('/auth/two-factor/totp').expect(204);
      await enrollAgain();
    },
    'disabling the second factor by code': async () => {
      await app.auth.twoFactor.disable(userId);
      await enrollAgain();
    },
    'passkeys as the second factor': async () => {
      await renewed();
      await addPasskey(owner, authenticator());
      await owner.put('/auth/two-factor/passkeys').send({ on: true }).expect(200);
    },
    'the removal of one of two passkeys': async () => {
      for (const device of [authenticator(), authenticator()]) await addPasskey(owner, device);
      await owner.put('/auth/two-factor/passkeys').send({ on: true }).expect(200);
      await trust();
      expect(await isTrusted()).toBe(true);
      const { body } = await owner.get('/auth/passkeys').expect(200);
      await renewed();
      await owner.delete(`/auth/passkeys/${body.passkeys[0].id}`).expect(204);
    },
    'other recovery codes': async () => {
      await renewed();
      await owner.post('/auth/two-factor/recovery-codes').expect(200);
    },
    'an undo': () => undoIn(owner),
    'an undo, in the same browser': () => undoIn(browser),
    'the account forgetting the browser': async () => {
      const { id } = (await devices(browser)).find(({ current }: { current: boolean }) => current);
      await renewed();
      await owner.delete(`/auth/devices/${id}`).expect(204);
    },
  };
  test.each(Object.entries(ENDS))('%s', async (_what, end) => {
    await start();
    await trust();
    expect(await isTrusted()).toBe(true);
    const typed = await end();
    expect(await isTrusted(browser, typed === NEW ? NEW : ada.password)).toBe(false);
    expect(await isTrusted(owner, typed === NEW ? NEW : ada.password)).toBe(false);
  });
});

test('a password that code changes in a trusted browser does not sign in without the second factor', async () => {
  await start();
  await firstStep(browser).expect(200);
  const value = deviceOf(await complete(browser));
  const request = { headers: { cookie: `latchkey-device=${value}` } } as IncomingMessage;
  const changed = await app.auth.credential.changePassword({
    userId,
    currentPassword: ada.password,
    newPassword: NEW,
    request,
  });
  expect(changed).toHaveProperty('secondFactor');
});
