import { createHash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { haveIBeenPwned } from '../lib/breach-check.js';
import { logEveryLine, password, type SpecApp, startApp } from './support/app.js';
import { expectProblem } from './support/problem.js';
import { startReceiver } from './support/receiver.js';
import { withoutWaiting } from './support/timers.js';

const WORDS = 'a password for the spec';
const DIGITS = createHash('sha1').update(WORDS).digest('hex').toUpperCase();
const PATH = `/range/${DIGITS.slice(0, 5)}`;
const REST = DIGITS.slice(5);

let service: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  service = await startReceiver();
});
afterAll(() => service.stop());
beforeEach(() => {
  service.hooks.length = 0;
});

const another = () => randomBytes(18).toString('hex').slice(1).toUpperCase();
/** A list like those of the service: some hundred entries, and padding whose count is 0. */
const listWith = (...entries: string[]) => [
  ...Array.from({ length: 500 }, (_, index) => `${another()}:${index + 1}`),
  ...entries,
  ...Array.from({ length: 300 }, () => `${another()}:0`),
];
const answerWith = (how: (res: ServerResponse) => void, path = PATH) => service.answer(path, how);
const answer = (body: string | Buffer, status = 200, path = PATH) =>
  answerWith((res) => res.writeHead(status, { 'content-type': 'text/plain' }).end(body), path);
const check = (given = WORDS, options: { minCount?: number } = {}) =>
  haveIBeenPwned({ url: service.origin, ...options })(given);

describe('a request', () => {
  test('contains the first five digits of the SHA-1, and nothing else that depends on the password', async () => {
    answer(listWith(`${REST}:3`).join('\r\n'));
    expect(await check()).toBe(true);
    expect(service.hooks).toEqual([
      { path: PATH, method: 'GET', body: '', headers: expect.objectContaining({ 'add-padding': 'true' }) },
    ]);
    const sent = JSON.stringify(service.hooks).toUpperCase();
    for (let from = 0; from <= REST.length - 6; from++)
      expect(sent).not.toContain(REST.slice(from, from + 6));
    expect(sent).not.toContain(DIGITS.slice(0, 6));
    expect(sent).not.toContain(WORDS.toUpperCase());
    const { headers } = service.hooks[0] as { headers: object };
    const other = 'another password of the spec';
    const otherPath = `/range/${createHash('sha1').update(other).digest('hex').slice(0, 5).toUpperCase()}`;
    answer(listWith().join('\r\n'), 200, otherPath);
    expect(await check(other)).toBe(false);
    expect(service.of(otherPath)[0]?.headers).toEqual(headers);
  });

  test('is about the password in Unicode form NFC, as it is hashed', async () => {
    const composed = 'crème brûlée au lait'.normalize('NFC');
    const digits = createHash('sha1').update(composed).digest('hex').toUpperCase();
    answer(`${digits.slice(5)}:1`, 200, `/range/${digits.slice(0, 5)}`);
    expect(await check(composed)).toBe(true);
    expect(await check(composed.normalize('NFD'))).toBe(true);
  });

  test('goes to the path of the url', async () => {
    answer(`${REST}:1`, 200, `/copy${PATH}`);
    for (const url of [`${service.origin}/copy`, `${service.origin}/copy/`])
      expect(await haveIBeenPwned({ url })(WORDS)).toBe(true);
    expect(service.of(`/copy${PATH}`)).toHaveLength(2);
  });
});

describe('a password is found', () => {
  test.each([
    ['with CRLF, as the service writes it', '\r\n', ''],
    ['with LF', '\n', ''],
    ['with CRLF at the end too', '\r\n', '\r\n'],
    ['with LF at the end too', '\n', '\n'],
  ])('in a list %s', async (_how, separator, end) => {
    answer(listWith(`${REST}:1`).join(separator) + end);
    expect(await check()).toBe(true);
    answer([`${REST}:1`, ...listWith()].join(separator) + end);
    expect(await check()).toBe(true);
    answer([...listWith(), `${REST}:1`].join(separator) + end);
    expect(await check()).toBe(true);
    answer(listWith().join(separator) + end);
    expect(await check()).toBe(false);
  });

  test('in lower and in upper case', async () => {
    answer(listWith(`${REST}:1`).join('\r\n').toLowerCase());
    expect(await check()).toBe(true);
  });

  test('in a list of one entry, and in one that is compressed', async () => {
    answer(`${REST}:1`);
    expect(await check()).toBe(true);
    const { gzipSync } = await import('node:zlib');
    answerWith((res) => res.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`${REST}:1`)));
    expect(await check()).toBe(true);
  });

  test('if it was seen minCount times', async () => {
    answer(listWith(`${REST}:4`).join('\r\n'));
    for (const minCount of [1, 4]) expect(await check(WORDS, { minCount })).toBe(true);
    for (const minCount of [5, 1000]) expect(await check(WORDS, { minCount })).toBe(false);
  });

  test('never by padding, and also if padding has the same digits', async () => {
    answer(listWith(`${REST}:0`).join('\r\n'));
    expect(await check()).toBe(false);
    answer(listWith(`${REST}:0`, `${REST}:2`, `${REST}:0`).join('\r\n'));
    expect(await check()).toBe(true);
  });
});

const list = () => listWith(`${REST}:1`);
const FAILURES: Record<string, () => void> = {
  'has another status': () => answer(list().join('\r\n'), 203),
  'is an error of the server': () => answer(list().join('\r\n'), 500),
  'says that there is no such path': () => answer('Invalid API query', 404),
  'is a limit': () => answer('', 429),
  'has no content': () => answerWith((res) => res.writeHead(204).end()),
  redirects: () => {
    answer(list().join('\r\n'), 200, '/elsewhere');
    answerWith((res) => res.writeHead(302, { location: `${service.origin}/elsewhere` }).end());
  },
  'is empty': () => answer(''),
  'is a line break': () => answer('\r\n'),
  'ends with two line breaks': () => answer(`${list().join('\r\n')}\r\n\r\n`),
  'has an empty line': () => answer(`${REST}:1\r\n\r\n${another()}:1`),
  'starts with a line break': () => answer(`\r\n${list().join('\r\n')}`),
  'is HTML': () => answer('<!doctype html><title>Sign in to this network</title>'),
  'has a line without a count': () => answer([...list(), another()].join('\r\n')),
  'has a line with an empty count': () => answer([...list(), `${another()}:`].join('\r\n')),
  'has a negative count': () => answer([...list(), `${another()}:-1`].join('\r\n')),
  'has a fraction as a count': () => answer([...list(), `${another()}:1.5`].join('\r\n')),
  'has a line with a space': () => answer([...list(), `${another()}: 1`].join('\r\n')),
  'has a line of 34 digits': () => answer([...list(), `${another().slice(1)}:1`].join('\r\n')),
  'has a line of 40 digits': () => answer([...list(), `${DIGITS}:1`].join('\r\n')),
  'has a digit that is none': () => answer([...list(), `${another().slice(1)}G:1`].join('\r\n')),
  'is cut off': () => answer(list().join('\r\n').slice(0, -3)),
  'has 5 MB': () => answer(Array.from({ length: 140_000 }, () => `${REST}:1`).join('\r\n')),
  'never ends': () =>
    answerWith((res) => {
      res.writeHead(200);
      const more = () => {
        while (res.writable && res.write(`${REST}:1\r\n`.repeat(1000)));
      };
      res.on('drain', more);
      more();
    }),
  'breaks off': () =>
    answerWith((res) => {
      res.writeHead(200, { 'content-length': 1000 });
      res.write(`${REST}:1\r\n`, () => res.destroy());
    }),
  'is the end of the connection': () => answerWith((res) => void res.destroy()),
};

describe('a response that is not a list', () => {
  let accepting: SpecApp<readonly [ReturnType<typeof password>]>;
  let refusing: SpecApp<readonly [ReturnType<typeof password>]>;
  beforeAll(async () => {
    const isBreached = haveIBeenPwned({ url: service.origin });
    accepting = await startApp({ plugins: [password({ isBreached })] });
    refusing = await startApp({ plugins: [password({ isBreached, onBreachCheckFailure: 'refuse' })] });
    for (const { auth } of [accepting, refusing]) logEveryLine(auth);
  });
  afterAll(async () => {
    await accepting.stop();
    await refusing.stop();
  });

  let people = 0;
  const signUp = (app: typeof accepting) =>
    app.http.post('/auth/signup/credential').send({ email: `p-${++people}@example.com`, password: WORDS });

  test('because there is one, a password is refused or accepted', async () => {
    answer(list().join('\r\n'));
    const { errors } = expectProblem(await signUp(accepting), 422, 'validation_failed');
    expect(errors).toMatchObject([{ pointer: '/password', code: 'password_breached' }]);
    answer(listWith().join('\r\n'));
    for (const app of [accepting, refusing]) await signUp(app).expect(201);
  });

  test.each(Object.keys(FAILURES))('because it %s, leaves it to onBreachCheckFailure', async (name) => {
    FAILURES[name]?.();
    await expect(check()).rejects.toThrow();
    await signUp(accepting).expect(201);
    expectProblem(await signUp(refusing), 503, 'unavailable');
    for (const { log } of [accepting, refusing]) {
      expect(log.splice(0).join()).toContain('the breach check failed');
      expect(log.join()).not.toMatch(new RegExp(`${WORDS}|${REST}`, 'i'));
    }
    expect(service.of('/elsewhere')).toEqual([]);
  });

  test('because it takes 2 seconds, leaves it to onBreachCheckFailure, and the request is aborted', async () => {
    const aborted: Promise<unknown>[] = [];
    answerWith((res) => void aborted.push(new Promise((resolve) => res.once('close', resolve))));
    await withoutWaiting(2000, async () => {
      await expect(check()).rejects.toThrow('timeout');
      await signUp(accepting).expect(201);
      expectProblem(await signUp(refusing), 503, 'unavailable');
    });
    answerWith((res) => {
      res.writeHead(200).write(`${REST}:1\r\n`);
      aborted.push(new Promise((resolve) => res.once('close', resolve)));
    });
    await withoutWaiting(2000, () => expect(check()).rejects.toThrow('timeout'));
    await Promise.all(aborted);
  });

  test('because no service is there, leaves it to onBreachCheckFailure', async () => {
    const gone = await startReceiver();
    await gone.stop();
    await expect(haveIBeenPwned({ url: gone.origin })(WORDS)).rejects.toThrow();
  });
});

describe('options', () => {
  test.each([
    'http://api.pwnedpasswords.com',
    'http://127.0.0.1.example.com',
    'ftp://127.0.0.1',
    'api.pwnedpasswords.com',
    '',
    'https://user:secret@example.com',
    'https://example.com/?key=1',
    'https://example.com/?',
    'https://example.com/#range',
  ])('rejects the url %j', (url) => {
    expect(() => haveIBeenPwned({ url })).toThrow('latchkey: haveIBeenPwned: url must be an https URL');
  });

  test.each([
    'https://api.pwnedpasswords.com',
    'http://localhost:8080',
    'http://[::1]:1/',
    'https://a.example/copy/',
  ])('accepts the url %j', (url) => {
    expect(haveIBeenPwned({ url })).toBeInstanceOf(Function);
  });

  test.each([0, -1, 1.5, Number.NaN, '2'])('rejects minCount %j', (minCount) => {
    expect(() => haveIBeenPwned({ minCount: minCount as never })).toThrow(/haveIBeenPwned: minCount must be/);
  });

  test('has defaults', () => {
    expect(haveIBeenPwned()).toBeInstanceOf(Function);
    expect(haveIBeenPwned({})).toBeInstanceOf(Function);
  });

  test('rejects an unknown key', () => {
    expect(() => haveIBeenPwned({ mincount: 2 } as never)).toThrow('did you mean minCount?');
  });
});
