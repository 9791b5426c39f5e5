import type { Transaction } from 'sequelize';
import { withTimeout } from '../context/deadline.js';
import type { SecretBox } from '../crypto/secret-box.js';
import { digestToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import { violatedUnique } from '../database/faults.js';
import type { Degraded } from '../degraded.js';
import type { Log } from '../logger.js';
import type { RowOf } from '../tables/column.js';
import { type CarriedSessionColumns, carriedSessions, sessions } from '../tables/core.js';
import { Table } from '../tables/table.js';
import { performance } from '../timers.js';
import { isActive, type OldSession, type OldUser, type SessionBridge } from './bridge.js';

/** A session of a previous system that continues there, along with a session here. */
export interface LinkedSession {
  readonly bridge: SessionBridge;
  readonly oldHash: Buffer;
  /** The id of the session in the previous system. */
  readonly id: string;
  /** The previous system's user: see {@link identityOf}. */
  readonly user: string;
  /** When the session would expire, as of its last use. Null if only the browser decides. */
  readonly endsAt: Date | null;
  /** Whether the user has signed in here too, so that the session here was not taken over from this one. */
  readonly isAttached: boolean;
  /** Whether the browser has sent the cookie of the session here. */
  readonly isUsed: boolean;
}

/** The columns of a row that link it to a session here. */
export type Link = Pick<RowOf<CarriedSessionColumns>, 'sessionId' | 'authEpoch' | 'sealedId'>;

/** Rows are kept this much longer, because a request that the previous system still handles can prolong its session. */
export const ROW_MS = 365 * 24 * 60 * 60 * 1000;

/** The time limit for ending sessions in a previous system. */
const END_MS = 5000;
/** How long requests skip a previous system that could not be read. */
const PAUSE_MS = 5000;
/** A session must be prolonged by at least this time, so that not every request is recorded. */
const EXTENSION_MS = 60_000;

/** The encrypted data of a session. */
interface Sealed extends Pick<LinkedSession, 'id' | 'user'> {
  readonly endsAt: number | null;
}

/** Hashes the id of a previous system's session, because only the hash is stored. @param name the previous system */
export function hashOfOld(name: string, id: string): Buffer {
  return digestToken(`${name}\n${id}`);
}

/** Returns the context in which the columns of a row are encrypted. */
export function contextOfOld(oldHash: Buffer): string {
  return `carried session ${oldHash.toString('hex')}`;
}

/** Identifies the user of a previous system's session, so that a session that gets another user is noticed. */
export function identityOf({ id, ref, source, imported, email }: OldUser): string {
  const all = [id, ref, source, imported?.ref, email].map((one) => (one == null ? null : String(one)));
  return JSON.stringify(all);
}

/**
 * The sessions of previous systems that are still running (`keepOld`). Each is linked to the session here that its
 * browser has, so that a sign-out in one of the two systems ends both.
 */
export class LinkedSessions {
  readonly #table: Table<CarriedSessionColumns>;
  readonly #ending = new Set<Promise<void>>();
  readonly #pausedUntil = new WeakMap<SessionBridge, number>();

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly all: readonly SessionBridge[],
    private readonly log: Log,
    private readonly degraded: Degraded,
  ) {
    this.#table = new Table(database, carriedSessions);
    if (all.some(({ keepOld }) => keepOld)) database.context.allowWaiting();
  }

  /** The bridges whose sessions continue in the previous system. */
  get bridges(): readonly SessionBridge[] {
    return this.all.filter((one) => one.keepOld && isActive(one));
  }

  /**
   * Returns the previous systems' sessions that are linked to a session. Empty if the user's epoch was raised since
   * then.
   */
  async of(sessionId: string): Promise<LinkedSession[]> {
    const rest = `JOIN ${this.database.table(sessions.name)} s ON s.id = c.session_id AND s.auth_epoch = c.auth_epoch
      WHERE c.session_id = :sessionId`;
    return this.#read(await this.#table.whole('c').select(rest, { sessionId }));
  }

  /** Returns the columns that link a previous system's session to a session here. */
  link({ bridge, id }: OldInBridge, found: OldSession, sessionId: string, authEpoch: number): Link {
    const content = { id, user: identityOf(found.user), endsAt: found.endsAt?.getTime() ?? null };
    return { sessionId, authEpoch, sealedId: this.#seal(content, hashOfOld(bridge.name, id)) };
  }

  /**
   * Links a previous system's session that was not taken over to a session of the same user.
   *
   * @param replaces whether to replace an earlier link
   */
  async attach(old: OldInBridge, link: Link, replaces: boolean): Promise<void> {
    await this.database.ready();
    const { clock } = this.database;
    const oldHash = hashOfOld(old.bridge.name, old.id);
    const columns = { ...link, tokenHash: null, sealedToken: null, usedAt: clock.date() };
    const times = { createdAt: clock.date(), expiresAt: clock.date(ROW_MS) };
    try {
      await this.#table.insert({ oldHash, ...columns, ...times });
    } catch (error) {
      if (!violatedUnique(error)) throw error;
      if (replaces) await this.#table.update(columns, { oldHash });
    }
  }

  /** Records that the browser has sent the cookie of the session here, so that the old cookie alone is invalid. */
  async use({ oldHash, isUsed }: LinkedSession): Promise<void> {
    const usedAt = this.database.clock.date();
    if (!isUsed) await this.#table.update({ usedAt, sealedToken: null }, { oldHash });
  }

  /** Records when a session expires that was prolonged in the previous system. */
  async extend({ oldHash, id, user, endsAt: former }: LinkedSession, endsAt: Date | null): Promise<void> {
    if (former === null || endsAt === null || endsAt.getTime() - former.getTime() < EXTENSION_MS) return;
    const sealedId = this.#seal({ id, user, endsAt: endsAt.getTime() }, oldHash);
    await this.#table.update({ sealedId }, { oldHash });
  }

  /**
   * Forgets a session that has ended in the previous system, so that a later session with the same id is taken over.
   */
  async forget({ oldHash }: LinkedSession, sessionId: string, transaction?: Transaction): Promise<void> {
    await this.#table.delete({ oldHash, sessionId }, transaction);
  }

  /**
   * Forgets the previous systems' sessions that are linked to expired sessions, so that they can be taken over again.
   */
  async forgetBeside(ids: readonly string[]): Promise<void> {
    if (this.bridges.length === 0) return;
    await this.database.change(`DELETE FROM ${this.#table.name} WHERE session_id IN (:ids)`, { ids });
  }

  /** Whether a previous system could not be read a moment ago. */
  isPaused(bridge: SessionBridge): boolean {
    return performance.now() < (this.#pausedUntil.get(bridge) ?? 0);
  }

  /** Records whether a previous system could be read. */
  wasRead(bridge: SessionBridge, isRead: boolean): void {
    const name = `bridges.${bridge.name}`;
    if (isRead) {
      if (!this.#pausedUntil.delete(bridge)) return;
      this.degraded.remove(name);
    } else {
      this.#pausedUntil.set(bridge, performance.now() + PAUSE_MS);
      this.degraded.add(name);
    }
  }

  /**
   * Ends a user's sessions in the previous systems after the commit, if the app has provided a function for that.
   *
   * @param transaction the transaction that ends the user's sessions here
   */
  endAll(userId: string, transaction: Transaction | undefined): void {
    for (const { name, keepOld } of this.bridges) {
      const endAll = keepOld?.endAll;
      if (!endAll) continue;
      const message = `the sessions of user ${userId} in ${name} could not be ended, and continue there`;
      this.#afterwards(transaction, () =>
        this.#attempt(`bridges.${name}.endAll`, message, () => endAll(userId)),
      );
    }
  }

  /** Ends the previous systems' sessions that are linked to revoked sessions, after the commit. */
  async endOf(sessionIds: readonly string[], transaction: Transaction | undefined): Promise<void> {
    if (this.bridges.length === 0) return;
    const rows = await this.#table
      .whole('c')
      .select('WHERE c.session_id IN (:sessionIds)', { sessionIds }, transaction);
    for (const { bridge, id } of this.#read(rows))
      this.#afterwards(transaction, () => this.end({ bridge, id }));
  }

  /** Ends a session in a previous system. A failure there does not undo anything here. */
  end({ bridge, id }: OldInBridge): Promise<void> {
    const { name } = bridge;
    return this.#attempt(`bridges.${name}.end`, `a session of ${name} could not be ended there`, () =>
      bridge.end(id),
    );
  }

  /** Waits for the sessions that are being ended. */
  async settle(): Promise<void> {
    await Promise.all(this.#ending);
  }

  #afterwards(transaction: Transaction | undefined, end: () => Promise<void>): void {
    this.database.afterCommit(transaction, () => {
      const ending = end().finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
      this.database.context.waitFor(ending);
    });
  }

  async #attempt(name: string, message: string, act: () => unknown): Promise<void> {
    const late = () => new Error(`no response within ${END_MS / 1000} s`);
    try {
      await withTimeout(
        this.database.context.detached(async () => act()),
        END_MS,
        late,
      );
      this.degraded.remove(name);
    } catch (error) {
      this.degraded.add(name);
      this.log.error('bridge.kept_not_ended', message, { err: error });
    }
  }

  #read(rows: readonly RowOf<CarriedSessionColumns>[]): LinkedSession[] {
    return rows.flatMap(({ oldHash, sealedId, tokenHash, usedAt }) => {
      const opened = sealedId && this.box.open(sealedId, contextOfOld(oldHash));
      if (!opened) return [];
      const { id, user, endsAt } = JSON.parse(opened) as Sealed;
      const bridge = this.bridges.find(({ name }) => hashOfOld(name, id).equals(oldHash));
      if (!bridge) return [];
      const flags = { isAttached: tokenHash === null, isUsed: usedAt !== null };
      return [{ bridge, oldHash, id, user, endsAt: endsAt === null ? null : new Date(endsAt), ...flags }];
    });
  }

  #seal(content: Sealed, oldHash: Buffer): string {
    return this.box.seal(JSON.stringify(content), contextOfOld(oldHash));
  }
}

/** A session of a previous system, and the bridge to it. */
export interface OldInBridge {
  readonly bridge: SessionBridge;
  readonly id: string;
}
