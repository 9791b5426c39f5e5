import { column, type ShownOf } from './column.js';
import { declareTable } from './table.js';

export const sessions = declareTable({
  name: 'sessions',
  ofUser: 'sessions',
  columns: {
    /** UUID, version 7. Public: it names the session in a list, and opens nothing. */
    id: column.uuid().onWire(),
    userId: column.uuid().onWire(),
    tokenHash: column.digest().internal(),
    authEpoch: column.integer().internal(),
    /** Whether its cookie outlives the browser (`remember_me`). */
    remembered: column.boolean().internal(),
    createdAt: column.time().onWire(),
    /** When its user last proved who they are: at sign-in, or by reauthenticating later. */
    authenticatedAt: column.time(),
    /** Written at most once per `touchInterval`. */
    lastActiveAt: column.time().onWire(),
    /** The absolute end. The session ends earlier when it is idle for longer than `idleTimeout`. */
    expiresAt: column.time().onWire({
      description: 'The absolute end; the session ends earlier when it is idle for too long.',
    }),
    ipAddress: column.text(45).onWire().nullable(),
    userAgent: column.text(255).onWire().nullable(),
  },
});

export type SessionColumns = typeof sessions.columns;

/** A sign-in that is still valid. The token that opens it is not in here: only its hash is stored. */
export interface Session extends ShownOf<SessionColumns> {}
