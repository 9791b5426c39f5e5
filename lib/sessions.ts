import type { Transaction } from 'sequelize';
import { createToken, digestToken, isWellFormedToken, SESSION_TOKEN_PREFIX } from './crypto/token.js';
import { isUuid, uuidv7 } from './crypto/uuid.js';
import { Database } from './database/database.js';
import { deleteInBatches } from './database/delete-in-batches.js';
import { isForeignKeyViolation } from './database/faults.js';
import { BatchedLookup } from './database/lookup.js';
import { storable } from './database/storable.js';
import { AuthError } from './errors.js';
import type { ClientInfo, Events } from './events.js';
import type { Session } from './models/session.js';
import { SESSION_COLUMNS, type SessionColumns, toSession } from './models/session-columns.js';
import type { User } from './models/user.js';
import { JOINED_USER_COLUMNS, type JoinedUserRow, joinedUser } from './models/user-columns.js';
import type { Settings } from './settings.js';

/** A session just begun, with the only copy of its token. */
export interface IssuedSession {
  readonly user: User;
  readonly session: Session;
  /** Opens the session: goes to the client and nowhere else. */
  readonly token: string;
  /** Whether its cookie outlives the browser. */
  readonly remembered: boolean;
}

/** What a session begins with. */
export interface NewSession extends ClientInfo {
  readonly remembered: boolean;
}

/** A session and whose it is. */
export interface SessionWithUser {
  readonly user: User;
  readonly session: Session;
}

interface LookupRow extends SessionColumns, JoinedUserRow {
  token_hash: Buffer;
}

const MAX_USER_AGENT = 255;
const MAX_IP = 45;

/** Begins, finds, lists and ends sessions. */
export class Sessions {
  readonly #sessions: string;
  readonly #users: string;
  readonly #lookup: BatchedLookup<LookupRow>;
  readonly #touches = new Map<string, Promise<void>>();

  constructor(
    private readonly database: Database,
    private readonly settings: Settings,
    private readonly events: Events,
  ) {
    this.#sessions = database.table('sessions');
    this.#users = database.table('users');
    this.#lookup = new BatchedLookup((digests) => database.forNobody(() => this.#fetch(digests)));
  }

  /**
   * Begins a session.
   *
   * @param authEpoch the user's, as it was when their proof was checked: if it has been raised since, the session
   *   is dead from its first breath
   */
  async create(user: User, authEpoch: number, options: NewSession): Promise<IssuedSession> {
    const issued = await this.insert(user, authEpoch, options);
    const { ip, userAgent } = options;
    this.events.emit('session.created', { userId: user.id, sessionId: issued.session.id, ip, userAgent });
    return issued;
  }

  /** {@link create} as a part of a transaction, after which the caller tells listeners. */
  async insert(
    user: User,
    authEpoch: number,
    { remembered, ip, userAgent }: NewSession,
    transaction?: Transaction,
  ): Promise<IssuedSession> {
    const { lifetime, shortLifetime } = this.settings.session;
    const now = Math.floor(this.database.clock.now());
    const token = createToken(SESSION_TOKEN_PREFIX);
    const session: Session = {
      id: uuidv7(now),
      userId: user.id,
      createdAt: new Date(now),
      authenticatedAt: new Date(now),
      lastActiveAt: new Date(now),
      expiresAt: new Date(now + (remembered ? lifetime : shortLifetime) * 1000),
      ipAddress: storable(ip, MAX_IP),
      userAgent: storable(userAgent, MAX_USER_AGENT),
    };
    try {
      await this.database.change(
        `INSERT INTO ${this.#sessions} (id, user_id, token_hash, auth_epoch, remembered, created_at, authenticated_at,
           last_active_at, expires_at, ip_address, user_agent)
         VALUES (:id, :userId, ${this.database.digestLiterals([digestToken(token)])}, :authEpoch, :remembered,
           :createdAt, :authenticatedAt, :lastActiveAt, :expiresAt, :ipAddress, :userAgent)`,
        { ...session, authEpoch, remembered },
        transaction,
      );
    } catch (error) {
      // The user was deleted while their password was being checked.
      throw isForeignKeyViolation(error) ? new AuthError('invalid_credentials') : error;
    }
    return { user, session, token, remembered };
  }

  /** The live session that a token opens, or null. One statement at most, shared with others at a busy time. */
  async find(token: string): Promise<SessionWithUser | null> {
    if (!isWellFormedToken(SESSION_TOKEN_PREFIX, token)) return null;
    const row = await this.#lookUp(token);
    if (!row) return null;
    const found = { user: joinedUser(row), session: toSession(row) };
    this.#touch(found.session, Number(row.db_now));
    return found;
  }

  /** A user's live sessions, the newest first. */
  async list(userId: string): Promise<Session[]> {
    if (!isUuid(userId)) return [];
    const rows = await this.database.select<SessionColumns>(
      `SELECT ${SESSION_COLUMNS}, ${this.database.nowSql} AS db_now
       FROM ${this.#sessions} s JOIN ${this.#users} u ON u.id = s.user_id AND u.auth_epoch = s.auth_epoch
       WHERE s.user_id = :userId ORDER BY s.created_at DESC, s.id DESC`,
      { userId },
    );
    return rows.filter((row) => this.#isLive(row)).map(toSession);
  }

  /** Whether a session has not been ended, as a transaction sees it that has locked its user. */
  async stillHolds(sessionId: string, authEpoch: number, transaction: Transaction): Promise<boolean> {
    const rows = await this.database.select(
      `SELECT id FROM ${this.#sessions} WHERE id = :sessionId AND auth_epoch = :authEpoch`,
      { sessionId, authEpoch },
      transaction,
    );
    return rows.length > 0;
  }

  /** Notes that the user has just proved again who they are. */
  async markAuthenticated(sessionId: string): Promise<void> {
    if (!isUuid(sessionId)) return;
    await this.database.change(`UPDATE ${this.#sessions} SET authenticated_at = :now WHERE id = :sessionId`, {
      sessionId,
      now: new Date(this.database.clock.now()),
    });
  }

  /** Ends the session that a token opens. @returns whether it was alive */
  async revokeByToken(token: string): Promise<boolean> {
    if (!isWellFormedToken(SESSION_TOKEN_PREFIX, token)) return false;
    const row = await this.#lookUp(token);
    return row ? this.revoke(row.user_id, row.id) : false;
  }

  /** Ends one session of a user. @returns whether it was alive */
  async revoke(userId: string, sessionId: string): Promise<boolean> {
    if (!isUuid(userId) || !isUuid(sessionId)) return false;
    const now = this.database.clock.now();
    const ended = await this.database.change(
      `DELETE FROM ${this.#sessions} WHERE id = :sessionId AND user_id = :userId
         AND expires_at > :now AND last_active_at > :idleSince`,
      { userId, sessionId, now: new Date(now), idleSince: new Date(now - this.#idleMs) },
    );
    if (ended > 0) this.events.emit('session.revoked', { userId, sessionId });
    return ended > 0;
  }

  /** Ends all sessions of a user, and every sign-in that is under way. @returns how many sessions were alive */
  async revokeAll(userId: string): Promise<number> {
    if (!isUuid(userId)) return 0;
    const ended = await this.database.transaction((transaction) => this.endAll(userId, transaction));
    this.tellEnded(userId, ended);
    return ended.length;
  }

  /**
   * The part of {@link revokeAll} that belongs in one transaction with whatever makes it necessary.
   *
   * @param except a session that is spared, to be renewed
   * @returns the ids of those that were alive, for {@link tellEnded}
   */
  async endAll(userId: string, transaction: Transaction, except = ''): Promise<string[]> {
    // The epoch first: it locks the user's row, and a session that is being inserted just now will not match it.
    await this.database.change(
      `UPDATE ${this.#users} SET auth_epoch = auth_epoch + 1 WHERE id = :userId`,
      { userId },
      transaction,
    );
    const sparing = (id: string) => except && `AND ${id} <> :except`;
    const rows = await this.database.select<SessionColumns>(
      `SELECT ${SESSION_COLUMNS}, ${this.database.nowSql} AS db_now
       FROM ${this.#sessions} s JOIN ${this.#users} u ON u.id = s.user_id AND u.auth_epoch = s.auth_epoch + 1
       WHERE s.user_id = :userId ${sparing('s.id')}`,
      { userId, except },
      transaction,
    );
    await this.database.change(
      `DELETE FROM ${this.#sessions} WHERE user_id = :userId ${sparing('id')}`,
      { userId, except },
      transaction,
    );
    return rows.filter((row) => this.#isLive(row)).map(({ id }) => id);
  }

  /** Tells listeners, after the transaction. */
  tellEnded(userId: string, sessionIds: readonly string[]): void {
    for (const sessionId of sessionIds) this.events.emit('session.revoked', { userId, sessionId });
  }

  /**
   * Gives a session a new token, where its user has proved anew who they are. Its end stays where it was.
   *
   * @param authEpoch the user's, raised by {@link endAll} in the same transaction
   * @throws AuthError `invalid_session` where it has ended meanwhile
   */
  async renew(
    user: User,
    sessionId: string,
    authEpoch: number,
    transaction: Transaction,
  ): Promise<IssuedSession> {
    const token = createToken(SESSION_TOKEN_PREFIX);
    const now = new Date(Math.floor(this.database.clock.now()));
    const renewed = await this.database.change(
      `UPDATE ${this.#sessions} SET token_hash = ${this.database.digestLiterals([digestToken(token)])},
         auth_epoch = :authEpoch, authenticated_at = :now, last_active_at = :now
       WHERE id = :sessionId AND user_id = :userId AND auth_epoch = :authEpoch - 1`,
      { sessionId, userId: user.id, authEpoch, now },
      transaction,
    );
    const [row] = await this.database.select<SessionColumns & { remembered: boolean | number }>(
      `SELECT ${SESSION_COLUMNS}, s.remembered, ${this.database.nowSql} AS db_now
       FROM ${this.#sessions} s WHERE s.id = :sessionId`,
      { sessionId },
      transaction,
    );
    if (renewed === 0 || !row) throw new AuthError('invalid_session');
    return { user, session: toSession(row), token, remembered: Boolean(row.remembered) };
  }

  /**
   * Deletes sessions that have ended, a thousand at a time with a pause between, so that live ones do not wait.
   *
   * @returns how many were deleted
   */
  async prune(): Promise<number> {
    const now = this.database.clock.now();
    const prune = (condition: string, time: Date) =>
      deleteInBatches(this.database, this.#sessions, 'id', condition, { time });
    const expired = await prune('expires_at <= :time', new Date(now));
    return expired + (await prune('last_active_at <= :time', new Date(now - this.#idleMs)));
  }

  /** Waits for what was begun and not waited for. */
  async settle(): Promise<void> {
    await Promise.all(this.#touches.values());
  }

  // Seldom enough to be cheap, and often enough that somebody who is active does not fall idle.
  get #touchMs(): number {
    return Math.min(this.settings.session.touchInterval * 1000, this.#idleMs / 4);
  }

  async #lookUp(token: string): Promise<LookupRow | null> {
    // A deadline of its own, since it may wait for the lookups before it.
    const row = await this.database.run(() => this.#lookup.find(digestToken(token)));
    return row && this.#isLive(row) ? row : null;
  }

  get #idleMs(): number {
    return this.settings.session.idleTimeout * 1000;
  }

  async #fetch(digests: string[]): Promise<Map<string, LookupRow>> {
    const rows = await this.database.select<LookupRow>(
      `SELECT s.token_hash, ${SESSION_COLUMNS}, ${JOINED_USER_COLUMNS}, ${this.database.nowSql} AS db_now
       FROM ${this.#sessions} s JOIN ${this.#users} u ON u.id = s.user_id AND u.auth_epoch = s.auth_epoch
       WHERE s.token_hash IN (${this.database.digestLiterals(digests)})`,
    );
    return new Map(rows.map((row) => [row.token_hash.toString('hex'), row]));
  }

  // By the later of two clocks, the database's and our own: a clock that is wrong can only shorten a session.
  #isLive(row: SessionColumns): boolean {
    const databaseNow = Number(row.db_now);
    this.database.clock.observe(databaseNow);
    const now = Math.max(databaseNow, Date.now());
    const end = Database.toDate(row.expires_at).getTime();
    const idleEnd = Database.toDate(row.last_active_at).getTime() + this.#idleMs;
    return now < end && now < idleEnd;
  }

  // Not waited for, and only ever an UPDATE: it holds up no request, fails none, and brings no revoked session back.
  #touch(session: Session, now: number): void {
    const last = session.lastActiveAt;
    if (now - last.getTime() < this.#touchMs) return;
    if (this.#touches.has(session.id)) return;
    const touch = this.database
      .change(
        `UPDATE ${this.#sessions} SET last_active_at = :now WHERE id = :id AND last_active_at = :last`,
        { id: session.id, now: new Date(now), last },
      )
      .then(() => undefined)
      .catch((error) => this.settings.logger.warn('latchkey: last activity was not written', error))
      .finally(() => this.#touches.delete(session.id));
    this.#touches.set(session.id, touch);
  }
}
