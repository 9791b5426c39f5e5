import assert from 'node:assert/strict';
import { domainToUnicode } from 'node:url';
import fc from 'fast-check';
import addressparser from 'nodemailer/lib/addressparser';
import { canonicalEmail, canonicalUsername } from '../../lib/users/canonical.js';
import { UsernameRules } from '../../lib/users/usernames.js';
import { changed, piecesOf, text } from './inputs.js';
import { fuzz, quickly } from './property.js';

const LOCAL_PIECES = [
  'ada',
  '.',
  '+',
  '-',
  '_',
  "'",
  '"',
  ',',
  '@',
  ' ',
  '(',
  ')',
  '<',
  '>',
  ';',
  ':',
  '\\',
  'K',
  'ı',
  '＠',
  '\u200b',
  '\r\n',
];
const DOMAIN_PIECES = [
  'example',
  '.',
  'com',
  'bücher',
  'xn--bcher-kva',
  '。',
  '．',
  'ＥＸＡＭＰＬＥ',
  '-',
  '%',
  '[127.0.0.1]',
  '@',
  '\u00ad',
  '\u200d',
  'faß',
  'İ',
  '1',
  ',',
];

const typed = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(piecesOf(LOCAL_PIECES, 4), piecesOf(DOMAIN_PIECES, 6))
      .map((parts) => parts.join('@')),
  },
  { weight: 2, arbitrary: fc.emailAddress() },
  { weight: 2, arbitrary: changed(fc.emailAddress()) },
  { weight: 1, arbitrary: text },
);

/** Names of domains, of which some have other spellings. */
const domain = fc.oneof(
  fc.domain(),
  fc.constantFrom(
    'example.com',
    'xn--bcher-kva.example',
    'xn--mgbh0fb.xn--kgbechtv',
    'xn--fa-hia.example',
    'mail.example.co.uk',
  ),
);
const local = fc.stringMatching(
  /^[a-z0-9!#$%&'*+/=?^_`{|}~][a-z0-9!#$%&'*+/=?^_`{|}~-]{0,20}(\.[a-z0-9_-]{1,9})?$/,
);

/** Other spellings of a mailbox: case, white space around it, and Unicode in its domain. */
function spellings(localPart: string, host: string): string[] {
  const unicode = domainToUnicode(host);
  const plain = [
    `${localPart}@${host}`,
    `${localPart.toUpperCase()}@${host.toUpperCase()}`,
    `  ${localPart}@${host}\t`,
    `${localPart}@${unicode}`,
    `${localPart}@${unicode.normalize('NFD')}`,
    `${localPart}@${unicode.replaceAll('.', '。')}`,
    `${localPart}@${host.replace(/[a-z]/g, (letter) => String.fromCodePoint(0xff41 + letter.charCodeAt(0) - 97))}`,
  ];
  return plain.filter((one) => one.length <= 254);
}

const PATTERN = /[\p{L}\p{M}\d ._-]{2,40}/u;
const rules = [new UsernameRules(), new UsernameRules(PATTERN)];
const nameTyped = fc.oneof(
  text,
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  piecesOf(['ada', 'ＡＤＡ', 'K', 'ﬁ', 'é', 'e\u0301', '_', '.', '-', ' ', '@', '\u200b', '\0', 'ẞ', 'İ'], 6),
);

/** Emails and usernames. */
export const identifiers = [
  fuzz(
    'an email has one canonical form, which is its own',
    1000,
    fc.property(fc.oneof(typed, fc.anything()), (given) => {
      const canonical = quickly(() => canonicalEmail(given));
      if (canonical === null) return;
      assert.equal(canonicalEmail(canonical), canonical);
      assert.equal(canonicalEmail(canonical.toUpperCase()), canonical);
    }),
  ),
  fuzz(
    'an email in canonical form is one recipient in a mail header, and no option of a mail program',
    1000,
    fc.property(typed, (given) => {
      const canonical = canonicalEmail(given);
      if (canonical === null) return;
      assert.match(canonical, /^[a-z0-9!#$%&'*+/=?^_`{|}~][a-z0-9!#$%&'*+/=?^_`{|}~.-]*@[a-z0-9.-]+$/);
      assert.deepEqual(
        addressparser(canonical).map((one) => ('address' in one ? one.address : one)),
        [canonical],
      );
    }),
  ),
  fuzz(
    'spellings of one mailbox are one email, or none',
    1000,
    fc.property(local, domain, (localPart, host) => {
      const forms = spellings(localPart, host).map(canonicalEmail);
      assert.equal(new Set(forms.filter((form) => form !== null)).size <= 1, true, JSON.stringify(forms));
      // What is typed as it is stored is never another address.
      if (forms[0] !== null) assert.equal(forms[0], `${localPart}@${host.toLowerCase()}`);
    }),
  ),
  fuzz(
    'a username has one canonical form, which is its own and never an email',
    1000,
    fc.property(fc.oneof(nameTyped, fc.anything()), (given) => {
      for (const rule of rules) {
        const canonical = quickly(() => rule.canonical(given));
        if (canonical === null) continue;
        assert.equal(rule.canonical(canonical), canonical);
        assert.doesNotMatch(canonical, /[@\p{C}]|^\s|\s$/u);
        assert.ok([...canonical].length <= 100);
        assert.equal(canonicalEmail(canonical), null);
      }
    }),
  ),
  fuzz(
    'spellings of one username are one account',
    1000,
    fc.property(nameTyped, (given) => {
      const [plain, unicode] = rules as [UsernameRules, UsernameRules];
      // Upper case is no spelling of letters that share a capital, such as the forms of sigma, or whose capital is two, as of ß.
      const isReversible =
        given.toUpperCase().toLowerCase() === given.toLowerCase() && !/[σςϲ]/iu.test(given);
      const forms = [
        ...(isReversible ? [given.toUpperCase()] : []),
        given.normalize('NFD'),
        given.normalize('NFKC'),
      ];
      const folded = [given, ...forms].map((form) => unicode.fold(form)).filter((form) => form !== null);
      assert.ok(new Set(folded).size <= 1, JSON.stringify(folded));
      const known = plain.canonical(given);
      if (known !== null) assert.equal(canonicalUsername(given.toUpperCase()), known);
    }),
  ),
];
