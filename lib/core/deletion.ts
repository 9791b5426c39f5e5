import type { Transaction } from 'sequelize';
import { isForeignKeyViolation } from '../database/faults.js';
import { AuthError } from '../errors.js';
import { devices } from '../models/device.js';
import { oneTimeTokens } from '../models/one-time-token.js';
import { changeAccount } from './change-account.js';
import type { Core } from './core.js';
import { runHook } from './sign-up.js';

interface Deleted {
  readonly endedSessions: readonly string[];
  /** What to do after the commit. */
  readonly afterwards: readonly (() => void)[];
}

/**
 * Deletes an account with everything that belongs to it. If a row of the app refers to it and may not go, nothing is
 * deleted.
 *
 * @param sessionId the session of the user who asks for it; null for code
 * @throws AuthError `account_in_use` (409), `user_not_found` or `invalid_session`, and what the app's hook throws
 */
export async function deleteUser(core: Core, userId: string, sessionId: string | null): Promise<void> {
  const { endedSessions, afterwards } = await deleteOrRefuse(core, userId, sessionId);
  core.sessions.announceEnd(userId, endedSessions);
  core.events.emit('user.deleted', { userId });
  for (const work of afterwards) work();
}

async function deleteOrRefuse(core: Core, userId: string, sessionId: string | null): Promise<Deleted> {
  let isDone = false;
  try {
    return await changeAccount(core, userId, sessionId, async (transaction, { user }) => {
      isDone = false;
      await runHook(core.context, () => core.settings.hooks.beforeDeleteUser?.(user, { transaction }));
      const deleted = await deleteRows(core, userId, transaction);
      isDone = true;
      return deleted;
    });
  } catch (error) {
    // SQLite checks deferred constraints at COMMIT only.
    throw isDone ? asInUse(error) : error;
  }
}

async function deleteRows(core: Core, userId: string, transaction: Transaction): Promise<Deleted> {
  try {
    const afterwards: (() => void)[] = [];
    for (const { onDelete } of core.contributions) {
      const work = await onDelete?.(userId, transaction);
      if (work) afterwards.push(work);
    }
    const endedSessions = await core.sessions.endAll(userId, transaction);
    // The database deletes these with the user, unless foreign keys are off, as they may be on SQLite.
    await core.table(oneTimeTokens).delete({ userId }, transaction);
    await core.table(devices).delete({ userId }, transaction);
    await core.users.rows?.delete(userId, transaction);
    await core.table(core.userTable).delete({ id: userId }, transaction);
    await checkDeferred(core, transaction);
    return { endedSessions, afterwards };
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
