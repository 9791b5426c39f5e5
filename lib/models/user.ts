import { integer, internal, nullable, onWire, type ShownOf, secret, text, time, uuid } from './column.js';
import { declareTable } from './table.js';

export const users = declareTable({
  name: 'users',
  columns: {
    /** UUID, version 7. */
    id: onWire(uuid()),
    /** In its canonical spelling. Null for a user made by a provider that proved no address. */
    email: nullable(onWire(text(254), { format: 'email' })),
    /** Null where the user has none. Clients see it where a plugin uses usernames. */
    username: nullable(text(30)),
    /** When the user proved that they read the mailbox; null until then. */
    emailVerifiedAt: nullable(onWire(time())),
    passwordHash: nullable(secret(text(255))),
    /** Copied into each session: raising it ends all sessions begun before, and a sign-in that is in progress. */
    authEpoch: internal(integer()),
    createdAt: onWire(time()),
    updatedAt: onWire(time()),
  },
});

export type UserColumns = typeof users.columns;

/** A person with an account. Contains no secret. */
export interface User extends ShownOf<UserColumns> {}
