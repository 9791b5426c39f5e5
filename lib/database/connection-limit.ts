import type { Pool } from './connect.js';

const GROWTH_MS = 1000;

/**
 * Keeps a pool at its current size, because the server has rejected another connection. From then on, the pool can
 * grow by one connection per second. Otherwise, it would try to open one for each waiting statement. Every rejection
 * would fail the statement that has waited the longest, so it would have to wait again, behind all others.
 */
export function holdSize(pool: Partial<Pool>): void {
  const { size = 0 } = pool;
  const since = performance.now();
  Object.defineProperty(pool, 'maxSize', {
    configurable: true,
    get: () => Math.min(maxSizeOf(pool), size + Math.floor((performance.now() - since) / GROWTH_MS)),
  });
}

/** Whether a pool is kept below the size that it is configured for. */
export function isHeld(pool: Partial<Pool>): boolean {
  return Object.hasOwn(pool, 'maxSize') && (pool.maxSize ?? 0) < maxSizeOf(pool);
}

function maxSizeOf(pool: Partial<Pool>): number {
  return Reflect.get(Object.getPrototypeOf(pool), 'maxSize', pool);
}
