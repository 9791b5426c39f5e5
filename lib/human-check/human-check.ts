import { hash } from 'node:crypto';
import {
  type ChallengeIssuer,
  DEFAULT_ROUTES,
  type HumanCheckFacts,
  type HumanCheckOptions,
  type HumanCheckRoute,
} from '../config/human-check.js';
import type { CallContext } from '../context/call.js';
import { withTimeout } from '../context/deadline.js';
import type { Database } from '../database/database.js';
import type { Degraded } from '../degraded.js';
import { AuthError, declareProblems } from '../errors.js';
import type { LimitStore } from '../limits/store.js';
import type { Log } from '../logger.js';
import { performance } from '../timers.js';

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

const problems = declareProblems({
  human_check_failed: [
    403,
    'It could not be confirmed that a person has sent this. Reload the page, then try again.',
  ],
});

/** The name of the part in `auth.health()` and in the log. */
const DEGRADED = 'human_check';

const MAX_TOKEN_BYTES = 8 * 1024;
/** It is longer than the tokens of all services are valid. */
const REMEMBERED = { limit: 1, windowMs: 15 * 60 * 1000 };
const TIMEOUT_MS = 2000;
const RETRY_AFTER_SECONDS = 5;
const LOGGED_EVERY_MS = 60 * 1000;
const DEGRADED_FOR_MS = 10 * 60 * 1000;

/** What {@link HumanCheck} needs. */
interface HumanCheckNeeds {
  readonly context: CallContext;
  readonly database: Database;
  readonly degraded: Degraded;
  readonly counters: LimitStore;
  readonly settings: { readonly log: Log };
  /** Null unless latchkey issues the challenges itself. */
  readonly challenges: ChallengeIssuer | null;
}

/** Checks that a person has sent a request. */
export class HumanCheck {
  readonly #routes: ReadonlySet<HumanCheckRoute>;
  #loggedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly core: HumanCheckNeeds,
    private readonly options: Pick<HumanCheckOptions, 'verify' | 'onFailure' | 'routes'>,
  ) {
    this.#routes = new Set(options.routes ?? DEFAULT_ROUTES);
  }

  /** Whether a route asks for a human. */
  asks(route: HumanCheckRoute): boolean {
    return this.#routes.has(route);
  }

  /** The check of latchkey's own, such as `altcha`. Undefined for the app's. */
  get builtIn() {
    return this.options.verify.builtIn;
  }

  /** Returns a new challenge. @throws TypeError if latchkey does not issue them */
  async challenge(): Promise<object> {
    const { challenges, database } = this.core;
    if (!challenges) throw new TypeError('latchkey: this human check has no challenges of its own');
    await database.ready();
    return challenges.issue(database.clock.now());
  }

  /** @throws AuthError `human_check_failed`; `unavailable` if the check itself fails, unless such requests are accepted */
  async require(token: string | null, facts: HumanCheckFacts): Promise<void> {
    if (token !== null && Buffer.byteLength(token) > MAX_TOKEN_BYTES)
      throw new AuthError('human_check_failed');
    let passes: boolean;
    try {
      passes = await this.#passes(token, facts);
    } catch (error) {
      this.#report(error);
      if (this.options.onFailure === 'accept') return;
      throw new AuthError('unavailable', { retryAfter: RETRY_AFTER_SECONDS, cause: error });
    }
    if (!passes) throw new AuthError('human_check_failed');
  }

  async #passes(token: string | null, facts: HumanCheckFacts): Promise<boolean> {
    const { passes, id } = await inTime(this.#verify(token, facts), 'verify took longer than 2 seconds');
    if (!passes || id === null) return passes;
    const hits = this.core.counters.hit(`human ${id}`, REMEMBERED);
    return (await inTime(hits, 'the store of the rate limits did not respond within 2 seconds')) === null;
  }

  /** @returns whether a person has sent the request, and what to remember of the token */
  async #verify(
    token: string | null,
    facts: HumanCheckFacts,
  ): Promise<{ passes: boolean; id: string | null }> {
    const { challenges, context, database } = this.core;
    if (challenges) {
      if (!token) return { passes: false, id: null };
      await database.ready();
      const id = await challenges.verify(token, database.clock.now());
      return { passes: id !== null, id };
    }
    // It is the app's own code, which can call latchkey itself, so it runs outside the current call.
    const passes: unknown = await context.detached(async () => this.options.verify(token, facts));
    if (typeof passes !== 'boolean')
      throw new TypeError(`verify returned ${passes === null ? 'null' : typeof passes}, not a boolean`);
    return { passes, id: token ? hash('sha256', token, 'hex') : null };
  }

  /** Logs a failure at most once a minute, because anyone can send tokens that make a check fail. */
  #report(error: unknown): void {
    this.core.degraded.add(DEGRADED, DEGRADED_FOR_MS);
    const now = performance.now();
    if (now - this.#loggedAt < LOGGED_EVERY_MS) return;
    this.#loggedAt = now;
    const then = this.options.onFailure === 'accept' ? 'accepted' : 'refused';
    this.core.settings.log.error(
      'human_check.failed',
      `the human check failed, so requests that it is about are ${then}`,
      { err: error, cause: null },
    );
  }
}

function inTime<T>(work: Promise<T>, late: string): Promise<T> {
  return withTimeout(work, TIMEOUT_MS, () => new Error(late));
}
