import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import { admin, authRouter } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';
import { withoutWaiting } from '../support/timers.js';

const plugins = [password({ username: true }), admin({ adminEmails: ['root@example.com'] })] as const;

// What every route refuses in a body is in spec/support/contract-table.ts.
describe('a request body', () => {
  let app: SpecApp<typeof plugins>;
  beforeAll(async () => {
    app = await startApp({
      plugins,
      mount: (mounted, auth) => {
        mounted.use('/parsed', express.json(), authRouter(auth));
        mounted.use('/auth', authRouter(auth));
      },
    });
  });
  afterAll(() => app.stop());

  // A rejected request must not have written anything, computed a hash or logged an error.
  afterEach(async () => {
    for (const table of ['users', 'sessions'])
      expect(await rows(app.database, `SELECT id FROM ${table}`)).toEqual([]);
    expect(app.log).toEqual([]);
  });

  const signUp = (json: string, prefix = '/auth') =>
    app.http.post(`${prefix}/signup/credential`).type('json').send(json);

  test.each(['/auth', '/parsed'])('sets no prototype, below %s', async (prefix) => {
    const own = `${JSON.stringify(ada).slice(0, -1)},"__proto__":{"is_admin":true}}`;
    expectProblem(await signUp(own, prefix), 422, 'validation_failed');
    expectProblem(await signUp(`{"__proto__":${JSON.stringify(ada)}}`, prefix), 422, 'validation_failed');
    expect(({} as { is_admin?: unknown }).is_admin).toBeUndefined();
  });

  test.each(['utf8', 'UTF8', '"utf8"', 'us-ascii', 'US-ASCII', 'utf-8', '"UTF-8"'])(
    'with the character set %s is read as UTF-8',
    async (charset) => {
      const answer = await app.http
        .post('/auth/signup/credential')
        .set('content-type', `application/json; charset=${charset}; x=y`)
        .send('{"email":"å","password":1}');
      // It has been read, and is not valid.
      expectProblem(answer, 422, 'validation_failed');
      expect(JSON.stringify(answer.body)).not.toContain('\ufffd');
      const form = await app.http
        .post('/auth/signup/credential')
        .set('content-type', `application/x-www-form-urlencoded; charset=${charset}`)
        .send('password=1');
      expect(form.status).not.toBe(415);
    },
  );

  test.each(['latin1', 'utf-16', 'utf80', 'x-utf8', 'nonsense'])(
    'with the character set %s is refused',
    async (charset) => {
      const answer = await app.http
        .post('/auth/signup/credential')
        .set('content-type', `application/json; charset=${charset}`)
        .send(Buffer.from(JSON.stringify(ada)));
      expectProblem(answer, 415, 'unsupported_media_type');
    },
  );

  test('with deep nesting is rejected quickly', async () => {
    const nested = `{"email":${'['.repeat(7000)}${']'.repeat(7000)},"password":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`;
    expectProblem(await signUp(nested), 422, 'validation_failed');
  });

  test('of five megabytes is rejected just as fast', async () => {
    const started = performance.now();
    expectProblem(await signUp(JSON.stringify({ ...ada, x: 'x'.repeat(5_000_000) })), 413, 'body_too_large');
    expect(performance.now() - started).toBeLessThan(3000);
  });

  test('that has not arrived after 10 seconds is refused, and the connection is closed', async () => {
    for (const type of ['application/json', 'application/x-www-form-urlencoded']) {
      const headers = { 'content-type': type, 'content-length': '100' };
      const { port } = app.server.address() as AddressInfo;
      const slow = httpRequest({ port, method: 'POST', path: '/auth/signup/credential', headers });
      const [response] = await withoutWaiting(10_000, () => {
        slow.write('{');
        return once(slow, 'response') as Promise<[IncomingMessage]>;
      });
      const closed = once(response.socket, 'close');
      expect([response.statusCode, JSON.parse(await text(response)).code]).toEqual([408, 'body_too_slow']);
      await closed;
    }
  });

  test('of more than 16 KiB, sent in chunks of unknown length, is rejected with 413', async () => {
    const chunk = Buffer.alloc(64 * 1024, ' ');
    async function* endless() {
      for (let sent = 0; sent < 80; sent++) yield chunk;
    }
    const answer = await fetch(`${app.origin}/auth/signup/credential`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: endless() as unknown as ReadableStream,
      duplex: 'half',
    } as RequestInit);
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      413,
      'body_too_large',
    ]);
  });
});

describe('a body with thousands of mistakes', () => {
  let app: SpecApp<typeof plugins>;
  beforeAll(async () => {
    app = await startApp({
      plugins,
      mount: (mounted, auth) => {
        mounted.use('/parsed', express.json({ limit: '1mb' }), authRouter(auth));
        mounted.use('/auth', authRouter(auth));
      },
    });
  });
  afterAll(() => app.stop());

  const json = { 'content-type': 'application/json' };
  const unknownKeys = (count: number, key: (index: number) => string) =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [key(index), 0])));

  test('gets an answer that lists 20, and cuts long keys', async () => {
    for (const body of [
      unknownKeys(1500, (index) => `k${index}`),
      unknownKeys(7, (index) => `${index}${'/'.repeat(2000)}`),
      unknownKeys(1, () => '\ud83d\ude00'.repeat(3000)),
    ]) {
      const answer = await app.http.post('/auth/signin/credential').set(json).send(body);
      const { errors } = expectProblem(answer, 422, 'validation_failed');
      expect(errors?.length).toBeLessThanOrEqual(20);
      expect(answer.text.length).toBeLessThan(8000);
      for (const { pointer } of errors ?? []) expect(pointer.isWellFormed()).toBe(true);
    }
  });

  // The app's own parser accepts more, and neither of these has a content-length that says so.
  test.each<[string, object, (body: string) => BodyInit]>([
    ['in chunks', {}, (body) => new Blob([body]).stream()],
    ['compressed', { 'content-encoding': 'gzip' }, (body) => new Uint8Array(gzipSync(body))],
  ])('is too large %s, although the app has parsed it', async (_how, headers, encode) => {
    const post = (body: string) =>
      fetch(`${app.origin}/parsed/signin/credential`, {
        method: 'POST',
        headers: { ...json, ...headers },
        body: encode(body),
        duplex: 'half',
      } as RequestInit);
    const small = await post(unknownKeys(3, (index) => `k${index}`));
    expect(small.status).toBe(422);
    const nested = `{"email":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
    for (const body of [unknownKeys(9000, (index) => `k${index}`), nested]) {
      const answer = await post(body);
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
        413,
        'body_too_large',
      ]);
    }
  });
});
