import type { SecretBox } from '../crypto/secret-box.js';
import { digestToken } from '../crypto/token.js';
import type { Chore } from '../database/chores.js';
import { ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { violatedUnique } from '../database/faults.js';
import type { RowOf } from '../tables/column.js';
import { type CarriedSessionColumns, carriedSessions } from '../tables/core.js';
import { SealedRows } from '../tables/sealed-rows.js';
import { Table } from '../tables/table.js';
import { REPLACEMENT_MS, type Sessions, type SessionWithUser } from './sessions.js';
import type { CheckedSignIn, Proof } from './sign-in.js';
import { type IssuedSession, isPending } from './signed-in.js';

/** What has become of a session of an older system. */
export type CarriedSession = RowOf<CarriedSessionColumns>;

/** A session that an old cookie opens. */
export interface ResumedSession extends SessionWithUser {
  /** What the browser gets. Null once it has sent it. */
  readonly issued: Pick<IssuedSession, 'token' | 'remembered' | 'session'> | null;
}

// A request that the older system still handles may write its session again, and prolong it.
const KEPT_MS = 365 * 24 * 60 * 60 * 1000;
const MAX_RETIRED = 10_000;

/**
 * Sessions that have taken the place of an older system's. The unique row of the older one decides, so that requests at
 * once make one session. Until the browser has sent the new cookie, the old one opens that session, and no other: the
 * response with the new one may have been lost. Then it opens nothing.
 */
export class CarriedSessions {
  /** Those that this process knows to open nothing. Only a saving. */
  readonly #retired = new Set<string>();
  readonly #table: Table<CarriedSessionColumns>;

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly sessions: Pick<Sessions, 'find'>,
  ) {
    this.#table = new Table(database, carriedSessions);
  }

  /** @param name the older system @param id the id of its session, of which only a hash is stored */
  hash(name: string, id: string): Buffer {
    return digestToken(`${name}\n${id}`);
  }

  async find(oldHash: Buffer): Promise<CarriedSession | null> {
    const [row] = await this.#table.whole('c').select('WHERE c.old_hash = :oldHash', { oldHash });
    return row ?? null;
  }

  /** The session that an old cookie still opens; with its token, unless the browser has sent that. */
  async resume(row: CarriedSession): Promise<ResumedSession | null> {
    if (row.tokenHash === null) return null;
    if (row.usedAt !== null && this.database.clock.now() - row.usedAt.getTime() > REPLACEMENT_MS) return null;
    const found = await this.sessions.find(row.tokenHash);
    const sealed = row.sealedToken && this.box.open(row.sealedToken, contextOf(row.oldHash));
    return found && { ...found, issued: sealed ? { ...JSON.parse(sealed), session: found.session } : null };
  }

  /**
   * Begins the session that takes the place of an older one.
   *
   * @param endsAt when the older one would have ended
   * @throws UniqueConstraintError (Sequelize) if another request has done so
   */
  begin(
    oldHash: Buffer,
    endsAt: Date | null,
    proof: Pick<Proof, 'user' | 'authEpoch'>,
    checked: CheckedSignIn,
  ): Promise<IssuedSession> {
    return this.database.transaction(async (transaction) => {
      const issued = await checked.begin(proof, transaction);
      if (isPending(issued)) throw new TypeError('an account with a second factor is not carried over');
      const { token, remembered } = issued;
      const sealedToken = this.box.seal(JSON.stringify({ token, remembered }), contextOf(oldHash));
      const row = { tokenHash: digestToken(token), sealedToken };
      await this.#table.insert(
        this.#table.complete({ oldHash, ...row, ...this.#times(endsAt) }),
        transaction,
      );
      return issued;
    });
  }

  /** Whether an older session is known to open nothing any more. */
  isRetired(oldHash: Buffer): boolean {
    return this.#retired.has(oldHash.toString('hex'));
  }

  /** Lets an older session open nothing any more. @param row what {@link find} has found */
  async retire(oldHash: Buffer, row: CarriedSession | null): Promise<void> {
    await this.database.ready();
    const usedAt = this.database.clock.date();
    if (!row) await this.#insertRetired(oldHash, usedAt);
    else if (row.usedAt === null) await this.#table.update({ usedAt, sealedToken: null }, { oldHash });
    if (this.#retired.size >= MAX_RETIRED) this.#retired.clear();
    this.#retired.add(oldHash.toString('hex'));
  }

  /** Those that have long ended in the older system. */
  get expired(): Chore {
    return new ExpiredRows(this.database, this.#table.name, 'old_hash', { expires_at: 0 });
  }

  /** The tokens that no browser has sent yet. */
  get sealed(): Chore {
    return new SealedRows(this.#table, this.box, 'oldHash', ['sealedToken'], ({ oldHash }) =>
      contextOf(oldHash),
    );
  }

  async #insertRetired(oldHash: Buffer, usedAt: Date): Promise<void> {
    try {
      await this.#table.insert(this.#table.complete({ oldHash, usedAt, ...this.#times(null) }));
    } catch (error) {
      if (!violatedUnique(error)) throw error;
      await this.#table.update({ usedAt, sealedToken: null }, { oldHash });
    }
  }

  #times(endsAt: Date | null): Pick<CarriedSession, 'createdAt' | 'expiresAt'> {
    const createdAt = this.database.clock.date();
    const end = Math.max(endsAt?.getTime() ?? 0, createdAt.getTime());
    return { createdAt, expiresAt: new Date(end + KEPT_MS) };
  }
}

function contextOf(oldHash: Buffer): string {
  return `carried session ${oldHash.toString('hex')}`;
}
