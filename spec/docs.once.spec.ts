import { access, readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as providers from '../lib/providers.js';
import { type SpecApp, startApp } from './support/app.js';
import { everyPlugin } from './support/every-plugin.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFile(join(root, path), 'utf8');
const CODE = /^```[\s\S]*?^```/gm;

describe('the tables of the reference', () => {
  let app: SpecApp<ReturnType<typeof everyPlugin>>;
  beforeAll(async () => {
    const provider = { issuer: 'https://login.example.com', clientId: 'id', clientSecret: 'secret' };
    app = (await startApp({
      plugins: [...everyPlugin(), providers.oidc({ id: 'work', ...provider })],
      config: { baseUrl: 'http://localhost:3000', email: { send: () => {} } },
    })) as never;
  });
  afterAll(() => app.stop());

  test('docs/routes.md lists every route and no other', async () => {
    const { paths } = app.auth.openapi();
    const routes = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    );
    expect(routesIn(await read('docs/routes.md')).sort()).toEqual(routes.sort());
  });

  test('docs/forms.md lists every route for forms only', async () => {
    const paths = Object.entries(app.auth.openapi().paths);
    const summaryOf = ({ post }: Record<string, unknown>) => String((post as { summary?: string })?.summary);
    const twins = paths.filter(([, operations]) => summaryOf(operations).endsWith(', by a form'));
    const listed = routesIn(await read('docs/forms.md'));
    expect(listed.sort()).toEqual(twins.map(([path]) => `POST ${path.replace(/\{(\w+)\}/g, ':$1')}`).sort());
  });

  test('the pages of the plugins list routes that exist', async () => {
    const all = routesIn(await read('docs/routes.md'));
    for (const page of await readdir(join(root, 'docs'))) {
      if (!page.endsWith('.md')) continue;
      const unknown = routesIn(await read(`docs/${page}`)).filter((route) => !all.includes(route));
      expect({ page, unknown }).toEqual({ page, unknown: [] });
    }
  });

  test('docs/errors.md lists every code with its status', async () => {
    const problems = await readdir(join(root, 'lib/plugins'), { recursive: true });
    const files = problems
      .filter((path) => path.endsWith('problems.ts'))
      .map((path) => `lib/plugins/${path}`);
    const page = await read('docs/errors.md');
    const missing: string[] = [];
    for (const file of ['lib/errors.ts', ...files]) {
      const declared = [...(await read(file)).matchAll(/^ {2}(\w+): \[\s*(\d{3}),/gm)];
      expect({ file, declared: declared.length > 0 }).toEqual({ file, declared: true });
      for (const [, code, status] of declared) {
        if (!new RegExp(`^\\| ${status} \\|.*\`${code}\``, 'm').test(page)) missing.push(`${status} ${code}`);
      }
    }
    expect(missing).toEqual([]);
  });

  test('docs/events.md lists every event and no other', async () => {
    let events = '';
    try {
      app.auth.on('no such event' as never, () => {});
    } catch (error) {
      events = String((error as Error).message).replace(/^.*one of /s, '');
    }
    const listed = [...(await read('docs/events.md')).matchAll(/^\| (`.*?`) \|/gm)].flatMap(
      ([, names = '']) => names.split(', ').map((name) => name.replaceAll('`', '')),
    );
    expect(listed.sort()).toEqual(events.split(', ').sort());
  });
});

test('docs/oauth.md lists every provider and its options', async () => {
  const page = await read('docs/oauth.md');
  const listed = [...page.matchAll(/^\| `(\w+)\(\)` \|/gm)].map(([, name]) => name);
  expect(listed.sort()).toEqual(Object.keys(providers).sort());

  const folder = 'lib/plugins/oauth/providers';
  for (const file of await readdir(join(root, folder))) {
    const options = [...(await read(`${folder}/${file}`)).matchAll(/@default.*\n(?: +\*\/\n)? +(\w+)\??:/g)];
    const missing = options.map(([, name]) => name).filter((name) => !page.includes(`\`${name}`));
    expect({ file, missing }).toEqual({ file, missing: [] });
  }
});

test.each(['docs/oauth.md', 'docs/security.md'])('%s names the providers without PKCE', async (page) => {
  const folder = 'lib/plugins/oauth/providers';
  const [sentence = ''] = (await read(page)).match(/^Every flow .*?\.|Every sign-in flow .*?\./ms) ?? [];
  for (const file of await readdir(join(root, folder))) {
    if (!/^ +pkce: false/m.test(await read(`${folder}/${file}`))) continue;
    expect(sentence.toLowerCase()).toContain(file.replace('.ts', ''));
  }
});

describe('the pages', () => {
  const pages: string[] = [];
  beforeAll(async () => {
    const all = await readdir(join(root, 'docs'), { recursive: true });
    const docs = all.filter((name) => name.endsWith('.md'));
    pages.push('README.md', 'demo-app/README.md', ...docs.map((name) => `docs/${name}`));
  });

  test('the README has a length that people read', async () => {
    expect((await read('README.md')).split(/\s+/).length).toBeLessThan(1500);
  });

  test('the index of the docs lists every page', async () => {
    const index = await read('docs/README.md');
    const missing = pages
      .filter((page) => /^docs\/(?!README)/.test(page))
      .filter((page) => !index.includes(`](${page.slice('docs/'.length)})`));
    expect(missing).toEqual([]);
  });

  test('no page has two headings with the same name', async () => {
    const twice: string[] = [];
    for (const page of pages) {
      const headings = headingsOf((await read(page)).replace(CODE, ''));
      twice.push(
        ...headings.filter((one, at) => headings.indexOf(one) !== at).map((one) => `${page}#${one}`),
      );
    }
    expect(twice).toEqual([]);
  });

  test('links lead to files and headings that exist', async () => {
    const broken: string[] = [];
    for (const page of pages) {
      const text = (await read(page)).replace(CODE, '');
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const [file = '', heading] = target.split('#');
        const path = file === '' ? page : posix.join(posix.dirname(page), file);
        if (!(await leadsSomewhere(path, heading))) broken.push(`${page}: ${target}`);
      }
    }
    expect(broken).toEqual([]);
  });

  async function leadsSomewhere(path: string, heading?: string): Promise<boolean> {
    if (heading !== undefined) return headingsOf(await read(path)).includes(heading);
    return access(join(root, path)).then(
      () => true,
      () => false,
    );
  }
});

/** The routes in the first column of a table, as `GET /sessions/:id`. */
function routesIn(page: string): string[] {
  return [...page.matchAll(/^\| ((?:GET|POST|PUT|PATCH|DELETE)[A-Z, ]*) `([^`?]+)/gm)].flatMap(
    ([, methods = '', path = '']) => methods.split(', ').map((method) => `${method.trim()} ${path}`),
  );
}

/** The anchors of the headings, as GitHub makes them. */
function headingsOf(page: string): string[] {
  return [...page.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .replace(/\s/g, '-'),
  );
}
