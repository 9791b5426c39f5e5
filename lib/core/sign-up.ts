import type { Transaction } from 'sequelize';
import type { CreatedVia, Hooks } from '../config/user-options.js';
import type { CallContext } from '../context/call.js';
import type { Database } from '../database/database.js';
import { AppError } from '../database/faults.js';
import { AuthError } from '../errors.js';
import type { FieldSource, Fields, FieldValues } from './fields.js';
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
}

/** The only place where accounts are made, so that no way of making one can skip the app's hooks and rows. */
export class SignUp {
  constructor(
    private readonly database: Database,
    private readonly users: Users,
    private readonly fields: Fields,
    private readonly hooks: Hooks,
  ) {}

  /**
   * Makes an account, with the app's hooks and fields, in one transaction. The caller emits `user.created` afterwards.
   *
   * @param transaction one to take part in
   * @throws AuthError `email_taken`, `username_taken` (409), `validation_failed` (422), and what hooks throw
   */
  async create(user: NewUser, context: SignUpContext, transaction?: Transaction): Promise<UserRecord> {
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

  async #create(
    user: NewUser,
    fields: FieldValues,
    { from: _, fields: __, ...how }: SignUpContext,
    transaction: Transaction,
    onRefused: (error: unknown) => void,
  ): Promise<UserRecord> {
    const { email, username } = user;
    const { context } = this.database;
    const { beforeCreateUser, afterCreateUser } = this.hooks;
    await runHook(context, () => beforeCreateUser?.({ email, username, fields, ...how }, { transaction }));
    const created = await this.users.create(user, fields, transaction).catch((error) => {
      onRefused(error);
      throw error;
    });
    const forApp = this.users.forCode(created);
    await runHook(context, () => afterCreateUser?.(forApp, { transaction, via: how.via }));
    return created;
  }
}

/**
 * Runs the app's code within a transaction. What it throws reaches the app, not the code that handles the database. Its
 * own calls to latchkey are part of the transaction only if they name it.
 */
export async function runHook<T>(context: CallContext, hook: () => T | Promise<T>): Promise<T> {
  try {
    return await context.forApp(hook);
  } catch (error) {
    throw error instanceof AuthError ? error : new AppError(error);
  }
}
