import type { Transaction } from 'sequelize';
import type { Core } from '../core/core.js';
import { isWellFormedToken } from '../crypto/token.js';
import { retryAfterRace } from '../database/faults.js';
import { AuthError, declareProblems } from '../errors.js';
import { type AccountState, losesSecondFactor, type Undoable } from '../notices/changes.js';
import { UNDO_PREFIX } from '../notices/notices.js';
import { declareEvents } from '../outbox/events.js';
import { CORE } from '../owners.js';
import type { ClientInput } from '../sessions/request.js';
import type { UserRecord } from '../users/record.js';
import type { UserChanges } from '../users/updates.js';
import { isExpired } from './deletion.js';
import { mailResetLink } from './passwords.js';

/** What to show beside the token of an undo, as POST /undo-change takes it. */
export interface UndoInput extends ClientInput {
  /**
   * Whether the app has seen a proof of its own, such as support that knows the person: then no other is needed.
   * @default false
   */
  trusted?: boolean | undefined;
  /** The password as it was then. @default none */
  password?: string | undefined;
  /** A TOTP code as it was then. @default none */
  code?: string | undefined;
  /** A recovery code as it was then. @default none */
  recoveryCode?: string | undefined;
}

/** The way back into an account. */
export interface UndoApi {
  /**
   * Undoes a change of an account and every later one, by the token of the notice about it: see POST /undo-change. Resolves
   * to the kind of that notice.
   *
   * @example
   * await auth.undoChange(token, { trusted: true });
   *
   * @throws AuthError `invalid_token` (400), `proof_required` (403), `invalid_credentials` (401), `rate_limited` (429), and
   *   what the hook `afterUpdateUser` throws
   */
  undoChange(token: string, input?: UndoInput): Promise<{ undone: string }>;
}

/** The programmatic API. */
export function undoApi(core: Core): UndoApi {
  return {
    undoChange: (token, { trusted = false, ...input } = {}) =>
      core.forClient(input, async () => {
        const proof = { password: input.password, codes: codesOf(core, input) };
        const { undone } = await undoChange(core, token, trusted === true ? null : proof);
        return { undone };
      }),
  };
}

function codesOf(core: Core, { code, recoveryCode }: UndoInput): Readonly<Record<string, string>> {
  const given: Readonly<Record<string, string | undefined>> = { code, recovery_code: recoveryCode };
  return Object.fromEntries(
    codeFieldsOf(core).flatMap((field) => (given[field] === undefined ? [] : [[field, given[field]]])),
  );
}

const problems = declareProblems({
  proof_required: [
    403,
    'The link alone is not enough: open it in a browser in which you have signed in before, or show what you knew then.',
  ],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../outbox/events.js' {
  interface EventDetails {
    /** A change was undone, and every later one: the account is what it was. `kind` is that of the notice. */
    'account.recovered': { readonly userId: string; readonly kind: string };
  }
}

declareEvents(CORE, 'account.recovered');

/** What an undo did. */
export interface UndoneChange {
  readonly userId: string;
  /** The kind of the notice whose link it was. */
  readonly undone: string;
}

/**
 * Undoes a change of an account and every later one. All sessions end, nobody can sign in with a password any more, and a
 * reset link goes to the email that the account has again.
 *
 * It is no way in, so a suspended account's owner may do it: the account stays suspended.
 *
 * @param given what was shown beside the token; null if the app's own code has seen a proof of its own
 * @throws AuthError `invalid_token`, `proof_required`, `invalid_credentials`, `rate_limited`, and what the app's hook throws
 */
export async function undoChange(core: Core, token: string, given: UndoProof | null): Promise<UndoneChange> {
  const found = isWellFormedToken(UNDO_PREFIX, token) ? await core.changes.find(token) : null;
  if (!found) throw new AuthError('invalid_token');
  const isKnown = given && (await proveUndo(core, found, given));
  // Another transaction can take an email or username that is to be put back, after it was found to be free.
  await retryAfterRace(['email_taken', 'username_taken'], () =>
    core.database.transaction((transaction) =>
      recover(core, found, isKnown, given?.codes ?? {}, transaction),
    ),
  );
  return { userId: found.userId, undone: found.kind };
}

/** @param isKnown whether the account knew the browser then; null if the app's own code has seen a proof */
async function recover(
  core: Core,
  found: Undoable,
  isKnown: boolean | null,
  shown: UndoProof['codes'],
  transaction: Transaction,
): Promise<void> {
  const { changes, devices, events, sessions, tokens } = core;
  const { userId, kind, at } = found;
  const record = await lockUndoable(core, userId, transaction);
  const state = record && (await changes.stateAt(found, record, transaction));
  if (!record || !state || !(await changes.consume(found, transaction))) throw new AuthError('invalid_token');
  // Again: it may have been switched on since the proof.
  if (isKnown === false && losesSecondFactor(record, state, core.contributions))
    throw new AuthError('proof_required');
  events.emit('account.recovered', { userId, kind }, transaction);
  await sessions.endAll(userId, transaction);
  await tokens.endAll(userId, transaction);
  const { user } = await restoreState(core, userId, state, shown, transaction);
  await changes.dropSince(found, transaction);
  await devices.forgetAfterUndo(userId, at, isKnown === true, transaction);
  await mailResetLink(core, user, transaction);
  const before = record.user;
  if (user.email !== before.email) events.emit('user.email_changed', { userId }, transaction);
  if (user.username !== before.username)
    events.emit('user.updated', { userId, changed: ['username'] }, transaction);
}

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
  for (const { undo } of core.contributions)
    await undo?.restore(record, state.parts[undo.name], transaction, shown);
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
  { database, users }: Core,
  column: 'email' | 'username',
  value: string,
  userId: string,
  transaction: Transaction,
): Promise<boolean> {
  const rows = await database.select(
    `SELECT u.id FROM ${users.table.name} u
     WHERE u.${column} = :value AND u.id <> :userId ${database.currentRead}`,
    { value, userId },
    transaction,
  );
  return rows.length > 0;
}

function timeOf(time: string | null): Date | null {
  return time === null ? null : new Date(time);
}

/** What was shown beside the token of an undo. The browser of the request counts too. */
export interface UndoProof {
  /** The password as it was then. */
  readonly password: string | undefined;
  /** Codes as they were then, by the fields of the plugins' `undo`. */
  readonly codes: Readonly<Record<string, string>>;
}

/** The fields of POST /undo-change with codes. */
export function codeFieldsOf({ contributions }: Core): readonly string[] {
  return contributions.flatMap(({ undo }) => undo?.proofs ?? []);
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
  if (password !== undefined && (await core.passwords?.matches(passwordHash, password))) return true;
  if (Object.keys(codes).length === 0) return false;
  for (const { undo } of core.contributions)
    if (undo && (await undo.proves?.(userId, parts[undo.name], codes))) return true;
  return false;
}
