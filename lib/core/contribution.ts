import type { Transaction } from 'sequelize';
import type { Session } from '../models/session.js';
import type { User } from '../models/user.js';
import type { Carrier } from './authentication.js';
import type { UserRecord } from './users.js';

/** One of the ways in which a user can sign in: their password, or an account at a provider. */
export interface WayIn {
  readonly kind: string;
  /** Which of its kind. */
  readonly id?: string;
}

/** What the core asks plugins for, without knowing which there are. */
export interface Contribution {
  readonly carriers?: readonly Carrier[];
  /** Attributes that it adds to what clients see of a user or a session. */
  readonly shows?: { readonly user?: readonly (keyof User)[]; readonly session?: readonly (keyof Session)[] };
  /** Which purposes of one-time tokens end when the user's password is replaced. */
  readonly endWithPassword?: readonly string[];
  isAdministrator?(user: User): boolean;
  /** Refuses a sign-in, after its proof, by throwing an AuthError. */
  checkSignIn?(user: User): Promise<void>;
  /** How a user, whose row is locked, can sign in by its means. */
  waysIn?(record: UserRecord, transaction: Transaction): Promise<readonly WayIn[]>;
  /** Deletes what it has attached to an account whose email is proved for the first time. */
  onFirstProof?(userId: string, transaction: Transaction): Promise<void>;
}
