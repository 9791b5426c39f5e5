import { availableParallelism } from 'node:os';
import { AuthError } from '../errors.js';

const MAX_WAITING = 64;

// bcrypt runs on libuv's threads, which also serve files and DNS. One
// thread at least stays free of hashes, or every guarded page would wait behind the sign-ins.
const threads = Number(process.env.UV_THREADPOOL_SIZE) || 4;
const MAX_RUNNING = Math.max(1, Math.min(availableParallelism(), threads - 1));

let running = 0;
const waiting: (() => void)[] = [];

/**
 * Runs a piece of work that keeps a thread busy: at most as many at once as there are cores, up to 64 more
 * wait in line. The line is shared by all of the process, as the threads are.
 *
 * @throws AuthError `unavailable` (503) when the line is full.
 */
export async function queueHash<T>(work: () => Promise<T>): Promise<T> {
  if (running < MAX_RUNNING) {
    running++;
  } else {
    if (waiting.length >= MAX_WAITING) throw new AuthError('unavailable', { retryAfter: 5 });
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  try {
    return await work();
  } finally {
    // The place goes straight to the next in line, so `running` stays as it is.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}
