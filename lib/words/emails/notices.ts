import { type Deletion, deletion } from './deletion.js';
import { date } from './times.js';

/** The time in which a change can be undone: see `within`. */
export interface Undoable {
  readonly within: string;
}

/** The texts of notices, and of other emails without a link of their own. */
export const notices = {
  'password-set': {
    subject: 'A password was set for your account',
    lines: ['Your account had no password, and now has one. Anyone who knows the password can sign in.'],
  },
  'password-changed': {
    subject: 'Your password was changed',
    lines: ['The password of your account was changed.'],
  },
  'password-removed': {
    subject: 'Your password was removed',
    lines: ['Your account no longer has a password. Your other sign-in methods still work.'],
  },
  /** The user has proven access to the mailbox for the first time. */
  'password-removed/first-proof': {
    subject: 'Your password was removed',
    lines: [
      'Someone signed in to your account with a code that was emailed to this address, for the first time. Your account had a password that someone else might have chosen before, so it was removed.',
      'If you want to sign in with a password, choose a new one.',
    ],
  },
  'new-password-required': {
    subject: 'Choose a new password',
    lines: ['Your account needs a new password, and all sessions have ended.'],
    advice: {
      text: 'Sign in with your current password one last time. Then choose a new one, on the page or with a link that we email to you.',
      action: 'Sign in',
    },
  },
  'email-change-requested': {
    subject: 'Your email is about to change',
    lines: [
      'Someone who is signed in to your account asked to change its email. A confirmation link was sent to the new address.',
    ],
    advice: {
      text: 'If it was you, you do not have to do anything. If you have changed your mind, cancel the change where you asked for it. If it was not you, set or change your password now, so that the confirmation link stops working.',
      action: 'Change your password',
    },
  },
  /** To the address that the account had before. */
  'email-changed': {
    subject: 'Your email was changed',
    lines: ['Your account has a new email. This address no longer belongs to your account.'],
  },
  /** To the owner of an account, whose email was entered as the new one of another account. */
  'email-change-conflict': {
    subject: 'You already have an account with this email',
    lines: [
      'Someone asked to make this the email of another account. Nothing has changed, because your account has this email.',
    ],
    advice: {
      text: 'If it was you, first sign in to the account that has this email, and change its email or delete it. If it was not you, ignore this email.',
      action: 'Sign in',
    },
  },
  'username-changed': {
    subject: 'Your username was changed',
    lines: ['Your account has a new username. You can no longer sign in with the earlier one.'],
  },
  'device-forgotten': {
    subject: 'Your account forgot a browser',
    lines: [
      'A browser was removed from the list of browsers that your account knows. The next sign-in there counts as a sign-in in a new browser.',
    ],
    about: 'Browser',
  },
  'new-device': {
    subject: 'A sign-in in a new browser',
    lines: ['Someone signed in to your account in a browser that is new to it.'],
    undo: ({ within }: Undoable) =>
      `If it was not you, sign out everywhere and undo all later changes here ${within}:`,
  },
  'data-exported': {
    subject: 'The data of your account was downloaded',
    lines: [
      'Someone signed in to your account and downloaded a file with the data that is stored about you.',
    ],
    undo: ({ within }: Undoable) =>
      `If it was not you, sign out everywhere and undo all later changes here ${within}:`,
  },
  'second-factor-enabled': {
    subject: 'Two-factor authentication was turned on',
    lines: [
      'From now on, signing in to your account also requires a code from your authenticator app. All other sessions have ended.',
    ],
  },
  'second-factor-enabled/passkeys': {
    subject: 'Two-factor authentication was turned on',
    lines: [
      'From now on, signing in to your account also requires one of your passkeys. All other sessions have ended.',
    ],
  },
  /** A passkey was added, which is the second factor from now on. */
  'second-factor-enabled/passkey-added': {
    subject: 'Two-factor authentication was turned on',
    lines: [
      'A passkey was added to your account. From now on, signing in to your account requires one of your passkeys. All other sessions have ended.',
    ],
    about: 'Passkey',
  },
  'second-factor-disabled': {
    subject: 'Two-factor authentication was turned off',
    lines: [
      'Signing in to your account no longer requires two-factor authentication. Your recovery codes were deleted too.',
    ],
  },
  /** Everything was removed, and the user must set up a second factor again. */
  'second-factor-disabled/everything': {
    subject: 'Two-factor authentication was turned off',
    lines: [
      'Your account no longer has two-factor authentication. Its passkeys and recovery codes were deleted. When you sign in, you will be asked to set it up again.',
    ],
  },
  'second-factor-disabled/passkeys': {
    subject: 'Two-factor authentication was turned off',
    lines: [
      'Signing in to your account no longer requires one of your passkeys as the second step. Your recovery codes were deleted too.',
    ],
  },
  /** The passkeys are no longer the second factor, but sign-ins still ask for a code. */
  'second-factor-disabled/codes-stay': {
    subject: 'Your passkeys are no longer the second step',
    lines: [
      'Signing in to your account no longer requires one of your passkeys. It still requires a code from your authenticator app.',
    ],
  },
  /** The authenticator app was removed, but sign-ins still ask for a passkey. */
  'second-factor-disabled/passkeys-stay': {
    subject: 'Your authenticator app was removed',
    lines: [
      'Signing in to your account no longer requires a code from your authenticator app. It still requires one of your passkeys.',
    ],
  },
  'recovery-code-used': {
    subject: 'A recovery code was used',
    lines: [
      'Someone used one of the recovery codes of your account instead of a code from your authenticator app or a passkey. This recovery code cannot be used again.',
    ],
  },
  'recovery-codes-renewed': {
    subject: 'You have new recovery codes',
    lines: ['Your account has new recovery codes. The previous codes no longer work.'],
  },
  'second-factor-attempts': {
    subject: 'Someone might know your password',
    lines: [
      'Ten wrong codes in a row were entered for your account, after the correct password or another first step.',
    ],
    advice: {
      text: 'If it was not you, change your password now. Two-factor authentication has protected your account.',
      action: 'Change your password',
    },
  },
  'passkey-added': {
    subject: 'A passkey was added to your account',
    lines: ['A passkey was added to your account. Anyone who has it can sign in to your account.'],
    about: 'Passkey',
  },
  'passkey-removed': {
    subject: 'A passkey was removed from your account',
    lines: ['A passkey was removed from your account. It can no longer be used to sign in.'],
    about: 'Passkey',
  },
  /** The last passkey was removed, and sign-ins asked for a passkey. */
  'passkey-removed/last': {
    subject: 'A passkey was removed from your account',
    lines: [
      'A passkey was removed from your account. It can no longer be used to sign in.',
      'It was your last passkey, so a sign-in with your password no longer asks for one. If you have no authenticator app, your recovery codes were deleted too.',
    ],
    about: 'Passkey',
  },
  'provider-linked': {
    subject: 'A sign-in method was added to your account',
    lines: [
      'An account at another service was linked to yours. Anyone who has that account can now sign in here.',
    ],
    about: 'Service',
  },
  'provider-unlinked': {
    subject: 'A sign-in method was removed from your account',
    lines: ['Your account is no longer linked to an account at another service.'],
    about: 'Service',
  },
  'api-key-created': {
    subject: 'An API key was created for your account',
    lines: ['An API key was created. Programs that have it can act for you without signing in.'],
    about: 'API key',
  },
  'account-deleted': {
    subject: 'Your account was deleted',
    lines: ['Your account was deleted, with everything that belonged to it.'],
  },
  /** The account can be restored for some days. */
  'account-deleted/pending': {
    subject: 'Your account was deleted',
    lines: ({ days, until }: { readonly days: number; readonly until: Date }) => [
      `Your account was deleted. No one can sign in to it. In ${days === 1 ? '1 day' : `${days} days`}, on ${date(until)}, it will be permanently deleted, with everything that belongs to it.`,
    ],
    undo: ({ within }: Undoable) =>
      `If it was not you, or if you have changed your mind, restore the account here ${within}:`,
    action: 'Restore the account',
  },
  /** To the owner of a deleted account, in place of an email to choose a new password. */
  'deleted-account': {
    subject: 'Your account was deleted',
    lines: (values: Deletion) => [
      'Someone asked for a new password with this email, or signed up with it.',
      deletion(values),
      'No new password can be chosen for it. If it was not you, ignore this email: nothing has changed.',
    ],
  },
  'account-recovered': {
    subject: 'A change of your account was undone',
    lines: [
      'Someone used the link in an earlier email to undo a change of your account and all later changes. All sessions have ended.',
    ],
  },
  /** The change that was undone is the deletion of the account. */
  'account-recovered/deletion': {
    subject: 'Your account was restored',
    lines: ['Someone used the link in an earlier email to restore your account, which had been deleted.'],
  },
  'administrator-acted': {
    subject: 'An administrator has opened your account',
    lines: [
      'Someone who runs this app has opened your account, to see it as you see it. Your password and your other sign-in methods cannot be seen or changed this way.',
    ],
  },
  'administrator-added': {
    subject: 'You are now an administrator',
    lines: [
      'Your account got a role that makes you an administrator. If you did not expect this, tell the people who run this app.',
    ],
  },
  /** To the other administrators. */
  'administrator-added/others': {
    subject: 'A user is now an administrator',
    lines: [
      'A user got a role that makes administrators. If you did not expect this, take the role from the user, and find out who gave it.',
    ],
    about: 'User id',
  },
  /** To the other owners. */
  'organization-owner-added': {
    subject: 'An organization has a new owner',
    lines: [
      'A member became an owner of an organization that you own. Owners can do everything in it, including deleting it.',
      'If you did not expect this, ask the other owners, or change the role of the new owner.',
    ],
    about: 'Organization',
  },
  /** To the new owner. */
  'organization-owner-added/new-owner': {
    subject: 'You are now an owner of an organization',
    lines: [
      'You became an owner of an organization. Owners can do everything in it, including deleting it.',
      'If you did not expect this, ask the other owners.',
    ],
    about: 'Organization',
  },
};
