import type { Transaction } from 'sequelize';
import { BY_CODE, type Core } from '../core/core.js';
import { retryAfterRace } from '../database/faults.js';
import { AuthError, declareProblems } from '../errors.js';
import { declareNotices, type NoticeTemplate } from '../mail/notice-kinds.js';
import {
  type AccountState,
  type GivenUndoProof,
  provingPassword,
  type StatesSince,
  type Undoable,
} from '../notices/changes.js';
import { declareEvents } from '../outbox/events.js';
import { CORE } from '../owners.js';
import type { ClientInput, TransactionOption } from '../sessions/request.js';
import type { User } from '../tables/core.js';
import { EmailProof } from '../users/email-proof.js';
import { hasWayIn, type UserRecord } from '../users/record.js';
import type { UserChanges } from '../users/updates.js';
import { endWaiting } from '../waiting/tables.js';
import { isClosed } from './deletion.js';
import {
  findUndo,
  isOfAnother,
  isTakenEmail,
  lockUndoable,
  noWayBack,
  type ProvenUndo,
  proveUndo,
  thenOf,
} from './undo-proof.js';

/**
 * The proof that an undo requires in addition to its token: the proof that a sign-in required before the change, in a
 * browser that the account had known for long. The browser is identified by `request`. See POST /undo-change.
 */
export interface UndoInput extends ClientInput {
  /**
   * Whether the app has checked its own proof, for example because support knows the user. No other proof is required
   * then.
   * @default false
   */
  trusted?: boolean | undefined;
  /** The password that the account had before the change. @default none */
  password?: string | undefined;
  /** A TOTP code of the authenticator app that the account had before the change. @default none */
  code?: string | undefined;
  /** A recovery code that was valid before the change. @default none */
  recoveryCode?: string | undefined;
  /** The response of a passkey that the account had, in place of the password and the code. @default none */
  passkey?: unknown;
  /** The token that came with the options for the passkey. @default the one in the cookie of `request` */
  pendingToken?: string | undefined;
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
   * @throws AuthError `invalid_token` (400), `proof_required` (403), `invalid_credentials` (401), `rate_limited` (429);
   *   `last_sign_in_method` (409) if another account has the email to restore, and nothing would be left to sign in with;
   *   and errors that the hook `afterUpdateUser` throws
   */
  undoChange(token: string, input?: UndoInput): Promise<{ undone: string }>;
  /**
   * Invalidates all undo links of an account, and frees the emails that they hold. For support: an attacker who has
   * stolen a user's mailbox or browser must not be able to undo the user's changes.
   *
   * @throws AuthError `user_not_found`
   */
  endUndo(userId: string, options?: TransactionOption): Promise<void>;
}

/** The keys of {@link UndoInput}. */
const UNDO_INPUT = ['trusted', 'password', 'code', 'recoveryCode', 'passkey', 'pendingToken'];

/** The programmatic API. */
export function undoApi(core: Core): UndoApi {
  return {
    undoChange: (token, input = {}) =>
      core.callByAnyone('auth.undoChange', input, UNDO_INPUT, async () => {
        const { trusted, password, code, recoveryCode: recovery_code, passkey, pendingToken } = input;
        const given = { password, code, recovery_code, passkey, pending_token: pendingToken };
        const { undone } = await undoChange(core, token, trusted === true ? null : given);
        return { undone };
      }),
    endUndo: (userId, options = {}) =>
      core.call('auth.endUndo', options, [], () =>
        core.change(userId, BY_CODE, (_record, within) => core.history.end(userId, within)),
      ),
  };
}

const problems = declareProblems({
  proof_required: [
    403,
    'The link alone is not enough. Open it in a browser that the account had known for a while, and provide the proof that a sign-in required before this change. See missing.',
  ],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

declare module '../outbox/events.js' {
  interface EventDetails {
    /**
     * A change and every later change were undone. `kind` is the kind of the notice, `restoredEmail` the account's
     * current email, and `removedEmail` its previous email, if that was different.
     */
    'account.recovered': {
      readonly userId: string;
      readonly kind: string;
      readonly restoredEmail: string | null;
      readonly removedEmail: string | null;
    };
  }
}

declareEvents(CORE, {
  'account.recovered': {
    kind: true,
    restoredEmail: true,
    removedEmail: 'It might be the address of an attacker.',
  },
});

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
 * @throws AuthError `invalid_token`, `last_sign_in_method`, the errors of {@link proveUndo}, and errors that the app's hook
 *   throws
 */
export async function undoChange(
  core: Core,
  token: string,
  given: GivenUndoProof | null,
): Promise<UndoneChange> {
  const found = await findUndo(core, token);
  const proven = given && (await proveUndo(core, found, given));
  // Another transaction can take the email or username to restore after this one has found it to be available.
  await retryAfterRace(['email_taken', 'username_taken'], () =>
    core.database.transaction((transaction) => recover(core, found, proven, transaction)),
  );
  return { userId: found.userId, undone: found.kind };
}

/** @param proven null if the app's own code has checked a proof */
async function recover(
  core: Core,
  found: Undoable,
  proven: ProvenUndo | null,
  transaction: Transaction,
): Promise<void> {
  const { history, devices, events, sessions } = core;
  const { userId, kind, at } = found;
  const record = await lockUndoable(core, userId, transaction);
  const states = record && (await history.statesSince(found, record, transaction));
  if (!record || !states || !(await history.consume(found, transaction)))
    throw new AuthError('invalid_token');
  await sessions.endAll(userId, transaction);
  await endWaiting(core, userId, transaction);
  const restored = await restoreState(core, found, states, proven, transaction);
  const { user } = restored;
  const hasLostEmail = user.email === null && states.state.email !== null;
  if (hasLostEmail && !(await hasWayIn(restored, core.contributions, transaction))) throw noWayBack();
  await history.endSince(found, transaction);
  await devices.dropAfterUndo(userId, at, proven?.browser ?? null, transaction);
  await core.notices.undone(template, restored, provingPassword(states.state), transaction);
  const before = record.user;
  const removedEmail = user.email === before.email ? null : before.email;
  events.emit('account.recovered', { userId, kind, restoredEmail: user.email, removedEmail }, transaction);
  const recovery = {
    user,
    removedEmail,
    isDeletion: isClosed(record),
    hadPassword: hadPassword(record, states),
  };
  await tell(core, recovery, transaction);
  if (user.email !== before.email) events.emit('user.email_changed', { userId }, transaction);
  if (user.username !== before.username)
    events.emit('user.updated', { userId, changed: ['username'] }, transaction);
}

/** An undo that users get emails about. */
interface Recovery {
  readonly user: User;
  /** The email that the account had. Null if it is the same. */
  readonly removedEmail: string | null;
  /** Whether the account was pending deletion. */
  readonly isDeletion: boolean;
  /** Whether a password was removed. */
  readonly hadPassword: boolean;
}

/** Whether an account had a password, before the change that is undone or after it. The undo leaves none. */
export function hadPassword({ passwordHash }: UserRecord, { state }: Pick<StatesSince, 'state'>): boolean {
  return passwordHash !== null || provingPassword(state) !== null;
}

/**
 * Sends a notice about an undo to the restored and to the removed address. If it has removed a password, it emails a link
 * to choose a new one to the restored address. The removed address might be an attacker's, so its notice does not reveal the owner's
 * client.
 */
async function tell(
  core: Core,
  { user, removedEmail, isDeletion, hadPassword }: Recovery,
  transaction: Transaction,
): Promise<void> {
  const notice: NoticeTemplate = {
    ...template,
    text: isDeletion ? 'account-recovered/deletion' : 'account-recovered',
    help: 'notYou',
  };
  await core.notices.plain(notice, user, transaction);
  if (removedEmail !== null)
    await core.notices.plain(notice, user, transaction, { takenEmail: removedEmail, byApp: true });
  if (!hadPassword) return;
  await core.passwordLinks?.mailReset(user, transaction, {
    mail: {
      kind: 'reset-password',
      // Most users who restore an account have deleted it themselves.
      text: isDeletion ? 'reset-password/restored' : 'reset-password/undone',
      advicePage: 'forgot-password',
    },
  });
}

const recoveryNotices = declareNotices(CORE, { 'account-recovered': {} });

const template = recoveryNotices['account-recovered'];

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof recoveryNotices, unknown> {}
}

/**
 * Restores the sign-in methods of an account. It removes the password, because an attacker might know the earlier one.
 * An email, username or credential that now belongs to another account stays there, and the rest is restored.
 * The user's row is locked.
 */
async function restoreState(
  core: Core,
  { userId, at }: Undoable,
  states: StatesSince,
  proven: ProvenUndo | null,
  transaction: Transaction,
): Promise<UserRecord> {
  const record = await lock(core, userId, transaction);
  for (const { undo } of core.contributions) {
    if (!undo) continue;
    const then = thenOf(undo.name, { record, at, ...states });
    await undo.restore(then, transaction, proven?.shown.get(undo.name) ?? null);
  }
  // Read the user again, because plugins restore columns of users too.
  const left = await lock(core, userId, transaction);
  const { state } = states;
  const changes = {
    ...(await emailOf(core, left, state, transaction)),
    ...(await usernameOf(core, left, state, transaction)),
    passwordHash: null,
    deletedAt: null,
  };
  return (await core.userUpdates.update(left, changes, transaction)).record;
}

async function lock({ users }: Core, userId: string, transaction: Transaction): Promise<UserRecord> {
  const record = await users.lock(userId, transaction);
  if (!record) throw new AuthError('invalid_token');
  return record;
}

/** Restores the email, unless it is the same and now has a better proof. */
async function emailOf(
  core: Core,
  { user, emailProof }: UserRecord,
  { email, ...state }: AccountState,
  transaction: Transaction,
): Promise<UserChanges> {
  const emailVerifiedAt = timeOf(state.emailVerifiedAt);
  const earlier = EmailProof.of({ emailVerifiedAt, emailProof: state.emailProof });
  if (email === user.email && emailProof.reaches(earlier.level)) return {};
  // Only the app's own statements can have moved the email to another account. Remove the current email too,
  // because it might be an attacker's.
  const isTaken = email !== null && (await isTakenEmail(core, email, user.id, transaction));
  if (isTaken) return { email: null, emailVerifiedAt: null, emailProof: EmailProof.none };
  return { email, emailVerifiedAt, emailProof: earlier };
}

async function usernameOf(
  core: Core,
  { user }: UserRecord,
  { username, usernameDisplay }: AccountState,
  transaction: Transaction,
): Promise<UserChanges> {
  if (username === user.username) return {};
  const isTaken = username !== null && (await isOfAnother(core, { username }, user.id, transaction));
  return isTaken ? {} : { username, usernameDisplay };
}

function timeOf(time: string | null): Date | null {
  return time === null ? null : new Date(time);
}
