import type { NoticeTemplate } from '../mail/message.js';

declare module '../mail/message.js' {
  interface MailKinds {
    'account-deleted': unknown;
    'new-device': unknown;
    'username-changed': unknown;
  }
}

export const accountDeletedNotice: NoticeTemplate = {
  kind: 'account-deleted',
  subject: 'Your account was deleted',
  lines: ['Your account was deleted, with everything that belonged to it.'],
  help: 'If it was not you, contact us.',
};

/** @param graceDays for how many days the account is kept shut */
export function accountClosedNotice(graceDays: number): NoticeTemplate {
  const time = graceDays === 1 ? '1 day' : `${graceDays} days`;
  return {
    kind: 'account-deleted',
    subject: 'Your account was deleted',
    lines: [
      `Your account was deleted. Nobody can sign in to it any more. In ${time}, everything that belongs to it goes for good.`,
    ],
    undo: `If it was not you, this link brings the account back. It works for ${time}:`,
  };
}

export const usernameChangedNotice: NoticeTemplate = {
  kind: 'username-changed',
  subject: 'Your username was changed',
  lines: ['Your account has another username. Signing in with the earlier one does not work any more.'],
};

export const newDeviceNotice: NoticeTemplate = {
  kind: 'new-device',
  subject: 'A sign-in from a new device',
  lines: ['Somebody signed in to your account in a browser in which it had not been used before.'],
  undo: 'If it was not you, this link signs everybody out, and undoes what has been changed since. It works for 7 days:',
};
