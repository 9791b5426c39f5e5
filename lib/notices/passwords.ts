import { declareNotices, type NoticeTemplate } from '../mail/notice-kinds.js';
import { declareEvents } from '../outbox/events.js';
import { CORE } from '../owners.js';
import type { UserRecord } from '../users/record.js';

declare module '../outbox/events.js' {
  interface EventDetails {
    /** A password was changed, or set for the first time. */
    'password.changed': { readonly userId: string };
    /** A password was reset with an emailed link. */
    'password.reset': { readonly userId: string };
    /** The password of an account that has another sign-in method was removed. */
    'password.removed': { readonly userId: string };
  }
}

declareEvents(CORE, { 'password.changed': {}, 'password.reset': {}, 'password.removed': {} });

export const passwordNotices = declareNotices(CORE, {
  'password-set': {},
  'password-changed': {},
  'password-removed': {},
});

declare module '../mail/notice-kinds.js' {
  interface NoticeKinds extends Record<keyof typeof passwordNotices, unknown> {}
}

/** Returns the notice about a new password, which depends on whether the account had a password before. */
export function newPasswordNotice({ passwordHash }: UserRecord): NoticeTemplate {
  return passwordHash === null ? passwordNotices['password-set'] : passwordNotices['password-changed'];
}
