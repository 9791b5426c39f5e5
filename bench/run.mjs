// Measures the figures and writes bench/RESULTS.md: npm run bench. See bench/README.md for the flags.
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { installPackages } from './support/packages.mjs';
import { FIGURES, facts, store } from './support/results.mjs';

const DIALECTS = ['mysql', 'postgres', 'sqlite'];

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    dialect: { type: 'string' },
    server: { type: 'string' },
    sessions: { type: 'string' },
    quick: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
  },
});
const only = listOf('only', FIGURES);
const dialects = listOf('dialect', DIALECTS);
const servers = flags.server?.split(',') ?? null;
const sessions = countOf('sessions');

const folder = new URL('.', import.meta.url);
requirePrograms();
installPackages();

// Only now, since they import packages.
const { Databases, Missing } = await import('./support/databases.mjs');
const { installLatchkey } = await import('./support/latchkey.mjs');

if (!flags['no-build']) {
  console.log('building latchkey');
  installLatchkey();
}

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

for (const name of FIGURES.filter((one) => only.includes(one))) {
  const file = new URL(`figures/${name}.mjs`, folder);
  if (!existsSync(file)) continue;
  const { title, measure } = await import(file);
  console.log(`\n## ${title}\n`);
  const databases = new Databases();
  const started = Date.now();
  try {
    const log = (line) => console.log(`  ${line}`);
    /** @type {import('./support/options.mjs').Options} */
    const options = { quick: flags.quick, dialects, servers, sessions, databases, log };
    const body = await measure(options);
    const versions = (await databases.running()).map((server) => server.name);
    const section = `## ${title}\n\n${facts(commandOf(name), versions)}\n\n${body.trim()}\n`;
    console.log(`\n${section}\n(${Math.round((Date.now() - started) / 1000)} s)`);
    // A table of some servers must not replace the whole one.
    if (!flags.quick && !flags.dialect && !flags.server && !flags.sessions) store(name, section);
  } catch (error) {
    console.error('not measured:', error instanceof Missing ? error.message : error);
    process.exitCode = 1;
  } finally {
    await databases.stop();
  }
}

/** A flag that lists some of several names; all of them by default. */
function listOf(flag, known) {
  const names = flags[flag]?.split(',') ?? known;
  const unknown = names.filter((one) => !known.includes(one));
  if (unknown.length > 0) {
    console.error(`--${flag}: there is no ${unknown.join(', ')}. There are ${known.join(', ')}.`);
    process.exit(2);
  }
  return names;
}

/** A flag with a number from 1; undefined by default. */
function countOf(flag) {
  if (flags[flag] === undefined) return undefined;
  if (/^[1-9]\d*$/.test(flags[flag])) return Number(flags[flag]);
  console.error(`--${flag} must be a number from 1.`);
  process.exit(2);
}

function requirePrograms() {
  const missing = [];
  if (process.platform !== 'linux') missing.push('Linux, since CPU times are read from /proc');
  for (const program of ['wrk', 'taskset', 'chrt', 'tar']) {
    if (!(process.env.PATH ?? '').split(':').some((path) => existsSync(`${path}/${program}`)))
      missing.push(program);
  }
  if (!existsSync(new URL('../node_modules', import.meta.url)))
    missing.push('the packages of the root: npm ci');
  if (missing.length === 0) return;
  console.error(`The bench lacks: ${missing.join('; ')}. See bench/README.md.`);
  process.exit(2);
}

function commandOf(name) {
  const flagsUsed = Object.entries({ dialect: flags.dialect, server: flags.server, sessions: flags.sessions })
    .filter(([, value]) => value)
    .map(([flag, value]) => ` --${flag} ${value}`)
    .join('');
  return `npm run bench -- --only ${name}${flagsUsed}`;
}
