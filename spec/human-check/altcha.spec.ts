import { createHmac, hkdfSync } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { altcha } from '../../lib/human-check.js';
import type { AuthConfig } from '../../lib/index.js';
import { password, SECRET, startApp } from '../support/app.js';
import { advance } from '../support/clock.js';
import { type Challenge, solutionOf, solved, tokenOf } from '../support/human.js';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function start(config: Partial<AuthConfig<never>> = {}) {
  const app = await startApp({
    plugins: [password()],
    config: { humanCheck: altcha({ cost: 100 }), ...(config as object) },
  });
  ends.push(app.stop);
  let count = 0;
  return {
    ...app,
    challenge: async () => (await app.http.get('/auth/human-challenge').expect(200)).body as Challenge,
    post: (token: string) =>
      app.http
        .post('/auth/signup/credential')
        .set('latchkey-human', token)
        .send({ email: `new${count++}@example.com`, password: 'an analytical engine' }),
  };
}

/** The key as ALTCHA's libraries get it. */
const keyOf = (secret: string) =>
  Buffer.from(hkdfSync('sha256', secret, '', 'latchkey human challenges', 32)).toString('hex');

test('a challenge has the format of version 2, and is signed with a key of the secret', async () => {
  const app = await start({ humanCheck: altcha() });
  const answer = await app.http.get('/auth/human-challenge').expect(200);
  expect(answer.headers['cache-control']).toBe('no-store');
  const { parameters, signature } = answer.body;
  expect(parameters).toEqual({
    algorithm: 'PBKDF2/SHA-256',
    cost: 1000,
    expiresAt: expect.any(Number),
    keyLength: 32,
    keyPrefix: '00',
    nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
    salt: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  expect(parameters.expiresAt - Date.now() / 1000).toBeGreaterThan(595);
  expect(parameters.expiresAt - Date.now() / 1000).toBeLessThan(605);
  const sorted = JSON.stringify(Object.fromEntries(Object.entries(parameters).sort()));
  expect(signature).toBe(createHmac('sha256', keyOf(SECRET)).update(sorted).digest('hex'));
});

describe('a solution', () => {
  test('is accepted for 10 minutes', async () => {
    const app = await start();
    const [early, late] = [await solved(app), await solved(app)];
    advance(app.auth, 595);
    await app.post(early).expect(201);
    advance(app.auth, 10);
    await app.post(late).expect(403);
  });

  test('of a challenge that an older secret has signed is accepted', async () => {
    const former = await start();
    const token = await solved(former);
    const rotated = await start({ secret: ['a newer secret of the app, also 32 bytes', SECRET] });
    await rotated.post(token).expect(201);
    const other = await start({ secret: 'a newer secret of the app, also 32 bytes' });
    await other.post(token).expect(403);
  });

  test('is refused if anything in it is wrong', async () => {
    const app = await start();
    const challenge = await app.challenge();
    const solution = solutionOf(challenge);
    const { parameters, signature } = challenge;
    const changed = (more: object) =>
      tokenOf({ parameters: { ...parameters, ...more }, signature }, solution);
    const wrong = [
      'not base64 at all ☃',
      Buffer.from('null').toString('base64'),
      Buffer.from('[]').toString('base64'),
      Buffer.from('{"challenge":'.repeat(300)).toString('base64'),
      changed({ cost: 1 }),
      changed({ keyPrefix: '' }),
      changed({ keyLength: 1 }),
      changed({ expiresAt: parameters.expiresAt + 1 }),
      changed({ nonce: parameters.salt }),
      changed({ algorithm: 'SHA-256' }),
      tokenOf({ parameters }, solution),
      tokenOf({ parameters, signature: signature.toUpperCase() }, solution),
      tokenOf({ parameters, signature: '00'.repeat(32) }, solution),
      tokenOf(challenge, { ...solution, counter: solution.counter + 1 }),
      tokenOf(challenge, { ...solution, counter: -1 }),
      tokenOf(challenge, { ...solution, counter: 2 ** 32 }),
      tokenOf(challenge, { ...solution, counter: 'x' }),
      tokenOf(challenge, { ...solution, derivedKey: `00${'f'.repeat(62)}` }),
      tokenOf(challenge, { ...solution, derivedKey: '00' }),
      tokenOf(challenge, {}),
    ];
    for (const token of wrong) await app.post(token.replace('☃', '')).expect(403);
    // None of them has used the challenge up, or made the check fail.
    await app.post(tokenOf(challenge, solution)).expect(201);
    expect((await app.auth.health()).degraded).toEqual([]);
  });

  test('of altcha-lib is accepted', async () => {
    // altcha-lib 2.8.0 has created and solved this challenge: createChallenge({ algorithm: 'PBKDF2/SHA-256', cost: 100,
    // expiresAt, hmacSignatureSecret: the key of the secret of these specs }), then solveChallenge.
    const app = await start();
    await app.post(BY_ALTCHA_LIB).expect(201);
    await app.post(BY_ALTCHA_LIB).expect(403);
  });
});

test('an app without altcha() has no challenges', async () => {
  const app = await start({ humanCheck: { verify: () => true } });
  await app.http.get('/auth/human-challenge').expect(404);
  await app.post('').expect(201);
});

test('the options of altcha() are checked', () => {
  expect(() => altcha({ cost: 99 })).toThrow('latchkey: altcha: cost must be at least 100');
  expect(() => altcha({ costs: 1000 } as never)).toThrow('did you mean cost');
  expect(() => altcha().verify(null, {} as never)).toThrow('set humanCheck to its result');
});

const BY_ALTCHA_LIB =
  'eyJjaGFsbGVuZ2UiOnsicGFyYW1ldGVycyI6eyJhbGdvcml0aG0iOiJQQktERjIvU0hBLTI1NiIsImNvc3QiOjEwMCwiZXhwaXJlc0F0Ijo0MTAyNDQ0ODAwLCJrZXlMZW5ndGgiOjMyLCJrZXlQcmVmaXgiOiIwMCIsIm5vbmNlIjoiYzFkN2RkZDk5Zjg0ZjRhMDZhMDM0MjBkZWEzNGY0OTkiLCJzYWx0IjoiZDE0NzI1YTgwMzg5N2I3ZWQ0NmMwNzhmOWU0NmJmNDMifSwic2lnbmF0dXJlIjoiOTZkOTA5ODA3MGI0YTA2YTUxYWRlZWY0OWY2ZTFmMmZkY2MyY2I3YTZjMmU1YTQxYTdkZWRiMjdkZjkyNmU2ZSJ9LCJzb2x1dGlvbiI6eyJjb3VudGVyIjoyMzEsImRlcml2ZWRLZXkiOiIwMGFhNzI0YmRlYTRlZjY3YjFiMGI0OTczMDI1MmZmOTQ4N2U1ZGMxM2U1NmI1ZjBlNWFmMGUwMGM4ZTVmZWY0IiwidGltZSI6OS4yfX0=';
