import {
  boolean,
  digest,
  integer,
  internal,
  nullable,
  onWire,
  type ShownOf,
  text,
  time,
  uuid,
} from './column.js';
import { declareTable } from './table.js';

export const sessions = declareTable({
  name: 'sessions',
  ofUser: 'sessions',
  columns: {
    /** UUID, version 7. Public: it names the session in a list, and opens nothing. */
    id: onWire(uuid()),
    userId: onWire(uuid()),
    tokenHash: internal(digest()),
    authEpoch: internal(integer()),
    /** Whether its cookie outlives the browser (`remember_me`). */
    remembered: internal(boolean()),
    createdAt: onWire(time()),
    /** When its user last proved who they are: at sign-in, or by reauthenticating later. */
    authenticatedAt: time(),
    /** Written at most once per `touchInterval`. */
    lastActiveAt: onWire(time()),
    /** The absolute end. The session ends earlier when it is idle for longer than `idleTimeout`. */
    expiresAt: onWire(time(), {
      description: 'The absolute end; the session ends earlier when it is idle for too long.',
    }),
    ipAddress: nullable(onWire(text(45))),
    userAgent: nullable(onWire(text(255))),
  },
});

export type SessionColumns = typeof sessions.columns;

/** A sign-in that is still valid. The token that opens it is not in here: only its hash is stored. */
export interface Session extends ShownOf<SessionColumns> {}
