import { column } from './column.js';
import { declareTable } from './table.js';

export const rateLimits = declareTable({
  name: 'rate_limits',
  columns: {
    /** A hash of what is counted, so that the table contains no personal data. */
    keyHash: column.digest().internal(),
    hits: column.integer(),
    blockedUntil: column.time().nullable(),
    expiresAt: column.time(),
    /** True if an event has reported the current pause. */
    reported: column.boolean().nullable(),
  },
});
