import type { Transaction } from 'sequelize';
import type { Settings } from '../config/settings.js';
import type { CreatedVia } from '../config/user-options.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { Events } from '../outbox/events.js';
import type { FieldSource, Fields, FieldValues } from './core-fields.js';
import type { ManyOptions, NewAccount, Outcomes } from './create.js';
import type { HeldEmails } from './held-emails.js';
import { ManyUsers } from './many-users.js';
import { runHook } from './run-hook.js';
import type { NewUser, UserRecord } from './user-record.js';
import type { Users } from './users.js';

/** How an account is made, and what the app's hooks are told of it. */
export interface SignUpContext {
  readonly via: CreatedVia;
  /** Whose values the fields are. */
  readonly from: FieldSource;
  readonly fields?: FieldValues;
  /** The provider's id. */
  readonly provider?: string;
  /** What the provider said of the person. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** What else belongs to the account, such as an email to its owner, in the same transaction. */
  readonly alongside?: (created: UserRecord, transaction: Transaction) => Promise<void>;
}

/** What `signUp: 'closed'` does not refuse: accounts that the app itself makes, and not the person. */
const BY_THE_APP: ReadonlySet<string> = new Set(['code', 'admin', 'import']);

/** The only place where accounts are made, so that no way of making one can skip the app's hooks and rows. */
export class SignUp {
  readonly #many: ManyUsers;

  constructor(
    private readonly database: Database,
    private readonly users: Users,
    private readonly fields: Fields,
    private readonly settings: Pick<Settings, 'hooks' | 'signUp'>,
    readonly held: HeldEmails,
    private readonly events: Events,
  ) {
    this.#many = new ManyUsers(database, users, held, settings.hooks);
  }

  /**
   * Makes an account, with the app's hooks and fields, in one transaction, and emits `user.created`.
   *
   * @param transaction one to take part in
   * @throws AuthError `sign_up_refused` (403), `email_taken`, `username_taken` (409), `validation_failed` (422), and what
   *   hooks throw
   */
  async create(user: NewUser, context: SignUpContext, transaction?: Transaction): Promise<UserRecord> {
    this.checkOpen(context.via);
    const fields = this.fields.read(context.fields ?? {}, context.from, 'create');
    // Not what the hooks throw: a unique constraint of the app's table says nothing about emails.
    let refused: unknown;
    const work = (within: Transaction) =>
      this.#create(user, fields, context, within, (error) => {
        refused = error;
      });
    try {
      return await (transaction ? work(transaction) : this.database.transaction(work));
    } catch (error) {
      // After the transaction: on PostgreSQL, an error ends it.
      throw (error === refused && (await this.users.takenBy(error, user))) || error;
    }
  }

  /**
   * Refuses people who may not sign up themselves. Call it before the work that a sign-up needs, such as a hash.
   *
   * @throws AuthError `sign_up_refused`
   */
  checkOpen(via: CreatedVia): void {
    if (this.settings.signUp === 'closed' && !BY_THE_APP.has(via)) throw new AuthError('sign_up_refused');
  }

  /**
   * Makes many accounts whose fields have been read. What the app refuses leaves nothing behind.
   *
   * @returns the id of each account, or why it was not made
   * @throws what hooks throw, except for an AuthError
   */
  createMany(accounts: readonly NewAccount[], options: ManyOptions): Promise<Outcomes> {
    return this.#many.create(accounts, options);
  }

  async #create(
    user: NewUser,
    fields: FieldValues,
    { from: _, fields: __, alongside, ...how }: SignUpContext,
    transaction: Transaction,
    onRefused: (error: unknown) => void,
  ): Promise<UserRecord> {
    const { email, username } = user;
    const { context } = this.database;
    const { beforeCreateUser, afterCreateUser } = this.settings.hooks;
    await runHook(context, () =>
      beforeCreateUser?.({ email, username, fields: { ...fields }, ...how }, { transaction }),
    );
    const account = await this.users.create(user, fields, transaction).catch((error) => {
      onRefused(error);
      throw error;
    });
    await this.held.check(email, account.user.id, transaction);
    const created = await this.users.createRow(account, fields, transaction);
    const forApp = this.users.forCode(created);
    await runHook(context, () => afterCreateUser?.(forApp, { transaction, via: how.via }));
    this.events.emit('user.created', { userId: created.user.id }, transaction);
    await alongside?.(created, transaction);
    return created;
  }
}
