import { digest, integer, internal, nullable, time } from './column.js';
import { declareTable } from './table.js';

export const rateLimits = declareTable({
  name: 'rate_limits',
  columns: {
    /** Of what is counted, so that the table holds no addresses of people. */
    keyHash: internal(digest()),
    hits: integer(),
    blockedUntil: nullable(time()),
    expiresAt: time(),
  },
});
