import { invalidField } from '../errors.js';
import { type Phrase, say } from '../phrases.js';
import { canonicalUsername } from './canonical.js';

/** A username in both of its forms. */
export interface Username {
  /** The form that is stored and compared: the only one that identifies the account. */
  readonly username: string;
  /** The letters that were typed. */
  readonly usernameDisplay: string;
}

/** The length of the column. */
const MAX_USERNAME = 100;

// Longer strings are not normalized, because one character can become 18.
const MAX_TYPED = 400;
// Matches @, control, invisible and unassigned characters, and all spaces except single ones within the name.
const NEVER = /@|[\p{C}\p{DI}]|(?! )\p{Z}|^ | $| {2}/u;

/**
 * The rules for usernames. Each username has one form that is stored and compared byte by byte. By default, this form
 * is in lower case. With the app's own pattern, which can allow other alphabets, it is also in Unicode form NFKC, so
 * that full-width letters and other variants of a character cannot create a second account.
 */
export class UsernameRules {
  /** Describes valid usernames, for the error about an invalid one. */
  readonly detail: Phrase;
  /** Whether the app has no rule of its own. */
  readonly areDefault: boolean;
  readonly #pattern: RegExp | null;

  /**
   * @param pattern replaces the default rule; it must match the whole name in its canonical form
   * @param areOnlyIdentifiers whether usernames are the only identifiers, so that every account must have one
   */
  constructor(
    pattern?: RegExp,
    readonly areOnlyIdentifiers = false,
  ) {
    this.areDefault = pattern === undefined;
    this.detail = pattern ? say('username-not-allowed', { maximum: MAX_USERNAME }) : say('invalid-username');
    // With `g` or `y`, an expression remembers where it stopped. With `m`, it could match only a part of the name.
    this.#pattern =
      pattern === undefined
        ? null
        : new RegExp(`^(?:${pattern.source})$`, pattern.flags.replace(/[gmy]/g, ''));
  }

  /**
   * Returns the stored form of a name, even if new accounts cannot have the name. Null if no account can have it.
   */
  fold(value: unknown): string | null {
    return this.#pattern ? foldUnicode(value) : canonicalUsername(value);
  }

  /** Returns the stored form of a new username, or null if it is not allowed. */
  canonical(value: unknown): string | null {
    const username = this.fold(value);
    return username !== null && (this.#pattern?.test(username) ?? true) ? username : null;
  }

  /** Returns a new username. @throws AuthError `validation_failed` */
  check(value: unknown, pointer = '/username'): Username {
    const username = this.canonical(value);
    if (username === null) throw invalidField(pointer, 'invalid_username', this.detail);
    return { username, usernameDisplay: this.lettersOf(username, value) };
  }

  /**
   * Returns the letters to show for a username: the first of the given strings that is a spelling of this name.
   *
   * @param username in its stored form, which is returned if no string is a spelling of it
   */
  lettersOf(username: string, ...spellings: readonly unknown[]): string {
    const isSpelling = (one: unknown): one is string =>
      typeof one === 'string' && this.fold(one) === username && isShowable(one);
    return spellings.find(isSpelling) ?? username;
  }
}

function foldUnicode(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MAX_TYPED || !value.isWellFormed()) return null;
  // Normalize again, because lower-casing can leave a letter and an accent that could be one character.
  const folded = value.normalize('NFKC').toLowerCase().normalize('NFKC');
  return folded !== '' && isShowable(folded) ? folded : null;
}

/** Whether a name fits into the column and contains no misleading characters, which NFKC might have replaced. */
function isShowable(name: string): boolean {
  return !NEVER.test(name) && [...name].length <= MAX_USERNAME;
}
