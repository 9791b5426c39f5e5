import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const root = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = 'spec/learned-from';
const NUMBER = /CVE-\d{4}-\d{4,}|GHSA(?:-[a-z0-9]{4}){3}/g;
const page = await readFile(`${root}docs/learned-from.md`, 'utf8');
const sections = page.split(/^## /m).slice(1);
const files = (await readdir(root + FOLDER)).map((name) => `${FOLDER}/${name}`);

const numbersIn = (text: string): string[] => [...new Set(text.match(NUMBER) ?? [])].sort();
const rowsOf = (section: string) => section.split('\n').filter((line) => line.startsWith('| ['));

/** The numbers in the titles of a file's tests, whether written out or in a table of cases. */
async function tested(file: string): Promise<string[]> {
  const text = await readFile(root + file, 'utf8');
  return numbersIn(text.replace(/^\s*(?:\/\/|\*).*$/gm, ''));
}

describe('docs/learned-from.md', () => {
  test('lists each advisory once', () => {
    const numbers = sections.flatMap((section) => rowsOf(section).flatMap(numbersIn));
    expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([]);
    expect(numbers.length).toBeGreaterThan(40);
  });

  test('has a section for each file of tests, and no other', () => {
    const named = sections.map((section) => /^Tests: \[(\S+)\]\(\.\.\/\1\)/m.exec(section)?.[1]);
    expect(named.sort()).toEqual(files.sort());
  });

  test.each(files)('lists the numbers of %s, and no other', async (file) => {
    const section = sections.find((one) => one.includes(`[${file}]`)) ?? '';
    expect(rowsOf(section).flatMap(numbersIn).sort()).toEqual(await tested(file));
  });

  test('links each number to its public page', () => {
    const wrong = sections.flatMap(rowsOf).flatMap((row) => {
      const links = [...row.matchAll(/\[([^\]]+)\]\(([^)]+)\)/g)].map(([, name = '', url = '']) => ({
        name,
        url,
      }));
      const expected = (name: string) =>
        name.startsWith('CVE')
          ? `https://nvd.nist.gov/vuln/detail/${name}`
          : `https://github.com/advisories/${name}`;
      const isRight = links.length > 0 && links.every(({ name, url }) => url === expected(name));
      return isRight && links.length === numbersIn(row).length ? [] : [row];
    });
    expect(wrong).toEqual([]);
  });
});
