import type { Transaction } from 'sequelize';
import * as z from 'zod';
import type { User } from '../tables/core.js';
import { schemaOf } from './options.js';

/** The ways to create an account. Plugins add their own. */
export interface CreatedVias {
  /** The app's own code. */
  code: unknown;
  /** An import from another system. */
  import: unknown;
}

/** How an account was created. */
export type CreatedVia = keyof CreatedVias;

/** The transaction in which a hook runs. The hook must not end it. */
export interface HookTransaction {
  /** For queries of the Sequelize instance, and with `auth.models`. */
  readonly transaction: Transaction;
  /**
   * The connection of the transaction, for statements of other libraries: a client of `pg`, a connection of `mysql2` with
   * callbacks or, on SQLite, a database of the driver. If the app has passed a connection to the call, it is that one.
   * Use it only until the hook is done.
   */
  readonly connection: unknown;
}

/** The account that is about to be created. */
export interface UserToCreate {
  /** In canonical form. */
  readonly email: string | null;
  /** In canonical form. */
  readonly username: string | null;
  /** The username as the user typed it. */
  readonly usernameDisplay: string | null;
  /** The fields, with their defaults. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** How the account is created. */
  readonly via: CreatedVia;
  /** The provider's id, if a sign-in with the provider creates the account. */
  readonly provider?: string;
  /** The provider's claims about the user. */
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** An organization, as it is passed to hooks. */
export interface OrganizationInHook {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly createdAt: Date;
}

/**
 * The app's functions that run within the transaction that creates, changes or deletes an account, and `exportUser`. An
 * error in one of them rolls everything back. An `AuthError` becomes the response, and any other error goes to the
 * app's error handler. If the database aborts the transaction, the transaction is retried and the hooks run again, so
 * hooks should have no effects outside of the transaction.
 */
export interface Hooks {
  /**
   * Runs before an account is created. Throw `new AuthError('sign_up_refused', { detail })` to refuse it.
   * @default none
   */
  beforeCreateUser?(user: UserToCreate, context: HookTransaction): unknown;
  /**
   * Creates the app's row for a new account, in place of `model.create`. The row must have the account's id in
   * `user.foreignKey`.
   * @default `model.create({ …fields, [foreignKey]: user.id })`
   */
  createRow?(user: User, fields: Readonly<Record<string, unknown>>, context: HookTransaction): unknown;
  /** Runs after an account and the app's row are created. @default none */
  afterCreateUser?(user: User, context: HookTransaction & { via: CreatedVia }): unknown;
  /**
   * Runs after the fields, username, email or the email's verification have changed; `changed` lists the attributes.
   * @default none
   */
  afterUpdateUser?(user: User, changed: readonly string[], context: HookTransaction): unknown;
  /** Runs before an account is deleted. @default none */
  beforeDeleteUser?(user: User, context: HookTransaction): unknown;
  /**
   * Returns the app's own data about a user, for the export of the user's data. It becomes the value of `app` in the
   * export, and must be a value that JSON can represent. `transaction` and `connection` are those of the app's
   * transaction, if `auth.exportUser` is called with one. If the function throws, the export fails.
   * @default none: the export does not contain `app`
   */
  exportUser?(
    user: User,
    context: HookTransaction | { transaction: undefined; connection: undefined },
  ): unknown;
  /**
   * Runs after an organization was created, for your own rows with a foreign key to it. `ownerId` is its first owner.
   * Requires `organizations()`.
   * @default none
   */
  createOrganization?(
    organization: OrganizationInHook,
    context: HookTransaction & { readonly ownerId: string },
  ): unknown;
  /** Runs before an organization is deleted. Requires `organizations()`. @default none */
  deleteOrganization?(organization: OrganizationInHook, context: HookTransaction): unknown;
}

const hook = <Name extends keyof Hooks>() =>
  z.custom<NonNullable<Hooks[Name]>>((it) => typeof it === 'function', 'must be a function').optional();

/** @internal */
export const hooksSchema = schemaOf<Hooks>()({
  beforeCreateUser: hook<'beforeCreateUser'>(),
  createRow: hook<'createRow'>(),
  afterCreateUser: hook<'afterCreateUser'>(),
  afterUpdateUser: hook<'afterUpdateUser'>(),
  beforeDeleteUser: hook<'beforeDeleteUser'>(),
  exportUser: hook<'exportUser'>(),
  createOrganization: hook<'createOrganization'>(),
  deleteOrganization: hook<'deleteOrganization'>(),
});
