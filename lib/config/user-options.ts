import type { Transaction } from 'sequelize';
import type { User } from '../tables/user.js';

/** The type of a field's value. */
export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'date' | 'json';

/** A field that the app adds to its users. */
export interface FieldOptions {
  /**
   * The type of its values. An `integer` has 32 bits, with a sign. A `date` is a `Date` in code, and an ISO 8601 time in
   * JSON, in the years 1 to 9999. A `json` value is anything that JSON can represent.
   */
  readonly type: FieldType;
  /** Whether every new user must have a value. @default false */
  readonly required?: boolean;
  /** The value of new users who have none. @default null */
  readonly default?: unknown;
  /** The maximum number of characters of a string, in Unicode code points. @default 255 */
  readonly maxLength?: number;
  /** The minimum number of characters of a string, likewise. @default 0 */
  readonly minLength?: number;
  /** A regular expression that a string must match. @default any string */
  readonly pattern?: RegExp;
  /** The allowed values of a string, an integer or a number. @default all */
  readonly enum?: readonly (string | number)[];
  /** The minimum of an integer or a number. @default none */
  readonly minimum?: number;
  /** The maximum of an integer or a number. @default none */
  readonly maximum?: number;
  /**
   * Who sets it. `user`: users themselves too, when they sign up and with PATCH /me. `none`: only the app's code and
   * administrators.
   * @default 'user'
   */
  readonly input?: 'user' | 'none';
  /**
   * Who sees it. `self`: the user too, in `req.auth.user` and in responses. `admin`: administrators and `auth.users.get`.
   * `none`: only the app's own queries, with `auth.models` or its model.
   * @default 'self'
   */
  readonly output?: 'self' | 'admin' | 'none';
}

/** The fields of users, by their names in camelCase. */
export type FieldsOptions = Readonly<Record<string, FieldOptions>>;

/** Every way of making an account. Plugins add their own. */
export interface CreatedVias {
  /** The app's own code. */
  code: unknown;
  /** An import from another system. */
  import: unknown;
}

/** How an account was made. */
export type CreatedVia = keyof CreatedVias;

/** The account that is about to be made. */
export interface UserToCreate {
  /** In canonical form. */
  readonly email: string | null;
  /** In canonical form. */
  readonly username: string | null;
  /** The fields, with their defaults. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** How it is made. */
  readonly via: CreatedVia;
  /** The provider's id, if a provider's sign-in makes it. */
  readonly provider?: string;
  /** What the provider said of the person. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/**
 * Functions of the app that run within the transaction that makes, changes or deletes an account. What one throws rolls
 * everything back: an `AuthError` is the response, anything else goes to the app's error handler. A transaction that the
 * database aborts is retried, and runs them again, so they should have no effects outside of it.
 */
export interface Hooks {
  /** Runs before an account is made. Throw `new AuthError('sign_up_refused', { detail })` to refuse it. @default none */
  beforeCreateUser?(user: UserToCreate, context: { transaction: Transaction }): unknown;
  /**
   * Makes the app's row of a new account, in place of `model.create`. It must have the account's id in `user.foreignKey`.
   * @default `model.create({ …fields, [foreignKey]: user.id })`
   */
  createRow?(
    user: User,
    fields: Readonly<Record<string, unknown>>,
    context: { transaction: Transaction },
  ): unknown;
  /** Runs after an account, and the app's row, was made. @default none */
  afterCreateUser?(user: User, context: { transaction: Transaction; via: CreatedVia }): unknown;
  /**
   * Runs after fields, username, email or its verification changed; `changed` lists the attributes.
   * @default none
   */
  afterUpdateUser?(user: User, changed: readonly string[], context: { transaction: Transaction }): unknown;
  /** Runs before an account is deleted. @default none */
  beforeDeleteUser?(user: User, context: { transaction: Transaction }): unknown;
}

/** A Sequelize model of the app, of any copy of Sequelize. */
export interface RowModel {
  new (...given: never[]): object;
  readonly name: string;
  readonly sequelize?: object | undefined;
  getAttributes(): object;
  getTableName(): string | object;
}

/** Refuses options that do not exist, which an inferred type would otherwise accept. */
type KnownOptions<F extends FieldsOptions> = {
  readonly [K in keyof F]: { readonly [Unknown in Exclude<keyof F[K], keyof FieldOptions>]: never };
};

/** The app's own data of its users. */
export interface UserOptions<F extends FieldsOptions = FieldsOptions> {
  /** Fields beside email and username. @default none */
  readonly fields?: F & KnownOptions<F>;
  /**
   * The app's own Sequelize model of users, on the instance that `database` is. Each account has one row, which is made
   * with it and holds the fields; guards set `req.user` to it.
   * @default none: the fields are columns of latchkey's table
   */
  readonly model?: RowModel;
  /**
   * The attribute of `model` with the account's id, a `DataTypes.UUID` with a unique index.
   * @default none, required with `model`
   */
  readonly foreignKey?: string;
}
