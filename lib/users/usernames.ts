import { invalidField } from '../errors.js';
import { canonicalUsername } from './canonical.js';

/** As the column is declared. */
export const MAX_USERNAME = 100;

// Longer ones are not normalized: one character can become 18.
const MAX_TYPED = 400;
// Control and invisible characters, unassigned ones, and spaces other than single ones within the name.
const NEVER = /@|[\p{C}\p{DI}]|(?! )\p{Z}|^ | $| {2}/u;

/**
 * What usernames may be. Each has one form, in which it is stored and compared byte by byte: by default in lower case;
 * with a pattern of the app's, which can allow other alphabets, also in Unicode form NFKC, so that full-width letters
 * and other variants of a character make no second account.
 */
export class UsernameRules {
  /** What a username must be, for the error of one that is not. */
  readonly detail: string;
  readonly #pattern: RegExp | null;

  /** @param pattern replaces the default rule; it must match the whole name in its canonical form */
  constructor(pattern?: RegExp) {
    this.detail = pattern
      ? `must be a name that this app allows: at most ${MAX_USERNAME} characters, no @, and no spaces around it`
      : 'must be 3 to 30 characters: letters a to z, digits, underscores, dots and hyphens';
    // With `g` or `y`, an expression remembers where it stopped. With `m`, it could match a part.
    this.#pattern =
      pattern === undefined
        ? null
        : new RegExp(`^(?:${pattern.source})$`, pattern.flags.replace(/[gmy]/g, ''));
  }

  /** The form in which a name is stored if an account has it, even if new accounts could not. Null if none can. */
  fold(value: unknown): string | null {
    return this.#pattern ? foldUnicode(value) : canonicalUsername(value);
  }

  /** The stored form of a new username, or null if it is not allowed. */
  canonical(value: unknown): string | null {
    const username = this.fold(value);
    return username !== null && (this.#pattern?.test(username) ?? true) ? username : null;
  }

  /** The stored form of a new username. @throws AuthError `validation_failed` */
  check(value: unknown, pointer = '/username'): string {
    const username = this.canonical(value);
    if (username === null) throw invalidField(pointer, 'invalid_username', this.detail);
    return username;
  }
}

function foldUnicode(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MAX_TYPED || !value.isWellFormed()) return null;
  // Normalized again, since lower-casing can leave a letter and an accent that could be one character.
  const folded = value.normalize('NFKC').toLowerCase().normalize('NFKC');
  return folded === '' || NEVER.test(folded) || [...folded].length > MAX_USERNAME ? null : folded;
}
