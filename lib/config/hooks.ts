import type { Transaction } from 'sequelize';
import * as z from 'zod';
import type { User } from '../tables/core.js';
import { schemaOf } from './options.js';

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

const hook = <Name extends keyof Hooks>() =>
  z.custom<NonNullable<Hooks[Name]>>((it) => typeof it === 'function', 'must be a function').optional();

/** @internal */
export const hooksSchema = schemaOf<Hooks>()({
  beforeCreateUser: hook<'beforeCreateUser'>(),
  createRow: hook<'createRow'>(),
  afterCreateUser: hook<'afterCreateUser'>(),
  afterUpdateUser: hook<'afterUpdateUser'>(),
  beforeDeleteUser: hook<'beforeDeleteUser'>(),
});
