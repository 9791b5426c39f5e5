import type { ClientInput, TransactionOption } from '../../sessions/client-input.js';
import type { NewFieldValues } from '../../users/core-fields.js';

declare module '../../config/user-options.js' {
  interface CreatedVias {
    /** An administrator. */
    admin: unknown;
  }
}

/** Options of operations that change something of a user. */
export interface AdminCallOptions extends TransactionOption {
  /** The id of the administrator who does it, for the event. @default null: the app itself */
  adminId?: string | null;
}

/** The input of `auth.admin.createUser`: an email, a username, or both. */
export interface CreateUserByAdminInput extends ClientInput, AdminCallOptions {
  /** The email. With `email` in the config, an invitation goes to it. @default none */
  email?: string | null | undefined;
  /** The username, if usernames are enabled. @default none */
  username?: string | null | undefined;
  /** The values of the app's fields, of those with `input: 'none'` too. @default their defaults */
  fields?: NewFieldValues | undefined;
}

/** The input of `auth.admin.updateUser`. What is left out stays. */
export interface UpdateUserByAdminInput extends ClientInput, AdminCallOptions {
  /** The new username, if usernames are enabled. @default unchanged */
  username?: string | undefined;
  /** New values of the app's fields, of those with `input: 'none'` too. @default unchanged */
  fields?: Readonly<Record<string, unknown>> | undefined;
}
