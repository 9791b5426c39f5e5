import { canonicalEmail, canonicalUsername } from '../../core/canonical.js';
import type { TransactionOption } from '../../core/client-input.js';
import type { Core } from '../../core/core.js';
import type { NewUser } from '../../core/user-record.js';
import { loadArgon2, MAX_HASH_CHARACTERS, readForeignHash } from '../../crypto/foreign-hash.js';
import { USERNAME_RULE } from './rules.js';

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
  readonly skipped: readonly SkippedUser[];
}

/** An account that was not imported. */
export interface SkippedUser {
  readonly index: number;
  readonly code: ImportProblem;
  /** What is wrong, in words. */
  readonly detail: string;
}

/**
 * Why an account was skipped. `unknown_hash`: the hash is missing or has no supported format. `hash_too_long`: it has
 * more than 1024 characters. `hash_too_costly`: verifying it would take many seconds.
 */
export type ImportProblem =
  | 'invalid_email'
  | 'invalid_username'
  | 'unknown_hash'
  | 'hash_too_costly'
  | 'hash_too_long'
  | 'email_taken'
  | 'username_taken';

type Problem = Omit<SkippedUser, 'index'>;

const TAKEN = {
  email_taken: 'another account, or an earlier one in the list, has this email',
  username_taken: 'another account, or an earlier one in the list, has this username',
} as const;

const BATCH = 500;

/** Imports accounts in batches. Invalid ones are skipped and reported. */
export function importUsers(
  core: Core,
  given: readonly ImportedUser[],
  usernames: boolean,
  { transaction }: TransactionOption = {},
): Promise<ImportResult> {
  return core.inTransaction(transaction, () => importAll(core, given, usernames));
}

async function importAll(
  core: Core,
  given: readonly ImportedUser[],
  usernames: boolean,
): Promise<ImportResult> {
  if (given.some(({ passwordHash }) => String(passwordHash).startsWith('$argon2'))) await loadArgon2();
  const skipped: SkippedUser[] = [];
  let imported = 0;
  for (let start = 0; start < given.length; start += BATCH) {
    const batch = new Map<number, NewUser>();
    for (const [offset, user] of given.slice(start, start + BATCH).entries()) {
      const index = start + offset;
      const read = readUser(user, usernames);
      if ('code' in read) skipped.push({ index, ...read });
      else batch.set(index, read);
    }
    const taken = await core.users.createMany([...batch.values()]);
    for (const [index, user] of batch) {
      const code = taken.get(user);
      if (code) skipped.push({ index, code, detail: TAKEN[code] });
      else imported++;
    }
  }
  return { imported, skipped: skipped.sort((a, b) => a.index - b.index) };
}

function readUser(user: ImportedUser, usernames: boolean): NewUser | Problem {
  const email = canonicalEmail(user.email);
  if (!email)
    return { code: 'invalid_email', detail: 'email must be an email address such as ada@example.com' };
  const username = user.username ? canonicalUsername(user.username) : null;
  if (user.username && !usernames) {
    return { code: 'invalid_username', detail: 'username is not accepted without the option username: true' };
  }
  if (user.username && !username) {
    return { code: 'invalid_username', detail: `username ${USERNAME_RULE}` };
  }
  const { passwordHash } = user;
  const problem = passwordHash === null ? null : problemOfHash(passwordHash);
  if (problem) return problem;
  return { email, username, passwordHash, emailProof: user.emailVerified === true ? 'mailbox' : null };
}

/** What is wrong with a password hash from another system. Null if it can be used. */
export function problemOfHash(passwordHash: unknown): Problem | null {
  // Not taken for null: a misspelled key, such as password_hash, would create accounts without their passwords.
  if (passwordHash === undefined) {
    const detail = 'passwordHash is missing; it must be null for an account without a password';
    return { code: 'unknown_hash', detail };
  }
  if (typeof passwordHash === 'string' && passwordHash.length > MAX_HASH_CHARACTERS) {
    const detail = `passwordHash has more than ${MAX_HASH_CHARACTERS} characters`;
    return { code: 'hash_too_long', detail };
  }
  const foreign = typeof passwordHash === 'string' ? readForeignHash(passwordHash) : null;
  if (!foreign) {
    const detail =
      'passwordHash must be a bcrypt, argon2id, scrypt or PBKDF2 hash in a supported format, ' +
      'or null for an account without a password';
    return { code: 'unknown_hash', detail };
  }
  if (!foreign.isTooCostly) return null;
  const detail = 'passwordHash has a cost with which every failed sign-in would take many seconds';
  return { code: 'hash_too_costly', detail };
}
