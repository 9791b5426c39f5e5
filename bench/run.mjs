// Measures the figures and writes bench/RESULTS.md: npm run bench. See bench/README.md for the flags.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const FIGURES = ['guarded-page', 'one-request', 'layers', 'sign-in', 'growth', 'memory', 'start'];
const DIALECTS = ['mysql', 'postgres', 'sqlite'];
const HEAD = `# Results

Each section is written by \`npm run bench\` and says when, where and of which commit. [README.md](README.md) says what is
measured and how. Only ratios within one table travel to other machines: compare a library with another one on the same
machine, in the same run. Numbers are medians of interleaved rounds, with the lowest and the highest in brackets or beside
them.
`;

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    dialect: { type: 'string' },
    server: { type: 'string' },
    quick: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
  },
});
const only = listOf('only', FIGURES);
const dialects = listOf('dialect', DIALECTS);
const servers = flags.server?.split(',') ?? null;

const folder = new URL('.', import.meta.url);
const results = new URL('RESULTS.md', folder);
requirePrograms();
if (!existsSync(new URL('node_modules/.package-lock.json', folder))) {
  console.log('installing bench/node_modules');
  execFileSync('npm', ['ci', '--no-fund', '--no-audit'], { cwd: folder, stdio: 'inherit' });
}

// Only now, since they import packages.
const { commit, machine } = await import('./support/machine.mjs');
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
    const options = { quick: flags.quick, dialects, servers, databases, log };
    const body = await measure(options);
    const versions = (await databases.running()).map((server) => server.name);
    const section = `## ${title}\n\n${facts(name, versions)}\n\n${body.trim()}\n`;
    console.log(`\n${section}\n(${Math.round((Date.now() - started) / 1000)} s)`);
    // A table of some servers must not replace the whole one.
    if (!flags.quick && !flags.dialect && !flags.server) store(name, section);
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

function requirePrograms() {
  const missing = [];
  if (process.platform !== 'linux') missing.push('Linux, since CPU times are read from /proc');
  for (const program of ['wrk', 'taskset', 'tar']) {
    if (!(process.env.PATH ?? '').split(':').some((path) => existsSync(`${path}/${program}`)))
      missing.push(program);
  }
  if (!existsSync(new URL('../node_modules', import.meta.url)))
    missing.push('the packages of the root: npm ci');
  if (missing.length === 0) return;
  console.error(`The bench lacks: ${missing.join('; ')}. See bench/README.md.`);
  process.exit(2);
}

function facts(name, versions) {
  const { cpu, cores, memoryGb, node, system } = machine();
  const flagsUsed = Object.entries({ dialect: flags.dialect, server: flags.server })
    .filter(([, value]) => value)
    .map(([flag, value]) => ` --${flag} ${value}`)
    .join('');
  return [
    `${new Date().toISOString().slice(0, 10)}, commit ${commit()}, \`npm run bench -- --only ${name}${flagsUsed}\`.`,
    `${cpu}, ${cores} core${cores === 1 ? '' : 's'}, ${memoryGb} GB, ${system}, Node ${node.slice(1)}${versions.map((version) => `, ${version}`).join('')}.`,
  ].join('\n');
}

/** Replaces one section of the results; they are in the order of the figures. */
function store(name, section) {
  const before = existsSync(results) ? readFileSync(results, 'utf8') : '';
  const sections = new Map();
  for (const text of before.split(/^(?=<!-- figure )/m).slice(1)) {
    sections.set(/^<!-- figure (\S+) -->/.exec(text)[1], `${text.trim()}\n`);
  }
  sections.set(name, `<!-- figure ${name} -->\n${section}`);
  const inOrder = FIGURES.flatMap((one) => sections.get(one) ?? []);
  writeFileSync(results, [HEAD, ...inOrder].join('\n'));
  console.log(`written to bench/RESULTS.md`);
}
