import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { passkeys } from '../../../lib/index.js';
import { password, type SpecApp, signedIn, startApp } from '../../support/app.js';
import { base64url } from '../../support/authenticator.js';
import { addPasskey, authenticator, optionsOf, PAGE } from '../../support/passkeys.js';

// Whatever is sent, the answer is a problem of ours and never 500.
const plugins = [password(), passkeys()] as const;
let app: SpecApp<typeof plugins>;
let browser: Awaited<ReturnType<typeof signedIn>>;
const device = authenticator();
beforeAll(async () => {
  app = await startApp({ plugins, config: { baseUrl: PAGE } });
  browser = await signedIn(app);
  await addPasskey(browser, device);
});
afterAll(() => app.stop());

const JUNK: readonly unknown[] = [
  null,
  0,
  true,
  '',
  'x',
  [],
  {},
  [[]],
  { toString: 'x' },
  '\0',
  '\ud800',
  '{}',
  'AAAA',
  '=',
  '💥',
  'A'.repeat(10_000),
];

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

async function expectRefused(path: string, body: unknown) {
  const answer = await browser.post(path).send(body as object);
  expect([401, 413, 422]).toContain(answer.status);
  expect(answer.headers['content-type']).toBe('application/problem+json; charset=utf-8');
}

const PATHS = {
  '/auth/passkeys': async () => authenticator().create(await optionsOf(browser, '/passkeys/options')),
  '/auth/signin/passkey': async () => device.get(await optionsOf(browser, '/signin/passkey/options')),
};

describe.each(Object.entries(PATHS))('POST %s refuses', (path, honest) => {
  test('junk in place of the response, and of each of its fields', async () => {
    for (const junk of [...JUNK, deep(500)]) await expectRefused(path, { response: junk });
    const response = await honest();
    const inner = response.response as unknown as Record<string, unknown>;
    for (const junk of [...JUNK, deep(500)]) {
      for (const key of ['id', 'rawId', 'type', 'response'])
        await expectRefused(path, { response: { ...response, [key]: junk } });
      for (const key of ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature']) {
        if (!(key in inner) || (path === '/auth/passkeys' && key === 'authenticatorData')) continue;
        await expectRefused(path, { response: { ...response, response: { ...inner, [key]: junk } } });
      }
    }
  });

  test('a body that is nested too deeply, or too large', async () => {
    const nested = `{"response":${'['.repeat(40_000)}${']'.repeat(40_000)}}`;
    const answer = await browser.post(path).type('json').send(nested);
    expect(answer.status).toBe(413);
    const shallow = `{"response":${'['.repeat(8_000)}${']'.repeat(8_000)}}`;
    expect((await browser.post(path).type('json').send(shallow)).status).toBe(422);
    await expectRefused(path, { response: { ...(await honest()), id: 'A'.repeat(20_000) } });
  });

  test('client data that is nested deeply, or has names of prototypes', async () => {
    for (const text of [
      '['.repeat(7_000),
      `{"a":${'['.repeat(3_500)}${']'.repeat(3_500)}}`,
      '{"__proto__":{"challenge":"x"}}',
      '{"challenge":{"toString":1}}',
      '\uFEFF{}',
    ]) {
      const response = await honest();
      const clientDataJSON = base64url(Buffer.from(text));
      await expectRefused(path, {
        response: { ...response, response: { ...response.response, clientDataJSON } },
      });
    }
  });
});

describe('authenticator data', () => {
  const bytesOf = (text: string) => Buffer.from(text, 'base64url');

  test('with any byte changed, or cut off anywhere, is refused or means the same', async () => {
    for (let round = 0; round < 60; round++) {
      const options = await optionsOf(browser, '/passkeys/options');
      const honest = authenticator().create(options);
      const object = bytesOf(honest.response.attestationObject);
      const at = Math.floor(Math.random() * object.length);
      if (round % 2) object[at] = Math.floor(Math.random() * 256);
      const changed = round % 2 ? object : object.subarray(0, at);
      const response = { ...honest, response: { ...honest.response, attestationObject: base64url(changed) } };
      const answer = await browser.post('/auth/passkeys').send({ response });
      expect([201, 401, 422]).toContain(answer.status);
    }
  });

  test.each([
    ['nested lists', Buffer.alloc(9_000, 0x81)],
    ['nested maps', Buffer.concat(Array.from({ length: 4_000 }, () => Buffer.from([0xa1, 0x01])))],
    ['nested tags', Buffer.alloc(9_000, 0xc1)],
    ['a list of 2^53 - 1', Buffer.from('9b001fffffffffffff', 'hex')],
    ['a list of 2^64 - 1', Buffer.from('9bffffffffffffffff', 'hex')],
    ['a text of 2^32 - 1', Buffer.from('7affffffff', 'hex')],
    ['bytes of 2^32 - 1', Buffer.from('5affffffff', 'hex')],
    ['an endless list', Buffer.from('9f', 'hex')],
    ['random bytes', randomBytes(5_000)],
  ])('that is %s is refused quickly', async (_name, bytes) => {
    const started = performance.now();
    for (const lies of [{ attestationObject: bytes }, { publicKey: bytes }]) {
      const response = authenticator().create(await optionsOf(browser, '/passkeys/options'), lies);
      // What `authenticatorData` repeats is not looked at.
      const { authenticatorData: _, ...inner } = response.response;
      await expectRefused('/auth/passkeys', { response: { ...response, response: inner } });
    }
    const flags = Buffer.from([0x85]);
    const authenticatorData = Buffer.concat([Buffer.alloc(32), flags, Buffer.alloc(4), bytes]);
    const response = device.get(await optionsOf(browser, '/signin/passkey/options'), { authenticatorData });
    await expectRefused('/auth/signin/passkey', { response });
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
