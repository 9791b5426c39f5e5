import { availableParallelism } from 'node:os';
import { AuthError } from '../errors.js';
import { processWide } from '../process-wide.js';

const MAX_WAITING = 64;

// bcrypt runs on libuv's thread pool, which also serves file and DNS access. At least one thread is kept free of
// hashing, so that other requests do not wait for sign-ins.
const threads = Number(process.env.UV_THREADPOOL_SIZE) || 4;
const MAX_RUNNING = Math.max(1, Math.min(availableParallelism(), threads - 1));

interface Queue {
  running: number;
  readonly waiting: (() => void)[];
}

// Only data, so that copies of other versions can use it too: each brings its own rules.
const queue = processWide('hash-queue/1', (): Queue => ({ running: 0, waiting: [] }));

/**
 * Runs work that occupies a thread of the pool. No more run at once than there are cores or free threads, and up to 64
 * wait in a queue, which is shared by the whole process.
 *
 * @throws AuthError `unavailable` (503) if the queue is full
 */
export async function queueHash<T>(work: () => Promise<T>): Promise<T> {
  if (queue.running < MAX_RUNNING) {
    queue.running++;
  } else {
    if (queue.waiting.length >= MAX_WAITING) throw new AuthError('unavailable', { retryAfter: 5 });
    await new Promise<void>((resolve) => queue.waiting.push(resolve));
  }
  try {
    return await work();
  } finally {
    // The slot passes to the next in the queue, so `running` does not change.
    const next = queue.waiting.shift();
    if (next) next();
    else queue.running--;
  }
}
