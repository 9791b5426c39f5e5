import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import type { CallContext } from '../context/call.js';
import { digestToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import { storable } from '../database/literal.js';
import { AuthError } from '../errors.js';
import type { RowOf } from '../tables/column.js';
import { type SignInStep, unfinishedSignIns } from '../tables/core.js';
import type { UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import type { CodeTries } from '../waiting/code-tries.js';
import type { EmailedSignIns } from '../waiting/emailed-sign-ins.js';
import { type FoundWaiting, type JoinedColumns, WaitingOfUsers } from '../waiting/waiting.js';
import { BrowserTokens, onlyOne } from './browser-tokens.js';
import { MAX_IP, MAX_USER_AGENT } from './signed-in.js';

const PREFIX = 'lkp_';
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

/** A pending sign-in and its user. */
export type FoundPending = FoundWaiting<RowOf<typeof unfinishedSignIns.columns>>;

/** What {@link PendingSignIns} need. */
interface PendingSignInsNeeds {
  readonly database: Database;
  readonly context: CallContext;
  readonly settings: Settings;
  readonly users: Users;
  readonly codeTries: CodeTries;
  /** Null without a plugin for them. Their browsers have the cookie of pending sign-ins too. */
  readonly emailedSignIns: EmailedSignIns | null;
}

/** Sign-ins that wait for a further step. Each is for one user, and can be completed once. */
export class PendingSignIns {
  readonly rows: WaitingOfUsers<typeof unfinishedSignIns.columns>;
  /** The tokens in the cookie of browsers. */
  readonly tokens: BrowserTokens;

  constructor(private readonly core: PendingSignInsNeeds) {
    this.rows = new WaitingOfUsers(core, unfinishedSignIns);
    const { pendingCookie: cookie } = core.settings;
    this.tokens = new BrowserTokens(core, { cookie, prefix: PREFIX, expired: 'sign_in_expired' });
  }

  /** @returns the token, and when it expires */
  async begin(
    { record, ...columns }: NewPendingSignIn,
    transaction?: Transaction,
  ): Promise<{ readonly pendingToken: string; readonly expiresAt: Date }> {
    const pendingToken = this.tokens.newToken();
    const { ip = null, userAgent } = this.core.context.client;
    const row = {
      ...columns,
      hash: digestToken(pendingToken),
      userId: record.user.id,
      ipAddress: storable(ip, MAX_IP),
      userAgent: storable(userAgent, MAX_USER_AGENT),
      resends: 0,
      sentAt: null,
    };
    return { pendingToken, expiresAt: await this.rows.begin(row, transaction) };
  }

  /**
   * Finds the pending sign-in of the current request with its user, in one statement for each token.
   *
   * @param joined what else to read
   * @throws AuthError `sign_in_expired` if the token is unknown, was used or has expired, or if the user's sessions
   *   have been revoked
   */
  async find(given: string | undefined, joined?: JoinedColumns): Promise<FoundPending & WithToken> {
    const all = this.tokens.tokensOf(given).map(async (token) => {
      const found = await this.rows.find(digestToken(token), joined);
      return found && { ...found, token };
    });
    const found = onlyOne(await Promise.all(all));
    if (!found) throw new AuthError('sign_in_expired');
    return found;
  }

  /**
   * Consumes a pending sign-in, after its session was created in the same transaction. It does not check the epoch again,
   * because the session has the epoch of the row, and is invalid in any other.
   *
   * @returns whether this call consumed it. Only one of several concurrent calls does
   */
  use({ row: { hash } }: FoundPending, transaction: Transaction): Promise<boolean> {
    return this.rows.end({ hash }, transaction);
  }

  /** Deletes all of a user's sign-ins in progress. */
  async endAll(userId: string, transaction: Transaction): Promise<void> {
    await this.rows.end({ userId }, transaction);
  }

  /** Counts that the code is emailed again. @returns false if that was done too often */
  countResend({ row }: FoundPending, transaction: Transaction): Promise<boolean> {
    return this.rows.countUp(row, 'resends', MAX_RESENDS, transaction);
  }

  /** Records that the code is being emailed. A code is valid only once it has been sent. */
  async mailed(hash: Buffer): Promise<void> {
    const { database } = this.core;
    await database.ready();
    await this.rows.table.update({ sentAt: database.clock.date() }, { hash });
  }

  /**
   * Returns the user for whom the current request has entered the right password, and waits for an emailed code. Null if
   * there is none. Sends no statement for a request without a pending sign-in.
   */
  async waitingForCode(): Promise<string | null> {
    const token = this.tokens.presentedToken;
    const found = token === null ? null : await this.rows.find(digestToken(token));
    return found?.row.step === 'email_code' ? found.record.user.id : null;
  }

  /** Whether the current request presents the token with this hash. */
  isPresented(hash: Buffer): boolean {
    return this.tokens.presented.some((token) => digestToken(token).equals(hash));
  }

  /** Deletes the sign-ins whose tokens the current request presents, because its browser signs out. */
  async abandon(): Promise<void> {
    for (const token of this.tokens.presented) {
      const hash = digestToken(token);
      await this.rows.end({ hash });
      await this.core.emailedSignIns?.end({ browserHash: hash });
    }
  }
}

/** A row with its token. */
interface WithToken {
  readonly token: string;
}

/** Identifies a pending sign-in to the plugins that create challenges for it, without revealing its token. */
export function challengerOf({ row }: FoundPending): string {
  return row.hash.toString('hex');
}
