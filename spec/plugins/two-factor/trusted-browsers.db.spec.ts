import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type request from 'supertest';
import { internalsOf } from '../../../lib/auth.js';
import { ada } from '../../support/app.js';
import { advance } from '../../support/clock.js';
import {
  app,
  browser,
  complete,
  deviceOf,
  devices,
  isTrusted,
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
import { codeOf, firstStep, forgetSteps, secondStep } from '../../support/two-factor.js';

// What depends on the database. The rest is in trusted-browsers.spec.ts.
beforeEach(() => required.clear());
afterEach(() => app.stop());

describe('a browser that its user trusts', () => {
  beforeEach(() => start());

  test('is listed and counted, and only there', async () => {
    await trust();
    expect(await isTrusted(owner)).toBe(false);
    await complete(owner, {});
    expect(await isTrusted(app.browser())).toBe(false);
    expect(await status(owner)).toMatchObject({ totp: true, trusted_devices: 1 });
    const [one, other] = await devices(browser);
    expect([one, other].map(({ current, trusted_until }) => [current, trusted_until])).toEqual([
      [false, null],
      [true, expect.any(String)],
    ]);
    const days = (Date.parse(other.trusted_until) - Date.now()) / 86_400_000;
    expect(days).toBeCloseTo(30, 2);
  });

  test('is trusted for the days of the option, which a sign-in does not prolong', async () => {
    await trust();
    advance(app.auth, 20 * 86_400);
    expect(await isTrusted()).toBe(true);
    advance(app.auth, 9.9 * 86_400);
    expect(await isTrusted()).toBe(true);
    advance(app.auth, 0.2 * 86_400);
    expect(await isTrusted()).toBe(false);
    expect(await internalsOf(app.auth).core.devices.countTrusted(userId)).toBe(0);
  });

  describe('after its cookie was copied', () => {
    const eve = (name: string) => ({ email: `${name}@example.com`, password: ada.password });
    let copied: string;
    const expectAsked = async (...values: string[]) => {
      for (const value of values)
        expect((await withCookie(value).expect(200)).body).toHaveProperty('second_factor');
    };
    beforeEach(async () => {
      await firstStep(browser).expect(200);
      copied = deviceOf(await complete(browser, {}));
    });

    test.each([1, 2, 3, 4])(
      'is not trusted with a value that another account gets at the same time (%i)',
      async () => {
        for (const name of ['eve', 'mallory', 'trudy'])
          await app.auth.users.create({ ...eve(name), emailVerified: true });
        await firstStep(browser).expect(200);
        const [, ...others] = await Promise.all([
          complete(browser),
          ...['eve', 'mallory', 'trudy'].map((name) => withCookie(copied, eve(name)).expect(200)),
        ]);
        expect(await isTrusted()).toBe(true);
        await expectAsked(copied, ...others.map((one) => deviceOf(one as request.Response)));
      },
    );
  });

  test('can sign in 16 times at once', async () => {
    await firstStep(browser).expect(200);
    const value = deviceOf(await complete(browser));
    const answers = await Promise.all(Array.from({ length: 16 }, () => withCookie(value).expect(200)));
    expect(answers.map(({ body }) => body.session?.aal)).toEqual(Array(16).fill(1));
    expect(new Set(answers.map(deviceOf))).toEqual(new Set([value]));
  });

  test('of 16 sign-ins that wait there and get the same code, one makes it trusted', async () => {
    const waiting = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const { body } = await firstStep(app.browser()).expect(200);
        return body.second_factor.pending_token as string;
      }),
    );
    await forgetSteps(app);
    const answers = await Promise.all(
      waiting.map((pending_token) =>
        secondStep(app.browser(), {
          method: 'totp',
          code: codeOf(secret),
          pending_token,
          trust_device: true,
        }),
      ),
    );
    const completed = answers.filter(({ status }) => status === 200);
    expect(completed).toHaveLength(1);
    expect(told).toHaveLength(1);
    expect((await withCookie(deviceOf(completed[0] as request.Response))).body).toHaveProperty('session');
  });

  test('of a user who asks for it ends everywhere by DELETE /two-factor/trusted-devices', async () => {
    const third = app.browser();
    await trust();
    await trust(third);
    expect(await isTrusted(third)).toBe(true);
    expect((await status(third)).trusted_devices).toBe(2);
    // Neither a recent sign-in nor the second factor is needed.
    await third.delete('/auth/two-factor/trusted-devices').expect(204);
    expect((await status(third)).trusted_devices).toBe(0);
    await third.get('/auth/me').expect(200);
    for (const one of [browser, third]) expect(await isTrusted(one)).toBe(false);
  });
});
