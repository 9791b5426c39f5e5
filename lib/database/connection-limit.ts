import { timers } from '../timers.js';
import type { Pool } from './connect.js';

const GROWTH_MS = 1000;

/** The pools whose maximum is lowered, each with the timer that raises it. */
const held = new WeakMap<Pool, NodeJS.Timeout>();

/**
 * Lowers the maximum of a pool to its size, because the server has rejected another connection. The maximum then rises
 * by one per second to the configured size. With that size, the pool would try to open a connection for each waiting
 * statement. Every rejection would fail the statement that has waited the longest, so it would have to wait again,
 * behind all others.
 *
 * @param pool a pool that has connections
 */
export function holdSize(pool: Pool): void {
  // Includes the connections that are being opened. If they are rejected too, the maximum is lowered again.
  let { size: max = 0 } = pool;
  timers.clearInterval(held.get(pool));
  const grow = () => {
    max++;
    if (max >= configuredSize(pool)) {
      timers.clearInterval(held.get(pool));
      held.delete(pool);
      Reflect.deleteProperty(pool, 'maxSize');
    }
    // The pool opens a connection for those that wait only if it is called.
    if (pool.waiting)
      pool
        .acquire('UPDATE', true)
        .then((connection) => pool.release(connection))
        .catch(() => undefined);
  };
  held.set(pool, timers.setInterval(grow, GROWTH_MS).unref());
  Object.defineProperty(pool, 'maxSize', { configurable: true, get: () => max });
}

/** Whether the maximum of a pool is lowered. */
export function isHeld(pool: Pool): boolean {
  return held.has(pool);
}

function configuredSize(pool: Pool): number {
  return Reflect.get(Object.getPrototypeOf(pool), 'maxSize', pool);
}
