import type { Pool } from './connect.js';

const GROWTH_MS = 1000;

/** The pools that are kept small, with the timers that let them grow. */
const held = new WeakMap<Pool, NodeJS.Timeout>();

/**
 * Keeps a pool at its size, because the server has rejected another connection. Then it can grow by one connection per
 * second. Otherwise, the pool would try to open one for each waiting statement. Every rejection would fail the statement
 * that has waited the longest, so it would have to wait again, behind all others.
 *
 * @param pool a pool that has connections
 */
export function holdSize(pool: Pool): void {
  // Includes the connections that are being opened. If they are rejected too, the size is reduced again.
  let { size = 0 } = pool;
  clearInterval(held.get(pool));
  const grow = () => {
    size++;
    if (size >= configuredSize(pool)) {
      clearInterval(held.get(pool));
      held.delete(pool);
      Reflect.deleteProperty(pool, 'maxSize');
    }
    // The pool opens a connection for those that wait only if it is called.
    if (pool.waiting) pool.acquire('UPDATE', true).then((connection) => pool.release(connection), ignored);
  };
  held.set(pool, setInterval(grow, GROWTH_MS).unref());
  Object.defineProperty(pool, 'maxSize', { configurable: true, get: () => size });
}

/** Whether a pool is kept below the size that it is configured for. */
export function isHeld(pool: Pool): boolean {
  return held.has(pool);
}

function configuredSize(pool: Pool): number {
  return Reflect.get(Object.getPrototypeOf(pool), 'maxSize', pool);
}

const ignored = () => undefined;
