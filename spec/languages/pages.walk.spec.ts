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

/** Returns everything of a document that users read. */
function readIn(shown: Shown): string {
  const read = shown.elements.flatMap((one) => READ.map((name) => attribute(one, name) ?? ''));
  const buttons = shown.all('button').map((one) => attribute(one, 'value') ?? '');
  return [...['title', 'body'].flatMap((tag) => shown.all(tag).map(textOf)), ...read, ...buttons]
    .join('\n')
    .replace(/[^\S\n]+/g, ' ');
}

/** Returns what is wrong with the words of a text. */
function faultsIn(text: string): string[] {
  return [
    ...SENTENCES.filter((sentence) => text.includes(sentence)).map((sentence) => `English: ${sentence}`),
    ...KEYS.filter((key) => text.includes(key)).map((key) => `a key: ${key}`),
    ...(text.match(/undefined|\[object|\bNaN\b|=>/g) ?? []),
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
  const { app } = refusing;
  const shown = await app.open({ 'accept-language': 'en' }).open('/auth/forgot-password');
  expect(faultsOf(shown, 'de')).toEqual(
    expect.arrayContaining(['lang', expect.stringContaining('Enter the email of your account.')]),
  );
});

describe.each(others)('in %s', (tag) => {
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

  test('so does every error of every form', async () => {
    let seen = 0;
    const faults = await refusing.eachError((_form, _code, shown) => {
      if (shown.status === 303) return [];
      seen++;
      return faultsOf(shown, tag);
    }, headers);
    expect([...new Set(faults)]).toEqual([]);
    expect(seen).toBeGreaterThan(300);
  });

  test.each(Object.keys(english.texts))('the email %s has no English sentence', async (name) => {
    const words = { ...(await LOADERS[tag].emails()), tag, dir: dirOf(tag) };
    const mails = await sendAll(name, tag, () => words);
    expect(mails.length).toBeGreaterThan(0);
    for (const { subject, text, html } of mails) {
      expect(html).toContain(`<html lang="${tag}"${dirOf(tag) === 'rtl' ? ' dir="rtl"' : ''} style=`);
      const read = html.replace(/<[^>]*>/g, ' ');
      expect(faultsIn(`${subject}\n${text}\n${read}`)).toEqual([]);
    }
  });
});
