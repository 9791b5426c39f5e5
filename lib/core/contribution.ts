import type { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { HasUndo } from '../notices/changes.js';
import type { Carrier } from '../sessions/request.js';
import type { HasSecondFactors } from '../sessions/second-factor.js';
import type { ChecksSignIns } from '../sessions/sign-in.js';
import type { Session, User } from '../tables/core.js';
import type { LegacyVerifiers, RowPart } from '../users/imported.js';
import type { ChecksAccounts, UserRecord } from '../users/record.js';
import type { HasAttached } from '../verification/proof.js';
import type { HasPurposes } from '../verification/tokens.js';

/** A way for a user to sign in: their password, or a linked account at a provider. */
export interface WayIn {
  readonly kind: string;
  /** Tells apart several of one kind, such as providers. */
  readonly id?: string;
}

/** Passwords, of which the core knows only that a plugin may have them. */
export interface Passwords {
  /**
   * Verifies the password of a user who has a session or an emailed link.
   *
   * @throws AuthError `invalid_credentials`, `rate_limited`
   */
  verify(record: UserRecord, password: string): Promise<UserRecord>;
  /** Whether a password is the one of a hash. It neither counts attempts nor rewrites the hash. */
  matches(hash: string | null, password: string): Promise<boolean>;
  /**
   * Hashes a new password.
   *
   * @param identifiers the user's email and username, which it must not equal
   * @throws AuthError `validation_failed`
   */
  hash(password: string, identifiers: readonly (string | null)[], skipRules: boolean): Promise<string>;
  /**
   * Checks a hash from another system.
   *
   * @param offered the schemes of an import: see {@link useLegacy}
   * @returns what to store
   * @throws AuthError `validation_failed`
   */
  checkHash(hash: string, offered?: LegacyVerifiers): Promise<string>;
  /** Adds ways to verify hashes of other systems, for the rest of the process. @throws TypeError if they are none */
  useLegacy(verifiers: LegacyVerifiers): void;
  /** Replaces a user's password, without asking for the current one. @throws AuthError `user_not_found` */
  replace(userId: string, password: string, options: ReplacePasswordOptions): Promise<void>;
  /** Emails links with which users choose a password. Null if `email` is not configured. */
  readonly links: PasswordLinks | null;
}

/** Emails links with which users choose a password, to those who have an email. */
export interface PasswordLinks {
  /** Emails the first one to a user whom somebody else has made. */
  invite(user: User, transaction?: Transaction): Promise<void>;
  /** Emails a reset link. */
  reset(user: User, transaction?: Transaction): Promise<void>;
}

/** The part of a user's ways to sign in that a plugin knows of, as JSON. */
export interface SignInMethods {
  /** @internal */
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

/** What a plugin contributes to the core, which knows no plugin by name: what the parts of the core ask for, and more. */
export interface Contribution
  extends ChecksAccounts,
    HasUndo,
    HasSecondFactors,
    ChecksSignIns,
    HasAttached,
    HasPurposes {
  readonly carriers?: readonly Carrier[];
  /** Additional attributes of users and sessions that clients can see. */
  readonly shows?: { readonly user?: readonly (keyof User)[]; readonly session?: readonly (keyof Session)[] };
  /** What the plugin does with passwords. One plugin at most has them. */
  readonly passwords?: Passwords;
  /** The rules for usernames, if users can have one. One plugin at most has them. */
  readonly usernames?: Usernames;
  /** What the plugin takes from the rows of an import. */
  readonly rowParts?: readonly RowPart[];
  /** What GET /sign-in-methods says of the plugin. */
  readonly signInMethods?: SignInMethods;
  isAdministrator?(user: User): boolean;
  /** The user's ways to sign in through this plugin. The user's row is locked. */
  waysIn?(record: UserRecord, transaction: Transaction): Promise<readonly WayIn[]>;
  /**
   * Deletes or anonymizes what belongs to a user who is being deleted. The user's row is locked.
   *
   * @returns what to do after the commit, if anything
   */
  onDelete?(userId: string, transaction: Transaction): Promise<(() => void) | undefined> | Promise<void>;
  /** Waits for background work, before the connections are closed. */
  settle?(): Promise<void>;
}

let administrators: readonly string[] = [];

/** Registers how to configure administrators, for error messages. Called when the plugin's module is loaded. */
export function declareAdministrators(how: string): void {
  administrators = [how];
}

/** Empty if a bundler has left the plugin out. */
export function howToNameAdministrators(): readonly string[] {
  return administrators;
}

let passwords = 'a plugin with passwords';

/** Registers how to enable passwords, for error messages. Called when the plugin's module is loaded. */
export function declarePasswords(how: string): void {
  passwords = how;
}

/** What to add to the config for passwords. */
export function howToEnablePasswords(): string {
  return passwords;
}
