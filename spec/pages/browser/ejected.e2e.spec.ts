import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PAGE_NAMES } from '../../../lib/pages/options.js';
import type { Html, PageName, RenderedPage } from '../../../lib/pages.js';
import { keepProcess } from '../../support/cli.js';
import { ONE_CHECKER } from '../../support/compiler.js';
import { Projects } from '../../support/projects.js';
import { inBrowser, specBrowser } from './browser.js';
import { type OwnApp, startOwnApp } from './own-app.js';
import {
  visitAccount,
  visitAdministration,
  visitEmails,
  visitEntrance,
  visitOrganizations,
  visitSecurity,
} from './states.js';

type Renderer = (page: RenderedPage) => Html;

const PEERS = ['express@5', '@types/express@5', 'sequelize@6', 'typescript@7'];
const TSCONFIG = {
  compilerOptions: { module: 'nodenext', skipLibCheck: true, noEmit: true, types: [] },
  include: ['pages'],
};
const STRICTEST = [
  ...[
    'strict',
    'exactOptionalPropertyTypes',
    'noUncheckedIndexedAccess',
    'noUnusedLocals',
    'noUnusedParameters',
  ],
  ...['noPropertyAccessFromIndexSignature', 'noImplicitReturns', 'noFallthroughCasesInSwitch'],
  ...['noImplicitOverride', 'verbatimModuleSyntax', 'isolatedModules', 'erasableSyntaxOnly'],
].flatMap((name) => [`--${name}`, 'true']);

inBrowser('latchkey pages eject', () => {
  const browser = specBrowser();
  let projects: Projects;
  let latchkey: ReturnType<typeof keepProcess>;
  let app: OwnApp;
  const renderers = new Map<string, Renderer>();
  const seen = new Set<PageName>();
  const differing: string[] = [];

  beforeAll(async () => {
    projects = await Projects.create();
    await projects.link('.', ...PEERS);
    const program = join(projects.folder, 'node_modules/latchkey/dist/esm/cli.js');
    latchkey = keepProcess(program, projects.folder);
    await projects.write('.', {
      'package.json': '{ "private": true, "type": "module" }',
      'tsconfig.json': JSON.stringify(TSCONFIG),
    });
    for (const name of PAGE_NAMES) {
      const file = fileOf(name);
      for (const out of [[], ['--out', `js/${file}.js`], ['--out', `js/${file}.cjs`]])
        expect(await eject(name, ...out)).toMatchObject({ code: 0, stderr: '' });
      renderers.set(name, await load(`js/${file}.js`));
    }
    const render = (page: RenderedPage) => {
      seen.add(page.name);
      const main = renderers.get(page.name)?.(page);
      if (String(main) !== String(page.main)) differing.push(`${page.name}: ${main}`);
      return main && page.document(main);
    };
    app = await startOwnApp({ pages: { render }, hasOrganizations: true });
  }, 600_000);
  afterAll(async () => {
    await app?.stop();
    await latchkey?.end();
    await projects?.remove();
  });

  const eject = (...args: string[]) => latchkey.call(['pages', 'eject', ...args]);
  const load = async (file: string): Promise<Renderer> =>
    Object.values(await import(pathToFileURL(join(projects.folder, file)).href))[0] as Renderer;

  test.each([
    ['the strictest options', ['--target', 'es2022', ...STRICTEST]],
    ['an old target', ['--target', 'es2018', '--strict', 'true']],
    ['no strictness', ['--target', 'es2022', '--strict', 'false']],
  ])('writes each page in TypeScript, which compiles with %s', async (_name, options) => {
    await projects.tool(join(projects.folder, 'node_modules/typescript/bin/tsc'), [
      '-p',
      '.',
      ...ONE_CHECKER,
      ...options,
    ]);
  });

  test('writes each page as a CommonJS module that exports the same function', async () => {
    const script = `for (const file of ${JSON.stringify(PAGE_NAMES.map(fileOf))})
      console.log(Object.keys(require('./js/' + file + '.cjs')).join());`;
    await projects.write('.', { 'all.cjs': script });
    const names = (await projects.node('.', 'all.cjs')).split('\n');
    expect(names).toEqual(PAGE_NAMES.map((name) => camelCase(name)));
  });

  test.each([
    visitEntrance,
    visitEmails,
    visitAccount,
    visitSecurity,
    visitAdministration,
    visitOrganizations,
  ])('writes pages that render as latchkey does: %p', async (visit) => {
    await visit(app, browser, async () => undefined);
    expect(differing).toEqual([]);
  });

  test('every page was seen', async () => {
    await (await browser.open(app.url('/auth/sign-in/passkey'))).close();
    expect([...seen].sort()).toEqual([...PAGE_NAMES].sort());
  });

  test('keeps a file that exists, and names the pages', async () => {
    const before = await readFile(join(projects.folder, 'pages/sign-in.ts'), 'utf8');
    await projects.write('.', { 'pages/sign-in.ts': 'mine' });
    expect(await eject('sign-in')).toMatchObject({
      code: 2,
      stderr: 'latchkey: pages/sign-in.ts exists: add --force to replace it\n',
    });
    await expect(readFile(join(projects.folder, 'pages/sign-in.ts'), 'utf8')).resolves.toBe('mine');
    const { stdout } = await eject('sign-in', '--force', '--json');
    expect(JSON.parse(stdout)).toEqual({
      page: 'sign-in',
      file: join(projects.folder, 'pages/sign-in.ts'),
      function: 'signIn',
    });
    await expect(readFile(join(projects.folder, 'pages/sign-in.ts'), 'utf8')).resolves.toBe(before);
    expect((await eject('sign-in', '--force')).stdout).toContain(
      "import { signIn } from './pages/sign-in.js';",
    );
    expect(await eject('login')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^latchkey: there is no page login: the pages are sign-in, /),
    });
    for (const out of ['sign-in.jsx', 'sign-in.d.ts'])
      expect(await eject('sign-in', '--out', out)).toMatchObject({
        code: 2,
        stderr: `latchkey: --out: ${out} must be a .ts or .js file, such as sign-in.ts\n`,
      });
  });

  test('writes through no link, and says why a file cannot be written', async () => {
    const at = (name: string) => join(projects.folder, name);
    await symlink(at('elsewhere.js'), at('link.js'));
    await mkdir(at('folder.js'));
    await projects.write('broken', { 'package.json': '{' });
    for (const [out, message] of [
      ['link.js', 'link.js exists: add --force to replace it'],
      ['folder.js', 'folder.js exists: add --force to replace it'],
      ['package.json/page.js', '--out: package.json/page.js cannot be written: '],
      ['broken/page.js', 'broken/package.json cannot be read: '],
    ] as const)
      expect(await eject('sign-in', '--out', out)).toMatchObject({
        stderr: expect.stringMatching(new RegExp(`^latchkey: ${message}.*\n$`)),
      });
    expect(await eject('sign-in', '--out', 'folder.js', '--force')).toMatchObject({
      stderr: expect.stringMatching(/^latchkey: --out: folder.js cannot be written: EISDIR/),
    });
    await expect(readFile(at('elsewhere.js'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

function fileOf(name: string): string {
  return name.replaceAll('/', '-');
}

function camelCase(name: string): string {
  return name.replace(/[/-](\w)/g, (_all, letter: string) => letter.toUpperCase());
}
