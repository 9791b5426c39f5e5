import { withTimeout } from '../../context/deadline.js';
import { canonicalEmail, canonicalUsername } from '../../core/canonical.js';
import { AuthError, type FieldError, invalidField } from '../../errors.js';
import { kindOf, type Logger } from '../../logger.js';
import { isCommonPassword } from './common-passwords.js';

const MIN_PASSWORD = 8;
const MAX_PASSWORD = 256; // In Unicode code points.
const BREACH_CHECK_MS = 2000;

/** Checks whether a password is known from a data breach. */
export type BreachCheck = (password: string) => Promise<boolean>;

/** A validated registration, with identifiers in canonical form. */
export interface Registration {
  readonly email: string;
  readonly username: string | null;
  readonly password: string;
}

interface Fault {
  readonly code: string;
  readonly detail: string;
}

/** What a username must be. */
export const USERNAME_RULE =
  'must be 3 to 30 characters: letters a to z, digits, underscores, dots and hyphens';

const USERNAME_FAULT: FieldError = {
  pointer: '/username',
  code: 'invalid_username',
  detail: USERNAME_RULE,
};

/** @throws AuthError `validation_failed` */
export function checkUsername(value: string): string {
  const username = canonicalUsername(value);
  if (!username) throw invalidField(USERNAME_FAULT.pointer, USERNAME_FAULT.code, USERNAME_FAULT.detail);
  return username;
}

/**
 * The rules for new passwords: their length, and that they are neither common nor breached nor the user's own
 * identifier. There are no composition rules (NIST SP 800-63B-4, 3.1.1.2; ASVS 5.0, 6.2).
 */
export class PasswordRules {
  /**
   * @param isBreached the app's breach check, if any
   * @param onFailure whether to accept a password if that check fails or takes longer than 2 seconds
   */
  constructor(
    private readonly isBreached: BreachCheck | undefined,
    private readonly onFailure: 'accept' | 'refuse',
    private readonly logger: Logger,
  ) {}

  /** Validates a sign-up. @throws AuthError `validation_failed` with all errors */
  async checkRegistration(input: {
    email: string;
    username?: string | undefined;
    password: string;
  }): Promise<Registration> {
    const email = canonicalEmail(input.email);
    const username = input.username === undefined ? null : canonicalUsername(input.username);
    const errors: FieldError[] = [];
    if (!email) {
      const detail = 'must be an email address such as ada@example.com';
      errors.push({ pointer: '/email', code: 'invalid_email', detail });
    }
    if (input.username !== undefined && !username) errors.push(USERNAME_FAULT);
    const fault = await this.#faultOf(input.password, [email, username]);
    if (fault) errors.push({ pointer: '/password', ...fault });
    if (!email || errors.length > 0) throw new AuthError('validation_failed', { errors });
    return { email, username, password: input.password };
  }

  /**
   * @param identifiers the user's email and username, which the password must not equal
   * @throws AuthError `validation_failed`
   */
  async check(password: string, pointer: string, identifiers: readonly (string | null)[]): Promise<void> {
    const fault = await this.#faultOf(password, identifiers);
    if (fault) throw invalidField(pointer, fault.code, fault.detail);
  }

  /**
   * Checks a password that the app's code gives, which may have been accepted by another system.
   *
   * @throws AuthError `validation_failed`
   */
  async checkGiven(password: string, identifiers: readonly (string | null)[], skip: boolean): Promise<void> {
    if (!skip) return this.check(password, '/password', identifiers);
    const isText = typeof password === 'string' && password.isWellFormed() && !password.includes('\0');
    if (!isText || password === '' || [...password].length > MAX_PASSWORD) {
      const detail = `must be 1 to ${MAX_PASSWORD} characters of well-formed Unicode without NUL`;
      throw invalidField('/password', 'invalid', detail);
    }
  }

  async #faultOf(password: unknown, identifiers: readonly (string | null)[]): Promise<Fault | null> {
    if (typeof password !== 'string' || !password.isWellFormed() || password.includes('\0')) {
      return { code: 'invalid', detail: 'must be well-formed Unicode without a NUL character' };
    }
    const normalized = password.normalize('NFC');
    const length = [...normalized].length;
    if (length < MIN_PASSWORD)
      return { code: 'too_short', detail: `must have at least ${MIN_PASSWORD} characters` };
    if (length > MAX_PASSWORD)
      return { code: 'too_long', detail: `must have at most ${MAX_PASSWORD} characters` };
    const identifier = equalIdentifier(identifiers, normalized);
    if (identifier) {
      // A username contains no @.
      const detail = `must not be your ${identifier.includes('@') ? 'email' : 'username'}`;
      return { code: 'password_is_identifier', detail };
    }
    if (await isCommonPassword(normalized)) {
      return {
        code: 'password_too_common',
        detail: 'is one of the most common passwords; choose another',
      };
    }
    if (await this.#wasBreached(password)) {
      return { code: 'password_breached', detail: 'is known from a data breach; choose another' };
    }
    return null;
  }

  async #wasBreached(password: string): Promise<boolean> {
    if (!this.isBreached) return false;
    const timedOut = new Error('it timed out');
    try {
      return (await withTimeout(this.isBreached(password), BREACH_CHECK_MS, () => timedOut)) === true;
    } catch (error) {
      // The message is not logged, since it could quote the password.
      const reason = error === timedOut ? timedOut.message : kindOf(error);
      this.logger.warn(`latchkey: the breach check failed: ${reason}`);
      if (this.onFailure === 'accept') return false;
      throw new AuthError('unavailable');
    }
  }
}

/** The identifier that a password equals, in any spelling with the same canonical form. */
function equalIdentifier(identifiers: readonly (string | null)[], password: string) {
  const trimmed = password.trim();
  return [trimmed.toLowerCase(), canonicalEmail(trimmed)].find(
    (spelling) => spelling !== null && identifiers.includes(spelling),
  );
}
