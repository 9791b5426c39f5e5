import { existsSync } from 'node:fs';
// The entry points declare the codes of all plugins.
import '../../lib/index.js';
import '../../lib/pages.js';
import { html, isHtml } from '../../lib/html.js';
import { LOADERS, SHIPPED_LANGUAGES, type ShippedLanguage } from '../../lib/languages/shipped.js';
import { keysOf } from '../../lib/locale/own-words.js';
import type { LanguageParts } from '../../lib/words/catalogue.js';

export type Part = keyof LanguageParts;

/** A text as it is in a catalogue. */
export type Text = string | readonly string[] | ((...values: unknown[]) => unknown);

export const PARTS: readonly Part[] = ['pages', 'emails', 'errors'];
export const others = SHIPPED_LANGUAGES.filter((tag) => tag !== 'en');
const hasPart = (tag: string, part: Part) =>
  existsSync(new URL(`../../lib/languages/${tag}/${part}.ts`, import.meta.url));
export const there = others.flatMap((tag) =>
  PARTS.filter((part) => hasPart(tag, part)).map((part): [ShippedLanguage, Part] => [tag, part]),
);

/** The texts of each part of each language, by their keys. */
const catalogues = new Map<string, ReadonlyMap<string, Text>>();
for (const [tag, part] of [...PARTS.map((one): ['en', Part] => ['en', one]), ...there]) {
  const words = (await LOADERS[tag][part]()) as object;
  const texts = [...keysOf(words)].map(([key, path]): [string, Text] => [
    key,
    path.reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], words) as Text,
  ]);
  catalogues.set(`${tag} ${part}`, new Map(texts));
}
export const textsOf = (tag: string, part: Part) =>
  catalogues.get(`${tag} ${part}`) as ReadonlyMap<string, Text>;

export const AT = new Date('2026-11-22T10:14:59.999Z');
export const UNTIL = new Date('2026-11-29T10:14:59.999Z');
const NUMBERS = [0, 1, 2, 3, 11, 100];
const BOTH = [false, true];
export const MS = [60_000, 180_000, 3_600_000, 172_800_000, 950_400_000];
const TWO_OR_MORE = [
  ['Qx1', 'Qx2'],
  ['Qx1', 'Qx2', 'Qx3'],
];
const markup = (text: string) => html`<b>${text}</b>`;

/** Values by the names of parameters. All other parameters are strings. */
const SAMPLES: Readonly<Record<Part, Readonly<Record<string, readonly unknown[]>>>> = {
  pages: {
    added: [[], [markup('Qx1')], [markup('Qx1'), markup('Qx2')], ['Qx1', 'Qx2', 'Qx3'].map(markup)],
    button: [markup('Qbutton')],
    count: NUMBERS,
    days: NUMBERS,
    digits: NUMBERS,
    first: [markup('Qfirst')],
    hasPassword: BOTH,
    hint: ['Qhint', null],
    invites: BOTH,
    isByCode: BOTH,
    isCertain: BOTH,
    labels: TWO_OR_MORE,
    last: [markup('Qlast')],
    length: NUMBERS,
    link: [markup('Qlink')],
    maximum: NUMBERS,
    minimum: NUMBERS,
    page: ['sign-up', 'sign-in'],
    passkeys: BOTH,
    resets: BOTH,
    signOut: [markup('QsignOut')],
    since: [markup('Qsince')],
    support: [markup('Qsupport'), null],
    time: [markup('Qtime')],
    totp: BOTH,
    until: [markup('Quntil')],
    wasPassword: BOTH,
  },
  emails: {
    appName: ['QappName', null],
    at: [AT],
    browsers: [[], ['Qx1'], ...TWO_OR_MORE],
    days: NUMBERS,
    inviter: ['Qinviter', null],
    ms: MS,
    until: [UNTIL, null],
    values: [
      { at: AT, until: UNTIL },
      { at: AT, until: null },
    ],
  },
  errors: {
    fields: [['Qx1'], ...TWO_OR_MORE],
    link: [markup('Qlink')],
    maximum: NUMBERS,
    minimum: NUMBERS,
    name: ['Qname', null],
    type: ['array', 'boolean', 'date', 'int', 'number', 'object', 'string'],
    unit: ['characters', 'items'],
    values: TWO_OR_MORE,
  },
};

/** Values of single texts, where they are not those of the parameter's name. */
const OWN_SAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  'pages human.list ways': TWO_OR_MORE,
  'pages sign-out.question account': ['Qaccount', null],
  'pages join.other-email account': ['Qaccount', null],
  'pages created.welcome account': ['Qaccount', null],
  'pages security.second-factor.file-heading account': ['Qaccount', null],
  'pages user.suspended-since until': [markup('Quntil'), null],
  'emails code-expiry until': [UNTIL],
};

/** Values that a text chooses its words by, but does not contain. */
const NOT_SHOWN = new Set([
  'array',
  'boolean',
  'date',
  'int',
  'number',
  'object',
  'string',
  'characters',
  'items',
]);

/** What a text says with some values, in a language and in English. */
export interface Said {
  readonly key: string;
  readonly values: readonly unknown[];
  readonly result: unknown;
  /** The result as one string, without markup. */
  readonly text: string;
  readonly english: string;
}

/** Returns what all texts of a part say, with all samples. */
export function saidIn(tag: string, part: Part): readonly Said[] {
  const texts = textsOf(tag, part);
  return [...textsOf('en', part)].flatMap(([key, inEnglish]) => {
    const text = texts.get(key);
    if (text === undefined) return [];
    return samplesOf(part, key, inEnglish).map((values) => {
      const result = resultOf(text, values);
      return { key, values, result, text: plain(result), english: plain(resultOf(inEnglish, values)) };
    });
  });
}

export const resultOf = (text: Text, values: readonly unknown[]) =>
  typeof text === 'function' ? text(...values) : text;

/** Returns the lists of values to call a text with, by the names of its parameters in English. */
function samplesOf(part: Part, key: string, text: Text): readonly (readonly unknown[])[] {
  if (typeof text !== 'function') return [[]];
  const [, list = '', single] = /^(?:function \w*)?\s*(?:\(([^()]*)\)|(\w+)\s*=>)/.exec(String(text)) ?? [];
  const names = (single ?? list)
    .replace(/[{}\s]/g, '')
    .split(',')
    .filter((name) => name !== '');
  if (names.length === 0) throw new Error(`no parameters were found: ${key}`);
  const samples = names.map(
    (name) => OWN_SAMPLES[`${part} ${key} ${name}`] ?? SAMPLES[part][name] ?? [`Q${name}`],
  );
  const lists = samples.reduce<unknown[][]>(
    (made, ofName) => made.flatMap((one) => ofName.map((value) => [...one, value])),
    [[]],
  );
  return list.includes('{')
    ? lists.map((values) => [Object.fromEntries(names.map((name, index) => [name, values[index]]))])
    : lists;
}

export function plain(result: unknown): string {
  if (Array.isArray(result)) return result.map(plain).join('\n');
  return isHtml(result) ? String(result).replaceAll(/<[^>]*>/g, '') : String(result);
}

/** Returns the values that a text can contain, as strings. Dates and durations look different in each language. */
export function shownValues(value: unknown): string[] {
  if (typeof value === 'string') return NOT_SHOWN.has(value) ? [] : [value];
  // Smaller numbers can be words, such as the Arabic dual.
  if (typeof value === 'number') return value > 2 ? [String(value)] : [];
  if (isHtml(value)) return [plain(value)];
  if (Array.isArray(value)) return value.flatMap(shownValues);
  if (typeof value !== 'object' || value === null || value instanceof Date) return [];
  const { ms: _, ...others } = value as { readonly ms?: number };
  return shownValues(Object.values(others));
}

/** Whether a text contains a value. At its beginning, a value can get a capital or a small letter. */
export function contains(text: string, value: string): boolean {
  return /^\d+$/.test(value)
    ? new RegExp(`(?<!\\d)${value}(?!\\d)`).test(text)
    : text.toLowerCase().includes(value.toLowerCase());
}

/** Returns the words of a text, without values. */
export function wordsOf(text: string, { values }: Said): string {
  return shownValues(values).reduce((left, value) => left.replaceAll(new RegExp(value, 'gi'), ''), text);
}

/**
 * Returns what English says in at least three words in a row, without values: what no document in another language
 * contains.
 */
export function englishSentences(): readonly string[] {
  const texts = PARTS.flatMap((part) => saidIn('en', part)).flatMap((said) => {
    const values = shownValues(said.values);
    const text = said.text.replaceAll(/\b\d+\b|\d{1,2} \w+ \d{4}( at \d+:\d+ UTC)?/g, '\n');
    return values.reduce((left, value) => left.replaceAll(value, '\n'), text).split('\n');
  });
  return [...new Set(texts.map((text) => text.trim()).filter((text) => /(\w+\W+){2}\w+/.test(text)))];
}
