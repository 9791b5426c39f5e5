import type { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { HasUndo } from '../notices/changes.js';
import type { Carrier } from '../sessions/request.js';
import type { HasSecondFactors } from '../sessions/second-factor.js';
import type { ChecksSignIns } from '../sessions/sign-in.js';
import type { Session, User } from '../tables/core.js';
import type { RowPart } from '../users/imported.js';
import type { ChecksAccounts, UserRecord } from '../users/record.js';
import type { HasAttached } from '../verification/proof.js';
import type { HasPurposes } from '../verification/tokens.js';

/** A way for a user to sign in: their password, or a linked account at a provider. */
export interface WayIn {
  readonly kind: string;
  /** Tells apart several of one kind, such as providers. */
  readonly id?: string;
}

/** The part of a user's ways to sign in that a plugin knows of, as JSON. */
export interface SignInMethods {
  /** @internal */
  readonly schema: z.ZodRawShape;
  of(record: UserRecord): Promise<Readonly<Record<string, unknown>>>;
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
  /** What the plugin takes from the rows of an import. */
  readonly rowParts?: readonly RowPart[];
  /** What GET /sign-in-methods says of the plugin. */
  readonly signInMethods?: SignInMethods;
  isAdministrator?(user: User): boolean;
  /** The user's ways to sign in through this plugin. The user's row is locked. */
  waysIn?(record: UserRecord, transaction: Transaction): Promise<readonly WayIn[]>;
  /** Deletes or anonymizes what belongs to a user who is being deleted. The user's row is locked. */
  onDelete?(userId: string, transaction: Transaction): Promise<void>;
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
