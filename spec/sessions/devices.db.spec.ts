import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type request from 'supertest';
import { internalsOf } from '../../lib/auth.js';
import { createToken, digestToken } from '../../lib/crypto/token.js';
import { createAuth, type RateLimitOptions } from '../../lib/index.js';
import { EmailProof } from '../../lib/users/email-proof.js';
import { ada, password, SECRET, sessionCookie } from '../support/app.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';
import { expectProblem } from '../support/problem.js';
import { ago, DAY } from '../support/sessions.js';
import { loggingSequelize } from '../support/statements.js';

const plugins = [password()] as const;
const eve = { email: 'eve@example.com', password: 'eavesdropping all day' };
const REDIS_URL = process.env.LATCHKEY_SPEC_REDIS ?? '';
const keyPrefix = `spec:${createToken('')}:`;
const store = `${REDIS_URL}?keyPrefix=${keyPrefix}`;

let app: MailApp<typeof plugins>;
let userId: string;
const start = async (rules: RateLimitOptions = {}) => {
  const off = { signIn: false, signUp: false, mail: false } as const;
  app = await startMailApp({ plugins, config: { rateLimit: { ...off, ...rules } } });
  userId = (await app.auth.credential.signUp(ada))!.user.id;
  await app.auth.credential.signUp(eve);
};
afterEach(() => app.stop());

const cookieOf = (response: request.Response) => sessionCookie(response, 'latchkey-device');
/** Signs in with these device tokens, by default with none. */
const signIn = (who = ada, ...devices: string[]) =>
  app.http
    .post('/auth/signin/credential')
    .set('cookie', devices.map((device) => `latchkey-device=${device}`).join('; '))
    .send({ credential: who.email, password: who.password });
const wrong = (who = ada) => ({ ...who, password: 'a wrong password' });
const newDevice = async (who = ada) => cookieOf(await signIn(who).expect(200))?.value ?? '';
const statusesOf = async (times: number, ...attempt: Parameters<typeof signIn>) => {
  const counts: Record<number, number> = {};
  const answers = await Promise.all(Array.from({ length: times }, () => signIn(...attempt)));
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
/** The devices that have not been forgotten. */
const devicesOf = (where: { userId?: string }) =>
  app.auth.models.Device.count({ where: { ...where, forgottenAt: null as never } });

describe.each([['the database', {}], ...(REDIS_URL ? [['Redis', { store }] as const] : [])])(
  'while strangers hold up an account, with counters in %s,',
  (_name, store) => {
    let device: string;
    beforeEach(async () => {
      await start({ ...store, account: { failures: 5, firstPause: 900, maxPause: 900 } });
      device = await newDevice();
      expect(await statusesOf(30, wrong())).toEqual({ 401: 5, 429: 25 });
    });
    afterEach(async () => {
      if (REDIS_URL) await forgetCounters();
    });

    const forgetCounters = async () => {
      const { Redis } = await import('ioredis');
      const redis = new Redis(REDIS_URL);
      const keys = await redis.keys(`${keyPrefix}*`);
      if (keys.length > 0) await redis.del(keys);
      await redis.quit();
    };

    test('the owner signs in at once in a browser that has signed in before', async () => {
      await signIn(wrong(), device).expect(401);
      const answer = await signIn(ada, device).expect(200);
      const session = `latchkey=${sessionCookie(answer)?.value}`;
      await app.http
        .post('/auth/reauthenticate')
        .set('cookie', `${session}; latchkey-device=${device}`)
        .send({ password: ada.password })
        .expect(204);
      // Elsewhere, the account is still paused, for the owner too.
      expectProblem(await signIn(wrong()), 429, 'rate_limited');
      expectProblem(await signIn(), 429, 'rate_limited');
    });

    test('nothing but a device of this account gets around the pause', async () => {
      const evesDevice = await newDevice(eve);
      const flipped = device.slice(0, -1) + (device.endsWith('A') ? 'B' : 'A');
      for (const devices of [
        [createToken('lkd_')],
        [evesDevice],
        ['junk'],
        [flipped],
        [device, createToken('lkd_')],
        [device, 'junk'],
        [device, ''],
      ]) {
        expectProblem(await signIn(ada, ...devices), 429, 'rate_limited');
      }
      await signIn(ada, device, device).expect(200);
    });

    test('a device has five attempts of its own, even if they are concurrent, and then pauses of its own', async () => {
      expect(await statusesOf(100, wrong(), device)).toEqual({ 401: 5, 429: 95 });
      const refused = await signIn(ada, device);
      expectProblem(refused, 429, 'rate_limited');
      expect(refused.headers['ratelimit-policy']).toBe('"account";q=5');
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(800);
    });
  },
);

describe('the attempts of a device', () => {
  test('pause neither the account nor its other devices', async () => {
    await start();
    const [one, other] = [await newDevice(), await newDevice()];
    expect(one).not.toBe(other);
    expect(await statusesOf(10, wrong(), one)).toEqual({ 401: 5, 429: 5 });
    await signIn(ada, other).expect(200);
    await signIn().expect(200);
    await signIn(ada, one).expect(429);
  });

  test('start again after a password reset', async () => {
    await start();
    const device = await newDevice();
    expect(await statusesOf(6, wrong(), device)).toEqual({ 401: 5, 429: 1 });
    const { token } = await app.mailOf(() => app.auth.credential.requestPasswordReset({ email: ada.email }));
    await app.auth.credential.resetPassword({ token, newPassword: 'a new password for Ada' });
    // The first proof of the address forgot the device, and the reset the pause of the account.
    await signIn({ ...ada, password: 'a new password for Ada' }, device).expect(200);
  });

  test('start again after a password reset of a verified account too', async () => {
    await start();
    const reset = async (newPassword: string) => {
      const request = () => app.auth.credential.requestPasswordReset({ email: ada.email });
      const { token } = await app.mailOf(request);
      await app.auth.credential.resetPassword({ token, newPassword });
    };
    // The first one proves the address, and forgets the devices from before.
    await reset(ada.password);
    const device = await newDevice();
    expect(await statusesOf(6, wrong(), device)).toEqual({ 401: 5, 429: 1 });
    await reset('a new password for Ada');
    expect(await devicesOf({ userId })).toBe(0);
    await signIn({ ...ada, password: 'a new password for Ada' }, device).expect(200);
  });
});

describe('the device cookie', () => {
  test('is set by a complete sign-in and by nothing else, and is kept at the next one', async () => {
    await start();
    expect(cookieOf(await signIn(wrong()))).toBeUndefined();
    const person = { email: 'new@example.com', password: ada.password };
    expect(cookieOf(await app.http.post('/auth/signup/credential').send(person).expect(201))).toBeUndefined();
    expect(await devicesOf({})).toBe(0);
    const first = await signIn().expect(200);
    const device = cookieOf(first);
    expect(device?.attributes).toEqual(['Max-Age=7776000', 'Path=/', 'HttpOnly', 'SameSite=Lax']);
    expect(device?.value).toMatch(/^lkd_[\w-]{48}$/);
    expect(JSON.stringify(first.body)).not.toContain('lkd_');
    expect(cookieOf(await signIn(ada, device!.value).expect(200))).toEqual(device);
    const [row, ...others] = await app.auth.models.Device.unscoped().findAll();
    expect(others).toEqual([]);
    const { tokenHash, ...shown } = row!.get({ plain: true });
    expect(tokenHash.equals(digestToken(device!.value))).toBe(true);
    expect(shown).toMatchObject({ userId });
    expect((await app.auth.models.Device.findOne())!.toJSON()).not.toHaveProperty('tokenHash');
  });

  test('survives a sign-out, a revoke-all and a change of password', async () => {
    await start();
    const browser = app.browser();
    const enter = (given = ada.password) =>
      browser.post('/auth/signin/credential').send({ credential: ada.email, password: given }).expect(200);
    const device = cookieOf(await enter());
    for (const leave of ['signout', 'revoke-sessions']) {
      expect(cookieOf(await browser.post(`/auth/${leave}`))).toBeUndefined();
      expect(cookieOf(await enter())).toEqual(device);
    }
    const body = { current_password: ada.password, new_password: 'another long password' };
    expect(cookieOf(await browser.post('/auth/passwords/change').send(body).expect(200))).toBeUndefined();
    expect(cookieOf(await enter(body.new_password))).toEqual(device);
  });

  test('is shared by the accounts of a browser, and deleted with each', async () => {
    await start();
    const device = await newDevice();
    const shared = cookieOf(await signIn(eve, device))?.value ?? '';
    expect(shared).not.toBe(device);
    for (const who of [ada, eve]) expect(cookieOf(await signIn(who, shared))?.value).toBe(shared);
    expect(await devicesOf({})).toBe(2);
    await app.auth.models.User.destroy({ where: { id: userId } });
    expect(await devicesOf({})).toBe(1);
    expect(cookieOf(await signIn(eve, shared))?.value).toBe(shared);
  });

  test('is replaced if it is made up, ambiguous or forgotten', async () => {
    await start();
    const device = await newDevice();
    const forgotten = await newDevice();
    await app.auth.models.Device.update(
      { lastUsedAt: ago(91 * DAY) },
      { where: { tokenHash: digestToken(forgotten) as never } },
    );
    const madeUp = createToken('lkd_');
    for (const devices of [[madeUp], ['junk'], [device, madeUp], [forgotten]]) {
      const fresh = cookieOf(await signIn(ada, ...devices).expect(200))?.value;
      expect(fresh).toMatch(/^lkd_/);
      expect(devices).not.toContain(fresh);
    }
  });

  test('of two sign-ins at once in one browser is good for both accounts, whichever it keeps', async () => {
    await start();
    const device = await newDevice();
    const answers = await Promise.all([signIn(eve, device), signIn(eve, device)]);
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      const kept = cookieOf(answer)?.value ?? '';
      for (const who of [ada, eve]) {
        await signIn(who, kept).expect(200);
        expect(await devicesOf({})).toBe(3);
      }
    }
  });

  test('is not used by sessions of calls without a request, and is part of the result with one', async () => {
    await start();
    const credentials = { credential: ada.email, password: ada.password };
    expect((await app.auth.credential.signIn(credentials)).device).toBeNull();
    expect(await devicesOf({})).toBe(0);
    const { device } = await app.auth.credential.signIn({ ...credentials, request: { headers: {} } });
    const again = { headers: { cookie: `latchkey-device=${device}` } };
    expect((await app.auth.credential.signIn({ ...credentials, request: again })).device).toBe(device);
  });

  test.each<[string, object, string, string[]]>([
    ['https', { baseUrl: 'https://app.example.com' }, '__Host-latchkey-device', ['Secure', 'SameSite=Lax']],
    [
      'a domain',
      { baseUrl: 'https://app.example.com', session: { cookie: { domain: 'example.com' } } },
      '__Host-latchkey-device',
      ['Path=/', 'Secure', 'SameSite=Lax'],
    ],
    [
      'another name, SameSite and path',
      {
        baseUrl: 'https://app.example.com',
        session: { cookie: { name: 'sid', sameSite: 'strict', path: '/auth' } },
      },
      '__Host-sid-device',
      ['Path=/', 'Secure', 'SameSite=Lax'],
    ],
    [
      'a path over plain http',
      { session: { cookie: { name: 'sid', path: '/auth' } } },
      'sid-device',
      ['Path=/', 'SameSite=Lax'],
    ],
    [
      'a session cookie for other sites',
      { baseUrl: 'https://app.example.com', session: { cookie: { sameSite: 'none' } } },
      '__Host-latchkey-device',
      ['Secure', 'SameSite=None'],
    ],
    [
      'a partitioned session cookie',
      {
        baseUrl: 'https://app.example.com',
        session: { cookie: { sameSite: 'none', partitioned: true } },
      },
      '__Host-latchkey-device',
      ['Secure', 'SameSite=None', 'Partitioned'],
    ],
  ])(
    'is of this host alone, and otherwise follows the session cookie: with %s',
    async (_what, config, name, attributes) => {
      app = await startMailApp({ plugins, config: { rateLimit: false, ...config } });
      await app.auth.credential.signUp(ada);
      const cookie = sessionCookie(await signIn().expect(200), name);
      expect(cookie?.value).toMatch(/^lkd_/);
      expect(cookie?.attributes.filter((one) => one.startsWith('Domain='))).toEqual([]);
      expect(cookie?.attributes).toEqual(
        expect.arrayContaining([...attributes, 'HttpOnly', 'Max-Age=7776000']),
      );
    },
  );
});

describe('the devices of an account', () => {
  test('are the 50 that were used last', async () => {
    await start();
    const device = await newDevice();
    const template = (await app.auth.models.Device.unscoped().findOne())!.get({ plain: true });
    await app.auth.models.Device.bulkCreate(
      Array.from({ length: 55 }, (_, index) => ({
        ...template,
        id: `01900000-0000-7000-8000-0000000000${10 + index}`,
        tokenHash: digestToken(`device ${index}`),
        lastUsedAt: ago(DAY * (index + 1)),
      })),
    );
    await newDevice();
    expect(await devicesOf({ userId })).toBe(50);
    expect(cookieOf(await signIn(ada, device))?.value).toBe(device);
    const tenth = { where: { tokenHash: digestToken('device 47') as never } };
    expect(await app.auth.models.Device.count(tenth)).toBe(1);
  });

  test('are forgotten 90 days after the last sign-in, and pruned when they prove nothing any more', async () => {
    await start({ account: { failures: 1, firstPause: 900, maxPause: 900 } });
    const [old, recent] = [await newDevice(), await newDevice()];
    for (const [device, days] of [
      [old, 98],
      [recent, 89],
    ] as const) {
      const where = { tokenHash: digestToken(device) as never };
      await app.auth.models.Device.update({ lastUsedAt: ago(days * DAY) }, { where });
    }
    await signIn(wrong()).expect(401);
    await signIn(ada, old).expect(429);
    await signIn(ada, recent).expect(200);
    await app.auth.prune();
    expect(await devicesOf({})).toBe(1);
    // The sign-in renewed it.
    const { lastUsedAt } = (await app.auth.models.Device.findOne())!.get({ plain: true });
    expect(Date.now() - lastUsedAt.getTime()).toBeLessThan(DAY);
  });

  test('from before the first proof of the email are forgotten, because another person may have signed up', async () => {
    await start();
    const device = await newDevice();
    const { core } = internalsOf(app.auth);
    await core.database.transaction(async (transaction) => {
      const record = (await core.users.lock(userId, transaction))!;
      await core.emailProofs.record(record, { proof: EmailProof.answeredMail }, transaction);
    });
    expect(await devicesOf({ userId })).toBe(0);
    expect(cookieOf(await signIn(ada, device))?.value).not.toBe(device);
  });
});

test('a device cookie may come with the first sign-in of a process, before anything else is read', async () => {
  await start();
  const device = await newDevice();
  for (const credential of ['no email', 'nobody@example.com', ada.email]) {
    const auth = createAuth({
      database: app.database.url,
      secret: SECRET,
      plugins,
      rateLimit: { signIn: false },
    });
    const request = { headers: { cookie: `latchkey-device=${device}` } };
    const attempt = auth.credential.signIn({ credential, password: 'wrong', request });
    await expect(attempt).rejects.toMatchObject({ code: 'invalid_credentials' });
    await auth.close();
  }
});

test('an unknown account gets the same statements as a known one, with any device cookie', async () => {
  await start();
  const evesDevice = await newDevice(eve);
  const { sequelize, statements } = loggingSequelize(app.database);
  const auth = createAuth({ database: sequelize, secret: SECRET, plugins, rateLimit: { signIn: false } });
  const sentFor = async (credential: string, cookie: string) => {
    statements.length = 0;
    const attempt = auth.credential.signIn({
      credential,
      password: 'wrong',
      request: { headers: { cookie } },
    });
    await expect(attempt).rejects.toMatchObject({ code: 'invalid_credentials' });
    // Without their values.
    return statements.map(
      (line) => /Executing \S+ (\w+ (?:FROM|INTO|\S+))|(\w+ .*?) (?:FROM|VALUES|SET)/.exec(line)?.[0],
    );
  };
  await sentFor('nobody@example.com', '');
  for (const device of [evesDevice, createToken('lkd_'), 'junk']) {
    const cookie = `latchkey-device=${device}`;
    const [known, unknown] = [
      await sentFor(ada.email, cookie),
      await sentFor(`nobody-${device}@example.com`, cookie),
    ];
    expect(known.length).toBeGreaterThan(1);
    expect(known).toEqual(unknown);
    await auth.models.RateLimit.destroy({ where: {} });
  }
  await auth.close();
  await sequelize.close();
});
