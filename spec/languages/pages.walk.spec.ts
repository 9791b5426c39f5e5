import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LOADERS } from '../../lib/languages/shipped.js';
import { english } from '../../lib/words/emails/index.js';
import { englishSentences, others, PARTS, textsOf } from '../support/catalogues.js';
import { attribute, type Shown, textOf } from '../support/page-browser.js';
import { type RefusingApp, startRefusingApp } from '../support/refusing-app.js';
import { sendAll } from '../support/sent-mails.js';

const SENTENCES = englishSentences();
const KEYS = PARTS.flatMap((part) => [...textsOf('en', part).keys()]).filter((key) =>
  /[a-z]\.[a-z]/.test(key),
);
/** The attributes that users read or hear. */
const READ = ['alt', 'title', 'placeholder', 'aria-label', 'data-label'];

let refusing: RefusingApp;
beforeAll(async () => {
  refusing = await startRefusingApp({ languages: ['en', ...others] });
});
afterAll(() => refusing.app.stop());

const dirOf = (tag: string): 'ltr' | 'rtl' => (tag === 'ar' ? 'rtl' : 'ltr');

/** Returns the lines of a document that users read. */
function readIn(shown: Shown): string[] {
  const texts = [
    ...['title', 'body'].flatMap((tag) => shown.all(tag).map(textOf)),
    ...shown.elements.flatMap((one) => READ.map((name) => attribute(one, name) ?? [])).flat(),
    ...shown.all('button').map((one) => attribute(one, 'value') ?? ''),
  ];
  return texts.flatMap((text) => text.replace(/[^\S\n]+/g, ' ').split('\n'));
}

/** The faults of lines. Most lines are on many pages. */
const known = new Map<string, readonly string[]>();

/** Returns what is wrong with the words of these lines. No sentence that is looked for has more than one. */
function faultsIn(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const faults = known.get(line) ?? faultsOfLine(line);
    known.set(line, faults);
    return faults;
  });
}

function faultsOfLine(line: string): string[] {
  return [
    ...SENTENCES.filter((sentence) => line.includes(sentence)).map((sentence) => `English: ${sentence}`),
    ...KEYS.filter((key) => line.includes(key)).map((key) => `a key: ${key}`),
    ...(line.match(/undefined|\[object|\bNaN\b|=>/g) ?? []),
  ];
}

function faultsOf(shown: Shown, tag: string): string[] {
  const [root] = shown.all('html');
  return [
    ...(root && attribute(root, 'lang') === tag ? [] : ['lang']),
    ...(root && (attribute(root, 'dir') ?? 'ltr') === dirOf(tag) ? [] : ['dir']),
    ...faultsIn(readIn(shown)),
  ];
}

test('what is looked for is found in English', async () => {
  expect(SENTENCES.length).toBeGreaterThan(800);
  expect(SENTENCES.filter((sentence) => sentence.includes('\n'))).toEqual([]);
  const { app } = refusing;
  const shown = await app.open({ 'accept-language': 'en' }).open('/auth/forgot-password');
  expect(faultsOf(shown, 'de')).toEqual(
    expect.arrayContaining(['lang', expect.stringContaining('Enter the email of your account.')]),
  );
});

/** How many languages each error is shown in. Which ones depends on its number. */
const EACH = 2;

describe.each(others)('in %s', (tag) => {
  const turns = Math.ceil(others.length / EACH);
  const turn = others.indexOf(tag) % turns;
  const headers = { 'accept-language': tag };

  test('every page has its language, and no English sentence', async () => {
    let seen = 0;
    const faults = await refusing.eachPage((shown) => {
      seen++;
      return faultsOf(shown, tag);
    }, headers);
    expect([...new Set(faults)]).toEqual([]);
    expect(seen).toBeGreaterThan(40);
  });

  test('so do the errors of every form', async () => {
    let seen = 0;
    const faults = await refusing.eachError(
      (_form, _code, shown) => {
        if (shown.status === 303) return [];
        seen++;
        return faultsOf(shown, tag);
      },
      headers,
      (number) => number % turns === turn,
    );
    expect([...new Set(faults)]).toEqual([]);
    expect(seen).toBeGreaterThan(300 / turns);
  });

  test.each(Object.keys(english.texts))('the email %s has no English sentence', async (name) => {
    const words = { ...(await LOADERS[tag].emails()), tag, dir: dirOf(tag) };
    const mails = await sendAll(name, tag, () => words);
    expect(mails.length).toBeGreaterThan(0);
    for (const { subject, text, html } of mails) {
      expect(html).toContain(`<html lang="${tag}"${dirOf(tag) === 'rtl' ? ' dir="rtl"' : ''} style=`);
      const read = html.replace(/<[^>]*>/g, ' ');
      expect(faultsIn(`${subject}\n${text}\n${read}`.split('\n'))).toEqual([]);
    }
  });
});
