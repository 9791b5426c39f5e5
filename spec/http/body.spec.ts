import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import cookieParser from 'cookie-parser';
import express from 'express';
import { admin, authRouter } from '../../lib/index.js';
import { ada, password, type SpecApp, startApp } from '../support/app.js';
import { rows } from '../support/database.js';
import { expectProblem } from '../support/problem.js';

/** All routes that take a body, with a valid body. */
const bodies: [path: string, good: Record<string, unknown>, optional: string[]][] = [
  ['/signup/credential', { ...ada, username: 'ada' }, ['username']],
  [
    '/signin/credential',
    { credential: ada.email, password: ada.password, remember_me: true },
    ['remember_me'],
  ],
  ['/usernames/check', { username: 'ada' }, []],
];
const fields = bodies.flatMap(([path, good]) =>
  Object.keys(good).map((field) => [path, field, good] as const),
);

/** Values that are not valid strings for any route. `too long` exceeds the limits of all routes. */
const noText: [name: string, value: unknown][] = [
  ['null', null],
  ['a number', 12345678],
  ['a boolean', true],
  ['an empty array', []],
  ['an array of one', ['ada@example.com']],
  ['an object', { $ne: null }],
  ['a Sequelize operator', { '[Op.ne]': '' }],
  ['a nested object', { toString: 'x', length: 9 }],
  ['empty', ''],
  ['too long', 'a'.repeat(2000)],
  ['a lone high surrogate', 'ada\ud800lovelace'],
  ['a lone low surrogate', 'ada\udc00lovelace'],
  ['NUL', 'ada\0lovelace@example.com'],
];
const noBoolean = [null, 0, 1, 'true', 'false', '', [], [true], {}].map((value) => [
  JSON.stringify(value),
  value,
]);

const plugins = [password({ username: true }), admin({ adminEmails: ['root@example.com'] })] as const;

/** Body parsers of the app in front of the router must make no difference. */
const apps = {
  'an app without parsers': undefined,
  'an app with its own parsers': (app: express.Express) =>
    void app.use(express.json(), express.urlencoded({ extended: true }), cookieParser('a secret')),
};

describe.each(Object.entries(apps))('the request body in %s', (_name, parsers) => {
  const parsesItself = parsers !== undefined;
  let app: SpecApp<typeof plugins>;
  beforeAll(async () => {
    app = await startApp({
      plugins,
      mount: (express, auth) => {
        parsers?.(express);
        express.use('/auth', authRouter(auth));
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

  const post = (path: string) => app.http.post(`/auth${path}`);

  test.each(fields)('POST %s rejects invalid values of %s with 422', async (path, field, good) => {
    for (const [kind, value] of field === 'remember_me' ? noBoolean : noText) {
      const answer = await post(path).send({ ...good, [field as string]: value });
      const { errors } = expectProblem(answer, 422, 'validation_failed');
      expect([kind, errors?.map(({ pointer }) => pointer)]).toEqual([kind, [`/${field}`]]);
      expect(answer.text).not.toContain(good.password ?? 'no password here');
    }
  });

  test.each(bodies)('POST %s names all missing fields', async (path, good, optional) => {
    const required = Object.keys(good).filter((field) => !optional.includes(field));
    const { errors } = expectProblem(await post(path).send({}), 422, 'validation_failed');
    expect(errors).toEqual(
      required.map((field) => ({ pointer: `/${field}`, code: 'required', detail: expect.any(String) })),
    );
  });

  test.each(bodies)('POST %s rejects unknown keys', async (path, good) => {
    const unknown = [
      'id',
      'role',
      'is_admin',
      'email_verified_at',
      'emailVerifiedAt',
      'auth_epoch',
      'constructor',
      'a/b~c',
      '',
    ];
    for (const key of unknown) {
      const { errors } = expectProblem(
        await post(path).send({ ...good, [key]: 'x' }),
        422,
        'validation_failed',
      );
      expect(errors).toEqual([
        {
          pointer: `/${key.replace('~', '~0').replace('/', '~1')}`,
          code: 'unknown_key',
          detail: expect.any(String),
        },
      ]);
    }
  });

  test.each(bodies)('POST %s rejects __proto__ as an unknown key', async (path, good) => {
    const json = `${JSON.stringify(good).slice(0, -1)},"__proto__":{"is_admin":true}}`;
    const answer = await post(path).type('json').send(json);
    expectProblem(answer, 422, 'validation_failed');
    const inherited = `{"__proto__":${JSON.stringify(good)}}`;
    expectProblem(await post(path).type('json').send(inherited), 422, 'validation_failed');
    expect(({} as { is_admin?: unknown }).is_admin).toBeUndefined();
  });

  // The app's own parser rejects scalars and malformed JSON and responds itself.
  if (!parsesItself) {
    test.each(bodies)('POST %s rejects JSON that is not an object with 422', async (path) => {
      for (const json of ['null', '5', '"text"', 'true', '[]', '[{}]']) {
        expectProblem(await post(path).type('json').send(json), 422, 'validation_failed');
      }
    });

    test.each(bodies)('POST %s rejects malformed JSON with 400', async (path) => {
      for (const json of [
        '{',
        '{"a":1,}',
        "{'a':1}",
        'undefined',
        '{"a":NaN}',
        '\u0000',
        '<xml/>',
        '{} {}',
        `${'['.repeat(16_000)}`,
      ]) {
        expectProblem(await post(path).type('json').send(json), 400, 'invalid_json');
      }
    });

    test.each(bodies)('POST %s rejects bytes that are not UTF-8', async (path, good) => {
      const json = Buffer.from(
        JSON.stringify({ ...good, [Object.keys(good)[0] as string]: 'ada@@@@@example.com' }),
      );
      json.set([0xc3, 0x28, 0xff, 0xfe], json.indexOf('@@@@@'));
      const { origin } = app;
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${origin}/auth${path}`, { method: 'POST', headers, body: json });
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
        400,
        'invalid_json',
      ]);
    });

    test('with deep nesting is rejected quickly', async () => {
      const nested = `{"email":${'['.repeat(7000)}${']'.repeat(7000)},"password":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`;
      expectProblem(await post('/signup/credential').type('json').send(nested), 422, 'validation_failed');
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
  }

  test.each(bodies)(
    'POST %s rejects more than 16 KiB with 413, and five megabytes just as fast',
    async (path, good) => {
      const over = JSON.stringify(good).padEnd(16 * 1024 + 1, ' ');
      expectProblem(await post(path).type('json').send(over), 413, 'body_too_large');
      if (parsesItself) return;
      const started = performance.now();
      const answer = await post(path)
        .type('json')
        .send(JSON.stringify({ ...good, x: 'x'.repeat(5_000_000) }));
      expectProblem(answer, 413, 'body_too_large');
      expect(performance.now() - started).toBeLessThan(3000);
    },
  );

  test.each(bodies)('POST %s rejects anything but JSON in UTF-8 with 415', async (path, good) => {
    const json = JSON.stringify(good);
    for (const type of [
      'text/plain',
      'text/html',
      'multipart/form-data; boundary=x',
      'application/jsonp',
      'nonsense',
    ]) {
      expectProblem(await post(path).set('content-type', type).send(json), 415, 'unsupported_media_type');
    }
    const bare = await fetch(`${app.origin}/auth${path}`, { method: 'POST', body: Buffer.from(json) });
    expect(bare.status).toBe(415);
    expectProblem(await post(path), 415, 'unsupported_media_type');
    if (parsesItself) return;
    const foreign = [
      ['content-type', 'application/json; charset=utf-16'],
      ['content-type', 'application/json; charset=latin1'],
      ['content-encoding', 'gzip'],
      ['content-encoding', 'nonsense'],
    ] as const;
    for (const [header, value] of foreign) {
      const answer = await post(path).type('json').set(header, value).send(json);
      expectProblem(answer, 415, 'unsupported_media_type');
    }
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
