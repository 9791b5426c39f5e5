// What a page of pages() takes, and whether an app that has them is slower elsewhere.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { fixed, goal, median, spread, table } from '../support/numbers.mjs';

export const title = 'Pages';

const PLAIN = 'the same document as a string';
const GUARDED = 'a guarded JSON request, with pages()';
const OTHER = 'a guarded JSON request, without';

/** @param {import('../support/options.mjs').Options} options */
export async function measure({ quick }) {
  const [rounds, requests] = quick ? [2, 50] : [15, 400];
  const server = fileURLToPath(new URL('../servers/pages.mjs', import.meta.url));
  const output = execFileSync(process.execPath, [server, String(rounds), String(requests)], {
    encoding: 'utf8',
  });
  const { times, compressed, files } = JSON.parse(output);
  const of = (name, key) => times[name].map((one) => one[key]);
  // Of the differences in each round, since the speed of a machine changes from round to round.
  const over = (name, base) => median(of(name, 'cpu').map((cpu, round) => cpu - of(base, 'cpu')[round]));
  const ratio = median(of(GUARDED, 'ms').map((ms, round) => ms / of(OTHER, 'ms')[round]));
  const rows = Object.keys(times).map((name) => [
    name,
    fixed(median(of(name, 'ms')), 3),
    spread(of(name, 'ms'), 3),
    fixed(median(of(name, 'cpu')), 3),
  ]);
  return [
    `One process on SQLite, which is asked by itself, one request at a time: client and server together. ${rounds} interleaved
rounds of ${requests} requests.`,
    table(['request', 'p50 ms', 'lowest–highest', 'CPU ms'], rows),
    [
      goal('rendering the sign-in page, CPU ms over a string', over('sign-in', PLAIN), 'at most', 0.2),
      goal('a guarded JSON request with pages(), times one without', ratio, 'at most', 1.05),
      goal(
        `the ${files} files that the sign-in page loads, in KB with Brotli`,
        compressed / 1000,
        'at most',
        12,
      ),
    ].join('\n'),
  ].join('\n\n');
}
