import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { loadApp } from './express/load.js';
import { type Probe, probe } from './express/probe.js';
import { type FoundRoute, hasParameter, routesOf } from './express/walk.js';
import { findEntry } from './modules.js';
import { counted, type Output, usageError } from './output.js';

interface RoutesOptions {
  readonly guards?: string;
  readonly list: string;
  readonly check?: boolean;
  readonly write?: boolean;
  readonly probe?: boolean;
  readonly tenant?: string;
}

/**
 * Adds `latchkey routes`, which does not need a config.
 *
 * @param fail sets the exit code to 1
 */
export function addRoutes(parent: Command, output: (command: Command) => Output, fail: () => void): void {
  parent
    .command('routes')
    .description('List the routes of an Express app, and the guards of each route. The app does not listen.')
    .argument(
      '[app]',
      'the module that exports the app as app, or that starts it (default: from package.json)',
    )
    .option('--guards <names>', "the names of the app's own guard functions, separated by commas")
    .option(
      '--tenant <names>',
      'the parameters of paths that name an organization, separated by commas. Routes with such a parameter that no requireMember guards are listed as unscoped',
    )
    .option(
      '--check',
      'exit with code 1 if a route is not in the reviewed list or, with --tenant, is unscoped',
    )
    .option('--write', 'write all routes to the reviewed list')
    .option('--list <file>', 'the file with the reviewed list', 'latchkey.routes.txt')
    .option(
      '--probe',
      'request each route without a session. Handlers behind guards, and the last handler of other routes, do not run. All other code runs: use a test database',
    )
    .action((app: string | undefined, options: RoutesOptions, command: Command) =>
      listRoutes(app, options, output(command), fail),
    );
}

async function listRoutes(
  given: string | undefined,
  { guards = '', list, check, write, probe: isProbing, tenant }: RoutesOptions,
  output: Output,
  fail: () => void,
): Promise<void> {
  if (check && write) throw usageError('--check and --write are mutually exclusive');
  if (check && !existsSync(list))
    throw usageError(`there is no ${list}: review the routes, then add --write`);
  const names = namesIn(guards);
  const tenants = tenantsIn(tenant);
  if (names.includes('authenticate'))
    throw usageError(
      '--guards cannot name authenticate, because passport.session() has the same name and admits every request: wrap passport.authenticate(…) in a function with its own name',
    );
  const { routes, probes } = await withOutputOnStderr(async () => {
    const loaded = await loadApp(fileOf(given));
    const routes = routesOf(loaded, names);
    return { routes, probes: isProbing ? await probe(loaded, routes) : new Map<FoundRoute, Probe>() };
  });
  checkTenants(tenants, routes);
  const lines = routes.map(lineOf).sort(byPath);
  const listed = existsSync(list) ? readReviewed(list, lines) : [];
  if (write) await writeFile(list, `${withReasons(lines, listed).join('\n')}\n`);
  const reviewed = check ? listed.map(({ line }) => line) : lines;
  const [added, removed] = [without(lines, reviewed), without(reviewed, lines)];
  const open = routes.filter((route) => route.access === 'guarded' && probes.get(route)?.isReached);
  const unscoped = unscopedIn(routes, tenants);
  const accepted = listed.flatMap(({ line, reason }) => (reason === null ? [] : [line]));
  const unaccepted = check ? without([...unscoped.keys()].map(lineOf).sort(byPath), accepted) : [];
  if (added.length > 0 || open.length > 0 || unaccepted.length > 0) fail();

  const text = routes.map(
    (route) => `${lineOf(route)}${unscopedInWords(unscoped.get(route))}${probeInWords(probes.get(route))}`,
  );
  output.result(
    {
      routes: routes.map((route) => {
        const { app: _, behind: __, address: ___, tenants: ____, hasReason: _____, ...shown } = route;
        return {
          ...shown,
          ...(tenants.length > 0 && { unscoped: unscoped.get(route) ?? [] }),
          ...(isProbing && { probe: probes.get(route) ?? null }),
        };
      }),
      ...(check && { added, removed, ...(tenants.length > 0 && { unscoped: unaccepted }) }),
    },
    [
      ...(check ? inWords(added, removed, list) : [...text, '', summaryOf(routes)]),
      ...(unaccepted.length > 0 ? [unacceptedInWords(unaccepted, list)] : []),
      ...(write ? [`Wrote ${list}: review it, and commit it.`] : []),
      ...open.map((route) => `Reached without a session although it is guarded: ${lineOf(route)}`),
    ].join('\n'),
  );
}

function namesIn(given: string): string[] {
  return given
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
}

/** @throws UsageError if a name cannot be the name of a parameter */
function tenantsIn(given: string | undefined): readonly string[] {
  const names = namesIn(given ?? '');
  const other = names.find((name) => !/^\w+$/.test(name));
  if (other !== undefined || (given !== undefined && names.length === 0))
    throw usageError('--tenant must be the names of parameters, such as organization for /:organization');
  return names;
}

/** @throws UsageError if no route has the parameter, because a typing error would hide the unscoped routes */
function checkTenants(tenants: readonly string[], routes: readonly FoundRoute[]): void {
  const other = tenants.find((name) => !routes.some(({ path }) => hasParameter(path, name)));
  if (other !== undefined)
    throw usageError(`no route has the parameter :${other} in its path: correct --tenant`);
}

/** Returns the routes that no guard of a parameter in their path is in front of, with these parameters. */
export function unscopedIn(
  routes: readonly FoundRoute[],
  tenants: readonly string[],
): ReadonlyMap<FoundRoute, readonly string[]> {
  return new Map(
    routes.flatMap((route): [FoundRoute, readonly string[]][] => {
      if (route.access === 'latchkey' || route.hasReason) return [];
      const names = tenants.filter((name) => hasParameter(route.path, name) && !route.tenants.includes(name));
      return names.length > 0 ? [[route, names]] : [];
    }),
  );
}

/** What separates a line of the reviewed list from a reason. */
const REASON = ' # ';

/** A line of the reviewed list. */
interface Reviewed {
  readonly line: string;
  /** Why the route can be unscoped. */
  readonly reason: string | null;
}

function readReviewed(list: string, lines: readonly string[]): readonly Reviewed[] {
  const all = readFileSync(list, 'utf8').split(/\r?\n/).filter(Boolean);
  return all.map((whole) => {
    const known = lines.find((line) => whole === line || whole.startsWith(line + REASON));
    // A route that the app no longer has, or a path with the separator.
    const end = known?.length ?? whole.lastIndexOf(REASON);
    const line = end < 0 ? whole : whole.slice(0, end);
    return { line, reason: whole.slice(line.length + REASON.length).trim() || null };
  });
}

/** Adds the reasons of the reviewed list to the lines that it had before. */
function withReasons(lines: readonly string[], listed: readonly Reviewed[]): readonly string[] {
  const rest = listed.filter(({ reason }) => reason !== null);
  return lines.map((line) => {
    const index = rest.findIndex((one) => one.line === line);
    const [found] = index < 0 ? [] : rest.splice(index, 1);
    return found ? `${line}${REASON}${found.reason}` : line;
  });
}

/** @throws UsageError if there is no such file */
function fileOf(given: string | undefined): string {
  const file = given ?? findEntry(process.cwd());
  if (file === null) throw usageError('there is no app in this folder: pass its module, such as src/app.js');
  if (!existsSync(file)) throw usageError(`there is no file ${relative(process.cwd(), resolve(file))}`);
  return resolve(file);
}

/** Runs the code of an app, whose output is not the result of the command. */
async function withOutputOnStderr<Result>(work: () => Promise<Result>): Promise<Result> {
  const { write } = process.stdout;
  process.stdout.write = process.stderr.write.bind(process.stderr);
  try {
    return await work();
  } finally {
    process.stdout.write = write;
  }
}

/** A route as a line of the reviewed list. A reason can have line breaks. */
export function lineOf({ method, path, name, access, by }: FoundRoute): string {
  const details = {
    guarded: ` by ${by.join(', ')}`,
    public: `: ${by.join(', ')}`,
    latchkey: '',
    unknown: '',
  };
  const line = `${method} ${path}${name === null ? '' : ` (${name})`} ${access}${details[access]}`;
  return line.replace(/\s+/g, ' ');
}

/** Orders lines by their path, so that a new route changes one line of a diff. */
function byPath(one: string, other: string): number {
  const key = (line: string) => line.slice(line.indexOf(' '));
  return key(one) < key(other) ? -1 : key(one) > key(other) ? 1 : one < other ? -1 : 1;
}

/** Returns the lines that are not in others. A line that occurs twice must be in others twice. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const rest = [...others];
  return lines.filter((line) => {
    const index = rest.indexOf(line);
    if (index >= 0) rest.splice(index, 1);
    return index < 0;
  });
}

function probeInWords(probed: Probe | undefined): string {
  if (!probed) return '';
  if (probed.isReached) return ' → reached without a session';
  return ` → ${probed.status ?? 'no response'}`;
}

function unscopedInWords(names: readonly string[] | undefined): string {
  return names ? ` → unscoped: ${names.join(', ')}` : '';
}

function unacceptedInWords(lines: readonly string[], list: string): string {
  return [
    `Unscoped. Add requireMember to these routes, or add a reason to their lines in ${list}, such as${REASON}only shows the logo:`,
    ...lines.map((line) => `  ${line}`),
  ].join('\n');
}

function summaryOf(routes: readonly FoundRoute[]): string {
  const kinds = (['guarded', 'public', 'latchkey', 'unknown'] as const).flatMap((access) => {
    const count = routes.filter((route) => route.access === access).length;
    return count > 0 ? [`${count.toLocaleString('en')} ${access}`] : [];
  });
  return `${counted(routes.length, 'route')}: ${kinds.join(', ') || 'the app has none'}.`;
}

function inWords(added: readonly string[], removed: readonly string[], list: string): string[] {
  const listed = (title: string, lines: readonly string[]) =>
    lines.length > 0 ? [title, ...lines.map((line) => `  ${line}`)] : [];
  if (added.length + removed.length === 0) return [`Every route is in ${list}.`];
  return [
    ...listed(`Not in ${list}. Review these routes, then run this with --write:`, added),
    ...listed(`In ${list}, but not in the app:`, removed),
  ];
}
