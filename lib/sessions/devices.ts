import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import { isOnlyOurs } from '../config/session.js';
import type { CallContext } from '../context/call.js';
import { createToken, digestToken, isWellFormedToken } from '../crypto/token.js';
import { isUuid, uuidv7 } from '../crypto/uuid.js';
import type { Chore } from '../database/chores.js';
import type { Database } from '../database/database.js';
import { declareProblems } from '../errors.js';
import { deviceNameOf } from '../mail/messages.js';
import { declareNotices } from '../mail/notice-kinds.js';
import type { Notices } from '../notices/notices.js';
import { CORE } from '../owners.js';
import type { User } from '../tables/core.js';
import { NOBODY } from '../users/record.js';
import { deviceTokensOf, namesDevice } from './carriers.js';
import type { DeviceRow, DeviceRows, KnownDevices } from './device-rows.js';
import { isKnown, isTrusted, provingDevices } from './device-rules.js';
import { RecentBrowsers } from './recent-browsers.js';
import type { Carrier } from './request.js';

/** The prefix of the tokens in device cookies. */
const PREFIX = 'lkd_';

/** The device of a sign-in, as far as it is known. */
export interface Recognized {
  /** The value of the device's cookie. Null if the device is new, or there is no request. */
  readonly cookie: string | null;
  /** Whether the user has never signed in there before. */
  readonly isNew: boolean;
}

// No session has this id.
const NOT_YET = '00000000-0000-0000-0000-000000000000';

/** The result for a sign-in without a browser. */
export const NO_DEVICE: Recognized = { cookie: null, isNew: false };

/** The result for a browser that the user does not know. */
const NEW_DEVICE: Recognized = { cookie: null, isNew: true };

/** A plugin that must know the browser in which an account was created, or access to its mailbox was proven. */
export interface RemembersBrowsers {
  /** Whether these browsers are remembered for 24 hours: see `RecentBrowsers`. */
  readonly remembersBrowsers?: boolean;
}

/** A device as its user sees it. */
export interface ListedDevice {
  readonly id: string;
  /** The browser and its system in words, such as "Firefox on Windows". Null if both are unknown. */
  readonly name: string | null;
  /** The time of the first sign-in there. */
  readonly firstSeenAt: Date;
  /** The time of the last sign-in there. */
  readonly lastSeenAt: Date;
  /** Whether the request comes from it. */
  readonly current: boolean;
  /** The time until which it stands in for the second factor. Null if the user does not trust it. */
  readonly trustedUntil: Date | null;
}

/** What {@link Devices} need. */
interface DevicesNeeds {
  readonly database: Database;
  readonly context: CallContext;
  readonly settings: Settings;
  readonly deviceRows: DeviceRows;
  readonly notices: Notices;
  readonly carriers: readonly Carrier[];
  readonly contributions: readonly RemembersBrowsers[];
}

/**
 * Devices: browsers in which accounts have signed in. A browser has one token, in a cookie. The token's hash identifies
 * a row for each account that has signed in there. A device does not authenticate anyone. It has three purposes. Its
 * owner's wrong passwords are counted separately, so that strangers cannot pause the owner's sign-ins with their wrong
 * passwords. The owner gets a notice about a sign-in from an unknown device. And together with an emailed link, a
 * device proves who undoes a change.
 *
 * A forgotten device counts as unknown, but its row stays for a while, because it can still prove who undoes a change.
 */
export class Devices {
  readonly #recent: RecentBrowsers;

  constructor(private readonly core: DevicesNeeds) {
    this.#recent = new RecentBrowsers(core.database);
  }

  /**
   * Returns the id of the device that the current request comes from, if the user has signed in there. Sends no
   * statement for a request without a well-formed device token.
   *
   * @param userId null for an account that does not exist
   */
  async find(userId: string | null): Promise<string | null> {
    const hash = this.presented;
    return hash ? this.core.deviceRows.find(hash, userId) : null;
  }

  /** The hash of the current request's device token. Null if there is none. */
  get presented(): Buffer | null {
    const token = this.#presentedToken();
    return token === null ? null : digestToken(token);
  }

  /** Whether the user has signed in on the current request's device, and no other host can have named that device. */
  async isKnownForCertain(userId: string): Promise<boolean> {
    return this.#isCertain && (await this.find(userId)) !== null;
  }

  /** Whether an account knows the device with a token. @param userId null for an account that does not exist */
  async knows(tokenHash: Buffer, userId: string | null): Promise<boolean> {
    return (await this.core.deviceRows.find(tokenHash, userId)) !== null;
  }

  /** Lists the devices that an account knows, most recently used first. */
  async list(userId: string): Promise<readonly ListedDevice[]> {
    const known = await this.core.deviceRows.ofAccount(userId);
    const isCurrent = await this.#inBrowser(userId);
    if (known === null) return [];
    const now = this.core.database.clock.latest();
    const devices = known.devices.filter((device) => isKnown(device, now));
    return devices.map((device) => ({
      id: device.id,
      name: device.name,
      firstSeenAt: device.createdAt,
      lastSeenAt: device.lastUsedAt,
      current: isCurrent(device),
      trustedUntil: isTrusted(device, known.account.authEpoch, now) ? device.trustedUntil : null,
    }));
  }

  /** Returns how many devices stand in for the second factor of an account. */
  async countTrusted(userId: string): Promise<number> {
    const known = await this.core.deviceRows.ofAccount(userId);
    if (known === null) return 0;
    const now = this.core.database.clock.latest();
    return known.devices.filter((device) => isTrusted(device, known.account.authEpoch, now)).length;
  }

  /**
   * Returns the user's epoch if the browser of the current request stands in for their second factor. Null otherwise. A
   * value in a header does not count, because the client's own code can read and copy it, unlike that of the cookie.
   */
  async trustedEpoch(userId: string): Promise<number | null> {
    const { presented } = this;
    return presented === null || this.#isNamed ? null : this.core.deviceRows.trustedEpoch(presented, userId);
  }

  /**
   * Makes the browser of the current request stand in for the second factor of a user who has just provided it. The
   * browser gets a new token, because a copy of the current one could exist.
   *
   * @param cookie the value of the browser's device cookie after the sign-in
   * @returns the new value of the cookie, and the id of the device, which is null if it cannot be trusted
   */
  async trust(
    cookie: string,
    { userId, authEpoch, days }: { userId: string; authEpoch: number; days: number },
    transaction: Transaction,
  ): Promise<{ readonly deviceId: string | null; readonly cookie: string }> {
    if (this.#isNamed) return { deviceId: null, cookie };
    const { token, tokenHash } = await this.#renewed(userId, transaction, digestToken(cookie));
    const trustedUntil = this.core.database.clock.date(days * 24 * 60 * 60 * 1000);
    const trust = { trustedUntil, trustedEpoch: authEpoch };
    const deviceId = await this.core.deviceRows.trust(tokenHash, userId, trust, transaction);
    return { deviceId, cookie: token };
  }

  /** Returns a device that an account knows. The user's row is locked. */
  async byId(userId: string, id: string, transaction: Transaction): Promise<DeviceRow | null> {
    return isUuid(id) ? this.core.deviceRows.byId(userId, id, transaction) : null;
  }

  /**
   * Forgets one device of an account. It also forgets all browsers that are not devices of the account yet, because
   * they have no names by which the user could choose one.
   */
  async forgetOne(device: Pick<DeviceRow, 'id' | 'userId'>, transaction: Transaction): Promise<void> {
    await this.core.deviceRows.forgetOne(device, transaction);
    if (this.#remembers) await this.#recent.forget(device.userId, this.presented, transaction);
  }

  /**
   * Returns the device of the current request, if it proves who undoes a change that was made at a time: see
   * {@link provingDevices}.
   */
  async proves(userId: string, at: Date, transaction?: Transaction): Promise<DeviceRow | null> {
    if (this.presented === null) return null;
    const proving = await this.core.deviceRows.proving(userId, at, transaction);
    return proving.find(await this.#inBrowser(userId, transaction)) ?? null;
  }

  /** Forgets all devices of an account, except the device of the current request. */
  async forgetOthers(userId: string, transaction: Transaction): Promise<void> {
    await this.core.deviceRows.forget(userId, this.presented, transaction);
    if (this.#remembers) await this.#recent.forget(userId, this.presented, transaction);
  }

  /** Deletes all devices of an account, because someone other than its owner might have signed in. */
  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.core.deviceRows.deleteAll(userId, transaction);
    if (this.#remembers) await this.#recent.forget(userId, null, transaction);
  }

  /**
   * Forgets the devices of an account after an undo, and disables the undo links about devices added since the undone
   * change.
   *
   * @param shown the device that proved who undoes the change. The account knows it again, since the original time
   */
  async dropAfterUndo(
    userId: string,
    since: Date,
    shown: DeviceRow | null,
    transaction: Transaction,
  ): Promise<void> {
    await this.core.deviceRows.drop(userId, transaction);
    if (this.#remembers) await this.#recent.forget(userId, null, transaction);
    await this.core.deviceRows.endUndo(userId, since, transaction);
    if (shown && this.presented) await this.core.deviceRows.restore(shown, this.presented, transaction);
  }

  /** Checks whether a user who signs in knows the device of the current request, and renews a known device. */
  async recognize(user: User): Promise<Recognized> {
    if (this.core.context.client.request === null) return NO_DEVICE;
    const hash = this.presented;
    if (hash === null) return NEW_DEVICE;
    if (await this.core.deviceRows.renew(hash, user.id))
      return { cookie: this.#presentedToken(), isNew: false };
    // The browser did not get the token that replaced this one.
    if ((await this.core.deviceRows.find(hash, user.id)) === null) return NEW_DEVICE;
    const { token: cookie, tokenHash } = await this.core.database.transaction((transaction) =>
      this.#renewed(user.id, transaction),
    );
    return (await this.core.deviceRows.renew(tokenHash, user.id)) ? { cookie, isNew: false } : NEW_DEVICE;
  }

  /**
   * Locks a user, and reads the state that decides how a new device is treated. Null if the user does not exist.
   *
   * @param sessionId the user's session on the device, if it already exists
   */
  lock(userId: string, sessionId: string | null, transaction: Transaction): Promise<KnownDevices | null> {
    return this.core.deviceRows.lock(userId, sessionId ?? NOT_YET, transaction);
  }

  /**
   * Adds the device of the current request, where a user has just signed in for the first time, and sends a notice
   * about it. The browser gets a new token, because an attacker might have planted the current one to recognize the
   * browser. The new token also identifies the browser for its other accounts.
   *
   * @param known the result of {@link lock}
   * @param isSignUp whether the account has just been created in the browser
   * @returns the value for the browser's device cookie
   */
  async add(user: User, known: KnownDevices, transaction: Transaction, isSignUp = false): Promise<string> {
    const now = this.core.database.clock.date();
    const { token, tokenHash } = await this.#renewed(user.id, transaction);
    if (isSignUp && this.#remembersSignUps) await this.#recent.add(user.id, tokenHash, true, transaction);
    const browsers = provingDevices(known.devices, known.account, now).map(({ name }) => name);
    const notice = this.core.notices.unrecorded(deviceNotices['new-device'], user, browsers);
    const undoTokenHash = notice?.undo ? digestToken(notice.undo.token) : null;
    const times = { createdAt: now, lastUsedAt: now };
    const name = await deviceNameOf(this.core.context.client.userAgent);
    const row = { id: uuidv7(now.getTime()), userId: user.id, tokenHash, name, ...times };
    await this.core.deviceRows.add({ ...row, undoTokenHash }, transaction);
    await this.core.deviceRows.tidy(known.devices, transaction);
    const { importedAt, firstUsedAt } = known.account;
    if (importedAt !== null && firstUsedAt === null)
      await this.core.deviceRows.setFirstUse(user.id, now, transaction);
    // The first sign-in to an account needs no notice.
    if (known.hasOther || known.devices.length > 0) await this.core.notices.tell(notice, transaction);
    return token;
  }

  /**
   * Remembers the browser of the current request, after a sign-up that has not signed the user in.
   *
   * @param userId null if no account was created, which the statements must not reveal
   * @returns the value for the browser's device cookie. Null if sign-ups are not remembered, or not in such a cookie
   */
  async signedUp(userId: string | null): Promise<string | null> {
    if (!this.#remembersSignUps) return null;
    return this.core.database.transaction((transaction) => this.#remember(userId, true, transaction));
  }

  /**
   * Remembers the browser of the current request, in which access to the mailbox of an account was proven.
   *
   * @returns the value for the browser's device cookie. Null if the value does not change
   */
  async proved(userId: string, transaction: Transaction): Promise<string | null> {
    if (!this.#remembers) return null;
    if (!this.#isNamed) return this.#remember(userId, false, transaction);
    // An attacker cannot plant the value that a client sends in a header, so the client keeps it.
    const { presented } = this;
    if (presented) await this.#recent.add(userId, presented, false, transaction);
    return null;
  }

  /** Whether an account was created in the browser of the current request in the last 24 hours. */
  async hasSignedUp(userId: string): Promise<boolean> {
    const { presented } = this;
    return presented !== null && this.#remembersSignUps && this.#recent.has(userId, presented, true);
  }

  /** Whether the current request comes from a browser that {@link signedUp} or {@link proved} remembers. */
  async isRecent(userId: string): Promise<boolean> {
    const { presented } = this;
    return presented !== null && this.#remembers && this.#recent.has(userId, presented, false);
  }

  /**
   * Deletes the devices that can no longer prove anything, the tokens that are no longer accepted, and the browsers
   * that are no longer recent.
   */
  get expired(): readonly Chore[] {
    return [this.core.deviceRows.oldTokens, this.core.deviceRows.old, this.#recent.expired];
  }

  get #remembers(): boolean {
    return this.core.contributions.some(({ remembersBrowsers }) => remembersBrowsers === true);
  }

  // Otherwise, another host could give a user's browser the value of a browser in which a stranger has signed up with the
  // user's address.
  get #remembersSignUps(): boolean {
    return this.#remembers && this.#isCertain;
  }

  /** Whether no other host can have named the device of the current request. */
  get #isCertain(): boolean {
    const { deviceCookie, baseUrl } = this.core.settings;
    const { request } = this.core.context.client;
    return this.#isNamed || isOnlyOurs(deviceCookie, baseUrl, request?.headers.host);
  }

  /** Whether the current request names its device in a header, which no other host can set. */
  get #isNamed(): boolean {
    return namesDevice(this.core.carriers, this.core.context.client.request);
  }

  async #remember(userId: string | null, madeThere: boolean, transaction: Transaction): Promise<string> {
    const { token, tokenHash } = await this.#renewed(userId ?? NOBODY, transaction);
    await this.#recent.add(userId, tokenHash, madeThere, transaction);
    return token;
  }

  /** Gives the browser of the current request a new token, which replaces the current one for all accounts. */
  async #renewed(userId: string, transaction: Transaction, current = this.presented) {
    const token = createToken(PREFIX);
    const tokenHash = digestToken(token);
    if (current) {
      await this.core.deviceRows.replaceToken(current, tokenHash, userId, transaction);
      if (this.#remembers) await this.#recent.copy(current, tokenHash, transaction);
    }
    return { token, tokenHash };
  }

  /** Returns a function that checks whether the current request comes from a device of an account. */
  async #inBrowser(userId: string, transaction?: Transaction): Promise<(device: DeviceRow) => boolean> {
    const { presented } = this;
    if (presented === null) return () => false;
    const devices = await this.core.deviceRows.inBrowser(userId, presented, transaction);
    const ids = new Set(devices.map(({ id }) => id));
    return ({ id }) => ids.has(id);
  }

  /**
   * Returns the device token of the current request. Null if it presents no token, a malformed token, or different
   * tokens.
   */
  #presentedToken(): string | null {
    const { request } = this.core.context.client;
    const [token, ...others] = request ? deviceTokensOf(this.core.carriers, request) : [];
    return others.length === 0 && isWellFormedToken(PREFIX, token) ? token : null;
  }
}

const problems = declareProblems({
  device_not_found: [404, 'Your account does not know this browser. It might already have forgotten it.'],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

export const deviceNotices = declareNotices(CORE, {
  'device-forgotten': { isAboutDevice: true },
  'new-device': {},
});

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof deviceNotices, unknown> {}
}
