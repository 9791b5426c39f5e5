import { withTimeout } from './context/deadline.js';
import type { Core } from './core/core.js';
import { namesInJournal } from './migrations/journal.js';
import type { OutboxRows } from './outbox/rows.js';
import { coreTables, users } from './tables/core.js';
import { Table, type TableDeclaration } from './tables/table.js';
import { NOBODY } from './users/record.js';

/** The time limit of a check. It is less than 2 seconds, so that even a busy process responds within 2 seconds. */
const LOOK_MS = 1800;

/** At this age, in seconds, a waiting entry has been tried several times, or no process is trying to send it. */
export const STUCK_SECONDS = 15 * 60;

/** The parts of an Auth that work, and the parts that do not. Each value is the state at the time of the check. */
export interface Health {
  /** The same as `ready.sessions`: whether a load balancer should send requests to this process. */
  readonly ok: boolean;
  readonly ready: {
    /**
     * Whether a session can be looked up, so that guarded routes respond. False if that takes longer than 1.8 seconds.
     */
    readonly sessions: boolean;
    /**
     * Whether users can also sign in with every method of the config: the database has the tables and columns for it and
     * accepts writes, the counters of the rate limits can be written, and the package that hashes passwords is installed.
     */
    readonly signIns: boolean;
  };
  /**
   * The parts that do not work as they should. Empty if everything works.
   *
   * - `database`: a session cannot be looked up.
   * - `writes`: the database does not accept writes, for example because its disk is full or it is read-only.
   * - `schema`: migrations are pending, or it is unknown whether any are pending.
   * - `limits`: the counters of the rate limits cannot be written.
   * - `passwords`: the package that hashes passwords is not installed.
   * - `outbox`: an email or webhook has waited for 15 minutes, or it is unknown whether any has.
   * - `mails_to_strangers`: emails to addresses that no account has proven wait, because `rateLimit.strangers` is reached.
   * - `human_check`: the human check has failed in this process in the last ten minutes, such as because its service did
   *   not respond.
   * - `bridges.` and the name of a previous system: this process could not read or end sessions there when it last
   *   tried.
   */
  readonly degraded: readonly string[];
  /** The emails and webhooks. Each number is null if the database does not respond in time. */
  readonly outbox: {
    /** The number of emails and webhooks that have not been sent yet, including emails that `rateLimit.strangers` holds. */
    readonly pending: number | null;
    /** The number of emails and webhooks that could not be sent within three days. They are listed for a week. */
    readonly failed: number | null;
    /** How long the oldest pending email or webhook that is not held has waited, in seconds; 0 if there is none. */
    readonly oldestSeconds: number | null;
  };
}

/** No token has this digest. */
const NO_DIGEST = Buffer.alloc(32);

type Counts = Awaited<ReturnType<OutboxRows['counts']>>;
const UNKNOWN = { pending: null, held: null, failed: null, oldestSeconds: null };

/** Checks whether everything works. */
export class HealthCheck {
  #looking: Promise<Health> | undefined;

  /** @param migrations the names of all migrations */
  constructor(
    private readonly core: Core,
    private readonly migrations: readonly string[],
  ) {}

  /**
   * Checks everything. Calls share a check until its statements have ended, so that checks do not use up all
   * connections while the database does not respond.
   */
  look(): Promise<Health> {
    this.#looking ??= this.core.database.share(() => this.#look());
    return this.#looking;
  }

  async #look(): Promise<Health> {
    const { core } = this;
    const statements = [
      // The same lookup as in a guard, so that the check fails whenever a guard would fail.
      core.sessions.ownerOf(NO_DIGEST),
      core.outbox.rows.tryToInsert(),
      namesInJournal(core.database),
      core.limits?.check() ?? Promise.resolve(),
      core.outbox.rows.counts(),
      this.#readForSignIn(),
      core.passwords?.load() ?? Promise.resolve(),
    ] as const;
    Promise.allSettled(statements).then(() => {
      this.#looking = undefined;
    });
    const [database, writes, schema, limits, { held, ...outbox }, signIns, passwords] = await Promise.all([
      inTime(statements[0], () => true, false),
      inTime(statements[1], () => true, false),
      inTime(statements[2], (names) => this.#isComplete(names), false),
      inTime(statements[3], () => true, false),
      inTime<Counts, Counts | typeof UNKNOWN>(statements[4], (found) => found, UNKNOWN),
      inTime(statements[5], () => true, false),
      inTime(statements[6], () => true, false),
    ]);
    const well = {
      database,
      writes,
      schema,
      limits,
      passwords,
      outbox: (outbox.oldestSeconds ?? Infinity) < STUCK_SECONDS,
      mails_to_strangers: !held,
    };
    return {
      ok: database,
      ready: { sessions: database, signIns: database && writes && limits && signIns && passwords },
      degraded: [
        ...(Object.keys(well) as (keyof typeof well)[]).filter((part) => !well[part]),
        ...core.degraded.names,
      ],
      outbox,
    };
  }

  /**
   * Reads a user as a sign-in does, and no row of the tables that sign-ins use.
   *
   * @throws AuthError `unavailable` if a table or column is missing, because a migration is pending
   */
  async #readForSignIn(): Promise<void> {
    const { database } = this.core;
    await this.core.users.findRecord({ id: NOBODY });
    const tables = tablesForSignIns(this.core).map((table) => new Table(database, table).whole('t'));
    const reads = tables.map(({ columns, from }) => `EXISTS (SELECT ${columns} FROM ${from} WHERE 1 = 0)`);
    await database.select(`SELECT ${reads.map((read, index) => `${read} AS t${index}`).join(', ')}`);
  }

  #isComplete(names: readonly string[]): boolean {
    const applied = new Set(names);
    return this.migrations.every((name) => applied.has(name));
  }
}

/** Returns the tables of the core, and those of plugins with sign-in methods or second factors, except the users. */
function tablesForSignIns({ contributions, sessions }: Core): TableDeclaration[] {
  const ofPlugins = contributions
    .filter(({ waysIn, stepMethods }) => waysIn || stepMethods)
    .flatMap(({ tables = {} }) => Object.values(tables))
    .filter(({ isForSignIns = true }) => isForSignIns);
  const ofCore = { ...coreTables, Session: sessions.declaration };
  return [...Object.values(ofCore), ...ofPlugins].filter((table) => table !== users);
}

async function inTime<T, R>(work: Promise<T>, then: (outcome: T) => R, otherwise: R): Promise<R> {
  try {
    return then(await withTimeout(work, LOOK_MS, () => new Error('late')));
  } catch {
    return otherwise;
  }
}
