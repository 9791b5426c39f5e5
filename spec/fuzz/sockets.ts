import assert from 'node:assert/strict';
import { connect } from 'node:net';
import fc from 'fast-check';
import { piecesOf, text, token } from './inputs.js';
import { type Fuzz, fuzz } from './property.js';
import type { World } from './world.js';

const ANSWER_MS = 15_000;

/** Sends bytes on a connection of its own. @returns what came back until the app closed it, or nothing more was to come */
function exchange(port: number, bytes: Buffer): Promise<string> {
  return new Promise((done, fail) => {
    let received = '';
    // Half open: the app gets an end of the request, and answers all the same.
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.end(bytes));
    const timer = setTimeout(
      () => socket.destroy(new Error(`no end within ${ANSWER_MS} ms: ${received}`)),
      ANSWER_MS,
    );
    socket.on('data', (data) => {
      received += data.toString('latin1');
    });
    // The app may close the connection before everything has been sent.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') fail(error);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      done(received);
    });
  });
}

const anyBytes = fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
const oddText = fc.oneof(
  anyBytes,
  text.map((one) => Buffer.from(one).toString('latin1')),
);
const method = fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'QUERY', 'get');
const path = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '/auth/me',
      '/auth/signin/credential',
      '/auth/oauth/fixed/callback?code=a&state=b',
      '/guarded',
      '/optional',
    ),
  },
  {
    weight: 4,
    arbitrary: piecesOf(
      [
        '/auth',
        '/me',
        '//',
        '/',
        '\\',
        '.',
        '..',
        '%',
        '%2f',
        '%00',
        '%ff',
        '?',
        '#',
        '*',
        ':',
        '@',
        'http://evil.example',
        '\x80',
        '\xff',
        ';',
        '/signin/credential',
        '/sessions/',
      ],
      8,
    ),
  },
);
const headerName = fc.constantFrom(
  'Cookie',
  'cookie',
  'Authorization',
  'X-Service-Api-Key',
  'Origin',
  'Sec-Fetch-Site',
  'Content-Type',
  'User-Agent',
  'X-Forwarded-For',
  'Referer',
  'Accept',
  'Host',
  'Content-Length',
  'Transfer-Encoding',
  'Expect',
  'Connection',
  'Upgrade',
  '__proto__',
);
const headerValue = fc.oneof(
  { weight: 3, arbitrary: oddText },
  { weight: 2, arbitrary: token.map((one) => `latchkey=${one}`) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'chunked',
      '0',
      '5',
      '-1',
      '100-continue',
      'close',
      'same-origin',
      'application/json',
      'latchkey=\xff\xfe',
      'Bearer \x80',
    ),
  },
);
const line = fc
  .tuple(headerName, headerValue)
  .map(([name, value]) => `${name}: ${value.replace(/[\r\n]/g, '')}`);
const request = fc
  .record({
    method,
    path: path.map((one) => one.replace(/[\s]/g, '')),
    version: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0'),
    lines: fc.array(line, { maxLength: 8 }),
    host: fc.boolean(),
    body: fc.oneof(
      fc.constant(''),
      fc.constant('{"email":1}'),
      oddText,
      fc.constant('5\r\n{"a":\r\n1\r\n1}\r\n0\r\nCookie: latchkey=x\r\n\r\n'),
    ),
    withLength: fc.boolean(),
  })
  .map(({ method, path, version, lines, host, body, withLength }) =>
    [
      `${method} ${path || '/'} ${version}`,
      ...(host ? ['Host: localhost'] : []),
      ...(withLength ? [`Content-Length: ${body.length}`] : []),
      ...lines,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
const bytes = fc.oneof(
  { weight: 6, arbitrary: request },
  { weight: 1, arbitrary: fc.tuple(request, request).map((both) => both.join('')) },
  { weight: 1, arbitrary: oddText },
);

/** Bytes on a socket, of which some are HTTP. */
export function sockets(world: World): Fuzz[] {
  return [
    fuzz(
      'whatever bytes a connection brings, the app lives on and no answer is a 5xx',
      100,
      fc.asyncProperty(bytes, async (given) => {
        const received = await exchange(world.port, Buffer.from(given, 'latin1'));
        world.requireHealth();
        // 501 and 505 are Node's own, of methods and versions that it does not know.
        for (const [, status] of received.matchAll(/(?:^|\n)HTTP\/1\.1 (\d{3}) /g))
          assert.ok(Number(status) < 500 || ['501', '505'].includes(status ?? ''), received);
        assert.doesNotMatch(received, /\n\s+at |node_modules/);
        const { status } = await world.send({ method: 'GET', path: '/optional', headers: {} });
        assert.equal(status, 200);
      }),
    ),
  ];
}
