import type { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { AuthErrorCode } from '../errors.js';
import type { Session } from '../models/session.js';
import type { User } from '../models/user.js';
import type { Carrier } from './authentication.js';
import type { AccountRow, UserRecord } from './user-record.js';

/** A way for a user to sign in: their password, or a linked account at a provider. */
export interface WayIn {
  readonly kind: string;
  /** Tells apart several of one kind, such as providers. */
  readonly id?: string;
}

/** What a one-time token allows. */
export interface Purpose {
  /** At most 32 characters. */
  readonly name: string;
  readonly lifetimeMs: number;
  /** Whether a new password revokes the user's tokens. @default false */
  readonly endsWithPassword?: boolean;
  /**
   * Whether it is sent to an address that the user is to get. Redeeming it changes the email, and whatever ends the user's
   * sessions ends it too.
   * @default false
   */
  readonly isForNewEmail?: boolean;
}

/** Passwords, of which the core knows only that a plugin may have them. */
export interface Passwords {
  /**
   * Verifies the password of a user who has a session or an emailed link.
   *
   * @throws AuthError `invalid_credentials`, `rate_limited`
   */
  verify(record: UserRecord, password: string): Promise<UserRecord>;
  /**
   * Hashes a new password.
   *
   * @param identifiers the user's email and username, which it must not equal
   * @throws AuthError `validation_failed`
   */
  hash(password: string, identifiers: readonly (string | null)[], skipRules: boolean): Promise<string>;
  /** Checks a hash from another system. @throws AuthError `validation_failed` */
  checkHash(hash: string): Promise<string>;
  /** Replaces a user's password, without asking for the current one. @throws AuthError `user_not_found` */
  replace(userId: string, password: string, options: ReplacePasswordOptions): Promise<void>;
  /** Emails links with which users choose a password. Null if `email` is not configured. */
  readonly links: PasswordLinks | null;
}

/** Emails links with which users choose a password: after the response, to those who have an email. */
export interface PasswordLinks {
  /** Emails the first one to a user whom somebody else has made. */
  invite(user: User): void;
  /** Emails a reset link. */
  reset(user: User): void;
}

/** The part of a user's ways to sign in that a plugin knows of, as JSON. */
export interface SignInMethods {
  readonly schema: z.ZodRawShape;
  of(record: UserRecord): Promise<Readonly<Record<string, unknown>>>;
}

/** How to replace a user's password. */
export interface ReplacePasswordOptions {
  readonly keepSessions: boolean;
  readonly skipRules: boolean;
}

/** The rules for usernames. */
export interface Usernames {
  /** The stored form of a new username. @throws AuthError `validation_failed` */
  check(username: unknown): string;
  /** The form in which a username is stored if an account has it. Null if none can. */
  fold(username: unknown): string | null;
}

/** What a plugin contributes to the core. The core knows no plugin by name. */
export interface Contribution {
  readonly carriers?: readonly Carrier[];
  /** Additional attributes of users and sessions that clients can see. */
  readonly shows?: { readonly user?: readonly (keyof User)[]; readonly session?: readonly (keyof Session)[] };
  /** The purposes of the one-time tokens that the plugin issues. */
  readonly purposes?: readonly Purpose[];
  /** What the plugin does with passwords. One plugin at most has them. */
  readonly passwords?: Passwords;
  /** The rules for usernames, if users can have one. One plugin at most has them. */
  readonly usernames?: Usernames;
  /** What GET /sign-in-methods says of the plugin. */
  readonly signInMethods?: SignInMethods;
  isAdministrator?(user: User): boolean;
  /**
   * Refuses a person who has just shown who they are, by throwing an AuthError, such as the owner of a suspended account.
   * It gets the plugin's additional columns of users too.
   */
  checkAccount?(account: AccountRow): void;
  /** The problems that `checkAccount` throws, for the OpenAPI document. */
  readonly accountProblems?: readonly AuthErrorCode[];
  /** Rejects an authenticated user's sign-in by throwing an AuthError. */
  checkSignIn?(user: User): Promise<void>;
  /** The user's ways to sign in through this plugin. The user's row is locked. */
  waysIn?(record: UserRecord, transaction: Transaction): Promise<readonly WayIn[]>;
  /** Deletes what the plugin attached to the account before its email was first verified. */
  onFirstProof?(userId: string, transaction: Transaction): Promise<void>;
  /**
   * Deletes or anonymizes what belongs to a user who is being deleted. The user's row is locked.
   *
   * @returns what to do after the commit, if anything
   */
  onDelete?(userId: string, transaction: Transaction): Promise<(() => void) | undefined> | Promise<void>;
  /** Waits for background work, before the connections are closed. */
  settle?(): Promise<void>;
}
