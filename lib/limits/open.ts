import type { Database } from '../database/database.js';
import { SideConnections } from '../database/side-connections.js';
import { rateLimits } from '../tables/core.js';
import { Table } from '../tables/table.js';
import { MemoryLimitStore } from './memory-store.js';
import { type RedisClient, RedisLimitStore } from './redis-store.js';
import { SqlLimitStore } from './sql-store.js';
import type { LimitStore, Paused, PausePolicy, WindowPolicy } from './store.js';

/** Where the counters are. */
interface StoreSettings {
  /** A client or URL of Redis. Null for counters in the database. */
  readonly store: RedisClient | string | null;
  /** The prefix of the keys in Redis. */
  readonly keyPrefix: string;
}

/** Opens the store of the counters. */
export function openLimitStore({ store, keyPrefix }: StoreSettings, database: Database): LimitStore {
  if (store !== null) return new RedisLimitStore(store, keyPrefix);
  return new OutsideTransactions(new SqlLimitStore(database, new Table(database, rateLimits)), database);
}

/**
 * Keeps counters in the database out of the app's transactions, so that a rollback does not undo them and their locks
 * do not delay other requests. SQLite allows only one writer, which is then the app's transaction, so within such a
 * transaction, this process counts in memory.
 */
class OutsideTransactions implements LimitStore {
  readonly #memory: MemoryLimitStore;
  readonly #side: SideConnections;

  constructor(
    private readonly store: LimitStore,
    private readonly database: Database,
  ) {
    this.#memory = new MemoryLimitStore(() => database.clock.elapsed());
    this.#side = new SideConnections(database);
  }

  hit(key: string, policy: WindowPolicy): Promise<number | null> {
    return this.#outside((store) => store.hit(key, policy));
  }

  takeBack(key: string): Promise<void> {
    return this.#outside((store) => store.takeBack(key));
  }

  reserve(key: string, policy: PausePolicy): Promise<Paused | null> {
    return this.#outside((store) => store.reserve(key, policy));
  }

  giveBack(key: string): Promise<void> {
    return this.#outside((store) => store.giveBack(key));
  }

  clear(key: string): Promise<void> {
    return this.#outside((store) => store.clear(key));
  }

  async *prune(dryRun: boolean): AsyncGenerator<number> {
    yield* this.#memory.prune(dryRun);
    yield* this.store.prune(dryRun);
  }

  check(): Promise<void> {
    return this.store.check();
  }

  async close(): Promise<void> {
    await this.#side.close();
    await this.store.close();
  }

  #outside<T>(count: (store: LimitStore) => Promise<T>): Promise<T> {
    if (!this.database.isJoined) return count(this.store);
    if (this.database.dialect === 'sqlite') return count(this.#memory);
    return this.#side.use(() => count(this.store));
  }
}
