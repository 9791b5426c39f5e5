import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { changed, headerText, piecesOf, sendable, text, token } from './inputs.js';
import { type Fuzz, fuzz } from './property.js';
import type { Credentials, Operation, Received, Sent, World } from './world.js';

/** Puts what only the app knows, such as tokens and ids, in the place of these words. */
const WORDS = ['{email}', '{username}', '{token}', '{rootToken}', '{apiKey}', '{id}', '{origin}'];

const credential = fc.constantFrom(...WORDS);
const scalar = fc.oneof(
  { weight: 3, arbitrary: text },
  { weight: 2, arbitrary: token },
  { weight: 2, arbitrary: credential },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '123456',
      'ada@example.com',
      'an analytical engine',
      'fixed',
      '/done',
      'on',
      '2026-01-01T00:00:00Z',
    ),
  },
);
const json: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: scalar },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e308, [], {}, [[]], { $ne: null }),
  },
);
const STRANGE_KEYS = [
  '__proto__',
  'constructor',
  'toString',
  'id',
  '',
  '\0',
  'a'.repeat(300),
  'fields',
  'user[id]',
];

const fieldsOf = ({ fields, values }: Operation) =>
  fc.array(
    fc.tuple(
      fc.oneof(
        { weight: 9, arbitrary: fc.constantFrom(...fields, 'email') },
        { weight: 1, arbitrary: fc.constantFrom(...STRANGE_KEYS) },
      ),
      values.length > 0 ? fc.oneof({ weight: 3, arbitrary: json }, fc.constantFrom(...values)) : json,
    ),
    { maxLength: 7 },
  );

interface Body {
  readonly type: string | undefined;
  readonly bytes: Buffer;
  readonly encoding?: string;
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const nested = fc
  .tuple(fc.nat(7000), fc.constantFrom(['[', ']'], ['{"a":', '}'], ['[', ''], ['{"__proto__":', '}']))
  .map(
    ([depth, [open = '', close = '']]) =>
      open.repeat(depth) + (close === '}' ? '1' : '') + close.repeat(depth),
  );

const bodyOf = (operation: Operation): fc.Arbitrary<Body | null> => {
  // By hand, since an object would lose duplicate keys, and its __proto__.
  const object = fieldsOf(operation).map(
    (pairs) =>
      `{${pairs.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value) ?? 'null'}`).join(',')}}`,
  );
  const inField = fc
    .tuple(fc.constantFrom(...operation.fields, 'x'), nested)
    .map(([name, value]) => `{"${name}":${value}}`);
  const jsonText = fc.oneof(
    { weight: 8, arbitrary: object },
    { weight: 2, arbitrary: changed(object) },
    { weight: 1, arbitrary: fc.oneof(nested, inField) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.nat(20_000).map((length) => `{"email":"${'a'.repeat(length)}"}`) },
  );
  const formText = fieldsOf(operation).chain((pairs) =>
    fc
      .tuple(
        fc.constantFrom('redirect_to', 'error_to', 'second_factor_to'),
        fc.oneof(scalar, target),
        fc.boolean(),
      )
      .map(([name, to, withTarget]) => {
        const form = new URLSearchParams(
          pairs.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
        );
        if (withTarget) form.append(name, to);
        return form.toString();
      }),
  );
  const asBytes = (whole: string) => Buffer.from(whole);
  return fc.oneof(
    { weight: 8, arbitrary: jsonText.map((one) => ({ type: JSON_TYPE, bytes: asBytes(one) })) },
    {
      weight: 4,
      arbitrary: fc
        .oneof(formText, changed(formText))
        .map((one) => ({ type: FORM_TYPE, bytes: asBytes(one) })),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(jsonText, contentType).map(([one, type]) => ({ type, bytes: asBytes(one) })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          jsonText,
          fc.constantFrom('utf-8', 'utf-16', 'utf-16le', 'latin1', 'utf-7', 'x', ''),
          fc.constantFrom<BufferEncoding>('utf16le', 'latin1', 'utf8'),
        )
        .map(([one, charset, encoding]) => ({
          type: `${JSON_TYPE}; charset=${charset}`,
          bytes: Buffer.from(one, encoding),
        })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(jsonText, fc.constantFrom('gzip', 'br', 'deflate', 'identity', 'x, gzip', ''))
        .map(([one, encoding]) => ({ type: JSON_TYPE, bytes: gzipSync(one), encoding })),
    },
    {
      weight: 1,
      arbitrary: fc
        .uint8Array({ maxLength: 300 })
        .map((bytes) => ({ type: JSON_TYPE, bytes: Buffer.from(bytes) })),
    },
    { weight: 2, arbitrary: fc.constant(null) },
  );
};

const target = piecesOf(
  [
    '/',
    '//',
    '\\',
    'https://',
    'evil.example',
    'trusted.example',
    '{origin}',
    '@',
    '?',
    '#',
    '%0d%0a',
    '.',
    ':',
    '\t',
  ],
  6,
);
const contentType = fc.oneof(
  headerText,
  piecesOf(
    [
      JSON_TYPE,
      FORM_TYPE,
      'text/plain',
      'multipart/form-data; boundary=',
      ';',
      ' charset=',
      'utf-8',
      '"',
      '=',
      '/',
      ',',
    ],
    6,
  ),
);
const address = fc.oneof(
  headerText,
  fc.ipV4(),
  fc.ipV6(),
  piecesOf(['127.0.0.1', '::1', ',', ' ', '::ffff:', '%', 'unknown', '"', ':80', '[', ']'], 6),
);
const cookies = fc
  .array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .tuple(
            fc.constantFrom(
              'latchkey',
              'latchkey-device',
              'latchkey-pending',
              'latchkey-flow',
              'latchkey-flow-AAAAAAAAAAAAAAAA',
              'latchkey-passkey',
              '__Host-latchkey',
              'x',
            ),
            fc.oneof(token, credential),
          )
          .map(([name, value]) => `${name}=${value}`),
      },
      { weight: 1, arbitrary: headerText },
    ),
    { maxLength: 5 },
  )
  .map((all) => all.join('; '));
const authorization = fc
  .tuple(
    fc.constantFrom('Bearer ', 'bearer ', 'BEARER\t', 'Basic ', 'ApiKey ', 'Bearer', ''),
    fc.oneof(token, credential, headerText),
  )
  .map(([scheme, value]) => scheme + value);

/** Headers as they may come from browsers, programs and whoever tries. */
const strangeHeaders: fc.Arbitrary<Record<string, string | undefined>> = fc.record(
  {
    cookie: cookies,
    authorization,
    'x-service-api-key': fc.oneof(token, credential, headerText),
    origin: fc.oneof(
      headerText,
      fc.constantFrom('{origin}', 'https://trusted.example', 'https://evil.example', 'null', 'http://'),
    ),
    'sec-fetch-site': fc.oneof(headerText, fc.constantFrom('same-origin', 'none', 'cross-site', 'same-site')),
    'sec-fetch-mode': fc.oneof(headerText, fc.constantFrom('navigate', 'cors')),
    'sec-fetch-dest': fc.oneof(headerText, fc.constantFrom('document', 'empty')),
    accept: fc.oneof(
      headerText,
      piecesOf(['text/html', 'application/json', '*/*', ',', ';q=', '0.9', '/', '*'], 8),
    ),
    'user-agent': headerText,
    'x-forwarded-for': address,
    'x-forwarded-proto': headerText,
    'x-forwarded-host': headerText,
    referer: fc.oneof(headerText, target, fc.constantFrom('{origin}/sign-in?x=1', 'https://evil.example/x')),
    host: fc.oneof(headerText, fc.constantFrom('{origin}', 'evil.example', 'localhost')),
    'accept-language': headerText,
    'content-encoding': fc.constantFrom('gzip', 'identity', 'x'),
  },
  { requiredKeys: [] },
);

/** How a request is signed in: in most, so that its body is looked at. */
const identity: fc.Arbitrary<Record<string, string>> = fc.constantFrom<Record<string, string>>(
  {},
  { cookie: 'latchkey={token}' },
  { cookie: 'latchkey={token}' },
  { cookie: 'latchkey={rootToken}' },
  { authorization: 'Bearer {token}' },
  { authorization: 'Bearer {rootToken}' },
  { 'x-service-api-key': '{apiKey}' },
);

const pathPart = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('{id}', 'fixed', '01900000-0000-7000-8000-000000000000') },
  { weight: 2, arbitrary: text.map((one) => encodeURIComponent(one.toWellFormed().slice(0, 500))) },
  {
    weight: 1,
    arbitrary: piecesOf(['%', '%ff', '%00', '%2f', '..', '.', '%e0%a4%a', '__proto__', ';', ',', '~'], 4).map(
      (one) => one.replace(/[^\w%.~;,-]/g, ''),
    ),
  },
);
const queryPart = fc.oneof(
  text.map((one) => encodeURIComponent(one.toWellFormed())),
  target.map((one) => encodeURIComponent(one)),
  credential,
  piecesOf(['%', '%ff', '%00', '[', ']', '=', '&', '+', ';', 'a'], 6),
);
const queryOf = ({ parameters }: Operation) =>
  fc
    .array(
      fc.tuple(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...parameters, 'x') }, queryPart), queryPart),
      { maxLength: 4 },
    )
    .map((pairs) =>
      pairs.length > 0 ? `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}` : '',
    );

interface Request {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Body | null;
  /** Which of the ids stands for {id}. */
  readonly which: number;
}

const requestTo = (operation: Operation): fc.Arbitrary<Request> =>
  fc
    .record({
      method: fc.oneof(
        { weight: 12, arbitrary: fc.constant(operation.method) },
        fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'),
      ),
      parts: fc.array(pathPart, { minLength: 2, maxLength: 2 }),
      query: queryOf(operation),
      identity,
      strange: strangeHeaders,
      few: fc.boolean(),
      body: bodyOf(operation),
      which: fc.nat(3),
    })
    .map(({ method, parts, query, identity, strange, few, body, which }) => {
      let index = 0;
      const path = operation.path.replace(/\{\w+\}/g, () => parts[index++] || 'x') + query;
      const type = {
        'content-type': body?.type,
        ...(body?.encoding && { 'content-encoding': body.encoding }),
      };
      const headers = few ? { ...type, ...identity } : { ...type, ...strange, ...identity };
      return { method, path, headers, body: method === 'GET' || method === 'HEAD' ? null : body, which };
    });

/** The request with what only the app knows in it. */
function filled({ method, path, headers, body, which }: Request, known: Credentials, origin: string): Sent {
  const values: Record<string, string> = {
    '{email}': known.email,
    '{username}': known.username,
    '{token}': known.token,
    '{rootToken}': known.rootToken,
    '{apiKey}': known.apiKey,
    '{id}': known.ids[which % known.ids.length] ?? '',
    '{origin}': origin,
  };
  const fill = (whole: string) =>
    whole.replace(/\{\w+\}|%7B(\w+)%7D/g, (word, encoded) => values[encoded ? `{${encoded}}` : word] ?? word);
  const entries = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const bytes =
    body?.bytes.includes('{') || body?.bytes.includes('%7B')
      ? Buffer.from(fill(body.bytes.toString('latin1')), 'latin1')
      : body?.bytes;
  return {
    method,
    // Node's client refuses other characters in a path.
    path: fill(path).replace(/[^\x21-\x7e]/g, ''),
    headers: Object.fromEntries(
      entries.map(([name, value]) => [
        name,
        sendable(name === 'host' ? fill(value).replace('http://', '') : fill(value)),
      ]),
    ),
    body: bytes,
  };
}

/** What no answer may reveal. */
const INTERNALS = /\n\s+at |node_modules|SQLITE_|sequelize|\/lib\/|app-process/i;

/** What every answer of the app must be. */
export function checkAnswer(sent: Sent, { status, headers, text }: Received, origin: string): void {
  assert.ok(status >= 200 && status < 500, `${status} ${text}`);
  assert.doesNotMatch(text, INTERNALS);
  // Node's own, for headers of more than 16 KiB.
  if (status === 431) {
    assert.equal(text, '');
    return;
  }
  // Only the document of the routes may be kept.
  const isDocument = /^\/auth\/openapi\.json\/?(\?|$)/i.test(sent.path) && status < 400;
  const cached = isDocument ? 'no-cache' : 'no-store';
  if (sent.path.startsWith('/auth/')) assert.equal(headers['cache-control'], cached);
  if (status >= 300 && status < 400 && status !== 304) checkTarget(headers.location ?? '', origin);
  if (status < 400 || sent.method === 'HEAD') return;
  // A form whose client prefers a page gets one where no page of the app can say why it was refused.
  if (headers['content-type'] === 'text/html; charset=utf-8') {
    assert.match(text, new RegExp(`^<!doctype html>\\n<html lang="en">[^]*<h1>${status} `));
    assert.doesNotMatch(text, /<script|<img|<iframe| on\w+=/i);
    assert.ok(text.length < 16_384, `${text.length} characters`);
    return;
  }
  assert.equal(headers['content-type'], 'application/problem+json; charset=utf-8', text);
  const problem = JSON.parse(text);
  assert.equal(problem.status, status);
  assert.match(problem.code, /^[a-z][a-z0-9_]*$/);
  // A request cannot make an answer much larger than itself.
  assert.ok(text.length < 16_384, `${text.length} characters`);
}

function checkTarget(location: string, origin: string): void {
  const url = new URL(location, `${origin}/auth/x`);
  const allowed = [origin, 'https://trusted.example', 'https://fixed.example'];
  assert.ok(allowed.includes(url.origin), `a redirect to ${url.origin}: ${location}`);
}

/** Requests to every route, and to routes of the app behind the guards. */
export function requests(world: World): Fuzz[] {
  const guarded = ['/guarded', '/optional'].map(
    (path): Operation => ({ method: 'POST', path, fields: [], values: [], parameters: [] }),
  );
  const targets = [...world.operations, ...guarded, ...guarded];
  return [
    fuzz(
      'every request to a route gets a problem as JSON, or succeeds',
      250,
      fc.asyncProperty(fc.constantFrom(...targets).chain(requestTo), async (request) => {
        const sent = filled(request, await world.credentials('requests'), world.origin);
        const answer = await world.send(sent);
        world.requireHealth();
        checkAnswer(sent, answer, world.origin);
      }),
    ),
  ];
}
