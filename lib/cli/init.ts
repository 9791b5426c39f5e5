import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { appendFile, chmod, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join, posix, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseEnv, promisify } from 'node:util';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { internalsOf } from '../auth.js';
import { SHIPPED_LANGUAGES } from '../languages/shipped.js';
import {
  type Exposure,
  exposuresOf,
  findTools,
  type OwnTables,
  ownTables,
  type UsedTool,
  unseenDanger,
} from '../migrations/other-tools.js';
import { coreTables } from '../tables/core.js';
import type { Package } from './call.js';
import { asCommonJs, findEntry, isInside, isModule, type PackageJson, readPackageJson } from './modules.js';
import { EXIT, type Output, Refusal } from './output.js';
import { newConfig } from './plugins.js';
import { loadProject } from './project.js';

/** The databases to choose from: the URL in development, and the driver that has to be installed. */
const DATABASES = {
  sqlite: {
    url: 'sqlite:./app.db',
    drivers: process.getBuiltinModule('node:sqlite') ? [] : ['@photostructure/sqlite@1'],
  },
  mysql: { url: 'mysql://root@localhost/app', drivers: ['mysql2@3'] },
  postgres: { url: 'postgres://localhost/app', drivers: ['pg@8'] },
} as const;

type DatabaseName = keyof typeof DATABASES;

const DATABASE_NAMES = Object.keys(DATABASES) as DatabaseName[];

interface InitOptions {
  readonly database?: DatabaseName;
  readonly typescript?: boolean;
  readonly language?: readonly string[];
  readonly force?: boolean;
}

/** Adds `latchkey init`, which does not need a config. */
export function addInit(parent: Command, output: (command: Command) => Output, of: Package): void {
  parent
    .command('init')
    .description('Add latchkey to an empty folder or an Express app: a config, .env, scripts and packages.')
    .addOption(
      new Option('--database <name>', 'the database (default: found in the folder, or sqlite)').choices(
        DATABASE_NAMES,
      ),
    )
    .option(
      '--typescript',
      'write TypeScript (default: if the folder has a tsconfig.json or a TypeScript app)',
    )
    .addOption(
      new Option(
        '--language <tags>',
        'the languages of pages, emails and errors, such as de,en; the first is the default (default: en)',
      ).argParser(readLanguages),
    )
    .option('--force', 'replace an existing config and app')
    .action((options: InitOptions, command: Command) => init(options, output(command), of));
}

/**
 * Reads tags of languages, which can be in one value or in several.
 *
 * @throws InvalidArgumentError if latchkey does not have one of the languages
 */
function readLanguages(value: string, before: readonly string[] = []): readonly string[] {
  const tags = value.split(',').map((tag) => tag.trim());
  const unknown = tags.find((tag) => !(SHIPPED_LANGUAGES as readonly string[]).includes(tag));
  if (unknown !== undefined)
    throw new InvalidArgumentError(
      `latchkey does not have the language '${unknown}'. Choose from ${SHIPPED_LANGUAGES.join(', ')}.`,
    );
  return [...new Set([...before, ...tags])];
}

async function init(options: InitOptions, output: Output, of: Package): Promise<void> {
  const folder = process.cwd();
  const asksNothing = output.isJson || Object.keys(options).length > 0;
  const project = readProject(folder, options);
  const chosen = asksNothing || !isTerminal() ? project : await ask(project);
  const plan = planOf(chosen);

  const differing = [...plan.files].filter(
    ([file, text]) => existsSync(file) && readFileSync(file, 'utf8') !== text,
  );
  if (differing.length > 0 && !options.force) {
    const [verb, them] = differing.length > 1 ? ['exist', 'them'] : ['exists', 'it'];
    const names = differing.map(([file]) => file).join(' and ');
    throw new Refusal(`${names} ${verb}: add --force to replace ${them}`, 'exists', EXIT.usage);
  }

  refuseLinks(folder, ['.gitignore', '.env', 'package.json', ...plan.files.keys(), ...plan.edits.keys()]);
  if (await isTracked('.env'))
    throw new Refusal(
      'git tracks .env, so the secret would be committed: run git rm --cached .env, and commit the removal',
    );

  const written = [
    // Write .gitignore first, because the secret must never be in a commit.
    ...(await addLines('.gitignore', linesToIgnore(chosen))),
    ...(await addLines('.env', variablesToAdd(chosen), 0o600)),
    ...(await writeChanged(new Map([...plan.files, ...plan.edits]))),
    ...(await writePackageJson(chosen.packageJson, plan.scripts)),
  ];
  const packages = missingOf(chosen.packageJson, plan.packages, of);
  const devPackages = missingOf(chosen.packageJson, plan.devPackages, of);
  const manager = packageManagerOf(folder);
  await install(manager, packages, false, output);
  await install(manager, devPackages, true, output);

  const { database, isTypeScript, entry, tools } = chosen;
  const installed = [...packages, ...devPackages];
  const toAdd = await exposuresIn(folder, plan);
  const found = tools.map(({ name, files }) => ({ name, files: files.map(({ path }) => path) }));
  output.result(
    {
      database,
      typescript: isTypeScript,
      languages: plan.languages,
      app: entry ?? plan.app,
      written,
      installed,
      tablePrefix: plan.prefix,
      tools: found,
      toAdd: toAdd?.map(({ edited: _, ...exposure }) => exposure) ?? null,
    },
    [
      `Database: ${database} (--database), language: ${isTypeScript ? 'TypeScript' : 'JavaScript (--typescript)'}.`,
      ...(plan.languages.length > 0
        ? [`Languages of pages, emails and errors: ${plan.languages.join(', ')} (--language).`]
        : []),
      written.length > 0 ? `Wrote ${written.join(', ')}.` : 'Nothing to write: all files exist.',
      ...(installed.length > 0 ? [`Installed ${installed.join(', ')}.`] : []),
      ...aboutTables(plan, chosen, toAdd),
      '',
      entry === null ? nextSteps(plan, chosen) : linesToAdd(entry, plan.config, chosen),
    ].join('\n'),
  );
}

/**
 * Returns the configs of other tools that still let the tool drop latchkey's tables. The tables depend on the plugins,
 * so the config is loaded.
 *
 * @returns null if the config cannot be loaded
 */
async function exposuresIn(folder: string, plan: Plan): Promise<readonly Exposure[] | null> {
  const tools = findTools(folder);
  if (tools.every(({ files }) => files.length === 0)) return [];
  try {
    const { auth } = await loadProject(plan.config, folder);
    const exposures = exposuresOf(tools, internalsOf(auth).ownTables);
    await auth.close();
    return exposures;
  } catch {
    return exposuresOf(tools, plan.tables).length === 0 ? [] : null;
  }
}

function aboutTables(
  { edits, config, prefix }: Plan,
  { variable, tools }: InitProject,
  toAdd: readonly Exposure[] | null,
): string[] {
  const unseen = tools.flatMap((tool) => {
    const danger = unseenDanger(tool);
    return danger === null
      ? []
      : [
          `package.json names ${tool.name}, but no config of it could be read here. If it does not exclude latchkey's tables, ${danger}: run npx latchkey doctor in its folder.`,
        ];
  });
  const done = [
    ...(prefix === '' ? [] : [`The names of latchkey's tables start with ${prefix} (tablePrefix).`]),
    ...[...edits.keys()].map((file) => `${file} now excludes them.`),
    ...(variable === OWN_VARIABLE
      ? [`latchkey cannot use the DATABASE_URL in .env, so its config uses ${OWN_VARIABLE}.`]
      : []),
    ...(tools.length > 0
      ? [`Set ${variable} in .env to the database of ${tools.map(({ name }) => name).join(' and ')}.`]
      : []),
    ...unseen,
  ];
  if (toAdd === null)
    return [
      ...done,
      `Another tool might drop them: run npx latchkey doctor --config ${inScript(config)}, which says what to do.`,
    ];
  const left = toAdd.flatMap(({ tool, problem, file, lines, more }) => [
    '',
    `${tool}: ${problem}. Set this in ${file}:`,
    '',
    ...[...lines, ...(more === null ? [] : [more])].map((line) => `  ${line}`),
  ]);
  return [...done, ...left];
}

/** @throws Refusal if a file is a symbolic link to a missing file, or a link leads out of the folder */
function refuseLinks(folder: string, files: readonly string[]): void {
  for (const file of files) {
    const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
    if (isThere ? existsSync(file) && isInside(folder, file) : isInside(folder, dirname(file))) continue;
    throw new Refusal(
      `${file} is a symbolic link to a missing file or out of this folder: replace it with a file`,
    );
  }
}

/** Whether git has a file in its index. A folder without git has none. */
function isTracked(file: string): Promise<boolean> {
  return promisify(execFile)('git', ['ls-files', '--error-unmatch', file]).then(
    () => true,
    () => false,
  );
}

/** The state of the folder, and the choices that it leaves open. */
interface InitProject {
  readonly name: string;
  readonly packageJson: PackageJson | null;
  /** The file that starts an existing Express app. Null if there is none. */
  readonly entry: string | null;
  readonly isTypeScript: boolean;
  /** Whether the folder decides between TypeScript and JavaScript. */
  readonly hasLanguage: boolean;
  readonly database: DatabaseName;
  /** The languages to write into the config. Undefined if the options name none. */
  readonly languages: readonly string[] | undefined;
  /** The tools that the app uses for its own tables. */
  readonly tools: readonly UsedTool[];
  /** Whether the app might have tables already. */
  readonly isExisting: boolean;
  /** The environment variable with the URL of the database. */
  readonly variable: string;
}

/** The variable that is used if another tool uses DATABASE_URL, with a URL that latchkey does not support. */
const OWN_VARIABLE = 'AUTH_DATABASE_URL';

function readProject(folder: string, { database, typescript, language }: InitOptions): InitProject {
  const packageJson = readPackageJson(folder);
  const entry = versionOf(packageJson, 'express') === undefined ? null : findEntry(folder);
  // The second run of this command must not treat the app that the first run wrote as an existing app.
  const isOurs = entry !== null && readFileSync(entry, 'utf8') === newApp(entry, packageJson);
  const hasLanguage = entry !== null || existsSync('tsconfig.json');
  const drivers = DATABASE_NAMES.filter((name) =>
    DATABASES[name].drivers.some((one) => versionOf(packageJson, nameOf(one)) !== undefined),
  );
  const tools = findTools(folder);
  const { DATABASE_URL: url } = environment();
  const named = tools.find(({ dialect }) => dialect !== null)?.dialect ?? databaseOf(url);
  const [driver = 'sqlite'] = drivers.length === 1 || named === null ? drivers : [named];
  return {
    name: basename(packageJson?.name ?? folder)
      .replace(/[^\w. -]/g, '')
      .slice(0, 64),
    packageJson,
    entry: isOurs ? null : entry,
    isTypeScript: entry === null ? (typescript ?? hasLanguage) : isTyped(entry),
    hasLanguage,
    database: database ?? driver,
    languages: language,
    tools,
    isExisting: !isOurs && (entry !== null || tools.length > 0 || url !== undefined),
    variable: url === undefined || databaseOf(url) !== null ? 'DATABASE_URL' : OWN_VARIABLE,
  };
}

/** The variables in .env. */
function environment(): NodeJS.Dict<string> {
  return existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {};
}

/** Returns the database of a URL that latchkey supports, or null. */
function databaseOf(url = ''): DatabaseName | null {
  const scheme = url.slice(0, url.indexOf(':')).replace('postgresql', 'postgres').replace('mariadb', 'mysql');
  return DATABASE_NAMES.find((name) => name === scheme) ?? null;
}

function isTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Asks for the choices that the folder leaves open. @throws Refusal if it is interrupted */
async function ask(project: InitProject): Promise<InitProject> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const controller = new AbortController();
  terminal.once('close', () => controller.abort());
  const choose = async <Name extends string>(question: string, names: readonly Name[], preset: Name) => {
    for (;;) {
      const shown = names.map((name) => (name === preset ? `[${name}]` : name)).join(', ');
      const answer = (await terminal.question(`${question} (${shown}): `, controller)).trim().toLowerCase();
      const found = answer === '' ? preset : names.find((name) => name === answer);
      if (found) return found;
    }
  };
  try {
    const database = await choose('Database', DATABASE_NAMES, project.database);
    if (project.hasLanguage) return { ...project, database };
    const language = await choose('Language', ['javascript', 'typescript'], 'javascript');
    return { ...project, database, isTypeScript: language === 'typescript' };
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    throw new Refusal('interrupted: nothing was written', 'interrupted', EXIT.interrupted);
  } finally {
    terminal.close();
  }
}

/** The files, scripts and packages to add. */
interface Plan {
  /** The config, and in an empty folder the app, with their content. */
  readonly files: ReadonlyMap<string, string>;
  readonly config: string;
  readonly prefix: string;
  /** The languages. Empty if the config does not name any. */
  readonly languages: readonly string[];
  /** The tables, without those of plugins. */
  readonly tables: OwnTables;
  /** The configs of other tools that exclude the tables from now on, with their content. */
  readonly edits: ReadonlyMap<string, string>;
  /** The new app. */
  readonly app: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly packages: readonly string[];
  readonly devPackages: readonly string[];
}

function planOf(project: InitProject): Plan {
  const { entry, name, database, isTypeScript, packageJson, variable } = project;
  const isNew = entry === null;
  const app = entry ?? (isTypeScript ? 'app.ts' : 'app.js');
  const config = posix.join(posix.dirname(app), `latchkey.config${extname(app)}`);
  const { url, drivers } = DATABASES[database];
  const prefix = prefixFor(config, project);
  const languages = project.languages ?? languagesIn(config);
  const schema = database === 'postgres' ? 'public' : null;
  const tables = ownTables(Object.values(coreTables), { prefix, dialect: database, schema });
  const source = newConfig({ appName: name || 'app', variable, database: url, prefix, languages });
  const files = new Map([[config, inLanguageOf(config, packageJson, source)]]);
  if (isNew) files.set(app, newApp(app, packageJson));
  if (isNew && isTypeScript && !existsSync('tsconfig.json')) files.set('tsconfig.json', NEW_TSCONFIG);
  const start = {
    start: `${isTypeScript ? 'tsx' : 'node'} ${app}`,
    ...(isTypeScript && { typecheck: 'tsc' }),
  };
  const migrate =
    dirname(config) === '.' ? 'latchkey migrate' : `latchkey migrate --config ${inScript(config)}`;
  const packages = ['latchkey', 'express@5', 'sequelize@6', ...drivers];
  return {
    files,
    config,
    prefix,
    languages,
    tables,
    edits: editsOf(project.tools, tables),
    app,
    scripts: { ...(isNew && start), 'auth:migrate': migrate },
    packages: isNew && isTypeScript ? [...packages, 'tsx'] : packages,
    devPackages: isTypeScript ? (isNew ? TYPES : ['tsx']) : [],
  };
}

/** A config that exists keeps its prefix, because its tables have it. */
function prefixFor(config: string, { isExisting }: InitProject): string {
  if (!existsSync(config)) return isExisting ? 'auth_' : '';
  return /\btablePrefix: ["'`]([a-z0-9_]*)["'`]/.exec(readFileSync(config, 'utf8'))?.[1] ?? '';
}

/** Returns the languages that an earlier run of this command has written into the config. */
function languagesIn(config: string): readonly string[] {
  const source = existsSync(config) ? readFileSync(config, 'utf8') : '';
  const [, first, list = ''] =
    /^ {2}locale: \{ default: '([\w-]+)'(?:, languages: \[(.*)\])? \},$/m.exec(source) ?? [];
  const all = [...list.matchAll(/'([\w-]+)'/g)].map(([, tag = '']) => tag);
  return first === undefined || all.length > 0 ? all : [first];
}

/** Without a prefix, the names depend on the plugins, so no config is edited. */
function editsOf(tools: readonly UsedTool[], tables: OwnTables): ReadonlyMap<string, string> {
  if (tables.prefix === '') return new Map();
  return new Map(
    exposuresOf(tools, tables).flatMap(({ file, edited }) =>
      // A link can lead to a config that other projects use too.
      edited === null || lstatSync(file).isSymbolicLink() ? [] : [[file, edited]],
    ),
  );
}

/** Quotes a path with spaces for package.json, in a way that sh and the shell of Windows understand. */
function inScript(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `"${path}"`;
}

const TYPES = ['typescript', '@types/express@5', '@types/node'];

const NEW_TSCONFIG = `{
  "compilerOptions": {
    "target": "es2022",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "skipLibCheck": true,
    "noEmit": true
  }
}
`;

function newApp(file: string, packageJson: PackageJson | null): string {
  const listen = `app.listen(port, () => console.log(\`http://localhost:\${port}\`));`;
  const start = isModuleIn(packageJson, file)
    ? `await auth.migrate();\n${listen}`
    : `auth.migrate().then(() => ${listen.slice(0, -1)});`;
  return inLanguageOf(
    file,
    packageJson,
    `import express from 'express';
import { authRouter, currentUser, requireSession } from 'latchkey';
import { html } from 'latchkey/pages';
import { auth } from './latchkey.config.js';

export const app = express();

app.use(authRouter(auth)); // its routes and pages are below /auth
app.get('/', requireSession(auth), (req, res) => {
  res.send(\`\${html\`<p>Hello \${currentUser(req).email}. <a href="/auth/account">Your account</a></p>\`}\`);
});

const port = process.env.PORT ?? 3000;
${start}
`,
  );
}

function inLanguageOf(file: string, packageJson: PackageJson | null, source: string): string {
  return isTyped(file) || isModuleIn(packageJson, file) ? source : asCommonJs(source);
}

/** Whether a file of the project will be an ES module. It will be one if `init` writes the package.json. */
function isModuleIn(packageJson: PackageJson | null, file: string): boolean {
  return packageJson === null || isModule(resolve(file));
}

function isTyped(file: string): boolean {
  return /\.[mc]?ts$/.test(file);
}

/** Returns the lines that .gitignore lacks. */
function linesToIgnore({ entry, database }: InitProject): string[] {
  const ignored = existsSync('.gitignore') ? readFileSync('.gitignore', 'utf8').split(/\r?\n/) : [];
  const isIgnored = (pattern: RegExp) => {
    const last = ignored.findLast((line) => pattern.test(line.trim()));
    return last !== undefined && !last.startsWith('!');
  };
  return [
    ...(isIgnored(/^!?\/?(\.env|\.env\*|\*\.env)$/) ? [] : ['.env']),
    ...(entry !== null || isIgnored(/^!?\/?node_modules\/?$/) ? [] : ['node_modules/']),
    ...(database !== 'sqlite' || isIgnored(/^!?\/?(app|\*)\.db\*?$/) ? [] : ['app.db*']),
  ];
}

function variablesToAdd({ database, variable }: InitProject): string[] {
  const present = environment();
  const file = database === 'sqlite' ? sqliteFileOf(present.DATABASE_URL) : null;
  const variables = {
    AUTH_SECRET: randomBytes(32).toString('base64url'),
    [variable]: file === null ? DATABASES[database].url : `sqlite:./${file}`,
  };
  return Object.entries(variables).flatMap(([name, value]) => (name in present ? [] : [`${name}=${value}`]));
}

/** Finds the SQLite file of a URL such as `file:./dev.db`. Prisma resolves it from the folder of its schema. */
function sqliteFileOf(url = ''): string | null {
  const [, path] = /^file:([^/?][^?]*)/.exec(url) ?? [];
  if (path === undefined) return null;
  return ['.', 'prisma'].map((folder) => posix.join(folder, path)).find((file) => existsSync(file)) ?? null;
}

/**
 * Adds lines to the end of a file, and sets its mode even if it exists.
 * @returns the file, if there were lines to add
 */
async function addLines(file: string, lines: readonly string[], mode?: number): Promise<string[]> {
  if (lines.length === 0) return [];
  const present = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const separator = present === '' || present.endsWith('\n') ? '' : '\n';
  // Set the mode first, so that no other user of the machine can read the lines in between.
  if (mode !== undefined && existsSync(file)) await chmod(file, mode);
  await appendFile(file, `${separator}${lines.join('\n')}\n`, { mode, flag: existsSync(file) ? 'a' : 'ax' });
  return [file];
}

async function writeChanged(files: ReadonlyMap<string, string>): Promise<string[]> {
  const written: string[] = [];
  for (const [file, text] of files) {
    const isThere = existsSync(file);
    if (isThere && readFileSync(file, 'utf8') === text) continue;
    await writeFile(file, text, { flag: isThere ? 'w' : 'wx' });
    written.push(file);
  }
  return written;
}

/** Adds the missing scripts. Existing scripts do not change. */
async function writePackageJson(
  packageJson: PackageJson | null,
  scripts: Readonly<Record<string, string>>,
): Promise<string[]> {
  const present = packageJson ?? { private: true, type: 'module' };
  const all = { ...scripts, ...packageJson?.scripts };
  if (packageJson && Object.keys(all).length === Object.keys(packageJson.scripts ?? {}).length) return [];
  const source = packageJson ? readFileSync('package.json', 'utf8') : '';
  const [, indent = '  '] = /^\{\r?\n([ \t]+)/.exec(source) ?? [];
  const changed = { ...present, scripts: { ...packageJson?.scripts, ...all } };
  await writeFile('package.json', `${JSON.stringify(changed, null, indent)}\n`, {
    flag: packageJson ? 'w' : 'wx',
  });
  return ['package.json'];
}

function versionOf(packageJson: PackageJson | null, name: string): string | undefined {
  return packageJson?.dependencies?.[name] ?? packageJson?.devDependencies?.[name];
}

/** Returns the name in a specifier such as `express@5`. */
function nameOf(specifier: string): string {
  return specifier.replace(/(?<=.)@.*$/, '');
}

/** Returns the packages that package.json does not name yet. */
function missingOf(packageJson: PackageJson | null, packages: readonly string[], of: Package): string[] {
  return packages
    .filter((one) => versionOf(packageJson, nameOf(one)) === undefined)
    .map((one) => (one === 'latchkey' ? `latchkey@${ownVersion(of)}` : one));
}

/** Returns the version that `npx` runs, which can be a file. It is in the package.json that `npx` writes. */
function ownVersion({ version, folder }: Package): string {
  const above = resolve(folder, '../..');
  const asked = versionOf(readPackageJson(above), 'latchkey');
  if (asked === undefined) return `^${version}`;
  return asked.startsWith('file:') ? `file:${resolve(above, asked.slice('file:'.length))}` : asked;
}

const LOCKFILES = {
  'package-lock.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
} as const;

type PackageManager = (typeof LOCKFILES)[keyof typeof LOCKFILES];

/** Finds the package manager by the lockfile of the folder or a folder above, and otherwise by the environment. */
function packageManagerOf(folder: string): PackageManager {
  const found = Object.entries(LOCKFILES).find(([file]) => existsSync(join(folder, file)));
  if (found) return found[1];
  const above = dirname(folder);
  if (above !== folder && !existsSync(join(folder, '.git'))) return packageManagerOf(above);
  const [caller] = process.env.npm_config_user_agent?.split('/') ?? [];
  return Object.values(LOCKFILES).find((name) => name === caller) ?? 'npm';
}

/** @throws Refusal if the package manager fails */
async function install(
  manager: PackageManager,
  packages: readonly string[],
  isForDevelopment: boolean,
  output: Output,
): Promise<void> {
  if (packages.length === 0) return;
  const isNpm = manager === 'npm';
  const flag = isNpm || manager === 'pnpm' ? '--save-dev' : '--dev';
  // By default, pnpm 11 and later fail if a package has a build script. The drivers and bcrypt have binaries.
  const unbuilt = manager === 'pnpm' ? ['--config.strict-dep-builds=false'] : [];
  const args = [isNpm ? 'install' : 'add', ...unbuilt, ...(isForDevelopment ? [flag] : []), ...packages];
  output.note(`${manager} ${args.join(' ')} …`);
  // The output of the package manager is not the result. On Windows, package managers are scripts of the shell.
  const stdio = ['ignore', process.stderr, process.stderr] as const;
  const shell = process.platform === 'win32';
  const child = spawn(manager, shell ? args.map((one) => `"${one}"`) : args, { stdio: [...stdio], shell });
  const [code] = await once(child, 'exit').catch((error: Error) => [error.message]);
  if (code !== 0)
    throw new Refusal(
      `${manager} failed (${code}). All files are written. To install the packages, run ${manager} ${args.join(' ')}`,
      'install_failed',
    );
}

function nextSteps({ scripts }: Plan, { packageJson, database, variable }: InitProject): string {
  const { start = scripts.start } = packageJson?.scripts ?? {};
  const first = database === 'sqlite' ? '' : `Create the database, and set ${variable} in .env. Then start`;
  return `${first || 'Start'} the app, and open http://localhost:3000. It prints its emails.

  ${start === scripts.start ? 'npm start' : `npx ${scripts.start}`}`;
}

/**
 * Returns the lines for an existing app. `init` does not add them, because only the app's author knows where they
 * belong.
 */
function linesToAdd(
  entry: string,
  config: string,
  { packageJson, isTypeScript, variable }: InitProject,
): string {
  const isEsm = isModuleIn(packageJson, entry);
  const from = `./${basename(config)
    .replace(/\.ts$/, isEsm ? '.js' : '')
    .replace(/\.([mc])ts$/, '.$1js')}`;
  const imports = `import { authRouter, requireSession } from 'latchkey';\nimport { auth } from '${from}';`;
  const lines = `${isTypeScript || isEsm ? imports : asCommonJs(imports)}

// After express(), and before your own routes. Its routes and pages are below /auth, or below httpBasePath in the config:
app.use(authRouter(auth));

// In front of each route that requires a session:
app.get('/account', requireSession(auth), (req, res) => { … });`;
  return `Add these lines to ${entry}. Set ${variable} in .env, and BASE_URL if PORT does not tell where the app is.

${lines.replace(/^(?=.)/gm, '  ')}

Create the tables, and start the app. It prints its emails.

  npm run auth:migrate`;
}
