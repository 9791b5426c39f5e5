// What the site has: its sections, in the order of docs/README.md, and their pages, by their paths in this repository.
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
export const read = (path) => readFileSync(`${root}${path}`, 'utf8');
export const { name, description } = JSON.parse(read('package.json'));

const INDEX = 'docs/README.md';
const REFERENCE = 'site/build/reference';

/** The file of a page on the site. So that relative links hold, pages are in the folders that they have here. */
export function placeOf(path) {
  // The start page of the site is the index of the root.
  if (path === 'README.md') return 'readme.md';
  return path.replace(/^site\/(build\/)?/, '').replace(/README\.md$/, 'index.md');
}

/** @returns the tasks of the index, each with the paths of its pages, which can name a heading */
export const tasks = () => rowsOf(read(INDEX)).filter(isTask);

/** @returns the sections, each with the path, title and description of its pages */
export function sections() {
  const parts = read(INDEX).split(/^## /m).slice(1);
  const described = new Set(rowsOf(read(INDEX)).flatMap((row) => (isTask(row) ? [] : row.paths)));
  const reference = readdirSync(`${root}${REFERENCE}`, { recursive: true })
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .sort();
  return [
    { title: 'Start', pages: [{ ...pageOf('README.md'), title: 'README' }, pageOf(INDEX)] },
    ...parts.map((part) => ({ title: part.slice(0, part.indexOf('\n')), pages: pagesIn(part, described) })),
    { title: 'API reference', pages: reference.map((file) => pageOf(`${REFERENCE}/${file}`)) },
  ];
}

/** The pages that a part of the index describes, and those that only its tasks lead to. */
function pagesIn(part, described) {
  const pages = new Map();
  for (const row of rowsOf(part))
    for (const path of row.paths.map((target) => target.replace(/#.*/, '')))
      if (!(isTask(row) && described.has(path)) && !pages.has(path))
        pages.set(path, { ...pageOf(path), about: row.about });
  return [...pages.values()];
}

/** The rows of tables: `| [page](path) | description |` or `| task | [page](path), [page](path) |`. */
function rowsOf(text) {
  return [...text.matchAll(/^\| (.*) \| (.*) \|$/gm)].flatMap(([, ...cells]) => {
    const links = cells.map((cell) => [...cell.matchAll(/\]\(([^)]+)\)/g)]);
    const at = links.findIndex((found) => found.length > 0);
    if (at < 0) return [];
    return [{ paths: links[at].map(([, path]) => posix.join('docs', path)), about: cells[1 - at], at }];
  });
}

function isTask({ at }) {
  return at === 1;
}

/** A page, described by the first sentence below its title. */
export function pageOf(path) {
  const [, title, rest] = /^# (.+)\n+([\s\S]*)/m.exec(read(path)) ?? [];
  const [paragraph = ''] = /^[a-z`[].*(\n.+)*/i.exec(rest) ?? [];
  const text = paragraph.replace(/\n/g, ' ').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  return {
    path,
    title: title.replaceAll('`', ''),
    about: /^.*?[.:](?= |$)/.exec(text)?.[0].replace(/:$/, '.'),
  };
}
