import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = 'spec/learned-from';
const NUMBER = /CVE-\d{4}-\d{4,}|GHSA(?:-[a-z0-9]{4}){3}|AA\d{2}-\d{3}[A-Z]|\b[\w-]+\/[\w-]+#\d+/g;
/** The public page of a number. */
const PAGES: readonly (readonly [RegExp, (name: string) => string])[] = [
  [/^CVE/, (name) => `https://nvd.nist.gov/vuln/detail/${name}`],
  [/^GHSA/, (name) => `https://github.com/advisories/${name}`],
  [/^AA/, (name) => `https://www.cisa.gov/news-events/cybersecurity-advisories/${name.toLowerCase()}`],
  [/#/, (name) => `https://github.com/${name.replace('#', '/issues/')}`],
];
const page = await readFile(`${root}contributing/learned-from.md`, 'utf8');
const sections = page.split(/^## /m).slice(1);
const files = (await readdir(root + FOLDER)).map((name) => `${FOLDER}/${name}`);

const numbersIn = (text: string): string[] => [...new Set(text.match(NUMBER) ?? [])].sort();
/** The tests of features that prove the rule of a row, as contributing/asvs.md names them. */
const testsNamedIn = (row: string) =>
  [...row.matchAll(/\[([\w/.-]+)\]\(\.\.\/(spec\/[\w/.-]+)\) “(.*?)”/g)].map(
    ([, name = '', path = '', title = '']) => ({ name, path, title }),
  );
const rowsOf = (section: string) => section.split('\n').filter((line) => line.startsWith('| ['));

/** The numbers in the titles of a file's tests, whether written out or in a table of cases. */
async function tested(file: string): Promise<string[]> {
  const text = await readFile(root + file, 'utf8');
  return numbersIn(text.replace(/^\s*(?:\/\/|\*).*$/gm, ''));
}

describe('contributing/learned-from.md', () => {
  test('lists each advisory once', () => {
    const numbers = sections.flatMap((section) => rowsOf(section).flatMap(numbersIn));
    expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([]);
    expect(numbers.length).toBeGreaterThan(40);
  });

  test('has a section for each file of tests, and no other', () => {
    const named = sections.map((section) => /^Tests: \[(\S+)\]\(\.\.\/\1\)/m.exec(section)?.[1]);
    expect(named.sort()).toEqual(files.sort());
  });

  test.each(files)('lists the numbers of %s, and no other without a test elsewhere', async (file) => {
    const section = sections.find((one) => one.includes(`[${file}]`)) ?? '';
    const numbers = await tested(file);
    expect(rowsOf(section).flatMap(numbersIn)).toEqual(expect.arrayContaining(numbers));
    const others = rowsOf(section).filter((row) =>
      numbersIn(row).some((number) => !numbers.includes(number)),
    );
    expect(others.filter((row) => testsNamedIn(row).length === 0)).toEqual([]);
  });

  test('names tests that exist, in files beside those of its sections', async () => {
    const named = sections.flatMap(rowsOf).flatMap(testsNamedIn);
    expect(named.length).toBeGreaterThan(20);
    const wrong: string[] = [];
    for (const { name, path, title } of named) {
      if (path.split('.')[0] !== `spec/${name}` || path.startsWith(FOLDER))
        wrong.push(`${name} leads to ${path}`);
      const text = await readFile(root + path, 'utf8').catch(() => '');
      if (!text.includes(title)) wrong.push(`${path} has no “${title}”`);
    }
    expect(wrong).toEqual([]);
  });

  test('links each number to its public page', () => {
    const wrong = sections.flatMap(rowsOf).flatMap((row) => {
      const links = [...row.matchAll(/\[([^\]]+)\]\((?!\.\.\/spec\/)([^)]+)\)/g)].map(
        ([, name = '', url = '']) => ({
          name,
          url,
        }),
      );
      const expected = (name: string) => PAGES.find(([start]) => start.test(name))?.[1](name);
      const isRight = links.length > 0 && links.every(({ name, url }) => url === expected(name));
      return isRight && links.length === numbersIn(row).length ? [] : [row];
    });
    expect(wrong).toEqual([]);
  });
});
