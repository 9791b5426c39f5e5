import type { NoticeTemplate } from '../../mail/message.js';

declare module '../../mail/message.js' {
  interface MailKinds {
    'provider-linked': unknown;
    'provider-unlinked': unknown;
  }
}

export const providerLinkedNotice: NoticeTemplate = {
  kind: 'provider-linked',
  subject: 'A way to sign in was added to your account',
  lines: ['Your account was linked to one at another service. Whoever has that one can sign in to yours.'],
  about: 'Service',
};

export const providerUnlinkedNotice: NoticeTemplate = {
  kind: 'provider-unlinked',
  subject: 'A way to sign in was removed from your account',
  lines: ['Your account is not linked to the one at another service any more.'],
  about: 'Service',
};
