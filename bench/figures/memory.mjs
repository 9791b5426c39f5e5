// Figure 6: what a process holds after many guarded requests.
import { newDatabase } from '../support/guarded.mjs';
import { fixed, goal, median, table } from '../support/numbers.mjs';
import { FULL, SMALL } from '../support/people.mjs';
import { residentMb, sleep, startServer } from '../support/processes.mjs';
import { seedLatchkey } from '../support/seeds.mjs';
import { headerFile, wrk } from '../support/wrk.mjs';

export const title = 'Memory after a million requests';

const CONNECTIONS = 50;
const FIRST = 10_000;

/** @param {import('../support/options.mjs').Options} options */
export async function measure({ quick, dialects, databases, log }) {
  const size = quick ? SMALL : FULL;
  const marks = quick ? [FIRST, 50_000] : [FIRST, 100_000, 250_000, 500_000, 750_000, 1_000_000];
  const [dialect] = dialects;
  log(`seeding latchkey on ${dialect}`);
  const url = await newDatabase(dialect, 'memory', databases);
  const { cookie } = await seedLatchkey(url, size);
  const headers = headerFile('memory', cookie.lines);
  const ofServer = (file) => rowsOf(file, url, { headers, marks, log });
  const latchkey = await ofServer('servers/memory-latchkey.mjs');
  const handWritten = await ofServer('servers/hand-written.mjs');
  return describe(latchkey, handWritten, size);
}

/** What a server holds after each number of requests, and how many of its responses were no 200. */
async function rowsOf(file, url, { headers, marks, log }) {
  const server = await startServer(file, { BENCH_URL: url }, { nodeArgs: ['--expose-gc'] });
  try {
    const found = [];
    let requests = 0;
    let bad = 0;
    let perSecond = FIRST;
    for (const mark of marks) {
      // wrk counts seconds, not requests.
      while (requests < mark * 0.9) {
        const seconds = Math.max(1, Math.min(10, Math.round((mark - requests) / perSecond)));
        const load = await wrk(`${server.url}/me`, { connections: CONNECTIONS, seconds, headers });
        requests += load.requests;
        bad += load.errors + load.refused;
        perSecond = load.perSecond;
      }
      const resident = await residentAtRest(server.pid);
      const heap = await fetch(`${server.url}/heap`);
      const heapMb = heap.ok ? (await heap.json()).heapMb : null;
      found.push({ requests, resident, heapMb });
      log(`${file}: ${fixed(requests)} requests, ${fixed(resident, 1)} MB resident`);
    }
    return { found, bad };
  } catch (error) {
    error.message += `\n${server.output()}`;
    throw error;
  } finally {
    await server.stop('SIGKILL');
  }
}

/** The median of a second without requests. */
async function residentAtRest(pid) {
  const samples = [];
  for (let sample = 0; sample < 5; sample++) {
    await sleep(200);
    samples.push(residentMb(pid));
  }
  return median(samples);
}

function describe({ found, bad }, handWritten, size) {
  const [first, last] = [found[0], found.at(-1)];
  const of = (value, base) => fixed(value / base, 2);
  const [least, most] = [handWritten.found[0], handWritten.found.at(-1)];
  return [
    `One process, ${CONNECTIONS} connections, ${fixed(size.hot)} sessions that take turns. "On the heap" is what is left after a garbage collection, with
buffers; it is collected once after each row, which the resident memory of the row does not include.`,
    table(
      ['requests', 'resident MB', 'of the first', 'on the heap, MB', 'of the first'],
      found.map(({ requests, resident, heapMb }) => [
        fixed(requests),
        fixed(resident, 1),
        of(resident, first.resident),
        fixed(heapMb, 1),
        of(heapMb, first.heapMb),
      ]),
    ),
    `The hand-written server of the guarded page, which keeps nothing, held ${fixed(least.resident, 1)} MB after ${fixed(least.requests)} requests and
${fixed(most.resident, 1)} MB after ${fixed(most.requests)}: ${of(most.resident, least.resident)}.`,
    [
      goal(
        'resident memory at the end, of that after the first row',
        last.resident / first.resident,
        'at most',
        1.1,
      ),
      goal('heap at the end, of that after the first row', last.heapMb / first.heapMb, 'at most', 1.1),
      goal('responses other than 200', bad, 'at most', 0, 0),
    ].join('\n'),
  ].join('\n\n');
}
