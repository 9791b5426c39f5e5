// Cores that do not sleep between two requests.
import { start } from './processes.mjs';

/**
 * Keeps cores awake with a loop on each, which any other work interrupts (the policy SCHED_IDLE). A system call that wakes
 * a sleeping core of a virtual machine takes 30 µs longer than one whose core still waits for work. So with one
 * connection, a server that answers a few microseconds later than another would seem to be slower by a third.
 *
 * @param {readonly number[]} cores
 */
export function keepAwake(cores) {
  const loops = cores.map((core) =>
    start([core], 'chrt', ['--idle', '0', process.execPath, '-e', 'for (;;);']),
  );
  const signal = (name) => {
    for (const { pid } of loops) process.kill(pid, name);
  };
  return {
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    stop: () => Promise.all(loops.map((loop) => loop.stop('SIGKILL'))),
  };
}
