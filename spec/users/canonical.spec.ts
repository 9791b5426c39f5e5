import { describe, expect, test } from '@jest/globals';
import { canonicalEmail, canonicalUsername } from '../../lib/users/canonical.js';

describe('canonicalEmail', () => {
  test.each([
    ['ada@example.com', 'ada@example.com'],
    ['ADA@EXAMPLE.COM', 'ada@example.com'],
    [' \tada@example.com\r\n', 'ada@example.com'],
    ['\u00a0\ufeffada@example.com\u3000', 'ada@example.com'],
    ['ada+tag@example.com', 'ada+tag@example.com'],
    ["!#$%&'*+/=?^_`{|}~-@example.com", "!#$%&'*+/=?^_`{|}~-@example.com"],
    ['a@ex.co', 'a@ex.co'],
    ['a-b-@ex.co', 'a-b-@ex.co'],
    ['a@sub.sub.example.museum', 'a@sub.sub.example.museum'],
    ['ada@BÜCHER.example', 'ada@xn--bcher-kva.example'],
    ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    ['ada@XN--BCHER-KVA.example', 'ada@xn--bcher-kva.example'],
    ['ada@bu\u0308cher.example', 'ada@xn--bcher-kva.example'],
    ['ada@ｅｘａｍｐｌｅ．ｃｏｍ', 'ada@example.com'],
    ['ada@example。com', 'ada@example.com'],
    ['ada@example.\u212aom', 'ada@example.kom'],
    ['ada@faß.example', 'ada@xn--fa-hia.example'],
    ['ada@example.рф', 'ada@example.xn--p1ai'],
  ])('converts %j to %j', (typed, canonical) => {
    expect(canonicalEmail(typed)).toBe(canonical);
    // A canonical email stays the same.
    expect(canonicalEmail(canonical)).toBe(canonical);
  });

  test.each([
    ...['', ' ', '@', 'ada', 'ada@', '@example.com', 'ada.example.com', 'ada@localhost', 'ada@com'],
    // Two addresses, or additional text around an address.
    ...[
      'a@x.co,b@x.co',
      'a@x.co;b@x.co',
      'a@x.co b@x.co',
      'a@b@x.co',
      '<ada@x.co>',
      'Ada <ada@x.co>',
      'mailto:ada@x.co',
    ],
    // Quoted strings, comments, folding and routes of RFC 5322.
    ...[
      '"ada"@x.co',
      '"a@b"@x.co',
      'ada(comment)@x.co',
      'ada@(comment)x.co',
      'ada\\@x.co',
      '@a.co:ada@x.co',
      'a\r\n b@x.co',
    ],
    // Options of a program that sends mail.
    ...['-oQ/tmp@x.co', '-f@x.co', '--help@x.co'],
    // Header injection.
    ...['ada@x.co\nbcc: eve@x.co', 'ada@x.co\r\nbcc:eve@x.co', 'ada\n@x.co', 'ada@x.co\0', 'a\0da@x.co'],
    // Look-alikes in the local part: full-width @, Kelvin sign, dotless i, Cyrillic, full-width, long s,
    // ligature.
    ...[
      'ada＠example.com',
      'ada﹫example.com',
      '\u212aelvin@x.co',
      'dotless\u0131@x.co',
      'а@x.co',
      'ａda@x.co',
      'ada\u017f@x.co',
      'ﬁ@x.co',
      'á@x.co',
      'a\u0301@x.co',
      'ß@x.co',
      'İ@x.co',
    ],
    // Invisible characters in all positions.
    ...[
      'a\u200bda@x.co',
      'ada@x\u200b.co',
      'ada\u200d@x.co',
      'a\u00adda@x.co',
      'ada@x\u00ad.co',
      '\u202eada@x.co',
      'a da@x.co',
      'ada@ x.co',
      'ada@x.co\u2060',
      'ada\u2028@x.co',
      'ada\ue000@x.co',
      '\ud800@x.co',
    ],
    // Dots.
    ...['.ada@x.co', 'ada.@x.co', 'a..da@x.co', 'ada@.x.co', 'ada@x..co', 'ada@x.co.', 'ada@x.co。'],
    // Invalid domains: addresses, ports, URLs, labels.
    ...[
      'ada@127.0.0.1',
      'ada@[127.0.0.1]',
      'ada@[IPv6:::1]',
      'ada@::1',
      'ada@0x7f.1',
      'ada@2130706433',
      'ada@1.2',
      'ada@x.123',
      'ada@１２７.0.0.1',
      'ada@①.②',
    ],
    ...[
      'ada@x.co:25',
      'ada@x.co/path',
      'ada@x.co?q',
      'ada@x.co#f',
      'ada@x%2eco',
      'ada@x.c',
      'ada@-x.co',
      'ada@x-.co',
      'ada@x_y.co',
      'ada@*.co',
      'ada@xn--.co',
      'ada@xn--a.co',
      'ada@x.c\u2100',
      'ada@x.co／y',
      'ada@x.co＃y',
      'ada@user:pass＠x.co',
    ],
    // Lengths.
    `${'a'.repeat(65)}@x.co`,
    `a@${'x'.repeat(64)}.co`,
    `a@${'x.'.repeat(130)}co`,
    `a@${'ü'.repeat(60)}.co`,
    ' '.repeat(100_000),
    `${'a'.repeat(100_000)}@x.co`,
    `a@${'a.'.repeat(50_000)}`,
  ])('rejects %j', (typed) => {
    expect(canonicalEmail(typed)).toBeNull();
  });

  test('accepts at most 254 characters, also in the stored form', () => {
    const domain = `${'x'.repeat(62)}.${'x'.repeat(62)}.${'x'.repeat(61)}.co`;
    const longest = `${'a'.repeat(254 - domain.length - 1)}@${domain}`;
    expect(longest).toHaveLength(254);
    expect(canonicalEmail(longest)).toBe(longest);
    expect(canonicalEmail(`a${longest}`)).toBeNull();
    // Short as typed, but long in Punycode.
    const label = 'ü'.repeat(40);
    expect(canonicalEmail(`${'a'.repeat(64)}@${`${label}.`.repeat(4)}co`)).toBeNull();
  });

  test.each([null, undefined, 5, true, [], ['a@x.co'], {}, { toString: () => 'a@x.co' }])(
    'rejects %p',
    (value) => {
      expect(canonicalEmail(value)).toBeNull();
    },
  );
});

describe('canonicalUsername', () => {
  test.each([
    ['ada', 'ada'],
    ['ADA', 'ada'],
    ['A.d-a_1', 'a.d-a_1'],
    ['000', '000'],
    ['a'.repeat(30), 'a'.repeat(30)],
  ])('converts %j to %j', (typed, canonical) => {
    expect(canonicalUsername(typed)).toBe(canonical);
  });

  test.each([
    ...[
      '',
      'ad',
      'a'.repeat(31),
      ' ada',
      'ada ',
      'a da',
      'ada\n',
      'ada\0',
      'ada@x',
      'a@x.co',
      'ada+',
      'ada/../eve',
      'ada%00',
    ],
    ...[
      'áda',
      'аda',
      'ａda',
      '\u212aelvin',
      'd\u0131m',
      'ada\u200b',
      'ada\u0301',
      'ⓐda',
      '１２３',
      '😀😀😀',
      '٣٣٣',
      '---\u2010',
    ],
  ])('rejects %j', (typed) => {
    expect(canonicalUsername(typed)).toBeNull();
  });

  test.each([null, undefined, 123, ['ada'], {}])('rejects %p', (value) => {
    expect(canonicalUsername(value)).toBeNull();
  });
});
