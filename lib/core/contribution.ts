import type { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { AuthErrorCode } from '../errors.js';
import type { Assurance, Shown } from '../sessions/assurance.js';
import type { Carrier } from '../sessions/request.js';
import type { PendingSignIn } from '../sessions/signed-in.js';
import type { Session } from '../tables/session.js';
import type { User } from '../tables/user.js';
import type { LegacyVerifiers } from '../users/imported.js';
import type { RowPart } from '../users/row-part.js';
import type { AccountRow, UserRecord } from '../users/user-record.js';

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

/** A sign-in that a second factor must complete. */
export interface NewPendingSignIn {
  readonly record: Pick<UserRecord, 'user' | 'account'>;
  /** The user's epoch when they authenticated. */
  readonly authEpoch: number;
  /** How they did. */
  readonly amr: readonly string[];
  readonly remembered: boolean;
  /** The counter of failures that the completed sign-in clears. Null if there is none. */
  readonly attempts: string | null;
}

/** Second factors, of which the core knows only that a plugin may have them. */
export interface SecondFactors {
  /** Whether an account has one. @param account with the plugin's columns of users */
  isOn(account: object): boolean;
  /** What a trusted provider has checked itself, in place of what was shown. Null if there is none. */
  trusted(shown: Shown): Shown | null;
  /** Writes down a sign-in that waits for the second factor. */
  begin(pending: NewPendingSignIn, transaction?: Transaction): Promise<PendingSignIn>;
  /** Ends the pending sign-in that the current request carries, if any: its browser signs out. */
  abandon(): Promise<void>;
  /** Accepts again what was refused after too many wrong codes: the user has given a passkey outside a pending sign-in. */
  forgive(userId: string): Promise<void>;
}

/** A proof of who they are that the user of a session can give again: a field of POST /reauthenticate. */
export interface Reauthentication {
  /** The name of the field in the body. */
  readonly field: string;
  /** @internal */
  readonly schema: z.ZodType;
  readonly problems: readonly AuthErrorCode[];
  /**
   * The assurance that it can reach. An account with a second factor takes only 2: anything else is refused before it is
   * verified.
   * @default 2
   */
  readonly aal?: 1 | 2;
  /**
   * Verifies it.
   *
   * @param session the session of the request
   * @returns what it shows. With aal 2, the session gets it and a new token
   * @throws AuthError if it is wrong
   */
  verify(record: UserRecord, value: unknown, session: Session): Promise<Shown>;
}

/** A way to give the second factor that another plugin has than the one with {@link SecondFactors}, such as a passkey. */
export interface FactorMethod {
  /** The name on the wire. */
  readonly name: string;
  /** Whether the user can give it. */
  isAvailable(userId: string): Promise<boolean>;
  /** What the client needs to give it: the answer of POST /signin/second-factor/options. @param challengedBy the pending sign-in */
  options(userId: string, challengedBy: string): Promise<Readonly<Record<string, unknown>>>;
  /** The schema of the `options`. @internal */
  readonly optionsSchema: z.ZodType;
  /** The schema of the `response`. @internal */
  readonly responseSchema: z.ZodType;
  /** What `verify` throws, for the OpenAPI document. */
  readonly problems: readonly AuthErrorCode[];
  /** @param challengedBy the pending sign-in @throws AuthError if it does not verify */
  verify(record: UserRecord, response: unknown, challengedBy: string): Promise<Assurance>;
}

/** A plugin's part of the ways into an account, which an undone change puts back. */
export interface WayBack {
  /** The name of the part in snapshots. It must never change. */
  readonly name: string;
  /** The part as it is, as JSON. The user's row is locked. */
  snapshot(userId: string, transaction: Transaction): Promise<unknown>;
  /**
   * Makes the part what it was, and ends whatever is in progress, such as open challenges. The user's row is locked.
   *
   * @param part what `snapshot` returned then; undefined if the plugin was not there
   * @param shown the codes that were given as a proof: see `proves`. One that is good for one use has had it
   */
  restore(
    record: UserRecord,
    part: unknown,
    transaction: Transaction,
    shown: Readonly<Record<string, string>>,
  ): Promise<void>;
  /** Whether restoring this part takes away a second factor that the account has now. */
  losesSecondFactor?(record: UserRecord, part: unknown): boolean;
  /**
   * Whether a code is right for the account as it was. Not limited: the caller counts.
   *
   * @param proof what was given, by field of POST /undo-change
   * @returns null if it is not this plugin's
   */
  proves?(userId: string, part: unknown, proof: Readonly<Record<string, string>>): Promise<boolean | null>;
  /** The fields of POST /undo-change that `proves` knows. */
  readonly proofs?: readonly string[];
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
  /** What the plugin does with second factors. One plugin at most has them. */
  readonly secondFactors?: SecondFactors;
  /** The plugin's ways to give a second factor to the plugin that has them. */
  readonly factorMethods?: readonly FactorMethod[];
  /** What the user of a session can give to POST /reauthenticate. */
  readonly reauthentications?: readonly Reauthentication[];
  /** What undoing a change of an account does to the plugin's tables. */
  readonly wayBack?: WayBack;
  /** What the plugin takes from the rows of an import. */
  readonly rowParts?: readonly RowPart[];
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
  /**
   * Rejects an authenticated user's sign-in by throwing an AuthError.
   *
   * @param isByPerson false for a session that takes the place of an older system's, whose browser sends its cookie unasked
   */
  checkSignIn?(user: User, isByPerson: boolean): Promise<void>;
  /** The user's ways to sign in through this plugin. The user's row is locked. */
  waysIn?(record: UserRecord, transaction: Transaction): Promise<readonly WayIn[]>;
  /**
   * Deletes what the plugin attached to the account before its email was first verified.
   *
   * @param wasVerified whether the app had verified the email, so that only the mailbox itself is proved now. Ways in end
   *   then too, but what demands more than the mailbox stays
   */
  onFirstProof?(userId: string, transaction: Transaction, wasVerified: boolean): Promise<void>;
  /**
   * Deletes or anonymizes what belongs to a user who is being deleted. The user's row is locked.
   *
   * @returns what to do after the commit, if anything
   */
  onDelete?(userId: string, transaction: Transaction): Promise<(() => void) | undefined> | Promise<void>;
  /** Waits for background work, before the connections are closed. */
  settle?(): Promise<void>;
}
