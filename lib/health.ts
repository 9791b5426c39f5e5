import { withTimeout } from './context/deadline.js';
import type { Database } from './database/database.js';
import type { Degraded } from './degraded.js';
import type { LimitStore } from './limits/store.js';
import { namesInJournal } from './migrations/journal.js';
import type { OutboxRows } from './outbox/rows.js';
import type { Sessions } from './sessions/sessions.js';

/** The time limit of a check. It is less than 2 seconds, so that even a busy process responds within 2 seconds. */
const LOOK_MS = 1800;

/** The age of a waiting entry, in seconds, after which it was tried several times, or no process tries it. */
export const STUCK_SECONDS = 15 * 60;

/** What works, and what does not. Each value is the state at the time of the check. */
export interface Health {
  /** The same as `ready.sessions`: whether a load balancer should send requests to this process. */
  readonly ok: boolean;
  readonly ready: {
    /** Whether a session can be looked up, so that guarded routes respond. False if that takes longer than 1.8 seconds. */
    readonly sessions: boolean;
    /** Whether users can also sign in: the database accepts writes, and the counters of the rate limits can be written. */
    readonly signIns: boolean;
  };
  /**
   * What does not work as it should. Empty if all is well.
   *
   * - `database`: a session cannot be looked up.
   * - `writes`: the database accepts no writes, for example because its disk is full or it is read-only.
   * - `schema`: migrations are pending, or it is not known whether any are.
   * - `limits`: the counters of the rate limits cannot be written.
   * - `outbox`: an email or webhook has waited for 15 minutes, or it is not known whether any has.
   * - `bridges.` and the name of a previous system: this process could not read or end sessions there when it last tried.
   */
  readonly degraded: readonly string[];
  /** The emails and webhooks. Each number is null if the database does not tell it in time. */
  readonly outbox: {
    /** The number of those that are still to be sent. */
    readonly pending: number | null;
    /** The number of those that could not be sent within three days. They are listed for a week. */
    readonly failed: number | null;
    /** How long the oldest pending one has waited, in seconds; 0 if none is pending. */
    readonly oldestSeconds: number | null;
  };
}

/** No token has this digest. */
const NO_DIGEST = Buffer.alloc(32);

type Counts = Health['outbox'];
const UNKNOWN: Counts = { pending: null, failed: null, oldestSeconds: null };

/** Checks whether everything works. */
export class HealthCheck {
  #looking: Promise<Health> | undefined;

  /** @param limits null if rate limits are disabled */
  constructor(
    private readonly database: Database,
    private readonly sessions: Pick<Sessions, 'ownerOf'>,
    private readonly migrations: readonly string[],
    private readonly limits: LimitStore | null,
    private readonly outbox: Pick<OutboxRows, 'counts' | 'tryToInsert'>,
    private readonly degraded: Degraded,
  ) {}

  /**
   * Checks everything. Calls share a check until its statements have ended, because the checks must not take all
   * connections while the database does not respond.
   */
  look(): Promise<Health> {
    this.#looking ??= this.database.share(() => this.#look());
    return this.#looking;
  }

  async #look(): Promise<Health> {
    const statements = [
      // What a guard does, so that it fails whenever a guard would.
      this.sessions.ownerOf(NO_DIGEST),
      this.outbox.tryToInsert(),
      namesInJournal(this.database),
      this.limits?.check() ?? Promise.resolve(),
      this.outbox.counts(),
    ] as const;
    Promise.allSettled(statements).then(() => {
      this.#looking = undefined;
    });
    const [database, writes, schema, limits, outbox] = await Promise.all([
      inTime(statements[0], () => true, false),
      inTime(statements[1], () => true, false),
      inTime(statements[2], (names) => this.#isComplete(names), false),
      inTime(statements[3], () => true, false),
      inTime<Counts, Counts>(statements[4], (found) => found, UNKNOWN),
    ]);
    const well = {
      database,
      writes,
      schema,
      limits,
      outbox: (outbox.oldestSeconds ?? Infinity) < STUCK_SECONDS,
    };
    return {
      ok: database,
      ready: { sessions: database, signIns: database && writes && limits },
      degraded: [
        ...(Object.keys(well) as (keyof typeof well)[]).filter((part) => !well[part]),
        ...this.degraded.names,
      ],
      outbox,
    };
  }

  #isComplete(names: readonly string[]): boolean {
    const applied = new Set(names);
    return this.migrations.every((name) => applied.has(name));
  }
}

async function inTime<T, R>(work: Promise<T>, then: (outcome: T) => R, otherwise: R): Promise<R> {
  try {
    return then(await withTimeout(work, LOOK_MS, () => new Error('late')));
  } catch {
    return otherwise;
  }
}
