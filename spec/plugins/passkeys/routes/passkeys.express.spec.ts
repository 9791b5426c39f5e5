import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { verifyRegistrationResponse } from '@simplewebauthn/server';
import { passkeys } from '../../../../lib/index.js';
import { password, type SpecApp, signedIn, startApp } from '../../../support/app.js';
import { attested } from '../../../support/attestation.js';
import { type Authenticator, base64url, type Lies } from '../../../support/authenticator.js';
import { type Cbor, encodeCbor } from '../../../support/cbor.js';
import { rows } from '../../../support/database.js';
import { addPasskey, authenticator, optionsOf, PAGE, signInWith } from '../../../support/passkeys.js';
import { expectProblem } from '../../../support/problem.js';

const plugins = [password(), passkeys({ rpName: 'The app' })] as const;
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const UUID = expect.stringMatching(/^[0-9a-f-]{36}$/);

let app: SpecApp<typeof plugins>;
beforeAll(async () => {
  app = await startApp({ plugins, config: { baseUrl: PAGE } });
});
afterAll(() => app.stop());

let people = 0;
async function newcomer() {
  const email = `user-${people++}@example.com`;
  const browser = await signedIn(app, { email, password: 'an analytical engine' });
  const { user, session } = (await browser.get('/auth/me').expect(200)).body;
  return { browser, email, userId: user.id as string, sessionId: session.id as string };
}
const makeStale = (sessionId: string) =>
  rows(app.database, 'UPDATE sessions SET authenticated_at = :past WHERE id = :sessionId', {
    sessionId,
    past: new Date(Date.now() - 601_000),
  });

let browser: Awaited<ReturnType<typeof newcomer>>['browser'];
let device: Authenticator;
let userId: string;
let sessionId: string;
let email: string;
beforeEach(async () => {
  ({ browser, userId, sessionId, email } = await newcomer());
  device = authenticator();
});
const add = (response: object, name?: unknown) => browser.post('/auth/passkeys').send({ response, name });
const list = async () => (await browser.get('/auth/passkeys').expect(200)).body.passkeys;

describe('POST /passkeys/options', () => {
  test('are for a discoverable passkey with user verification and without attestation', async () => {
    const answer = await browser.post('/auth/passkeys/options').send({});
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      options: {
        rp: { id: 'localhost', name: 'The app' },
        user: { id: expect.stringMatching(/^[\w-]{43}$/), name: email, displayName: email },
        challenge: expect.stringMatching(/^[\w-]{43}$/),
        pubKeyCredParams: [
          { type: 'public-key', alg: -8 },
          { type: 'public-key', alg: -7 },
          { type: 'public-key', alg: -257 },
        ],
        timeout: 300_000,
        excludeCredentials: [],
        authenticatorSelection: {
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'required',
        },
        attestation: 'none',
        extensions: { credProps: true },
      },
    });
  });

  test('exclude the passkeys that there are, so that a device gets one only', async () => {
    await addPasskey(browser, device);
    const options = await optionsOf(browser, '/passkeys/options');
    expect(options.excludeCredentials).toEqual([
      { id: base64url(device.credentials[0]!.id), type: 'public-key', transports: ['internal', 'hybrid'] },
    ]);
    expect(() => device.create(options)).toThrow('InvalidStateError');
  });

  test('have one random handle for each user, which is not the id', async () => {
    const first = await optionsOf(browser, '/passkeys/options');
    const second = await optionsOf(browser, '/passkeys/options');
    expect(second.user.id).toBe(first.user.id);
    await add(device.create(first)).expect(201);
    await rows(app.database, 'DELETE FROM passkey_challenges');
    expect((await optionsOf(browser, '/passkeys/options')).user.id).toBe(first.user.id);
    const other = await optionsOf((await newcomer()).browser, '/passkeys/options');
    expect(other.user.id).not.toBe(first.user.id);
    for (const form of [userId, userId.replaceAll('-', '')])
      expect(Buffer.from(first.user.id, 'base64url').toString('hex')).not.toContain(form);
  });
});

describe('POST /passkeys', () => {
  test('adds a passkey', async () => {
    const options = await optionsOf(browser, '/passkeys/options');
    const answer = await add(device.create(options), '  My phone ');
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      passkey: {
        id: UUID,
        name: 'My phone',
        created_at: TIME,
        last_used_at: null,
        device_type: 'multiDevice',
        backed_up: true,
        transports: ['internal', 'hybrid'],
      },
    });
    expect((await signInWith(app.browser(), device)).status).toBe(200);
  });

  test('says what a security key is', async () => {
    const key = authenticator({ backupEligible: false, transports: ['usb', 'nfc'], counter: 7 });
    const passkey = await addPasskey(browser, key);
    expect(passkey).toMatchObject({
      name: 'Passkey',
      device_type: 'singleDevice',
      backed_up: false,
      transports: ['usb', 'nfc'],
    });
  });

  test('keeps of the transports what can be one', async () => {
    const transports = ['usb', 'usb', 'space ship', 'USB', 'some-future-one', '-'];
    const response = device.create(await optionsOf(browser, '/passkeys/options'), { transports });
    const answer = await add(response).expect(201);
    expect(answer.body.passkey.transports).toEqual(['usb', 'some-future-one']);
  });

  test('takes the longest ids, and keys of all algorithms', async () => {
    const longest = authenticator({ idBytes: 1023 });
    await addPasskey(browser, longest);
    expect((await signInWith(app.browser(), longest)).status).toBe(200);
    for (const publicKey of [rsaKey(4096), ed25519Key()]) {
      const response = device.create(await optionsOf(browser, '/passkeys/options'), { publicKey });
      await add(response).expect(201);
      device = authenticator();
    }
  });

  test('takes a statement that the passkey itself has signed, as browsers leave it', async () => {
    const options = await optionsOf(browser, '/passkeys/options');
    const response = device.create(options);
    const authData = Buffer.from(response.response.authenticatorData ?? '', 'base64url');
    const clientData = Buffer.from(response.response.clientDataJSON, 'base64url');
    const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()]);
    const { privateKey } = device.credentials[0]!;
    const packed = (signature: Buffer, more: [string, Cbor][] = []) =>
      base64url(
        encodeCbor(
          new Map<string, Cbor>([
            ['fmt', 'packed'],
            ['attStmt', new Map<string, Cbor>([['alg', -7], ['sig', signature], ...more])],
            ['authData', authData],
          ]),
        ),
      );
    const withStatement = (attestationObject: string) => ({
      ...response,
      response: { ...response.response, attestationObject },
    });
    await add(withStatement(packed(sign('sha256', signed, privateKey)))).expect(201);
  });

  test.each(['', ' ', 'x'.repeat(101), 'a\nb', 'a\u200bb', 7, null])('refuses the name %j', async (name) => {
    const response = device.create(await optionsOf(browser, '/passkeys/options'));
    const { errors } = expectProblem(await add(response, name), 422, 'validation_failed');
    expect(errors?.[0]?.pointer).toBe('/name');
  });

  test('refuses a passkey that is in use, by anybody', async () => {
    await addPasskey(browser, device);
    const { id: credentialId } = device.credentials[0]!;
    const others = await newcomer();
    for (const from of [browser, others.browser]) {
      const response = authenticator().create(await optionsOf(from, '/passkeys/options'), { credentialId });
      expectProblem(await from.post('/auth/passkeys').send({ response }), 409, 'passkey_exists');
    }
    expect((await signInWith(app.browser(), device)).body.user.id).toBe(userId);
  });

  test('of sixteen equal ones, one is added', async () => {
    const response = device.create(await optionsOf(browser, '/passkeys/options'));
    const answers = await Promise.all(Array.from({ length: 16 }, () => add(response)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(15).fill(401)]);
    expect(await list()).toHaveLength(1);
  });

  test('of sixteen with the same id and challenges of their own, one is added', async () => {
    const credentialId = randomBytes(32);
    const responses = [];
    for (let index = 0; index < 16; index++) {
      const options = await optionsOf(browser, '/passkeys/options');
      responses.push(authenticator().create(options, { credentialId }));
    }
    const answers = await Promise.all(responses.map((response) => add(response)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(15).fill(409)]);
  });

  test('a user has at most 100, also if several are added at once', async () => {
    await addPasskey(browser, device);
    const response = authenticator().create(await optionsOf(browser, '/passkeys/options'));
    const one = (await rows(app.database, 'SELECT * FROM passkeys WHERE user_id = :userId', { userId }))[0];
    for (let index = 1; index < 100; index++) {
      const copy: Record<string, unknown> = { ...one, credential_hash: randomBytes(32) };
      copy.id = `${String(index).padStart(8, '0')}${String(one?.id).slice(8)}`;
      const names = Object.keys(copy);
      await rows(
        app.database,
        `INSERT INTO passkeys (${names.join(', ')}) VALUES (${names.map((name) => `:${name}`).join(', ')})`,
        copy,
      );
    }
    expectProblem(await add(response), 409, 'too_many_passkeys');
    expectProblem(await browser.post('/auth/passkeys/options'), 409, 'too_many_passkeys');
    expect(await list()).toHaveLength(100);
  });
});

describe('a challenge for a new passkey', () => {
  test('is bound to the session, and left alone by others', async () => {
    const response = device.create(await optionsOf(browser, '/passkeys/options'));
    const other = app.browser();
    await other
      .post('/auth/signin/credential')
      .send({ credential: email, password: 'an analytical engine' })
      .expect(200);
    expectProblem(await other.post('/auth/passkeys').send({ response }), 401, 'invalid_passkey');
    const stranger = await newcomer();
    expectProblem(await stranger.browser.post('/auth/passkeys').send({ response }), 401, 'invalid_passkey');
    await add(response).expect(201);
  });

  test('is used up by a failure', async () => {
    const options = await optionsOf(browser, '/passkeys/options');
    expectProblem(await add(device.create(options, { userVerified: false })), 401, 'invalid_passkey');
    expectProblem(await add(device.create(options)), 401, 'invalid_passkey');
  });

  test('expires', async () => {
    const response = device.create(await optionsOf(browser, '/passkeys/options'));
    await rows(app.database, 'UPDATE passkey_challenges SET expires_at = :past', {
      past: new Date(Date.now() - 1000),
    });
    expectProblem(await add(response), 401, 'invalid_passkey');
    expect(await app.auth.prune()).toBeGreaterThan(0);
    expect(await rows(app.database, 'SELECT * FROM passkey_challenges')).toEqual([]);
  });

  test('of a sign-in is not good for it', async () => {
    const { challenge } = await optionsOf(browser, '/signin/passkey/options');
    const options = await optionsOf(browser, '/passkeys/options');
    expectProblem(await add(device.create({ ...options, challenge })), 401, 'invalid_passkey');
  });

  test('is stored as a hash only', async () => {
    const { challenge } = await optionsOf(browser, '/passkeys/options');
    const [stored] = await rows(app.database, 'SELECT * FROM passkey_challenges WHERE user_id = :userId', {
      userId,
    });
    const hash = createHash('sha256').update(challenge).digest();
    expect(Buffer.from(stored?.challenge_hash as Buffer).equals(hash)).toBe(true);
    const bytes = Buffer.from(challenge, 'base64url');
    for (const value of Object.values(stored ?? {})) {
      expect(String(value)).not.toContain(challenge);
      if (Buffer.isBuffer(value)) expect(value.includes(bytes)).toBe(false);
    }
    expect(app.log.join()).not.toContain(challenge);
  });
});

describe('what does not verify is 401 invalid_passkey', () => {
  const LIES: Record<string, Lies> = {
    'another origin': { origin: 'http://localhost:3001' },
    'the type of an assertion': { type: 'webauthn.get' },
    'another challenge': { challenge: base64url(randomBytes(32)) },
    'a page in a foreign frame': { crossOrigin: true },
    'a page in a foreign frame that is named': { crossOrigin: true, topOrigin: 'https://evil.example' },
    'a page in a frame that is named': { topOrigin: PAGE },
    'the hash of another domain': { rpId: 'example.com' },
    'nobody present': { userPresent: false },
    'nobody verified': { userVerified: false },
    'an id that was not attested': { id: base64url(randomBytes(32)) },
    'ids that differ': { rawId: base64url(randomBytes(32)) },
    'another type of credential': { credentialType: 'password' },
    'an id of 15 bytes': { credentialId: randomBytes(15) },
    'an id of 1024 bytes': { credentialId: randomBytes(1024) },
    'a copy of what cannot be copied': { backupEligible: false, backedUp: true },
    'bytes after the authenticator data': { trailing: Buffer.from([0]) },
    'an algorithm that was not asked for': { publicKey: ecKey('P-384', -35, 2) },
    'a key on another curve': { publicKey: ecKey('P-384', -7, 2) },
    'a point that is not on the curve': {
      publicKey: coseKey(2, -7, 1, Buffer.alloc(32, 1), Buffer.alloc(32, 1)),
    },
    'an RSA key of 1024 bits': { publicKey: rsaKey(1024) },
    'an RSA key whose exponent is 1': { publicKey: rsaKey(2048, [1]) },
    'an RSA key whose exponent is 3': { publicKey: rsaKey(2048, [3]) },
    'an RSA key whose exponent is even': { publicKey: rsaKey(2048, [1, 0, 2]) },
    'an RSA key whose exponent is long': { publicKey: rsaKey(2048, [1, 0, 0, 0, 0, 0, 0, 0, 1]) },
    'an RSA key of 8192 bits': { publicKey: coseRsa(Buffer.alloc(1024, 0xff)) },
    'a key without an algorithm': { publicKey: encodeCbor(new Map<number, Cbor>([[1, 2]])) },
    'a key that is a list': { publicKey: encodeCbor([]) },
    'a statement in a format that does not exist': { format: 'latchkey' },
    "a statement of the authenticator's maker": {
      format: 'packed',
      statement: new Map<string, Cbor>([
        ['alg', -7],
        ['sig', Buffer.alloc(70)],
        ['x5c', [Buffer.alloc(10)]],
      ]),
    },
    'a statement that somebody else has signed': {
      format: 'packed',
      statement: new Map<string, Cbor>([
        ['alg', -7],
        ['sig', Buffer.alloc(70)],
      ]),
    },
    'a statement that should be empty': { statement: new Map<string, Cbor>([['alg', -7]]) },
    'an attestation that is no map': { attestationObject: encodeCbor([]) },
    'an attestation that is cut off': { attestationObject: Buffer.from('a363666d74', 'hex') },
    'no authenticator data': { authenticatorData: Buffer.alloc(0) },
    'client data that is a list': { clientDataJSON: '[]' },
    'client data that is not UTF-8': { response: { clientDataJSON: base64url(Buffer.from([0xff, 0xfe])) } },
    'client data with padding': { response: { clientDataJSON: 'e30=' } },
  };

  test.each(Object.entries(LIES))('%s', async (_name, lies) => {
    const response = device.create(await optionsOf(browser, '/passkeys/options'), lies);
    expectProblem(await add(response), 401, 'invalid_passkey');
    expect(await list()).toEqual([]);
  });
});

test('a statement of the maker of the authenticator is refused unread, even if it verifies', async () => {
  const options = await optionsOf(browser, '/passkeys/options');
  const response = attested(device.create(options));
  // It does: the library alone would accept it.
  const { verified } = await verifyRegistrationResponse({
    response,
    expectedChallenge: options.challenge,
    expectedOrigin: PAGE,
    expectedRPID: 'localhost',
  });
  expect(verified).toBe(true);
  expectProblem(await add(response), 401, 'invalid_passkey');
});

describe('GET, PATCH and DELETE /passkeys', () => {
  test('list, rename and remove, newest first', async () => {
    const first = await addPasskey(browser, device, 'phone');
    const second = await addPasskey(browser, authenticator(), 'key');
    expect(await list()).toEqual([second, first]);
    const renamed = await browser
      .patch(`/auth/passkeys/${first.id}`)
      .send({ name: ' old phone ' })
      .expect(200);
    expect(renamed.body).toEqual({ passkey: { ...first, name: 'old phone' } });
    await browser.patch(`/auth/passkeys/${first.id}`).send({ name: 'old phone' }).expect(200);
    await browser.delete(`/auth/passkeys/${first.id}`).expect(204);
    expect(await list()).toEqual([second]);
    expectProblem(await signInWith(app.browser(), device), 401, 'unknown_passkey');
  });

  test("know nobody else's", async () => {
    const { id } = await addPasskey(browser, device);
    const other = (await newcomer()).browser;
    for (const path of [`/auth/passkeys/${id}`, '/auth/passkeys/x', `/auth/passkeys/${userId}`]) {
      expectProblem(await other.patch(path).send({ name: 'mine' }), 404, 'passkey_not_found');
      expectProblem(await other.delete(path), 404, 'passkey_not_found');
    }
    expect(await list()).toHaveLength(1);
  });

  test('remove needs a fresh session, and rename none', async () => {
    const { id } = await addPasskey(browser, device);
    await makeStale(sessionId);
    expectProblem(await browser.delete(`/auth/passkeys/${id}`), 403, 'reauthentication_required');
    await browser.patch(`/auth/passkeys/${id}`).send({ name: 'still here' }).expect(200);
  });

  test('the last way in cannot be removed, also if two are removed at once', async () => {
    const ids = [await addPasskey(browser, device), await addPasskey(browser, authenticator())].map(
      ({ id }) => id,
    );
    await rows(app.database, 'UPDATE users SET password_hash = NULL WHERE id = :userId', { userId });
    const answers = await Promise.all(ids.map((id) => browser.delete(`/auth/passkeys/${id}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 409]);
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('last_sign_in_method');
    expect(await list()).toHaveLength(1);
  });

  test('GET /sign-in-methods counts them', async () => {
    await addPasskey(browser, device);
    const { body } = await browser.get('/auth/sign-in-methods').expect(200);
    expect(body).toEqual({ password: true, passkeys: 1 });
  });
});

function coseKey(kty: number, alg: number, crv: number, x: Buffer, y?: Buffer): Buffer {
  const key = new Map<number, Cbor>([
    [1, kty],
    [3, alg],
    [-1, crv],
    [-2, x],
  ]);
  if (y) key.set(-3, y);
  return encodeCbor(key);
}

function ecKey(namedCurve: string, alg: number, crv: number): Buffer {
  const { x = '', y = '' } = generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' });
  return coseKey(2, alg, crv, Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url'));
}

function ed25519Key(): Buffer {
  const { x = '' } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  return coseKey(1, -8, 6, Buffer.from(x, 'base64url'));
}

/** A key without a private one, which takes long to find. */
function rsaKey(modulusLength: number, exponent?: number[]): Buffer {
  const modulus = randomBytes(modulusLength / 8);
  modulus[0] = 0xff;
  modulus[modulus.length - 1] = 0xff;
  return coseRsa(modulus, exponent);
}

function coseRsa(n: Buffer, exponent = [1, 0, 1]): Buffer {
  return encodeCbor(
    new Map<number, Cbor>([
      [1, 3],
      [3, -257],
      [-1, n],
      [-2, Buffer.from(exponent)],
    ]),
  );
}
