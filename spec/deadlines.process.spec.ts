import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { abortedAfter } from '../lib/context/deadline.js';
import { Endpoint } from '../lib/outbox/webhooks.js';
import { type LyingProvider, startLyingProvider } from './support/lying-provider.js';
import { type OAuthApp, oidcPlugin, signInWith, startOAuthApp } from './support/oauth-app.js';
import { startReceiver } from './support/receiver.js';
import { type HeldTimers, holdTimers } from './support/timers.js';

// Garbage collection must not lose a deadline. On Node 20, it loses those of `AbortSignal.any([AbortSignal.timeout(ms)])`.
// A deadline that is lost is never reached.
jest.setTimeout(60_000);

let limit: HeldTimers;
afterEach(() => limit.release());

/** Collects garbage several times, and lets the deadline pass. */
async function collectAndExpire() {
  for (let times = 0; times < 5; times++) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  limit.expire();
}

test('garbage can be collected here', () => {
  limit = holdTimers(4500);
  expect(globalThis.gc).toBeInstanceOf(Function);
});

describe('with garbage collection, a request ends at its deadline', () => {
  let provider: LyingProvider;
  let app: OAuthApp;
  beforeAll(async () => {
    provider = await startLyingProvider();
    app = await startOAuthApp({
      providers: () => [oidcPlugin(provider), oidcPlugin(provider, { id: 'other' })],
    });
  });
  afterEach(() => {
    provider.lies = {};
  });
  afterAll(async () => {
    await app.stop();
    await provider.stop();
  });

  /** Lets an endpoint of the provider never respond, or never finish. */
  function hang(endpoint: 'discovery' | 'token', hasBegun = false) {
    let arrive = () => {};
    let end = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    provider.lies = {
      answers: {
        [endpoint]: (_req: unknown, res: ServerResponse) => {
          res.once('close', end);
          if (hasBegun) res.writeHead(200, { 'content-type': 'application/json' }).write('{', () => arrive());
          else arrive();
        },
      },
    };
    return { arrived, ended };
  }

  test('for the metadata of a provider', async () => {
    limit = holdTimers(4500);
    const { arrived, ended } = hang('discovery');
    const response = app
      .browser()
      .get('/auth/oauth/other/authorize')
      .then(({ status }) => status);
    await arrived;
    await collectAndExpire();
    expect(await response).toBe(502);
    await ended;
  });

  test('for the tokens of a sign-in', async () => {
    limit = holdTimers(4500);
    const { arrived, ended } = hang('token');
    const response = signInWith(app.browser(), 'oidc');
    await arrived;
    await collectAndExpire();
    await response.catch(() => undefined);
    await ended;
  });

  test.each([false, true])('for refreshed tokens (begun: %s)', async (hasBegun) => {
    const browser = app.browser();
    await signInWith(browser, 'oidc');
    limit = holdTimers(30_000);
    const { arrived, ended } = hang('token', hasBegun);
    const response = browser.post('/auth/oauth/oidc/tokens/refresh').then(({ status }) => status);
    await arrived;
    await collectAndExpire();
    expect([502, 503]).toContain(await response);
    await ended;
  });

  test('for a webhook', async () => {
    limit = holdTimers(5000);
    const receiver = await startReceiver();
    const secrets = [`whsec_${Buffer.alloc(32, 7).toString('base64')}`];
    const settings = { url: `${receiver.origin}/hangs`, secrets, events: null };
    const endpoint = new Endpoint(settings, { clock: { now: () => Date.now() } } as never, null);
    receiver.answer('/hangs', () => undefined);
    const entry = { id: 'one', kind: 'event', content: { body: '{}' }, createdAt: new Date() };
    const outcome = endpoint
      .send({ ...entry, isRetry: false, wasHeld: false, traceparent: null })
      .catch((error) => error);
    await receiver.arrived('/hangs', 1);
    await collectAndExpire();
    expect(String(await outcome)).toContain('the endpoint did not respond within 5 seconds');
    await receiver.stop();
  });
});

describe('with garbage collection, a signal with a deadline is aborted', () => {
  const aborted = (signal: AbortSignal) =>
    new Promise<unknown>((resolve) => signal.addEventListener('abort', () => resolve(signal.reason)));

  test('at its deadline', async () => {
    limit = holdTimers(4500);
    const reasons = [aborted(abortedAfter(4500)), aborted(abortedAfter(4500, new AbortController().signal))];
    await collectAndExpire();
    for (const reason of await Promise.all(reasons)) expect(reason).toMatchObject({ name: 'TimeoutError' });
  });

  test('together with another one, before or after it is created', async () => {
    limit = holdTimers(4500);
    const other = new AbortController();
    const reason = aborted(abortedAfter(600_000, other.signal));
    const cause = new Error('closed');
    other.abort(cause);
    expect(await reason).toBe(cause);
    expect(abortedAfter(600_000, other.signal).reason).toBe(cause);
  });
});
