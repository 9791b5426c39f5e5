// Whether the machine does something else: a measurement beside other work says nothing.
import { readFileSync } from 'node:fs';
import { cpuMsOfTrees, sleep } from './processes.mjs';

/** The share of one core that others may use while something is measured. */
export const MAX_OTHERS = 0.12;
const MAX_TRIES = 3;
const WAIT_MS = 120_000;

/**
 * Waits until other processes use at most 12 % of a core, for at most two minutes.
 *
 * @param {readonly number[]} own processes that do not count, with their descendants
 * @returns {Promise<boolean>} whether it became quiet
 */
export async function untilQuiet(own = []) {
  const end = performance.now() + WAIT_MS;
  while (performance.now() < end) {
    const others = watchOthers(own);
    await sleep(500);
    if (others() <= MAX_OTHERS) return true;
  }
  return false;
}

/**
 * Measures what other processes use from now on.
 *
 * @param {readonly number[]} own processes that do not count, with their descendants, beside the bench's own
 * @returns {() => number} their share of one core since then
 */
export function watchOthers(own = []) {
  const pids = [process.pid, ...own];
  const since = performance.now();
  const before = busyMs() - cpuMsOfTrees(pids);
  return () => Math.max(0, (busyMs() - cpuMsOfTrees(pids) - before) / (performance.now() - since));
}

/**
 * Runs `work` on a quiet machine. If others used more than 12 % of a core meanwhile, the outcome is thrown away and the
 * work is done again, at most three times in all; the last outcome is then marked as disturbed.
 *
 * @template T
 * @param {() => Promise<T>} work
 * @param {readonly number[]} [own]
 * @param {{ patient?: boolean, tries?: number, log?: (line: string) => void }} [options] `patient: false` measures once,
 *   whatever else runs; `tries: 1` once too, for work that cannot be repeated, but waits for a quiet machine
 * @returns {Promise<T & { others: number, disturbed: boolean }>}
 */
export async function undisturbed(
  work,
  own = [],
  { patient = true, tries = MAX_TRIES, log = () => {} } = {},
) {
  for (let attempt = 1; ; attempt++) {
    if (patient) await untilQuiet(own);
    const watch = watchOthers(own);
    const outcome = await work();
    const others = watch();
    const disturbed = others > MAX_OTHERS;
    if (!disturbed || !patient || attempt === tries) return { ...outcome, others, disturbed };
    log(`others used ${Math.round(others * 100)} % of a core: again`);
  }
}

/** The time that all cores have worked, in milliseconds. */
function busyMs() {
  const [line] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user, nice, system, , , irq, softirq, steal] = line.trim().split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq + steal) * 10;
}
