import type { NoticeTemplate } from '../../mail/message.js';

declare module '../../mail/message.js' {
  interface MailKinds {
    'second-factor-enabled': unknown;
    'second-factor-disabled': unknown;
    'recovery-code-used': unknown;
    'recovery-codes-renewed': unknown;
    'second-factor-attempts': unknown;
  }
}

export const enabledMail: NoticeTemplate = {
  kind: 'second-factor-enabled',
  subject: 'Your second factor is on',
  lines: [
    'From now on, signing in to your account takes a code from your authenticator app as well. All other sessions have ended.',
  ],
};

export const disabledMail: NoticeTemplate = {
  kind: 'second-factor-disabled',
  subject: 'Your second factor is off',
  lines: [
    'Signing in to your account does not take a code from your authenticator app any more. Its recovery codes are gone too.',
  ],
};

export const codeUsedMail: NoticeTemplate = {
  kind: 'recovery-code-used',
  subject: 'A recovery code was used',
  lines: [
    'Someone used one of the recovery codes of your account in place of a code from your authenticator app. It cannot be used again.',
  ],
};

export const codesRenewedMail: NoticeTemplate = {
  kind: 'recovery-codes-renewed',
  subject: 'You have new recovery codes',
  lines: ['Your account has new recovery codes. The earlier ones do not work any more.'],
};

export const attemptsMail: NoticeTemplate = {
  kind: 'second-factor-attempts',
  subject: 'Somebody may know your password',
  lines: [
    'Ten wrong codes in a row were entered for your account, after its password or another first step was right.',
    'If it was not you, change your password now. Your second factor has kept them out.',
  ],
};
