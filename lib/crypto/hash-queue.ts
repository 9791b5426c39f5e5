import { availableParallelism } from 'node:os';
import { AuthError } from '../errors.js';

const MAX_WAITING = 64;

// bcrypt runs on libuv's thread pool, which also serves file and DNS access. At least one thread is kept free of
// hashing, so that other requests do not wait for sign-ins.
const threads = Number(process.env.UV_THREADPOOL_SIZE) || 4;
const MAX_RUNNING = Math.max(1, Math.min(availableParallelism(), threads - 1));

let running = 0;
const waiting: (() => void)[] = [];

/**
 * Runs work that occupies a thread of the pool. No more run at once than there are cores or free threads, and up to 64
 * wait in a queue, which is shared by the whole process.
 *
 * @throws AuthError `unavailable` (503) if the queue is full
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
    // The slot passes to the next in the queue, so `running` does not change.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}
