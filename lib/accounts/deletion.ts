import type { Transaction } from 'sequelize';
import type { Core } from '../core/core.js';
import type { Chore } from '../database/chore.js';
import { isForeignKeyViolation } from '../database/faults.js';
import { AuthError } from '../errors.js';
import { accountDeletedNotice } from '../notices/notice-texts.js';
import { accountChanges } from '../tables/account-change.js';
import { devices } from '../tables/device.js';
import { oneTimeTokens } from '../tables/one-time-token.js';
import { runHook } from '../users/run-hook.js';
import type { UserRecord } from '../users/user-record.js';
import { changeAccount } from './change-account.js';
import { closeAccount, type DeletionWork, expiredAccounts, isClosed } from './closed-accounts.js';

/** How to delete an account. */
export interface Deletion {
  /** Deletes it at once, even if deleted accounts are kept for a while. @default false */
  readonly atOnce?: boolean;
  /** What else belongs to it, in the same transaction. */
  readonly alongside?: (transaction: Transaction) => void;
}

const BATCH = 100;

/**
 * Deletes an account with everything that belongs to it, or shuts it if deleted accounts are kept for a while. If a row of
 * the app refers to it and may not go, nothing is deleted.
 *
 * @param sessionId the session of the user who asks for it; null for code
 * @throws AuthError `account_in_use` (409), `user_not_found` or `invalid_session`, and what the app's hook throws
 */
export async function deleteUser(
  core: Core,
  userId: string,
  sessionId: string | null,
  { atOnce = false, alongside }: Deletion = {},
): Promise<void> {
  if (core.settings.accountDeletion.graceDays === 0 || atOnce)
    return deleteForGood(core, userId, sessionId, alongside);
  const deletion: DeletionWork = (transaction, record) => deleteIn(core, transaction, record);
  await closeAccount(core, userId, sessionId, deletion, alongside);
}

/** The accounts that have been kept shut for long enough. */
export function closedForLong(core: Core): Chore {
  const table = core.database.table(core.userTable.name);
  return { table, run: (dryRun) => pruneAccounts(core, dryRun) };
}

async function pruneAccounts(core: Core, dryRun: boolean): Promise<number> {
  await core.database.ready();
  for (let after = '', pruned = 0; ; ) {
    const expired = await expiredAccounts(core, after, BATCH);
    for (const { id } of expired) pruned += dryRun ? 1 : await pruneAccount(core, id);
    const last = expired.at(-1);
    if (!last) return pruned;
    after = last.id;
  }
}

/** One that cannot go must not keep the others. */
async function pruneAccount(core: Core, userId: string): Promise<number> {
  try {
    await deleteForGood(core, userId, null, undefined, true);
    return 1;
  } catch (error) {
    const isRestored = error instanceof AuthError && error.code === 'user_not_found';
    if (!isRestored)
      core.settings.logger.warn(
        `latchkey: the deleted account ${userId} could not be deleted for good`,
        error,
      );
    return 0;
  }
}

/** @param onlyClosed whether it must still be shut, and nobody is told any more */
async function deleteForGood(
  core: Core,
  userId: string,
  sessionId: string | null,
  alongside?: Deletion['alongside'],
  onlyClosed = false,
): Promise<void> {
  let isDone = false;
  try {
    await changeAccount(core, userId, sessionId, async (transaction, record) => {
      isDone = false;
      const wasClosed = isClosed(record);
      if (onlyClosed && !wasClosed) throw new AuthError('user_not_found');
      await deleteIn(core, transaction, record);
      const byApp = sessionId === null;
      if (!wasClosed) await core.notices.plain(accountDeletedNotice, record.user, transaction, { byApp });
      core.events.emit('user.deleted', { userId }, transaction);
      alongside?.(transaction);
      isDone = true;
    });
  } catch (error) {
    // SQLite checks deferred constraints at COMMIT only.
    throw isDone ? asInUse(error) : error;
  }
}

async function deleteIn(core: Core, transaction: Transaction, { user }: UserRecord) {
  await runHook(core.context, () => core.settings.hooks.beforeDeleteUser?.(user, { transaction }));
  return deleteRows(core, user.id, transaction);
}

async function deleteRows(core: Core, userId: string, transaction: Transaction): Promise<void> {
  try {
    for (const { onDelete } of core.contributions) {
      const work = await onDelete?.(userId, transaction);
      if (work) core.database.afterCommit(transaction, work);
    }
    await core.sessions.endAll(userId, transaction);
    // The database deletes these with the user, unless foreign keys are off, as they may be on SQLite.
    await core.table(oneTimeTokens).delete({ userId }, transaction);
    await core.table(devices).delete({ userId }, transaction);
    await core.table(accountChanges).delete({ userId }, transaction);
    await core.users.rows?.delete(userId, transaction);
    await core.table(core.userTable).delete({ id: userId }, transaction);
    await checkDeferred(core, transaction);
  } catch (error) {
    throw asInUse(error);
  }
}

/** Has constraints checked now that the app has declared as deferred: Sequelize drops a connection whose COMMIT fails. */
async function checkDeferred({ database, context }: Core, transaction: Transaction): Promise<void> {
  // The app's own transaction may still delete what refers to the user.
  if (database.dialect !== 'postgres' || context.joined) return;
  await database.change('SET CONSTRAINTS ALL IMMEDIATE', undefined, { transaction });
}

function asInUse(error: unknown): unknown {
  return isForeignKeyViolation(error) ? new AuthError('account_in_use', { cause: error }) : error;
}
