import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
// The entry point loads the owners of all kinds.
import '../../lib/index.js';
import type { NoticeKind } from '../../lib/index.js';
import { declaredNotices } from '../../lib/mail/notice-kinds.js';
import { english, type MailWords } from '../../lib/words/emails/index.js';
import { sendAll } from '../support/sent-mails.js';

const lib = new URL('../../lib/', import.meta.url);
/** The code of the owners of emails. */
const sources = readdirSync(lib, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !/^(mail|pages|languages)[\\/]/.test(path))
  .map((path) => readFileSync(new URL(path.replaceAll('\\', '/'), lib), 'utf8'));

const NAMES = Object.keys(english.texts);

test('every declared notice has a text', () => {
  const kinds = declaredNotices.names as NoticeKind[];
  expect(kinds.length).toBeGreaterThan(20);
  for (const kind of kinds) expect(english.texts[kind]).toHaveProperty('lines');
});

test('every kind of the documentation has a text, and every text belongs to one of these kinds', () => {
  const page = (name: string) => readFileSync(new URL(`../docs/${name}.md`, lib), 'utf8');
  const documented = new Set(
    [...`${page('email')}${page('notices-reference')}`.matchAll(/^\| `([a-z-]+)` \|/gm)].map(
      ([, kind]) => kind,
    ),
  );
  for (const kind of new Set(NAMES.map((name) => name.replace(/\/.*/, '')))) {
    expect(NAMES).toContain(kind);
    expect([...documented]).toContain(kind);
  }
});

test.each(NAMES)('the text %s is named by the owner of its email', (name) => {
  const named = sources.filter((source) => new RegExp(`'${name}'|\\b${name}: \\{`).test(source));
  expect(named.length).toBeGreaterThan(0);
});

/** Puts every text of some words between marks. */
function marked<T>(words: T): T {
  if (typeof words === 'string') return `«${words}»` as T;
  if (Array.isArray(words)) return words.map(marked) as T;
  if (typeof words === 'function')
    return ((...given: unknown[]) =>
      marked((words as unknown as (...all: unknown[]) => unknown)(...given))) as T;
  if (typeof words !== 'object' || words === null) return words;
  return Object.fromEntries(Object.entries(words).map(([name, one]) => [name, marked(one)])) as T;
}

const made: MailWords = { ...marked(english), tag: 'x-made', dir: 'rtl' };

const asked: (string | null)[] = [];
const send = (name: string, language?: string) =>
  sendAll(name, language, (chosen) => {
    asked.push(chosen);
    return chosen === 'x-made' ? made : english;
  });

test.each(NAMES)('%s has no words except those of its language', async (name) => {
  const mails = await send(name, 'x-made');
  expect(mails.length).toBeGreaterThan(0);
  for (const { language, subject, text, html } of mails) {
    expect(language).toBe('x-made');
    expect(html).toMatch(/^<!doctype html>\n<html lang="x-made" dir="rtl" style=/);
    let left = `${subject}\n${text}\n${html.replace(/^[\s\S]*<body[^>]*>|<[^>]*>/g, '')}`.replaceAll(
      /https:[^\s»]*/g,
      '',
    );
    for (let before = ''; before !== left; ) {
      before = left;
      left = left.replaceAll(/«[^«»]*»/g, '');
    }
    expect(left).not.toMatch(/[a-z]/i);
  }
});

test.each(NAMES)('%s is in English if no language was chosen', async (name) => {
  asked.length = 0;
  const mails = await send(name);
  expect(new Set(asked)).toEqual(new Set([null]));
  for (const { language, text, html } of mails) {
    expect(language).toBe('en');
    expect(html).toContain('<html lang="en" style=');
    expect(text).not.toMatch(/undefined|NaN|\{|function|=>/);
  }
});
