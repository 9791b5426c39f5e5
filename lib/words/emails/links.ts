/** The sentence that says when a link expires: see `linkExpiry`. */
export interface Expiring {
  readonly expiry: string;
}

/** The texts of emails with a link. */
export const links = {
  'verify-email': {
    subject: 'Confirm your email',
    before: 'Please confirm that this email is yours:',
    action: 'Confirm the address',
    after: ({ expiry }: Expiring) => `${expiry} If you did not sign up, you can ignore this email.`,
  },
  'verify-new-email': {
    subject: 'Confirm your new email',
    before: 'Please confirm that this is the new email of your account:',
    action: 'Confirm the address',
    after: ({ expiry }: Expiring) =>
      `${expiry} If you did not ask for it, ignore this email: nothing has changed.`,
  },
  'reset-password': {
    subject: 'Choose a new password',
    before: 'Someone requested a new password for your account. If it was you, choose one here:',
    action: 'Choose a new password',
    after: ({ expiry }: Expiring) =>
      `${expiry} If it was not you, ignore this email: your password has not changed.`,
  },
  /** To the owner of an account who signs up again. */
  'reset-password/existing-account': {
    subject: 'You already have an account',
    first: {
      text: 'Someone signed up with your email, but you already have an account. If it was you, sign in as usual.',
      action: 'Sign in',
    },
    before: 'If you forgot your password, choose a new one here:',
    action: 'Choose a new password',
    after: ({ expiry }: Expiring) => `${expiry} If it was not you, ignore this email: nothing has changed.`,
  },
  /** To a user who has entered the current password, and whose account needs another. */
  'reset-password/required': {
    subject: 'Choose a new password',
    before: 'You entered your password, and your account needs a new one. Choose it here:',
    action: 'Choose a new password',
    after: ({ expiry }: Expiring) =>
      `${expiry} If it was not you, someone knows your password: choose a new one with this link.`,
  },
  'reset-password/by-administrator': {
    subject: 'Choose a new password',
    /** `appName` is null if it is unknown. */
    before: ({ appName }: { readonly appName: string | null }) =>
      appName === null
        ? 'An administrator asks you to choose a new password for your account. Choose one here:'
        : `An administrator of ${appName} asks you to choose a new password for your account. Choose one here:`,
    action: 'Choose a new password',
    after: ({ expiry }: Expiring) =>
      `${expiry} Until you choose a new password, your current one does not change.`,
  },
  /** To a user who has restored the account. */
  'reset-password/restored': {
    subject: 'Choose a new password',
    before:
      'Your account was restored. All sessions have ended, and the earlier password no longer works. Choose a new password here:',
    action: 'Choose a new password',
    after: ({ expiry }: Expiring) => expiry,
    last: {
      text: 'After that, you can request another link where you sign in.',
      action: 'Request another link',
    },
  },
  /** To a user who has undone a change. */
  'reset-password/undone': {
    subject: 'Choose a new password',
    before:
      'A change of your account was undone. All sessions have ended, and the password was removed, because someone else might know it. Choose a new password here:',
    action: 'Choose a new password',
    after: ({ expiry }: Expiring) => expiry,
    last: {
      text: 'After that, you can request another link where you sign in.',
      action: 'Request another link',
    },
  },
  /** To a user whom an administrator or the app created. */
  invitation: {
    subject: 'Your new account',
    before: 'An account was created for you. Choose a password here:',
    action: 'Choose a password',
    after: ({ expiry }: Expiring) => `${expiry} If you did not expect this, you can ignore this email.`,
  },
  'organization-invitation': {
    subject: 'You are invited to an organization',
    /** `inviter` is an email or username. Null if no user invites. */
    before: ({
      inviter,
      organization,
    }: {
      readonly inviter: string | null;
      readonly organization: string;
    }) =>
      inviter === null
        ? `You are invited to join ${organization}.`
        : `${inviter} invites you to join ${organization}.`,
    action: 'Look at the invitation',
    after: ({ expiry }: Expiring) => `${expiry} If you do not know who invites you, ignore this email.`,
  },
};
