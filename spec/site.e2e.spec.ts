import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { inBrowser, specBrowser } from './pages/browser/browser.js';
import { attribute, Shown, textOf } from './support/page-browser.js';
import { withoutOuter } from './support/projects.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'site/dist');
const read = (path: string) => readFile(join(root, path), 'utf8');
/** Everything comes from the site itself. */
const POLICY = "default-src 'self' 'unsafe-inline'; img-src 'self' data:";

const files = new Set<string>();
beforeAll(async () => {
  await promisify(execFile)('npm', ['run', 'docs:site'], { cwd: root, env: withoutOuter(), maxBuffer: 1e8 });
  for (const file of await readdir(dist, { recursive: true })) files.add(file);
}, 300_000);

const shown = async (file: string) =>
  new Shown(`/${file}`, 200, {}, await readFile(join(dist, file), 'utf8'));

test('every page of docs is there', async () => {
  const pages = (await readdir(join(root, 'docs'), { recursive: true })).filter((file) =>
    file.endsWith('.md'),
  );
  const expected = pages.map(
    (file) => `docs/${file.replace(/README\.md$/, 'index.md').replace(/\.md$/, '.html')}`,
  );
  expect(expected.filter((file) => !files.has(file))).toEqual([]);
  expect(expected.length).toBeGreaterThan(40);
});

test('the start page has the first example of the README', async () => {
  const [, example] = /^```ts\n([\s\S]*?)\n```$/m.exec(await read('README.md')) ?? [];
  expect((await shown('index.html')).all('pre').map(textOf)).toContain(example);
});

test('llms.txt lists every page', async () => {
  const index = await readFile(join(dist, 'llms.txt'), 'utf8');
  const listed = [...index.matchAll(/^- \[.+?\]\(([^)]+)\)/gm)].map(([, target = '']) => target);
  expect(listed.filter((target) => !files.has(target))).toEqual([]);
  const pages = [...files].filter((file) => /(?<!^index|404)\.html$/.test(file));
  expect(listed.sort()).toEqual(pages.map((file) => file.replace(/\.html$/, '.md')).sort());
  expect(await readFile(join(dist, 'llms-full.txt'), 'utf8')).toContain(await read('docs/guards.md'));
});

test('links between pages lead to pages and headings', async () => {
  const pages = [...files].filter((file) => file.endsWith('.html') && file !== '404.html');
  const anchors = new Map<string, Set<string>>();
  const links: [from: string, to: URL][] = [];
  for (const file of pages) {
    const { elements } = await shown(file);
    anchors.set(file, new Set(elements.map((element) => attribute(element, 'id') ?? '')));
    for (const element of elements) {
      const href = element.tagName === 'a' && attribute(element, 'href');
      if (href) links.push([file, new URL(href, `http://site/${file}`)]);
    }
  }
  const broken = links.filter(([, { host, pathname, hash }]) => {
    if (host !== 'site') return false;
    const found = anchors.get(pathname.slice(1).replace(/(^|\/)$/, '$1index.html'));
    return !found || (hash !== '' && !found.has(decodeURIComponent(hash.slice(1))));
  });
  expect(broken.map(([from, to]) => `${from}: ${to}`)).toEqual([]);
  expect(links.length).toBeGreaterThan(pages.length);
});

inBrowser('in Chromium', () => {
  const browser = specBrowser();
  const app = express();
  app.use(
    express.static(dist, { setHeaders: (res) => void res.setHeader('Content-Security-Policy', POLICY) }),
  );
  const server = app.listen(0, '127.0.0.1');
  afterAll(() => void server.close());

  test('the search finds a page, without requests to other servers', async () => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const page = await browser.open(origin);
    await page.getByRole('button', { name: 'Search' }).first().click();
    await page.locator('#localsearch-input').fill('recovery codes');
    await page.locator('#localsearch-list a[href*="two-factor"]').first().click();
    await page.waitForURL(/\/docs\/two-factor\.html/);
    await page.getByRole('heading', { level: 1 }).waitFor();
  });
});
