// Cores that do not sleep between two requests.
import { start } from './processes.mjs';

// Ends with the bench, even if the bench is killed.
const LOOP = 'const { ppid } = process; for (let n = 1; n % 1e9 || process.ppid === ppid; n++);';

/**
 * Keeps cores awake with a loop on each, which any other work interrupts (the policy SCHED_IDLE): see "One request alone" in
 * bench/README.md.
 *
 * @param {readonly number[]} cores
 */
export function keepAwake(cores) {
  const loops = cores.map((core) => start([core], 'chrt', ['--idle', '0', process.execPath, '-e', LOOP]));
  const signal = (name) => {
    for (const { pid } of loops) process.kill(pid, name);
  };
  return {
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    stop: () => Promise.all(loops.map((loop) => loop.stop('SIGKILL'))),
  };
}
