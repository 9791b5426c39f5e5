import type { Permissions, Roles } from '../permissions.js';
import type { SecondFactorSettings } from '../sessions/second-factor.js';
import type { User } from '../tables/core.js';
import type { PasswordSettings } from '../users/passwords.js';
import type { UsernameRules } from '../users/usernames.js';
import type { EmailVerificationSettings } from '../verification/email-verification.js';
import type { CodeRequestSettings } from '../waiting/code-requests.js';
import type { EmailedSignInSettings } from '../waiting/emailed-sign-ins.js';

/**
 * What accounts can have because a plugin is in the config, with its settings. The core has the rules. The plugin has
 * the options, the routes and the programmatic API. At most one plugin provides each member.
 */
export interface AccountFeatures {
  /** The rules for usernames, if users have usernames. */
  readonly usernames?: UsernameRules;
  /** The hashing and the rules of passwords, if users have passwords. */
  readonly passwords?: PasswordSettings;
  /** Second factors, and the accounts that must have one. */
  readonly secondFactors?: SecondFactorSettings;
  /** Passkeys. */
  readonly passkeys?: true;
  /** The settings of the verification of emails, if users have passwords. It also requires `email` in the config. */
  readonly emailVerification?: EmailVerificationSettings;
  /** The settings of emailed sign-ins, if users can sign in with an emailed code or link. */
  readonly emailedSignIns?: EmailedSignInSettings;
  /** The settings of codes that prove access to a mailbox, if some emails contain codes instead of links. */
  readonly codeRequests?: CodeRequestSettings;
  /** What users are allowed to do, if users have roles. */
  readonly permissions?: UserPermissions;
}

/** What users are allowed to do because of their roles. */
export interface UserPermissions {
  readonly roles: Roles;
  /** The role that every user has. Null if there is none. */
  readonly defaultRole: string | null;
  of(user: User): Permissions;
  /** Whether a user has a role that is stored with the user. */
  has(user: User, role: string): boolean;
}
