// How long a browser takes to solve a challenge of altcha(), with the script of the pages.
import { chromium } from 'playwright-core';
import { findBrowser } from '../../spec/support/servers.mjs';
import { fixed, goal, median, percentile, spread, table } from '../support/numbers.mjs';

export const title = 'Human check';

/** A phone of the lowest price is about as much slower than this machine. */
const SLOWER = 6;

/** @param {import('../support/options.mjs').Options} options */
export async function measure({ quick }) {
  const found = await findBrowser();
  if (!found) throw new Error('Chromium is not installed');
  const { startServer } = await import('../servers/human-check.mjs');
  const server = await startServer();
  const browser = await chromium.launch({
    executablePath: found.path,
    args: ['--no-sandbox', '--headless', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage();
    await page.goto(`${server.origin}/auth/forgot-password`);
    const solve = () => page.evaluate(SOLVE);
    for (let round = 0; round < 5; round++) await solve();
    const times = [];
    for (let round = 0; round < (quick ? 5 : 200); round++) times.push(await solve());
    const slower = times.map((ms) => ms * SLOWER);
    return [
      `Chromium ${browser.version()} solves challenges of the default \`cost\` in the worker of the pages, one at a time. The time
includes the start of the worker. Chromium slows down only the main thread of a page, and not its workers, so the times are
multiplied by ${SLOWER} for a phone that is ${SLOWER} times slower. ${times.length} challenges.`,
      table(
        ['', 'median ms', 'of 20, 19 take at most ms', 'lowest–highest ms'],
        [
          ['this machine', fixed(median(times)), fixed(percentile(times, 0.95)), spread(times)],
          [`${SLOWER} times slower`, fixed(median(slower)), fixed(percentile(slower, 0.95)), spread(slower)],
        ],
      ),
      goal(
        `solving a challenge, ${SLOWER} times slower, median in seconds`,
        median(slower) / 1000,
        'at most',
        1,
      ),
    ].join('\n\n');
  } finally {
    await browser.close();
    await server.stop();
  }
}

/** Runs in the page: it solves a challenge as the script of the page does, and returns how long that took. */
const SOLVE = `(async () => {
  const challenge = await (await fetch('/auth/human-challenge')).json();
  const { src } = [...document.scripts].find(({ src }) => src.includes('/human.'));
  const started = performance.now();
  const worker = new Worker(src, { type: 'module' });
  await new Promise((resolve) => {
    worker.onmessage = resolve;
    worker.postMessage(challenge);
  });
  worker.terminate();
  return performance.now() - started;
})()`;
