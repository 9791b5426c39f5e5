import * as z from 'zod';

/** An id that an older system's sessions name: of the account, or with `user.model` the primary key of its row. */
export type OldUserId = string | number | bigint;

/** What identifies a row of an import, beside its email. */
export interface ImportedRow {
  /** The row's `ref`. */
  readonly ref: OldUserId;
  /** The row's `username`. @default none */
  readonly username?: string | null | undefined;
  /** The row's `createdAt`. @default none */
  readonly createdAt?: Date | null | undefined;
}

/** A user of an older system, as its sessions name them. */
export interface OldUser {
  /** @default none: the account is the one with the email */
  readonly id?: OldUserId | null | undefined;
  /** Leads to an account only if both systems have verified it. @default none */
  readonly email?: string | null | undefined;
  /** Whether the older system has verified the email. @default false */
  readonly emailVerified?: boolean | undefined;
  /** The row with this email that `auth.importUsers` was given. It leads to the row's account. @default none */
  readonly imported?: ImportedRow | undefined;
}

/** An active session of an older system. */
export interface OldSession {
  readonly user: OldUser;
  /** When it would have ended. Null if only the browser decides. */
  readonly endsAt: Date | null;
  /** Whether its cookie is kept when the browser is closed. */
  readonly remembered: boolean;
}

/** The distinct values of a cookie in the request. */
export type CookieValues = (name: string) => readonly string[];

/** Takes over the living sessions of an older system: see `latchkey/bridges`. Its members may change at any time. */
export interface SessionBridge {
  /** The system, which tells its sessions from those of others. */
  readonly name: string;
  /** Null if it has no end. */
  readonly until: Date | null;
  /** The names of the system's session cookie, the one that counts first. @param isSecure whether cookies are Secure here */
  cookieNames(isSecure: boolean): readonly string[];
  /**
   * The session's id in the value of the cookie. Null if it is none of the system, or if its signature is wrong.
   *
   * @param cookies the other cookies of the request
   */
  idIn(value: string): string | null;
  /** The active session with this id, or null. @throws if the system's store cannot say */
  find(id: string, cookies: CookieValues, isSecure: boolean): Promise<OldSession | null>;
  /** Ends the session with this id, in the system's own store. */
  end(id: string): Promise<void>;
}

const NOT_A_BRIDGE =
  'must be a bridge from latchkey/bridges: call it, as in bridges: [authJsSessions({ … })]';

/** @internal */
export const bridgesSchema = z.array(
  z.custom<SessionBridge>(isBridge, NOT_A_BRIDGE),
  'must be a list of bridges',
);

function isBridge(value: unknown): boolean {
  const { idIn, find, end } = (value ?? {}) as Partial<Record<string, unknown>>;
  return [idIn, find, end].every((one) => typeof one === 'function');
}
