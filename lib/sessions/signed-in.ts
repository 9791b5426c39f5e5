import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { Session, User } from '../tables/core.js';
import type { SignInMethod, Telemetry } from '../telemetry.js';

/** How, and how strongly, a user has authenticated. */
export interface Assurance {
  /** The authenticator assurance level (NIST SP 800-63B-4): 2 with two factors. */
  readonly aal: number;
  /** How the user authenticated (RFC 8176). */
  readonly amr: readonly string[];
}

/** The maximum number of characters that are stored of a client's user agent and IP address. */
export const MAX_USER_AGENT = 255;
export const MAX_IP = 45;

/** How recently the user must have authenticated to change the protection of an account, in seconds. */
export const FRESH_SECONDS = 600;

/** The time of authentication of a session whose user has not authenticated. */
export const NEVER = new Date(0);

/**
 * Whether the user of a session signed in or reauthenticated at most `seconds` ago.
 *
 * @param seconds ten minutes by default
 */
export function isFresh(
  { clock }: Database,
  { authenticatedAt }: Pick<Session, 'authenticatedAt'>,
  seconds = FRESH_SECONDS,
): boolean {
  return clock.now() - authenticatedAt.getTime() <= seconds * 1000;
}

/** Requires that {@link isFresh} (ASVS 5.0, 7.5). @throws AuthError `reauthentication_required` */
export function requireFresh(...given: Parameters<typeof isFresh>): void {
  if (!isFresh(...given)) throw new AuthError('reauthentication_required');
}

/** How a user has proved their identity. */
export interface Shown {
  /** How they authenticated (RFC 8176): `pwd`, `otp`, `hwk`, `swk`, `user`, `mfa`; or `fed`, at a provider. */
  readonly amr: readonly string[];
  /** @default 1 */
  readonly aal?: 1 | 2;
  /** The provider that authenticated them. @default none */
  readonly provider?: string;
}

/** A new session with the only copy of its token. */
export interface IssuedSession {
  /** The user. */
  readonly user: User;
  /** The session. */
  readonly session: Session;
  /** The token that authenticates the session. Send it to the client only. */
  readonly token: string;
  /** Whether the cookie is kept when the browser is closed. */
  readonly remembered: boolean;
  /** The value of the browser's device cookie. Null if the session was not created by signing in with a request. */
  readonly device: string | null;
  /**
   * True if the sign-in has removed the password of the account, because someone else could have chosen it.
   * @default absent
   */
  readonly passwordRemoved?: true;
  /**
   * True if the sign-in has created the account, such as a sign-in with an emailed code or at a provider.
   * @default absent
   */
  readonly accountCreated?: true;
}

/** A session and its user. */
export interface OwnedSession {
  readonly userId: string;
  readonly sessionId: string;
}

/**
 * A sign-in that waits for another step: a second factor, if the account has one, or a code that was emailed to the
 * account. It creates no session until the user completes it.
 */
export interface PendingSignIn {
  readonly secondFactor: {
    /** The methods to complete it: `totp`, `recovery_code`, `passkey`; or `email_code` alone. */
    readonly methods: readonly string[];
    /** When the pending sign-in expires: ten minutes after the first factor. */
    readonly expiresAt: Date;
    /** The token that identifies the pending sign-in. Send it to the client only. */
    readonly pendingToken: string;
  };
}

/** The outcome of a sign-in: a session, or a pending sign-in that requires a second factor. */
export type SignedIn = IssuedSession | PendingSignIn;

/** Whether another step must complete a sign-in. */
export function isPending(signedIn: SignedIn): signedIn is PendingSignIn {
  return typeof (signedIn as Partial<PendingSignIn> | null)?.secondFactor === 'object';
}

/** Counts a sign-in by its method and outcome. Null does not count as a sign-in. */
export async function countSignIn<T extends SignedIn | null>(
  telemetry: Telemetry,
  method: SignInMethod,
  work: () => Promise<T>,
): Promise<T> {
  let signedIn: T;
  try {
    signedIn = await work();
  } catch (error) {
    telemetry.signIn(method, error instanceof AuthError ? error.code : 'error');
    throw error;
  }
  if (signedIn) telemetry.signIn(method, isPending(signedIn) ? 'pending' : 'signed_in');
  return signedIn;
}

/** How to renew a session. */
export interface RenewOptions {
  /** Whether the user has reauthenticated. @default true */
  readonly isFresh?: boolean;
  /** When the user reauthenticated, if another system reports it. The session's time never moves back. @default now */
  readonly authenticatedAt?: Date | undefined;
  /** Whether {@link Sessions.endAll} has ended all other sessions. @default true */
  readonly endsOthers?: boolean;
  /** The assurance that the user has reached. @default the same as before */
  readonly assurance?: Assurance | undefined;
}

/**
 * The key that marks the type of an API because of which the sign-ins of every plugin can wait for an emailed code. The
 * property exists in the type system only.
 */
export declare const asksForCodes: unique symbol;

/** The key that marks the type of an API whose sign-ins can be pending only because of {@link asksForCodes}. */
export declare const withCodes: unique symbol;

/**
 * The key that marks the type of an API whose sign-ins can be pending, because a plugin has second factors. The
 * property exists in the type system only.
 */
export declare const withSecondFactors: unique symbol;
