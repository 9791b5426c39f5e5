import { column, type ShownOf } from './column.js';
import { declareTable } from './table.js';

export const users = declareTable({
  name: 'users',
  columns: {
    /** UUID, version 7. */
    id: column.uuid().onWire(),
    /** In its canonical spelling. Null for a user made by a provider that proved no address. */
    email: column.text(254).onWire({ format: 'email' }).nullable(),
    /** Null where the user has none. Clients see it where a plugin uses usernames. */
    username: column.text(30).nullable(),
    /** When the user proved that they read the mailbox; null until then. */
    emailVerifiedAt: column.time().onWire().nullable(),
    passwordHash: column.text(255).secret().nullable(),
    /** Copied into each session: raising it ends all sessions begun before, and a sign-in that is in progress. */
    authEpoch: column.integer().internal(),
    createdAt: column.time().onWire(),
    updatedAt: column.time().onWire(),
  },
});

export type UserColumns = typeof users.columns;

/** A person with an account. Contains no secret. */
export interface User extends ShownOf<UserColumns> {}
