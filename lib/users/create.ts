import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import type { CreatedVia } from '../config/hooks.js';
import type { CallContext } from '../context/call.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { Languages } from '../locale/languages.js';
import type { Events } from '../outbox/events.js';
import type { FieldSource, FieldValues } from './fields.js';
import { type HeldEmails, heldEmail } from './held-emails.js';
import type { RowReader } from './imported.js';
import type { NewUser, UserRecord } from './record.js';
import type { AppRow } from './row-source.js';
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

/**
 * The ways to create an account that `signUp: 'closed'` allows, because the app uses them, not the user, or because the
 * plugin decides.
 */
const NEVER_CLOSED: ReadonlySet<string> = new Set(['code', 'admin', 'import', 'invitation']);

/** A plugin that invites people who have no account. */
export interface Invites {
  /** Whether someone with this email can create an account although sign-ups are closed. They have proven the mailbox. */
  invites?(email: string, transaction?: Transaction): Promise<boolean>;
}

/** What {@link SignUp} needs. */
interface SignUpNeeds {
  readonly database: Database;
  readonly settings: Settings;
  readonly users: Users;
  readonly held: HeldEmails;
  readonly events: Events;
  readonly context: CallContext;
  readonly languages: Languages;
  readonly contributions: readonly Invites[];
}

/** The ways to create an account in which someone other than its owner sends the request. */
const BY_OTHERS: ReadonlySet<string> = new Set(['code', 'admin', 'import']);

/** The only place where accounts are created, so that the app's hooks and rows are never skipped. */
export class SignUp {
  /** Writes the accounts. */
  readonly accounts: NewAccounts;

  constructor(private readonly core: SignUpNeeds) {
    this.accounts = new NewAccounts(core);
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
    const isProven = user.emailProof?.reaches('mailbox') ?? false;
    await this.requireOpen(creator.via, isProven ? user.email : null, transaction);
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
      const account = { account: { user: this.#withLanguage(user, creator.via), fields }, row: null };
      const [created] = (await this.accounts.create([account], creator, within, watch)) as [Created];
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

  /** Adds the language of the request to a user, whose emails will have it until the user chooses one. */
  #withLanguage(user: NewUser, via: CreatedVia): NewUser {
    const { languages, context } = this.core;
    const { request } = context.client;
    if (!languages.areMany || !request || BY_OTHERS.has(via)) return user;
    return { ...user, columns: { ...user.columns, signUpLanguage: languages.of(request, null) } };
  }

  /**
   * Refuses a sign-up if users cannot sign up themselves. Call it before expensive work, such as hashing a password.
   *
   * @param proven the email of the new account, if the person who signs up has access to its mailbox. Null otherwise
   * @throws AuthError `sign_up_refused`
   */
  async requireOpen(via: CreatedVia, proven: string | null, transaction?: Transaction): Promise<void> {
    if (this.core.settings.signUp !== 'closed' || NEVER_CLOSED.has(via)) return;
    if (proven === null || !(await this.isInvited(proven, transaction)))
      throw new AuthError('sign_up_refused');
  }

  /** Whether a plugin has invited an address, so that its owner can sign up although sign-ups are closed. */
  async isInvited(email: string, transaction?: Transaction): Promise<boolean> {
    for (const plugin of this.core.contributions) if (await plugin.invites?.(email, transaction)) return true;
    return false;
  }
}

/** An account to create. */
export interface NewAccount {
  readonly user: NewUser;
  readonly fields: FieldValues;
  /** The values that plugins write for the account. @default nothing */
  readonly values?: ReadonlyMap<RowReader, unknown>;
}

/** An account that can be created, and the app's row that it belongs to. If the row is null, it is created too. */
export interface Fresh<Account extends NewAccount = NewAccount> {
  readonly account: Account;
  readonly row: AppRow | null;
}

/** A new user. */
export interface Created {
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
export class NewAccounts {
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
    await runHook(this.core.database, transaction, (given) =>
      beforeCreateUser({ email, username, usernameDisplay, fields: { ...fields }, ...creator }, given),
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
    await runHook(this.core.database, transaction, (given) =>
      afterCreateUser?.(forApp, Object.assign(given, { via })),
    );
    if (via !== 'import') this.core.events.emit('user.created', { userId: created.user.id }, transaction);
    return created;
  }

  async #writeValues(
    accounts: readonly Fresh[],
    created: readonly Created[],
    transaction: Transaction,
  ): Promise<void> {
    const values = valuesByReader(
      created.flatMap(({ record, isHeld }, index) =>
        isHeld ? [] : [[accounts[index]?.account.values, record.user.id] as const],
      ),
    );
    for (const [reader, ofUsers] of values) await reader.write?.(new Map(ofUsers), transaction);
  }
}

/** Groups the values of accounts by what has read them, with the accounts' ids. */
export function valuesByReader(
  accounts: readonly (readonly [values: NewAccount['values'], id: string])[],
): Map<RowReader, [id: string, value: unknown][]> {
  const all = new Map<RowReader, [string, unknown][]>();
  for (const [values, id] of accounts)
    for (const [reader, value] of values ?? []) {
      const list = all.get(reader) ?? [];
      list.push([id, value]);
      all.set(reader, list);
    }
  return all;
}
