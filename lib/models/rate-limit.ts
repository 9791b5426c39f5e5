import { column } from './column.js';
import { declareTable } from './table.js';

export const rateLimits = declareTable({
  name: 'rate_limits',
  columns: {
    /** Of what is counted, so that the table holds no addresses of people. */
    keyHash: column.digest().internal(),
    hits: column.integer(),
    blockedUntil: column.time().nullable(),
    expiresAt: column.time(),
  },
});
