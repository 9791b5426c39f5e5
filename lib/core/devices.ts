import type { Transaction } from 'sequelize';
import type { CallContext, PlainRequest } from '../context/call.js';
import { createToken, digestToken, isWellFormedToken } from '../crypto/token.js';
import { uuidv7 } from '../crypto/uuid.js';
import type { Database } from '../database/database.js';
import { isForeignKeyViolation, isRetryable, violatedUnique } from '../database/faults.js';
import type { Logger } from '../logger.js';
import type { User } from '../models/user.js';
import type { DeviceRows } from './device-rows.js';
import { newDeviceNotice } from './notice-texts.js';
import type { Notices } from './notices.js';

/** The prefix of the tokens in device cookies. */
const PREFIX = 'lkd_';

/**
 * Devices: browsers in which accounts have signed in. A browser has one token, in a cookie, and each account that has
 * signed in there has a row with the token's hash. A device authenticates nobody. It separates its owner's wrong
 * passwords from those of strangers, who could otherwise hold up the owner with theirs; a sign-in without one is told to
 * the owner; and beside an emailed link it proves who undoes a change.
 *
 * A device that is forgotten is as good as unknown, but stays for a while, since it proves what it did before.
 */
export class Devices {
  /** @param tokensOf the distinct device tokens that a request carries, valid or not */
  constructor(
    private readonly database: Database,
    private readonly rows: DeviceRows,
    private readonly context: CallContext,
    private readonly notices: Pick<Notices, 'unrecorded' | 'tell'>,
    private readonly logger: Logger,
    private readonly tokensOf: (request: PlainRequest) => readonly string[],
  ) {}

  /**
   * The id of the device that the current request comes from, if the user has signed in there. Sends no statement for a
   * request without a well-formed device cookie.
   *
   * @param userId null for an account that does not exist
   */
  async find(userId: string | null): Promise<string | null> {
    const hash = this.#carriedHash();
    return hash ? this.rows.find(hash, userId) : null;
  }

  /**
   * Whether the current request comes from a device that the account knew at a time, even if it has been forgotten since.
   * The device of a sign-in at that very time does not count.
   */
  async knewAt(userId: string, time: Date, transaction?: Transaction): Promise<boolean> {
    const hash = this.#carriedHash();
    return hash ? this.rows.wasKnown(hash, userId, time, transaction) : false;
  }

  /** Forgets all devices of an account, except that of the current request. */
  forgetOthers(userId: string, transaction: Transaction): Promise<void> {
    return this.rows.forget(userId, this.#carriedHash(), transaction);
  }

  /** Forgets all devices of an account, since its sign-ins may not have been its owner's. */
  forgetAll(userId: string, transaction: Transaction): Promise<void> {
    return this.rows.forget(userId, null, transaction);
  }

  /** Ends the links of the notices of new devices. */
  endUndo(userId: string, transaction: Transaction): Promise<void> {
    return this.rows.endUndo(userId, null, transaction);
  }

  /**
   * Forgets the devices of an account after an undo, and ends the links about those that came since what was undone.
   *
   * @param exceptOwn whether the account keeps that of the current request
   */
  async forgetAfterUndo(
    userId: string,
    since: Date,
    exceptOwn: boolean,
    transaction: Transaction,
  ): Promise<void> {
    await this.rows.forget(userId, exceptOwn ? this.#carriedHash() : null, transaction);
    await this.rows.endUndo(userId, since, transaction);
  }

  /**
   * Records that a user has just signed in from the device of the current request, and tells them if it is a new one. A
   * failure is logged, and does not fail the sign-in.
   *
   * @returns the value for the browser's device cookie; null for a call without a request
   */
  async remember(user: User, sessionId: string): Promise<string | null> {
    if (this.context.client.request === null) return null;
    try {
      return await this.#remember(user, sessionId);
    } catch (error) {
      // The database may have rolled back the app's transaction, and its other writes with it.
      if (this.database.isJoined && isRetryable(error)) throw error;
      this.logger.warn('latchkey: the device of a sign-in could not be saved', error);
      return null;
    }
  }

  /** Deletes those that can prove nothing any more. @returns their number */
  prune(): Promise<number> {
    return this.rows.prune();
  }

  async #remember(user: User, sessionId: string): Promise<string | null> {
    const now = this.database.clock.date();
    const carried = this.#carriedToken();
    const hash = this.#carriedHash();
    if (hash && (await this.rows.renew(hash, user.id, now))) return carried;
    // A token that nobody has signed in with was not issued here: someone may have planted it to recognize the browser. And
    // a device that this account has forgotten does not come back.
    const isKnown = hash && (await this.rows.isOfAny(hash, user.id));
    const token = carried && isKnown ? carried : createToken(PREFIX);
    return this.#add(user, sessionId, token, now);
  }

  async #add(user: User, sessionId: string, token: string, now: Date): Promise<string | null> {
    const notice = this.notices.unrecorded(newDeviceNotice, user);
    const userId = user.id;
    const id = uuidv7(now.getTime());
    const undoTokenHash = notice?.token ? digestToken(notice.token) : null;
    const times = { createdAt: now, lastUsedAt: now };
    try {
      await this.rows.insert({ id, userId, tokenHash: digestToken(token), ...times, undoTokenHash });
    } catch (error) {
      // Recorded by a concurrent sign-in in this browser; or the user has just been deleted.
      if (violatedUnique(error) || isForeignKeyViolation(error)) return token;
      throw error;
    }
    const { devices, isOpen, hasEarlier } = await this.rows.after(userId, sessionId);
    if (!isOpen) {
      // What ended the session, such as a new password, has perhaps forgotten the account's devices before this one.
      await this.rows.delete(id);
      return null;
    }
    await this.rows.tidy(devices);
    // Never for the first session. Ids begin with the time, so of several first ones at once, the earliest is the first.
    if (hasEarlier || devices.some((device) => device.id < sessionId)) await this.notices.tell(notice);
    return token;
  }

  #carriedHash(): Buffer | null {
    const token = this.#carriedToken();
    return token === null ? null : digestToken(token);
  }

  /** The device token of the current request. Null if it carries none, a malformed one, or different ones. */
  #carriedToken(): string | null {
    const { request } = this.context.client;
    const [token, ...others] = request ? this.tokensOf(request) : [];
    return others.length === 0 && isWellFormedToken(PREFIX, token) ? token : null;
  }
}
