import type { Session, User } from '../tables/core.js';

/** How, and how strongly, a user has authenticated. */
export interface Assurance {
  /** The authenticator assurance level (NIST SP 800-63B-4): 2 with two factors. */
  readonly aal: number;
  /** How the user authenticated (RFC 8176). */
  readonly amr: readonly string[];
}

/** How recently the user must have authenticated to change what protects an account, in seconds. */
export const FRESH_SECONDS = 600;

/** What a person has shown of themselves. */
export interface Shown {
  /** How they authenticated (RFC 8176): `pwd`, `otp`, `hwk`, `swk`, `user`, `mfa`; or `fed`, at a provider. */
  readonly amr: readonly string[];
  /** @default 1 */
  readonly aal?: 1 | 2;
  /** The provider at which they authenticated. @default none */
  readonly provider?: string;
}

/** A new session with the only copy of its token. */
export interface IssuedSession {
  /** The user. */
  readonly user: User;
  /** The session. */
  readonly session: Session;
  /** Authenticates the session. Send it to the client only. */
  readonly token: string;
  /** Whether the cookie is kept when the browser is closed. */
  readonly remembered: boolean;
  /** The value of the browser's device cookie. Null if the session was not created by signing in with a request. */
  readonly device: string | null;
}

/** A session, and whose it is. */
export interface OwnedSession {
  readonly userId: string;
  readonly sessionId: string;
}

/** A sign-in of an account with a second factor, which begins no session before that is given. */
export interface PendingSignIn {
  readonly secondFactor: {
    /** The ways to give it: `totp`, `recovery_code`, `passkey`. */
    readonly methods: readonly string[];
    /** Until when: ten minutes after the first factor. */
    readonly expiresAt: Date;
    /** Identifies the pending sign-in. Send it to the client only. */
    readonly pendingToken: string;
  };
}

/** The outcome of a sign-in: a session, or the demand for a second factor. */
export type SignedIn = IssuedSession | PendingSignIn;

/** Whether a second factor must complete a sign-in. */
export function isPending(signedIn: SignedIn): signedIn is PendingSignIn {
  return typeof (signedIn as Partial<PendingSignIn> | null)?.secondFactor === 'object';
}

/** How to renew a session. */
export interface RenewOptions {
  /** Whether the user has reauthenticated. @default true */
  readonly isFresh?: boolean;
  /** When the user did, if somebody else tells it. It never makes the session less recent. @default now */
  readonly authenticatedAt?: Date | undefined;
  /** Whether {@link Sessions.endAll} has ended all others. @default true */
  readonly endsOthers?: boolean;
  /** What the user has shown of themselves. @default the same as before */
  readonly assurance?: Assurance | undefined;
}

/**
 * The key of the type that an API has if a plugin has second factors, when its sign-ins may be pending. There is no such
 * property.
 */
export declare const withSecondFactors: unique symbol;
