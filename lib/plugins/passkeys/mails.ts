import type { NoticeTemplate } from '../../mail/message.js';

declare module '../../mail/message.js' {
  interface MailKinds {
    'passkey-added': unknown;
    'passkey-removed': unknown;
  }
}

export const passkeyAddedNotice: NoticeTemplate = {
  kind: 'passkey-added',
  subject: 'A passkey was added to your account',
  lines: ['A passkey was added to your account. Whoever has it can sign in.'],
  about: 'Passkey',
};

export const passkeyRemovedNotice: NoticeTemplate = {
  kind: 'passkey-removed',
  subject: 'A passkey was removed from your account',
  lines: ['A passkey was removed from your account. Nobody can sign in with it any more.'],
  about: 'Passkey',
};
