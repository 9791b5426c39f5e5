import { hash } from 'node:crypto';
import { withTimeout } from '../context/deadline.js';
import { AuthError } from '../errors.js';
import {
  FORGET_AFTER_MS,
  type LimitStore,
  type Paused,
  type PausePolicy,
  type WindowPolicy,
} from './store.js';

/** The part of an `ioredis` client that latchkey uses. */
interface IoredisClient {
  defineCommand: unknown;
  eval(script: string, keys: number, ...rest: (string | number)[]): Promise<unknown>;
}

/** The part of a `redis` client that latchkey uses. The app must connect it. */
interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A Redis client of the app, from the package `ioredis` or `redis`. */
export type RedisClient = IoredisClient | NodeRedisClient;

const TIMEOUT_MS = 2000;

const HIT = `
  local hits = tonumber(redis.call('GET', KEYS[1]) or '0')
  if hits >= tonumber(ARGV[1]) then return {math.max(redis.call('PTTL', KEYS[1]), 1), 0} end
  if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return {-1, 0}`;

const TAKE_BACK = `
  if tonumber(redis.call('GET', KEYS[1]) or '0') > 0 then redis.call('DECR', KEYS[1]) end
  return {-1, 0}`;

const RESERVE = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local blocked = tonumber(redis.call('HGET', KEYS[1], 'blocked_until') or '0')
  if blocked > now then return {blocked - now, redis.call('HSETNX', KEYS[1], 'reported', '1')} end
  local hits = redis.call('HINCRBY', KEYS[1], 'hits', 1)
  local over = hits - tonumber(ARGV[1])
  local pause = 0
  if over >= 0 then
    pause = math.min(tonumber(ARGV[3]), tonumber(ARGV[2]) * 2 ^ over)
    redis.call('HSET', KEYS[1], 'blocked_until', string.format('%.0f', now + pause))
    redis.call('HDEL', KEYS[1], 'reported')
  end
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', pause + ARGV[4]))
  return {-1, 0}`;

const GIVE_BACK = `
  if tonumber(redis.call('HGET', KEYS[1], 'hits') or '0') > 0 then
    redis.call('HINCRBY', KEYS[1], 'hits', -1)
    redis.call('HDEL', KEYS[1], 'blocked_until')
  end
  return {-1, 0}`;

const CLEAR = `return {redis.call('DEL', KEYS[1]), 0}`;

/** Counters in Redis. Each operation is one script, which Redis runs atomically. */
export class RedisLimitStore implements LimitStore {
  #client: Promise<RedisClient> | undefined;

  /** @param target the app's client, or a URL to connect to on first use */
  constructor(
    private readonly target: RedisClient | string,
    private readonly prefix: string,
  ) {}

  async hit(key: string, { limit, windowMs }: WindowPolicy): Promise<number | null> {
    const [left] = await this.#run(HIT, key, [limit, windowMs]);
    return left < 0 ? null : left;
  }

  async takeBack(key: string): Promise<void> {
    await this.#run(TAKE_BACK, key, []);
  }

  async reserve(key: string, { failures, firstPauseMs, maxPauseMs }: PausePolicy): Promise<Paused | null> {
    const [leftMs, first] = await this.#run(RESERVE, key, [
      failures,
      firstPauseMs,
      maxPauseMs,
      FORGET_AFTER_MS,
    ]);
    return leftMs < 0 ? null : { leftMs, isFirst: first === 1 };
  }

  async giveBack(key: string): Promise<void> {
    await this.#run(GIVE_BACK, key, []);
  }

  async clear(key: string): Promise<void> {
    await this.#run(CLEAR, key, []);
  }

  /** Does nothing, because Redis deletes expired counters itself. */
  async *prune(): AsyncGenerator<number> {}

  async check(): Promise<void> {
    // Check with a write, because a Redis server whose memory is full still responds to reads.
    await this.hit('check', { limit: Number.MAX_SAFE_INTEGER, windowMs: 60_000 });
  }

  async close(): Promise<void> {
    if (typeof this.target !== 'string' || !this.#client) return;
    // It was created by connect(), so it is a client of ioredis.
    ((await this.#client) as unknown as { disconnect(): void }).disconnect();
  }

  /** Each script returns two whole numbers. */
  async #run(script: string, key: string, args: number[]): Promise<[number, number]> {
    const name = `${this.prefix}${hash('sha256', key, 'hex')}`;
    const late = () => new Error('Redis: no response in time');
    try {
      const answer = await withTimeout(this.#eval(script, name, args.map(String)), TIMEOUT_MS, late);
      const [left, first] = answer as [unknown, unknown];
      return [Number(left), Number(first)];
    } catch (cause) {
      // Fail closed, because without its counters the app would be open to password guessing.
      throw new AuthError('unavailable', { cause });
    }
  }

  async #eval(script: string, key: string, args: string[]): Promise<unknown> {
    this.#client ??= connect(this.target);
    const client = await this.#client;
    if ('defineCommand' in client) return client.eval(script, 1, key, ...args);
    return client.eval(script, { keys: [key], arguments: args });
  }
}

/** Loads ioredis. @throws Error naming the package to install */
async function loadDriver(): Promise<Pick<typeof import('ioredis'), 'Redis'>> {
  // The import is in a `try`, so that webpack does not require a package that many apps do not have.
  try {
    return await import('ioredis');
  } catch (cause) {
    throw new Error('latchkey: rateLimit.store is a Redis URL, which needs a driver: npm install ioredis', {
      cause,
    });
  }
}

async function connect(target: RedisClient | string): Promise<RedisClient> {
  if (typeof target !== 'string') return target;
  const { Redis } = await loadDriver();
  const redis = new Redis(target, { maxRetriesPerRequest: 1, connectTimeout: TIMEOUT_MS });
  // Without a listener, a lost connection would crash the process. The affected calls fail anyway.
  redis.on('error', () => undefined);
  return redis;
}
