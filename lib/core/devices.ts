import type { CallContext, PlainRequest } from '../context/call.js';
import { createToken, digestToken, isWellFormedToken } from '../crypto/token.js';
import { uuidv7 } from '../crypto/uuid.js';
import type { Database } from '../database/database.js';
import { deleteInBatches } from '../database/delete-in-batches.js';
import { isForeignKeyViolation, isRetryable, violatedUnique } from '../database/faults.js';
import type { Logger } from '../logger.js';
import type { RowOf } from '../models/column.js';
import type { DeviceColumns } from '../models/device.js';
import type { Selection, Table } from '../models/table.js';

/** The prefix of the tokens in device cookies. */
const PREFIX = 'lkd_';

/** An account's devices beyond these are forgotten, starting with the one that was not used for the longest time. */
const MAX_PER_USER = 50;

/** A device is forgotten this many seconds after the last sign-in there. */
export const DEVICE_SECONDS = 90 * 24 * 60 * 60;

// No user has this id. Looked up in place of an account that does not exist, so that both send the same statement.
const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * Devices: browsers in which accounts have signed in. A browser has one token, in a cookie, and each account that has
 * signed in there has a row with the token's hash. A device authenticates nobody. It separates its owner's wrong
 * passwords from those of strangers, who could otherwise hold up the owner with theirs.
 */
export class Devices {
  readonly #device: Selection<RowOf<DeviceColumns>>;

  /** @param tokensOf the distinct device tokens that a request carries, valid or not */
  constructor(
    private readonly database: Database,
    private readonly table: Table<DeviceColumns>,
    private readonly context: CallContext,
    private readonly logger: Logger,
    private readonly tokensOf: (request: PlainRequest) => readonly string[],
  ) {
    this.#device = table.whole('d');
  }

  /**
   * The id of the device that the current request comes from, if the user has signed in there. Sends no statement for a
   * request without a well-formed device cookie.
   *
   * @param userId null for an account that does not exist
   */
  async find(userId: string | null): Promise<string | null> {
    const token = this.#carriedToken();
    if (token === null) return null;
    await this.database.ready();
    const device = await this.#find(token, 'AND d.user_id = :userId', userId ?? NOBODY);
    return device?.id ?? null;
  }

  /**
   * Records that a user has just signed in from the device of the current request. A failure is logged, and does not
   * fail the sign-in.
   *
   * @returns the value for the browser's device cookie; null for a call without a request
   */
  async remember(userId: string): Promise<string | null> {
    if (this.context.client.request === null) return null;
    try {
      return await this.#remember(userId);
    } catch (error) {
      // The database may have rolled back the app's transaction, and its other writes with it.
      if (this.database.isJoined && isRetryable(error)) throw error;
      this.logger.warn('latchkey: the device of a sign-in could not be saved', error);
      return null;
    }
  }

  /** Deletes devices that have not been used for 90 days. @returns their number */
  prune(): Promise<number> {
    const since = this.#since();
    return deleteInBatches(this.database, this.table.name, 'id', 'last_used_at <= :since', { since });
  }

  async #remember(userId: string): Promise<string> {
    const now = this.database.clock.date();
    const carried = this.#carriedToken();
    if (carried !== null && (await this.#renew(carried, userId, now))) return carried;
    // A token that nobody has signed in with was not issued here. Someone may have planted it to recognize the browser.
    const isKnown = carried !== null && (await this.#find(carried)) !== undefined;
    const token = isKnown ? carried : createToken(PREFIX);
    const id = uuidv7(now.getTime());
    try {
      await this.table.insert({ id, userId, tokenHash: digestToken(token), createdAt: now, lastUsedAt: now });
    } catch (error) {
      // Recorded by a concurrent sign-in in this browser; or the user has just been deleted.
      if (violatedUnique(error) || isForeignKeyViolation(error)) return token;
      throw error;
    }
    await this.#forgetOldest(userId);
    return token;
  }

  async #renew(token: string, userId: string, now: Date): Promise<boolean> {
    const renewed = await this.database.change(
      `UPDATE ${this.table.name} SET last_used_at = :now
       WHERE token_hash = :hash AND user_id = :userId AND last_used_at > :since`,
      { now, hash: digestToken(token), userId, since: this.#since() },
    );
    return renewed > 0;
  }

  async #forgetOldest(userId: string): Promise<void> {
    const surplus = await this.#device.select(
      `WHERE d.user_id = :userId ORDER BY d.last_used_at DESC, d.id DESC LIMIT 100 OFFSET ${MAX_PER_USER}`,
      { userId },
    );
    for (const { id } of surplus) await this.table.delete({ id });
  }

  async #find(token: string, condition = '', userId = ''): Promise<RowOf<DeviceColumns> | undefined> {
    const [device] = await this.#device.select(
      `WHERE d.token_hash = :hash AND d.last_used_at > :since ${condition} LIMIT 1`,
      { hash: digestToken(token), since: this.#since(), userId },
    );
    return device;
  }

  /** The device token of the current request. Null if it carries none, a malformed one, or different ones. */
  #carriedToken(): string | null {
    const { request } = this.context.client;
    const [token, ...others] = request ? this.tokensOf(request) : [];
    return others.length === 0 && isWellFormedToken(PREFIX, token) ? token : null;
  }

  #since(): Date {
    return this.database.clock.date(-DEVICE_SECONDS * 1000);
  }
}
