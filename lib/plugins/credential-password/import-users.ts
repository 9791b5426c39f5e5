import { canonicalEmail, canonicalUsername } from '../../core/canonical.js';
import type { Core } from '../../core/core.js';
import type { NewUser } from '../../core/users.js';
import { loadArgon2, readForeignHash } from '../../crypto/foreign-hash.js';

/** An account from another system. */
export interface ImportedUser {
  /** In any spelling; stored in canonical form. */
  email: string;
  /** Where usernames are on. @default none */
  username?: string | null;
  /** bcrypt, argon2id, scrypt or PBKDF2, in a format of other programs. Null for an account without a password. */
  passwordHash: string | null;
  /** Whether the other system has verified the email. @default false */
  emailVerified?: boolean;
}

/** The result of an import. */
export interface ImportResult {
  /** How many accounts were imported. */
  readonly imported: number;
  /** Which of the given accounts were skipped, by their index in the list, and why. */
  readonly skipped: readonly { readonly index: number; readonly code: ImportProblem }[];
}

/** Why an account was skipped. */
export type ImportProblem =
  | 'invalid_email'
  | 'invalid_username'
  | 'unknown_hash'
  | 'email_taken'
  | 'username_taken';

const BATCH = 500;

/** Imports accounts in batches. One that is not valid is skipped and reported; the others are imported. */
export async function importUsers(
  core: Core,
  given: readonly ImportedUser[],
  usernames: boolean,
): Promise<ImportResult> {
  if (given.some(({ passwordHash }) => String(passwordHash).startsWith('$argon2'))) await loadArgon2();
  const skipped: { index: number; code: ImportProblem }[] = [];
  let imported = 0;
  for (let start = 0; start < given.length; start += BATCH) {
    const batch = new Map<number, NewUser>();
    for (const [offset, user] of given.slice(start, start + BATCH).entries()) {
      const read = readUser(user, usernames);
      if (typeof read === 'string') skipped.push({ index: start + offset, code: read });
      else batch.set(start + offset, read);
    }
    const taken = await core.users.createMany([...batch.values()]);
    for (const [index, user] of batch) {
      const code = taken.get(user);
      if (code) skipped.push({ index, code });
      else imported++;
    }
  }
  return { imported, skipped: skipped.sort((a, b) => a.index - b.index) };
}

function readUser(
  { email, username, passwordHash, emailVerified }: ImportedUser,
  usernames: boolean,
): NewUser | ImportProblem {
  const canonical = canonicalEmail(email);
  if (!canonical) return 'invalid_email';
  const name = username ? canonicalUsername(username) : null;
  if (username && !(usernames && name)) return 'invalid_username';
  if (passwordHash !== null && !(typeof passwordHash === 'string' && readForeignHash(passwordHash)))
    return 'unknown_hash';
  return { email: canonical, username: name, passwordHash, emailVerified: emailVerified === true };
}
