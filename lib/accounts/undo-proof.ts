import type { Transaction } from 'sequelize';
import type { Core } from '../core/core.js';
import { passwordsOf } from '../core/passwords.js';
import { AuthError } from '../errors.js';
import { type AccountState, losesSecondFactor } from '../notices/account-state.js';
import type { Undoable } from '../notices/changes.js';
import type { UserRecord } from '../users/user-record.js';
import { isExpired } from './closed-accounts.js';

/** What was shown beside the token of an undo. The browser of the request counts too. */
export interface UndoProof {
  /** The password as it was then. */
  readonly password: string | undefined;
  /** Codes as they were then, by the fields of the plugins' `wayBack`. */
  readonly codes: Readonly<Record<string, string>>;
}

/** The fields of POST /undo-change with codes. */
export function codeFieldsOf({ contributions }: Core): readonly string[] {
  return contributions.flatMap(({ wayBack }) => wayBack?.proofs ?? []);
}

/**
 * Checks the proof that an undo needs beside its token: the loss of the mailbox may be why the email was changed. Wrong
 * ones are counted for the link alone, so that nobody who hammers the account keeps its owner from undoing.
 *
 * @returns whether the proof is the browser, which the account knew then
 * @throws AuthError `proof_required`, `invalid_credentials`, `rate_limited`, `invalid_token`
 */
export async function proveUndo(core: Core, found: Undoable, given: UndoProof): Promise<boolean> {
  await core.limiter.countAddress('signIn');
  if (await core.devices.knewAt(found.userId, found.at)) return true;
  const { state, isWeak } = await core.database.transaction((transaction) => look(core, found, transaction));
  const isEmpty = given.password === undefined && Object.keys(given.codes).length === 0;
  // Whoever has the mailbox and the password is whom a second factor is switched on against.
  if (isWeak || isEmpty) throw new AuthError('proof_required');
  const attempts = `undo ${found.id}`;
  const paused = await core.limiter.reserveAttempt(attempts);
  if (paused) throw paused.error;
  if (!(await proves(core, found.userId, state, given))) {
    core.events.emit('sign_in.failed', { userId: found.userId });
    throw new AuthError('invalid_credentials', { detail: WRONG });
  }
  await core.limiter.clearFailures(attempts);
  return false;
}

const WRONG = 'That is not what the account had before this change. Give the password or code of that time.';

/** Locks an account. Null if there is none, or if it only waits to be deleted: no earlier link brings that back. */
export async function lockUndoable(
  core: Core,
  userId: string,
  transaction: Transaction,
): Promise<UserRecord | null> {
  const record = await core.users.lock(userId, transaction);
  return record && isExpired(core, record) ? null : record;
}

async function look(core: Core, found: Undoable, transaction: Transaction) {
  const record = await lockUndoable(core, found.userId, transaction);
  // Otherwise, the state would be that after the undo.
  if (!(await core.changes.isLive(found, transaction))) throw new AuthError('invalid_token');
  const state = record && (await core.changes.stateAt(found, record, transaction));
  if (!record || !state) throw new AuthError('invalid_token');
  return { state, isWeak: losesSecondFactor(record, state, core.contributions) };
}

async function proves(
  core: Core,
  userId: string,
  { passwordHash, parts }: AccountState,
  { password, codes }: UndoProof,
): Promise<boolean> {
  if (password !== undefined && (await passwordsOf(core)?.matches(passwordHash, password))) return true;
  if (Object.keys(codes).length === 0) return false;
  for (const { wayBack } of core.contributions)
    if (wayBack && (await wayBack.proves?.(userId, parts[wayBack.name], codes))) return true;
  return false;
}
