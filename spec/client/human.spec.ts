import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type AnyShape, type ClientOptions, createClient, orThrow } from '../../lib/client.js';
import { altcha } from '../../lib/human-check.js';
import { emailSignIn } from '../../lib/index.js';
import { password } from '../support/app.js';
import { type MailApp, startMailApp } from '../support/mail-app.js';

interface Shape extends AnyShape {
  plugins: 'credential' | 'emailSignIn';
  bearer: true;
}

const plugins = () => [password(), emailSignIn()] as const;
let app: MailApp<ReturnType<typeof plugins>>;
beforeAll(async () => {
  app = await startMailApp({
    plugins: plugins(),
    config: {
      bearerEnabled: true,
      humanCheck: altcha({
        cost: 100,
        routes: ['signup/credential', 'signin/email', 'signin/credential'],
      }),
    },
  });
});
afterAll(() => app?.stop());

/** The requests of the client, each with whether it had a token of the human check. */
const sent: string[] = [];
beforeEach(() => {
  sent.length = 0;
});

function clientWith(options: Pick<ClientOptions<Shape>, 'humanToken'> = {}) {
  return createClient<Shape>({
    baseUrl: `${app.origin}/auth`,
    bearer: { get: () => null, set: () => undefined },
    async fetch(url, init) {
      const path = new URL(String(url)).pathname.replace('/auth', '');
      sent.push(`${path}${new Headers(init?.headers).has('latchkey-human') ? ' with a token' : ''}`);
      return globalThis.fetch(url, init);
    },
    ...options,
  });
}

const solving = () => {
  const client = clientWith({ humanToken: () => client.humanChallenge() });
  return client;
};

let count = 0;
const account = () => ({ email: `new${count++}@example.com`, password: 'an analytical engine' });

test('the token of a solved challenge is accepted', async () => {
  const token = await orThrow(clientWith().humanChallenge());
  const client = clientWith({ humanToken: async () => token });
  expect((await client.credential.signUp(account())).error).toBeNull();
  expect((await client.credential.signUp(account())).error?.code).toBe('human_check_failed');
});

describe('humanToken', () => {
  test('is asked before the routes that are checked by default', async () => {
    const { credential, emailSignIn } = solving();
    expect((await credential.signUp(account())).error).toBeNull();
    expect((await emailSignIn.request({ email: 'ada@example.com' })).error).toBeNull();
    expect((await credential.requestPasswordReset({ email: 'ada@example.com' })).error).toBeNull();
    expect(sent).toEqual([
      '/human-challenge',
      '/signup/credential with a token',
      '/human-challenge',
      '/signin/email with a token',
      '/human-challenge',
      '/passwords/request-reset with a token',
    ]);
  });

  test('is asked for another route once more, if the server has refused it', async () => {
    const { email, password } = account();
    await app.auth.credential.signUp({ email, password });
    const { data } = await solving().credential.signIn({ credential: email, password });
    expect(data?.step).toBe('done');
    expect(sent).toEqual(['/signin/credential', '/human-challenge', '/signin/credential with a token']);
    sent.length = 0;
    const wrong = clientWith({ humanToken: async () => 'wrong' });
    const { error } = await wrong.credential.signIn({ credential: email, password });
    expect(error).toMatchObject({ status: 403, code: 'human_check_failed' });
    expect(sent).toEqual(['/signin/credential', '/signin/credential with a token']);
  });

  test('is not asked for other routes, or twice for those that are checked by default', async () => {
    let asked = 0;
    const client = clientWith({ humanToken: async () => `wrong ${asked++}` });
    expect((await client.me()).error?.code).toBe('unauthenticated');
    expect(asked).toBe(0);
    expect((await client.credential.signUp(account())).error?.code).toBe('human_check_failed');
    expect(asked).toBe(1);
  });

  test('that fails is an error of the call, which is not sent', async () => {
    const throwing = clientWith({ humanToken: () => Promise.reject(new Error('no widget')) });
    const { error } = await throwing.credential.signUp(account());
    expect(error).toEqual({
      status: 0,
      code: 'human_check_failed',
      detail: 'It could not be confirmed that a person sends this. Try again.',
    });
    const unavailable = { status: 503, code: 'unavailable', detail: 'Later.' };
    const failing = clientWith({ humanToken: async () => ({ data: null, error: unavailable }) });
    expect((await failing.credential.signUp(account())).error).toEqual(unavailable);
    expect(sent).toEqual([]);
  });
});

test('without humanToken, no request has a token', async () => {
  const client = clientWith();
  expect((await client.credential.signUp(account())).error?.code).toBe('human_check_failed');
  expect(sent).toEqual(['/signup/credential']);
});

test('an aborted challenge rejects with the reason', async () => {
  const controller = new AbortController();
  const reason = new Error('another page');
  const call = clientWith().humanChallenge({ signal: controller.signal });
  controller.abort(reason);
  await expect(call).rejects.toBe(reason);
});
