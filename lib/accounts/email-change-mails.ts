import type { Purpose } from '../core/contribution.js';
import type { MailTemplate, NoticeTemplate } from '../mail/message.js';

declare module '../mail/message.js' {
  interface MailKinds {
    'verify-new-email': unknown;
    'email-change-requested': unknown;
    'email-change-conflict': unknown;
    'email-changed': unknown;
  }
}

export const VERIFY_NEW_EMAIL: Purpose = {
  name: 'verify-new-email',
  lifetimeMs: 60 * 60 * 1000,
  endsWithPassword: true,
  isForNewEmail: true,
};

export const verifyNewEmailMail: Omit<MailTemplate, 'page'> = {
  kind: 'verify-new-email',
  subject: 'Confirm your new email address',
  before: 'Please confirm that this is the new email address of your account:',
  action: 'Confirm the address',
  after: 'The link expires in one hour. If you did not ask for it, ignore this email: nothing has changed.',
};

export const emailChangeRequestedNotice: NoticeTemplate = {
  kind: 'email-change-requested',
  subject: 'Your email address is about to change',
  lines: [
    'Someone who is signed in to your account asked to change its email address. A link to confirm it went to the new address.',
  ],
  help: 'If it was you, there is nothing to do here. If it was not, change your password now: the link will not work any more.',
};

export const emailChangeConflictMail: NoticeTemplate = {
  kind: 'email-change-conflict',
  subject: 'You already have an account with this address',
  lines: [
    'Someone asked to make this the email address of another account. Nothing has changed, because your account has it.',
    'If it was you, sign in to the account with this address, and change its address or close it first. If it was not, ignore this email.',
  ],
};

export const emailChangedNotice: NoticeTemplate = {
  kind: 'email-changed',
  subject: 'Your email address was changed',
  lines: ['Your account has a new email address, and this one does not belong to it any more.'],
};
