import { invalidField } from '../errors.js';
import { EMAIL_PROOFS, type EmailProofLevel, type User } from '../tables/core.js';

/** A provider's statement about an email: see `Profile`. */
export interface ProviderWord {
  readonly emailIsProof: boolean;
  readonly emailIsAuthoritative?: boolean | undefined;
}

/**
 * The proof of an email. Only the functions below create one, so that nothing else can claim that a mailbox is proven.
 */
export class EmailProof {
  static readonly none = new EmailProof('none');
  /** The app's code or an administrator vouches for the address. */
  static readonly byApp = new EmailProof('app');
  /** The user has responded to an email from latchkey. */
  static readonly answeredMail = new EmailProof('mailbox');

  private constructor(readonly level: EmailProofLevel) {}

  /** Returns the proof that follows from a provider's statement about the address of a new user. */
  static ofProvider({ emailIsProof, emailIsAuthoritative }: ProviderWord): EmailProof {
    if (emailIsProof !== true) return EmailProof.none;
    return new EmailProof(emailIsAuthoritative === true ? 'mailbox' : 'provider');
  }

  /**
   * Returns the proof in a row of an import. True means that the user has responded to an email from the previous
   * system, and `app` that the previous system knows the address from elsewhere.
   *
   * @throws AuthError `validation_failed` for other values
   */
  static imported(given: unknown): EmailProof {
    if (given === true) return new EmailProof('mailbox');
    if (given === 'app') return EmailProof.byApp;
    if (given === false || given === null || given === undefined || given === '') return EmailProof.none;
    throw invalidField('/emailVerified', 'invalid_email_verified', "must be true, false or 'app'");
  }

  /**
   * Reads the proof of a stored email. The app's own statements might write only the time when the email was verified.
   */
  static of({ emailVerifiedAt, emailProof }: Pick<User, 'emailVerifiedAt' | 'emailProof'>): EmailProof {
    if (emailVerifiedAt === null) return EmailProof.none;
    return emailProof && emailProof !== 'none' ? new EmailProof(emailProof) : EmailProof.byApp;
  }

  /** Whether the email is proven at least this well. */
  reaches(needed: EmailProofLevel): boolean {
    return EMAIL_PROOFS.indexOf(this.level) >= EMAIL_PROOFS.indexOf(needed);
  }
}
