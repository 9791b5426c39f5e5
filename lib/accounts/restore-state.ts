import type { Transaction } from 'sequelize';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import type { AccountState } from '../notices/account-state.js';
import type { UserChanges } from '../users/updates.js';
import type { UserRecord } from '../users/user-record.js';

/**
 * Makes the ways into an account what they were, except for its password: the earlier one may be known to an intruder, so
 * there is none. What another account has got in the meantime stays there, and the rest is done. The user's row is locked.
 *
 * @param shown the codes that were given as a proof
 */
export async function restoreState(
  core: Core,
  userId: string,
  state: AccountState,
  shown: Readonly<Record<string, string>>,
  transaction: Transaction,
): Promise<UserRecord> {
  const record = await lock(core, userId, transaction);
  for (const { wayBack } of core.contributions)
    await wayBack?.restore(record, state.parts[wayBack.name], transaction, shown);
  // Plugins have columns of users too.
  const left = await lock(core, userId, transaction);
  const changes = {
    ...(await emailOf(core, left, state, transaction)),
    ...(await usernameOf(core, left, state, transaction)),
    passwordHash: null,
    deletedAt: null,
  };
  return (await core.updates.update(left, changes, transaction)).record;
}

async function lock({ users }: Core, userId: string, transaction: Transaction): Promise<UserRecord> {
  const record = await users.lock(userId, transaction);
  if (!record) throw new AuthError('invalid_token');
  return record;
}

/** A verification since then stays, if the email is the same: whoever undoes the change has just shown access to it. */
async function emailOf(
  core: Core,
  { user }: UserRecord,
  { email, ...state }: AccountState,
  transaction: Transaction,
): Promise<UserChanges> {
  if (email === user.email && user.emailVerifiedAt !== null) return {};
  // Only the app's own statements can have given it away. The one that it has is the intruder's, if anybody's.
  const isTaken = email !== null && (await isOfAnother(core, 'email', email, user.id, transaction));
  if (isTaken) return { email: null, emailVerifiedAt: null, mailboxProvedAt: null };
  return {
    email,
    emailVerifiedAt: timeOf(state.emailVerifiedAt),
    mailboxProvedAt: timeOf(state.mailboxProvedAt),
  };
}

async function usernameOf(
  core: Core,
  { user }: UserRecord,
  { username }: AccountState,
  transaction: Transaction,
): Promise<UserChanges> {
  if (username === user.username) return {};
  const isTaken = username !== null && (await isOfAnother(core, 'username', username, user.id, transaction));
  return isTaken ? {} : { username };
}

async function isOfAnother(
  { database, userTable }: Core,
  column: 'email' | 'username',
  value: string,
  userId: string,
  transaction: Transaction,
): Promise<boolean> {
  const rows = await database.select(
    `SELECT u.id FROM ${database.table(userTable.name)} u
     WHERE u.${column} = :value AND u.id <> :userId ${database.currentRead}`,
    { value, userId },
    transaction,
  );
  return rows.length > 0;
}

function timeOf(time: string | null): Date | null {
  return time === null ? null : new Date(time);
}
