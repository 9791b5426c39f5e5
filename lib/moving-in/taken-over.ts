import type { SecretBox } from '../crypto/secret-box.js';
import { digestToken } from '../crypto/token.js';
import { type Chore, ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { violatedUnique } from '../database/faults.js';
import { REPLACEMENT_MS, type Sessions, type SessionWithUser } from '../sessions/sessions.js';
import type { AuthenticatedUser, CheckedSignIn } from '../sessions/sign-in.js';
import { type IssuedSession, isPending } from '../sessions/signed-in.js';
import type { RowOf } from '../tables/column.js';
import { type CarriedSessionColumns, carriedSessions } from '../tables/core.js';
import { SealedRows } from '../tables/sealed-rows.js';
import { Table } from '../tables/table.js';
import { contextOfOld, type Link, ROW_MS } from './linked-sessions.js';

/**
 * The record of a previous system's session. It names the session that took it over, or says that it is no longer
 * valid.
 */
export type TakenOverSession = RowOf<CarriedSessionColumns>;

/** A session that an old cookie authenticates. */
export interface ResumedSession extends SessionWithUser {
  /** The session with the token for the browser's new cookie. Null once the browser has sent this cookie. */
  readonly issued: Pick<IssuedSession, 'token' | 'remembered' | 'session'> | null;
}

/** How a previous system's session is taken over. */
export interface TakeOver {
  readonly oldHash: Buffer;
  /** When the previous session would have expired. */
  readonly endsAt: Date | null;
  /** The time until which the row is kept. @default long after the previous session would have expired */
  readonly storedUntil?: Date;
  /** Whether the new token is stored, encrypted, so that it can be sent again. @default true */
  readonly sealsToken?: boolean;
  /** Returns the link to the session here if the previous session continues. @default it does not continue */
  readonly link?: ((issued: IssuedSession) => Link) | undefined;
  /** The row of an earlier session that took it over, and has lapsed: see {@link TakenOverSessions.hasLapsed}. */
  readonly former?: TakenOverSession | null;
}

const MAX_RETIRED = 10_000;

/**
 * Sessions that took over sessions of a previous system. The previous session's row is unique, so concurrent requests
 * create only one session. Until the browser has sent the new cookie, the old cookie authenticates that session and no
 * other, because the response with the new cookie might have been lost. After that, the old cookie is invalid.
 */
export class TakenOverSessions {
  /** The previous sessions that this process knows to be invalid. This only saves statements. */
  readonly #retired = new Set<string>();
  readonly #table: Table<CarriedSessionColumns>;

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly sessions: Sessions,
  ) {
    this.#table = new Table(database, carriedSessions);
  }

  async find(oldHash: Buffer): Promise<TakenOverSession | null> {
    const find = () => this.#table.whole('c').select('WHERE c.old_hash = :oldHash', { oldHash });
    const [row] = await this.#now(find);
    return row ?? null;
  }

  /**
   * Returns the session that an old cookie still authenticates. It includes the token until the browser has sent it.
   */
  async resume(row: TakenOverSession): Promise<ResumedSession | null> {
    if (row.tokenHash === null) return null;
    if (row.usedAt !== null && this.database.clock.now() - row.usedAt.getTime() > REPLACEMENT_MS) return null;
    const { tokenHash } = row;
    const found = await this.#now(() => this.sessions.find(tokenHash));
    const sealed = row.sealedToken && this.box.open(row.sealedToken, contextOfOld(row.oldHash));
    return found && { ...found, issued: sealed ? { ...JSON.parse(sealed), session: found.session } : null };
  }

  /**
   * Whether the session that took over a continuing previous session (`keepOld`) has expired: it was not used here for
   * a while, or has reached its lifetime. The previous session can then be taken over again.
   */
  async hasLapsed({ sessionId }: TakenOverSession): Promise<boolean> {
    return sessionId !== null && this.sessions.hasLapsed(sessionId);
  }

  /**
   * Creates the session that takes over a previous one.
   *
   * @throws UniqueConstraintError (Sequelize) if another request has already taken it over
   */
  begin(
    { oldHash, endsAt, storedUntil, sealsToken = true, link, former = null }: TakeOver,
    proof: Pick<AuthenticatedUser, 'user' | 'authEpoch'>,
    checked: CheckedSignIn,
  ): Promise<IssuedSession> {
    return this.database.transaction(async (transaction) => {
      const issued = await checked.begin(proof, transaction);
      if (isPending(issued))
        throw new TypeError('a session of an account with a second factor cannot be taken over');
      const { token, remembered } = issued;
      const sealedToken = sealsToken
        ? this.box.seal(JSON.stringify({ token, remembered }), contextOfOld(oldHash))
        : null;
      const row = { tokenHash: digestToken(token), sealedToken, ...link?.(issued) };
      if (former) await this.#table.delete({ oldHash, sessionId: former.sessionId }, transaction);
      await this.#table.insert(
        this.#table.complete({ oldHash, ...row, ...this.#times(endsAt, storedUntil) }),
        transaction,
      );
      return issued;
    });
  }

  /** Whether this process knows that a previous session is no longer valid. */
  isRetired(oldHash: Buffer): boolean {
    return this.#retired.has(oldHash.toString('hex'));
  }

  /**
   * Invalidates a previous session.
   *
   * @param row the result of {@link find}
   * @param storedUntil the time until which a new row is kept
   * @returns the session that the old cookie authenticated, which the caller must revoke
   */
  async retire(
    oldHash: Buffer,
    row: TakenOverSession | null,
    storedUntil?: Date,
  ): Promise<SessionWithUser | null> {
    await this.database.ready();
    const found = row ? await this.#retireRow(row) : await this.#insertRetired(oldHash, storedUntil);
    if (this.#retired.size >= MAX_RETIRED) this.#retired.clear();
    this.#retired.add(oldHash.toString('hex'));
    return found;
  }

  /** Deletes the rows of sessions that expired long ago in the previous system. */
  get expired(): Chore {
    return new ExpiredRows(this.database, this.#table.name, 'old_hash', { expires_at: 0 });
  }

  /**
   * Re-encrypts the tokens that no browser has sent yet, and the ids of sessions that continue in the previous system.
   */
  get sealed(): Chore {
    return new SealedRows(this.#table, this.box, ['sealedToken', 'sealedId'], ({ oldHash }) =>
      contextOfOld(oldHash),
    );
  }

  async #retireRow(row: TakenOverSession): Promise<SessionWithUser | null> {
    const { oldHash, tokenHash } = row;
    const found = await this.resume(row);
    if (row.usedAt !== null && row.sessionId === null) return found;
    const usedAt = this.database.clock.date();
    const changes = { usedAt, sealedToken: null, ...UNLINKED };
    if ((await this.#table.update(changes, { oldHash, tokenHash })) > 0) return found;
    // Another request has replaced a lapsed session with a new one.
    const other = await this.find(oldHash);
    const isNew = other !== null && !sameHash(other.tokenHash, tokenHash);
    return isNew ? this.#retireRow(other) : found;
  }

  async #insertRetired(oldHash: Buffer, storedUntil: Date | undefined): Promise<SessionWithUser | null> {
    const usedAt = this.database.clock.date();
    try {
      await this.#table.insert(this.#table.complete({ oldHash, usedAt, ...this.#times(null, storedUntil) }));
      return null;
    } catch (error) {
      if (!violatedUnique(error)) throw error;
      // Another request has taken it over in the meantime.
      const row = await this.find(oldHash);
      const found = row && (await this.resume(row));
      await this.#table.update({ usedAt, tokenHash: null, sealedToken: null, ...UNLINKED }, { oldHash });
      return found;
    }
  }

  /** Reads committed rows, because a transaction of the app might not see the writes of others in the meantime. */
  #now<T>(read: () => Promise<T>): Promise<T> {
    return this.database.isJoined ? this.database.share(read) : read();
  }

  #times(endsAt: Date | null, storedUntil?: Date): Pick<TakenOverSession, 'createdAt' | 'expiresAt'> {
    const createdAt = this.database.clock.date();
    if (storedUntil) return { createdAt, expiresAt: storedUntil };
    const end = Math.max(endsAt?.getTime() ?? 0, createdAt.getTime());
    return { createdAt, expiresAt: new Date(end + ROW_MS) };
  }
}

function sameHash(one: Buffer | null, other: Buffer | null): boolean {
  return one === null || other === null ? one === other : one.equals(other);
}

/** The columns of a row whose previous session has ended. */
const UNLINKED: Link = { sessionId: null, authEpoch: null, sealedId: null };
