import { column } from './column.js';
import { declareTable } from './table.js';

export const accountChanges = declareTable({
  name: 'account_changes',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid(),
    userId: column.uuid(),
    /** The kind of the notice about it. */
    kind: column.text(32),
    /** The hash of the token that undoes it. Null if nobody was told of it. */
    tokenHash: column.digest().internal().nullable(),
    /** The email that the change took from the account, which counts as taken until the change cannot be undone any more. */
    email: column.text(254).nullable(),
    /** The state of the account before the change, encrypted. Null for what changes nothing, such as a sign-in. */
    state: column.longText().secret().nullable(),
    createdAt: column.time(),
    /** When it cannot be undone any more. */
    expiresAt: column.time(),
  },
});

export type AccountChangeColumns = typeof accountChanges.columns;
