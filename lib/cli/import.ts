import { createReadStream, existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { ImportProgress, ImportReport, ImportUpdateReport, SkippedRow } from '../moving-in/import.js';
import type { ImportOrganizationRow } from '../moving-in/import-organizations.js';
import type { ImportRow } from '../users/imported.js';
import type { Acting, Call } from './call.js';
import { counted, type Output, Refusal, usageError } from './output.js';
import { pluginOf, requires } from './plugins.js';
import { importFile } from './project.js';

const MAX_SHOWN = 50;

/** Adds `latchkey import`. */
export function addImport(parent: Command, acting: Acting): void {
  parent
    .command('import')
    .description(
      `Import accounts, or organizations, from another system. You can rerun an interrupted import. ${requires('movingIn')}`,
    )
    .argument(
      '<file>',
      'JSON lines or a JSON array of rows, a module whose default export is rows, or - for stdin',
    )
    .option('--dry-run', 'do everything, and roll it back')
    .option('--source <name>', 'the name of the previous system (default: the name of the importer, or rows)')
    .option('--organizations', `the file has organizations with their members. ${requires('organizations')}`)
    .option('--update', 'apply changes in the rows to accounts that were imported earlier')
    .action(acting(importAll));
}

async function importAll(call: Call): Promise<void> {
  const { organizations = false, update = false } = call.options as ImportOptions;
  if (!organizations) return importUsers(call);
  if (update) throw usageError('--update applies to accounts only: leave out --update or --organizations');
  return importOrganizations(call);
}

async function importOrganizations({ auth, out, options, args: [file = ''], signal, fail }: Call) {
  const { dryRun = false, source } = options as ImportOptions;
  const movingIn = pluginOf(auth, 'movingIn');
  pluginOf(auth, 'organizations');
  const rows = await readRows(file);
  const { organizations, skipped } = await movingIn.importOrganizations(
    untilAborted<ImportOrganizationRow>(rows, signal),
    { dryRun, source: source ?? sourceOf(rows), onProgress: showing(out) },
  );
  const lists = { organizations: organizations.map(printable), skipped: skipped.map(printable) };
  const did = dryRun ? 'would be imported' : 'imported';
  const summary = `${counted(organizations.length, 'organization')} ${did}, ${counted(skipped.length, 'row')} skipped.`;
  out.result({ dryRun, ...lists }, [...linesOf(skipped), summary].join('\n'));
  if (skipped.length > 0) fail();
}

async function importUsers({ auth, out, options, args: [file = ''], signal, fail }: Call): Promise<void> {
  const { dryRun = false, update = false, source } = options as ImportOptions;
  const rows = await readRows(file);
  const report = await pluginOf(auth, 'movingIn').importUsers(untilAborted<ImportRow>(rows, signal), {
    dryRun,
    update,
    source: source ?? sourceOf(rows),
    onProgress: showing(out),
  });
  const { users, skipped } = report;
  const lists = { users: users.map(printable), skipped: skipped.map(printable) };
  const lines = linesOf(skipped);
  const parts = skipped.filter(({ part }) => part !== undefined).length;
  const rowsSkipped = counted(skipped.length - parts, 'row');
  const left = parts > 0 ? `${rowsSkipped} and ${counted(parts, 'part')} of rows` : rowsSkipped;
  if (!isUpdate(report)) {
    const summary = `${counted(users.length, 'account')} ${dryRun ? 'would be imported' : 'imported'}, ${left} skipped.`;
    out.result({ dryRun, ...lists }, [...lines, summary].join('\n'));
  } else {
    const { imported, updated, unchanged, conflicts, vanished } = report;
    lines.push(
      ...shown(conflicts.map(({ ref, field, detail }) => `${ref}: conflict: ${field} ${detail}`)),
      ...shown(vanished.map(({ ref, id }) => `${ref}: vanished: the account ${id} no longer has a row`)),
      `${dryRun ? 'This would be done: ' : ''}${counted(imported, 'account')} imported, ${updated} updated, ${unchanged} unchanged, ${counted(conflicts.length, 'conflict')}, ${vanished.length} vanished, ${left} skipped.`,
    );
    const more = { conflicts: conflicts.map(printable), vanished: vanished.map(printable) };
    out.result({ dryRun, ...lists, imported, updated, unchanged, ...more }, lines.join('\n'));
  }
  if (skipped.length > 0 || (isUpdate(report) && report.conflicts.length > 0)) fail();
}

interface ImportOptions {
  readonly organizations?: boolean;
  readonly dryRun?: boolean;
  readonly update?: boolean;
  readonly source?: string;
}

function isUpdate(report: ImportReport): report is ImportUpdateReport {
  return 'conflicts' in report;
}

function showing(out: Output): (progress: ImportProgress) => void {
  return ({ rows, imported, skipped }) =>
    out.progress(`${counted(rows, 'row')}: ${imported} imported, ${skipped} skipped …`);
}

function linesOf(skipped: readonly SkippedRow[]): string[] {
  return shown(skipped.map(({ ref, code, detail }) => `${ref}: ${code}: ${detail}`));
}

function shown(all: readonly string[]): string[] {
  const lines = all.slice(0, MAX_SHOWN).map((line) => `  ${line}`);
  const more = all.length - lines.length;
  return more > 0 ? [...lines, `  … and ${more.toLocaleString('en')} more, which --json lists`] : lines;
}

/** Converts a bigint to a string, because JSON cannot contain large integers. */
function printable<T extends { readonly ref: unknown }>(one: T): T {
  return { ...one, ref: typeof one.ref === 'bigint' ? String(one.ref) : one.ref };
}

/** Stops when the user interrupts the command. Rows that have been read are imported; a rerun imports the others. */
async function* untilAborted<Row>(rows: Rows, signal: AbortSignal): AsyncGenerator<Row> {
  for await (const row of rows) {
    signal.throwIfAborted();
    // The import validates each row.
    yield row as Row;
  }
}

type Rows = AsyncIterable<unknown> | Iterable<unknown>;

/**
 * Reads the rows of an import.
 *
 * @param source a file of JSON lines, or with a JSON array; a module whose default export is rows, or a function that
 *   returns them; or `-` for stdin
 * @throws Refusal that names the invalid line
 */
export async function readRows(source: string): Promise<Rows> {
  if (source === '-') return parse(process.stdin, 'stdin');
  const file = resolve(source);
  if (!existsSync(file)) throw usageError(`there is no file ${file}`);
  return /\.[cm]?[jt]s$/.test(file) ? rowsOf(file) : parse(createReadStream(file), basename(file));
}

/** Returns the name of the system that rows come from, if an importer reads them. */
function sourceOf(rows: Rows): string | undefined {
  const { source } = rows as { readonly source?: unknown };
  return typeof source === 'string' ? source : undefined;
}

async function rowsOf(file: string): Promise<Rows> {
  const exported = await importFile(file);
  const given = unwrapped(exported.default);
  const rows = await (typeof given === 'function' ? given() : given);
  if (typeof rows === 'object' && rows !== null && (Symbol.iterator in rows || Symbol.asyncIterator in rows))
    return rows as Rows;
  throw new Refusal(
    `${basename(file)}: the default export must be the rows, as an array or an async iterable, or a function that returns them`,
  );
}

/** Returns the default export of a CommonJS module that was compiled from an ES module. */
function unwrapped(given: unknown): unknown {
  const { __esModule: isCompiled, default: inner } = (given ?? {}) as {
    __esModule?: boolean;
    default?: unknown;
  };
  return isCompiled ? inner : given;
}

async function* parse(stream: Readable, name: string): AsyncGenerator<unknown> {
  let number = 0;
  let array = '';
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (array || (number === 1 && /^\s*\[/.test(line))) array += `${line}\n`;
    else if (line.trim() !== '') yield parseJson(line, `${name}:${number}`);
  }
  if (array) yield* parseJson(array, name) as readonly unknown[];
}

function parseJson(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Leave out Node's message, because it quotes the text, which contains hashes.
    throw new Refusal(`${where} is not JSON: write one row per line, or one array of rows`);
  }
}
