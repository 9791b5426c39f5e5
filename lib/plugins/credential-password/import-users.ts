import type { Core } from '../../core/core.js';
import { loadArgon2, MAX_HASH_CHARACTERS, needsArgon2, readForeignHash } from '../../crypto/foreign-hash.js';
import { AuthError } from '../../errors.js';
import type { TransactionOption } from '../../sessions/request.js';
import { canonicalEmail } from '../../users/canonical.js';
import type { NewAccount } from '../../users/create.js';
import type { Refusal } from '../../users/imported.js';
import type { NewUser } from '../../users/record.js';
import type { LegacyHashes } from './legacy-hashes.js';
import type { UsernameRules } from './usernames.js';

/** An account to import from another system. */
export interface ImportedUser {
  /** The email address. It is stored in canonical form. @default none, for a user with a username */
  email?: string | null;
  /** The username, if users can have one. @default none */
  username?: string | null;
  /** A bcrypt, argon2id, scrypt or PBKDF2 hash in a supported format. Null for an account without a password. */
  passwordHash: string | null;
  /** Whether the other system verified the email. @default false */
  emailVerified?: boolean;
  /** The values of the app's fields. @default their defaults */
  fields?: Readonly<Record<string, unknown>>;
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
 * more than 1024 characters. `hash_too_costly`: verifying it would take many seconds. `sign_up_refused`: a hook refused it.
 */
export type ImportProblem =
  | 'invalid_email'
  | 'invalid_username'
  | 'invalid_fields'
  | 'unknown_hash'
  | 'hash_too_costly'
  | 'hash_too_long'
  | 'email_taken'
  | 'username_taken'
  | 'sign_up_refused';

type Problem = Omit<SkippedUser, 'index'>;

const BATCH = 500;

/** What decides about accounts beside the core. */
interface Rules {
  /** Null if users have no usernames. */
  readonly usernames: UsernameRules | null;
  readonly legacy: LegacyHashes;
}

/** Imports accounts in batches. Invalid ones are skipped and reported. */
export function importUsers(
  core: Core,
  given: readonly ImportedUser[],
  rules: Rules,
  { transaction }: TransactionOption = {},
): Promise<ImportResult> {
  return core.inTransaction(transaction, () => importAll(core, given, rules));
}

async function importAll(core: Core, given: readonly ImportedUser[], rules: Rules): Promise<ImportResult> {
  if (given.some(({ passwordHash }) => needsArgon2(passwordHash))) await loadArgon2();
  const skipped: SkippedUser[] = [];
  let imported = 0;
  for (let start = 0; start < given.length; start += BATCH) {
    const batch = new Map<NewAccount, number>();
    for (const [offset, row] of given.slice(start, start + BATCH).entries()) {
      const index = start + offset;
      const read = readRow(core, row, rules);
      if ('code' in read) skipped.push({ index, ...read });
      else batch.set(read, index);
    }
    const outcomes = await core.signUp.createMany([...batch.keys()], { via: 'import' });
    for (const [account, outcome] of outcomes) {
      if ('id' in outcome) imported++;
      else skipped.push({ index: batch.get(account) ?? 0, ...refusalOf(outcome) });
    }
  }
  return { imported, skipped: skipped.sort((a, b) => a.index - b.index) };
}

function refusalOf({ code, detail }: Refusal): Problem {
  if (code === 'email_taken' || code === 'username_taken') return { code, detail };
  return { code: 'sign_up_refused', detail };
}

function readRow(core: Core, row: ImportedUser, rules: Rules): NewAccount | Problem {
  const user = readUser(row, rules);
  if ('code' in user) return user;
  try {
    return { user, fields: core.users.fields.read(row.fields ?? {}, 'code', 'create') };
  } catch (error) {
    if (error instanceof AuthError) return { code: 'invalid_fields', detail: error.message };
    throw error;
  }
}

function readUser(user: ImportedUser, { usernames, legacy }: Rules): NewUser | Problem {
  const email = canonicalEmail(user.email);
  const needsEmail = !usernames || !user.username;
  if (!email && (needsEmail || (user.email ?? null) !== null)) {
    const orUsername = usernames ? ', or null for a user with a username' : '';
    return {
      code: 'invalid_email',
      detail: `email must be an email address such as ada@example.com${orUsername}`,
    };
  }
  if (user.username && !usernames) {
    return { code: 'invalid_username', detail: 'username is not accepted: usernames are not enabled' };
  }
  const username = user.username ? (usernames?.canonical(user.username) ?? null) : null;
  if (user.username && !username) {
    return { code: 'invalid_username', detail: `username ${usernames?.detail}` };
  }
  const given = user.passwordHash;
  const passwordHash = typeof given === 'string' ? legacy.tagged(given, undefined) : given;
  const problem = passwordHash === null ? null : problemOfHash(passwordHash, legacy.read);
  if (problem) return problem;
  const isProved = email !== null && user.emailVerified === true;
  return { email, username, passwordHash, emailProof: isProved ? 'mailbox' : null };
}

/** What is wrong with a password hash from another system. Null if it can be used. */
export function problemOfHash(passwordHash: unknown, read = readForeignHash): Problem | null {
  // Not taken for null: a misspelled key, such as password_hash, would create accounts without their passwords.
  if (passwordHash === undefined) {
    const detail = 'passwordHash is missing; it must be null for an account without a password';
    return { code: 'unknown_hash', detail };
  }
  if (typeof passwordHash === 'string' && passwordHash.length > MAX_HASH_CHARACTERS) {
    const detail = `passwordHash has more than ${MAX_HASH_CHARACTERS} characters`;
    return { code: 'hash_too_long', detail };
  }
  const foreign = typeof passwordHash === 'string' ? read(passwordHash) : null;
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
