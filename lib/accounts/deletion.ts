import type { Transaction } from 'sequelize';
import type { Contribution } from '../core/contribution.js';
import { BY_CODE, type Core } from '../core/core.js';
import { readBatches } from '../database/batches.js';
import type { Chore } from '../database/chores.js';
import { AppError, isForeignKeyViolation } from '../database/faults.js';
import { AuthError, type AuthErrorCode, declareProblems } from '../errors.js';
import { declareNotices, type NoticeTemplate } from '../mail/notice-kinds.js';
import { declareEvents } from '../outbox/events.js';
import { CORE } from '../owners.js';
import { accountChanges } from '../tables/core.js';
import type { UserRecord } from '../users/record.js';
import { runHook } from '../users/updates.js';
import { endWaiting } from '../waiting/tables.js';

/** How to delete an account. */
export interface Deletion {
  /** Whether to delete the account immediately, even if there is a grace period. @default false */
  readonly atOnce?: boolean;
  /** Other work for the same transaction. */
  readonly alongside?: (transaction: Transaction) => void;
}

/**
 * Deletes an account with everything that belongs to it, or marks it for deletion if there is a grace period. If one of
 * the app's rows refers to the account and prevents its deletion, nothing is deleted.
 *
 * @param sessionId the session of the user who requests the deletion; null for code
 * @throws AuthError `account_in_use` (409), `user_not_found` or `invalid_session`, and errors that the app's hook
 *   throws
 */
export async function deleteUser(
  core: Core,
  userId: string,
  sessionId: string | null,
  { atOnce = false, alongside }: Deletion = {},
): Promise<void> {
  if (core.settings.accountDeletion.graceDays === 0 || atOnce)
    return deleteForGood(core, userId, sessionId, { alongside });
  await closeAccount(core, userId, sessionId, alongside);
}

/** Returns the problems of a deletion. */
export function deletionProblems({ contributions }: Core): readonly AuthErrorCode[] {
  return ['account_in_use', ...contributions.flatMap((one) => one.deletionProblems ?? [])];
}

/** Permanently deletes the accounts whose grace period is over. */
export function closedForLong(core: Core): Chore {
  const table = core.users.table.name;
  return { table, run: (dryRun) => pruneAccounts(core, dryRun) };
}

async function* pruneAccounts(core: Core, dryRun: boolean): AsyncGenerator<number> {
  await core.database.ready();
  const batches = readBatches<{ readonly id: string }>((last, size) =>
    expiredAccounts(core, last?.id ?? '', size),
  );
  for await (const expired of batches)
    for (const { id } of expired) yield dryRun ? 1 : pruneAccount(core, id);
}

/** Logs a failure, because an account that cannot be deleted must not prevent the deletion of the others. */
async function pruneAccount(core: Core, userId: string): Promise<number> {
  try {
    await deleteForGood(core, userId, null, { onlyClosed: true });
    return 1;
  } catch (error) {
    const isRestored = error instanceof AuthError && error.code === 'user_not_found';
    if (!isRestored)
      core.settings.log.warn(
        'account.not_deleted',
        `the account ${userId} could not be permanently deleted`,
        { err: error },
      );
    return 0;
  }
}

interface PermanentDeletion {
  readonly alongside?: Deletion['alongside'];
  /** Whether the deletion must still be pending, so that a restored account is not deleted. @default false */
  readonly onlyClosed?: boolean;
}

async function deleteForGood(
  core: Core,
  userId: string,
  sessionId: string | null,
  { alongside, onlyClosed = false }: PermanentDeletion,
): Promise<void> {
  let isDone = false;
  try {
    await core.change(userId, { sessionId }, async (record, transaction) => {
      isDone = false;
      const wasClosed = isClosed(record);
      if (onlyClosed && !wasClosed) throw new AuthError('user_not_found');
      const notice = deletionNotices['account-deleted'];
      if (!wasClosed && sessionId === null) await core.notices.final(notice, record, transaction);
      else if (!wasClosed) {
        await core.notices.plain({ ...notice, help: 'notYou' }, record.user, transaction);
      }
      await deleteIn(core, record, transaction);
      core.events.emit('user.deleted', { userId }, transaction);
      alongside?.(transaction);
      isDone = true;
    });
  } catch (error) {
    // SQLite checks deferred constraints only at COMMIT, so the violation can surface here.
    throw isDone ? asInUse(error) : error;
  }
}

/** Deletes an account in a transaction that has locked the user's row. */
export async function deleteIn(core: Core, { user }: UserRecord, transaction: Transaction): Promise<void> {
  await runHook(core.database, transaction, (given) => core.settings.hooks.beforeDeleteUser?.(user, given));
  return deleteRows(core, user.id, transaction);
}

async function deleteRows(core: Core, userId: string, transaction: Transaction): Promise<void> {
  try {
    for (const { onDelete } of core.contributions) await onDelete?.(userId, transaction);
    await core.sessions.endAll(userId, transaction);
    // The database deletes these rows with the user, unless foreign keys are disabled, which is possible on SQLite.
    await endWaiting(core, userId, transaction);
    await core.devices.deleteAll(userId, transaction);
    await core.table(accountChanges).delete({ userId }, transaction);
    await core.imported.forget(userId, transaction);
    await core.users.rows?.delete(userId, transaction);
    await core.users.table.delete({ id: userId }, transaction);
    await core.database.checkDeferred(transaction);
  } catch (error) {
    throw asInUse(error);
  }
}

function asInUse(error: unknown): unknown {
  return isForeignKeyViolation(error) ? new AuthError('account_in_use', { cause: error }) : error;
}

const problems = declareProblems({
  account_deleted: [
    403,
    'This account was deleted. For some time, it can be restored: with the link in the email about the deletion, if there is one, or by the people who run this app.',
  ],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../outbox/events.js' {
  interface EventDetails {
    /**
     * An account was marked for deletion. `user.deleted` follows after `accountDeletion.graceDays`, unless the account
     * is restored.
     */
    'user.deletion_requested': { readonly userId: string };
    /** The app's code restored an account whose deletion was pending. */
    'user.restored': { readonly userId: string };
  }
}

declareEvents(CORE, { 'user.deletion_requested': {}, 'user.restored': {} });

const deletionNotices = declareNotices(CORE, { 'account-deleted': {} });

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof deletionNotices, unknown> {}
}

/**
 * @param graceDays the number of days for which the deletion is pending
 * @param now when it was requested
 */
function accountClosedNotice(graceDays: number, now: Date): NoticeTemplate {
  return {
    ...deletionNotices['account-deleted'],
    text: 'account-deleted/pending',
    values: { days: graceDays, until: new Date(now.getTime() + graceDays * DAY_MS) },
    losesAddress: true,
  };
}

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Rejects accounts whose deletion is pending, in the same way as plugins reject other accounts. It does so even if
 * there is no grace period now, because an earlier config might have had one.
 */
export function closedAccounts(): Contribution {
  return {
    accountProblems: ['account_deleted'],
    checkAccount(account) {
      if (isClosed({ account })) throw new AuthError('account_deleted');
    },
  };
}

/** Whether the account's deletion is pending. */
export function isClosed({ account }: Pick<UserRecord, 'account'>): boolean {
  return (account.deletedAt ?? null) !== null;
}

/** Whether the account's grace period is over, so that the account only waits for its permanent deletion. */
export function isExpired({ settings, database }: Core, { account }: Pick<UserRecord, 'account'>): boolean {
  const closedAt = account.deletedAt ?? null;
  if (closedAt === null) return false;
  const graceMs = settings.accountDeletion.graceDays * DAY_MS;
  return database.clock.hasPassed(new Date((closedAt as Date).getTime() + graceMs));
}

/**
 * Marks an account for deletion. It first runs the deletion and rolls it back, so that an error reaches the caller
 * right away.
 *
 * @param sessionId the session of the user who requests the deletion; null for code
 * @param alongside other work for the same transaction
 * @throws AuthError `user_not_found`, even if the deletion is already pending; and errors of the deletion
 */
async function closeAccount(
  core: Core,
  userId: string,
  sessionId: string | null,
  alongside: Deletion['alongside'],
): Promise<void> {
  await tryOut(core, userId, sessionId);
  const { graceDays } = core.settings.accountDeletion;
  await core.change(userId, { sessionId }, async (record, transaction) => {
    if (isClosed(record)) throw new AuthError('user_not_found');
    const notice = accountClosedNotice(graceDays, core.database.clock.date());
    if (sessionId === null) await core.notices.final(notice, record, transaction);
    else await core.notices.before(notice, record, transaction, { lifetimeMs: graceDays * DAY_MS });
    await core.sessions.endAll(userId, transaction);
    await endWaiting(core, userId, transaction);
    for (const { onDeletionRequested } of core.contributions)
      await onDeletionRequested?.(userId, transaction);
    await core.userUpdates.update(record, { deletedAt: core.database.clock.date() }, transaction);
    core.events.emit('user.deletion_requested', { userId }, transaction);
    alongside?.(transaction);
  });
}

async function tryOut(core: Core, userId: string, sessionId: string | null): Promise<void> {
  const worked = new Error('it works');
  try {
    await core.change(userId, { sessionId }, async (record, transaction) => {
      await deleteIn(core, record, transaction);
      throw new AppError(worked);
    });
  } catch (error) {
    if (error !== worked) throw error;
  }
}

/** Restores an account whose deletion is pending, at the app's request. @throws AuthError `user_not_found` */
export async function restoreAccount(core: Core, userId: string): Promise<UserRecord> {
  return core.change(userId, BY_CODE, async (before, transaction) => {
    const { record } = await core.userUpdates.update(before, { deletedAt: null }, transaction);
    if (isClosed(before)) core.events.emit('user.restored', { userId }, transaction);
    return record;
  });
}

/** Returns ids of accounts whose grace period is over, in order, starting after the id `after`. */
function expiredAccounts(core: Core, after: string, limit: number): Promise<{ id: string }[]> {
  const { database, settings, users } = core;
  const before = database.clock.date(-settings.accountDeletion.graceDays * DAY_MS);
  return database.select<{ id: string }>(
    `SELECT u.id AS id FROM ${users.table.name} u
     WHERE u.deleted_at <= :before ${after && 'AND u.id > :after'} ORDER BY u.id LIMIT ${limit}`,
    { before, after },
  );
}
