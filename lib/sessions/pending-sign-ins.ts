import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import type { CallContext } from '../context/call.js';
import { createToken, digestInHex, digestToken, isWellFormedToken } from '../crypto/token.js';
import { type Chore, ExpiredRows } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { storable } from '../database/literal.js';
import type { Replacements } from '../database/statements.js';
import { AuthError } from '../errors.js';
import type { RowOf } from '../tables/column.js';
import { type SignInStep, unfinishedSignIns } from '../tables/core.js';
import { type Selection, Table } from '../tables/table.js';
import type { UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import { cookieValues } from './carriers.js';
import type { CodeTries } from './code-tries.js';
import { MAX_IP, MAX_USER_AGENT } from './signed-in.js';

const PREFIX = 'lkp_';
const LIFETIME_MS = 10 * 60 * 1000;
const MAX_RESENDS = 3;

/** A sign-in that a further step must complete. */
export interface NewPendingSignIn {
  readonly record: Pick<UserRecord, 'user' | 'account'>;
  /** The user's epoch when they authenticated. */
  readonly authEpoch: number;
  /** How they authenticated. */
  readonly amr: readonly string[];
  readonly remembered: boolean;
  /** The counter of failures that the completed sign-in clears. Null if there is no counter. */
  readonly attempts: string | null;
  /** What it waits for. */
  readonly step: SignInStep;
  /** The salt of the emailed code. @default none */
  readonly salt?: Buffer;
  /** The address whose mailbox the completed sign-in proves. @default none */
  readonly provesEmail?: string | null;
  /** Whether it began in a browser of the account. Only with `provesEmail`. */
  readonly isOwn?: boolean | null;
}

/** A plugin that gives browsers the cookie of pending sign-ins too. */
export interface UsesPendingCookie {
  /** Ends what a token in that cookie identifies, because the browser signs out. */
  abandonPending?(tokenHash: Buffer): Promise<void>;
}

/** What is read in the same statement as a pending sign-in, so that its completion costs no statement of its own. */
export interface JoinedPart {
  readonly columns: string;
  /** The SQL after the join with users, whose alias is `u`. */
  readonly join: string;
  readonly values?: Replacements;
}

/** A pending sign-in and its user. */
export interface FoundPending {
  readonly token: string;
  readonly row: RowOf<typeof unfinishedSignIns.columns>;
  readonly record: UserRecord;
  /** The row of the result, for the reader of the {@link JoinedPart}. */
  readonly raw: object;
}

/** What {@link PendingSignIns} need. */
interface PendingSignInsNeeds {
  readonly database: Database;
  readonly context: CallContext;
  readonly settings: Settings;
  readonly users: Users;
  readonly codeTries: CodeTries;
  readonly contributions: readonly UsesPendingCookie[];
}

/** Sign-ins that wait for a further step. Each is for one user, and can be completed once. */
export class PendingSignIns {
  readonly #table: Table<typeof unfinishedSignIns.columns>;
  readonly #row: Selection<FoundPending['row']>;

  constructor(private readonly core: PendingSignInsNeeds) {
    this.#table = new Table(core.database, unfinishedSignIns);
    this.#row = this.#table.whole('p');
  }

  /** @returns the token, and when it expires */
  async begin(
    { record, ...columns }: NewPendingSignIn,
    transaction?: Transaction,
  ): Promise<{ readonly pendingToken: string; readonly expiresAt: Date }> {
    const pendingToken = this.newToken();
    await this.core.database.ready();
    const expiresAt = this.core.database.clock.date(LIFETIME_MS);
    const { ip = null, userAgent } = this.core.context.client;
    await this.#table.insert(
      {
        ...columns,
        hash: digestToken(pendingToken),
        userId: record.user.id,
        ipAddress: storable(ip, MAX_IP),
        userAgent: storable(userAgent, MAX_USER_AGENT),
        tries: 0,
        resends: 0,
        expiresAt,
      },
      transaction,
    );
    return { pendingToken, expiresAt };
  }

  /** Creates a token that is in the form of those of pending sign-ins. */
  newToken(): string {
    return createToken(PREFIX);
  }

  /** Returns the token that the cookie of the current request contains. Null if there is none, or different ones. */
  get presentedToken(): string | null {
    const [token, ...others] = this.#presented();
    return others.length === 0 && isWellFormedToken(PREFIX, token) ? token : null;
  }

  /**
   * Returns the token of the pending sign-in, from the cookie of the current request or from `given`.
   *
   * @throws AuthError `sign_in_expired` if there is no token, or if there are different ones
   */
  tokenOf(given: string | undefined): string {
    const tokens = new Set([...(given === undefined ? [] : [given]), ...this.#presented()]);
    const [token] = tokens;
    if (tokens.size !== 1 || !isWellFormedToken(PREFIX, token)) throw new AuthError('sign_in_expired');
    return token;
  }

  /**
   * Finds a pending sign-in with its user, in one statement.
   *
   * @param joined what else to read
   * @throws AuthError `sign_in_expired` if the token is unknown, was used or has expired, or if the user's sessions
   *   have been revoked
   */
  async find(token: string, joined?: JoinedPart): Promise<FoundPending> {
    const { database, users } = this.core;
    const { selection } = users;
    await selection.ready?.();
    const [raw] = await database.select<{ db_now: number }>(
      `SELECT ${selection.columns}, ${this.#row.columns}, ${joined ? `${joined.columns},` : ''}
         ${database.nowSql} AS db_now
       FROM ${selection.from}
       JOIN ${this.#row.from} ON p.user_id = u.id AND p.auth_epoch = u.auth_epoch
       ${joined?.join ?? ''}
       WHERE p.token_hash = :hash`,
      { hash: digestToken(token), ...joined?.values },
    );
    if (!raw) throw new AuthError('sign_in_expired');
    database.clock.observe(raw.db_now);
    const row = this.#row.read(raw);
    if (database.clock.hasPassed(row.expiresAt)) throw new AuthError('sign_in_expired');
    return { token, row, record: users.read(raw), raw };
  }

  /** Consumes a pending sign-in. Only one of several concurrent calls succeeds. @returns whether this one did */
  async use({ token }: FoundPending, transaction: Transaction): Promise<boolean> {
    return (await this.#table.delete({ hash: digestToken(token) }, transaction)) > 0;
  }

  /** Counts an emailed code before it is compared. @returns false if there were too many */
  countTry(found: FoundPending): Promise<boolean> {
    return this.core.codeTries.count(this.#table, withTries(found));
  }

  /** Ends a pending sign-in after a wrong code, if it was the last one allowed. @returns whether it ended */
  endAfterTries(found: FoundPending): Promise<boolean> {
    return this.core.codeTries.endAfterLast(this.#table, withTries(found));
  }

  /** Counts that the code is emailed again. @returns false if that was done too often */
  async countResend({ token }: FoundPending, transaction: Transaction): Promise<boolean> {
    const sql = `UPDATE ${this.#table.name} SET resends = resends + 1
      WHERE token_hash = :hash AND resends < ${MAX_RESENDS}`;
    return (await this.core.database.change(sql, { hash: digestToken(token) }, { transaction })) > 0;
  }

  /** Returns when a sign-in began to wait. */
  beganAt({ row }: FoundPending): Date {
    return new Date(row.expiresAt.getTime() - LIFETIME_MS);
  }

  /**
   * Returns the user for whom the current request has entered the right password, and waits for an emailed code. Null if
   * there is none. Sends no statement for a request without a pending sign-in.
   */
  async waitingForCode(): Promise<string | null> {
    const [token, ...others] = this.#presented();
    if (others.length > 0 || !isWellFormedToken(PREFIX, token)) return null;
    await this.core.database.ready();
    const [row] = await this.#row.select(
      "WHERE p.token_hash = :hash AND p.step = 'email_code' AND p.expires_at > :now",
      { hash: digestToken(token), now: this.core.database.clock.date() },
    );
    return row?.userId ?? null;
  }

  /** Deletes the pending sign-ins whose tokens the current request presents, because its browser signs out. */
  async abandon(): Promise<void> {
    for (const token of this.#presented()) {
      if (!isWellFormedToken(PREFIX, token)) continue;
      const hash = digestToken(token);
      await this.#table.delete({ hash });
      for (const plugin of this.core.contributions) await plugin.abandonPending?.(hash);
    }
  }

  /** Ends the pending sign-ins of a user, whose row is locked. */
  async endAll(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId }, transaction);
  }

  get expired(): Chore {
    return new ExpiredRows(this.core.database, this.#table.name, 'token_hash', { expires_at: 0 });
  }

  #presented(): string[] {
    const { request } = this.core.context.client;
    // A browser presents few of these cookies, but another subdomain can set many.
    return cookieValues(request?.headers.cookie, this.core.settings.pendingCookie.name).slice(0, 2);
  }
}

function withTries({ token, row: { tries } }: FoundPending) {
  return { hash: digestToken(token), tries };
}

/** Identifies a pending sign-in to the plugins that create challenges for it, without revealing its token. */
export function challengerOf(token: string): string {
  return digestInHex(token);
}
