import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { passkeys } from '../../lib/index.js';
import { password, type SpecApp, signedIn, startApp } from '../support/app.js';
import { type Authenticator, base64url } from '../support/authenticator.js';
import { type Cbor, encodeCbor } from '../support/cbor.js';
import { rows } from '../support/database.js';
import { addPasskey, authenticator, optionsOf, PAGE, signInWith } from '../support/passkeys.js';
import { expectProblem } from '../support/problem.js';

// What docs/learned-from.md says of passkeys. An authenticator in software makes real ones.
let app: SpecApp<readonly [ReturnType<typeof password>, ReturnType<typeof passkeys>]>;
beforeAll(async () => {
  app = await startApp({ plugins: [password(), passkeys()], config: { baseUrl: PAGE } });
});
afterAll(() => app.stop());

let people = 0;
/** A user of their own with a session and, if wanted, a passkey. */
async function person({ hasPasskey = true } = {}) {
  const email = `person-${++people}@example.com`;
  const browser = await signedIn(app, { email, password: 'an analytical engine' });
  const device = authenticator();
  const passkey = hasPasskey ? await addPasskey(browser, device) : null;
  return { email, browser, device, id: passkey?.id as string };
}
const countOf = async () =>
  Number((await rows<{ n: number }>(app.database, 'SELECT COUNT(*) AS n FROM passkeys'))[0]?.n);
const signsIn = async (device: Authenticator) => (await signInWith(app.browser(), device)).status === 200;

describe("a passkey is its owner's alone", () => {
  test("GHSA-4vcf-q4xf-f48m: nobody else's is removed, renamed or shown by its id", async () => {
    const [victim, mallory] = [await person(), await person()];
    const path = `/auth/passkeys/${victim.id}`;
    expectProblem(await mallory.browser.delete(path), 404, 'passkey_not_found');
    expectProblem(await mallory.browser.patch(path).send({ name: 'mine' }), 404, 'passkey_not_found');
    const { body } = await mallory.browser.get('/auth/passkeys').expect(200);
    expect(body.passkeys.map(({ id }: { id: string }) => id)).toEqual([mallory.id]);
    const theirs = (await victim.browser.get('/auth/passkeys').expect(200)).body.passkeys;
    expect(theirs).toEqual([
      expect.objectContaining({ id: victim.id, name: expect.not.stringContaining('mine') }),
    ]);
    expect(await signsIn(victim.device)).toBe(true);
    await victim.browser.patch(path).send({ name: 'my phone' }).expect(200);
    await victim.browser.delete(path).expect(204);
    expect(await signsIn(victim.device)).toBe(false);
  });

  test('CVE-2021-3632: one is added by a recent session of the account alone, which also asked for it', async () => {
    const victim = await person({ hasPasskey: false });
    const mallory = await person({ hasPasskey: false });
    expectProblem(await app.http.post('/auth/passkeys/options').send({}), 401, 'unauthenticated');
    expectProblem(await app.http.post('/auth/passkeys').send({ response: {} }), 401, 'unauthenticated');
    // What Mallory's session asked for, in the victim's session and the other way round.
    const asked = await optionsOf(mallory.browser, '/passkeys/options');
    const response = mallory.device.create(asked);
    expectProblem(await victim.browser.post('/auth/passkeys').send({ response }), 401, 'invalid_passkey');
    const theirs = await optionsOf(victim.browser, '/passkeys/options');
    const made = mallory.device.create(theirs);
    expectProblem(
      await mallory.browser.post('/auth/passkeys').send({ response: made }),
      401,
      'invalid_passkey',
    );
    expect((await victim.browser.get('/auth/passkeys')).body.passkeys).toEqual([]);
    // A session that somebody has found does not begin with it.
    await rows(app.database, 'UPDATE sessions SET authenticated_at = :past', {
      past: new Date(Date.now() - 601_000),
    });
    expectProblem(
      await victim.browser.post('/auth/passkeys/options').send({}),
      403,
      'reauthentication_required',
    );
  });
});

describe('a challenge is ours, and is used once', () => {
  test('CVE-2022-42731: a registration that was used registers nothing again', async () => {
    const { browser, device } = await person({ hasPasskey: false });
    const response = device.create(await optionsOf(browser, '/passkeys/options'));
    await browser.post('/auth/passkeys').send({ response }).expect(201);
    const before = await countOf();
    expectProblem(await browser.post('/auth/passkeys').send({ response }), 401, 'invalid_passkey');
    const { id } = (await browser.get('/auth/passkeys')).body.passkeys[0];
    await browser.delete(`/auth/passkeys/${id}`).expect(204);
    expectProblem(await browser.post('/auth/passkeys').send({ response }), 401, 'invalid_passkey');
    expect(await countOf()).toBe(before - 1);
  });

  test('CVE-2022-42731: one that failed uses its challenge up, too', async () => {
    const { browser, device } = await person({ hasPasskey: false });
    const options = await optionsOf(browser, '/passkeys/options');
    const wrong = device.create(options, { origin: 'http://evil.example' });
    expectProblem(await browser.post('/auth/passkeys').send({ response: wrong }), 401, 'invalid_passkey');
    const right = authenticator().create(options);
    expectProblem(await browser.post('/auth/passkeys').send({ response: right }), 401, 'invalid_passkey');
  });

  test('CVE-2026-28787: an assertion that somebody has seen signs nobody in, nor does a challenge of their own', async () => {
    const { device } = await person();
    const browser = app.browser();
    const options = await optionsOf(browser, '/signin/passkey/options');
    const response = device.get(options);
    await browser.post('/auth/signin/passkey').send({ response }).expect(200);
    const { challenge } = options;
    for (const client of [browser, app.browser(), app.http]) {
      expectProblem(await client.post('/auth/signin/passkey').send({ response }), 401, 'invalid_passkey');
      for (const more of [{ challenge }, { expectedChallenge: challenge }, { options }])
        expectProblem(
          await client.post('/auth/signin/passkey').send({ response, ...more }),
          422,
          'validation_failed',
        );
    }
    // With a fresh challenge of the attacker's browser, which the old signature does not fit.
    const other = app.browser();
    await optionsOf(other, '/signin/passkey/options');
    expectProblem(await other.post('/auth/signin/passkey').send({ response }), 401, 'invalid_passkey');
    // An assertion that was not used yet belongs to the browser that asked for it.
    const third = app.browser();
    const unused = device.get(await optionsOf(third, '/signin/passkey/options'));
    for (const client of [other, app.http])
      expectProblem(
        await client.post('/auth/signin/passkey').send({ response: unused }),
        401,
        'invalid_passkey',
      );
    await third.post('/auth/signin/passkey').send({ response: unused }).expect(200);
    // And a fresh signature over a challenge that we did not give out.
    await optionsOf(other, '/signin/passkey/options');
    const chosen = device.get(options, { challenge: base64url(Buffer.alloc(32, 7)) });
    expectProblem(
      await other.post('/auth/signin/passkey').send({ response: chosen }),
      401,
      'invalid_passkey',
    );
  });

  test('CVE-2026-28787: of 16 equal assertions at once, one signs in', async () => {
    const { device } = await person();
    const browser = app.browser();
    const response = device.get(await optionsOf(browser, '/signin/passkey/options'));
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => browser.post('/auth/signin/passkey').send({ response })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(15);
  });
});

describe('what the authenticator says is checked here, not in the page', () => {
  test.each([
    ['without its user there', { userPresent: false }],
    ['without its user verified', { userVerified: false }],
    ['without either', { userPresent: false, userVerified: false }],
  ])('CVE-2021-38299: an authenticator %s registers and signs in nobody', async (_title, lies) => {
    const { browser, device } = await person();
    const refused = await signInWith(app.browser(), device, { lies });
    expectProblem(refused, 401, 'invalid_passkey');
    expect(refused.headers['set-cookie'] ?? []).not.toContainEqual(expect.stringMatching(/^latchkey=/));
    const before = await countOf();
    const response = authenticator().create(await optionsOf(browser, '/passkeys/options'), lies);
    expectProblem(await browser.post('/auth/passkeys').send({ response }), 401, 'invalid_passkey');
    expect(await countOf()).toBe(before);
    expect(await signsIn(device)).toBe(true);
  });

  test('CVE-2026-8830: a passkey of an algorithm that was not asked for is refused', async () => {
    const { browser, device } = await person({ hasPasskey: false });
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
    const es384 = new Map<number, Cbor>([
      [1, 2],
      [3, -35],
      [-1, 2],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]);
    const options = await optionsOf(browser, '/passkeys/options');
    expect(options.pubKeyCredParams.map(({ alg }: { alg: number }) => alg)).not.toContain(-35);
    const response = device.create(options, { publicKey: encodeCbor(es384) });
    expectProblem(await browser.post('/auth/passkeys').send({ response }), 401, 'invalid_passkey');
  });

  test('CVE-2026-8830: an id that the authenticator did not attest is refused', async () => {
    const { browser, device } = await person({ hasPasskey: false });
    const response = device.create(await optionsOf(browser, '/passkeys/options'), {
      id: base64url(Buffer.alloc(32, 7)),
    });
    expectProblem(await browser.post('/auth/passkeys').send({ response }), 401, 'invalid_passkey');
  });

  test('CVE-2026-8830: an authenticator that the options exclude is not registered again', async () => {
    const { browser, device } = await person();
    const options = await optionsOf(browser, '/passkeys/options');
    // A page that leaves the list out.
    const credentialId = device.credentials[0]?.id as Buffer;
    const response = authenticator().create({ ...options, excludeCredentials: [] }, { credentialId });
    expectProblem(await browser.post('/auth/passkeys').send({ response }), 409, 'passkey_exists');
  });
});

describe('what is asked before a sign-in says nothing about accounts', () => {
  test('CVE-2024-39912: the options are the same for everybody, and take no name', async () => {
    const { email } = await person();
    for (const body of [{ email }, { username: email }, { credential: email }, { user: 'nobody' }])
      expectProblem(await app.http.post('/auth/signin/passkey/options').send(body), 422, 'validation_failed');
    const shapes = await Promise.all(
      [app.browser(), app.browser(), (await person()).browser].map(async (browser) => {
        const { challenge, ...rest } = await optionsOf(browser, '/signin/passkey/options');
        expect(challenge).toMatch(/^[\w-]{43}$/);
        return rest;
      }),
    );
    for (const shape of shapes) expect(shape).toEqual(shapes[0]);
    expect(shapes[0].allowCredentials ?? []).toEqual([]);
  });

  test('CVE-2024-39912: an unknown passkey and a wrong signature are one answer', async () => {
    const known = (await person()).device;
    const unknown = authenticator();
    unknown.create(await optionsOf((await person({ hasPasskey: false })).browser, '/passkeys/options'));
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const wrong = await signInWith(app.browser(), known, { lies: { signingKey: privateKey } });
    const never = await signInWith(app.browser(), unknown);
    expectProblem(wrong, 401, 'invalid_passkey');
    expect(never.body).toEqual(wrong.body);
  });
});
