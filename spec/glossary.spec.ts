import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const PAGE = 'contributing/architecture.md';
const KEYWORDS = new Set([
  'if',
  'for',
  'while',
  'return',
  'switch',
  'await',
  'throw',
  'catch',
  'constructor',
]);

/** A word, and the names and files in which it has its one meaning. */
interface Word {
  readonly word: string;
  readonly names: readonly string[];
  readonly places: readonly string[];
}

interface Declared {
  readonly name: string;
  readonly file: string;
}

test('a word of the glossary is in names only where it has its meaning', async () => {
  const words = await readList();
  const declared = await readDeclared();
  expect(words.length).toBeGreaterThan(5);
  expect(declared.length).toBeGreaterThan(3000);
  for (const { word, names, places } of words) {
    const found = declared.filter(({ name }) => contains(name, word));
    const isNamed = ({ name }: Declared) => names.some((one) => plain(name).includes(plain(one)));
    const isPlaced = ({ file }: Declared) => places.some((place) => file.startsWith(place));
    expect({ word, found: found.filter((one) => !isNamed(one) && !isPlaced(one)) }).toEqual({
      word,
      found: [],
    });
    // An entry that allows nothing any more would allow a new meaning.
    const stale = [
      ...names.filter((one) => !found.some(({ name }) => plain(name).includes(plain(one)))),
      ...places.filter((place) => !found.some(({ file }) => file.startsWith(place))),
    ];
    expect({ word, stale }).toEqual({ word, stale: [] });
  }
});

test('the texts that users read have one term for each thing', async () => {
  const texts = await readTexts();
  expect(texts.length).toBeGreaterThan(500);
  const terms = await readGlossary(1);
  expect(terms.length).toBeGreaterThan(3);
  for (const { word, all } of terms) {
    const found = texts.filter((text) => all.some((other) => text.toLowerCase().includes(other)));
    expect({ word, found }).toEqual({ word, found: [] });
  }
});

/** Returns the strings in the words of pages and emails. */
async function readTexts(): Promise<string[]> {
  const texts: string[] = [];
  for (const path of await readdir('lib', { recursive: true })) {
    if (!/^words\/.*\.ts$/.test(path.replaceAll('\\', '/'))) continue;
    const source = await readFile(join('lib', path), 'utf8');
    texts.push(...(source.match(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\\n]|\\.)*`/g) ?? []));
  }
  return texts;
}

async function readList(): Promise<Word[]> {
  return (await readGlossary(0)).map(({ word, all }) => {
    const isPlace = (one: string) => one.includes('/') || one.endsWith('.ts');
    return { word, names: all.filter((one) => !isPlace(one)), places: all.filter(isPlace) };
  });
}

/** Reads one of the lists of the glossary. */
async function readGlossary(which: number): Promise<{ word: string; all: string[] }[]> {
  const page = await readFile(PAGE, 'utf8');
  const [, glossary = ''] = page.split('\n## Glossary\n');
  const [, list = ''] = [...glossary.matchAll(/```text\n(.*?)```/gs)][which] ?? [];
  return list
    .trim()
    .split('\n')
    .map((line) => {
      const [word = '', others = ''] = line.split(/:\s*/);
      return { word, all: others.split(', ').filter(Boolean) };
    });
}

/** The names of everything that files declare outside functions, and of the members of classes and interfaces. */
async function readDeclared(): Promise<Declared[]> {
  const declared: Declared[] = [];
  for (const path of await readdir('lib', { recursive: true })) {
    if (!path.endsWith('.ts') || path.includes('generated')) continue;
    const source = await readFile(join('lib', path), 'utf8');
    for (const [, outer, member] of source.matchAll(
      /^(?:(?:export |declare |abstract |async )*(?:class|interface|type|function|const|let) (\w+)| {2}(?:(?:readonly|private|protected|static|async|get|set|declare|abstract) )*(#?\w+)\??(?:: |\(|<| =|;))/gm,
    )) {
      const name = outer ?? member ?? '';
      if (!KEYWORDS.has(name)) declared.push({ name, file: path.replaceAll('\\', '/') });
    }
  }
  return declared;
}

/** Whether one of the words of a name, such as `emailProof`, is the word, its plural or its participle. */
function contains(name: string, word: string): boolean {
  const parts = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_#]+/);
  return parts.some((one) => [word, `${word}s`, `${word}ed`].includes(one));
}

function plain(name: string): string {
  return name.replace(/[_#]/g, '').toLowerCase();
}
