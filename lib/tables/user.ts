import { type Columns, column, type ShownOf } from './column.js';
import { declareTable, type TableDeclaration } from './table.js';

export const users = declareTable({
  name: 'users',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid().onWire(),
    /** In canonical form. Null for a user created by a provider that did not prove an address. */
    email: column.text(254).onWire({ format: 'email' }).nullable(),
    /** In canonical form. Null if the user has none. Clients see it if usernames are enabled. */
    username: column.text(100).nullable(),
    /** When the email was verified. Null until then. */
    emailVerifiedAt: column.time().onWire().nullable(),
    /** When its owner showed access to the mailbox of the email. Null if only the app's word verified it. */
    mailboxProvedAt: column.time().internal().nullable(),
    /** When the account was deleted, if it is kept shut before it goes: see `accountDeletion`. */
    deletedAt: column.time().internal().nullable(),
    passwordHash: column.text(1024).secret().nullable(),
    /** Copied to each session. Incrementing it ends all existing sessions, and sign-ins in progress. */
    authEpoch: column.integer().internal(),
    /** When the account was created. */
    createdAt: column.time().onWire(),
    /** When the account was last updated. */
    updatedAt: column.time().onWire(),
  },
});

export type UserColumns = typeof users.columns;

/** A user's account. Contains no secrets. */
export interface User extends ShownOf<UserColumns> {}

/** Shows administrators which accounts were deleted and are kept shut. */
export const closedColumns = { deletedAt: column.time().forAdmins().nullable() };

/** The table with additional columns: those of the app's fields and of plugins. */
export function usersWith(...additional: readonly Columns[]): TableDeclaration<UserColumns> {
  const columns = Object.assign({}, users.columns, ...additional) as UserColumns;
  return { ...users, columns };
}
