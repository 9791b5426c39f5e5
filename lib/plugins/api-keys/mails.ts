import type { NoticeTemplate } from '../../mail/message.js';

declare module '../../mail/message.js' {
  interface MailKinds {
    'api-key-created': unknown;
  }
}

export const apiKeyCreatedNotice: NoticeTemplate = {
  kind: 'api-key-created',
  subject: 'An API key was created for your account',
  lines: ['A key was created with which programs can act for you, without signing in.'],
  about: 'API key',
};
