import type { Transaction } from 'sequelize';
import { digestToken } from '../crypto/token.js';
import type { Column, Digest, RowOf } from '../tables/column.js';
import type { InBrowsers } from '../tables/waiting.js';
import { WaitingInBrowsers } from './waiting.js';

const MAX_RESENDS = 3;
/** The remaining lifetime that a code must have to be emailed again. */
const AGAIN_MS = 2 * 60 * 1000;

/** The columns of a request for a code. */
interface Requested extends InBrowsers {
  readonly email: Column<string>;
  readonly sentAt: Column<Date | null>;
  readonly mails: Column<number>;
  readonly resends: Column<number>;
  readonly tries: Column<number>;
  readonly expiresAt: Column<Date>;
}

/** The part of a request that all tables of them have. */
interface RequestRow {
  readonly browserHash: Digest;
  readonly email: string;
  readonly sentAt: Date | null;
  readonly tries: number;
  readonly expiresAt: Date;
}

type RowIn<C extends Requested> = RowOf<C> & RequestRow;

/** The tokens with which browsers find their requests: see `BrowserTokens`. */
interface TokensOfBrowsers {
  /** The token that the current request presents. Null if there is none, or different ones. */
  readonly presentedToken: string | null;
  /** Whether the current request presents a token. */
  readonly isPresented: boolean;
  newToken(): string;
}

/** A request for a code. */
interface Asked<Row> {
  /** The address, in canonical form. */
  readonly email: string;
  /** Whether the former request of the browser asked for the same in other respects too. @default true */
  isSame?(former: Row): boolean;
  /** Creates a new request. */
  newRow(browserHash: Digest): Row;
  /**
   * Emails the code of a request, new or former, in the same transaction.
   *
   * @param isAgain whether it was emailed before
   */
  mail(row: Row, transaction: Transaction | undefined, isAgain: boolean): Promise<void>;
}

/** A request that waits for its code. */
export interface Awaited {
  /** The token that identifies the request, for the browser only. */
  readonly pendingToken: string;
  readonly expiresAt: Date;
}

/**
 * Requests of browsers for a code that is emailed to an address. They read no account, so that nothing about a request
 * reveals whether one has the address. A browser has one request of each kind.
 */
export class EmailedRequests<C extends Requested> extends WaitingInBrowsers<C> {
  /** Finds the request of a browser, which can have expired. */
  async ofBrowser(browserHash: Digest, transaction?: Transaction): Promise<RowOf<C> | null> {
    const where = 'WHERE w.browser_hash = :browserHash';
    const [row] = await this.row.select(where, { browserHash }, transaction);
    return row ?? null;
  }

  /** Whether a code of a request can still be right: it has neither expired nor been used nor tried too often. */
  async hasCode(browserHash: Digest): Promise<boolean> {
    const row = (await this.ofBrowser(browserHash)) as RowIn<C> | null;
    return row !== null && !this.hasExpired(row) && this.hasTries(row);
  }

  /** Whether the code that the current browser has asked for can no longer be right. False if it is not known which one that is. */
  async isOverIn({ presentedToken, isPresented }: TokensOfBrowsers): Promise<boolean> {
    if (presentedToken === null) return !isPresented;
    return !(await this.hasCode(digestToken(presentedToken)));
  }

  /**
   * Starts the request of the current browser, or emails the code of the former one again. If the browser asks for
   * another address, this ends the request before.
   *
   * @param asked null for something that is not an address, which gets the same response
   * @param lifetimeMs how long a new request waits
   * @param within the transaction of what the request belongs to; null for none. By default, it has one of its own
   */
  async askInBrowser(
    tokens: TokensOfBrowsers,
    asked: Asked<RowIn<C>> | null,
    lifetimeMs: number,
    within?: Transaction | null,
  ): Promise<Awaited> {
    const { presentedToken } = tokens;
    const presented = presentedToken === null ? null : digestToken(presentedToken);
    if (asked === null) {
      if (presented) await this.end({ browserHash: presented } as Partial<RowOf<C>>);
      return { pendingToken: tokens.newToken(), expiresAt: this.database.clock.date(lifetimeMs) };
    }
    const former = presented && ((await this.ofBrowser(presented, within ?? undefined)) as RowIn<C> | null);
    if (presentedToken !== null && former && this.#canRepeat(former, asked)) {
      await this.#repeat(former, asked, within);
      return { pendingToken: presentedToken, expiresAt: former.expiresAt };
    }
    const pendingToken = tokens.newToken();
    const row = asked.newRow(digestToken(pendingToken));
    await this.#begin(former, row, asked, within);
    return { pendingToken, expiresAt: row.expiresAt };
  }

  /**
   * Starts the request of a session, or emails the code of the former one again.
   *
   * @param browserHash the session's, which is the hash of no token of a browser
   * @returns when the code expires
   */
  async askInSession(browserHash: Digest, asked: Asked<RowIn<C>>): Promise<Date> {
    const former = (await this.ofBrowser(browserHash)) as RowIn<C> | null;
    if (former && this.#canRepeat(former, asked)) {
      await this.#repeat(former, asked);
      return former.expiresAt;
    }
    const row = asked.newRow(browserHash);
    if (await this.#begin(former, row, asked)) return row.expiresAt;
    // A concurrent call has already emailed a code.
    const current = (await this.ofBrowser(browserHash)) as RowIn<C> | null;
    return current?.expiresAt ?? row.expiresAt;
  }

  /**
   * Records that the email of a request is being sent. The writes are the same whether or not the email contains the
   * code. A code is valid only once it has been sent.
   *
   * @returns whether the request has not ended
   */
  async mailed(browserHash: Digest, hasCode: boolean): Promise<boolean> {
    const { database } = this;
    await database.ready();
    const sql = `UPDATE ${this.table.name} SET mails = mails + 1, sent_at = ${hasCode ? ':now' : 'sent_at'}
      WHERE browser_hash = :browserHash AND expires_at > :now`;
    return (await database.change(sql, { browserHash, now: database.clock.date() })) > 0;
  }

  #canRepeat(former: RowIn<C>, { email, isSame }: Asked<RowIn<C>>): boolean {
    const leftMs = former.expiresAt.getTime() - this.database.clock.latest();
    if (former.email !== email || leftMs < AGAIN_MS || !this.hasTries(former)) return false;
    return isSame?.(former) ?? true;
  }

  async #repeat(former: RowIn<C>, { mail }: Asked<RowIn<C>>, within?: Transaction | null): Promise<void> {
    await this.#inOne(within, async (transaction) => {
      if (await this.countUp(former, 'resends', MAX_RESENDS, transaction))
        await mail(former, transaction, true);
    });
  }

  /** @returns whether this call did. Otherwise, a concurrent one of the same session has */
  #begin(
    former: RowIn<C> | null,
    row: RowIn<C>,
    { mail }: Asked<RowIn<C>>,
    within?: Transaction | null,
  ): Promise<boolean> {
    return this.#inOne(within, async (transaction) => {
      const isReplaced = former !== null && (await this.#replace(former, row, transaction));
      if (!isReplaced && !(await this.table.insertUnlessThere(row as never, transaction))) return false;
      await mail(row, transaction, false);
      return true;
    });
  }

  #inOne<T>(
    within: Transaction | null | undefined,
    work: (transaction: Transaction | undefined) => Promise<T>,
  ): Promise<T> {
    return within === undefined ? this.database.transaction(work) : work(within ?? undefined);
  }

  /** Replaces a request by another one. @returns whether it was still there */
  async #replace(former: RowIn<C>, row: RowIn<C>, transaction?: Transaction): Promise<boolean> {
    const where = { [this.key.attribute]: this.hashOf(former), browserHash: former.browserHash };
    return (await this.table.update(row as never, where as never, transaction)) > 0;
  }
}
