import type { Core } from '../core/core.js';
import { AuthError, declareProblems } from '../errors.js';
import { declareNotices } from '../mail/notice-kinds.js';
import { CORE } from '../owners.js';

const problems = declareProblems({
  device_not_found: [404, 'Your account knows no such browser: it may have forgotten it already.'],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}

const notices = declareNotices(CORE, {
  'device-forgotten': {
    subject: 'Your account forgot a browser',
    lines: [
      'A browser was removed from those that your account knows. The next sign-in there counts as new.',
    ],
    about: 'Browser',
  },
});

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof notices, unknown> {}
}

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
    await core.notices.before(notices['device-forgotten'], record, transaction, details);
    await core.devices.forgetOne(device, transaction);
  });
}
