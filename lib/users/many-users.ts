import type { Hooks } from '../config/user-options.js';
import type { Database } from '../database/database.js';
import { violatedUnique } from '../database/faults.js';
import { AuthError } from '../errors.js';
import { type ManyOptions, type NewAccount, NewAccounts, type Outcomes, takenBy } from './create.js';
import type { HeldEmails } from './held-emails.js';
import type { Users } from './users.js';

const MAX_ROUNDS = 10;
const BATCH = 500;
// Each row of the app has statements of its own, and a transaction has four seconds in all.
const BATCH_WITH_ROWS = 50;

/** Creates many accounts with few statements. */
export class ManyUsers {
  readonly #accounts: NewAccounts;

  constructor(
    private readonly database: Database,
    private readonly users: Users,
    held: HeldEmails,
    private readonly hooks: Hooks,
  ) {
    this.#accounts = new NewAccounts(database, users, held, hooks);
  }

  /**
   * Creates the accounts that can be, in batches with a transaction each. With hooks of the app, each account has its own.
   *
   * @throws what hooks throw, except for an AuthError
   */
  async create(accounts: readonly NewAccount[], options: ManyOptions): Promise<Outcomes> {
    const outcomes: Outcomes = new Map();
    const size = this.#batchSize;
    for (let start = 0; start < accounts.length; start += size)
      for (const [account, outcome] of await this.#batch(accounts.slice(start, start + size), options))
        outcomes.set(account, outcome);
    return outcomes;
  }

  /** How many accounts one transaction makes at most: what a hook refuses leaves nothing behind. */
  get #batchSize(): number {
    const { beforeCreateUser, afterCreateUser, createRow } = this.hooks;
    if (beforeCreateUser || afterCreateUser || createRow) return 1;
    return this.users.rows ? BATCH_WITH_ROWS : BATCH;
  }

  async #batch(accounts: readonly NewAccount[], options: ManyOptions): Promise<Outcomes> {
    for (let round = 1; ; round++) {
      try {
        return await this.#transaction(accounts, options);
      } catch (error) {
        if (error instanceof AuthError && error.code !== 'unavailable')
          return this.#afterRefusal(accounts, options, error);
        // Lost a race with another insert: the next round finds that account.
        if (!violatedUnique(error)) throw error;
        if (round === MAX_ROUNDS) throw new AuthError('unavailable');
      }
    }
  }

  /** The app's code has refused one of the accounts, which undid them all. */
  async #afterRefusal(
    accounts: readonly NewAccount[],
    options: ManyOptions,
    refusal: AuthError,
  ): Promise<Outcomes> {
    const outcomes: Outcomes = new Map();
    for (const account of accounts) {
      const outcome = accounts.length === 1 ? refusal : (await this.#batch([account], options)).get(account);
      if (outcome) outcomes.set(account, outcome);
    }
    return outcomes;
  }

  async #transaction(accounts: readonly NewAccount[], options: ManyOptions): Promise<Outcomes> {
    const undone = new AuthError('unavailable');
    let outcomes: Outcomes = new Map();
    try {
      await this.database.transaction(async (transaction) => {
        outcomes = await this.#accounts.create(accounts, options, transaction);
        if (options.isTrial) throw undone;
      });
    } catch (error) {
      if (error !== undone) throw error;
    }
    for (const [account, outcome] of outcomes) {
      if (!('id' in outcome)) continue;
      options.seen?.add(outcome.id);
      if (options.isTrial) for (const taken of takenBy(account)) options.seen?.add(taken);
    }
    return outcomes;
  }
}
