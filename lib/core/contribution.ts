import type { Request, Response } from 'express';
import type { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { AuthError } from '../errors.js';
import type { Html } from '../html.js';
import type { HasUndo } from '../notices/changes.js';
import type { ProvesMailboxes } from '../sessions/completion.js';
import type { RemembersBrowsers } from '../sessions/devices.js';
import type { AsksForEmailCodes } from '../sessions/email-code-step.js';
import type { RefusesPasswords } from '../sessions/password-check.js';
import type { UsesPendingCookie } from '../sessions/pending-sign-ins.js';
import type { Carrier, SessionAuthentication } from '../sessions/request.js';
import type { HasSecondFactors } from '../sessions/second-factor.js';
import type { ChecksSignIns } from '../sessions/sign-in.js';
import type { HasTasks } from '../sessions/tasks.js';
import type { Session, User } from '../tables/core.js';
import type { RowPart } from '../users/imported.js';
import type { ChecksAccounts, HasWaysIn, UserRecord } from '../users/record.js';
import type { HasEmailedSignIns } from '../verification/delivery.js';
import type { HasAttached } from '../verification/proof.js';
import type { HasPurposes } from '../verification/tokens.js';

/** A plugin's part of a user's sign-in methods, as JSON. */
export interface SignInMethods {
  /** @internal */
  readonly schema: z.ZodRawShape;
  of(record: UserRecord): Promise<Readonly<Record<string, unknown>>>;
}

/** What pages show of a plugin that no route gives them. */
export interface ForPages {
  /** The ids of the providers that users can continue with. */
  readonly providers?: readonly string[];
  /** What users sign in with besides the password. */
  readonly identifier?: 'email' | 'username' | 'either';
  /** Whether a link verifies an email in the browser of the sign-up without a password. */
  readonly verifiesByClick?: boolean;
  /** The address that the link of an emailed sign-in was sent to. Null if it no longer works. */
  emailOfLink?(token: string): Promise<string | null>;
  /**
   * A section for the page of the account's security. Its forms are sent to routes of the plugin.
   *
   * @returns null for nothing
   */
  card?(auth: SessionAuthentication): Promise<Card | null>;
  /** The authenticator app that a session has set up and not confirmed yet. */
  unconfirmed?(user: User, sessionId: string): Promise<Unconfirmed | null>;
}

/** A section of a page. */
export interface Card {
  readonly title: string;
  readonly content: Html;
}

/** An authenticator app that is to be confirmed. */
export interface Unconfirmed {
  /** In base32. */
  readonly secret: string;
  readonly otpauthUrl: string;
  readonly qrSvg: string;
}

/** What an administrator's session needs for changes of other users' accounts. */
export interface Administration {
  /** The number of seconds within which the administrator must have signed in or reauthenticated. */
  readonly fresh: number;
  /** The authenticator assurance level. An administrator with a second factor always needs 2. */
  readonly aal: 1 | 2;
}

/** The default: an hour, since administrators often make several changes, one after another. */
export const ADMINISTRATION: Administration = { fresh: 3600, aal: 1 };

/**
 * What a plugin contributes to the core: the interfaces that the parts of the core declare, and more. The core does not
 * know plugins by name.
 */
export interface Contribution
  extends ChecksAccounts,
    HasUndo,
    HasSecondFactors,
    ChecksSignIns,
    AsksForEmailCodes,
    RemembersBrowsers,
    HasAttached,
    HasWaysIn,
    UsesPendingCookie,
    HasTasks,
    RefusesPasswords,
    ProvesMailboxes,
    HasEmailedSignIns,
    HasPurposes {
  readonly carriers?: readonly Carrier[];
  /** Additional attributes of users and sessions that clients can see. */
  readonly shows?: { readonly user?: readonly (keyof User)[]; readonly session?: readonly (keyof Session)[] };
  /** The parts of an import's rows that the plugin reads. */
  readonly rowParts?: readonly RowPart[];
  /** The plugin's part of the response of GET /sign-in-methods. */
  readonly signInMethods?: SignInMethods;
  /**
   * Answers a browser that a guard has refused, with a page.
   *
   * @returns whether it has. Everything else gets a problem
   */
  answerBrowser?(error: AuthError, req: Request, res: Response): Promise<boolean>;
  /** Returns the URL of a page that the plugin has, by its name. */
  pageUrl?(name: string): string;
  /** What pages show of the plugin. */
  readonly forPages?: ForPages;
  /** Emails a user the link that proves access to the mailbox, if there are such links. */
  mailVerification?(user: User, transaction: Transaction): Promise<void>;
  isAdministrator?(user: User): boolean;
  /** What administrators' sessions need for changes, if the plugin sets it. */
  readonly administration?: Administration;
  /** Deletes or anonymizes the data of a user who is being deleted. The user's row is locked. */
  onDelete?(userId: string, transaction: Transaction): Promise<void>;
  /** Ends what the account holds at other services, when its deletion is requested. The user's row is locked. */
  onClose?(userId: string, transaction: Transaction): Promise<void>;
  /** Waits for background work, before the connections are closed. */
  settle?(): Promise<void>;
}

let administrators: readonly string[] = [];

/** Registers how to configure administrators, for error messages. Called when the plugin's module is loaded. */
export function declareAdministrators(how: string): void {
  administrators = [how];
}

/** Returns how to configure administrators. Empty if a bundler has left the plugin out. */
export function howToNameAdministrators(): readonly string[] {
  return administrators;
}

let passwords = 'a plugin with passwords';

/** Registers how to enable passwords, for error messages. Called when the plugin's module is loaded. */
export function declarePasswords(how: string): void {
  passwords = how;
}

/** Returns what to add to the config to enable passwords. */
export function howToEnablePasswords(): string {
  return passwords;
}
