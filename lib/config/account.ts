import * as z from 'zod';
import { flag, schemaOf } from './options.js';

/** The routes that let users change their own account. */
export interface AccountOptions {
  /** Whether PATCH /me is enabled. @default true */
  update?: boolean;
  /** Whether the routes below /email-changes are enabled. @default true */
  changeEmail?: boolean;
  /** Whether DELETE /me is enabled. @default true */
  delete?: boolean;
  /** Whether POST /me/export is enabled. @default true */
  export?: boolean;
}

/** @internal */
export const accountSchema = schemaOf<AccountOptions>()({
  update: flag.default(true),
  changeEmail: flag.default(true),
  delete: flag.default(true),
  export: flag.default(true),
});

/** How accounts are deleted. */
export interface AccountDeletionOptions {
  /**
   * The number of days that a deleted account is kept before `auth.prune()` permanently deletes it, 0 to 3650. Until
   * then, no one can sign in to it, and the link in the notice about the deletion can restore it.
   * @default 0: it is deleted immediately
   */
  graceDays?: number;
}

/** @internal */
export const accountDeletionSchema = schemaOf<AccountDeletionOptions>()({
  graceDays: z
    .int('must be a whole number of days')
    .min(0, 'must be 0 days or more')
    .max(3650, 'must be at most 3650 days')
    .default(0),
});
