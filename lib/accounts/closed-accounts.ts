import type { Transaction } from 'sequelize';
import type { Settings } from '../config/settings.js';
import type { Contribution } from '../core/contribution.js';
import type { Core } from '../core/core.js';
import { AppError } from '../database/faults.js';
import { AuthError, declareProblems } from '../errors.js';
import { accountClosedNotice } from '../notices/notice-texts.js';
import { declareEvents } from '../outbox/events.js';
import type { UserRecord } from '../users/user-record.js';
import { changeAccount } from './change-account.js';

const problems = declareProblems({
  account_deleted: [
    403,
    'This account was deleted. For a while, the link in the email about it can bring the account back.',
  ],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../outbox/events.js' {
  interface EventDetails {
    /** An account was deleted, but is kept shut for `accountDeletion.graceDays` before `user.deleted`. */
    'user.deletion_requested': { readonly userId: string };
    /** The app's code has brought back an account that was kept shut. */
    'user.restored': { readonly userId: string };
  }
}

declareEvents('user.deletion_requested', 'user.restored');

const DAY_MS = 24 * 60 * 60 * 1000;

/** Refuses accounts that are shut, as a plugin refuses others. Also without a grace: there may have been one before. */
export function closedAccounts({ accountDeletion }: Pick<Settings, 'accountDeletion'>): Contribution {
  return {
    accountProblems: accountDeletion.graceDays > 0 ? ['account_deleted'] : [],
    checkAccount(account) {
      if (isClosed({ account })) throw new AuthError('account_deleted');
    },
  };
}

/** Whether an account was deleted, and is kept shut. */
export function isClosed({ account }: Pick<UserRecord, 'account'>): boolean {
  return (account.deletedAt ?? null) !== null;
}

/** Whether it was kept shut for as long as it is to be. Then it only waits to be deleted. */
export function isExpired({ settings, database }: Core, { account }: Pick<UserRecord, 'account'>): boolean {
  const closedAt = account.deletedAt ?? null;
  if (closedAt === null) return false;
  const graceMs = settings.accountDeletion.graceDays * DAY_MS;
  return database.clock.hasPassed(new Date((closedAt as Date).getTime() + graceMs));
}

/** Does work of a deletion. The user's row is locked. */
export type DeletionWork = (transaction: Transaction, record: UserRecord) => Promise<unknown>;

/**
 * Shuts an account that is to be deleted later. The deletion is tried first, and rolled back, so that what refuses it does
 * so now, while somebody waits for it.
 *
 * @param sessionId the session of the user who asks for it; null for code
 * @param alongside what else belongs to it
 * @throws AuthError `user_not_found`, also if it is shut already; and what refuses the deletion
 */
export async function closeAccount(
  core: Core,
  userId: string,
  sessionId: string | null,
  deletion: DeletionWork,
  alongside?: (transaction: Transaction) => void,
): Promise<void> {
  await tryOut(core, userId, sessionId, deletion);
  const { graceDays } = core.settings.accountDeletion;
  await changeAccount(core, userId, sessionId, async (transaction, record) => {
    if (isClosed(record)) throw new AuthError('user_not_found');
    const details = { byApp: sessionId === null, lifetimeMs: graceDays * DAY_MS };
    await core.notices.before(accountClosedNotice(graceDays), record, transaction, details);
    await core.sessions.endAll(userId, transaction);
    await core.tokens.endAll(userId, transaction);
    await core.updates.update(record, { deletedAt: core.database.clock.date() }, transaction);
    core.events.emit('user.deletion_requested', { userId }, transaction);
    alongside?.(transaction);
  });
}

async function tryOut(
  core: Core,
  userId: string,
  sessionId: string | null,
  deletion: DeletionWork,
): Promise<void> {
  const worked = new Error('it works');
  try {
    await changeAccount(core, userId, sessionId, async (transaction, record) => {
      await deletion(transaction, record);
      throw new AppError(worked);
    });
  } catch (error) {
    if (error !== worked) throw error;
  }
}

/** Brings back an account that is kept shut, because the app says so. @throws AuthError `user_not_found` */
export async function restoreAccount(core: Core, userId: string): Promise<UserRecord> {
  return changeAccount(core, userId, null, async (transaction, before) => {
    const { record } = await core.updates.update(before, { deletedAt: null }, transaction);
    if (isClosed(before)) core.events.emit('user.restored', { userId }, transaction);
    return record;
  });
}

/** The ids of accounts whose grace is over, after one. */
export function expiredAccounts(core: Core, after: string, limit: number): Promise<{ id: string }[]> {
  const { database, settings, userTable } = core;
  const before = database.clock.date(-settings.accountDeletion.graceDays * DAY_MS);
  return database.select<{ id: string }>(
    `SELECT u.id AS id FROM ${database.table(userTable.name)} u
     WHERE u.deleted_at <= :before ${after && 'AND u.id > :after'} ORDER BY u.id LIMIT ${limit}`,
    { before, after },
  );
}
