import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { admin, passkeys, suspension } from '../../../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, signedIn, startApp } from '../../../support/app.js';
import { type Authenticator, base64url, type Lies } from '../../../support/authenticator.js';
import { rows } from '../../../support/database.js';
import { addPasskey, authenticator, optionsOf, PAGE, signInWith } from '../../../support/passkeys.js';
import { expectProblem } from '../../../support/problem.js';

const eve = { email: 'eve@example.com', password: 'eavesdropping all day' };
const plugins = [password(), passkeys(), admin({ adminEmails: ['root@example.com'] }), suspension()] as const;
let app: SpecApp<typeof plugins>;
let owner: Awaited<ReturnType<typeof signedIn>>;
let userId: string;
let device: Authenticator;
beforeAll(async () => {
  app = await startApp({
    plugins,
    config: { baseUrl: PAGE, trustedOrigins: ['http://app.localhost:3000', 'https://elsewhere.example'] },
  });
  owner = await signedIn(app);
  userId = (await owner.get('/auth/me')).body.user.id;
  device = authenticator({ counter: 1 });
  await addPasskey(owner, device);
});
afterAll(() => app.stop());

const sessions = () => rows(app.database, 'SELECT id FROM sessions WHERE user_id = :userId', { userId });

describe('POST /signin/passkey/options', () => {
  test('asks for any passkey of the app, with user verification', async () => {
    const answer = await app.browser().post('/auth/signin/passkey/options').send({});
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      options: {
        rpId: 'localhost',
        challenge: expect.stringMatching(/^[\w-]{43}$/),
        timeout: 300_000,
        allowCredentials: [],
        userVerification: 'required',
      },
    });
  });

  test('binds the challenge to the browser by a cookie of its own', async () => {
    const answer = await app.browser().post('/auth/signin/passkey/options');
    const { value, attributes } = sessionCookie(answer, 'latchkey-passkey') ?? {};
    expect(value).toMatch(/^lkb_[\w-]{48}$/);
    expect(attributes?.sort()).toEqual(['HttpOnly', 'Max-Age=300', 'Path=/', 'SameSite=Lax']);
  });

  test('gives every request another challenge, and every browser another cookie', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => app.http.post('/auth/signin/passkey/options')));
    expect(new Set(answers.map(({ body }) => body.options.challenge)).size).toBe(3);
    expect(new Set(answers.map((one) => sessionCookie(one, 'latchkey-passkey')?.value)).size).toBe(3);
  });
});

describe('POST /signin/passkey', () => {
  test('signs the owner in, as a sign-in with a password does', async () => {
    const browser = app.browser();
    const answer = await signInWith(browser, device);
    expect(answer.status).toBe(200);
    expect(answer.body.user).toMatchObject({ id: userId, email: ada.email });
    expect(sessionCookie(answer)?.attributes.sort()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Lax']);
    expect(sessionCookie(answer, 'latchkey-device')?.value).toMatch(/^lkd_/);
    const me = await browser.get('/auth/me').expect(200);
    expect(me.body).toEqual(answer.body);
  });

  test('keeps the session of somebody who wants to be remembered', async () => {
    const answer = await signInWith(app.browser(), device, { body: { remember_me: true } });
    expect(sessionCookie(answer)?.attributes).toContain('Max-Age=2592000');
  });

  test('ends the session that the browser had', async () => {
    const browser = app.browser();
    const first = await signInWith(browser, device);
    const cookie = `latchkey=${sessionCookie(first)?.value}`;
    await signInWith(browser, device);
    expectProblem(await app.http.get('/auth/me').set('cookie', cookie), 401, 'invalid_session');
  });

  test('records the use', async () => {
    const before = Date.now();
    await signInWith(app.browser(), device);
    const [passkey] = await app.auth.passkeys.list(userId);
    expect(passkey?.lastUsedAt?.getTime()).toBeGreaterThanOrEqual(before - 1000);
    const [{ counter } = {}] = await rows(app.database, 'SELECT counter FROM passkeys');
    expect(Number(counter)).toBe(device.credentials[0]?.counter);
  });

  test('several tabs of one browser can have a sign-in in progress', async () => {
    const browser = app.browser();
    const first = await optionsOf(browser, '/signin/passkey/options');
    await optionsOf(browser, '/signin/passkey/options');
    const answer = await browser.post('/auth/signin/passkey').send({ response: device.get(first) });
    expect(answer.status).toBe(200);
  });

  test('takes a form, whose response is JSON', async () => {
    const browser = app.browser();
    const response = device.get(await optionsOf(browser, '/signin/passkey/options'));
    const fields = { response: JSON.stringify(response), redirect_to: '/welcome' };
    const answer = await browser.post('/auth/signin/passkey').type('form').send(fields);
    expect([answer.status, answer.headers.location]).toEqual([303, '/welcome']);
    expect(sessionCookie(answer)).toBeDefined();
  });

  test('works on a trusted origin below the domain', async () => {
    const answer = await signInWith(app.browser(), device, { lies: { origin: 'http://app.localhost:3000' } });
    expect(answer.status).toBe(200);
  });
});

describe('what does not verify is 401 invalid_passkey', () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const LIES: Record<string, Lies | (() => Lies)> = {
    'another origin': { origin: 'http://localhost:3001' },
    'an origin in upper case': { origin: 'HTTP://LOCALHOST:3000' },
    'a trusted origin of another domain': { origin: 'https://elsewhere.example' },
    'the type of a registration': { type: 'webauthn.create' },
    'another challenge': { challenge: base64url(randomBytes(32)) },
    'the challenge with padding': { clientData: { challenge: 'AAAA=' } },
    'no challenge': { clientData: { challenge: undefined } },
    'a challenge that is a list': { clientData: { challenge: ['a'] } },
    'a page in a foreign frame': { crossOrigin: true },
    'a page in a foreign frame that is named': { crossOrigin: true, topOrigin: 'https://evil.example' },
    'a page in a frame that is named, and said to be our own': { topOrigin: PAGE },
    'crossOrigin that is no boolean': { crossOrigin: 'false' },
    'an empty topOrigin': { topOrigin: '' },
    'the hash of another domain': { rpId: 'example.com' },
    'nobody present': { userPresent: false },
    'nobody verified': { userVerified: false },
    'a signature of another key': { signingKey: other },
    'a signature of one byte': { signature: Buffer.alloc(1) },
    'a signature of zeros': { signature: Buffer.alloc(70) },
    'client data that is no JSON': { clientDataJSON: 'webauthn.get' },
    'client data that is null': { clientDataJSON: 'null' },
    'authenticator data that is too short': { authenticatorData: Buffer.alloc(36) },
    'bytes after the authenticator data': { trailing: Buffer.from([0]) },
    'another type of credential': { credentialType: 'password' },
    'an id with padding': () => ({ id: `${base64url(device.credentials[0]!.id)}=` }),
    'ids that differ': () => ({ rawId: base64url(randomBytes(32)) }),
    'another user handle': { userHandle: randomBytes(32) },
    'no user handle': { userHandle: null },
    'a passkey that says that it cannot be copied any more': { backupEligible: false },
  };

  test.each(Object.entries(LIES))('%s', async (_name, lies) => {
    const before = await sessions();
    const answer = await signInWith(app.browser(), device, {
      lies: typeof lies === 'function' ? lies() : lies,
    });
    expectProblem(answer, 401, 'invalid_passkey');
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(await sessions()).toEqual(before);
  });

  test('all get the same answer', async () => {
    const bodies = new Set<string>();
    for (const lies of Object.values(LIES)) {
      const given = typeof lies === 'function' ? lies() : lies;
      bodies.add((await signInWith(app.browser(), device, { lies: given })).text);
    }
    bodies.add(
      (
        await app.http
          .post('/auth/signin/passkey')
          .send({ response: device.get(await optionsOf(app.browser(), '/signin/passkey/options')) })
      ).text,
    );
    expect(bodies.size).toBe(1);
  });

  test('a passkey of the user that signs for the id of another', async () => {
    const intruder = authenticator();
    await addPasskey(await signedIn(app, eve), intruder);
    const id = base64url(device.credentials[0]!.id);
    const { userHandle } = device.credentials[0]!;
    expectProblem(
      await signInWith(app.browser(), intruder, { lies: { id, userHandle } }),
      401,
      'invalid_passkey',
    );
  });

  test('a passkey that signs in as somebody else by the user handle', async () => {
    const intruder = authenticator();
    await addPasskey(await signedIn(app, { ...eve, email: 'eve2@example.com' }), intruder);
    const { userHandle } = device.credentials[0]!;
    expectProblem(
      await signInWith(app.browser(), intruder, { lies: { userHandle } }),
      401,
      'invalid_passkey',
    );
  });
});

describe('a challenge', () => {
  let browser: ReturnType<typeof app.browser>;
  let options: Awaited<ReturnType<typeof optionsOf>>;
  beforeEach(async () => {
    browser = app.browser();
    options = await optionsOf(browser, '/signin/passkey/options');
  });
  const send = (from: typeof browser, response: object) =>
    from.post('/auth/signin/passkey').send({ response });

  test('is good once', async () => {
    const response = device.get(options);
    await send(browser, response).expect(200);
    expectProblem(await send(browser, response), 401, 'invalid_passkey');
    expectProblem(await send(browser, device.get(options)), 401, 'invalid_passkey');
  });

  test('is used up by a failure too', async () => {
    expectProblem(await send(browser, device.get(options, { userVerified: false })), 401, 'invalid_passkey');
    expectProblem(await send(browser, device.get(options)), 401, 'invalid_passkey');
  });

  test('is not good in another browser, nor without the cookie, which leaves it alone', async () => {
    const response = device.get(options);
    const another = app.browser();
    await optionsOf(another, '/signin/passkey/options');
    expectProblem(await send(another, response), 401, 'invalid_passkey');
    expectProblem(await send(app.browser(), response), 401, 'invalid_passkey');
    await send(browser, response).expect(200);
  });

  test('is not good with two different cookies', async () => {
    const answer = await app.http.post('/auth/signin/passkey/options');
    const mine = `latchkey-passkey=${sessionCookie(answer, 'latchkey-passkey')?.value}`;
    const other = `latchkey-passkey=lkb_${'A'.repeat(48)}`;
    const response = device.get(answer.body.options);
    const post = app.http.post('/auth/signin/passkey').set('cookie', `${mine}; ${other}`);
    expectProblem(await post.send({ response }), 401, 'invalid_passkey');
    await app.http.post('/auth/signin/passkey').set('cookie', mine).send({ response }).expect(200);
  });

  test('expires', async () => {
    await rows(app.database, 'UPDATE passkey_challenges SET expires_at = :past', {
      past: new Date(Date.now() - 1000),
    });
    expectProblem(await send(browser, device.get(options)), 401, 'invalid_passkey');
  });

  test('for a new passkey signs nobody in', async () => {
    const forNew = await optionsOf(owner, '/passkeys/options');
    const response = device.get({ ...options, challenge: forNew.challenge });
    expectProblem(await send(owner, response), 401, 'invalid_passkey');
  });

  test('lets one of sixteen equal responses in', async () => {
    const response = device.get(options);
    const answers = await Promise.all(Array.from({ length: 16 }, () => send(browser, response)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(15).fill(401)]);
  });
});

describe('the counter', () => {
  // Of a passkey that cannot be copied.
  let bound: Authenticator;
  beforeAll(async () => {
    bound = authenticator({ backupEligible: false, counter: 1 });
    await addPasskey(owner, bound);
  });
  const at = (counter: number) => signInWith(app.browser(), bound, { lies: { counter } });

  test('may only rise', async () => {
    const { counter } = bound.credentials[0]!;
    expect((await at(counter + 10)).status).toBe(200);
    expectProblem(await at(counter + 10), 401, 'invalid_passkey');
    expectProblem(await at(counter + 9), 401, 'invalid_passkey');
    expectProblem(await at(0), 401, 'invalid_passkey');
    expect((await at(4_294_967_295)).status).toBe(200);
    await rows(app.database, "UPDATE passkeys SET counter = 1 WHERE device_type = 'singleDevice'");
    bound.credentials[0]!.counter = 1;
  });

  test('of sixteen uses with the same one, one signs in', async () => {
    const browsers = Array.from({ length: 16 }, () => app.browser());
    const all = await Promise.all(browsers.map((one) => optionsOf(one, '/signin/passkey/options')));
    const answers = await Promise.all(
      all.map((options, index) => {
        const response = bound.get(options, { counter: 1000 });
        return browsers[index]!.post('/auth/signin/passkey').send({ response });
      }),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(15).fill(401)]);
  });

  test('may stay at zero, for authenticators that do not count, also for many uses at once', async () => {
    const synced = authenticator();
    await addPasskey(owner, synced);
    const answers = await Promise.all(Array.from({ length: 16 }, () => signInWith(app.browser(), synced)));
    expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(200));
  });
});

describe('an account that may not sign in', () => {
  test('is told so after the proof, and never before it', async () => {
    await app.auth.suspension.suspend(userId);
    try {
      expectProblem(await signInWith(app.browser(), device), 403, 'account_suspended');
      const wrong = await signInWith(app.browser(), device, { lies: { userVerified: false } });
      expectProblem(wrong, 401, 'invalid_passkey');
    } finally {
      await app.auth.suspension.reinstate(userId);
    }
  });

  test('is gone with its passkeys', async () => {
    const gone = await signedIn(app, { ...ada, email: 'gone@example.com' });
    const its = authenticator();
    await addPasskey(gone, its);
    await app.auth.users.delete((await gone.get('/auth/me')).body.user.id);
    expectProblem(await signInWith(app.browser(), its), 401, 'unknown_passkey');
  });
});
