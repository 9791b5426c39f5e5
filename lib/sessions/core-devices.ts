import type { Transaction } from 'sequelize';
import type { CallContext, PlainRequest } from '../context/call.js';
import { createToken, digestToken, isWellFormedToken } from '../crypto/token.js';
import { uuidv7 } from '../crypto/uuid.js';
import type { Chore } from '../database/chore.js';
import type { Database } from '../database/database.js';
import { newDeviceNotice } from '../notices/notice-texts.js';
import type { Notices } from '../notices/notices.js';
import type { User } from '../tables/user.js';
import type { DeviceRows, KnownDevices } from './devices.js';

/** The prefix of the tokens in device cookies. */
const PREFIX = 'lkd_';

/** What is known of the device of a sign-in. */
export interface Recognized {
  /** The value of its cookie. Null if it is new, or there is no request. */
  readonly cookie: string | null;
  /** Whether the user has not signed in there before. */
  readonly isNew: boolean;
}

// No session has this id.
const NOT_YET = '00000000-0000-0000-0000-000000000000';

/** For a sign-in without a browser. */
export const NO_DEVICE: Recognized = { cookie: null, isNew: false };

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

  /** Finds out whether a user who signs in knows the device of the current request, and renews it. */
  async recognize(user: User): Promise<Recognized> {
    if (this.context.client.request === null) return NO_DEVICE;
    const hash = this.#carriedHash();
    const isKnown = hash && (await this.rows.renew(hash, user.id));
    return isKnown ? { cookie: this.#carriedToken(), isNew: false } : { cookie: null, isNew: true };
  }

  /**
   * Locks a user, and reads what decides about a new device. Null if there is no such user.
   *
   * @param sessionId the session that the user has there, if it exists already
   */
  lock(userId: string, sessionId: string | null, transaction: Transaction): Promise<KnownDevices | null> {
    return this.rows.lock(userId, sessionId ?? NOT_YET, transaction);
  }

  /**
   * Adds the device of the current request, in which a user has just signed in for the first time, and tells them of it.
   *
   * @param known what {@link lock} has returned
   * @returns the value for the browser's device cookie
   */
  async add(user: User, known: KnownDevices, transaction: Transaction): Promise<string> {
    const now = this.database.clock.date();
    const token = await this.#tokenFor(user.id, transaction);
    const notice = this.notices.unrecorded(newDeviceNotice, user);
    const undoTokenHash = notice?.token ? digestToken(notice.token) : null;
    const times = { createdAt: now, lastUsedAt: now };
    const row = { id: uuidv7(now.getTime()), userId: user.id, tokenHash: digestToken(token), ...times };
    // Or another sign-in in this browser has just added it.
    if (!(await this.rows.add({ ...row, undoTokenHash }, transaction))) return token;
    await this.rows.tidy(known.devices, transaction);
    // Never for the first session.
    if (known.hasOther || known.devices.length > 0) await this.notices.tell(notice, transaction);
    return token;
  }

  /** Those that can prove nothing any more. */
  get expired(): Chore {
    return this.rows.old;
  }

  /**
   * The token of a device that is new to a user. One that nobody has signed in with was not issued here: someone may have
   * planted it to recognize the browser. And a device that this account has forgotten does not come back.
   */
  async #tokenFor(userId: string, transaction: Transaction): Promise<string> {
    const carried = this.#carriedToken();
    const isKept = carried && (await this.rows.isOfAny(digestToken(carried), userId, transaction));
    return isKept ? carried : createToken(PREFIX);
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
