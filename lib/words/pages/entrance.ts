import { type Html, html } from '../../html.js';

/** The words of the pages before a sign-in. */
export const entrance = {
  signIn: {
    title: 'Sign in',
    titleOf: (appName: string) => `Sign in to ${appName}`,
    submit: 'Sign in',
    already: 'You are already signed in',
    byEmail: 'Email me a code',
    byEmailHint: 'We email you a code to sign in with. You do not need a password.',
    byPasskey: 'Sign in with a passkey',
    continueWith: (provider: string) => `Continue with ${provider}`,
    forgotten: 'Forgot your password?',
    restorable: (date: Html) =>
      html`Your account was deleted. Until ${date}, the link in our email can restore it.`,
    noAccount: 'No account yet?',
    signUp: 'Create an account',
  },
  signUp: {
    title: 'Create an account',
    submit: 'Create an account',
    byEmail: 'Email me a code instead',
    byEmailHint: 'With a code, you do not need a password.',
    byEmailAlone: 'Email me a code',
    either: (resets: boolean) =>
      `Enter an email, a username or both.${resets ? ' Without an email, you cannot reset a forgotten password.' : ''}`,
    haveAccount: 'Already have an account?',
    closed: 'You cannot sign up here. Ask the people who run this app for an account.',
    closedAsk: 'You cannot sign up here. To get an account, ask for one:',
    checkMail: 'Check your email',
    checkMailText: (address: Html | string) =>
      html`We have emailed ${address}. If it has no account yet, open the link in the email, then sign in. If it has an account, the email says what to do. Check your spam folder too.`,
    confirmText: (address: Html | string) =>
      html`We have emailed a link to ${address}. Open it, then sign in. Check your spam folder too.`,
  },
  signOut: {
    title: 'Sign out',
    question: (account: string | null) =>
      account === null ? 'Do you want to sign out?' : `You are signed in as ${account}.`,
    submit: 'Sign out',
    stay: 'Stay signed in',
  },
  passkeyOffer: {
    title: 'Sign in without a password next time',
    text: 'Create a passkey. Then the screen lock of this device is all you need to sign in.',
    create: 'Create a passkey',
    later: 'Not now',
  },
  secondFactor: {
    title: 'Confirm that it is you',
    account: (account: string) => `You are signing in as ${account}.`,
    totp: 'Enter the code that your authenticator app shows.',
    emailCode: (email: Html, digits: number) =>
      html`We have emailed a code of ${digits} digits to ${email}, because this browser is new to your account. Check your spam folder too.`,
    verifyCode: (email: Html, digits: number) =>
      html`We have emailed a code of ${digits} digits to ${email}. Enter it to confirm that the email is yours. Check your spam folder too.`,
    passkey: (wasPassword: boolean): string =>
      wasPassword ? 'Your password was correct. Now use your passkey.' : 'One more step: use your passkey.',
    recoveryHint:
      'One of the codes that you saved when you turned on two-factor authentication. Each code works once.',
    submit: 'Continue',
    trust: (days: number) => `Don't ask again in this browser for ${days} day${days === 1 ? '' : 's'}`,
    useRecovery: 'Use a recovery code',
    submitRecovery: 'Use the recovery code',
    usePasskey: 'Use a passkey',
    wrongAddress: {
      question: 'Wrong email?',
      signUpAgain: 'Sign up again with the right one',
      orSupport: (link: Html) => html` or contact support: ${link}`,
      support: (link: Html) => html`Contact support: ${link}`,
    },
    lost: (support: Html | null, appName: string): string | Html =>
      support === null
        ? `If you have lost your phone and your recovery codes, ask the people who run ${appName} for help.`
        : html`If you have lost your phone and your recovery codes, ask for help: ${support}`,
    expires: 'You have 10 minutes. After that, sign in again.',
    expired: 'There is no sign-in to confirm. It might have expired. Sign in again.',
    cancel: 'Sign in as someone else',
  },
  reauthenticate: {
    title: 'Confirm that it is you',
    lead: 'For your security, confirm that it is you before you continue.',
    leadTo: (what: string) => `To ${what}, confirm that it is you.`,
    /** What the forms do that need a recent sign-in, by their pages and names. */
    actions: {
      'account/profile': 'save your profile',
      'account/username': 'change your username',
      'account/email': 'change your email',
      'account/download': 'download your data',
      'account/delete': 'delete your account',
      'account/api-keys/create': 'create an API key',
      'account/organizations/organization/set-role': 'change the role of this member',
      'account/organizations/organization/remove': 'remove this member',
      'account/organizations/organization/invite': 'invite someone',
      'account/organizations/organization/delete': 'delete this organization',
      'account/security/change-password': 'change your password',
      'account/security/set-password': 'set a password',
      'account/security/remove-password': 'remove your password',
      'account/security/set-up-app': 'set up an authenticator app',
      'account/security/disable-app': 'remove the authenticator app',
      'account/security/renew-codes': 'get new recovery codes',
      'account/security/use-passkeys': 'change your second step',
      'account/security/remove-passkey': 'remove this passkey',
      'account/security/unlink': 'unlink this account',
      'account/security/forget-browser': 'forget this browser',
      'account/security/start-over': 'start over with another email',
      'account/security/second-factor/confirm-app': 'turn on two-factor authentication',
      'administration/users/create': 'create a user',
      'administration/users/user/edit': 'change this user',
      'administration/users/user/delete': 'delete this user',
      'administration/users/user/roles': 'change the roles of this user',
      'administration/users/user/suspend': 'suspend this user',
      'administration/users/user/reinstate': 'end the suspension',
    } as Readonly<Record<string, string>>,
    emailCode: (email: Html) => html`We email a code to ${email}.`,
    send: 'Email me a code',
    sendAgain: 'Email me another code',
    sent: (email: Html, digits: number, time: string) =>
      html`We have emailed a code of ${digits} digits to ${email}. It works for ${time}. Check your spam folder too.`,
    none: 'This page cannot confirm that it is you. Sign out, and sign in again.',
    submit: 'Confirm',
    cancel: 'Cancel',
  },
  forgotPassword: {
    title: 'Reset your password',
    lead: 'Enter the email of your account. We email you a link to choose a new password.',
    submit: 'Email me a link',
    codeLead: 'Enter the email of your account. We email you a code to choose a new password.',
    codeSubmit: 'Email me a code',
    sent: 'Check your email',
    sentText: (address: Html | string) =>
      html`If there is an account with ${address}, an email with a link is on its way. The link expires after an hour. Check your spam folder too.`,
    anyAddress: 'this email',
    again: 'Email me another link',
    back: 'Back to sign-in',
  },
  resetPassword: {
    title: 'Choose a new password',
    invitationTitle: 'Accept your invitation',
    lead: (account: Html) => html`Choose a password for ${account}.`,
    ends: 'A new password ends all sessions of the account.',
    submit: 'Save the password',
    invitationSubmit: 'Create the password',
    invalid: 'This link is no longer valid',
    invalidText:
      'It was already used, or it has expired. If you have chosen a new password already, sign in with it.',
    invitationInvalidText:
      'It was already used, or it has expired. If you have created your password already, sign in with it. Otherwise, ask the people who invited you for another link.',
    again: 'Email me a new link',
    codeLead: 'We have emailed you a code, if there is an account with your email. Enter it here.',
    codeSentTo: (email: Html, digits: number, time: string) =>
      html`If there is an account with ${email}, we have emailed it a code of ${digits} digits. It works for ${time}. Check your spam folder too.`,
    codeAgain: 'Email me another code',
    codeOther: 'Use another email',
    codeFirst: 'Ask for a code first',
    codeFirstText: 'Enter the email of your account, and we email you a code to choose a new password.',
  },
  join: {
    title: (organization: string) => `Join ${organization}`,
    lead: (organization: string) => `You are invited to join ${organization}.`,
    leadBy: (inviter: Html, organization: string) => html`${inviter} invites you to join ${organization}.`,
    email: 'Invited email',
    role: 'Your role',
    expires: 'Valid until',
    submit: (organization: string) => `Join ${organization}`,
    task: 'There is one more step before you can join.',
    otherEmail: (email: Html, account: string | null) =>
      account === null
        ? html`The invitation is for ${email}, which is not the email of your account. Sign out, then continue with the invited email.`
        : html`The invitation is for ${email}, but you are signed in as ${account}. Sign out, then continue with the invited email.`,
    signOut: 'Sign out and continue',
    signIn: (email: Html) => html`${email} has an account. Sign in to it, and you come back here to join.`,
    signInFirst: (email: Html) =>
      html`${email} has no account yet. Continue to create one, and you come back here to join.`,
    createAccount: (email: Html) => html`${email} has no account yet. Create one to join.`,
    submitSignUp: (organization: string) => `Create the account and join ${organization}`,
    otherWay: 'Join without a password',
    afterwards: (organization: string) => `After this, you can join ${organization}.`,
    joined: (organization: string) => `You are now a member of ${organization}.`,
    already: (organization: string) => `You are already a member of ${organization}`,
    open: (organization: string) => `Go to ${organization}`,
    signUpFirst: (email: Html) =>
      html`${email} has no account yet. Create one with this email, then open the link in the invitation again.`,
    closed: (email: Html) =>
      html`${email} has no account yet, and you cannot create one here. Ask the people who run this app for an account, then open the link in the email again.`,
    closedAsk: (email: Html) =>
      html`${email} has no account yet, and you cannot create one here. To get one, ask for help:`,
    nothing: 'If you do not want to join, there is nothing to do.',
    invalid: 'This invitation is no longer valid',
    invalidText:
      'It was already used, was replaced by a newer email, was revoked, or has expired. Open the link in the newest email, or ask the person who invited you for another one.',
    withoutLink: 'Open the link in the email',
    withoutLinkText: 'To join an organization, open the link in the email that invites you.',
    organizations: 'Your organizations',
  },
  verifyEmail: {
    title: 'Confirm your email',
    lead: (account: string) => `Confirm that ${account} is your email.`,
    password: 'Enter the password of this account to show that it is yours.',
    submit: 'Confirm',
    invalid: 'This link is no longer valid',
    invalidText:
      'It was already used, or it has expired. If you have confirmed your email already, just sign in.',
    invalidHere: 'It was already used, or it has expired. You can get a new one.',
    waiting: 'Confirm your email first',
    waitingText: (address: Html | string) =>
      html`Open the link that we have emailed to ${address}, then sign in. Check your spam folder too.`,
    waitingAgain: 'To get a new link, sign in again.',
    perhapsSent: 'If we have emailed you a link, open it, then sign in. To get a new link, sign in.',
    waitingHere: (address: Html | string) =>
      html`Open the link that we have emailed to ${address}. Check your spam folder too.`,
    anyAddress: 'your email',
    done: 'Your email is confirmed',
    doneFor: (email: string) => `${email} is confirmed.`,
    doneText: (account: string) => `You are signed in as ${account}.`,
    send: 'Email me a new link',
    codeFirst: (email: Html | string) =>
      html`We email a code to ${email}. Enter it here to confirm that the email is yours.`,
    codeSentTo: (email: Html | string, digits: number, time: string) =>
      html`We have emailed a code of ${digits} digits to ${email}. It works for ${time}. Check your spam folder too.`,
    codeSignUp: (email: Html | string, digits: number, time: string) =>
      html`If ${email} has no account yet, we have emailed it a code of ${digits} digits. It works for ${time}. Check your spam folder too.`,
    codeSend: 'Email me a code',
    codeSendNew: 'Email me a new code',
    codeSignIn: 'Sign in, and we email you a code to confirm your email.',
    later: 'Not now',
  },
  changeEmail: {
    title: 'Confirm your new email',
    lead: (email: string) => `Use ${email} as the email of your account.`,
    account: (account: string) => `Your current email is ${account}.`,
    elsewhere: 'Open this link where you are signed in',
    elsewhereText:
      'Copy the link of this page, and open it in the browser where you are signed in to the account. There, it needs no password.',
    password: 'Or enter the password of the account here, if it has one.',
    submit: 'Use this email',
    invalid: 'This link is no longer valid',
    invalidText:
      'It was already used, it has expired, it was canceled, or your account has changed since then. A newer email might have replaced it: then open the link in the newest one. If you have confirmed your new email already, just sign in with it.',
    invalidHere: (email: string) =>
      `It was already used, it has expired, it was canceled, or your account has changed since then. A newer email might have replaced it: then open the link in the newest one. The email of your account is ${email}.`,
    signsOut: 'You will be signed out everywhere.',
    signsOutOthers: 'You will be signed out on all other devices.',
    done: 'Your email was changed',
    doneText: (email: string) => `Your email is now ${email}.`,
    doneElsewhere: 'Your sessions have ended. Sign in with the new email.',
  },
  undoChange: {
    title: 'Undo a change',
    what: (change: string) => `${change}.`,
    emailChanged: (from: string, to: string) => `The email was changed from ${from} to ${to}.`,
    account: 'Account',
    when: 'When',
    device: 'Device',
    unknownDevice: 'An unknown device',
    lead: 'If this was not you, undo it. This also undoes every later change of the account, and ends all sessions.',
    removes: 'Your password is removed, and you choose a new one by email.',
    done: 'The change was undone',
    choose: (email: Html) =>
      html`Choose a new password with the link that we have emailed to ${email}. Check your spam folder too.`,
    ended: 'All sessions have ended.',
    password: 'Your password from before the change',
    passwordHint: '',
    code: 'Code from your authenticator app, or a recovery code',
    codeHint: 'Use the app or the recovery codes that you had before the change.',
    submit: 'Undo the change',
    withPasskey: 'Undo it with your passkey',
    nothing: 'If it was you, there is nothing to do.',
    otherBrowser: 'Open this link in a browser that your account knows',
    otherBrowserText:
      'The link works only in a browser that you had already used for a while. Copy the link of this page, and open it there.',
    tooNew: (since: Html) =>
      html`This browser was too new when the change was made: your account has known it only since ${since}.`,
    worksIn: 'The link works in:',
    knownSince: (browser: string, since: Html) => html`${browser}, known since ${since}`,
    copyAddress: 'Copy the link',
    help: (support: Html | string | null): string | Html =>
      support === null
        ? 'If you do not have such a browser, ask the people who run this app for help.'
        : html`If you do not have such a browser, ask for help: ${support}`,
    noBrowser: 'This link works in no browser',
    noBrowserText:
      'The account had been used in no browser for long enough when the change was made. So only support can undo it.',
    helpWithout: (support: Html | string | null): string | Html =>
      support === null ? 'Ask the people who run this app for help.' : html`Ask for help: ${support}`,
    changePassword: 'Change your password',
    invalid: 'This link is no longer valid',
    invalidText: 'It was already used, it has expired, or the change was already undone.',
    invalidHelp: (support: Html | string | null): string | Html =>
      support === null
        ? 'If you did not make the change, ask the people who run this app for help.'
        : html`If you did not make the change, ask for help: ${support}`,
    /** The words about a deleted account that differ. */
    deletion: {
      title: 'Restore your account',
      done: 'Your account was restored',
      lead: 'You can restore the account as it was before it was deleted.',
      password: 'Your password',
      passwordHint: 'It shows that the account is yours.',
      codeHint: '',
      submit: 'Restore the account',
      withPasskey: 'Restore it with your passkey',
      nothing: 'If the account should stay deleted, there is nothing to do.',
    },
  },
  emailedSignIn: {
    title: 'Enter your code',
    lead: 'We have emailed you a code. Enter it here, in the browser where you asked for it.',
    notAsked: 'To sign in with a code, ask for one in this browser. Then enter it here.',
    sentTo: (email: Html, digits: number, time: string, isCertain: boolean) =>
      isCertain
        ? html`We have emailed a code of ${digits} digits to ${email}. It works for ${time}. Check your spam folder too.`
        : html`If there is an account with ${email}, an email with a code of ${digits} digits is on its way. It works for ${time}. Check your spam folder too.`,
    submit: 'Sign in',
    linkTitle: 'Sign in',
    linkLead: (email: string) => `Continue to sign in as ${email}.`,
    linkSubmit: 'Sign in',
    usedTitle: 'This link is no longer valid',
    used: 'It was already used, or it has expired.',
    usedHere: (account: string) => `It was already used, or it has expired. You are signed in as ${account}.`,
    elsewhereTitle: 'You asked for this email in another browser',
    elsewhere:
      'Go back to that browser, and enter the code from the email there. Some apps open links in a browser of their own.',
    here: (email: Html) => html`Or sign in here: we email a new code to ${email}.`,
    hereSubmit: 'Sign in here instead',
    notYou: 'If you did not ask for this email, you can ignore it.',
    createTitle: 'Create your account',
    fields: (email: Html | string) => html`${email} has no account yet. Complete this to create one.`,
    thisEmail: 'This email',
    lostFields: (labels: readonly string[]) =>
      `Not kept from the sign-up: ${labels.join(', ')}. If you create an account, enter this on your profile later.`,
    again: 'Email me another code',
    other: 'Use another email',
  },
};
