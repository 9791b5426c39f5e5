/** The words of the pages, in English. */
export const en = {
  errorTitle: (title: string) => `Error: ${title}`,
  errorHeading: 'There is a problem',
  titleOf: (title: string, appName: string) => `${title} – ${appName}`,
  skip: 'Skip to the content',
  navigation: 'Account',
  terms: 'Terms',
  privacy: 'Privacy',
  support: 'Support',
  optional: 'optional',
  yes: 'Yes',
  no: 'No',
  notSet: 'Not set',
  lastUsed: 'last used',
  continue: 'Continue',
  show: 'Show',
  hide: 'Hide',
  required: 'Required',
  or: 'or',

  fields: {
    email: 'Email',
    username: 'Username',
    either: 'Email or username',
    password: 'Password',
    currentPassword: 'Current password',
    newPassword: 'New password',
    newEmail: 'New email',
    remember: 'Stay signed in on this device',
    code: 'Code',
    recoveryCode: 'Recovery code',
    name: 'Name',
  },
  passwordHint: (length: number) => `At least ${length} characters. A few random words are a good choice.`,

  names: {
    account: 'Profile',
    'account/security': 'Security',
    'account/sessions': 'Sessions',
    'account/api-keys': 'API keys',
    'administration/users': 'Users',
  } as Readonly<Record<string, string>>,

  signIn: {
    title: 'Sign in',
    submit: 'Sign in',
    byEmail: 'Email me a code',
    byEmailHint: 'You get a code to sign in with. No password is needed.',
    byPasskey: 'Sign in with a passkey',
    continueWith: (provider: string) => `Continue with ${provider}`,
    forgotten: 'Forgot your password?',
    noAccount: 'No account yet?',
    signUp: 'Create an account',
    retry: 'Try again',
  },
  signUp: {
    title: 'Create an account',
    submit: 'Create an account',
    byEmail: 'Continue with an emailed code',
    haveAccount: 'Already have an account?',
    closed: 'You cannot sign up here. Ask the people who run this app for an account.',
    checkMail: 'Check your mail',
    checkMailText:
      'If this address has no account yet, an email with a link is on its way. If it has one, the email says so.',
  },
  signOut: {
    title: 'Sign out',
    question: (account: string | null) =>
      account === null ? 'Do you want to sign out?' : `You are signed in as ${account}.`,
    submit: 'Sign out',
    stay: 'Stay signed in',
  },
  secondFactor: {
    title: 'Confirm that it is you',
    totp: 'Enter the code that your authenticator app shows.',
    emailCode: 'We have emailed you a code, because you have not signed in in this browser before.',
    recoveryHint: 'One of the codes that you saved when you set up your second factor. Each works once.',
    submit: 'Continue',
    useRecovery: 'Use a recovery code',
    useTotp: 'Use your authenticator app',
    usePasskey: 'Use a passkey',
    sendAgain: 'Email the code again',
    sent: 'If the sign-in is still waiting, the code was emailed again.',
    expires: 'You have 10 minutes. After that, sign in again.',
    expired: 'There is no sign-in to confirm. It might have expired: sign in again.',
    cancel: 'Sign in as someone else',
  },
  reauthenticate: {
    title: 'Confirm that it is you',
    lead: 'For your security, confirm that it is you before you continue.',
    emailCode: 'We email a code to your address.',
    send: 'Email me a code',
    sent: 'The code was emailed to you. It expires after 10 minutes.',
    none: 'This account has nothing to confirm with here. Sign out, and sign in again.',
    submit: 'Confirm',
    cancel: 'Cancel',
  },
  forgotPassword: {
    title: 'Reset your password',
    lead: 'Enter the email of your account. You get a link to choose a new password.',
    submit: 'Email me a link',
    sent: 'Check your mail',
    sentText:
      'If there is an account with this address, an email with a link is on its way. The link expires after an hour.',
    back: 'Back to the sign-in',
  },
  resetPassword: {
    title: 'Choose a new password',
    invitationTitle: 'Accept your invitation',
    lead: (account: string) => `For the account ${account}.`,
    ends: 'All sessions of the account end.',
    submit: 'Set the password',
    invalid: 'This link is no longer valid',
    invalidText: 'It was used, it has expired, or a newer one was sent. You can ask for another link.',
    invitationInvalidText: 'It was used or has expired. Ask the people who invited you for another one.',
    again: 'Ask for a new link',
  },
  verifyEmail: {
    title: 'Confirm your email',
    lead: (account: string) => `Confirm that ${account} is your email address.`,
    password: 'Enter the password of this account to show that it is yours.',
    submit: 'Confirm',
    invalid: 'This link is no longer valid',
    invalidText: 'It was used, or it has expired. Sign in to ask for another one.',
    waiting: 'Confirm your email first',
    waitingText: 'Open the link that we have emailed to you. Then sign in.',
    done: 'Your email is confirmed',
    send: 'Email me a new link',
  },
  changeEmail: {
    title: 'Confirm your new email',
    lead: (email: string) => `Use ${email} as the email of your account.`,
    account: (account: string) => `Your present email is ${account}.`,
    password: 'Enter the password of your account to show that it is yours.',
    signIn: 'Sign in to the account first. Then open this link again.',
    submit: 'Use this email',
    invalid: 'This link is no longer valid',
    invalidText:
      'It was used, it has expired, or your account has changed since. You can change the email again.',
    done: 'Your email was changed',
  },
  undoChange: {
    title: 'Undo a change',
    what: (change: string) => `This was changed: ${change}.`,
    when: 'When',
    device: 'Device',
    unknownDevice: 'An unknown device',
    lead: 'If this was not you, undo it. Every later change of the account is undone too, and all sessions end.',
    password: 'The password before the change',
    code: 'A code of your authenticator app, or a recovery code, from before the change',
    useRecovery: 'Recovery code',
    submit: 'Undo the change',
    withPasskey: 'Use your passkey',
    otherBrowser: 'Open this link in a browser that your account knows',
    otherBrowserText:
      'The link works only in a browser that you had used for a while. Copy the address of this page there. If you have none, ask for help.',
    invalid: 'This link is no longer valid',
    invalidText: 'It was used, it has expired, or the change was undone already.',
    done: 'The change was undone',
    doneText: 'All sessions have ended. Sign in as before the change.',
  },
  emailedSignIn: {
    title: 'Enter your code',
    lead: 'We have emailed a code to you. Enter it here, in the browser in which you asked for it.',
    submit: 'Sign in',
    linkTitle: 'Sign in',
    linkLead: 'Continue to sign in to your account.',
    linkSubmit: 'Sign in',
    otherBrowser:
      'You asked for this email in another browser. Enter the code from the email there. If you did not ask for it, ignore the email.',
    fields: 'This email has no account yet. Complete these fields to create one.',
    again: 'Ask for another code',
  },
  refusal: {
    back: 'Go back',
    signIn: 'Sign in',
    confirm: 'Confirm that it is you',
    wait: (words: string) => `Try again in ${words}.`,
  },
  done: {
    'signed-out': 'You are signed out.',
    'password-reset': 'Your password was changed. Sign in with it.',
    'signed-up': 'Your account was created. Sign in.',
    'email-verified': 'Your email is confirmed.',
    'email-changed': 'Your email was changed.',
    'account-deleted': 'Your account was deleted.',
    'change-undone': 'The change was undone. All sessions have ended. Sign in as before the change.',
    'signed-out-everywhere': 'You are signed out everywhere.',
    sent: 'The email is on its way.',
  } as Readonly<Record<string, string>>,
} as const;

/** A catalogue of words. */
export type Words = typeof en;

/** Returns a duration in words. @param seconds at least 1 */
export function durationInWords(seconds: number): string {
  const [count, unit] =
    seconds < 90
      ? [seconds, 'second']
      : seconds < 5400
        ? [Math.ceil(seconds / 60), 'minute']
        : [Math.ceil(seconds / 3600), 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
