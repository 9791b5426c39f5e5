import * as z from 'zod';
import type { BearerScheme } from '../config/config.js';

/**
 * A user's id in the sessions of a previous system: the account's id or, with `user.model`, the primary key of its row;
 * or the `ref` of the row that was imported, such as the primary key in the previous system.
 */
export type OldUserId = string | number | bigint;

/** The values that identify an imported row, in addition to its email. */
export interface ImportedRow {
  /** The row's `ref`. */
  readonly ref: OldUserId;
  /** The row's `username`. @default none */
  readonly username?: string | null | undefined;
  /** The row's `createdAt`. @default none */
  readonly createdAt?: Date | null | undefined;
}

/** A user of a previous system, as its sessions identify them. */
export interface OldUser {
  /** The id of the user. @default none: the email identifies the account */
  readonly id?: OldUserId | null | undefined;
  /**
   * The email of the user. It identifies an account only if both systems have verified it, and if the account is older
   * than the session, or was imported.
   * @default none
   */
  readonly email?: string | null | undefined;
  /** Whether the previous system has verified the email. @default false */
  readonly emailVerified?: boolean | undefined;
  /**
   * The `ref` of the row that was passed to `auth.movingIn.importUsers`, whatever its email is now. It identifies the account if
   * no other import has a row with this ref, or if `source` is given.
   * @default none
   */
  readonly ref?: OldUserId | null | undefined;
  /** The `source` of that import. @default any */
  readonly source?: string | null | undefined;
  /** The row with this email that was passed to `auth.movingIn.importUsers`. It identifies the account. @default none */
  readonly imported?: ImportedRow | undefined;
}

/** An active session of a previous system. */
export interface OldSession {
  readonly user: OldUser;
  /**
   * When it was created. An account that was created later is not the user's, even if it has the same email. Null if
   * the system does not record it. Then an email identifies only imported accounts.
   */
  readonly beganAt: Date | null;
  /** When it would have expired. Null if it lasts as long as the browser keeps its cookie. */
  readonly endsAt: Date | null;
  /** Whether its cookie is kept when the browser is closed. */
  readonly remembered: boolean;
}

/** How a bridge treats the sessions of a previous system that is still running. */
export interface KeepOld {
  /** Ends all sessions of a user in the previous system. Null if they continue there. */
  readonly endAll: ((userId: string) => unknown) | null;
}

/** Returns the distinct values of a cookie in the request. */
export type CookieValues = (name: string) => readonly string[];

/**
 * Takes over the active sessions of a previous system: see `latchkey/moving-in`. The members of this interface can change
 * at any time.
 */
export interface SessionBridge {
  /** The name of the system, which distinguishes its sessions from those of other systems. */
  readonly name: string;
  /** When the bridge stops taking over sessions. Null if it never stops. */
  readonly until: Date | null;
  /** How sessions continue in the previous system. Null if a session ends there as soon as it is taken over. */
  readonly keepOld: KeepOld | null;
  /**
   * Returns the possible names of the system's session cookie. If a request has several of these cookies, the first
   * name in this list counts.
   *
   * @param isSecure whether cookies are Secure here
   */
  cookieNames(isSecure: boolean): readonly string[];
  /**
   * Returns the id of the session in the value of the cookie. Null if the value is not from this system, or if its
   * signature is wrong.
   */
  idIn(value: string): string | null;
  /**
   * Returns the active session with this id, or null.
   *
   * @param cookies the other cookies of the request
   * @throws if the system's store cannot be read
   */
  find(id: string, cookies: CookieValues, isSecure: boolean): Promise<OldSession | null>;
  /** Ends the session with this id, in the system's own store. */
  end(id: string): Promise<void>;
}

/** A valid token of a previous system. */
export interface OldToken extends OldSession {
  /** When it expires. */
  readonly endsAt: Date;
  /** When it was issued. Null if the token does not contain the time. */
  readonly issuedAt: Date | null;
}

/**
 * Takes over tokens of a previous system that identify their user: see `jwtSessions` in `latchkey/moving-in`. Each token
 * stands for one session. The members of this interface can change at any time.
 */
export interface TokenBridge {
  /** The name of the system, which distinguishes its tokens from those of other systems. */
  readonly name: string;
  /** When the bridge stops accepting tokens. */
  readonly until: Date;
  /** The authentication scheme of the tokens, as in `Authorization: Bearer`. */
  readonly scheme: BearerScheme;
  /** Whether a credential has the form of such a token, valid or not. The bridge ignores other credentials. */
  accepts(token: string): boolean;
  /**
   * Returns the id of a token. All encodings of the same token must have the same id. Null if the token cannot be
   * valid.
   */
  idIn(token: string): string | null;
  /**
   * Verifies a token. Returns null if it is invalid, or if it does not belong to a user.
   *
   * @throws if the keys or the user cannot be read
   */
  find(token: string, now: Date): Promise<OldToken | null>;
}

const NOT_A_BRIDGE =
  'must be a bridge from latchkey/moving-in: call it, as in bridges: [authJsSessions({ … })]';

/** @internal */
export const bridgesSchema = z.array(
  z.custom<SessionBridge | TokenBridge>(isBridge, NOT_A_BRIDGE),
  'must be a list of bridges',
);

function isBridge(value: unknown): boolean {
  const { idIn, find, end, accepts } = (value ?? {}) as Partial<Record<string, unknown>>;
  return [idIn, find, end ?? accepts].every((one) => typeof one === 'function');
}

/** Whether a bridge has not reached its `until`. */
export function isActive({ until }: Pick<SessionBridge, 'until'>): boolean {
  return until === null || until.getTime() > Date.now();
}

/** Whether a bridge takes over tokens, and not cookie sessions. */
export function isTokenBridge(bridge: SessionBridge | TokenBridge): bridge is TokenBridge {
  return 'accepts' in bridge;
}
