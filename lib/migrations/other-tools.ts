import { posix } from 'node:path';
import type { Dialect } from '../database/connect.js';
import type { TableDeclaration } from '../tables/table.js';
import { journalTable } from './journal.js';

/** latchkey's tables, as other tools see them. */
export interface OwnTables {
  /** Their names, with the prefix. */
  readonly names: readonly string[];
  readonly prefix: string;
  readonly dialect: Dialect;
  /** The schema that contains them, on PostgreSQL. Null on other databases. */
  readonly schema: string | null;
}

/** Returns the tables with these declarations, and the table that records the migrations. */
export function ownTables(declared: readonly TableDeclaration[], where: Omit<OwnTables, 'names'>): OwnTables {
  const names = [...declared.map(({ name }) => name), journalTable.name];
  return { ...where, names: names.map((name) => where.prefix + name) };
}

/** A tool that an app uses for its own tables. */
export interface UsedTool {
  readonly name: string;
  /** Its config, and for Prisma its schema. Empty if only package.json names the tool. */
  readonly files: readonly ToolFile[];
  /** Whether package.json names its commands, but none of its files could be read. */
  readonly isUnseen: boolean;
  /** The database in these files. Null if they do not name one that latchkey supports. */
  readonly dialect: Dialect | null;
}

/** A file of a tool. */
export interface ToolFile {
  /** Its path in the folder. */
  readonly path: string;
  readonly text: string;
}

/** A config that lets a tool drop latchkey's tables. */
export interface Exposure {
  readonly tool: string;
  readonly file: string;
  /** What is wrong, as a sentence without its full stop. */
  readonly problem: string;
  /** The lines to add to the file. */
  readonly lines: readonly string[];
  /** What else to do, in parentheses. Null if there is nothing else. */
  readonly more: string | null;
  /** The file with the lines. Null unless it is certain where they belong. */
  readonly edited: string | null;
}

/**
 * Finds the tools that the app in a folder uses for its own tables. It only reads files of the folder: no code of the
 * app runs. Without a file system, or if a file cannot be read, it finds less.
 *
 * @param folder the working directory, unless it is given
 */
export function findTools(folder = '.'): UsedTool[] {
  const packages = packagesIn(folder);
  const paths = FOLDERS.flatMap((below) => filesIn(folder, below));
  return TOOLS.flatMap(({ name, packages: names, commands = [], files: pattern, database = null }) => {
    const found = paths.filter((path) => pattern.test(path));
    if (found.length === 0 && !names.some((one) => packages.has(one))) return [];
    const texts = found.flatMap((path) => read(folder, path) ?? []);
    // A file that cannot be read might exclude the tables.
    const files =
      texts.length < found.length ? [] : found.map((path, at) => ({ path, text: texts[at] ?? '' }));
    const named = files.map(({ text }) => wordIn(text, database)).find((word) => word !== null);
    const isUnseen = files.length === 0 && commands.some((one) => packages.has(one));
    return [{ name, files, isUnseen, dialect: DIALECTS[named ?? ''] ?? null }];
  });
}

/**
 * Returns the configs that let their tool drop latchkey's tables. Only the text of the configs counts, so an option
 * that a config imports is not seen.
 */
export function exposuresOf(tools: readonly UsedTool[], tables: OwnTables): Exposure[] {
  return tools.flatMap(({ name, files }) => {
    if (files.some(({ text }) => EXCLUDED.test(text))) return [];
    const tool = TOOLS.find((one) => one.name === name);
    const exposed = tool?.exposed?.(files, tables) ?? [];
    return exposed.map(({ file, isMissing = false, lines, more = null, edited = null }) => ({
      tool: name,
      file,
      problem: `${isMissing ? `there is no ${file} that excludes` : `${file} does not exclude`} latchkey's tables, so ${tool?.danger}`,
      lines,
      more,
      edited,
    }));
  });
}

/** Returns what to do about an exposure, on one line. */
export function fixOf({ file, lines, more }: Exposure): string {
  return [`set in ${file}:`, ...lines, ...(more === null ? [] : [more])].join(' ');
}

/** Returns what a tool does whose config could not be found. Null if it leaves the tables alone, or if it was found. */
export function unseenDanger({ name, isUnseen }: UsedTool): string | null {
  const { danger = null } = TOOLS.find((one) => one.name === name) ?? {};
  return isUnseen ? danger : null;
}

/** A comment by which an app says that its config excludes the tables in a way that cannot be read from its text. */
const EXCLUDED = /\blatchkey: excluded\b/;

interface Tool {
  readonly name: string;
  readonly packages: readonly string[];
  /** The packages whose commands change tables. */
  readonly commands?: readonly string[];
  /** The paths of its files. */
  readonly files: RegExp;
  /** Finds the name of the database in a file. */
  readonly database?: RegExp;
  /** What the tool does with tables that it does not know, unless it leaves them alone. */
  readonly danger?: string;
  exposed?(files: readonly ToolFile[], tables: OwnTables): readonly ExposedFile[];
}

interface ExposedFile extends Pick<Exposure, 'file' | 'lines'>, Partial<Pick<Exposure, 'more' | 'edited'>> {
  /** Whether the tool uses no such file yet. */
  readonly isMissing?: boolean;
}

/** Where the tools look for their files. */
const FOLDERS = ['', '.config', 'prisma', 'prisma/schema', 'src'];

/** The databases by their names in configs. Other databases are not listed. */
const DIALECTS: Readonly<Record<string, Dialect>> = {
  postgresql: 'postgres',
  postgres: 'postgres',
  mysql: 'mysql',
  mariadb: 'mysql',
  sqlite: 'sqlite',
  'better-sqlite': 'sqlite',
  libsql: 'sqlite',
  turso: 'sqlite',
};

const DRIZZLE_DATABASE = /\bdialect["']?\s*:\s*["'`]([\w-]+)/;
const PRISMA_DATABASE = /\bdatasource\s+\w+\s*\{[^}]*?\bprovider\s*=\s*"([\w-]+)"/;
const MIKRO_DATABASE = /@mikro-orm\/(postgresql|mysql|mariadb|sqlite|better-sqlite|libsql|mssql|mongodb)\b/;

// Knex and TypeORM change only the tables that the app's migrations and entities name.
const TOOLS: readonly Tool[] = [
  {
    name: 'Drizzle',
    packages: ['drizzle-orm', 'drizzle-kit'],
    commands: ['drizzle-kit'],
    files: /^drizzle(?=[\w.-]*config)[\w.-]*\.([mc]?[jt]s|json)$/,
    database: DRIZZLE_DATABASE,
    danger: 'drizzle-kit push drops them',
    exposed: (files, tables) =>
      files
        .filter(({ text }) => canBeIn(tables, wordIn(text, DRIZZLE_DATABASE)))
        .filter(({ text }) => !isExcludedByDrizzle(codeOf(text), tables))
        .map((file) => {
          const line = drizzleLine(file, tables);
          if (line === null) return { file: file.path, lines: [], more: NO_GLOB };
          return { file: file.path, lines: [line], edited: withDrizzleLine(file, line, tables) };
        }),
  },
  {
    name: 'Prisma',
    packages: ['prisma', '@prisma/client'],
    commands: ['prisma'],
    files: /^(prisma\.config\.[mc]?[jt]s|\.config\/prisma\.[mc]?[jt]s|(prisma\/(schema\/)?)?[^/]+\.prisma)$/,
    database: PRISMA_DATABASE,
    danger: 'prisma db push drops them, and prisma migrate dev asks to reset the database',
    exposed: prismaExposures,
  },
  {
    name: 'MikroORM',
    packages: ['@mikro-orm/core'],
    commands: ['@mikro-orm/cli', '@mikro-orm/migrations'],
    files: /^(src\/)?mikro-orm\.config\.[mc]?[jt]s$/,
    database: MIKRO_DATABASE,
    danger: 'mikro-orm schema:update drops them, and migration:create writes a migration that does',
    exposed: (files, tables) =>
      files
        .filter(({ text }) => canBeIn(tables, wordIn(text, MIKRO_DATABASE)))
        .filter(({ text }) => !isExcludedByMikroOrm(codeOf(text), tables))
        .map(({ path }) => ({ file: path, lines: [mikroOrmLine(tables)] })),
  },
  { name: 'Knex', packages: ['knex'], files: /^knexfile\.[mc]?[jt]s$/ },
  {
    name: 'TypeORM',
    packages: ['typeorm'],
    files: /^(src\/)?(ormconfig\.([mc]?[jt]s|json)|data-source\.[mc]?[jt]s)$/,
  },
];

/** Whether latchkey's tables can be in the database that a config names. */
function canBeIn({ dialect }: OwnTables, database: string | null): boolean {
  return database === null || DIALECTS[database] === dialect;
}

function wordIn(text: string, pattern: RegExp | null): string | null {
  return pattern?.exec(text)?.[1] ?? null;
}

/** Whether the tables are in a schema that the app has made for them. */
function haveOwnSchema({ schema }: OwnTables): boolean {
  return schema !== null && schema !== 'public';
}

function isExcludedByDrizzle(code: string, tables: OwnTables): boolean {
  const schemas = valuesOf(code, 'schemaFilter');
  if (tables.schema !== null && schemas && !passes(tables.schema, schemas)) return true;
  const globs = valuesOf(code, 'tablesFilter') ?? valuesIn(code).filter((value) => value.startsWith('!'));
  return !tables.names.some((name) => passes(name, globs));
}

const NO_GLOB =
  "a tablesFilter that does not match latchkey's tables. Its globs name the tables that it includes, so a glob with ! would include all others: choose a tablePrefix for latchkey that the globs do not match";

/** Returns the line that excludes the tables. Null if no glob can be added. */
function drizzleLine({ path, text }: ToolFile, tables: OwnTables): string | null {
  const own = tables.prefix === '' ? tables.names : [`${tables.prefix}*`];
  const globs = valuesOf(codeOf(text), 'tablesFilter') ?? [];
  const others = globs.filter((glob) => glob.startsWith('!'));
  const including = globs.filter((glob) => !glob.startsWith('!') && glob !== '*');
  const kept = including.filter((glob) => !tables.names.some((name) => matches(name, glob)));
  if (including.length > 0 && kept.length === 0) return null;
  const [key, values] = haveOwnSchema(tables)
    ? ['schemaFilter', ['public']]
    : ['tablesFilter', kept.length > 0 ? kept : [...others, ...own.map((name) => `!${name}`)]];
  return path.endsWith('.json') ? `"${key}": ${JSON.stringify(values)},` : `${key}: [${quoted(values)}],`;
}

const JSON_OBJECT = /^\s*\{/g;
const EXPORTED_OBJECT = /^(export default|module\.exports =) (defineConfig\()?\{/gm;

/** Adds the line at the start of the object that the config exports, if that is certain to exclude the tables. */
function withDrizzleLine({ path, text }: ToolFile, line: string, tables: OwnTables): string | null {
  if (/\b(tables|schema)Filter\b|\.\.\./.test(text)) return null;
  const [found, ...others] = text.matchAll(path.endsWith('.json') ? JSON_OBJECT : EXPORTED_OBJECT);
  if (!found || others.length > 0) return null;
  const at = found.index + found[0].length;
  const [, start = ' '] = /^(\r?\n[ \t]*)\S/.exec(text.slice(at)) ?? [];
  const edited = text.slice(0, at) + start + line + text.slice(at);
  const isValid = !path.endsWith('.json') || isJson(edited);
  return isValid && isExcludedByDrizzle(codeOf(edited), tables) ? edited : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether drizzle-kit looks at a table or schema: a negated glob excludes what it matches, and includes all others. */
function passes(name: string, globs: readonly string[]): boolean {
  const votes = globs.flatMap((glob) => {
    if (glob.startsWith('!')) return [!matches(name, glob.slice(1))];
    return matches(name, glob) ? [true] : [];
  });
  return globs.length === 0 || (votes.length > 0 && votes.every(Boolean));
}

function matches(name: string, glob: string): boolean {
  const pattern = glob
    .replace(/[.+^$()|\\]/g, '\\$&')
    .replace(/\{([^}]*)\}/g, (_all, names: string) => `(${names.replaceAll(',', '|')})`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return isMatch(`^${pattern}$`, '', name);
}

/** Prisma needs its config for this, even if the app only has a schema yet. */
function prismaExposures(files: readonly ToolFile[], tables: OwnTables): readonly ExposedFile[] {
  if (files.length === 0) return [];
  const schema = files.filter(({ path }) => path.endsWith('.prisma')).map(({ text }) => text);
  const config = files.find(({ path }) => !path.endsWith('.prisma'));
  const database = wordIn(schema.join('\n'), PRISMA_DATABASE);
  const isSeen = !haveOwnSchema(tables) || schema.some((text) => text.includes(`"${tables.schema}"`));
  if (!canBeIn(tables, database) || !isSeen) return [];
  const code = codeOf(config?.text ?? '');
  const external = valuesOf(code, 'external') ?? [];
  const names = tables.names.map((name) => (tables.schema === null ? name : `${tables.schema}.${name}`));
  if (/\bexternalTables\s*:\s*true\b/.test(code) && names.every((name) => external.includes(name))) return [];
  return [
    {
      file: config?.path ?? 'prisma.config.ts',
      isMissing: config === undefined,
      lines: [
        'experimental: { externalTables: true },',
        `tables: { external: [${quoted(names)}] },`,
        "migrations: { initShadowDb: readFileSync('prisma/latchkey.sql', 'utf8') },",
      ],
      more: "(import readFileSync from 'node:fs', and write the file with npx latchkey schema --for sql --out prisma/latchkey.sql)",
    },
  ];
}

function isExcludedByMikroOrm(code: string, { names, schema }: OwnTables): boolean {
  if (schema !== null && valuesOf(code, 'ignoreSchema')?.includes(schema)) return true;
  const skipped = valuesOf(code, 'skipTables') ?? [];
  return names.every((name) =>
    [name, `${schema}.${name}`].some((one) =>
      skipped.some((value) => {
        const [, source, flags = ''] = /^\/(.*)\/(\w*)$/.exec(value) ?? [];
        return source === undefined ? value.toLowerCase() === one : isMatch(source, flags, one);
      }),
    ),
  );
}

function mikroOrmLine({ names, prefix }: OwnTables): string {
  const skipped = prefix === '' ? quoted(names) : `/^${prefix}/`;
  return `schemaGenerator: { skipTables: [${skipped}] },`;
}

function quoted(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(', ');
}

function isMatch(source: string, flags: string, name: string): boolean {
  try {
    return new RegExp(source, flags).test(name);
  } catch {
    return false;
  }
}

const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/.source;
const REGEXP = /\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/.source;
const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//.source;
const TOKEN = new RegExp(`${STRING}|${COMMENT}|${REGEXP}`, 'g');
const VALUE = new RegExp(`${STRING}|${REGEXP}`, 'g');

/** Removes comments. */
function codeOf(text: string): string {
  return text.replace(TOKEN, (token) => (/^\/[/*]/.test(token) ? ' ' : token));
}

/** Returns the strings and regular expressions of an option. Null if they are not written where it is set. */
function valuesOf(code: string, option: string): string[] | null {
  const list = `\\[(?:${STRING}|${REGEXP}|[^\\]'"\`/])*\\]`;
  const found = code.matchAll(new RegExp(`\\b${option}["']?\\s*:\\s*(${list}|${STRING})`, 'g'));
  const values = [...found].map(([, value = '']) => valuesIn(value));
  return values.length === 0 ? null : values.flat();
}

/** A part of a template that is only known when the code runs becomes a character that no name contains. */
function valuesIn(code: string): string[] {
  return [...code.matchAll(VALUE)].map(([value]) =>
    value.startsWith('/') ? value : value.slice(1, -1).replace(/\$\{[^}]*\}/g, '\0'),
  );
}

function packagesIn(folder: string): ReadonlySet<string> {
  try {
    const { dependencies, devDependencies } = JSON.parse(read(folder, 'package.json') ?? '{}');
    return new Set(Object.keys({ ...dependencies, ...devDependencies }));
  } catch {
    return new Set();
  }
}

function filesIn(folder: string, below: string): string[] {
  try {
    const names = fileSystem().readdirSync(posix.join(folder, below));
    return names.map((name) => posix.join(below, name));
  } catch {
    return [];
  }
}

function read(folder: string, path: string): string | null {
  try {
    return fileSystem().readFileSync(posix.join(folder, path), 'utf8');
  } catch {
    return null;
  }
}

/** An import would make a bundler for a platform without a file system fail. */
function fileSystem() {
  return process.getBuiltinModule('node:fs');
}
