// A steady load of everything that users do, for half an hour: no unexpected answer, and nothing that grows.
//   node bench/load.mjs --minutes 30 --dialect mysql
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { installPackages } from './support/packages.mjs';

const LANES = 16;
const PEOPLE = 20;
const SAMPLE_MS = 10_000;
const WARM_UP_MS = 120_000;
/** Sections of RESULTS.md are of runs that took at least this long. */
const STORED_MINUTES = 30;
/** latchkey's pool has ten connections, and two more for what is written beside transactions. */
const CONNECTIONS = 12;

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    dialect: { type: 'string', default: 'mysql' },
    rate: { type: 'string', default: '150' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    'no-build': { type: 'boolean', default: false },
  },
});
const [minutes, rate, seed] = [Number(flags.minutes), Number(flags.rate), Number(flags.seed)];
if (!(minutes > 0 && rate > 0 && Number.isInteger(seed))) stop('--minutes, --rate and --seed take numbers');
if (!['mysql', 'postgres', 'sqlite'].includes(flags.dialect))
  stop('--dialect takes mysql, postgres or sqlite');
installPackages();

// Only now, since they import packages.
const { Databases, Missing } = await import('./support/databases.mjs');
const { connectTo } = await import('./support/insert.mjs');
const { installLatchkey } = await import('./support/latchkey.mjs');
const { bench, commit } = await import('./support/machine.mjs');
const { fixed, median, table } = await import('./support/numbers.mjs');
const { sleep } = await import('./support/processes.mjs');
const { facts, store } = await import('./support/results.mjs');
const { KINDS, Mix } = await import('./load/mix.mjs');

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
const measured = commit();
if (!flags['no-build']) {
  console.log('building latchkey');
  installLatchkey();
}
const databases = new Databases();
const folder = mkdtempSync(join(tmpdir(), 'latchkey-load-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
try {
  process.exitCode = (await load()) ? 0 : 1;
} catch (error) {
  console.error('not measured:', error instanceof Missing ? error.message : error);
  process.exitCode = 1;
} finally {
  await databases.stop();
}

/** @returns {Promise<boolean>} whether everything was as it must be */
async function load() {
  const name = 'bench_load';
  const database = flags.dialect === 'sqlite' ? null : await databases.get(flags.dialect);
  await database?.createDatabase(name);
  const url = database ? database.url(name) : `sqlite:${folder}/load.db`;
  const adminPassword = 'a password of administrators';
  const app = await startApp({
    BENCH_URL: url,
    BENCH_LANES: String(LANES),
    BENCH_ADMIN_PASSWORD: adminPassword,
  });
  const mix = new Mix({
    ...{ port: app.port, lanes: LANES, people: PEOPLE, seed, adminPassword },
    prune: () => app.ask('prune'),
    pace: pacer(),
    onUnexpected: (line) => console.error(`unexpected: ${line}`),
  });
  const observer = await connectTo(url);
  try {
    console.log(`${LANES * PEOPLE} users, ${rate} requests a second, seed ${seed}, ${minutes} minutes`);
    await mix.prepare();
    const started = Date.now();
    const end = started + minutes * 60_000;
    let runs = true;
    const samples = [];
    const sampling = (async () => {
      while (runs && Date.now() < end) {
        const sample = await app.ask('sample');
        const connections = database ? await connectionsOf(observer, name) : 0;
        samples.push({ ...sample, connections, at: Date.now() - started, requests: mix.requests });
        console.log(lineOf(samples.at(-1), mix));
        await sleep(SAMPLE_MS);
      }
    })();
    const before = mix.requests;
    await mix.run(() => Date.now() < end);
    const perSecond = (mix.requests - before) / ((Date.now() - started) / 1000);
    runs = false;
    await sampling;
    await mix.checkAll();
    await app.ask('prune');
    const leftOver = await mix.leftOver(async (condition) => {
      const [row] = await rowsOf(observer, `SELECT COUNT(*) AS n FROM ${condition}`);
      return Number(row.n);
    });
    return report({ mix, samples, perSecond, leftOver, versions: database ? [database.name] : [] });
  } finally {
    mix.close();
    await observer.close();
    await app.stop();
  }
}

function report({ mix, samples, perSecond, leftOver, versions }) {
  const warmUp = Math.min(WARM_UP_MS, (minutes * 60_000) / 2);
  const after = samples.filter(({ at }) => at >= warmUp);
  const growths = [
    growth('heap after a garbage collection, MB', after, ({ heapUsed }) => heapUsed / 2 ** 20, 1.1),
    growth('resident memory, MB', after, ({ rss }) => rss / 2 ** 20, 1.2),
    growth('active handles', after, ({ handles }) => sumOf(handles), 1.1, LANES),
    growth('open files', after, ({ files }) => files, 1.1, LANES),
    growth('database connections', after, ({ connections }) => connections, 1, CONNECTIONS),
  ];
  const isFlat = growths.every(({ flat }) => flat);
  const body = [
    `${fixed(mix.requests)} requests, ${fixed(perSecond)} a second, of ${LANES * PEOPLE} users (seed ${seed}), in ${minutes} minutes.`,
    `**${mix.unexpectedCount} unexpected answers, ${leftOver.length === 0 ? 'nothing left over in the database' : leftOver.join('; ')}, ${isFlat ? 'FLAT' : 'GROWING'}.**`,
    '',
    table(
      ['in the app', 'first sample', 'after the warm-up', 'at the end', 'an hour adds', ''],
      growths.map(({ what, read, first, last, perHour, flat }) => {
        const [sample] = samples;
        return [
          what,
          fixed(read(sample), 1),
          fixed(first, 1),
          fixed(last, 1),
          fixed(perHour, 1),
          flat ? 'flat' : '**growing**',
        ];
      }),
    ),
    '',
    `After the warm-up and at the end: medians of the first and the last fifth of the samples, one every ${SAMPLE_MS / 1000} seconds, after the`,
    `first ${fixed(warmUp / 1000)} seconds. An hour adds: the slope of a line through all of them. Flat: at most 10 % more heap, and 20 % more`,
    `resident memory; at most 10 % or ${LANES} more handles and files; never more than ${CONNECTIONS} connections.`,
    '',
    `Operations: ${KINDS.map((kind) => `${kind} ${fixed(mix.done[kind])}`).join(', ')}.`,
  ].join('\n');
  const section = `## A load of ${minutes} minutes\n\n${facts(`node bench/load.mjs --minutes ${minutes} --dialect ${flags.dialect}`, versions, measured)}\n\n${body}\n`;
  console.log(`\n${section}`);
  for (const line of mix.unexpected) console.log(`unexpected: ${line}`);
  if (minutes >= STORED_MINUTES) store('load', section);
  return mix.unexpectedCount === 0 && leftOver.length === 0 && isFlat;
}

/** @param {number} factor how much more is flat @param {number} [allowed] as an absolute number */
function growth(what, samples, read, factor, allowed = 0) {
  const values = samples.map(read);
  const fifth = Math.max(1, Math.floor(values.length / 5));
  const [first, last] = [median(values.slice(0, fifth)), median(values.slice(-fifth))];
  const flat = what.startsWith('database')
    ? Math.max(...values) <= allowed
    : last <= Math.max(first * factor, first + allowed);
  return {
    what,
    read,
    first,
    last,
    flat,
    perHour: slope(
      samples.map(({ at }) => at / 3_600_000),
      values,
    ),
  };
}

/** Of the line of least squares. */
function slope(xs, ys) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(xs), mean(ys)];
  const above = xs.reduce((sum, one, index) => sum + (one - x) * (ys[index] - y), 0);
  const below = xs.reduce((sum, one) => sum + (one - x) ** 2, 0);
  return below === 0 ? 0 : above / below;
}

function lineOf({ at, heapUsed, rss, handles, files, connections, requests }, mix) {
  const megabytes = (bytes) => `${fixed(bytes / 2 ** 20, 1)} MB`;
  return `${fixed(at / 1000)} s: ${fixed(requests)} requests, ${mix.unexpectedCount} unexpected, heap ${megabytes(heapUsed)}, resident ${megabytes(rss)}, ${connections} connections, ${sumOf(handles)} handles, ${files} files`;
}

function sumOf(counts) {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The next request may be sent when it resolves: `rate` a second, and no more at once after a pause. */
function pacer() {
  const gap = 1000 / rate;
  let next = performance.now();
  return async () => {
    const now = performance.now();
    next = Math.max(next + gap, now - 100);
    if (next > now) await sleep(next - now);
  };
}

async function startApp(env) {
  const child = fork(`${bench}load/server.mjs`, [], {
    execArgv: ['--expose-gc'],
    env: { ...process.env, NODE_ENV: 'test', ...env },
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const waiting = new Map();
  const ended = once(child, 'exit').then(([code]) => {
    for (const { reject } of waiting.values()) reject(new Error(`the app has ended with ${code}`));
  });
  const port = await new Promise((resolve, reject) => {
    void ended.then(() => reject(new Error('the app did not start')));
    child.once('message', (message) => resolve(message.port));
  });
  child.on('message', ({ id, result, error }) => {
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error === undefined) resolve?.(result);
    else reject?.(new Error(error));
  });
  let count = 0;
  return {
    port,
    ask(what) {
      return new Promise((resolve, reject) => {
        waiting.set(++count, { resolve, reject });
        child.send({ id: count, what });
      });
    },
    async stop() {
      child.kill();
      await ended;
      process.off('exit', kill);
    },
  };
}

/** How many connections the app has; the one that asks does not count. */
async function connectionsOf(observer, name) {
  const sql =
    observer.dialect === 'mysql'
      ? `SELECT COUNT(*) AS n FROM information_schema.processlist WHERE db = '${name}' AND id <> CONNECTION_ID()`
      : `SELECT COUNT(*) AS n FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`;
  const [row] = await rowsOf(observer, sql);
  return Number(row.n);
}

function rowsOf(observer, sql) {
  return observer.dialect === 'sqlite' ? observer.all(sql) : observer.run(sql);
}

function stop(message) {
  console.error(message);
  process.exit(2);
}
