import * as z from 'zod';
import { flag, schemaOf } from './options.js';

/** Which routes users have to change their own account. */
export interface AccountOptions {
  /** PATCH /me. @default true */
  update?: boolean;
  /** The routes below /email-changes. @default true */
  changeEmail?: boolean;
  /** DELETE /me. @default true */
  delete?: boolean;
}

/** @internal */
export const accountSchema = schemaOf<AccountOptions>()({
  update: flag.default(true),
  changeEmail: flag.default(true),
  delete: flag.default(true),
});

/** What becomes of accounts that are deleted. */
export interface AccountDeletionOptions {
  /**
   * For how many days an account is kept shut before `auth.prune()` deletes it for good, 0 to 3650. Until then, the link in
   * the notice about it can bring it back.
   * @default 0: it is deleted at once
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
