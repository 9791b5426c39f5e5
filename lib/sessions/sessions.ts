import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import {
  ACTING_TOKEN_PREFIX,
  createToken,
  digestToken,
  isSessionToken,
  SESSION_TOKEN_PREFIX,
} from '../crypto/token.js';
import { isUuid } from '../crypto/uuid.js';
import { slicesOf } from '../database/batches.js';
import { type Chore, ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { Events } from '../outbox/events.js';
import type { RowOf } from '../tables/column.js';
import {
  type AddedToSessions,
  type Session,
  type SessionColumns,
  sessions,
  sessionsWith,
  type User,
} from '../tables/core.js';
import { type Selection, Table, type TableDeclaration } from '../tables/table.js';
import type { UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import { requireOwn } from './acting.js';
import { LastUse } from './last-use.js';
import { type Alongside, type Found, TokenLookup } from './lookup.js';
import type { IssuedSession, OwnedSession, RenewOptions } from './signed-in.js';

/** A session and its user. */
export interface SessionWithUser {
  readonly user: User;
  readonly session: Session;
}

/**
 * Sessions that end, and how:
 *
 * - `revoked`: by the user, the app or an administrator
 * - `replaced`: by a new session of the same client
 * - `limit`: by a new session of the user, who has more than `session.maxPerUser`
 * - `all-revoked`: along with every sign-in in progress, because everything of the user's epoch is invalid now
 * - `expired`: some time ago, and the rows are about to be deleted
 */
export type EndedSessions =
  | { readonly how: 'revoked' | 'replaced' | 'limit' | 'expired'; readonly sessionIds: readonly string[] }
  | { readonly how: 'all-revoked'; readonly userId: string };

/** A plugin that follows the ends of sessions. */
export interface FollowsSessions {
  /** @param transaction the transaction that ends the sessions, if there is one */
  onSessionsEnd?(ended: EndedSessions, transaction: Transaction | undefined): Promise<void>;
}

/** What {@link Sessions} need. */
interface SessionsNeeds {
  readonly database: Database;
  readonly settings: Settings;
  readonly events: Events;
  readonly users: Users;
  /** The columns that plugins add to sessions. */
  readonly addedToSessions: readonly AddedToSessions[];
  readonly contributions: readonly FollowsSessions[];
}

/** Finds, lists, renews and ends sessions. Only `SignInGate` creates them. */
export class Sessions {
  /** The table with the columns of plugins. */
  readonly declaration: TableDeclaration<SessionColumns>;
  /** Whether administrators can act as users, in acting sessions. */
  readonly canAct: boolean;
  readonly #table: Table<SessionColumns>;
  readonly #session: Selection<Session>;
  readonly #whole: Selection<RowOf<SessionColumns>>;
  readonly #users: string;
  /** The join condition with users: the session's epoch must match the user's. */
  readonly #on = 'u.id = s.user_id AND u.auth_epoch = s.auth_epoch';
  readonly #lookup: TokenLookup<Session>;
  readonly #touches: LastUse;

  constructor(private readonly core: SessionsNeeds) {
    const { database, settings, users, addedToSessions } = core;
    this.declaration = sessionsWith(addedToSessions);
    this.canAct = 'actorId' in this.declaration.columns;
    this.#table = new Table(database, this.declaration);
    this.#users = users.table.name;
    this.#session = this.#table.shown('s');
    this.#whole = this.#table.whole('s');
    const lookup = {
      credential: 'session',
      prefixes: this.canAct ? [SESSION_TOKEN_PREFIX, ACTING_TOKEN_PREFIX] : [SESSION_TOKEN_PREFIX],
      row: this.#session,
      hash: 's.token_hash',
      user: users.selections.shown,
      on: this.#on,
    } as const;
    this.#lookup = new TokenLookup(database, lookup, settings.telemetry);
    const column = { table: this.#table.name, column: 'last_active_at', what: 'last activity' };
    this.#touches = new LastUse(database, settings.log, column);
  }

  /**
   * Finds the active session with this token or digest. Sends at most one statement, which concurrent lookups share.
   *
   * @param touches whether this counts as activity of the session
   * @param alongside other rows to read in the same statement
   */
  find(token: string | Buffer, touches = true, alongside?: Alongside): Promise<SessionWithUser | null> {
    const use = ({ row: session, user, now }: Found<Session, User>) => {
      if (this.#hasEnded(session)) return null;
      const { id, lastActiveAt } = session;
      if (touches && now - lastActiveAt.getTime() >= this.#touchMs)
        this.#touches.record(id, lastActiveAt, now, lastActiveAt.getTime() + this.#idleMs);
      return { user, session };
    };
    return this.#lookup.find(token, use, alongside && { alongside });
  }

  /** Whether a session began with an authentication here, and was not taken over from a previous system. */
  async hasBegunHere(sessionId: string): Promise<boolean> {
    const [session] = await this.#whole.select('WHERE s.id = :sessionId', { sessionId });
    return session !== undefined && session.takenOver !== true;
  }

  /** Whether a session has expired, but was neither revoked nor pruned. */
  async hasLapsed(sessionId: string): Promise<boolean> {
    const rest = `JOIN ${this.#users} u ON ${this.#on} WHERE s.id = :sessionId`;
    const [session] = await this.#session.select(rest, { sessionId });
    return session !== undefined && this.#hasEnded(session);
  }

  /** Returns a user's active sessions, newest first. */
  async list(userId: string): Promise<Session[]> {
    const rest = `ON ${this.#on} WHERE s.user_id = :userId ORDER BY s.created_at DESC, s.id DESC`;
    const sessions = isUuid(userId) ? await this.#live(rest, { userId }) : [];
    return sessions.map((one) => ({ ...one, lastActiveAt: this.#touches.latest(one.id, one.lastActiveAt) }));
  }

  /** The end of a condition, for statements that are only about the sessions that users have begun themselves. */
  ownOnly(alias: string): string {
    return this.canAct ? `AND ${alias}.actor_id IS NULL` : '';
  }

  /**
   * Requires that a session is not an acting one, for a call that changes the account.
   *
   * @throws AuthError `acting_session`
   */
  async requireOwn(sessionId: unknown): Promise<void> {
    if (!this.canAct || typeof sessionId !== 'string' || !isUuid(sessionId)) return;
    const [session] = await this.#session.select('WHERE s.id = :sessionId', { sessionId });
    if (session) requireOwn(session);
  }

  /**
   * Returns the session that requests a change of its account, unless it has been revoked. The transaction must have locked
   * the user.
   *
   * @throws AuthError `acting_session`
   */
  async stillOpen(sessionId: string, authEpoch: number, transaction: Transaction): Promise<Session | null> {
    const rest = `WHERE s.id = :sessionId AND s.auth_epoch = :authEpoch ${this.core.database.currentRead}`;
    if (!isUuid(sessionId)) return null;
    const [session] = await this.#session.select(rest, { sessionId, authEpoch }, transaction);
    if (session) requireOwn(session);
    return session ?? null;
  }

  /**
   * Records that the user has reauthenticated. The session's time of authentication never moves back.
   *
   * @param at when the user reauthenticated, if another system reports it; a time in the future counts as now
   * @returns whether the session's time of authentication changed
   */
  async setAuthenticated(userId: string, id: string, at?: Date, within?: Transaction): Promise<boolean> {
    if (!isUuid(userId) || !isUuid(id)) return false;
    await this.core.database.ready();
    const now = this.core.database.clock.date();
    const sql = `UPDATE ${this.#table.name} SET authenticated_at = :at WHERE id = :id AND user_id = :userId AND authenticated_at < :at`;
    const values = { id, userId, at: at && at < now ? at : now };
    return (await this.core.database.change(sql, values, { transaction: within })) > 0;
  }

  /** Revokes the session with this token. @returns whether it was active */
  async revokeByToken(token: string): Promise<boolean> {
    const owned = await this.ownerOf(token);
    return owned !== null && this.revoke(owned.userId, owned.sessionId);
  }

  /**
   * Returns the ids of the session with this token or digest, and of its user, even if the session has expired or the
   * account is incomplete.
   */
  ownerOf(token: string | Buffer): Promise<OwnedSession | null> {
    const idsOf = ({ row: { userId, id: sessionId } }: { readonly row: Session }) => ({ userId, sessionId });
    return this.#lookup.find(token, idsOf, { ofAnyone: true });
  }

  /**
   * Revokes one session of a user.
   *
   * @param within a transaction to join
   * @param how whether a new session of the same client replaces it
   * @returns whether it was active
   */
  async revoke(
    userId: string,
    sessionId: string,
    within?: Transaction,
    how: 'revoked' | 'replaced' = 'revoked',
  ): Promise<boolean> {
    if (!isUuid(userId) || !isUuid(sessionId)) return false;
    await this.core.database.ready();
    const { clock } = this.core.database;
    const sql = `DELETE FROM ${this.#table.name} WHERE id = :sessionId AND user_id = :userId
      AND expires_at > :now AND last_active_at > :idleSince`;
    const values = { userId, sessionId, now: clock.date(), idleSince: clock.date(-this.#idleMs) };
    const work = async (transaction?: Transaction) => {
      const actorId = await this.#actorIdOf(sessionId, transaction);
      const ended = await this.core.database.change(sql, values, { transaction });
      if (ended === 0) return false;
      this.#emitEnd([{ id: sessionId, userId, actorId }], transaction);
      await this.#announce({ how, sessionIds: [sessionId] }, transaction);
      return true;
    };
    return this.core.events.together(['session.revoked'], work, within);
  }

  /**
   * Ends the active sessions of a user beyond a number, those with the earliest stored activity first. The user's row is
   * locked, so that sign-ins at the same time count each other's sessions.
   *
   * @param newest the session that has just been created. It does not end, and it ends no others if an event has raised
   *   the user's epoch in the meantime, because it is not active then
   */
  async endBeyond(
    max: number,
    newest: OwnedSession & { readonly authEpoch: number },
    transaction: Transaction,
  ): Promise<void> {
    const { database } = this.core;
    const times = { now: database.clock.date(), idleSince: database.clock.date(-this.#idleMs) };
    const surplus = await database.select<{ id: string }>(
      `SELECT s.id FROM ${this.#table.name} s JOIN ${this.#users} u ON ${this.#on}
       WHERE s.user_id = :userId AND s.auth_epoch = :authEpoch AND s.id <> :sessionId
       AND s.expires_at > :now AND s.last_active_at > :idleSince ${this.ownOnly('s')}
       ORDER BY s.last_active_at DESC, s.id DESC LIMIT ${ANY_NUMBER} OFFSET ${max - 1} ${database.currentRead}`,
      { ...newest, ...times },
      transaction,
    );
    // There are many only if the app has just got the limit, or a lower one.
    for await (const rows of slicesOf(surplus)) {
      const sessionIds = rows.map(({ id }) => id);
      const sql = `DELETE FROM ${this.#table.name} WHERE id IN (:sessionIds)`;
      await database.change(sql, { sessionIds }, { transaction });
      const ended = sessionIds.map((id) => ({ id, userId: newest.userId }));
      this.#emitEnd(ended, transaction, { reason: 'limit' });
      await this.#announce({ how: 'limit', sessionIds }, transaction);
    }
  }

  /**
   * Revokes all sessions of a user, and every sign-in in progress.
   *
   * @param except an active session of the user that continues, with its token. Any other id has no effect
   * @returns the number of active sessions that were revoked
   */
  async revokeAll(userId: string, except?: string): Promise<number> {
    if (!isUuid(userId)) return 0;
    await this.requireOwn(except);
    await this.core.database.ready();
    return this.core.database.transaction(async (transaction) => {
      await this.#raiseUser(userId, transaction);
      const isKept = isUuid(except) && (await this.#keep(userId, except, transaction));
      return this.#endFormer(userId, transaction, isKept ? except : '');
    });
  }

  /** Moves an active session to the user's new epoch. @returns whether the session is active */
  async #keep(userId: string, id: string, transaction: Transaction): Promise<boolean> {
    const { clock } = this.core.database;
    const sql = `UPDATE ${this.#table.name} SET auth_epoch = auth_epoch + 1
      WHERE id = :id AND user_id = :userId AND expires_at > :now AND last_active_at > :idleSince
      AND auth_epoch + 1 = (SELECT u.auth_epoch FROM ${this.#users} u WHERE u.id = :userId)`;
    const values = { id, userId, now: clock.date(), idleSince: clock.date(-this.#idleMs) };
    return (await this.core.database.change(sql, values, { transaction })) > 0;
  }

  /**
   * Does the work of {@link revokeAll} in the transaction of the change that causes it.
   *
   * @param except a session to keep, because it will be renewed
   * @returns the number of active sessions that were revoked
   */
  async endAll(userId: string, transaction: Transaction, except = ''): Promise<number> {
    // Raise the epoch first, because this locks the user's row, and invalidates sessions that are being inserted.
    await this.#raiseUser(userId, transaction);
    return this.#endFormer(userId, transaction, except);
  }

  /** Ends the sessions of the user's former epoch. */
  async #endFormer(userId: string, transaction: Transaction, except: string): Promise<number> {
    const unless = (id: string) => except && `AND ${id} <> :except`;
    const live = await this.#live(
      `ON u.id = s.user_id AND u.auth_epoch = s.auth_epoch + 1 WHERE s.user_id = :userId ${unless('s.id')}`,
      { userId, except },
      transaction,
    );
    await this.core.database.change(
      `DELETE FROM ${this.#table.name} WHERE user_id = :userId ${unless('id')}`,
      { userId, except },
      { transaction },
    );
    this.#emitEnd(live, transaction);
    await this.#announce({ how: 'all-revoked', userId }, transaction);
    await this.endActingBy(userId, transaction);
    return live.length;
  }

  /**
   * Ends the acting sessions in which one of these users acts, or is acted as: because their rights have changed, for
   * example. The rows of the users are locked.
   */
  async endActing(userIds: readonly string[], transaction: Transaction): Promise<void> {
    for (const userId of userIds) {
      await this.#endActingOf('user_id', userId, transaction);
      await this.endActingBy(userId, transaction);
    }
  }

  /** Ends the acting sessions of an administrator, whose row is locked. */
  endActingBy(actorId: string, transaction: Transaction): Promise<void> {
    return this.#endActingOf('actor_id', actorId, transaction);
  }

  async #endActingOf(
    column: 'user_id' | 'actor_id',
    userId: string,
    transaction: Transaction,
  ): Promise<void> {
    if (!this.canAct) return;
    const { database } = this.core;
    const rest = `WHERE s.${column} = :userId AND s.actor_id IS NOT NULL ${database.currentRead}`;
    const acting = await this.#session.select(rest, { userId }, transaction);
    if (acting.length === 0) return;
    const sessionIds = acting.map(({ id }) => id);
    const sql = `DELETE FROM ${this.#table.name} WHERE id IN (:sessionIds)`;
    await database.change(sql, { sessionIds }, { transaction });
    this.#emitEnd(
      acting.filter((one) => !this.#hasEnded(one)),
      transaction,
    );
    await this.#announce({ how: 'revoked', sessionIds }, transaction);
  }

  /** Returns the administrator who acts in a session. Undefined in apps without acting sessions. */
  async #actorIdOf(sessionId: string, transaction: Transaction | undefined): Promise<Session['actorId']> {
    if (!this.canAct) return undefined;
    const [session] = await this.#session.select('WHERE s.id = :sessionId', { sessionId }, transaction);
    return session?.actorId;
  }

  /** Ends every sign-in in progress, as {@link endAll} does, but keeps the sessions. */
  async keepAll(userId: string, transaction: Transaction): Promise<void> {
    await this.#raiseUser(userId, transaction);
    const current = `(SELECT u.auth_epoch FROM ${this.#users} u WHERE u.id = :userId)`;
    const wasCurrent = `user_id = :userId AND auth_epoch + 1 = ${current}`;
    const sql = `UPDATE ${this.#table.name} SET auth_epoch = auth_epoch + 1 WHERE ${wasCurrent}`;
    await this.core.database.change(sql, { userId }, { transaction });
  }

  #raiseUser(userId: string, transaction: Transaction): Promise<number> {
    const sql = `UPDATE ${this.#users} SET auth_epoch = auth_epoch + 1, sessions_ended_at = :now WHERE id = :userId`;
    return this.core.database.change(sql, { userId, now: this.core.database.clock.date() }, { transaction });
  }

  #emitEnd(
    sessions: readonly Pick<Session, 'id' | 'userId' | 'actorId'>[],
    transaction: Transaction | undefined,
    why: { readonly reason?: 'limit' } = {},
  ): void {
    const ended = sessions.map(({ id: sessionId, userId, actorId }) => ({
      userId,
      sessionId,
      ...(actorId && { actorId }),
      ...why,
    }));
    this.core.events.emitAll('session.revoked', ended, transaction);
  }

  async #announce(ended: EndedSessions, transaction?: Transaction): Promise<void> {
    for (const plugin of this.core.contributions) await plugin.onSessionsEnd?.(ended, transaction);
  }

  /**
   * Issues a new token for a session. `expiresAt` does not change.
   *
   * @param owner the session's user. The epoch was possibly raised by {@link endAll} in the same transaction
   * @throws AuthError `invalid_session` if the session has ended in the meantime; `acting_session`
   */
  async renew(
    { user, authEpoch }: Pick<UserRecord, 'user' | 'authEpoch'>,
    sessionId: string,
    transaction: Transaction,
    { isFresh = true, authenticatedAt: at, endsOthers = true, assurance }: RenewOptions = {},
  ): Promise<IssuedSession> {
    const token = createToken(SESSION_TOKEN_PREFIX);
    const now = this.core.database.clock.date();
    const [row] = await this.#whole.select('WHERE s.id = :sessionId', { sessionId }, transaction);
    if (!row) throw new AuthError('invalid_session');
    requireOwn(this.#session.pick(row));
    const shownAt = at && at < now ? at : now;
    const authenticatedAt = isFresh && shownAt > row.authenticatedAt ? shownAt : row.authenticatedAt;
    const { aal } = assurance ?? row;
    const amr = [...new Set([...row.amr, ...(assurance?.amr ?? [])])];
    const changes = { tokenIssuedAt: now, authenticatedAt, lastActiveAt: now, aal, amr };
    const hashes = { tokenHash: digestToken(token), replacedTokenHash: row.tokenHash };
    const renewed = await this.#table.update(
      { ...changes, ...hashes, authEpoch },
      { id: sessionId, userId: user.id, authEpoch: endsOthers ? authEpoch - 1 : authEpoch },
      transaction,
    );
    if (renewed === 0) throw new AuthError('invalid_session');
    const session = this.#session.pick({ ...row, ...changes });
    return { user, session, token, remembered: row.remembered, device: null };
  }

  /** Deletes expired and idle sessions. */
  get expired(): Chore {
    const ages = { expires_at: 0, last_active_at: this.#idleMs };
    const before = (sessionIds: readonly string[]) => this.#announce({ how: 'expired', sessionIds });
    return new ExpiredRows(this.core.database, this.#table.name, 'id', ages, before);
  }

  /** Waits for background writes. */
  settle(): Promise<void> {
    return this.#touches.settle();
  }

  // Activity is recorded at least four times per idle timeout, so that an active session does not become idle.
  get #touchMs(): number {
    return Math.min(this.core.settings.session.touchInterval * 1000, this.#idleMs / 4);
  }

  get #idleMs(): number {
    return this.core.settings.session.idleTimeout * 1000;
  }

  /** @param rest the SQL after JOIN, starting with its ON clause */
  async #live(
    rest: string,
    replacements: Record<string, string>,
    transaction?: Transaction,
  ): Promise<Session[]> {
    const { nowSql, clock } = this.core.database;
    const rows = await this.core.database.read<{ db_now: number | string }>(
      `SELECT ${this.#session.columns}, ${nowSql} AS db_now FROM ${this.#session.from} JOIN ${this.#users} u ${rest}`,
      [...this.#session.names, 'db_now'],
      replacements,
      transaction,
    );
    if (rows[0]) clock.observe(rows[0].db_now);
    return rows.map((raw) => this.#session.read(raw)).filter((session) => !this.#hasEnded(session));
  }

  #hasEnded({ expiresAt, lastActiveAt }: Session): boolean {
    const now = this.core.database.clock.latest();
    return expiresAt.getTime() <= now || lastActiveAt.getTime() + this.#idleMs <= now;
  }
}

// MySQL and SQLite do not accept an OFFSET without a LIMIT.
const ANY_NUMBER = 1_000_000_000;

/** How long a request with the old cookie can be in flight after the browser has received the new cookie. */
export const REPLACEMENT_MS = 60_000;

/**
 * Whether one of these tokens was replaced less than a minute ago, by a renewal of its session or by a sign-in in the
 * browser that sent it.
 */
export async function wereJustReplaced(database: Database, tokens: readonly string[]): Promise<boolean> {
  const digests = tokens.filter(isSessionToken).map(digestToken);
  if (digests.length === 0) return false;
  const rows = await database.select<{ issued_at: Date | string; db_now: number | string }>(
    `SELECT s.token_issued_at AS issued_at, ${database.nowSql} AS db_now
     FROM ${database.table(sessions.name)} s WHERE s.replaced_token_hash IN (:digests)`,
    { digests },
  );
  return rows.some(
    ({ issued_at, db_now }) =>
      database.clock.at(db_now) - database.statements.toDate(issued_at).getTime() < REPLACEMENT_MS,
  );
}
