import type { PlainRequest } from '../context/call.js';
import { AuthError, declareProblems } from '../errors.js';
import { column } from '../tables/column.js';
import type { Session } from '../tables/core.js';

/**
 * The columns that a plugin adds to sessions so that administrators can act as users. A session with an actor is an acting
 * session. It is closed to every route, guard and call that does not admit it explicitly.
 */
export const actingColumns = {
  /** The id of the administrator who acts as the user. Null in the user's own sessions. */
  actorId: column.uuid().nullable().notExported('It is the id of an administrator.'),
};

/** The index by which the sessions of an administrator are ended. */
export const actingIndexes = { actorId: ['actorId'] } as const;

/** The administrator who acts as the user of a session. */
export interface Actor {
  /** The administrator's user id. */
  readonly id: string;
}

/**
 * The requests that are admitted in an acting session: those with GET or HEAD (`read`), all (`write`), or none (`false`).
 */
export type Acting = 'read' | 'write' | false;

/** Whether an administrator acts as the user in a session. */
export function isActing({ actorId }: Pick<Session, 'actorId'>): boolean {
  return Boolean(actorId);
}

/** Rejects an acting session. @throws AuthError `acting_session` */
export function requireOwn(session: Pick<Session, 'actorId'>): void {
  if (isActing(session)) throw new AuthError('acting_session');
}

/**
 * Whether a request is admitted in an acting session. A request that opens a connection for more than its response counts
 * as a write, and so does one whose method is unknown.
 */
export function admitsActing(acting: Acting, { method, headers }: PlainRequest): boolean {
  if (acting !== 'read') return acting === 'write';
  return (method === 'GET' || method === 'HEAD') && headers.upgrade === undefined;
}

/** Checks the option of a guard. @throws TypeError for any other value */
export function checkActing(name: string, acting: unknown): asserts acting is Acting {
  if (acting === 'read' || acting === 'write' || acting === false) return;
  throw new TypeError(`latchkey: ${name}'s acting must be 'read', 'write' or false`);
}

const problems = declareProblems({
  acting_session: [
    403,
    'An administrator is acting as this user, which does not allow this. Stop acting first: sign out.',
  ],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
