import { column } from './column.js';
import { declareTable } from './table.js';

export const carriedSessions = declareTable({
  name: 'carried_sessions',
  columns: {
    /** The hash of an older system's session id. It has a row from the time when it opens nothing but the session here. */
    oldHash: column.digest().internal(),
    /** The token of the session that has taken its place. Null if there was another one already. */
    tokenHash: column.digest().internal().nullable(),
    /** That token, for a browser that did not get the response. Null once the browser has sent it. */
    sealedToken: column.longText().secret().nullable(),
    /** When the browser first sent it. */
    usedAt: column.time().nullable(),
    createdAt: column.time(),
    /** When the older system's session can no longer be active. */
    expiresAt: column.time(),
  },
});

export type CarriedSessionColumns = typeof carriedSessions.columns;
