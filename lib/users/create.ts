import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import type { CreatedVia } from '../config/hooks.js';
import type { Database } from '../database/database.js';
import { violatedUnique } from '../database/faults.js';
import { AuthError } from '../errors.js';
import type { Events } from '../outbox/events.js';
import type { User } from '../tables/core.js';
import type { FieldSource, FieldValues } from './fields.js';
import { type HeldEmails, heldEmail } from './held-emails.js';
import type { Refusal, RowPart } from './imported.js';
import {
  type ImportedLine,
  type ImportedUsers,
  type NewLine,
  originKey,
  type RowOrigin,
  type RowValues,
} from './imported-users.js';
import type { NewUser, UserRecord } from './record.js';
import type { AppRow } from './row-source.js';
import type { FoundRow, RowKey } from './rows.js';
import { runHook } from './updates.js';
import type { Users } from './users.js';

/** The creator of an account, as it is passed to the app's hooks. */
interface Creator {
  readonly via: CreatedVia;
  /** The provider's id. */
  readonly provider?: string;
  /** The provider's claims about the user. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** How an account is created. */
export interface SignUpContext extends Creator {
  /** The source of the fields. */
  readonly from: FieldSource;
  readonly fields?: FieldValues;
  /** Called after the database has accepted the user, before the app's own code and tables can reject the account. */
  readonly onInserted?: () => void;
  /** Writes other data of the account, such as an email to its owner, in the same transaction. */
  readonly alongside?: (created: UserRecord, transaction: Transaction) => Promise<void>;
}

/** The ways to create an account that `signUp: 'closed'` allows, because the app uses them, not the user. */
const BY_THE_APP: ReadonlySet<string> = new Set(['code', 'admin', 'import']);

/** What {@link SignUp} needs. */
interface SignUpNeeds {
  readonly database: Database;
  readonly settings: Settings;
  readonly users: Users;
  readonly held: HeldEmails;
  readonly events: Events;
  readonly imported: ImportedUsers;
}

/** The only place where accounts are created, so that the app's hooks and rows are never skipped. */
export class SignUp {
  readonly #accounts: NewAccounts;
  readonly #many: ManyUsers;

  constructor(private readonly core: SignUpNeeds) {
    this.#accounts = new NewAccounts(core);
    this.#many = new ManyUsers(core, this.#accounts);
  }

  /**
   * Creates an account, with the app's hooks and fields, in one transaction, and emits `user.created`.
   *
   * @param transaction a transaction to join
   * @throws AuthError `sign_up_refused` (403), `email_taken`, `username_taken` (409), `validation_failed` (422), and
   *   the errors of hooks
   */
  async create(
    user: NewUser,
    { from, fields: given = {}, onInserted, alongside, ...creator }: SignUpContext,
    transaction?: Transaction,
  ): Promise<UserRecord> {
    this.checkOpen(creator.via);
    const fields = this.core.users.fields.read(given, from, 'create');
    // Only the insert's error counts, because a hook's error can be about a unique constraint of the app's own table.
    let refused: unknown;
    const watch = {
      onInserted,
      onRefused: (error: unknown) => {
        refused = error;
      },
    };
    const work = async (within: Transaction) => {
      const account = { account: { user, fields }, row: null };
      const [created] = (await this.#accounts.create([account], creator, within, watch)) as [Created];
      if (created.isHeld) throw heldEmail();
      await alongside?.(created.record, within);
      return created.record;
    };
    try {
      return await (transaction ? work(transaction) : this.core.database.transaction(work));
    } catch (error) {
      // Find the cause after the transaction, because on PostgreSQL an error aborts it.
      throw (error === refused && (await this.core.users.takenBy(error, user))) || error;
    }
  }

  /**
   * Refuses a sign-up if users cannot sign up themselves. Call it before expensive work, such as hashing a password.
   *
   * @throws AuthError `sign_up_refused`
   */
  checkOpen(via: CreatedVia): void {
    if (this.core.settings.signUp === 'closed' && !BY_THE_APP.has(via))
      throw new AuthError('sign_up_refused');
  }

  /**
   * Creates many accounts whose fields have been read. An account that the app rejects leaves nothing behind.
   *
   * @returns the id of each account, or why it was not created
   * @throws the errors of hooks, except for an AuthError
   */
  createMany(accounts: readonly NewAccount[], options: ManyOptions): Promise<Outcomes> {
    return this.#many.create(accounts, options);
  }
}

/** An account that can be created, and the app's row that it belongs to. If the row is null, it is created too. */
interface Fresh {
  readonly account: NewAccount;
  readonly row: AppRow | null;
}

/** A new user. */
interface Created {
  readonly record: UserRecord;
  /** Whether an undo might restore the email to another account. If so, the new user must be removed. */
  readonly isHeld: boolean;
}

/** Observes whether the database has accepted new users. */
interface Watch {
  readonly onInserted?: (() => void) | undefined;
  readonly onRefused?: (error: unknown) => void;
}

/** Creates accounts in a transaction. */
class NewAccounts {
  constructor(private readonly core: SignUpNeeds) {}

  /**
   * Runs the hooks, and writes the users, the app's rows and the plugins' values.
   *
   * @param watch observes whether the database has accepted the users
   * @returns the users, in the order of the accounts
   * @throws the errors of the app's code
   */
  async create(
    accounts: readonly Fresh[],
    creator: Creator,
    transaction: Transaction,
    { onInserted, onRefused }: Watch = {},
  ): Promise<Created[]> {
    if (accounts.length === 0) return [];
    for (const one of accounts) await this.#before(one, creator, transaction);
    const users = accounts.map(({ account: { user, fields } }) => [user, fields] as const);
    const inserted = await this.core.users.insert(users, transaction).catch((error) => {
      onRefused?.(error);
      throw error;
    });
    onInserted?.();
    const emails = inserted.flatMap(({ user }) => user.email ?? []);
    const held = await this.core.held.among(emails, transaction);
    const created: Created[] = [];
    for (const [index, one] of accounts.entries()) {
      const record = inserted[index] as UserRecord;
      const isHeld = held.has(record.user.email ?? '');
      created.push({
        record: isHeld ? record : await this.#complete(one, record, creator, transaction),
        isHeld,
      });
    }
    await this.#writeValues(accounts, created, transaction);
    return created;
  }

  async #before({ account, row }: Fresh, creator: Creator, transaction: Transaction): Promise<void> {
    const { beforeCreateUser } = this.core.settings.hooks;
    if (!beforeCreateUser) return;
    const { email, username, usernameDisplay = username } = account.user;
    const fields = row ? this.core.users.rows?.fieldsOf(row) : account.fields;
    await runHook(this.core.database.context, () =>
      beforeCreateUser(
        { email, username, usernameDisplay, fields: { ...fields }, ...creator },
        { transaction },
      ),
    );
  }

  async #complete(
    { account, row }: Fresh,
    record: UserRecord,
    { via }: Creator,
    transaction: Transaction,
  ): Promise<UserRecord> {
    const created = row
      ? await this.core.users.linkRow(record, row, transaction)
      : await this.core.users.createRow(record, account.fields, transaction);
    const forApp = this.core.users.forCode(created);
    const { afterCreateUser } = this.core.settings.hooks;
    await runHook(this.core.database.context, () => afterCreateUser?.(forApp, { transaction, via }));
    if (via !== 'import') this.core.events.emit('user.created', { userId: created.user.id }, transaction);
    return created;
  }

  async #writeValues(
    accounts: readonly Fresh[],
    created: readonly Created[],
    transaction: Transaction,
  ): Promise<void> {
    const values = valuesByPart(
      created.flatMap(({ record, isHeld }, index) =>
        isHeld ? [] : [[accounts[index]?.account.values, record.user.id] as const],
      ),
    );
    for (const [part, ofUsers] of values) await part.write?.(new Map(ofUsers), transaction);
  }
}

const MAX_ROUNDS = 10;
const BATCH = 500;
// Each row of the app needs its own statements, and a transaction has four seconds in total.
const BATCH_WITH_ROWS = 50;

/** Creates many accounts with few statements, and skips the accounts that cannot be created. */
class ManyUsers {
  constructor(
    private readonly core: SignUpNeeds,
    private readonly accounts: NewAccounts,
  ) {}

  /**
   * Creates all accounts that can be created, in batches with one transaction each. If the app has hooks, each account
   * gets its own transaction.
   *
   * @throws the errors of hooks, except for an AuthError
   */
  async create(accounts: readonly NewAccount[], options: ManyOptions): Promise<Outcomes> {
    const outcomes: Outcomes = new Map();
    const size = this.#batchSize;
    for (let start = 0; start < accounts.length; start += size)
      for (const [account, outcome] of await this.#batch(accounts.slice(start, start + size), options))
        outcomes.set(account, outcome);
    return outcomes;
  }

  /**
   * The maximum number of accounts per transaction: one if there are hooks, because a refusal rolls back all accounts.
   */
  get #batchSize(): number {
    const { beforeCreateUser, afterCreateUser, createRow } = this.core.settings.hooks;
    if (beforeCreateUser || afterCreateUser || createRow) return 1;
    return this.core.users.rows ? BATCH_WITH_ROWS : BATCH;
  }

  async #batch(accounts: readonly NewAccount[], options: ManyOptions): Promise<Outcomes> {
    for (let round = 1; ; round++) {
      try {
        return await this.#transaction(accounts, options);
      } catch (error) {
        if (error instanceof AuthError && error.code !== 'unavailable')
          return this.#afterRefusal(accounts, options, error);
        // This insert lost a race with another insert, so the next round finds the other account.
        if (!violatedUnique(error)) throw error;
        if (round === MAX_ROUNDS) throw new AuthError('unavailable');
      }
    }
  }

  /**
   * Retries accounts one by one after the app's code rejected one of them, because the error rolled back all accounts.
   */
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
      await this.core.database.transaction(async (transaction) => {
        outcomes = await this.#create(accounts, options, transaction);
        if (options.isTrial) throw undone;
      });
    } catch (error) {
      if (error !== undone) throw error;
    }
    for (const [account, outcome] of outcomes) {
      if (!('id' in outcome)) continue;
      options.seen?.set(outcome.id, outcome.id);
      if (options.isTrial) for (const taken of takenBy(account)) options.seen?.set(taken, outcome.id);
    }
    return outcomes;
  }

  /** Creates all accounts that can be created. @throws the errors of the app's code */
  async #create(
    accounts: readonly NewAccount[],
    { via, seen }: ManyOptions,
    transaction: Transaction,
  ): Promise<Outcomes> {
    const outcomes: Outcomes = new Map();
    const known = await this.#known(accounts, transaction);
    const fresh: Fresh[] = [];
    for (const account of accounts) {
      const outcome = this.#outcomeOf(account, known, seen);
      if (outcome) outcomes.set(account, outcome);
      // Another row must not describe the same account.
      if (outcome && 'id' in outcome) known.taken.set(outcome.id, outcome.id);
      if (!outcome) fresh.push({ account, row: known.rows.get(account.rowKey ?? '')?.row ?? null });
      if (!outcome) for (const one of takenBy(account)) known.taken.set(one, account.user.id ?? '');
    }
    const created = await this.accounts.create(fresh, { via }, transaction);
    for (const [index, { record, isHeld }] of created.entries()) {
      const { id } = record.user;
      outcomes.set((fresh[index] as Fresh).account, isHeld ? EMAIL_TAKEN : { id, isNew: true, line: null });
      if (isHeld) await this.core.users.table.delete({ id }, transaction);
    }
    await this.#remember(outcomes, known, transaction);
    return outcomes;
  }

  /** Remembers the account of each row, unless it is already known. */
  async #remember(outcomes: Outcomes, { lines }: Known, transaction: Transaction): Promise<void> {
    const unknown = [...outcomes].flatMap(([{ origin, rowValues = {} }, outcome]): NewLine[] => {
      if (!origin || !('id' in outcome) || outcome.line) return [];
      const before = lines.get(originKey(origin)) ?? null;
      return [{ origin, userId: outcome.id, values: outcome.isNew ? rowValues : null, before }];
    });
    await this.core.imported.remember(unknown, transaction);
  }

  /** Returns the account that already exists, or why it cannot be created. Null if it can be created. */
  #outcomeOf(
    account: NewAccount,
    { users, rows, lines, taken }: Known,
    seen: ReadonlyMap<string, string> | undefined,
  ): Outcome | null {
    const { user, rowKey, hasGivenId, origin } = account;
    const { id = '', email, username } = user;
    const holderOf = (one: string) => taken.get(one) ?? seen?.get(one);
    const isTaken = (one: string) => holderOf(one) !== undefined;
    const line = (origin && lines.get(originKey(origin))) ?? null;
    if (line?.userId === null) return DELETED;
    if (isTaken(id) || (rowKey !== undefined && isTaken(rowIdentity(rowKey)))) return DUPLICATE;
    if (origin && !line && isTaken(originIdentity(origin))) return DUPLICATE;
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
    for (const [part, value] of account.values ?? [])
      if (part.identitiesOf?.(value).some(isTaken)) return part.taken ?? DUPLICATE;
    return null;
  }

  async #known(accounts: readonly NewAccount[], transaction: Transaction): Promise<Known> {
    const keys = accounts.flatMap(({ rowKey }) => rowKey ?? []);
    const rows = (await this.core.users.rows?.findByKeys(keys, transaction)) ?? new Map<RowKey, FoundRow>();
    const lines = await this.core.imported.find(
      accounts.flatMap(({ origin }) => origin ?? []),
      transaction,
    );
    const ids = [
      ...accounts.flatMap(({ user: { id } }) => id ?? []),
      ...[...rows.values()].flatMap(({ accountId }) => accountId ?? []),
      ...[...lines.values()].flatMap(({ userId }) => userId ?? []),
    ];
    const select = (condition: string, values: Record<string, string[]>) =>
      this.core.users.table.shown('u').select(`WHERE ${condition}`, values, transaction);
    // Select the accounts by id last: if another import commits the same account between two statements, it must be
    // found as this account, not only as one that has taken the email.
    const taken = new Map<string, string>();
    for (const [part, values] of valuesByPart(accounts.map(({ values }) => [values, '']))) {
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

/** An account to create. */
export interface NewAccount {
  readonly user: NewUser;
  readonly fields: FieldValues;
  /** Whether the import row has an id, which might be another user's. @default false: it is derived from the user */
  readonly hasGivenId?: boolean;
  /** The primary key of the app's row that it belongs to. @default none: its row is created */
  readonly rowKey?: RowKey | undefined;
  /** The values that plugins write for the account. @default nothing */
  readonly values?: ReadonlyMap<RowPart, unknown>;
  /** The row of an import that describes the account. @default none */
  readonly origin?: RowOrigin;
  /** The keys of its row that were skipped. The account keeps its values there. */
  readonly lost?: readonly string[];
  /** The values of that row. @default none */
  readonly rowValues?: RowValues;
}

/** How accounts are created. */
export interface ManyOptions {
  readonly via: CreatedVia;
  /** Whether everything is rolled back. @default false */
  readonly isTrial?: boolean;
  /**
   * The ids of the run's earlier accounts and, in a trial, the names they would have taken, with the ids.
   * @default not known
   */
  readonly seen?: Map<string, string>;
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
export type Outcomes = Map<NewAccount, Outcome>;

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
export function takenBy({ user, rowKey, origin, values = new Map() }: NewAccount): string[] {
  const ofParts = [...values].flatMap(([part, value]) => part.identitiesOf?.(value) ?? []);
  const ofRow = rowKey === undefined ? [] : [rowIdentity(rowKey)];
  const ofOrigin = origin === undefined ? [] : [originIdentity(origin)];
  return [...(user.id === undefined ? [] : [user.id]), ...namesOf(user), ...ofRow, ...ofOrigin, ...ofParts];
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

/** Groups the values of accounts by part, with the accounts' ids. */
function valuesByPart(
  accounts: readonly (readonly [values: NewAccount['values'], id: string])[],
): Map<RowPart, [id: string, value: unknown][]> {
  const all = new Map<RowPart, [string, unknown][]>();
  for (const [values, id] of accounts)
    for (const [part, value] of values ?? []) {
      const list = all.get(part) ?? [];
      list.push([id, value]);
      all.set(part, list);
    }
  return all;
}
