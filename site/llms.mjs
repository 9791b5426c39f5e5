// Writes llms.txt and llms-full.txt (https://llmstxt.org), and the Markdown of the pages that they are about.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { description, name, pageOf, placeOf, read, root, sections } from './contents.mjs';

/** @param {string} folder of the site @param {readonly string[]} paths of all pages */
export function writeForModels(folder, paths) {
  const known = sections();
  const listed = new Set(known.flatMap(({ pages }) => pages.map(({ path }) => path)));
  const others = paths.filter((path) => path !== 'site/index.md' && !listed.has(path)).map(pageOf);
  const index = [...known, { title: 'Optional', pages: others }].map(
    ({ title, pages }) => `## ${title}\n\n${pages.map(lineOf).join('\n')}\n`,
  );
  writeFileSync(join(folder, 'llms.txt'), [`# ${name}\n`, `> ${description}\n`, ...index].join('\n'));

  // The reference repeats the TSDoc, which the installed package has.
  const texts = known
    .filter(({ title }) => title !== 'API reference')
    .flatMap(({ pages }) => pages.map(textOf));
  writeFileSync(
    join(folder, 'llms-full.txt'),
    [`# ${name}\n\n> ${description}\n`, ...texts].join('\n---\n\n'),
  );

  for (const { path } of [...known.flatMap(({ pages }) => pages), ...others]) {
    const file = join(folder, placeOf(path));
    mkdirSync(dirname(file), { recursive: true });
    copyFileSync(join(root, path), file);
  }
}

const lineOf = ({ path, title, about }) => `- [${title}](${placeOf(path)})${about ? `: ${about}` : ''}`;
const textOf = ({ path }) => `Source: ${path}\n\n${read(path)}`;
