import { randomBytes } from 'node:crypto';
import type { Transaction } from 'sequelize';
import type { EmailedCodes } from '../crypto/emailed-codes.js';
import { nameOf } from '../crypto/emailed-codes.js';
import {
  type CodePurpose,
  type CodeRequestColumns,
  type CodeRequestRow,
  codeRequestsTable,
} from '../tables/code-requests.js';
import type { Digest } from '../tables/column.js';
import type { Users } from '../users/users.js';
import { EmailedRequests } from './emailed-requests.js';
import type { WaitingNeeds } from './waiting.js';

/** The emails that contain codes instead of links. */
export interface CodeRequestSettings {
  /** Whether users choose a new password with a code. */
  readonly resets: boolean;
}

/** What {@link CodeRequests} need. */
interface CodeRequestsNeeds extends WaitingNeeds {
  readonly codes: EmailedCodes;
  readonly users: Pick<Users, 'selection'>;
}

/** The table of requests for a code that proves access to a mailbox, other than for a sign-in. */
export class CodeRequests extends EmailedRequests<CodeRequestColumns> {
  constructor(
    private readonly core: CodeRequestsNeeds,
    private readonly options: CodeRequestSettings,
  ) {
    super(core, codeRequestsTable);
  }

  /** Whether users choose a new password with a code. */
  get resets(): boolean {
    return this.options.resets;
  }

  /** How long a code is valid. */
  get lifetimeMs(): number {
    return codeRequestsTable.waiting.lifetimeMs as number;
  }

  /** Returns a new request. @param verifies the account whose address the code verifies */
  newRow(
    purpose: CodePurpose,
    email: string,
    browserHash: Digest,
    verifies: string | null = null,
  ): CodeRequestRow {
    const expiresAt = this.database.clock.date(this.lifetimeMs);
    const counted = { generation: 0, mails: 0, resends: 0, tries: 0 };
    return {
      hash: randomBytes(32),
      purpose,
      email,
      browserHash,
      verifies,
      sentAt: null,
      ...counted,
      expiresAt,
    };
  }

  /** Finds a request of a browser that has not expired. */
  async current(purpose: CodePurpose, browserHash: Digest): Promise<CodeRequestRow | null> {
    const row = await this.ofBrowser(browserHash);
    return row?.purpose === purpose && !this.hasExpired(row) ? row : null;
  }

  codeFor(row: CodeRequestRow): string {
    return this.core.codes.codeFor(codeName(row));
  }

  /** Whether what a person has typed is the code of a request, and was mailed. */
  isCode(typed: string, row: CodeRequestRow): boolean {
    return this.core.codes.matches(typed, codeName(row)) && row.sentAt !== null;
  }

  /** Consumes a request whose code still counts. @returns whether this call did */
  async use({ hash }: CodeRequestRow, transaction: Transaction): Promise<boolean> {
    const sql = `DELETE FROM ${this.table.name} WHERE hash = :hash AND sent_at IS NOT NULL AND expires_at > :now`;
    const values = { hash, now: this.database.clock.date() };
    return (await this.database.change(sql, values, { transaction })) > 0;
  }

  /**
   * Invalidates the codes for the address of a user, who is locked. The requests stay, because the people who sent them
   * must not learn about the account. A request that is repeated gets another code, because someone might have read the
   * one before.
   *
   * @param purpose all of them by default
   */
  async endFor(userId: string, transaction: Transaction, purpose?: CodePurpose): Promise<void> {
    const sql = `UPDATE ${this.table.name} SET sent_at = NULL, generation = generation + 1
      WHERE email = (SELECT u.email FROM ${this.core.users.selection.from} WHERE u.id = :userId)
      ${purpose ? 'AND purpose = :purpose' : ''}`;
    await this.database.change(sql, { userId, ...(purpose && { purpose }) }, { transaction });
  }
}

function codeName({ purpose, browserHash, hash, generation, email }: CodeRequestRow): string {
  const parts = [purpose, browserHash.toString('hex'), hash.toString('hex'), `${generation}`, email];
  return nameOf(parts, null);
}
