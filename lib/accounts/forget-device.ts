import type { Core } from '../core/core.js';
import { AuthError } from '../errors.js';
import { deviceNotices } from '../sessions/devices.js';

/**
 * Makes an account forget a browser, at the user's request. Its sessions continue.
 *
 * @throws AuthError `device_not_found`, and like `core.change`
 */
export async function forgetDevice(
  core: Core,
  userId: string,
  sessionId: string,
  deviceId: string,
): Promise<void> {
  await core.change(userId, { sessionId }, async (record, transaction) => {
    const device = await core.devices.byId(userId, deviceId, transaction);
    if (!device) throw new AuthError('device_not_found');
    const details = device.name === null ? {} : { subject: device.name };
    await core.notices.before(deviceNotices['device-forgotten'], record, transaction, details);
    await core.devices.forgetOne(device, transaction);
  });
}
