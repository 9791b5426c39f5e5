import { describe, expect, test } from '@jest/globals';
import { isHtml } from '../../lib/html.js';
import { SHIPPED_LANGUAGES } from '../../lib/languages/shipped.js';
import { emailFormatsIn } from '../../lib/words/email-formats.js';
import { formatsIn } from '../../lib/words/formats.js';
import { en } from '../../lib/words/pages/index.js';
import {
  AT,
  contains,
  MS,
  others,
  PARTS,
  type Part,
  plain,
  resultOf,
  type Said,
  saidIn,
  shownValues,
  type Text,
  textsOf,
  there,
  UNTIL,
  wordsOf,
} from '../support/catalogues.js';

/** Words that are the same in English, by language. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  de: ['Administrator', 'Browser', 'Code', 'Name', 'Passkey', 'Passkeys', 'Support', 'optional'],
  fr: ['Actions', 'Code', 'Invitations', 'Service', 'Sessions', 'Suspension', 'minute', 'minutes'],
  es: ['Error:', 'No', 'Roles'],
};

/** Names, of which a translation is no better. */
const NAMES = /^(\(UTC\)|recovery-codes\.txt)$/;

/** Texts for whose reason a rule does not apply to them. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  /** They are about the value of JSON. */
  null: ['errors phrases.json-null'],
  /** Names of choices, for developers. */
  quotes: ['errors phrases.unknown-method'],
  /** Something follows or goes before these. */
  spaces: ['pages comma', 'pages of-close', 'ja emails within'],
  /** "1 Browser" and "3 Browser". */
  plurals: ['de pages security.browsers.count'],
  /** What they consist of, next to values, has no letters. */
  script: ['ja pages organization.of'],
};

/** A letter that each text of a language has. */
const SCRIPTS: Readonly<Record<string, RegExp>> = {
  ar: /\p{Script=Arabic}/u,
  ja: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
};

/** Words that English sentences consist of. */
const COMMON =
  'a|an|the|this|that|these|it|is|are|was|were|be|been|has|have|had|do|did|can|cannot|will|not|no|of|to|in|on|at|by|for|from|with|and|or|if|as|you|your|we|our|who|which|one|all|any|new|here|there|then|again|account|email|password|sign|code|link|browser|enter|choose|ask|use|add|must|only|other|than|after|before|until|someone|user';
const THREE_WORDS = new RegExp(`(?<![\\w-])(?:(?:${COMMON})[,:]? ){2}(?:${COMMON})(?![\\w-])`, 'i');

/** What no text contains. */
const WRONG = /undefined|null|\bNaN\b|\[object|=>|Invalid Date/;

/** Whether a rule does not apply to a text. */
const isExcepted = (rule: string, tag: string, part: Part, { key }: Said) =>
  EXCEPTIONS[rule]?.some((one) => one === `${part} ${key}` || one === `${tag} ${part} ${key}`) ?? false;

/** Whether a text can be the same in English. */
function isName(tag: string, said: Said): boolean {
  const words = wordsOf(said.text, said).replaceAll(/\d/g, '').trim();
  return NAMES.test(words) || (SAME[tag] ?? []).includes(words);
}

/** Whether there is anything to translate. */
const hasWords = (said: Said) => /\p{L}/u.test(wordsOf(said.english, said));

const told = ({ key, text }: Said) => `${key}: ${text}`;

/** Returns what is wrong with some texts, each once. */
const faultsIn = (tag: string, part: Part, isWrong: (said: Said) => boolean) => [
  ...new Set(saidIn(tag, part).filter(isWrong).map(told)),
];

test('every language of the package has a folder with all its parts', () => {
  const parts = others.flatMap((tag) => PARTS.map((part) => `${tag}/${part}`));
  expect(there.map((one) => one.join('/'))).toEqual(parts);
});

test('the samples find every text of English', () => {
  const said = PARTS.flatMap((part) => saidIn('en', part));
  expect(said.length).toBeGreaterThan(1_000);
  expect(said.filter(({ text }) => WRONG.test(text)).map(({ key }) => key)).toEqual(['phrases.json-null']);
});

describe.each(there)('%s: %s', (tag, part) => {
  test('have the same keys as in English', () => {
    const [own, english] = [textsOf(tag, part), textsOf('en', part)];
    expect([...english.keys()].filter((key) => !own.has(key))).toEqual([]);
    expect([...own.keys()].filter((key) => !english.has(key))).toEqual([]);
  });

  test('are of the same kinds', () => {
    const faults = faultsIn(tag, part, ({ key, values, result }) => {
      const inEnglish = textsOf('en', part).get(key) as Text;
      return (
        typeof textsOf(tag, part).get(key) !== typeof inEnglish ||
        Array.isArray(result) !== Array.isArray(resultOf(inEnglish, values)) ||
        ![result].flat().every((one) => typeof one === 'string' || isHtml(one))
      );
    });
    expect(faults).toEqual([]);
  });

  test('contain the values that English contains', () => {
    const faults = faultsIn(tag, part, ({ values, text, english }) =>
      shownValues(values).some((value) => contains(english, value) && !contains(text, value)),
    );
    expect(faults).toEqual([]);
  });

  test('have plural forms where English has them, except in Japanese', () => {
    const formsOf = (said: Said, text: string) => wordsOf(text, said).replaceAll(/\d/g, '');
    const said = saidIn(tag, part).filter(({ values }) => values.length === 1);
    const faults = said.filter((one) => {
      const many = said.find(({ key, values }) => key === one.key && values[0] === 3);
      return (
        one.values[0] === 1 &&
        many !== undefined &&
        formsOf(one, one.english) !== formsOf(many, many.english) &&
        formsOf(one, one.text) === formsOf(many, many.text)
      );
    });
    const isFine = (one: Said) => tag === 'ja' || isExcepted('plurals', tag, part, one);
    expect(faults.filter((one) => !isFine(one)).map(told)).toEqual([]);
  });

  test('contain nothing that was not filled in, except the marks for the names of fields', () => {
    const marks = (text: string) => text.match(/\{\w+\}/g)?.join() ?? '';
    const faults = faultsIn(
      tag,
      part,
      (said) =>
        (WRONG.test(said.text) && !isExcepted('null', tag, part, said)) ||
        marks(said.text) !== marks(said.english),
    );
    expect(faults).toEqual([]);
  });

  test('are empty only where English is', () => {
    expect(faultsIn(tag, part, ({ text, english }) => (text === '') !== (english === ''))).toEqual([]);
  });

  test('are not those of English', () => {
    const faults = faultsIn(
      tag,
      part,
      (said) => said.text === said.english && hasWords(said) && !isName(tag, said),
    );
    expect(faults).toEqual([]);
  });

  test('contain no sentence of English', () => {
    expect(faultsIn(tag, part, (said) => THREE_WORDS.test(wordsOf(said.text, said)))).toEqual([]);
  });

  test('are in the script of the language', () => {
    const script = SCRIPTS[tag] ?? /\p{Script=Latin}/u;
    const faults = faultsIn(
      tag,
      part,
      (said) =>
        hasWords(said) &&
        !script.test(wordsOf(said.text, said)) &&
        !isName(tag, said) &&
        !isExcepted('script', tag, part, said),
    );
    expect(faults).toEqual([]);
  });

  test('have single spaces, Latin digits, and the quotation marks of the language', () => {
    const faults = faultsIn(
      tag,
      part,
      (said) =>
        / {2}/.test(said.text) ||
        (/^ | $/.test(said.text) && !/^ /.test(said.english) && !isExcepted('spaces', tag, part, said)) ||
        /[^\P{Nd}0-9]/u.test(said.text) ||
        (/["']/.test(wordsOf(said.text, said)) && !isExcepted('quotes', tag, part, said)),
    );
    expect(faults).toEqual([]);
  });
});

describe.each(there.filter(([, part]) => part === 'pages'))('%s: %s', (tag, part) => {
  test('have the sentence that a wait replaces where English has it', () => {
    const later = plain(textsOf(tag, part).get('later'));
    const faults = faultsIn(
      tag,
      part,
      ({ text, english }) => english.includes(en.later) && !text.includes(later),
    );
    expect(faults).toEqual([]);
  });
});

test.each(SHIPPED_LANGUAGES)('the dates, times and durations of %s have Latin digits', (tag) => {
  const pages = formatsIn(tag);
  const emails = emailFormatsIn(tag);
  const shown = [
    ...[AT, UNTIL].flatMap((at) => [pages.time(at), pages.day(at), emails.date(at), emails.time(at)]),
    ...MS.flatMap((ms) => [pages.duration(ms / 1_000), emails.duration(ms)]),
  ];
  for (const one of shown) {
    expect(one).not.toMatch(/[^\P{Nd}0-9]/u);
    expect(one).not.toMatch(WRONG);
  }
  for (const one of shown.slice(0, 4)) expect(one).toMatch(/2026/);
  expect(emails.duration(950_400_000)).toContain('11');
});
