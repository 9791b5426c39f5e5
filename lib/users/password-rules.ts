import { withTimeout } from '../context/deadline.js';
import { AuthError, invalidField } from '../errors.js';
import { kindOf, type Log } from '../logger.js';
import { type Phrase, say } from '../phrases.js';
import { canonicalEmail } from './canonical.js';
import { isCommonPassword, readingsOf } from './common-passwords.js';
import type { UsernameRules } from './usernames.js';

const MAX_PASSWORD = 256; // In Unicode code points.
const BREACH_CHECK_MS = 2000;

/** Checks whether a password is known from a data breach. */
export type BreachCheck = (password: string) => Promise<boolean>;

/** The rules for a new password: see `PasswordRuleOptions`. */
export interface PasswordRuleSettings {
  readonly minLength: number;
  readonly common: boolean;
  readonly words: readonly string[];
}

interface Fault {
  readonly code: string;
  readonly detail: Phrase;
}

/**
 * The rules for new passwords. They limit the length, and reject a password that is common, breached, equal to the
 * user's own identifier, or too short without the app's own words. There are no composition rules (NIST SP 800-63B-4,
 * 3.1.1.2; ASVS 5.0, 6.2).
 */
export class PasswordRules {
  /** In lower case, longest first, because one word can be a part of another. */
  readonly #words: readonly string[];

  /**
   * @param breach the app's breach check, if any, and whether to accept a password if it fails or takes longer than 2
   *   seconds
   * @param usernames null if usernames are not enabled
   */
  constructor(
    private readonly options: PasswordRuleSettings,
    private readonly breach:
      | { readonly check: BreachCheck; readonly onFailure: 'accept' | 'refuse' }
      | undefined,
    private readonly usernames: UsernameRules | null,
    private readonly log: Log,
  ) {
    this.#words = options.words
      .map((word) => word.normalize('NFKC').toLowerCase())
      .sort((a, b) => b.length - a.length);
  }

  /** The minimum number of characters. */
  get minLength(): number {
    return this.options.minLength;
  }

  /** Describes valid passwords, for the OpenAPI document. */
  get description(): string {
    const { minLength, common } = this.options;
    return `${minLength} to ${MAX_PASSWORD} characters${common ? ', and not a common password' : ''}`;
  }

  /**
   * @param identifiers the user's email and username, which the password must not equal
   * @throws AuthError `validation_failed`
   */
  async check(password: string, pointer: string, identifiers: readonly (string | null)[]): Promise<void> {
    const fault = await this.faultOf(password, identifiers);
    if (fault) throw invalidField(pointer, fault.code, fault.detail);
    await this.checkBreach(password, pointer);
  }

  /** Checks only whether a password is known from a data breach. @throws AuthError `validation_failed` */
  async checkBreach(password: string, pointer: string): Promise<void> {
    if (await this.#wasBreached(password))
      throw invalidField(pointer, 'password_breached', say('password-breached'));
  }

  /**
   * Checks only that a password, which has passed {@link check} for other identifiers, does not equal these.
   *
   * @throws AuthError `validation_failed`
   */
  checkIdentifiers(password: string, pointer: string, identifiers: readonly (string | null)[]): void {
    const fault = this.#identifierFault(password, identifiers);
    if (fault) throw invalidField(pointer, fault.code, fault.detail);
  }

  /**
   * Checks a password that the app's code passes. With `skip`, the rules do not apply, because another system might
   * have accepted the password.
   *
   * @throws AuthError `validation_failed`
   */
  async checkGiven(password: string, identifiers: readonly (string | null)[], skip: boolean): Promise<void> {
    if (!skip) return this.check(password, '/password', identifiers);
    const isText = typeof password === 'string' && password.isWellFormed() && !password.includes('\0');
    if (!isText || password === '' || [...password].length > MAX_PASSWORD)
      throw invalidField('/password', 'invalid', say('invalid-password', { maximum: MAX_PASSWORD }));
  }

  /** Returns the fault of a new password. Null if it has none, unless it is known from a data breach: see {@link checkBreach}. */
  async faultOf(password: unknown, identifiers: readonly (string | null)[]): Promise<Fault | null> {
    if (typeof password !== 'string' || !password.isWellFormed() || password.includes('\0')) {
      return { code: 'invalid', detail: say('malformed-text') };
    }
    const normalized = password.normalize('NFC');
    const length = [...normalized].length;
    const { minLength, common } = this.options;
    if (length < minLength)
      return { code: 'too_short', detail: say('too-short', { minimum: minLength, unit: 'characters' }) };
    if (length > MAX_PASSWORD)
      return { code: 'too_long', detail: say('too-long', { maximum: MAX_PASSWORD, unit: 'characters' }) };
    const equal = this.#identifierFault(normalized, identifiers);
    if (equal) return equal;
    if (common && (await isCommonPassword(normalized))) {
      return {
        code: 'password_too_common',
        detail: say('password-too-common'),
      };
    }
    if (this.#leansOnWords(normalized)) {
      return {
        code: 'password_too_common',
        detail: say('password-of-app-words'),
      };
    }
    return null;
  }

  /** Whether a password contains words of the app, and is too short without them. */
  #leansOnWords(password: string): boolean {
    return readingsOf(password).some((text) => {
      const rest = this.#words.reduce((left, word) => left.replaceAll(word, ''), text);
      return rest !== text && [...rest].length < this.options.minLength;
    });
  }

  async #wasBreached(password: string): Promise<boolean> {
    if (!this.breach) return false;
    const timedOut = new Error('it timed out');
    try {
      return (await withTimeout(this.breach.check(password), BREACH_CHECK_MS, () => timedOut)) === true;
    } catch (error) {
      // The error's message is not logged, because it could contain the password.
      const reason = error === timedOut ? timedOut.message : kindOf(error);
      this.log.warn('breach_check.failed', `the breach check failed: ${reason}`, { cause: reason });
      if (this.breach.onFailure === 'accept') return false;
      throw new AuthError('unavailable');
    }
  }

  #identifierFault(password: string, identifiers: readonly (string | null)[]): Fault | null {
    const identifier = this.#equalIdentifier(identifiers, password.normalize('NFC'));
    if (identifier === undefined) return null;
    // A username contains no @.
    const detail = say(identifier.includes('@') ? 'password-is-email' : 'password-is-username');
    return { code: 'password_is_identifier', detail };
  }

  /** Returns the identifier that a password equals, in any spelling with the same canonical form. */
  #equalIdentifier(identifiers: readonly (string | null)[], password: string): string | undefined {
    const trimmed = password.trim();
    const spellings = [trimmed.toLowerCase(), canonicalEmail(trimmed), this.usernames?.fold(trimmed)];
    return spellings.find((one) => typeof one === 'string' && identifiers.includes(one)) ?? undefined;
  }
}
