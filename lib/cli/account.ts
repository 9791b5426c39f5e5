import type { Transaction } from 'sequelize';
import { internalsOf } from '../auth.js';
import { isUuid } from '../crypto/uuid.js';
import type { UserForAdmins } from '../users/record.js';
import type { Call } from './call.js';
import { Refusal } from './output.js';

/** The argument that names an account. */
export const WHO = '<user>';
export const WHO_HELP = 'the id, email or username of the account';

/**
 * Finds an account.
 *
 * @param who the argument that names it: the first one, unless the caller passes another
 * @throws Refusal if there is no such account
 */
export async function findUser({ auth, args }: Call, who = args[0] ?? ''): Promise<UserForAdmins> {
  const by = who.includes('@') ? { email: who } : { username: who };
  const user = isUuid(who) ? await auth.users.get(who) : await auth.users.find(by);
  if (!user) throw new Refusal(`no account has the id, email or username ${who}`, 'user_not_found');
  return user;
}

/** Makes a change. With `--dry-run`, its transaction is rolled back, so that no emails or events are sent either. */
export async function trying<T>(
  { auth, options }: Call,
  change: (transaction: Transaction | undefined) => Promise<T>,
): Promise<T> {
  if (!options.dryRun) return change(undefined);
  const { sequelize, dialect } = internalsOf(auth).core.database;
  const type = 'IMMEDIATE' as Transaction.TYPES;
  const transaction = await sequelize.transaction(dialect === 'sqlite' ? { type } : {});
  try {
    return await change(transaction);
  } finally {
    await transaction.rollback();
  }
}

/** Prints that an account was changed or, with `--dry-run`, would be changed. */
export function done({ out, options }: Call, id: string, did: string, would: string): void {
  const { dryRun = false } = options as { dryRun?: boolean };
  out.result({ id, dryRun }, dryRun ? would : did);
}
