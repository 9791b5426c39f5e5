import { type Html, html } from '../../html.js';

/** The words about what was refused, and what was done. */
export const messages = {
  refusal: {
    back: (appName: string) => `Back to ${appName}`,
    notSaved: 'What you entered was not saved.',
    signedInAs: (account: string) => `You are signed in as ${account}.`,
    other: 'Sign in as someone else',
    stopActing: 'Stop acting as this user',
    /** The titles of some errors, by their codes. */
    titlesOf: {
      acting_session: 'This is closed to you now',
      admin_required: 'You do not have access',
    } as Readonly<Record<string, string>>,
    /** The titles of the other errors, by their statuses. */
    titles: {
      400: 'This address is not valid',
      401: 'You have been signed out',
      403: 'This is not possible',
      404: 'Page not found',
      405: 'This is not possible',
      413: 'The request is too large',
      429: 'Too many attempts',
      503: 'Try again shortly',
    } as Readonly<Record<number, string>>,
    wait: (words: string) => `Try again in ${words}.`,
  },
  /** What a page says to a user who was led there from another page. */
  needed: {
    'second-factor-needed':
      'The page that you opened needs two-factor authentication. Set it up to continue.',
    'password-dropped':
      'We removed the password of this account, because it was set before you confirmed your email. You can set a new one on this page.',
    'recovery-code-used':
      'You are signed in with a recovery code, which no longer works. If you have lost your phone, set up an authenticator app on another one. This page also says how many recovery codes you have left.',
    'session-over': 'Your session has ended. Sign in again.',
    'set-up-expired': 'This took too long, or was completed already. Set up your authenticator app again.',
  } as Readonly<Record<string, string>>,
  /** What a user is told whose sign-in has created an account. */
  created: {
    welcome: (account: string | null) =>
      account === null
        ? 'Welcome. We have created a new account.'
        : `Welcome. We have created a new account for ${account}.`,
    hint: (signOut: Html) =>
      html`If you expected an existing account, ${signOut} and sign in with another email.`,
    signOut: 'sign out',
  },
  done: {
    'signed-out': 'You are signed out.',
    'password-reset': 'Your password was changed. Sign in with it.',
    'invitation-accepted': 'Your account is ready. Sign in.',
    'signed-up': 'Your account was created. Sign in.',
    'signed-up-to-confirm':
      'Your account was created. Sign in, and we email you a code to confirm your email.',
    'account-deleted': 'Your account was deleted.',
    'signed-out-everywhere': 'You are signed out everywhere.',
    sent: 'The email is on its way.',
    'password-changed': 'Your password was changed. You were signed out on all other devices.',
    'password-set': 'Your account now has a password.',
    'password-removed': 'Your password was removed. You were signed out on all other devices.',
    'second-factor-on': 'Two-factor authentication is on. You were signed out on all other devices.',
    'second-factor-off': 'Two-factor authentication is off.',
    'app-removed': 'The authenticator app was removed.',
    'passkeys-off': 'Your passkeys are no longer the second step. You were signed out on all other devices.',
    'codes-renewed': 'You have new recovery codes. The previous codes no longer work.',
    'passkey-added': 'The passkey was added.',
    'passkey-removed': 'The passkey was removed. Remove it from your device too.',
    linked: 'The account was linked.',
    unlinked: 'The account was unlinked.',
    'browser-forgotten': 'The browser was forgotten.',
    'browsers-not-trusted': 'From now on, every sign-in asks for the second step again.',
    saved: 'Your changes are saved.',
    'details-saved': 'Your details are saved.',
    'username-saved': 'Your username is saved.',
    'email-change-sent':
      'An email with a link is on its way to the new address. Open it within an hour, and press the button there. Check your spam folder too.',
    'email-change-canceled': 'The change of your email was canceled. The link in the email no longer works.',
    'session-ended': 'The session has ended.',
    'other-sessions-ended': 'All other sessions have ended.',
    'api-key-revoked': 'The key was revoked.',
    'organization-created': 'The organization was created. You are its owner.',
    'organization-saved': 'The changes were saved.',
    'member-role-changed': 'The role was changed.',
    'member-removed': 'The member was removed.',
    'organization-left': 'You are no longer a member of this organization.',
    'member-invited': 'The invitation is on its way by email.',
    'organization-invitation-revoked': 'The invitation was revoked. Its link no longer works.',
    'organization-deleted': 'The organization was deleted.',
    'user-created': 'The user was created.',
    'user-invited': 'The user was created, and gets an email with a link to choose a password.',
    'user-changed': 'The changes were saved.',
    'user-roles-changed': 'The roles were changed.',
    'user-suspended': 'The user is suspended.',
    'user-reinstated': 'The suspension has ended.',
    'user-closed': 'The account can no longer be used, and will be permanently deleted.',
    'user-deleted': 'The user was deleted.',
    'new-password-required': 'The user must choose a new password.',
    'second-factor-disabled': 'Two-factor authentication of the user was turned off.',
    'sessions-ended': 'All sessions of the user have ended.',
  } as Readonly<Record<string, string>>,
};
