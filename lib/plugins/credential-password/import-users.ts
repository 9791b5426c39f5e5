import { canonicalEmail, canonicalUsername } from '../../core/canonical.js';
import type { Core } from '../../core/core.js';
import type { NewUser } from '../../core/users.js';
import { loadArgon2, readForeignHash } from '../../crypto/foreign-hash.js';

/** An account to import from another system. */
export interface ImportedUser {
  /** The email address. It is stored in canonical form. */
  email: string;
  /** The username; requires the option `username`. @default none */
  username?: string | null;
  /** A bcrypt, argon2id, scrypt or PBKDF2 hash in a supported format. Null for an account without a password. */
  passwordHash: string | null;
  /** Whether the other system verified the email. @default false */
  emailVerified?: boolean;
}

/** The result of an import. */
export interface ImportResult {
  /** The number of imported accounts. */
  readonly imported: number;
  /** The skipped accounts, by their index in the given list, and the reasons. */
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

/** Imports accounts in batches. Invalid ones are skipped and reported. */
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
  return {
    email: canonical,
    username: name,
    passwordHash,
    emailProof: emailVerified === true ? 'app' : null,
  };
}
