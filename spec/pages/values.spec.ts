import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { createAuth } from '../../lib/index.js';
import { declaredNotices } from '../../lib/mail/notice-kinds.js';
import { declaredEvents } from '../../lib/outbox/events.js';
import { PAGE_NAMES } from '../../lib/pages/options.js';
import { pages } from '../../lib/pages.js';
import { en } from '../../lib/words/pages/index.js';
import { SECRET } from '../support/app.js';
import { everyPlugin } from '../support/every-plugin.js';
import { fixedProvider } from '../support/fixed-provider.js';
import { pagesIn } from '../support/pages-walk.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = readdirSync(`${root}/lib/pages`, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(`${root}/lib/pages/${path}`, 'utf8'));

/** The interface of each page's values, as its file declares it. */
const types = new Map(
  sources.flatMap((source) => {
    const [, pages = ''] = /interface PageValues \{\n([\s\S]*?)\n {2}\}/.exec(source) ?? [];
    return [...pages.matchAll(/^ {4}'?([a-z/-]+)'?: (\w+);$/gm)].map(([, name = '', type = '']) => [
      name,
      type,
    ]);
  }) as [string, string][],
);

/** The names of an interface's own members. */
function membersOf(type: string): string[] {
  for (const source of sources) {
    const [, body] = new RegExp(`export interface ${type}[^{]*\\{\\n([\\s\\S]*?)\\n\\}`).exec(source) ?? [];
    if (body !== undefined)
      return [...body.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name = '']) => name);
  }
  return [];
}

test('every page declares its values, and docs/pages.md lists them', () => {
  expect([...types.keys()].sort()).toEqual([...PAGE_NAMES].sort());
  const page = readFileSync(`${root}/docs/pages.md`, 'utf8');
  const documented = [...page.matchAll(/^\| `([^`]+)` \| `(\w+)` \| (.*) \|$/gm)].map(
    ([, name, type, values = '']) => [name, type, [...values.matchAll(/`(\w+)`/g)].map(([, one]) => one)],
  );
  expect(documented).toEqual(
    PAGE_NAMES.map((name) => [name, types.get(name), membersOf(types.get(name) ?? '')]),
  );
  for (const [, , values] of documented) expect(values?.length).toBeGreaterThan(0);
});

const everyPage = () =>
  pagesIn(
    createAuth({
      database: 'sqlite::memory:',
      secret: SECRET,
      baseUrl: 'http://localhost:3000',
      email: { send: () => undefined },
      plugins: [...everyPlugin({ sendsEmails: true }), fixedProvider(), pages()],
    }),
  );

test('the navigation has words for every page in it', () => {
  const inNavigation = everyPage().filter((page) => page.inNavigation);
  expect(Object.keys(en.names).sort()).toEqual(inNavigation.map(({ name }) => name).sort());
});

test('docs/pages.md lists the path of every page, and no other', () => {
  const page = readFileSync(`${root}/docs/pages.md`, 'utf8');
  const [, section = ''] = /\n## The pages\n([\s\S]*?)\n## /.exec(page) ?? [];
  const listed = [...section.matchAll(/^\| (`\/[^|]*) \|/gm)].flatMap(([, paths = '']) =>
    paths.split(', ').map((path) => path.replaceAll('`', '')),
  );
  expect(listed.sort()).toEqual(
    everyPage()
      .map(({ path }) => path)
      .sort(),
  );
});

test('docs/pages.md lists every data-part, and no other', () => {
  const files = readdirSync(`${root}/lib/pages`, { recursive: true, encoding: 'utf8' });
  const code = files
    .filter((file) => /\.(ts|js)$/.test(file))
    .map((file) => readFileSync(`${root}/lib/pages/${file}`, 'utf8'));
  const used = code.flatMap((text) => [
    // A part in a template or in a script, such as `button ${isPrimary ? 'primary' : 'secondary'}`.
    ...[...text.matchAll(/data-part="((?:[^"$]|\$\{[^}]*\})*)"/g)].flatMap(([, value = '']) =>
      wordsIn(value),
    ),
    ...[...text.matchAll(/\.dataset\.part = '([^']*)'/g)].flatMap(([, value = '']) => value.split(' ')),
  ]);
  const page = readFileSync(`${root}/docs/pages.md`, 'utf8');
  const [, list = ''] = /has the attribute `data-part`: ([\s\S]*?)\n(?=-|\n)/.exec(page) ?? [];
  const listed = [...list.matchAll(/`([a-z-]+)`/g)].map(([, part]) => part);
  // The kinds of pages, of buttons and of drawings come from variables.
  const kinds = ['account', 'entrance', 'danger', 'secondary', 'link', 'primary', 'icon', 'mark'];
  expect(listed.sort()).toEqual([...new Set([...used, ...kinds])].sort());
});

/** The words of an attribute, including those in an expression. */
function wordsIn(value: string): string[] {
  const plain = value
    .replace(/\$\{[^}]*\}/g, ' ')
    .split(' ')
    .filter(Boolean);
  return [...plain, ...[...value.matchAll(/'([a-z-]+)'/g)].map(([, word = '']) => word)];
}

test('the list of changes has words for every notice, and for no other', () => {
  expect(Object.keys(en.changes).sort()).toEqual([...declaredNotices.names].sort());
});

test('the events of a user have words for every event, and for no other', () => {
  expect(Object.keys(en.user.eventNames).sort()).toEqual([...declaredEvents.names].sort());
});

test('latchkey/pages exports the types of all values', () => {
  const entry = readFileSync(`${root}/lib/pages.ts`, 'utf8');
  expect([...types.values()].filter((type) => !new RegExp(`\\b${type}\\b`).test(entry))).toEqual([]);
});
