import type { Transaction } from 'sequelize';
import { BY_CODE, type Core } from '../core/core.js';
import { isWellFormedToken } from '../crypto/token.js';
import { retryAfterRace } from '../database/faults.js';
import { AuthError, declareProblems } from '../errors.js';
import { declareNotices } from '../mail/notice-kinds.js';
import { type AccountState, losesSecondFactor, type Undoable } from '../notices/changes.js';
import { UNDO_PREFIX } from '../notices/notices.js';
import { declareEvents } from '../outbox/events.js';
import { CORE } from '../owners.js';
import type { ClientInput, TransactionOption } from '../sessions/request.js';
import type { User } from '../tables/core.js';
import { EmailProof } from '../users/email-proof.js';
import type { UserRecord } from '../users/record.js';
import type { UserChanges } from '../users/updates.js';
import { isExpired } from './deletion.js';
import { mailResetLink } from './passwords.js';

/** The proof that an undo requires in addition to its token, as in POST /undo-change. */
export interface UndoInput extends ClientInput {
  /**
   * Whether the app has checked its own proof, such as support that knows the user. Then no other proof is required.
   * @default false
   */
  trusted?: boolean | undefined;
  /** A password that was valid before the change. @default none */
  password?: string | undefined;
  /** A TOTP code of the authenticator app that the account had before the change. @default none */
  code?: string | undefined;
  /** A recovery code that was valid before the change. @default none */
  recoveryCode?: string | undefined;
}

/** The call that undoes changes of an account. */
export interface UndoApi {
  /**
   * Undoes a change of an account and every later change, with the token of the notice about it: see POST /undo-change.
   * Resolves to the kind of that notice.
   *
   * @example
   * await auth.undoChange(token, { trusted: true });
   *
   * @throws AuthError `invalid_token` (400), `proof_required` (403), `invalid_credentials` (401), `rate_limited` (429),
   *   and errors that the hook `afterUpdateUser` throws
   */
  undoChange(token: string, input?: UndoInput): Promise<{ undone: string }>;
  /**
   * Ends all undo links of an account, and frees the emails that they hold. For support: if someone has stolen a user's
   * mailbox or browser, the thief must not undo what the user does now.
   *
   * @throws AuthError `user_not_found`
   */
  endUndo(userId: string, options?: TransactionOption): Promise<void>;
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
    endUndo: (userId, { transaction } = {}) =>
      core.inTransaction(transaction, () =>
        core.change(userId, BY_CODE, (_record, within) => core.changes.end(userId, within)),
      ),
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
    /**
     * A change and every later change were undone. `kind` is the kind of the notice, `restoredEmail` the email of the
     * account now, and `removedEmail` the one that it had before, if that was another one.
     */
    'account.recovered': {
      readonly userId: string;
      readonly kind: string;
      readonly restoredEmail: string | null;
      readonly removedEmail: string | null;
    };
  }
}

declareEvents(CORE, 'account.recovered');

/** The result of an undo. */
export interface UndoneChange {
  readonly userId: string;
  /** The kind of the notice that contained the link. */
  readonly undone: string;
}

/**
 * Undoes a change of an account and every later change. It revokes all sessions, removes the password, and emails a
 * reset link to the restored email.
 *
 * An undo does not sign the user in, so the user of a suspended account can do it: the account stays suspended.
 *
 * @param given the proof in addition to the token; null if the app's own code has checked its own proof
 * @throws AuthError `invalid_token`, `proof_required`, `invalid_credentials`, `rate_limited`, and errors that the app's
 *   hook throws
 */
export async function undoChange(core: Core, token: string, given: UndoProof | null): Promise<UndoneChange> {
  const found = isWellFormedToken(UNDO_PREFIX, token) ? await core.changes.find(token) : null;
  if (!found) throw new AuthError('invalid_token');
  const isKnown = given && (await proveUndo(core, found, given));
  // Another transaction can take the email or username to restore after this one has found it to be available.
  await retryAfterRace(['email_taken', 'username_taken'], () =>
    core.database.transaction((transaction) =>
      recover(core, found, isKnown, given?.codes ?? {}, transaction),
    ),
  );
  return { userId: found.userId, undone: found.kind };
}

/**
 * @param isKnown whether the account knew the browser before the change; null if the app's own code has checked a proof
 */
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
  // Check again: the second factor may have been enabled since the proof was checked.
  if (isKnown === false && losesSecondFactor(record, state, core.contributions))
    throw new AuthError('proof_required');
  await sessions.endAll(userId, transaction);
  await tokens.endAll(userId, transaction);
  const { user } = await restoreState(core, userId, state, shown, transaction);
  await changes.dropSince(found, transaction);
  await devices.forgetAfterUndo(userId, at, isKnown === true, transaction);
  const before = record.user;
  const removedEmail = user.email === before.email ? null : before.email;
  events.emit('account.recovered', { userId, kind, restoredEmail: user.email, removedEmail }, transaction);
  await tell(core, user, removedEmail, transaction);
  if (user.email !== before.email) events.emit('user.email_changed', { userId }, transaction);
  if (user.username !== before.username)
    events.emit('user.updated', { userId, changed: ['username'] }, transaction);
}

/**
 * Tells both addresses about an undo, the removed one, which may be an intruder's, without the client of the owner, and
 * emails a link to choose a new password to the restored one.
 */
async function tell(
  core: Core,
  user: User,
  removedEmail: string | null,
  transaction: Transaction,
): Promise<void> {
  const template = recoveryNotices['account-recovered'];
  await core.notices.plain(template, user, transaction);
  if (removedEmail !== null)
    await core.notices.plain(template, user, transaction, { takenEmail: removedEmail, byApp: true });
  await mailResetLink(core, user, transaction, AFTER_UNDO);
}

const AFTER_UNDO = {
  before:
    'A change of your account was undone. All sessions have ended, and the password was removed, because somebody else might know it. Choose a new one here:',
  after: 'The link expires in one hour. After that, ask for another one where you sign in.',
};

const recoveryNotices = declareNotices(CORE, {
  'account-recovered': {
    subject: 'A change of your account was undone',
    lines: [
      'With the link of an earlier email, a change of your account was undone, with everything that was changed after it. All sessions have ended.',
    ],
    help: 'If it was not you, contact us.',
  },
});

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof recoveryNotices, unknown> {}
}

/**
 * Restores the sign-in methods of an account. It removes the password, because an intruder might know the earlier one.
 * An email, username or credential that another account has got in the meantime stays there, and the rest is restored.
 * The user's row is locked.
 *
 * @param shown the codes of the proof
 */
async function restoreState(
  core: Core,
  userId: string,
  state: AccountState,
  shown: Readonly<Record<string, string>>,
  transaction: Transaction,
): Promise<UserRecord> {
  const record = await lock(core, userId, transaction);
  for (const { undo } of core.contributions)
    await undo?.restore(record, state.parts[undo.name], transaction, shown);
  // Read the user again, because plugins restore columns of users too.
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

/** Restores the email, unless it is the same and has been proven better since. */
async function emailOf(
  core: Core,
  { user, emailProof }: UserRecord,
  { email, ...state }: AccountState,
  transaction: Transaction,
): Promise<UserChanges> {
  const emailVerifiedAt = timeOf(state.emailVerifiedAt);
  const earlier = EmailProof.of({ emailVerifiedAt, emailProof: state.emailProof ?? null });
  if (email === user.email && emailProof.reaches(earlier.level)) return {};
  // Only the app's own statements can have moved the email to another account. Remove the current email too,
  // because it might be an intruder's.
  const isTaken = email !== null && (await isOfAnother(core, 'email', email, user.id, transaction));
  if (isTaken) return { email: null, emailVerifiedAt: null, emailProof: EmailProof.none };
  return { email, emailVerifiedAt, emailProof: earlier };
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

/** The proof of an undo in addition to its token. The browser of the request can be a proof too. */
export interface UndoProof {
  /** A password that was valid before the change. */
  readonly password: string | undefined;
  /** Codes that were valid before the change, by the fields of the plugins' `undo`. */
  readonly codes: Readonly<Record<string, string>>;
}

/** Returns the names of the fields of POST /undo-change that contain codes. */
export function codeFieldsOf({ contributions }: Core): readonly string[] {
  return contributions.flatMap(({ undo }) => undo?.proofs ?? []);
}

/**
 * Checks the proof that an undo requires in addition to its token, because someone else might have access to the
 * mailbox: that can be why the user changed the email.
 *
 * @returns whether the proof is the browser, because the account knew it before the change
 * @throws AuthError `proof_required`, `invalid_credentials`, `rate_limited`, `invalid_token`, and a plugin's error for a
 *   wrong code
 */
async function proveUndo(core: Core, found: Undoable, given: UndoProof): Promise<boolean> {
  await core.limiter.countAddress('signIn');
  if (await core.devices.knewAt(found.userId, found.at)) return true;
  const { record, state, isWeak } = await core.database.transaction((transaction) =>
    look(core, found, transaction),
  );
  const hasCodes = Object.keys(given.codes).length > 0;
  // A second factor protects against someone who has the mailbox and the password, so these alone must not remove it.
  if (isWeak || (given.password === undefined && !hasCodes)) throw new AuthError('proof_required');
  if (given.password !== undefined) await provePassword(core, found, state, given.password);
  else if (!(await proveCodes(core, record, state, given.codes))) throw new AuthError('proof_required');
  return false;
}

/** Counts wrong passwords for the link alone, so that nobody who tries them keeps the owner from undoing. */
async function provePassword(
  core: Core,
  { id, userId }: Undoable,
  { passwordHash }: AccountState,
  password: string,
): Promise<void> {
  const attempts = `undo ${id}`;
  const paused = await core.limiter.reserveAttempt(attempts);
  if (paused) throw paused.error;
  if (!(await core.passwords?.matches(passwordHash, password))) {
    core.events.emit('sign_in.failed', { userId });
    throw new AuthError('invalid_credentials', { detail: WRONG });
  }
  await core.limiter.clearFailures(attempts);
}

/** @returns whether a plugin has accepted a code. Wrong ones count as they do at a sign-in */
async function proveCodes(
  core: Core,
  record: UserRecord,
  { parts }: AccountState,
  codes: UndoProof['codes'],
): Promise<boolean> {
  for (const { undo } of core.contributions)
    if (undo && (await undo.proves?.(record.user, parts[undo.name], codes))) return true;
  return false;
}

const WRONG = 'That is not the password that the account had before this change.';

/** Locks an account. Null if it does not exist, or if its grace period is over, because then no link can restore it. */
async function lockUndoable(
  core: Core,
  userId: string,
  transaction: Transaction,
): Promise<UserRecord | null> {
  const record = await core.users.lock(userId, transaction);
  return record && isExpired(core, record) ? null : record;
}

async function look(core: Core, found: Undoable, transaction: Transaction) {
  const record = await lockUndoable(core, found.userId, transaction);
  // If the change has been undone, the state would be the state after the undo.
  if (!(await core.changes.isLive(found, transaction))) throw new AuthError('invalid_token');
  const state = record && (await core.changes.stateAt(found, record, transaction));
  if (!record || !state) throw new AuthError('invalid_token');
  return { record, state, isWeak: losesSecondFactor(record, state, core.contributions) };
}
