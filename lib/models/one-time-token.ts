import { digest, internal, text, time, uuid } from './column.js';
import { declareTable } from './table.js';

export const oneTimeTokens = declareTable({
  name: 'one_time_tokens',
  ofUser: 'oneTimeTokens',
  columns: {
    tokenHash: internal(digest()),
    userId: uuid(),
    purpose: text(32),
    /** The address that it was sent to. */
    email: text(254),
    expiresAt: time(),
  },
});
