/** The notices that `email: { notices }` can choose from. */
export const NOTICE_KINDS = [
  'password-set',
  'password-changed',
  'email-change-requested',
  'email-changed',
  'username-changed',
  'provider-linked',
  'provider-unlinked',
  'second-factor-enabled',
  'second-factor-disabled',
  'recovery-code-used',
  'recovery-codes-renewed',
  'second-factor-attempts',
  'passkey-added',
  'passkey-removed',
  'api-key-created',
  'account-deleted',
  'new-device',
] as const;

/** The kind of an email that tells a user what happened to their account. */
export type NoticeKind = (typeof NOTICE_KINDS)[number];
