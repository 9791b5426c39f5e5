import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { parseSync } from '@swc/core';
import { internalsOf } from '../lib/auth.js';
import { altcha } from '../lib/human-check.js';
import { createAuth } from '../lib/index.js';
import { SECRET } from './support/app.js';
import { everyPlugin, PLUGIN_FOLDERS } from './support/every-plugin.js';
import { fixedProvider } from './support/fixed-provider.js';
import { schemas } from './support/schemas.js';

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8');

const files = filesIn('lib');
const arrows = [...files].flatMap(([from, { imports }]) => imports.map((to) => ({ from, to })));

/** The order from contributing/architecture.md: each line may import what is on the lines above it. */
const order = (/```text\n(phrases[\s\S]*?)```/.exec(read('contributing/architecture.md'))?.[1] ?? '')
  .trim()
  .split('\n')
  .map((line) => line.replace(/^→ /, '').split(', '));

/** The one file that says which plugins the commands of the command line call. It imports none of them. */
const OF_COMMANDS = 'cli/plugins.ts';

/** The files that may import what only apps that move need. */
const MOVES = ['moving-in.ts', 'cli/import.ts', 'cli/move.ts', OF_COMMANDS];

const place = (room: string) => order.findIndex((rooms) => rooms.includes(room));

describe('what is looked at here', () => {
  test('are all files, with what they import', () => {
    expect(files.size).toBeGreaterThan(150);
    expect(filesIn('demo-app').size).toBeGreaterThan(10);
    // A file that is connected with no other one would mean that its imports are not seen.
    const connected = new Set(arrows.flatMap(({ from, to }) => [from, to]));
    expect([...files.keys()].filter((path) => !connected.has(path))).toEqual([]);
    expect(arrows.filter(({ to }) => !files.has(to))).toEqual([]);
  });

  test('are all plugins, and all entry points', () => {
    const plugins = new Set([...files.keys()].map(pluginOf).filter((plugin) => plugin !== undefined));
    expect([...plugins].sort()).toEqual([...PLUGIN_FOLDERS].sort());
    const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, unknown> };
    const code = Object.keys(exports).filter((name) => name !== './package.json');
    expect([...files.keys()].filter(isEntry)).toHaveLength(code.length);
  });
});

describe('the import rule', () => {
  test('contributing/architecture.md lists the folder of every file', () => {
    expect([...files.keys()].filter((path) => place(roomOf(path)) < 0)).toEqual([]);
  });

  test('every file imports only from its own folder or from folders above it in the list', () => {
    const wrong = arrows.filter(
      ({ from, to }) => roomOf(from) !== roomOf(to) && place(roomOf(to)) >= place(roomOf(from)),
    );
    expect(wrong).toEqual([]);
  });

  test.each(['lib', 'demo-app'])('there are no circular imports in %s, including type imports', (folder) => {
    expect(cycleIn(filesIn(folder))).toBeNull();
  });

  test('only the public entry points import a plugin, and plugins never import each other', () => {
    const wrong = arrows.filter(
      ({ from, to }) => pluginOf(to) && pluginOf(from) !== pluginOf(to) && !isEntry(from),
    );
    expect(wrong).toEqual([]);
  });

  test('only its entry point and two commands import the code for apps that move, not even its types', () => {
    const wrong = arrows.filter(
      ({ from, to }) => roomOf(to) === 'moving-in' && roomOf(from) !== 'moving-in' && !MOVES.includes(from),
    );
    expect(wrong).toEqual([]);
    // Nor does another entry point lead to that of the code.
    expect(arrows.filter(({ to }) => to === 'moving-in.ts')).toEqual([]);
  });

  test('only the public entry points re-export from other files', () => {
    const barrels = [...files].filter(
      ([path, { source }]) => !isEntry(path) && /^export (type )?[{*][^;]*from /m.test(source),
    );
    expect(barrels.map(([path]) => path)).toEqual([]);
  });
});

describe('what contributing/architecture.md promises', () => {
  const code = (source: string) => source.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
  // The client has the routes of all plugins.
  const ofCore = [...files].filter(
    ([path]) => !pluginOf(path) && !isEntry(path) && path !== OF_COMMANDS && roomOf(path) !== 'client',
  );

  /** The files whose code matches. */
  const matching = (pattern: RegExp) =>
    [...files].filter(([, { source }]) => pattern.test(code(source))).map(([path]) => path);

  // Emailed sign-ins and typed codes have tables of their own, and emailed sign-ins make accounts whose mailbox is proven.
  const EMAILED_SIGN_INS = [
    'verification/email-proofs.ts',
    'verification/typed-codes.ts',
    'plugins/email-sign-in/confirmation.ts',
  ];

  // Wherever the code is: what counts is that one place does it, and that there is one.
  test.each<[what: string, pattern: RegExp, emailedSignIns?: string[]]>([
    ['inserts sessions', /\bnew NewSessions\(/],
    ['begins sessions', /: NewSessions\b/],
    ['verifies emails', /\.update\(\s*(?:\w+,\s*)?{[^}]*\bemailVerifiedAt\b/],
    [
      'takes an answered mail for a proof',
      /\bEmailProof\.answeredMail\b/,
      [...EMAILED_SIGN_INS, 'plugins/organizations/invitations.ts'],
    ],
    ['takes the word of a provider for a proof', /\bEmailProof\.ofProvider\(/],
    ['takes the word of an import for a proof', /\bEmailProof\.imported\(/],
    ['consumes one-time tokens', /\bwaiting\.use\(/],
    ['refuses to remove the last way to sign in', /AuthError\('last_sign_in_method'/],
    // Those of the app's own model.
    ['writes rows by a Sequelize model', /\.(findAll|findOne|findByPk|bulkCreate|upsert|destroy\(\{)/],
  ])('one file %s', (_what, pattern, emailedSignIns = []) => {
    const found = matching(pattern);
    expect(found).toHaveLength(1 + emailedSignIns.length);
    expect(found).toEqual(expect.arrayContaining(emailedSignIns));
  });

  test('session tokens are made where sessions are begun, and where they are renewed', () => {
    expect(matching(/createToken\(SESSION_TOKEN_PREFIX/)).toHaveLength(2);
  });

  test('only the database, the migrations and the Sequelize models load Sequelize', () => {
    const importers = matching(/^import (?!type )[^;]*from 'sequelize';/m);
    expect([...new Set(importers.map(roomOf))].sort()).toEqual(['database', 'migrations', 'tables']);
    expect(importers.filter((path) => roomOf(path) === 'tables')).toHaveLength(1);
  });

  test('nothing but the entry points and one file of the command line names a plugin', () => {
    const names = /\b(oauth|apiKeys|auditLog|credentialPassword)\b|\badmin\(|plugins\/[a-z]/;
    // Pages and the human check know plugins by the paths of their routes alone.
    const withoutPaths = (source: string) =>
      source.replace(/(get|post|delete) \/oauth\/|\/oauth\/\$|'oauth\/token'/g, '');
    expect([...files].filter(([, { source }]) => names.test(code(source))).length).toBeGreaterThan(1);
    expect(ofCore.length).toBeGreaterThan(80);
    expect(
      ofCore.filter(([, { source }]) => names.test(withoutPaths(code(source)))).map(([path]) => path),
    ).toEqual([]);
  });
});

describe('the location of routes', () => {
  const declarations = [...files].flatMap(([file, { source }]) =>
    [...source.matchAll(/method: '(\w+)',\s+path: '([^']+)'/g)].map(([, method, path]) => ({
      file,
      route: `${method} ${path}`,
    })),
  );
  const isRouteFile = (file: string) => /^(plugins\/[^/]+\/routes|routes\/\w+)\.ts$/.test(file);

  test('routes are declared in the routes of their plugin, or of the core', () => {
    expect(declarations.length).toBeGreaterThan(40);
    expect(declarations.filter(({ file }) => !isRouteFile(file))).toEqual([]);
  });

  test('each route is declared once', () => {
    const routes = declarations.map(({ route }) => route);
    expect(routes.filter((route, index) => routes.indexOf(route) !== index)).toEqual([]);
  });

  test('are looked at for every route that there is', () => {
    const auth = createAuth({
      database: 'sqlite:./unused.db',
      secret: SECRET,
      baseUrl: 'http://localhost:3000',
      email: { send: () => undefined },
      humanCheck: altcha(),
      plugins: [...everyPlugin({ sendsEmails: true }), fixedProvider()],
    });
    // A form twin is named in the route that it belongs to.
    const routes = internalsOf(auth)
      .routes()
      .map(({ method, path }) => `${method} ${path}`);
    const sources = [...files].flatMap(([file, { source }]) => (isRouteFile(file) ? source : [])).join();
    expect(routes.filter((route) => !sources.includes(`'${route.split(' ')[1]}'`))).toEqual([]);
    expect(declarations.filter(({ route }) => !routes.includes(route))).toEqual([]);
    // The rest are the twins for forms.
    expect(routes.length - declarations.length).toBeLessThan(20);
  });
});

describe('the public API', () => {
  const exported = [
    ...['index.ts', 'moving-in.ts']
      .map((entry) => files.get(entry)?.source ?? '')
      .join('\n')
      .matchAll(/export (?:type )?{([^}]*)} from '\.\/([^']+)\.js'/g),
  ].flatMap(([, names = '', file]) =>
    names
      .split(',')
      .map((name) => name.trim().replace(/^type /, ''))
      .filter(Boolean)
      .map((name) => ({ name, file: `${file}.ts` })),
  );
  const declarationOf = (name: string, file: string) => {
    const pattern = new RegExp(
      `(\\*/\\n)?export (?:(?:abstract |async )?(?:class|function|interface|type|const)) ${name}\\b`,
    );
    return pattern.exec(files.get(file)?.source ?? '');
  };

  test('every public export has TSDoc', () => {
    expect(exported.length).toBeGreaterThan(20);
    expect(exported.filter(({ name, file }) => !declarationOf(name, file)?.[1])).toEqual([]);
  });

  const options = exported
    .filter(({ name }) => /(Options|Config)$/.test(name))
    // An alias of another type has no options of its own.
    .filter(
      ({ name, file }) => !new RegExp(`^export type ${name} = .*;$`, 'm').test(files.get(file)?.source ?? ''),
    )
    .flatMap(({ name, file }) => {
      const { source = '' } = files.get(file) ?? {};
      const start = declarationOf(name, file)?.index ?? 0;
      const body = source.slice(source.indexOf('{\n', start) + 2, source.indexOf('\n}', start) + 1);
      // A direct member of the interface, with the comment above it.
      return [...body.matchAll(/(\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(
        ([, comment = '', option = '']) => ({ name, file, option, comment }),
      );
    });

  test('every option has a @default', () => {
    expect(options.length).toBeGreaterThan(20);
    const without = options.filter(({ comment }) => !/@default \S/.test(comment));
    expect(without.map(({ name, option }) => `${name}.${option}`)).toEqual([]);
  });

  /** The calls whose options have no schema: their page, and where a row begins that describes them. */
  const calls: Readonly<Record<string, readonly [page: string, row: string]>> = {
    GuardOptions: ['guards', ''],
    OptionalSessionOptions: ['guards', ''],
    GetSessionOptions: ['code', 'auth.getSession('],
    RequireSessionOptions: ['guards', ''],
    RequireAdminOptions: ['guards', ''],
    RequireMemberOptions: ['guards', ''],
    SessionGuardOptions: ['guards', ''],
    RevokeAllOptions: ['code', 'auth.revokeAllSessions('],
    AdminCallOptions: ['code', 'auth.admin.revokeUserSessions('],
    ListUsersOptions: ['code', 'auth.users.list('],
    ListEventsOptions: ['code', 'auth.auditLog.listEvents('],
    ListOutboxOptions: ['code', 'auth.outbox.list('],
    RetryOutboxOptions: ['code', 'auth.outbox.list('],
    SetRolesOptions: ['code', 'auth.roles.set('],
    SuspendOptions: ['code', 'auth.suspension.suspend('],
    ReinstateOptions: ['code', 'auth.suspension.suspend('],
    SetEmailOptions: ['account', 'auth.users.changeEmail('],
    SetUserPasswordOptions: ['account', 'auth.users.setPassword('],
    DeleteUserOptions: ['account', 'auth.users.delete('],
    DisableTwoFactorOptions: ['two-factor', 'auth.twoFactor.disable('],
    RemovePasskeyOptions: ['code', 'auth.passkeys.registrationOptions'],
    TokensOptions: ['code', 'auth.oauth.accounts'],
    UnlinkOptions: ['code', 'auth.oauth.accounts'],
  };

  test('every option of a call is in the row of the call; others are in options-documented.spec.ts', () => {
    const withSchema = new Set(schemas.map((schema) => schema.options));
    // The options of importers and bridges are on the pages of their systems.
    const ofCalls = options.filter(
      ({ name, file }) => !withSchema.has(name) && !file.startsWith('moving-in/systems/'),
    );
    expect([...new Set(ofCalls.map(({ name }) => name))].sort()).toEqual(Object.keys(calls).sort());
    const missing = ofCalls.filter(({ name, option }) => {
      const [page = '', row = ''] = calls[name] ?? [];
      const rows = read(`docs/${page}.md`)
        .split('\n')
        .filter((line) => line.startsWith('| `') && line.includes(row));
      return !rows.some((line) => new RegExp(`\`[^\`]*\\b${option}\\b[^\`]*\``).test(line));
    });
    expect(missing.map(({ name, option }) => `${name}.${option}`)).toEqual([]);
  });
});

/**
 * The folder of a file, or its own name if it is directly in lib/, or `index` for the public entry points.
 */
function roomOf(path: string): string {
  if (isEntry(path)) return 'index';
  return (path.split('/')[0] ?? '').replace(/\.ts$/, '');
}

function pluginOf(path: string): string | undefined {
  return /^plugins\/([^/]+)\//.exec(path)?.[1];
}

/** Whether package.json exports the file. */
function isEntry(path: string): boolean {
  const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, unknown> };
  return JSON.stringify(exports).includes(`"./dist/esm/${path.replace(/\.ts$/, '.js')}"`);
}

interface Node {
  readonly type?: string;
  /** For an import or export declaration. */
  readonly source?: Node;
  /** For `import('…')` as a type. */
  readonly argument?: Node;
  /** For `import('…')` as a call. */
  readonly callee?: Node;
  readonly arguments?: readonly { expression: Node }[];
  readonly value?: unknown;
}

/**
 * Uses the syntax tree, so that comments and strings are not mistaken for imports, and both kinds of
 * `import('…')` count.
 */
function importsOf(path: string, source: string): string[] {
  const found = new Set<string>();
  const note = (literal: Node | null | undefined) => {
    if (typeof literal?.value !== 'string' || !literal.value.startsWith('.')) return;
    found.add(posix.join(posix.dirname(path), literal.value).replace(/\.js$/, '.ts'));
  };
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    const it = node as Node;
    note(it.source);
    if (it.type === 'TsImportType') note(it.argument);
    if (it.callee?.type === 'Import') note(it.arguments?.[0]?.expression);
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(source, { syntax: 'typescript', target: 'es2022' }).body);
  return [...found];
}

/** The TypeScript files below a folder, by their path in it, with those of them that they import, types included. */
function filesIn(folder: string): Map<string, { source: string; imports: string[] }> {
  const paths = readdirSync(fileURLToPath(new URL(`../${folder}`, import.meta.url)), {
    recursive: true,
    encoding: 'utf8',
  });
  return new Map(
    paths
      .map((path) => path.replaceAll('\\', '/'))
      .filter((path) => path.endsWith('.ts'))
      .sort()
      .map((path) => {
        const source = read(`${folder}/${path}`);
        return [path, { source, imports: importsOf(path, source) }] as const;
      }),
  );
}

/** The first import cycle, or null. */
function cycleIn(files: ReadonlyMap<string, { imports: readonly string[] }>): string[] | null {
  const done = new Set<string>();
  const walk = (path: string, above: readonly string[]): string[] | null => {
    if (above.includes(path)) return [...above.slice(above.indexOf(path)), path];
    if (done.has(path)) return null;
    for (const to of files.get(path)?.imports ?? []) {
      const circle = walk(to, [...above, path]);
      if (circle) return circle;
    }
    done.add(path);
    return null;
  };
  for (const path of files.keys()) {
    const circle = walk(path, []);
    if (circle) return circle;
  }
  return null;
}

test('the list of folders names files that exist in their folder', () => {
  const page = read('contributing/architecture.md');
  const [, lib = ''] = /^lib\/\n(.*?)^spec\/ /ms.exec(page) ?? [];
  const folders = [...lib.matchAll(/^ {2}([\w/-]+)\/ +(.*?)(?=^ {2}\S|(?![\s\S]))/gms)];
  const named = folders.flatMap(([, folder = '', text = '']) =>
    [...text.matchAll(/\b[\w/-]+\.ts\b/g)].map(([file]) => `${folder}/${file}`),
  );
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((file) => !files.has(file))).toEqual([]);
});

test('the table of contributions has each of them, and no other', () => {
  const members = (path: string, name: string): string[] => {
    const body = new RegExp(`interface ${name}\\b[\\s\\S]*?{\\n([\\s\\S]*?)\\n}`).exec(read(path))?.[1] ?? '';
    return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[(:]/gm)].map(([, member = '']) => member);
  };
  const contribution = read('lib/core/contribution.ts');
  const named = /interface Contribution\s+extends ([\w\s,]+){/.exec(contribution)?.[1] ?? '';
  const inherited = named.split(',').map((name) => {
    const from = new RegExp(`import type {[^}]*\\b${name.trim()}\\b[^}]*} from '\\.\\./(.*)\\.js'`);
    return [`lib/${from.exec(contribution)?.[1]}.ts`, name.trim()] as const;
  });
  const all = [
    ['lib/plugin.ts', 'PluginSetup'] as const,
    ['lib/core/contribution.ts', 'Contribution'] as const,
    ...inherited,
  ].map(([path, name]) => members(path, name));
  expect(all.filter((those) => those.length === 0)).toEqual([]);
  const page = read('contributing/architecture.md');
  const table = page.slice(
    page.indexOf('| contribution |'),
    page.indexOf('\n\n', page.indexOf('| contribution |')),
  );
  const listed = [...table.matchAll(/^\| (`[^|]*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );
  expect(listed.sort()).toEqual([...new Set(all.flat())].sort());
});
