import { withTimeout } from './context/deadline.js';
import type { Database } from './database/database.js';
import type { LimitStore } from './limits/store.js';
import { namesInJournal } from './migrations/journal.js';
import type { OutboxRows } from './outbox/rows.js';

/** The time limit of a check. It is less than 2 seconds, so that even a busy process responds within 2 seconds. */
const LOOK_MS = 1800;

/** Whether the parts that latchkey relies on work. */
export interface Health {
  /** Whether all parts work. Entries that wait in the outbox make no difference. */
  readonly ok: boolean;
  /** Whether the database responds. */
  readonly database: boolean;
  /** Whether all migrations have been applied. */
  readonly schema: boolean;
  /** Whether the counters of the rate limits can be read. True without rate limits. */
  readonly limits: boolean;
  /** The emails and webhooks that have not been sent yet. */
  readonly outbox: {
    /** The number of waiting emails and webhooks. Null if the database does not respond. */
    readonly waiting: number | null;
    /** How long the oldest one has waited, in seconds; 0 if none is waiting. Null if the database does not respond. */
    readonly oldestSeconds: number | null;
  };
}

type Waiting = Awaited<ReturnType<OutboxRows['waiting']>>;
const UNKNOWN = { waiting: null, oldestSeconds: null };

/** Checks whether everything works. */
export class HealthCheck {
  #looking: Promise<Health> | undefined;

  /** @param limits null if rate limits are disabled */
  constructor(
    private readonly database: Database,
    private readonly migrations: readonly string[],
    private readonly limits: LimitStore | null,
    private readonly outbox: Pick<OutboxRows, 'waiting'>,
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
      this.database.select('SELECT 1 AS one'),
      namesInJournal(this.database),
      this.limits?.check() ?? Promise.resolve(),
      this.outbox.waiting(),
    ] as const;
    Promise.allSettled(statements).then(() => {
      this.#looking = undefined;
    });
    const [database, schema, limits, outbox] = await Promise.all([
      inTime(statements[0], () => true, false),
      inTime(statements[1], (names) => this.#isComplete(names), false),
      inTime(statements[2], () => true, false),
      inTime<Waiting, Health['outbox']>(statements[3], (found) => found, UNKNOWN),
    ]);
    return { ok: database && schema && limits, database, schema, limits, outbox };
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
