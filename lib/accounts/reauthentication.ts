import type { Transaction } from 'sequelize';
import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { declareEvents } from '../outbox/events.js';
import { CORE } from '../owners.js';
import type { IssuedSession, Shown } from '../sessions/signed-in.js';
import type { Session } from '../tables/core.js';
import type { UserRecord } from '../users/record.js';

declare module '../outbox/events.js' {
  interface EventDetails {
    /** The user of a session reauthenticated. `amr` lists the methods (RFC 8176). */
    'session.reauthenticated': {
      readonly userId: string;
      readonly sessionId: string;
      readonly amr: readonly string[];
    };
  }
}

declareEvents(CORE, { 'session.reauthenticated': { sessionId: true, amr: true } });

/** A session whose user reauthenticates. */
export interface Reauthenticating {
  readonly userId: string;
  readonly sessionId: string;
  /** The assurance level that the proof can reach. An account with a second factor requires level 2. */
  readonly aal: number;
}

/**
 * Makes a session fresh, because its user has proved their identity. With a second factor or a passkey, the session
 * also reaches assurance level 2 and gets a new token, as after a sign-in (ASVS 5.0, 7.2.4).
 *
 * @param verify verifies the proof; not called if the proof could not be sufficient
 * @returns the session, if it has a new token
 * @throws AuthError `second_factor_required`, `invalid_session`, `user_not_found`, and errors that `verify` throws
 */
export async function reauthenticate(
  core: Core,
  { userId, sessionId, aal }: Reauthenticating,
  verify: (record: UserRecord) => Promise<Shown>,
): Promise<IssuedSession | null> {
  const record = await core.users.require(userId);
  if (aal < 2 && core.secondFactors.isOn(record.account)) throw new AuthError('second_factor_required');
  const shown = await verify(record);
  if (aal < 2) {
    await makeFresh(core, userId, sessionId, shown);
    return null;
  }
  return core.change(userId, { sessionId, changesWaysIn: false }, (current, transaction) =>
    confirmSession(core, current, { sessionId, shown }, transaction),
  );
}

/**
 * Verifies the password as the only proof of a session's user. This is the same for a reauthentication and for a request
 * that accepts the password in its place.
 *
 * @throws AuthError `invalid_credentials`, `rate_limited`; `reauthentication_required` if a sign-in in this browser would
 *   also require a code
 */
export async function proveByPassword(
  { emailCodes, passwordCheck }: Core,
  record: UserRecord,
  password: string,
  session: Pick<Session, 'aal'>,
): Promise<Shown> {
  if (!passwordCheck) throw new TypeError('the core has no passwords');
  await emailCodes.requireSignIn(record.user, session);
  await passwordCheck.verifyOwn(record, password);
  return { amr: ['pwd'] };
}

async function makeFresh(
  { events, sessions }: Core,
  userId: string,
  sessionId: string,
  { amr }: Shown,
): Promise<void> {
  await events.together(['session.reauthenticated'], async (transaction) => {
    if (await sessions.setAuthenticated(userId, sessionId, undefined, transaction))
      events.emit('session.reauthenticated', { userId, sessionId, amr }, transaction);
  });
}

/** A session whose user has reauthenticated. */
export interface Reauthenticated {
  readonly sessionId: string;
  /** The proof that was just verified. */
  readonly shown: Shown;
  /** The time of the authentication, if another party reports it. @default now */
  readonly at?: Date;
}

/** Makes a session fresh in the transaction of another change. The user's row is locked. */
export async function confirmSession(
  { events, secondFactors, sessions }: Core,
  record: UserRecord,
  { sessionId, shown, at }: Reauthenticated,
  transaction: Transaction,
): Promise<IssuedSession | null> {
  const assurance = secondFactors.reached(record, shown);
  if (!assurance) throw new AuthError('second_factor_required');
  const userId = record.user.id;
  events.emit('session.reauthenticated', { userId, sessionId, amr: shown.amr }, transaction);
  if (assurance.aal < 2) {
    await sessions.setAuthenticated(userId, sessionId, at, transaction);
    return null;
  }
  const options = { endsOthers: false, assurance, authenticatedAt: at };
  return sessions.renew(record, sessionId, transaction, options);
}
