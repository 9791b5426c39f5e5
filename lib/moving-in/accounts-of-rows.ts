import type { Transaction } from 'sequelize';
import type { Core } from '../core/core.js';
import { inTurns, slicesOf } from '../database/batches.js';
import { violatedUnique } from '../database/faults.js';
import { AuthError } from '../errors.js';
import type { User } from '../tables/core.js';
import { type Fresh, type NewAccount, valuesByReader } from '../users/create.js';
import type { Refusal, RowReader, RowValues } from '../users/imported.js';
import {
  type ImportedLine,
  type ImportKey,
  type NewLine,
  originKey,
  type RowOrigin,
} from '../users/imported-users.js';
import type { FoundRow, RowKey } from '../users/rows.js';
import { stampsOf } from './imported-rows.js';

const MAX_ROUNDS = 10;
// Each row of the app needs its own statements, and a transaction has four seconds in total.
const BATCH_WITH_ROWS = 50;

/** Creates the accounts of rows with few statements, and skips the rows that cannot have one. */
export class AccountsOfRows {
  /**
   * @param isTrial whether everything is rolled back
   * @param seen the ids of the run's earlier accounts and, in a trial, the names they would have taken, with the ids
   */
  constructor(
    private readonly core: Core,
    private readonly isTrial: boolean,
    private readonly seen: Map<string, string>,
  ) {}

  /**
   * Creates all accounts of a batch that can be created, in one transaction or a few. If the app has hooks, each account
   * gets its own transaction.
   *
   * @throws the errors of hooks, except for an AuthError
   */
  async create(accounts: readonly AccountOfRow[]): Promise<Outcomes> {
    const outcomes: Outcomes = new Map();
    for await (const some of slicesOf(accounts, this.#batchSize))
      for (const [account, outcome] of await this.#batch(some)) outcomes.set(account, outcome);
    return outcomes;
  }

  /**
   * The maximum number of accounts per transaction: one if there are hooks, because a refusal rolls back all accounts.
   */
  get #batchSize(): number {
    const { beforeCreateUser, afterCreateUser, createRow } = this.core.settings.hooks;
    if (beforeCreateUser || afterCreateUser || createRow) return 1;
    return this.core.users.rows ? BATCH_WITH_ROWS : Number.POSITIVE_INFINITY;
  }

  async #batch(accounts: readonly AccountOfRow[]): Promise<Outcomes> {
    for (let round = 1; ; round++) {
      try {
        return await this.#transaction(accounts);
      } catch (error) {
        if (error instanceof AuthError && error.code !== 'unavailable')
          return this.#afterRefusal(accounts, error);
        // This insert lost a race with another insert, so the next round finds the other account.
        if (!violatedUnique(error)) throw error;
        if (round === MAX_ROUNDS) throw new AuthError('unavailable');
      }
    }
  }

  /**
   * Retries accounts one by one after the app's code rejected one of them, because the error rolled back all accounts.
   */
  async #afterRefusal(accounts: readonly AccountOfRow[], refusal: AuthError): Promise<Outcomes> {
    const outcomes: Outcomes = new Map();
    for await (const account of inTurns(accounts)) {
      const outcome = accounts.length === 1 ? refusal : (await this.#batch([account])).get(account);
      if (outcome) outcomes.set(account, outcome);
    }
    return outcomes;
  }

  async #transaction(accounts: readonly AccountOfRow[]): Promise<Outcomes> {
    const undone = new AuthError('unavailable');
    let outcomes: Outcomes = new Map();
    try {
      await this.core.database.transaction(async (transaction) => {
        outcomes = await this.#create(accounts, transaction);
        if (this.isTrial) throw undone;
      });
    } catch (error) {
      if (error !== undone) throw error;
    }
    for (const [account, outcome] of outcomes) {
      if (!('id' in outcome)) continue;
      this.seen.set(outcome.id, outcome.id);
      if (this.isTrial) for (const taken of takenBy(account)) this.seen.set(taken, outcome.id);
    }
    return outcomes;
  }

  /** Creates all accounts that can be created. @throws the errors of the app's code */
  async #create(accounts: readonly AccountOfRow[], transaction: Transaction): Promise<Outcomes> {
    const { signUp, users } = this.core;
    const outcomes: Outcomes = new Map();
    const known = await this.#known(accounts, transaction);
    const fresh: Fresh<AccountOfRow>[] = [];
    for (const account of accounts) {
      const outcome = this.#outcomeOf(account, known);
      if (outcome) outcomes.set(account, outcome);
      // Another row must not describe the same account.
      if (outcome && 'id' in outcome) known.taken.set(outcome.id, outcome.id);
      if (!outcome) fresh.push({ account, row: known.rows.get(account.rowKey ?? '')?.row ?? null });
      if (!outcome) for (const one of takenBy(account)) known.taken.set(one, account.user.id ?? '');
    }
    const created = await signUp.accounts.create(fresh, { via: 'import' }, transaction);
    for (const [index, { record, isHeld }] of created.entries()) {
      const { id } = record.user;
      outcomes.set(
        (fresh[index] as Fresh<AccountOfRow>).account,
        isHeld ? EMAIL_TAKEN : { id, isNew: true, line: null },
      );
      if (isHeld) await users.table.delete({ id }, transaction);
    }
    await this.#remember(outcomes, known, transaction);
    return outcomes;
  }

  /** Remembers the account of each row, unless it is already known. */
  async #remember(outcomes: Outcomes, { lines }: Known, transaction: Transaction): Promise<void> {
    const unknown = [...outcomes].flatMap(([{ origin, rowValues }, outcome]): NewLine[] => {
      if (!('id' in outcome) || outcome.line) return [];
      const before = lines.get(originKey(origin)) ?? null;
      // An account that existed before might not match the row.
      const stampsBy = outcome.isNew ? (key: ImportKey) => stampsOf(key, rowValues) : null;
      return [{ origin, userId: outcome.id, stampsBy, before }];
    });
    await this.core.imported.remember(unknown, transaction);
  }

  /** Returns the account that already exists, or why it cannot be created. Null if it can be created. */
  #outcomeOf(account: AccountOfRow, { users, rows, lines, taken }: Known): Outcome | null {
    const { user, rowKey, hasGivenId, origin } = account;
    const { id = '', email, username } = user;
    const holderOf = (one: string) => taken.get(one) ?? this.seen.get(one);
    const isTaken = (one: string) => holderOf(one) !== undefined;
    const line = lines.get(originKey(origin)) ?? null;
    if (line?.userId === null) return DELETED;
    if (isTaken(id) || (rowKey !== undefined && isTaken(rowIdentity(rowKey)))) return DUPLICATE;
    if (!line && isTaken(originIdentity(origin))) return DUPLICATE;
    const found = rowKey === undefined ? null : rows.get(rowKey);
    if (found === undefined) return NO_ROW;
    const existing = (accountId: string, of: ImportedLine | null): Outcome =>
      isTaken(accountId) ? DUPLICATE : { id: accountId, isNew: false, line: of };
    const accountId = found?.accountId ?? null;
    if (accountId !== null)
      return users.has(accountId)
        ? existing(accountId, line?.userId === accountId ? line : null)
        : isTaken(accountId)
          ? DUPLICATE
          : ROW_TAKEN;
    if (line && users.has(line.userId)) return existing(line.userId, line);
    const same = users.get(id);
    if (same)
      return !hasGivenId || (same.email === email && same.username === username)
        ? existing(id, null)
        : ID_TAKEN;
    if (email !== null && isTaken(`email ${email}`))
      return { ...EMAIL_TAKEN, holder: holderOf(`email ${email}`) };
    if (username !== null && isTaken(`username ${username}`))
      return { ...USERNAME_TAKEN, holder: holderOf(`username ${username}`) };
    for (const [part, value] of account.values)
      if (part.identitiesOf?.(value).some(isTaken)) return part.taken ?? DUPLICATE;
    return null;
  }

  async #known(accounts: readonly AccountOfRow[], transaction: Transaction): Promise<Known> {
    const { imported, users } = this.core;
    const keys = accounts.flatMap(({ rowKey }) => rowKey ?? []);
    const rows = (await users.rows?.findByKeys(keys, transaction)) ?? new Map<RowKey, FoundRow>();
    const lines = await imported.find(
      accounts.map(({ origin }) => origin),
      transaction,
    );
    const ids = [
      ...accounts.flatMap(({ user: { id } }) => id ?? []),
      ...[...rows.values()].flatMap(({ accountId }) => accountId ?? []),
      ...[...lines.values()].flatMap(({ userId }) => userId ?? []),
    ];
    const select = (condition: string, values: Record<string, string[]>) =>
      users.table.shown('u').select(`WHERE ${condition}`, values, transaction);
    // Select the accounts by id last: if another import commits the same account between two statements, it must be
    // found as this account, not only as one that has taken the email.
    const taken = new Map<string, string>();
    for (const [part, values] of valuesByReader(accounts.map(({ values }) => [values, '']))) {
      const given = values.map(([, value]) => value);
      for (const one of (await part.takenAmong?.(given, transaction)) ?? []) taken.set(one, '');
    }
    const emails = accounts.map(({ user }) => user.email ?? '');
    const usernames = accounts.map(({ user }) => user.username ?? '');
    const byName = await select('u.email IN (:emails) OR u.username IN (:usernames)', { emails, usernames });
    for (const user of byName) for (const one of namesOf(user)) taken.set(one, user.id);
    const byId = ids.length > 0 ? await select('u.id IN (:ids)', { ids }) : [];
    return { users: new Map(byId.map((user) => [user.id, user])), rows, lines, taken };
  }
}

/** The account that a row describes. */
export interface AccountOfRow extends NewAccount {
  /** Whether the row has an id, which might be another user's. Otherwise, it is derived from the user. */
  readonly hasGivenId: boolean;
  /** The primary key of the app's row that it belongs to. Undefined if its row is created. */
  readonly rowKey: RowKey | undefined;
  readonly values: ReadonlyMap<RowReader, unknown>;
  readonly origin: RowOrigin;
  /** The keys of the row that were skipped. The account keeps its values there. */
  readonly lost: readonly string[];
  /** The values of the row. */
  readonly rowValues: RowValues;
}

/** The account, which is new or existed before, or the reason why there is no account. */
export type Outcome = FoundAccount | Refusal;

/** The account of a row. */
export interface FoundAccount {
  readonly id: string;
  readonly isNew: boolean;
  /** The stored line of the row. Null if it is new, or was not remembered before. */
  readonly line: ImportedLine | null;
}

/** The outcome of each account. */
export type Outcomes = Map<AccountOfRow, Outcome>;

/** The users, rows and names that the database already contains. */
interface Known {
  /** The users, by id. */
  readonly users: ReadonlyMap<string, User>;
  /** The app's rows, by the primary keys that the accounts refer to. */
  readonly rows: ReadonlyMap<RowKey, FoundRow>;
  /** The stored lines of the rows, by their refs as strings. */
  readonly lines: ReadonlyMap<string, ImportedLine>;
  /**
   * Emails, usernames and plugins' identities, including identities of earlier accounts in the list, with the ids of
   * the accounts that have them, or an empty string if the account is not known.
   */
  readonly taken: Map<string, string>;
}

/** The code of a row whose account was deleted here. */
export const ACCOUNT_DELETED = 'account_deleted';

const EMAIL_TAKEN: Refusal = {
  code: 'email_taken',
  detail: 'another account, or an earlier one in the list, has this email',
};
const USERNAME_TAKEN: Refusal = {
  code: 'username_taken',
  detail: 'another account, or an earlier one in the list, has this username',
};
const ID_TAKEN: Refusal = { code: 'id_taken', detail: 'another user’s account has this id' };
const NO_ROW: Refusal = {
  code: 'ref_not_found',
  detail: 'user.model has no row with this primary key: omit ref to create a new row',
};
const ROW_TAKEN: Refusal = {
  code: 'ref_taken',
  detail: 'the row names an account that does not exist: set its foreign key to NULL',
};
const DELETED: Refusal = {
  code: ACCOUNT_DELETED,
  detail: 'its account was deleted here, and is not re-created',
};
const DUPLICATE: Refusal = { code: 'duplicate_row', detail: 'an earlier row describes the same user' };

/** Returns the values of an account that no other account can have. */
export function takenBy({ user, rowKey, origin, values }: AccountOfRow): string[] {
  const ofParts = [...values].flatMap(([part, value]) => part.identitiesOf?.(value) ?? []);
  const ofRow = rowKey === undefined ? [] : [rowIdentity(rowKey)];
  const id = user.id === undefined ? [] : [user.id];
  return [...id, ...namesOf(user), ...ofRow, originIdentity(origin), ...ofParts];
}

function namesOf({ email, username }: Pick<User, 'email' | 'username'>): string[] {
  return [
    ...(email === null ? [] : [`email ${email}`]),
    ...(username === null ? [] : [`username ${username}`]),
  ];
}

function originIdentity(origin: RowOrigin): string {
  return `origin ${originKey(origin)}`;
}

function rowIdentity(key: RowKey): string {
  return `row ${key}`;
}
