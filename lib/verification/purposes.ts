import type { LinkPurpose } from '../mail/mails.js';
import { CORE, Declarations, type Owner } from '../owners.js';

/** The rules of a purpose. */
interface PurposeRules extends LinkPurpose {
  /** Whether a new password revokes the user's tokens. @default false */
  readonly endsWithPassword?: boolean;
  /**
   * Whether the token is sent to the user's new address. Redeeming it changes the email. It is revoked whenever all of
   * the user's sessions are revoked.
   * @default false
   */
  readonly isForNewEmail?: boolean;
}

declare const isDefined: unique symbol;

/**
 * The purpose of a one-time token, and its rules. TypeScript accepts only purposes that {@link definePurpose} has
 * returned, so a new password revokes the tokens of every purpose whose rules say so.
 */
export interface Purpose extends PurposeRules {
  readonly [isDefined]: true;
}

const purposes = new Declarations<Purpose>('purpose');

/**
 * Defines a purpose. The plugin or module that owns it calls this when it is loaded.
 *
 * @throws TypeError if another owner has defined a purpose of this name, because each could redeem the other's tokens
 */
export function definePurpose(owner: Owner | null, rules: PurposeRules): Purpose {
  const purpose = rules as Purpose;
  purposes.add(owner, rules.name, purpose);
  return purpose;
}

/** Returns the names of the purposes whose tokens a new password revokes. */
export function endedByNewPassword(): string[] {
  return Object.values(purposes.values).flatMap(({ name, endsWithPassword }) =>
    endsWithPassword ? name : [],
  );
}

/** The purpose of a link that is sent to the new address of a user. */
export const VERIFY_NEW_EMAIL = definePurpose(CORE, {
  name: 'verify-new-email',
  lifetimeMs: 60 * 60 * 1000,
  endsWithPassword: true,
  isForNewEmail: true,
});
