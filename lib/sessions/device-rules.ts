import type { RowOf } from '../tables/column.js';
import type { DeviceColumns, User } from '../tables/core.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A device is forgotten this many seconds after the last sign-in there. */
export const DEVICE_SECONDS = 90 * 24 * 60 * 60;

/** An account must have known a device for this long before a change, so that it proves who undoes the change. */
export const KNOWN_MS = 30 * DAY_MS;

/**
 * The tolerance for a device that a change has forgotten, because the clock of the process that made the change might
 * have been behind.
 */
const CLOCKS_DIFFER_MS = 50;

/** The number of devices that an account remembers. It applies separately to devices known for long and to others. */
const MAX_KNOWN = 50;

/**
 * The number of forgotten devices that are kept. If there are more, the newest are deleted, because an attacker can add
 * new devices, but no devices that are older than the owner's.
 */
const MAX_FORGOTTEN = 100;

/** The facts that decide how a device counts. */
export type DeviceFacts = Pick<
  RowOf<DeviceColumns>,
  'id' | 'createdAt' | 'lastUsedAt' | 'forgottenAt' | 'dropped'
>;

/** Whether an account knows a device at a time, in milliseconds. */
export function isKnown({ forgottenAt, lastUsedAt }: DeviceFacts, now: number): boolean {
  return forgottenAt === null && lastUsedAt.getTime() > now - DEVICE_SECONDS * 1000;
}

/** The facts that decide whether a device stands in for the second factor. */
export type TrustFacts = DeviceFacts & Pick<RowOf<DeviceColumns>, 'trustedUntil' | 'trustedEpoch'>;

/**
 * Whether a device stands in for the second factor at a time, in milliseconds. Whatever ends all sessions of the user or
 * all sign-ins in progress raises the epoch, so it ends the trust too.
 */
export function isTrusted(device: TrustFacts, authEpoch: number, now: number): boolean {
  const { trustedUntil, trustedEpoch } = device;
  if (trustedUntil === null || trustedEpoch !== authEpoch) return false;
  return trustedUntil.getTime() > now && isKnown(device, now);
}

/** The facts that decide how an account's devices count. */
export interface AccountAge extends Pick<User, 'createdAt'> {
  /** The time when the account was imported. Null for other accounts. */
  readonly importedAt: Date | null;
  /** The time of the first sign-in of an imported account in a browser. */
  readonly firstUsedAt: Date | null;
}

/**
 * Returns the devices that prove who undoes a change: the devices that the account had known for 30 days when the
 * change was made. For a younger account, it is the device of the first sign-in. The age of an imported account starts
 * with the first sign-in here, because that can be years after the import.
 *
 * A device that was forgotten still counts for 30 days, because an attacker who takes over an account makes it forget
 * the owner's devices. A device that an undo has dropped does not count, because it might be the attacker's.
 *
 * @param devices all devices of the account, including forgotten ones
 */
export function provingDevices<D extends DeviceFacts>(
  devices: readonly D[],
  { createdAt, importedAt, firstUsedAt }: AccountAge,
  at: Date,
): readonly D[] {
  const known = devices.filter((device) => wasKnown(device, at));
  const begun = importedAt === null ? createdAt : (firstUsedAt ?? at);
  if (at.getTime() - begun.getTime() >= KNOWN_MS) return known.filter((device) => isOldAt(device, at));
  const first = firstOf(devices);
  return known.filter((device) => device === first);
}

/** Whether an account had known a device for long at the given time. */
function isOldAt({ createdAt }: DeviceFacts, time: Date): boolean {
  return time.getTime() - createdAt.getTime() >= KNOWN_MS;
}

function wasKnown({ createdAt, lastUsedAt, forgottenAt, dropped }: DeviceFacts, at: Date): boolean {
  const time = at.getTime();
  if (createdAt.getTime() >= time || lastUsedAt.getTime() <= time - DEVICE_SECONDS * 1000) return false;
  if (forgottenAt === null) return true;
  return forgottenAt.getTime() >= time - (dropped ? CLOCKS_DIFFER_MS : KNOWN_MS);
}

/** The device of the first sign-in. */
function firstOf<D extends DeviceFacts>(devices: readonly D[]): D | undefined {
  return devices.filter(({ dropped }) => !dropped).toSorted(byAge)[0];
}

function byAge(a: DeviceFacts, b: DeviceFacts): number {
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}

/**
 * Returns the devices beyond the limits. Devices known for long are counted separately, so that an attacker cannot
 * displace the owner's devices with new ones. The first device always stays.
 *
 * @param devices the devices of an account before a new one, most recently used first
 */
export function beyondLimits<D extends DeviceFacts>(
  devices: readonly D[],
  now: Date,
): { readonly toForget: readonly D[]; readonly toDelete: readonly D[] } {
  const first = firstOf(devices);
  const known = devices.filter((device) => device.forgottenAt === null);
  const [old, young] = [true, false].map((is) => known.filter((device) => isOldAt(device, now) === is));
  const surplus = [...(old ?? []).slice(MAX_KNOWN), ...(young ?? []).slice(MAX_KNOWN - 1)];
  const toForget = surplus.filter((device) => device !== first);
  const forgotten = devices.filter((device) => device.forgottenAt !== null);
  const newest = [...forgotten, ...toForget].toSorted(byAge).slice(MAX_FORGOTTEN);
  return { toForget, toDelete: newest.filter((device) => device !== first) };
}
