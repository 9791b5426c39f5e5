import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import type { Chore } from '../../database/chore.js';
import { ExpiredRows } from '../../database/chores.js';
import type { Table } from '../../tables/table.js';
import { totpEnrolmentsTable } from './model.js';

const LIFETIME_MS = 10 * 60 * 1000;

/** Secrets that are not confirmed yet. They gate nothing, and stand beside a confirmed one. */
export class Enrolments {
  readonly #core: Core;
  readonly #table: Table<typeof totpEnrolmentsTable.columns>;

  constructor(core: Core) {
    this.#core = core;
    this.#table = core.table(totpEnrolmentsTable);
  }

  /** Begins one, in place of the session's earlier one. The user's row is locked. */
  async begin(userId: string, sessionId: string, secret: string, transaction: Transaction): Promise<void> {
    const { box, database } = this.#core;
    await this.#table.delete({ sessionId }, transaction);
    const sealed = box.seal(secret, contextOf(userId, sessionId));
    const expiresAt = database.clock.date(LIFETIME_MS);
    await this.#table.insert({ sessionId, userId, secret: sealed, expiresAt }, transaction);
  }

  /** The secret of a session's enrolment, in base32. Null if there is none, or none any more. */
  async find(userId: string, sessionId: string): Promise<string | null> {
    const [row] = await this.#table
      .whole('e')
      .select('WHERE e.session_id = :sessionId AND e.user_id = :userId', { sessionId, userId });
    if (!row || this.#core.database.clock.hasPassed(row.expiresAt)) return null;
    return this.#core.box.open(row.secret, contextOf(userId, sessionId));
  }

  /** Ends it. Of several concurrent calls, one succeeds. @returns whether this one did */
  async take(sessionId: string, transaction: Transaction): Promise<boolean> {
    return (await this.#table.delete({ sessionId }, transaction)) > 0;
  }

  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId }, transaction);
  }

  get expired(): Chore {
    return new ExpiredRows(this.#core.database, this.#table.name, 'session_id', { expires_at: 0 });
  }
}

function contextOf(userId: string, sessionId: string): string {
  return `totp enrolment ${userId} ${sessionId}`;
}
