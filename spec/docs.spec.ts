import { access, readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { altcha } from '../lib/human-check.js';
import { AuthError, createAuth } from '../lib/index.js';
import { LOADERS, SHIPPED_LANGUAGES } from '../lib/languages/shipped.js';
import { PREFIXES } from '../lib/locale/languages.js';
import { keysOf } from '../lib/locale/own-words.js';
import { declaredNotices } from '../lib/mail/notice-kinds.js';
import * as providers from '../lib/providers.js';
import { password, SECRET, type SpecApp, startApp } from './support/app.js';
import { everyPlugin } from './support/every-plugin.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFile(join(root, path), 'utf8');

/** The sources of lib, by their paths. */
const sources = new Map<string, string>();
for (const path of await readdir(join(root, 'lib'), { recursive: true }))
  if (path.endsWith('.ts')) sources.set(`lib/${path}`, await read(`lib/${path}`));

/** The file of each provider. */
const providerFiles = new Map(
  Object.keys(providers).map((name) => {
    const declaring = [...sources].filter(([, source]) =>
      new RegExp(`^export (function|const) ${name}\\b`, 'm').test(source),
    );
    expect([name, declaring.length]).toEqual([name, 1]);
    return [name, declaring[0]?.[0] ?? ''];
  }),
);

/** The status of each code of an error, as the sources declare it. */
const statuses = new Map(
  [...sources.values()]
    .filter((source) => /\bdeclareProblems\(\{/.test(source))
    .flatMap((source) => [...source.matchAll(/^ {2}(\w+): \[\s*(\d{3}),/gm)])
    .map(([, code = '', status]) => [code, Number(status)]),
);

const CODE = /^```[\s\S]*?^```/gm;

describe('the tables of the reference', () => {
  let app: SpecApp<ReturnType<typeof everyPlugin>>;
  beforeAll(async () => {
    const provider = { issuer: 'https://login.example.com', clientId: 'id', clientSecret: 'secret' };
    app = (await startApp({
      plugins: [...everyPlugin({ sendsEmails: true }), providers.oidc({ id: 'work', ...provider })],
      config: { baseUrl: 'http://localhost:3000', email: { send: () => {} }, humanCheck: altcha() },
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

  test('docs/routes.md lists the fields of users and of sessions', async () => {
    const auth = createAuth({
      database: 'sqlite::memory:',
      secret: SECRET,
      plugins: [password({ username: true })],
    });
    const { schemas } = auth.openapi().components as { schemas: Record<string, { properties: object }> };
    const page = await read('docs/routes.md');
    for (const name of ['User', 'Session']) {
      const [, fields = ''] = new RegExp(`^- A ${name} is \`\\{ (.*) \\}\``, 'im').exec(page) ?? [];
      expect([name, fields.replaceAll('?', '').split(', ')]).toEqual([
        name,
        Object.keys(schemas[name]?.properties ?? {}),
      ]);
    }
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
    const listing: string[] = [];
    for (const page of await readdir(join(root, 'docs'))) {
      if (!page.endsWith('.md')) continue;
      const routes = routesIn(await read(`docs/${page}`));
      const unknown = routes.filter((route) => !all.includes(route));
      expect({ page, unknown }).toEqual({ page, unknown: [] });
      if (routes.length > 0) listing.push(page);
    }
    expect(listing).toEqual(expect.arrayContaining(['forms.md', 'passkeys.md', 'two-factor.md']));
  });

  test('docs/errors.md lists every code with its status, and no other', async () => {
    const declaring = [...sources.values()].filter((source) => /\bdeclareProblems\(\{/.test(source));
    const declared = declaring.map((source) => [...source.matchAll(/^ {2}(\w+): \[\s*(\d{3}),/gm)]);
    expect(declared.filter((codes) => codes.length === 0)).toEqual([]);
    const rows = [...(await read('docs/errors.md')).matchAll(/^\| (\d{3}) \| ([^|]*) \|/gm)];
    const listed = rows.flatMap(([, status, codes = '']) =>
      [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => `${status} ${code}`),
    );
    expect(listed.sort()).toEqual(
      declared
        .flat()
        .map(([, code, status]) => `${status} ${code}`)
        .sort(),
    );
    // What the sources say is what the code knows when it runs.
    const known = listed.map((line) => `${new AuthError(line.slice(4) as never).status} ${line.slice(4)}`);
    expect(known).toEqual(listed);
  });

  test('a status next to the code of an error is the declared one, on every page and in every comment', async () => {
    const texts = new Map(sources);
    for (const page of await readdir(join(root, 'docs'), { recursive: true }))
      if (page.endsWith('.md')) texts.set(`docs/${page}`, await read(`docs/${page}`));
    const wrong: string[] = [];
    let count = 0;
    for (const [path, text] of texts)
      for (const [given, before, one, other, after] of text.matchAll(
        /\b([45]\d\d) `([a-z_]+)`|`([a-z_]+)` \(([45]\d\d)\b/g,
      )) {
        const status = statuses.get(one ?? other ?? '');
        if (status === undefined) continue;
        count++;
        if (status !== Number(before ?? after)) wrong.push(`${path}: ${given}, but it is ${status}`);
      }
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(100);
  });

  test('docs/notices-reference.md lists every kind of notice and no other', async () => {
    const rows = [
      ...(await read('docs/notices-reference.md')).matchAll(/^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \|/gm),
    ];
    const listed = rows.flatMap(([, kinds = '']) =>
      kinds.split(', ').map((kind) => kind.replaceAll('`', '')),
    );
    expect(listed.sort()).toEqual([...declaredNotices.names].sort());
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

test('docs/logs.md lists every line and no other, with its level', async () => {
  const all = [...sources.values()].join('\n');
  const calls = [...all.matchAll(/\blog\.(debug|info|warn|error)\(\s*(?:'([a-z_]+\.[a-z_]+)')?/g)];
  // A name that is made up while it runs would not be found.
  expect(calls.filter(([, , event]) => event === undefined).map(([call]) => call)).toEqual([]);
  const written = calls.map(([, level, event]) => `${event} ${level}`);
  const sums = [...all.matchAll(/level: '(\w+)', event: '([a-z_.]+)'/g)].map(
    ([, level, name]) => `${name} ${level}`,
  );
  expect(sums).toEqual(['cause.over warn']);
  const rows = [...(await read('docs/logs.md')).matchAll(/^\| `([a-z_]+\.[a-z_]+)` \| (\w+) \|/gm)];
  const listed = rows.map(([, event, level]) => `${event} ${level}`);
  expect(listed.sort()).toEqual([...new Set([...written, ...sums])].sort());
});

test('docs/telemetry.md lists every metric with its type and unit, and every attribute', async () => {
  const source = sources.get('lib/telemetry.ts') ?? '';
  const created = source.matchAll(
    /\.create(\w+)\(\s*'(latchkey\.[a-z_.]+)',\s*\{\s*description: '[^']*',\s*(?:unit: '(.*?)'|\.\.\.seconds)/g,
  );
  const metrics = [...created].map(([, type = '', name, unit = 's']) => {
    const words = type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
    return `${name} ${words} ${unit}`;
  });
  expect(metrics.length).toBe([...source.matchAll(/\.create(Counter|Histogram|\w+Gauge)\(/g)].length);
  const page = await read('docs/telemetry.md');
  const rows = [...page.matchAll(/^\| `(latchkey\.[a-z_.]+)` \| (\w[\w ]*) \| `(.*?)` \|/gm)];
  expect(rows.map(([, ...columns]) => columns.join(' ')).sort()).toEqual(metrics.sort());
  const names = new Set([...source.matchAll(/'((?:latchkey|http)\.[a-z_.]+)'/g)].map(([, name]) => name));
  const listed = [...page.matchAll(/^(?:\| `|- \*\*`)((?:latchkey|http)\.[a-z_.]+)`/gm)].map(
    ([, name]) => name,
  );
  expect(new Set(listed)).toEqual(names);
  // The methods of sign-ins.
  const [, union = ''] = /export type SignInMethod =([^;]*);/.exec(source) ?? [];
  const methods = [...union.matchAll(/'(\w+)'/g)].map(([, method]) => method);
  const [, row = ''] = /^\| `latchkey\.sign_in\.method` \|(.*)$/m.exec(page) ?? [];
  expect(methods.length).toBeGreaterThan(5);
  expect(methods.filter((method) => !row.includes(`\`${method}\``))).toEqual([]);
});

test('docs/languages.md names the languages, and only keys that exist', async () => {
  const page = await read('docs/languages.md');
  const [, row = ''] = /^\| `languages` \|(.*)$/m.exec(page) ?? [];
  expect(SHIPPED_LANGUAGES.filter((tag) => !row.includes(`\`${tag}\``))).toEqual([]);
  const keys = await Promise.all(
    (['pages', 'emails', 'errors'] as const).map(async (part) => [
      ...keysOf(await LOADERS.en[part](), PREFIXES[part]).keys(),
    ]),
  );
  const [, section = ''] = /\n## Use your own words\n(.*?)\n## /s.exec(page) ?? [];
  const dotted = [...section.matchAll(/['`]((?:[a-z-]+\.)+[\w-]+)['`]/g)].map(([, key = '']) => key);
  const named = dotted.filter((key) => !key.startsWith('locale.'));
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((key) => !keys.flat().includes(key))).toEqual([]);
});

test('docs/oauth.md lists every provider, and with docs/oauth-reference.md its options', async () => {
  const page = await read('docs/oauth.md');
  const reference = await read('docs/oauth-reference.md');
  const listed = [...page.matchAll(/^\| `(\w+)\(\)` \|/gm)].map(([, name]) => name);
  expect(listed.sort()).toEqual(Object.keys(providers).sort());

  // The options of providers are declared where the providers are.
  const folders = new Set([...providerFiles.values()].map((file) => posix.dirname(file)));
  const options = [...sources]
    .filter(([file]) => folders.has(posix.dirname(file)))
    .flatMap(([, source]) => [...source.matchAll(/@default.*\n(?: +\*\/\n)? +(\w+)\??:/g)])
    .map(([, name]) => name);
  expect(options).toEqual(expect.arrayContaining(['scopes', 'clientAuth']));
  expect(options.filter((name) => !(page + reference).includes(`\`${name}`))).toEqual([]);
});

test.each(['docs/oauth-reference.md', 'docs/security.md'])(
  '%s names the providers without PKCE',
  async (page) => {
    const [sentence = ''] = (await read(page)).match(/^Every flow .*?\.|Every sign-in flow .*?\./ms) ?? [];
    const without = Object.keys(providers).filter((name) =>
      /^ +pkce: false/m.test(sources.get(providerFiles.get(name) ?? '') ?? ''),
    );
    expect(without).toContain('linkedin');
    expect(without.filter((name) => !sentence.toLowerCase().includes(name))).toEqual([]);
  },
);

describe('the pages', () => {
  const pages: string[] = [];
  beforeAll(async () => {
    pages.push('README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'demo-app/README.md');
    for (const folder of ['docs', 'contributing'])
      for (const name of await readdir(join(root, folder), { recursive: true }))
        if (name.endsWith('.md')) pages.push(`${folder}/${name}`);
  });

  test('the index of the docs leads to a page with code for each task', async () => {
    const [, tasks = ''] = /## I want to…([\s\S]*?)\n## /.exec(await read('docs/README.md')) ?? [];
    const rows = tasks.match(/^\| (?!task|---).+/gm) ?? [];
    expect(rows.length).toBeGreaterThan(20);
    const without: string[] = [];
    for (const row of rows)
      for (const [, page = ''] of row.matchAll(/\]\(([\w-]+\.md)[#)]/g))
        if (!/^```|`npx latchkey /m.test(await read(`docs/${page}`))) without.push(page);
    expect(without).toEqual([]);
  });

  test('the README has a length that people read', async () => {
    expect((await read('README.md')).split(/\s+/).length).toBeLessThan(1500);
  });

  test.each(['docs', 'contributing'])('the index of %s lists every page', async (folder) => {
    const index = await read(`${folder}/README.md`);
    const listed = pages.filter((page) => page.startsWith(`${folder}/`) && page !== `${folder}/README.md`);
    expect(listed.length).toBeGreaterThan(4);
    expect(listed.filter((page) => !index.includes(`](${page.slice(folder.length + 1)})`))).toEqual([]);
  });

  test('pages of the npm package link to each other, and in the repository only to what readers can use', async () => {
    const { files } = JSON.parse(await read('package.json')) as { files: string[] };
    expect(files).toEqual(expect.arrayContaining(['docs/*.md', 'docs/migrating/*.md']));
    const packed = pages.filter((page) => /^(README|SECURITY|docs\/.*)(\.md)$/.test(page));
    const elsewhere: string[] = [];
    for (const page of packed)
      for (const [, target = ''] of (await read(page)).replace(CODE, '').matchAll(/\]\(([^)#\s]+)/g)) {
        const path = posix.join(posix.dirname(page), target);
        if (/^[a-z]+:/.test(target) || [...packed, 'CHANGELOG.md', 'LICENSE'].includes(path)) continue;
        if (!/^(examples|bench|contributing|demo-app|docs\/images)\/|^CONTRIBUTING\.md$/.test(path))
          elsewhere.push(`${page}: ${target}`);
      }
    expect(elsewhere).toEqual([]);
    expect(packed.length).toBeGreaterThan(40);
  });

  test('no page has two headings with the same name', async () => {
    const twice: string[] = [];
    let count = 0;
    for (const page of pages) {
      const headings = headingsOf((await read(page)).replace(CODE, ''));
      count += headings.length;
      twice.push(
        ...headings.filter((one, at) => headings.indexOf(one) !== at).map((one) => `${page}#${one}`),
      );
    }
    expect(twice).toEqual([]);
    expect(count).toBeGreaterThan(pages.length);
  });

  test('links lead to files and headings that exist', async () => {
    const broken: string[] = [];
    let count = 0;
    for (const page of pages) {
      const text = (await read(page)).replace(CODE, '');
      for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        count++;
        const [file = '', heading] = target.split('#');
        const path = file === '' ? page : posix.join(posix.dirname(page), file);
        if (!(await leadsSomewhere(path, heading))) broken.push(`${page}: ${target}`);
      }
    }
    expect(broken).toEqual([]);
    expect(count).toBeGreaterThan(pages.length);
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
