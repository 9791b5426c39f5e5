import { column } from './column.js';
import { declareTable } from './table.js';

export const oneTimeTokens = declareTable({
  name: 'one_time_tokens',
  columns: {
    tokenHash: column.digest().internal(),
    /** Null for a token that nobody gets: see `OneTimeTokens.issue`. */
    userId: column.uuid().nullable(),
    purpose: column.text(32),
    /** The address that the token was sent to. */
    email: column.text(254),
    expiresAt: column.time(),
    /** The user's epoch when it was issued, for a token that ends with their sessions. */
    authEpoch: column.integer().internal().nullable(),
  },
});

export type TokenColumns = typeof oneTimeTokens.columns;
