import { column, type ShownOf } from './column.js';
import { declareTable } from './table.js';

export const sessions = declareTable({
  name: 'sessions',
  ofUser: 'sessions',
  columns: {
    /** A UUID, version 7. It identifies the session in lists and is not a credential. */
    id: column.uuid().onWire(),
    /** The id of the session's user. */
    userId: column.uuid().onWire(),
    tokenHash: column.digest().internal(),
    /** The token that the browser had before, if it had one: of this session, or one of before the sign-in. */
    replacedTokenHash: column.digest().internal().nullable(),
    tokenIssuedAt: column.time().internal().nullable(),
    authEpoch: column.integer().internal(),
    /** Whether the cookie is kept when the browser is closed (`remember_me`). */
    remembered: column.boolean().internal(),
    /** The authenticator assurance level: 2 with a second factor or a passkey, otherwise 1 (NIST SP 800-63B-4). */
    aal: column.integer(),
    /** How the user authenticated, such as `pwd`, `otp` and `mfa` (RFC 8176). */
    amr: column.words(),
    /** The time of the sign-in. */
    createdAt: column.time().onWire(),
    /** When the user last authenticated: at sign-in, or by reauthenticating later. */
    authenticatedAt: column.time(),
    /** The time of the last request, updated at most once per `touchInterval`, and up to a second later. */
    lastActiveAt: column.time().onWire(),
    /** The latest time at which the session ends. It ends earlier if it is idle for longer than `idleTimeout`. */
    expiresAt: column.time().onWire({
      description: 'The latest time at which the session ends. It ends earlier if it is idle for too long.',
    }),
    /** The client's IP address at sign-in, if known. */
    ipAddress: column.text(45).onWire().nullable(),
    /** The client's user agent at sign-in, if known. */
    userAgent: column.text(255).onWire().nullable(),
  },
});

export type SessionColumns = typeof sessions.columns;

/** A session of a user. It does not contain the token, of which only a hash is stored. */
export interface Session extends ShownOf<SessionColumns> {}
