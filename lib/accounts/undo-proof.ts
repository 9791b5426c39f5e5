import type { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { Core } from '../core/core.js';
import { isWellFormedToken } from '../crypto/token.js';
import { AuthError, type AuthErrorCode } from '../errors.js';
import {
  type AccountState,
  type AccountThen,
  type GivenUndoProof,
  provingPassword,
  type StatesSince,
  type Undoable,
} from '../notices/changes.js';
import { UNDO_PREFIX } from '../notices/notices.js';
import { say } from '../phrases.js';
import type { DeviceRow } from '../sessions/device-rows.js';
import { provingDevices } from '../sessions/device-rules.js';
import type { Identifier, UserRecord } from '../users/record.js';
import { lastSignInMethod } from './change.js';
import { isExpired } from './deletion.js';

// An undo requires, in this order: the link, a browser that the account had known for long, and the proof that a
// sign-in required before the change. So an attacker who has only the mailbox, or only a session, cannot undo the
// owner's changes.

/** The proofs that can be missing for an undo, as the problem `proof_required` lists them. */
export const UNDO_PROOFS = ['browser', 'password', 'second_factor', 'passkey'] as const;

type UndoProofName = (typeof UNDO_PROOFS)[number];

/** An account whose change can be undone. */
export interface UndoCase extends StatesSince {
  readonly found: Undoable;
  readonly record: UserRecord;
  readonly at: Date;
  /** The device of the request. Null if it does not prove who undoes the change. */
  readonly browser: DeviceRow | null;
  /** Whether the undo would leave the user without a way in, because another account has the email now. */
  readonly isStranding: boolean;
}

/** A proof that was complete. */
export interface ProvenUndo {
  readonly browser: DeviceRow;
  /** The proofs that plugins have verified, by the names of their parts. */
  readonly shown: ReadonlyMap<string, unknown>;
}

/** Finds the changes that a token undoes. @throws AuthError `invalid_token` */
export async function findUndo(core: Core, token: string): Promise<Undoable> {
  const found = isWellFormedToken(UNDO_PREFIX, token) ? await core.history.find(token) : null;
  if (!found) throw new AuthError('invalid_token');
  return found;
}

/** Locks an account. Null if it does not exist, or if its grace period is over, because then no link can restore it. */
export async function lockUndoable(
  core: Core,
  userId: string,
  transaction: Transaction,
): Promise<UserRecord | null> {
  const record = await core.users.lock(userId, transaction);
  return record && isExpired(core, record) ? null : record;
}

/** Returns a plugin's view of the account at the time of a change. @param name the name of the plugin's part */
export function thenOf(
  name: string,
  { record, at, state, later }: Pick<UndoCase, 'record' | 'at' | 'state' | 'later'>,
): AccountThen {
  return { record, at, part: state.parts[name], later: later.map(({ parts }) => parts[name]) };
}

/** Reads the account of a link. The link still works afterwards. @throws AuthError `invalid_token` */
export async function examineUndo(core: Core, found: Undoable): Promise<UndoCase> {
  return core.database.transaction(async (transaction) => {
    const { userId, at } = found;
    const record = await lockUndoable(core, userId, transaction);
    // If the change has been undone, the state would be the state after the undo.
    if (!(await core.history.isLive(found, transaction))) throw new AuthError('invalid_token');
    const states = record && (await core.history.statesSince(found, record, transaction));
    if (!record || !states) throw new AuthError('invalid_token');
    const browser = await core.devices.proves(userId, at, transaction);
    const isStranding = await strands(core, record, states.state, transaction);
    return { ...states, found, record, at, browser, isStranding };
  });
}

async function strands(
  core: Core,
  { user }: UserRecord,
  { email, parts }: AccountState,
  transaction: Transaction,
): Promise<boolean> {
  const isTaken = email !== null && (await isTakenEmail(core, email, user.id, transaction));
  return isTaken && !core.contributions.some(({ undo }) => undo?.isWayIn?.(parts[undo.name]));
}

/** Whether another account has an email, or had it and could get it back by an undo. */
export async function isTakenEmail(
  core: Core,
  email: string,
  userId: string,
  transaction: Transaction,
): Promise<boolean> {
  return (
    (await isOfAnother(core, { email }, userId, transaction)) ||
    (await core.held.isHeld(email, userId, transaction))
  );
}

/** Whether another account has an email or username. */
export async function isOfAnother(
  { database, users }: Core,
  by: Identifier,
  userId: string,
  transaction: Transaction,
): Promise<boolean> {
  const [[column, value]] = Object.entries(by) as [[string, string]];
  const rows = await database.select(
    `SELECT u.id FROM ${users.table.name} u
     WHERE u.${column} = :value AND u.id <> :userId ${database.currentRead}`,
    { value, userId },
    transaction,
  );
  return rows.length > 0;
}

/** Returns the error for an undo that would leave the user without a way in. The account stays as it is. */
export function noWayBack(): AuthError {
  return lastSignInMethod({ detail: say('undo-without-email') });
}

/** The browsers that matter to someone who opens an undo link in one that does not prove who they are. */
export interface UndoBrowsers {
  /** The browser of the request, if the account knows it, although it did not for long enough before the change. */
  readonly own: DeviceRow | null;
  /** The browsers in which the link works. */
  readonly proving: readonly DeviceRow[];
}

/** Returns a function that says whether a browser proves who undoes a change of a time. Without one, only support can. */
export async function provesUndo(core: Core, userId: string): Promise<(at: Date) => boolean> {
  const known = await core.deviceRows.ofAccount(userId);
  return (at) => known !== null && provingDevices(known.devices, known.account, at).length > 0;
}

/** Finds the browsers that matter to an undo. Everyone with the link learns their names, because its email has them too. */
export async function undoBrowsers(core: Core, { record, at }: UndoCase): Promise<UndoBrowsers> {
  const { id } = record.user;
  const own = await core.devices.find(id);
  const known = await core.deviceRows.ofAccount(id);
  return {
    own: known?.devices.find((device) => device.id === own) ?? null,
    proving: known ? provingDevices(known.devices, known.account, at) : [],
  };
}

/** Requires a browser that proves who undoes the change. @throws AuthError `proof_required` */
export function requireBrowser({ browser }: UndoCase): DeviceRow {
  if (!browser) throw undoProofRequired(['browser']);
  return browser;
}

/** Returns the proofs of plugins, and whether the account had them at the time of the change. */
function undoProofsThen(core: Core, seen: UndoCase) {
  return core.contributions.flatMap(({ undo }) => {
    if (!undo?.proof) return [];
    const then = thenOf(undo.name, seen);
    return [{ name: undo.name, proof: undo.proof, then, isThere: undo.proof.isThere(then) }];
  });
}

type UndoProofThen = ReturnType<typeof undoProofsThen>[number];

function isGiven({ proof }: Pick<UndoProofThen, 'proof'>, given: GivenUndoProof): boolean {
  return proof.anyOf.some((field) => given[field] !== undefined);
}

/** Returns the proofs that are missing for an undo. @param given the password and codes, if there are any */
export function missingUndoProofs(
  core: Core,
  seen: UndoCase,
  given: GivenUndoProof,
): readonly UndoProofName[] {
  if (!seen.browser) return ['browser'];
  const there = undoProofsThen(core, seen).filter(({ isThere }) => isThere);
  const enough = there.filter(({ proof }) => proof.isEnough);
  const factors = there.filter(({ proof }) => !proof.isEnough);
  const hasPassword = core.passwords !== null && provingPassword(seen.state) !== null;
  const missing: UndoProofName[] = [
    ...(hasPassword && given.password === undefined ? (['password'] as const) : []),
    ...factors.filter((one) => !isGiven(one, given)).map(({ proof }) => proof.name),
  ];
  const isOnly = !hasPassword && factors.length === 0;
  return missing.length > 0 || isOnly ? [...missing, ...enough.map(({ proof }) => proof.name)] : [];
}

/**
 * Checks everything that an undo requires in addition to its token. Without the browser, it checks nothing else and
 * counts no attempt, so that an attacker who has the mailbox can guess neither passwords nor codes.
 *
 * @throws AuthError `last_sign_in_method`, `proof_required`, `invalid_credentials`, `rate_limited`, `invalid_token`, and plugins' errors for a
 *   wrong proof
 */
export async function proveUndo(core: Core, found: Undoable, given: GivenUndoProof): Promise<ProvenUndo> {
  await core.limiter.countAddress('signIn');
  const seen = await examineUndo(core, found);
  const browser = requireBrowser(seen);
  // Before a code is used up.
  if (seen.isStranding) throw noWayBack();
  const proofs = undoProofsThen(core, seen).filter((one) => isGiven(one, given));
  const enough = proofs.find(({ proof }) => proof.isEnough);
  if (!enough) {
    if (given.password !== undefined) await provePassword(core, seen, String(given.password));
    const missing = missingUndoProofs(core, seen, given);
    if (missing.length > 0) throw undoProofRequired(missing);
  }
  const shown = new Map<string, unknown>();
  for (const { name, proof, then } of enough ? [enough] : proofs)
    shown.set(name, await proof.verify(then, given, found.id));
  return { browser, shown };
}

/**
 * Counts wrong passwords for the link alone, so that wrong passwords at a sign-in do not keep the owner from undoing.
 */
async function provePassword(core: Core, { found, state }: UndoCase, password: string): Promise<void> {
  const attempts = `undo ${found.id}`;
  const paused = await core.limiter.reserveAttempt(attempts);
  if (paused) throw paused.error;
  if (!(await core.passwords?.matches(provingPassword(state), password))) {
    core.events.emit('sign_in.failed', { userId: found.userId });
    throw new AuthError('invalid_credentials', { detail: say('wrong-former-password') });
  }
  await core.limiter.clearFailures(attempts);
}

function undoProofRequired(missing: readonly UndoProofName[]): AuthError {
  return new AuthError('proof_required', { missing });
}

/** The fields of POST /undo-change that plugins add. */
export function undoProofShape({ contributions }: Core): z.ZodRawShape {
  return Object.assign({}, ...contributions.map(({ undo }) => undo?.proof?.shape));
}

/** The problems of POST /undo-change that plugins add. */
export function undoProofProblems({ contributions }: Core): readonly AuthErrorCode[] {
  return contributions.flatMap(({ undo }) => undo?.proof?.problems ?? []);
}
