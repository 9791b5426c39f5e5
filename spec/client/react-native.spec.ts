import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import type * as Client from '../../lib/client.js';
import { phone, phoneStory } from './phone.js';
import { ADMINISTRATORS, startStoryApp } from './story-app.js';

let app: Awaited<ReturnType<typeof startStoryApp>>;
beforeAll(async () => {
  // Its runtime does not have what solves the challenges.
  app = await startStoryApp({ humanCheck: { verify: () => true } });
});
afterAll(() => app?.stop());

/**
 * Loads the client with the globals that every version of React Native has and that work as in a browser. A new context
 * has the language's own globals only. URL and URLSearchParams are missing because those of React Native are incomplete.
 */
async function loaded(): Promise<typeof Client> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../../lib/client.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'loaded',
  });
  const context = createContext({
    AbortController,
    clearTimeout,
    fetch,
    Headers,
    navigator: { product: 'ReactNative' },
    queueMicrotask,
    Response,
    setTimeout,
  });
  return runInContext(`${outputFiles[0]?.text}; loaded`, context);
}

test('a client calls every method with the globals of React Native', async () => {
  const { createClient } = await loaded();
  const { client, kept } = phone(app.origin, createClient, false);
  const states = new Set<string>();
  client.session.subscribe(() => states.add(client.session.get().status));
  await phoneStory(client, app.origin, ADMINISTRATORS[0] ?? '');
  expect(kept.token).toBeNull();
  expect([...states].sort()).toEqual(['signed_in', 'signed_out']);
});

test('without what solves it, a challenge is an error', async () => {
  const { createClient } = await loaded();
  const answer = () => new Response('{"parameters":{"nonce":"00","salt":"00"}}');
  const client = createClient({ fetch: async () => answer() });
  expect((await client.humanChallenge()).error).toMatchObject({ status: 0, code: 'human_check_failed' });
});

test('without a dialog for passkeys, a ceremony is unavailable', async () => {
  const { createClient } = await loaded();
  const { client } = phone(app.origin, createClient, false);
  for (const autofill of [false, true])
    expect((await client.passkeys.signIn({ autofill })).error?.code).toBe('passkey_unavailable');
});

test('orThrow throws an error of this runtime', async () => {
  const { createClient, orThrow, ClientFailure } = await loaded();
  const { client } = phone(app.origin, createClient, false);
  await expect(orThrow(client.me())).rejects.toBeInstanceOf(ClientFailure);
});
