import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type AnyShape, ClientFailure, createClient, orThrow } from '../../lib/client.js';
import { passkeys, twoFactor } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';

interface Shape extends AnyShape {
  plugins: 'admin' | 'credential' | 'passkeys' | 'twoFactor';
  bearer: true;
}

let app: SpecApp<readonly []>;
/** What the proxy in front of the app answers in its place. */
let instead: { status: number; body: string; headers?: Record<string, string> } | null = null;
let requests: string[] = [];
beforeAll(async () => {
  app = (await startApp({
    plugins: [password(), passkeys(), twoFactor()],
    config: {
      baseUrl: 'http://localhost:3000',
      bearerEnabled: true,
      tasks: { onboarding: { open: ({ email }) => email === 'new@example.com', page: '/welcome' } },
    },
  })) as never;
  app.server.prependListener('request', (req) => requests.push(`${req.method} ${req.url}`));
});
afterAll(() => app?.stop());

const signUp = (credentials = ada) => app.http.post('/auth/signup/credential').send(credentials);

/** A client with a token, whose requests a test can answer itself. */
function clientOf(token: string | null = null) {
  const kept = { token };
  const client = createClient<Shape>({
    baseUrl: `${app.origin}/auth`,
    bearer: {
      get: () => kept.token,
      async set(next) {
        kept.token = next;
      },
    },
    fetch: async (...given) => (instead ? new Response(instead.body, instead) : globalThis.fetch(...given)),
  });
  return { client, kept };
}

/** A promise that a test resolves. */
function later<T = void>() {
  let resolve!: (value: T) => void;
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** Runs a test, and returns the messages of the errors that it reported outside of its calls. */
async function reportedBy(run: () => Promise<void>): Promise<string[]> {
  const reported: string[] = [];
  const before = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', ({ message }) => reported.push(message));
  try {
    await run();
    // The errors are thrown in microtasks.
    await new Promise(setImmediate);
    return reported;
  } finally {
    process.removeAllListeners('uncaughtException');
    for (const listener of before) process.on('uncaughtException', listener);
  }
}

const credentials = { credential: ada.email, password: ada.password };

describe('a call', () => {
  beforeAll(() => signUp().expect(201));

  test('results in data or in an error', async () => {
    const { client } = clientOf();
    const right = await client.credential.signIn(credentials);
    expect(right).toMatchObject({ data: { step: 'done', user: { email: ada.email } }, error: null });
    const wrong = await client.credential.signIn({ ...credentials, password: 'wrong' });
    expect(wrong).toEqual({
      data: null,
      error: { status: 401, code: 'invalid_credentials', detail: expect.any(String) },
    });
    const invalid = await client.credential.signIn({ ...credentials, password: '' });
    expect(invalid.error).toMatchObject({ status: 422, errors: [{ pointer: '/password' }] });
  });

  test('results in an error if no response comes', async () => {
    const client = createClient<Shape>({ baseUrl: 'http://127.0.0.1:1' });
    expect((await client.me()).error).toMatchObject({ status: 0, code: 'network' });
  });

  test.each([
    [502, '<h1>Bad gateway</h1>'],
    [502, '{ "message": "down" }'],
    [200, '<!doctype html>'],
    [500, ''],
  ])('results in an error if the response is %i with %j', async (status, body) => {
    const { client } = clientOf();
    instead = { status, body };
    const { data, error } = await client.me();
    instead = null;
    expect([data, error?.status, error?.code]).toEqual([null, status, 'unexpected']);
  });

  test('says when a retry makes sense', async () => {
    const { client } = clientOf();
    const body = JSON.stringify({ status: 429, code: 'rate_limited', detail: 'Wait.' });
    instead = { status: 429, body, headers: { 'Retry-After': '17' } };
    const { error } = await client.credential.signIn(credentials);
    instead = null;
    expect(error).toEqual({ status: 429, code: 'rate_limited', detail: 'Wait.', retryAfter: 17 });
  });

  test.each(['soon', 'Infinity', ''])('ignores a Retry-After of %j', async (wait) => {
    const { client } = clientOf();
    const body = '{ "code": "rate_limited", "detail": "Wait." }';
    instead = { status: 429, body, headers: { 'Retry-After': wait } };
    const { error } = await client.me();
    instead = null;
    expect(error).toEqual({ status: 429, code: 'rate_limited', detail: 'Wait.' });
  });

  test('results in an error if the response to a sign-in is empty', async () => {
    const { client } = clientOf();
    instead = { status: 200, body: '' };
    const { error } = await client.credential.signIn(credentials);
    instead = null;
    expect(error).toMatchObject({ status: 200, code: 'unexpected' });
  });

  test.each(['', '.', '..'])('sends nothing for the id %j', async (id) => {
    const { client } = clientOf();
    requests = [];
    for (const call of [client.revokeSession(id), client.admin.revokeUserSession('1', id)])
      expect((await call).error).toMatchObject({ status: 0, code: 'unexpected' });
    expect(requests).toEqual([]);
  });

  test('rejects with an error if its signal has no reason, as in React Native before 0.87', async () => {
    const { client } = clientOf();
    const signal = AbortSignal.abort();
    Object.defineProperties(signal, { reason: { value: undefined }, throwIfAborted: { value: undefined } });
    await expect(client.me({ signal })).rejects.toThrow();
  });

  test('rejects only with the reason of its signal', async () => {
    const { client } = clientOf();
    const controller = new AbortController();
    const reason = new Error('the page was left');
    controller.abort(reason);
    await expect(client.me({ signal: controller.signal })).rejects.toBe(reason);
  });

  test('says that a session is held by a task', async () => {
    const { client } = clientOf();
    const { email } = { email: 'new@example.com' };
    await signUp({ ...ada, email }).expect(201);
    const { data } = await client.credential.signIn({ ...credentials, credential: email });
    expect(data).toMatchObject({ step: 'task', task: 'onboarding', session: { tasks: ['onboarding'] } });
    expect((await client.accountChanges()).error).toMatchObject({
      status: 403,
      code: 'task_required',
      task: 'onboarding',
    });
  });
});

describe('orThrow', () => {
  test('returns the data, or throws the error', async () => {
    const { client } = clientOf();
    const data = await orThrow(client.credential.signIn(credentials));
    expect(data.step).toBe('done');
    const { client: other } = clientOf();
    const failure = await orThrow(other.me()).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ClientFailure);
    expect(failure).toMatchObject({ error: { status: 401, code: 'unauthenticated' } });
    expect((failure as Error).message).toBe((failure as ClientFailure).error.detail);
  });
});

describe('a token', () => {
  test('is kept from the sign-in to the sign-out, in place of cookies', async () => {
    const { client, kept } = clientOf();
    await client.credential.signIn(credentials);
    expect(kept.token).toMatch(/^lks_/);
    expect((await client.me()).data?.user.email).toBe(ada.email);
    await client.signOut();
    expect(kept.token).toBeNull();
  });

  test('is deleted once its session has ended, and no other error deletes it', async () => {
    const { client, kept } = clientOf();
    await client.credential.signIn(credentials);
    instead = { status: 503, body: '{ "code": "unavailable", "detail": "Down." }' };
    await client.me();
    instead = null;
    expect(kept.token).not.toBeNull();
    await app.auth.revokeSession(String(kept.token));
    expect((await client.me()).error?.code).toBe('invalid_session');
    expect(kept.token).toBeNull();
  });
});

describe('a store of the token', () => {
  const broken = (method: 'get' | 'set') => {
    const fail = () => Promise.reject(new Error('locked'));
    const { client } = clientOf();
    const bearer = { get: () => null, set: () => undefined, [method]: fail };
    return { client, broken: createClient<Shape>({ baseUrl: `${app.origin}/auth`, bearer }) };
  };

  test('fails a call if it cannot be read', async () => {
    const { error } = await broken('get').broken.me();
    expect(error).toMatchObject({ status: 0, code: 'unexpected' });
  });

  test('does not fail a sign-in if it cannot be written', async () => {
    const reported = await reportedBy(async () => {
      const { data } = await broken('set').broken.credential.signIn(credentials);
      expect(data?.step).toBe('done');
    });
    expect(reported).toEqual(['locked']);
  });

  test('keeps the token of a later sign-in when an earlier call gets a new token', async () => {
    const { kept } = clientOf('lks_before');
    const [asked, answered] = [later(), later<Response>()];
    const client = createClient<Shape>({
      baseUrl: `${app.origin}/auth`,
      bearer: {
        get: () => kept.token,
        set(token) {
          kept.token = token;
        },
      },
      fetch() {
        asked.resolve();
        return answered.promise;
      },
    });
    const call = client.reauthenticate({ password: ada.password });
    await asked.promise;
    kept.token = 'lks_other';
    answered.resolve(new Response(null, { status: 204, headers: { 'Set-Auth-Token': 'lks_after' } }));
    expect((await call).error).toBeNull();
    expect(kept.token).toBe('lks_other');
  });
});

describe('the session', () => {
  const isMe = (request: string) => request === 'GET /auth/me';
  const changeOf = (client: ReturnType<typeof clientOf>['client']) =>
    new Promise<void>((resolve) => {
      const stop = client.session.subscribe(() => {
        stop();
        resolve();
      });
    });

  test('is not asked for before it has a subscriber, and then once', async () => {
    requests = [];
    const { client } = clientOf();
    await client.credential.signIn(credentials);
    expect(client.session.get()).toEqual({ status: 'loading', user: null, session: null, error: null });
    expect(requests.filter(isMe)).toEqual([]);
    const others = [() => undefined, () => undefined].map((one) => client.session.subscribe(one));
    await changeOf(client);
    expect(client.session.get()).toMatchObject({ status: 'signed_in', user: { email: ada.email } });
    expect(requests.filter(isMe)).toHaveLength(1);
    for (const stop of others) stop();
  });

  test('changes with the calls of the client, before they resolve', async () => {
    const { client } = clientOf();
    const seen: string[] = [];
    const stop = client.session.subscribe(() => seen.push(client.session.get().status));
    await client.session.refresh();
    await client.credential.signIn(credentials);
    expect(client.session.get().status).toBe('signed_in');
    await client.signOut();
    expect(client.session.get().status).toBe('signed_out');
    stop();
    expect(seen).toEqual(['signed_out', 'signed_in', 'signed_out']);
  });

  test('is asked for one at a time, and once more after what came in between', async () => {
    const { client } = clientOf();
    requests = [];
    const states = await Promise.all([1, 2, 3, 4].map(() => client.session.refresh()));
    expect(new Set(states).size).toBe(1);
    expect(requests.filter(isMe)).toHaveLength(2);
  });

  test('is the same object until it changes', async () => {
    const { client } = clientOf();
    const first = await client.session.refresh();
    expect(await client.session.refresh()).toBe(first);
  });

  test('is kept when the server fails, and empty when it has ended', async () => {
    const { client, kept } = clientOf();
    await client.credential.signIn(credentials);
    const { user } = await client.session.refresh();
    expect(user?.email).toBe(ada.email);
    instead = { status: 500, body: 'broken' };
    const failed = await client.session.refresh();
    instead = null;
    expect(failed).toMatchObject({ status: 'signed_in', user, error: { code: 'unexpected' } });
    expect((await client.session.refresh()).error).toBeNull();
    await app.auth.revokeSession(String(kept.token));
    expect(await client.session.refresh()).toMatchObject({ status: 'signed_out', user: null, error: null });
  });

  test('is asked for again when a call finds that it has ended', async () => {
    const { client, kept } = clientOf();
    await client.credential.signIn(credentials);
    const stop = client.session.subscribe(() => undefined);
    await client.session.refresh();
    await app.auth.revokeSession(String(kept.token));
    expect((await client.sessions()).error?.code).toBe('invalid_session');
    expect(client.session.get().status).toBe('signed_out');
    stop();
  });

  test('is kept after a 401 response that is not of a session', async () => {
    const { client } = clientOf();
    await client.credential.signIn(credentials);
    await client.session.refresh();
    instead = { status: 401, body: '{ "code": "proxy", "detail": "Sign in to the proxy." }' };
    const state = await client.session.refresh();
    instead = null;
    expect(state).toMatchObject({ status: 'signed_in', error: { code: 'proxy' } });
  });

  test('is loading after a change without a subscriber', async () => {
    const { client } = clientOf();
    client.session.subscribe(() => undefined)();
    expect((await client.session.refresh()).status).toBe('signed_out');
    await client.credential.signIn(credentials);
    expect(client.session.get().status).toBe('loading');
    expect((await client.session.refresh()).status).toBe('signed_in');
  });

  test('changes for every subscriber, even if one throws', async () => {
    const { client } = clientOf();
    const seen: string[] = [];
    const reported = await reportedBy(async () => {
      const stops = [
        client.session.subscribe(() => {
          throw new Error('render');
        }),
        client.session.subscribe(() => seen.push(client.session.get().status)),
      ];
      await client.session.refresh();
      expect((await client.credential.signIn(credentials)).error).toBeNull();
      for (const stop of stops) stop();
    });
    expect(seen).toEqual(['signed_out', 'signed_in']);
    expect(reported).toEqual(['render', 'render']);
  });

  /** A client whose first requests for the session get no response. */
  function hanging(count: number) {
    let left = count;
    const kept: { token: string | null } = { token: null };
    const asked = later();
    const client = createClient<Shape>({
      baseUrl: `${app.origin}/auth`,
      bearer: {
        get: () => kept.token,
        set(token) {
          kept.token = token;
        },
      },
      fetch(url, init) {
        if (!String(url).endsWith('/me') || left-- <= 0) return fetch(url, init);
        if (left === 0) asked.resolve();
        return new Promise(() => undefined);
      },
    });
    return { client, asked: asked.promise };
  }

  test('does not wait for a request from before a change', async () => {
    const { client } = hanging(1);
    const stop = client.session.subscribe(() => undefined);
    const before = client.session.refresh();
    await client.credential.signIn(credentials);
    expect(client.session.get().status).toBe('signed_in');
    expect((await before).status).toBe('signed_in');
    stop();
  });

  test('is not waited for once the signal of a call is aborted', async () => {
    const { client, asked } = hanging(2);
    const stop = client.session.subscribe(() => undefined);
    const controller = new AbortController();
    const call = client.credential.signIn(credentials, { signal: controller.signal });
    await asked;
    controller.abort();
    expect((await call).data?.step).toBe('done');
    stop();
  });
});
