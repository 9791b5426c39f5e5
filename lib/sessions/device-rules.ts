import type { RowOf } from '../tables/column.js';
import type { DeviceColumns, User } from '../tables/core.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** A device is forgotten this many seconds after the last sign-in there. */
export const DEVICE_SECONDS = 90 * 24 * 60 * 60;

/** An account must have known a device for this long before a change, so that it proves who undoes the change. */
export const KNOWN_MS = 30 * DAY_MS;

/**
 * The tolerance for a device that a change has forgotten: the clock of the process that did it might have been behind.
 */
const CLOCKS_DIFFER_MS = 50;

/** The number of devices that an account remembers: so many of those known for long, and so many of the others. */
const MAX_KNOWN = 50;

/**
 * The number of forgotten devices that are kept. Beyond it, the newest are deleted, because an intruder can add new
 * devices, but none that are older than the owner's.
 */
const MAX_FORGOTTEN = 100;

/** What decides about a device. */
export type DeviceFacts = Pick<
  RowOf<DeviceColumns>,
  'id' | 'createdAt' | 'lastUsedAt' | 'forgottenAt' | 'dropped'
>;

/** What decides about an account's devices. */
export interface AccountAge extends Pick<User, 'createdAt'> {
  /** The time when the account was imported. Null for other accounts. */
  readonly importedAt: Date | null;
  /** The time of the first sign-in of an imported account in a browser. */
  readonly firstUsedAt: Date | null;
}

/**
 * Returns the devices that prove who undoes a change: those that the account had known for 30 days when the change was
 * made. For an account younger than that, it is the device of the first sign-in. The age of an imported account starts
 * with the first sign-in here, because the first session can be one of years later.
 *
 * A device that was forgotten still counts for 30 days, because whoever takes an account over makes it forget the
 * owner's. One that an undo has dropped does not, because it can be the intruder's.
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

/** Whether an account had known a device for long at a time. */
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
 * Returns the devices beyond the limits. Those known for long are counted apart, so that an intruder cannot push the
 * owner's out with new ones, and the first one stays.
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
