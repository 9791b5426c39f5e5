import type { Transaction } from 'sequelize';
import type { Core } from '../core/core.js';
import { passwordsOf } from '../core/passwords.js';
import { isWellFormedToken } from '../crypto/token.js';
import { violatedUnique } from '../database/faults.js';
import { AuthError, declareProblems } from '../errors.js';
import { losesSecondFactor } from '../notices/account-state.js';
import type { Undoable } from '../notices/changes.js';
import { UNDO_PREFIX } from '../notices/notices.js';
import { declareEvents } from '../outbox/events.js';
import { restoreState } from './restore-state.js';
import { lockUndoable, proveUndo, type UndoProof } from './undo-proof.js';

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

declareEvents('account.recovered');

/** Another transaction can take what is to be put back, after it was found to be free. */
const MAX_ATTEMPTS = 3;

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
  await retryAfterRace(() =>
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
  await passwordsOf(core)?.links?.reset(user, transaction);
  const before = record.user;
  if (user.email !== before.email) events.emit('user.email_changed', { userId }, transaction);
  if (user.username !== before.username)
    events.emit('user.updated', { userId, changed: ['username'] }, transaction);
}

async function retryAfterRace<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const lostRace =
        violatedUnique(error) || (error instanceof AuthError && /^(email|username)_taken$/.test(error.code));
      if (!lostRace || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
