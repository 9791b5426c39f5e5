import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { exportedNumbers, type Pause, pausesIn } from './support/pauses.js';

/** How long a spec can wait without an explanation. */
const SHORT_MS = 200;

/** The longer waits of each file, in the order of its lines. `null` is a time that the source does not tell. */
const LISTED: Record<string, { ms: readonly (number | null)[]; why: string }> = {
  'spec/cli/broken-import': {
    ms: [600_000],
    why: 'Keeps an import alive until the spec kills it, and is never waited for.',
  },
  'spec/cli/import': {
    ms: [600_000],
    why: 'Keeps an import alive until the spec interrupts it, and is never waited for.',
  },
  'spec/database/joined-concurrency': {
    ms: [1500],
    why: 'A call must wait for longer than Sequelize retries a locked SQLite file, by timers of its own.',
  },
  'spec/database/together': {
    ms: [2000, 2000],
    why: 'The database ends this statement after 200 ms, by a limit that the spec sets.',
  },
  'spec/database/transactions': {
    ms: [1500],
    why: 'The delays of statements must add up to more than a transaction may take.',
  },
  'spec/fuzz/sockets': {
    ms: [15_000],
    why: 'Limits how long an app may leave a connection open, and is waited for only if it does.',
  },
  'spec/migrations/adoption': {
    ms: [13_000, 13_000],
    why: 'A migration must take longer than the driver lets a connection be silent, which is 12 seconds.',
  },
  'spec/outage': {
    ms: [null, 1100],
    why: 'Requests arrive up to two seconds after a database has stopped responding, and a slow database delays each statement.',
  },
  'spec/plugins/oauth/client': {
    ms: [3000, 1500],
    why: 'Two sign-ins share a request and must have different times left, which only time can make.',
  },
  'spec/support/crash/storm': {
    ms: [800, null, null, 800, null, null, null, 30_000, null, null, null],
    why: 'Stops, delays and kills processes at random times, which is what it tests.',
  },
  'spec/support/oidc': {
    ms: [null],
    why: 'The delay of a provider, long enough for calls of two processes to meet.',
  },
  'spec/support/proxy': {
    ms: [null],
    why: 'The delay of a slow database, which each spec sets.',
  },
  'spec/support/runner/spec-process': {
    ms: [600_000],
    why: 'The limit of a file that never ends.',
  },
  'spec/support/take-over-process': {
    ms: [null],
    why: 'Makes the time limits of another process longer, so that none passes on a busy machine.',
  },
  'spec/support/timers': {
    ms: [null],
    why: 'Stands in for timers of latchkey, so that specs need not wait for them.',
  },
  'spec/support/timing': {
    ms: [250],
    why: 'Measures whether the duration of a send can be seen in the duration of a response.',
  },
};

const root = join(import.meta.dirname, '..');
const sources = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.(c|m)?(t|j)s$/.test(path))
  // This file has examples.
  .filter((path) => path !== basename(import.meta.filename))
  .map((path) => join('spec', path))
  .map((path) => ({ path, source: readFileSync(join(root, path), 'utf8') }));

test('a wait of a fixed time is short, or listed with a reason', () => {
  const constants = new Map(sources.flatMap(({ source }) => exportedNumbers(source)));
  const found: Record<string, (number | null)[]> = {};
  let short = 0;
  for (const { path, source } of sources) {
    if (!/setTimeout|sleep|pause|delay/i.test(source)) continue;
    const pauses = pausesIn(source, constants);
    const long = pauses.filter(({ ms }) => ms === null || ms > SHORT_MS);
    short += pauses.length - long.length;
    // The rest of a name says when a spec runs.
    const name = path.replace(/\..*$/, '').replaceAll('\\', '/');
    if (long.length > 0) found[name] = [...(found[name] ?? []), ...long.map(({ ms }) => ms)];
  }
  expect(found).toEqual(Object.fromEntries(Object.entries(LISTED).map(([name, { ms }]) => [name, ms])));
  for (const { why } of Object.values(LISTED)) expect(why).toMatch(/^[A-Z].{20,}\.$/);
  // It has looked at the specs.
  expect(sources.length).toBeGreaterThan(300);
  expect(short).toBeGreaterThan(20);
});

describe('a wait is found', () => {
  const IMPORT = "import { setTimeout as rest } from 'node:timers/promises';\n";
  const times = (pauses: Pause[]) => pauses.map(({ ms }) => ms);

  test.each<[string, (number | null)[]]>([
    ['setTimeout(done, 500);', [500]],
    ['await new Promise((resolve) => setTimeout(resolve, 1_000 * 2 + 50));', [2050]],
    ['globalThis.setTimeout(done, 300);', [300]],
    [`${IMPORT} await rest(700);`, [700]],
    ['const MS = 60 * 1000; await sleep(MS / 2);', [30_000]],
    ['await pause(250); await delay(260);', [250, 260]],
    ['proxy?.delay(1100);', [1100]],
    ['await sleep(end - Date.now()); let ms = 5; setTimeout(done, ms);', [null, null]],
    ['const still = (ms: number) => new Promise((go) => setTimeout(go, ms)); still(400);', [400]],
    [
      'function still(ms = 600) { return new Promise((go) => setTimeout(go, ms)); } still(); still(5);',
      [600, 5],
    ],
    ['const a = (n) => sleep(n); async function b(_, n) { await a(n); } b("x", 900);', [900]],
    ['const { setTimeout: start } = globalThis; start(done, 800);', [800]],
    ['await sleep(FAR);', [7000]],
    ["run('SELECT pg_sleep(3)'); run(`DO SLEEP(0.5)`);", [3000, 500]],
    ['const program = `await new Promise((go) => setTimeout(go, 4_000));`;', [4000]],
    ['jest.setTimeout(60_000); setTimeout(done); const delay = (auth) => auth; delay(app);', [0]],
  ])('in %s', (source, ms) => {
    expect(times(pausesIn(source, new Map([['FAR', 7000]])))).toEqual(ms);
  });
});
