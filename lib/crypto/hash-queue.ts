import { availableParallelism } from 'node:os';
import { AuthError } from '../errors.js';
import { processWide } from '../process-wide.js';

const MAX_WAITING = 64;

// Hashes run on libuv's thread pool, which also serves file and DNS access. At least one thread is kept free of
// hashing, so that other requests do not wait for sign-ins.
const threads = Number(process.env.UV_THREADPOOL_SIZE) || 4;
/** The maximum number of hashes that run at the same time, which also limits the memory that they need. */
export const MAX_RUNNING = Math.max(1, Math.min(availableParallelism(), threads - 1));

interface Waiter {
  start(): void;
  refuse(error: AuthError): void;
}

interface Queue {
  running: number;
  /** The waiting work, by client. The clients take turns, in the order of this map. */
  readonly lines: Map<string, Waiter[]>;
}

// The shared object contains only data, so that copies of other versions can use it with their own rules.
const queue = processWide('hash-queue/1', (): Queue => ({ running: 0, lines: new Map() }));

/**
 * Runs work that occupies a thread of the pool. The amount of work that runs at the same time is limited to the number
 * of cores or free threads. Up to 64 more items wait in a queue that the whole process shares. Clients take turns in
 * the queue. If it is full, a client with less waiting work takes a place of the client with the most waiting work, so
 * that no client can block the others.
 *
 * @param client the address of the client that the work is for, or empty for the app itself
 * @throws AuthError `unavailable` (503) if the queue is full
 */
export async function queueHash<T>(work: () => Promise<T>, client = ''): Promise<T> {
  if (queue.running < MAX_RUNNING) queue.running++;
  else await turnOf(client);
  try {
    return await work();
  } finally {
    // The next waiter in the queue gets the slot, so `running` does not change.
    const next = takeNext();
    if (next) next.start();
    else queue.running--;
  }
}

/** Returns the number of hashes that wait in the queue of the process. */
export function waitingHashes(): number {
  return [...queue.lines.values()].reduce((sum, { length }) => sum + length, 0);
}

function turnOf(client: string): Promise<void> {
  const line = queue.lines.get(client) ?? [];
  if (waitingHashes() >= MAX_WAITING) {
    const full = new AuthError('unavailable', { retryAfter: 5 });
    const lines = [...queue.lines.values()];
    const most = Math.max(...lines.map(({ length }) => length));
    const longest = lines.find(({ length }) => length === most) ?? line;
    if (longest.length <= line.length + 1) throw full;
    longest.pop()?.refuse(full);
  }
  queue.lines.set(client, line);
  return new Promise((start, refuse) => line.push({ start, refuse }));
}

function takeNext(): Waiter | undefined {
  const [first] = queue.lines;
  if (!first) return undefined;
  const [client, line] = first;
  const next = line.shift();
  // Move the client to the end of the map, so that another client has the next turn.
  queue.lines.delete(client);
  if (line.length > 0) queue.lines.set(client, line);
  return next;
}
