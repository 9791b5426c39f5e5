import type { Database } from '../database/database.js';
import { rateLimits } from '../tables/rate-limit.js';
import { Table } from '../tables/table.js';
import { OutsideTransactions } from './outside-transactions.js';
import { type RedisClient, RedisLimitStore } from './redis-store.js';
import { SqlLimitStore } from './sql-store.js';
import type { LimitStore } from './store.js';

/**
 * @param redis a client or URL; null for counters in the database
 * @param keyPrefix of the keys in Redis
 */
export function openLimitStore(
  redis: RedisClient | string | null,
  keyPrefix: string,
  database: Database,
): LimitStore {
  if (redis === null)
    return new OutsideTransactions(new SqlLimitStore(database, new Table(database, rateLimits)), database);
  return new RedisLimitStore(redis, keyPrefix);
}
