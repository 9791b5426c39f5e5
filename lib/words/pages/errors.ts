/** The error of a request that a page does not send, unless someone has changed it. */
const unexpected = 'This did not work. Reload the page, and try again.';

/** What every page says of an emailed code that is used up. */
const codeOver =
  'This code no longer works: it has expired, was used already, or a wrong one was entered too often. Email yourself another one.';

/** What it says of the code of an authenticator app. It does not say which it is, because that is a hint for attackers. */
const wrongTotp = 'This code is wrong, or was already used. Check it, or wait for the next code.';

/** What it says besides, where a sign-in before the email is confirmed is rejected in the same way. */
const unconfirmed =
  ', or the email is not confirmed yet. If you have just signed up, open the link that we have emailed to you.';

/** What is said of an empty password where only that of one account proves who it is. */
const ownPassword = 'Enter the password of this account.';

const wrongSlug =
  'Enter 2 to 63 small letters, digits and single hyphens, with a letter or digit at the start and end.';

const unknownRole = 'Choose a role of this list. It might have changed, so open this page again.';

/** The words about errors. */
export const errors = {
  errorTitle: (title: string) => `Error: ${title}`,
  errorHeading: 'There is a problem',
  codeOver,

  /** What an error means to the user, by its code. */
  errors: {
    account_deleted:
      'This account was deleted. For some time, it can be restored: with the link in the email about the deletion, if there is one, or by the people who run this app.',
    account_exists:
      'You already have an account with this email. Sign in to it, then link this service under Security.',
    account_in_use: 'The account cannot be deleted yet, because other data depends on it.',
    account_linked_elsewhere:
      'This account is already used to sign in to another account here. Sign in with it, or use another one.',
    account_not_linked: 'This account is not linked. It might have been unlinked already.',
    account_suspended: 'This account is suspended. Contact the people who run this service.',
    access_denied:
      'You canceled the sign-in at the other service. You can try again, or sign in another way.',
    acting_session: 'You are acting as this user, so you can only look at pages of the app.',
    admin_required: 'Only administrators can open this page.',
    already_member: 'This user is already a member.',
    ambiguous_credentials: unexpected,
    api_key_not_found: 'This key does not exist. It might have been revoked already.',
    body_too_large: 'You entered more than this form accepts. Shorten it, and try again.',
    body_too_slow: 'The connection was too slow. Try again.',
    code_expired: 'This code no longer works here. Ask for another one.',
    device_not_found: 'Your account does not know this browser. It might have been removed already.',
    email_code_not_offered: 'No code can be emailed here. Choose another way to confirm that it is you.',
    email_missing: 'This user has no email to send a link to.',
    email_not_verified: 'Confirm your email first.',
    email_taken: 'Another account has this email.',
    email_unproven: 'The email of this user is not confirmed, so the user could be someone else.',
    human_check_failed: 'We could not confirm that a person has sent this. Try again.',
    'human_check_failed/no-script':
      'We could not confirm that a person has sent this. Turn on JavaScript, reload this page, and try again.',
    insufficient_scope: unexpected,
    invitation_for_other_email:
      'This invitation is for another email. Sign out, then open the link in the email again.',
    invitation_not_found: 'This invitation does not exist. It might have been accepted or revoked already.',
    invalid_api_key: unexpected,
    invalid_callback_url: unexpected,
    invalid_code: 'This code is wrong, or was already used. Check it, and try again.',
    invalid_credentials: 'The email or the password is wrong.',
    invalid_flow:
      'The sign-in at the other service took too long, or was started in another browser. Try again.',
    invalid_json: unexpected,
    invalid_passkey: 'The passkey was not accepted. Try again.',
    invalid_request: unexpected,
    invalid_session: 'You have been signed out. Sign in again to continue.',
    invalid_token: 'This link is no longer valid: it was already used, or it has expired.',
    last_owner:
      'An organization needs an owner whose account is active. Make another member an owner first, or delete the organization.',
    last_sign_in_method: 'This is the only way to sign in to your account. Add another one first.',
    mail_refused: 'This address does not accept email. Check it for typing mistakes.',
    member_not_found: 'This user is not a member. The membership might have ended already.',
    method_not_allowed: unexpected,
    new_password_required: 'This account needs a new password. Open the link that we have emailed to you.',
    no_passkey: 'You have no passkey yet. Add one first.',
    organization_full: 'The organization has as many members as possible.',
    organization_in_use: 'The organization cannot be deleted yet, because other data depends on it.',
    organization_not_found: 'This organization does not exist, or you are not a member of it.',
    origin_not_allowed:
      'This form was sent from another website, or from an address that is not the usual one of this app. Open the app at its usual address, and try again.',
    other_browser:
      'You asked for this email in another browser. Enter the code from the email there. If you did not ask for it, ignore the email.',
    own_account: 'This is your own account. Ask another administrator to do this.',
    passkey_exists: 'This passkey is already in use. Use another device, or sign in with it.',
    passkey_not_found: 'This passkey does not exist. It might have been removed already.',
    password_already_set: 'The account already has a password. You can change it instead.',
    password_not_set: 'The account has no password.',
    proof_required: 'More is needed to show that this account was yours before the change.',
    provider_already_linked: 'Another account of this service is already linked. Unlink it first.',
    provider_error: 'The other service did not respond as expected. Try again, or sign in another way.',
    permission_required: 'You are not allowed to do this. Ask an administrator.',
    provider_not_found: 'This service is not available. Sign in another way.',
    provider_slow: 'The other service takes longer than usual. Try again in a few seconds.',
    rate_limited: 'Too many attempts. Try again later.',
    /** An email that is asked for once more: the one before still works. */
    'rate_limited/again': 'We cannot send this email again for now. Use the newest one that you have.',
    reauthentication_required: 'You signed in a while ago. Confirm that it is you, then try again.',
    refresh_token_missing: 'This account has to be linked again.',
    relink_required: 'This account has to be linked again.',
    scope_required: unexpected,
    second_factor_demanded:
      'Your account needs two-factor authentication. Set up another authenticator app or passkey first.',
    second_factor_required: 'This needs two-factor authentication. Confirm that it is you, then try again.',
    session_not_found: 'This session has already ended.',
    session_required: unexpected,
    sign_in_expired:
      'This has expired, was completed already, or a code was entered wrong too often. Start again.',
    sign_up_incomplete: 'The other service did not share everything that an account needs.',
    sign_up_refused: 'You cannot sign up here. Ask the people who run this app for an account.',
    target_is_administrator:
      'This user is an administrator, so this is not possible here. Ask the people who run this app.',
    slug_taken: 'Another organization has this short name. Choose another.',
    task_required: 'There is one more step before you can do this.',
    too_many_api_keys: 'You have as many keys as possible. Revoke one that you no longer need.',
    too_many_invitations:
      'The organization has as many invitations as possible. Revoke one, or wait until one is accepted.',
    too_many_organizations:
      'You own as many organizations as possible. Delete one, or make someone else the owner of one.',
    too_many_passkeys: 'You have as many passkeys as possible. Remove one that you no longer use.',
    totp_not_enabled: 'Two-factor authentication is off. Turn it on first.',
    unauthenticated: 'You have been signed out. Sign in again to continue.',
    unavailable: 'This is not possible at the moment.',
    unknown_passkey:
      'No account has this passkey. Sign in another way, and delete the passkey from your device.',
    unsupported_media_type: unexpected,
    user_not_found: 'This user does not exist.',
    username_taken: 'This username is taken. Choose another.',
    validation_failed: 'Check what you have entered.',
  } as Readonly<Record<string, string>>,

  /** What the errors of a sign-in at a provider mean, with its name. */
  errorsAt: {
    access_denied: (provider) => `You canceled at ${provider}. Try again, or sign in another way.`,
    account_exists: (provider) =>
      `You already have an account with the email of your ${provider} account. Sign in to it, then link ${provider} under Security.`,
    invalid_flow: (provider) =>
      `The sign-in at ${provider} took too long, or was started in another browser. Try again.`,
    provider_error: (provider) =>
      `${provider} did not respond as expected. Try again, or sign in another way.`,
    provider_slow: (provider) => `${provider} takes longer than usual. Try again in a few seconds.`,
    sign_up_incomplete: (provider, page) =>
      `${provider} did not share everything that an account needs.${page === 'sign-up' ? ' Fill in the form instead.' : ''}`,
  } as Readonly<Record<string, (provider: string, page: string) => string>>,

  /** The sentence that the exact wait replaces. */
  later: 'Try again later.',

  /**
   * What an error means on one page, by the page's name, or in one of its forms, by the page's name and the form's. With
   * a slash before it, it is the error of a field that is not missing, or with `required` and what users sign in with, of
   * one that is. After a code and a slash, it is for one kind of code or
   * identifier, for one field that the error stands beside, or where a sign-up conceals which emails have an account.
   */
  errorsOf: {
    account: { invalid_credentials: 'This is not your current password.' },
    'account/delete': {
      last_owner:
        'You are the only owner of an organization that has other members. Make one of them an owner first, or delete the organization. Nothing was deleted.',
    },
    'account/api-keys': { invalid_credentials: 'This is not your current password.' },
    'account/api-keys/create': {
      '/expires_at': 'Choose a date after today.',
      '/name': 'Enter a name of at most 100 characters.',
      '/scopes':
        'Enter the names of rights that the documentation of this app lists, separated by spaces or commas.',
    },
    'account/organizations/create': {
      admin_required: 'Only administrators can create organizations.',
      email_not_verified: 'Confirm your email first. Then you can create an organization.',
      '/name': 'Enter a name of at most 100 characters.',
      '/slug': wrongSlug,
    },
    'account/organizations/organization': {
      invalid_credentials: 'This is not your current password.',
      last_owner:
        'This organization would have no owner whose account is active. Make another member an owner first. Nothing was changed.',
      permission_required: 'Your role does not allow this. Ask an owner of the organization.',
    },
    'account/organizations/organization/invite': {
      permission_required: 'Your role does not allow you to invite someone with this role.',
      '/role': unknownRole,
    },
    'account/organizations/organization/remove/:userId': {
      permission_required: 'Your role does not allow you to remove this member.',
    },
    'account/organizations/organization/rename': {
      '/name': 'Enter a name of at most 100 characters.',
      '/slug': wrongSlug,
    },
    'account/organizations/organization/set-role/:userId': {
      permission_required: 'Your role does not allow you to give or take this role.',
      '/role': unknownRole,
    },
    'account/security': {
      access_denied: 'You canceled at the other service, so no account was linked.',
      email_not_verified:
        'Confirm your email first. Then you can turn on two-factor authentication and add passkeys.',
      invalid_credentials: 'This is not your current password.',
    },
    'account/security/second-factor/confirm-app': {
      invalid_code: 'This is not the code that your app shows now. Wait for the next code, and enter that.',
    },
    'administration/users/create': {
      email_taken: 'A user already has this email.',
      username_taken: 'A user already has this username.',
      '/email/required/either': 'Enter an email or a username.',
      '/email/required/username': 'Enter an email or a username.',
    },
    'administration/users/user/roles': {
      permission_required: 'A role that you changed allows more than you are allowed to do.',
      '/roles': 'Choose roles of this list. It might have changed, so open this page again.',
    },
    'administration/users/user/edit': { username_taken: 'Another user has this username.' },
    'administration/users/user/suspend': { '/until': 'Choose a time in the future.' },
    'change-email/confirm': {
      email_taken: 'Another account has this email by now.',
      invalid_credentials: 'This is not the password of this account.',
      'unauthenticated/password':
        'Enter the password of this account, or open this link where you are signed in.',
    },
    join: {
      account_exists: 'This email has an account. Sign in to it, then join.',
      invalid_token: 'This invitation was already used, replaced or revoked, or it has expired.',
      sign_up_refused: 'You cannot create an account here. Ask the people who run this app for one.',
    },
    invitation: { invalid_token: 'This invitation was already used, or it has expired.' },
    'reauthenticate/confirm': {
      'invalid_code/code': wrongTotp,
      invalid_credentials: 'This is not your current password.',
      sign_in_expired: codeOver,
    },
    /** The page about a rejected request, whose title says what has happened. */
    refusal: {
      invalid_session: 'Sign in again to continue.',
      unauthenticated: 'Sign in again to continue.',
      invalid_request: '',
    },
    'reset-password/set': {
      '/code': 'Enter the code.',
      code_expired: codeOver,
      invalid_code: 'This code is wrong. Check it in the newest email, and try again.',
    },
    'second-factor/confirm': {
      'invalid_code/totp': wrongTotp,
      sign_in_expired: 'This sign-in has expired, or a wrong code was entered too often. Sign in again.',
      'sign_in_expired/email_code':
        'This sign-in has expired, or a wrong code was entered too often. Sign in again to get a new code.',
      invalid_credentials: 'This code is wrong, or was already used. Check it, and try again.',
    },
    'sign-in/email/confirm': {
      '/code': 'Enter the code.',
      invalid_code: 'This code is wrong. Check it in the newest email, and try again.',
      sign_in_expired: codeOver,
    },
    'sign-in/password': {
      'invalid_credentials/either': 'The email, username or password is wrong.',
      'invalid_credentials/username': 'The username or the password is wrong.',
      'invalid_credentials/email/concealed': `The email or the password is wrong${unconfirmed}`,
      'invalid_credentials/either/concealed': `The email, username or password is wrong${unconfirmed}`,
    },
    'sign-in/send-code': { '/email': 'To get a code, enter your email, such as ada@example.com.' },
    'sign-in': { invalid_passkey: 'The passkey was not accepted. Try again, or sign in another way.' },
    'sign-up': {
      sign_up_incomplete:
        'The other service did not share everything that an account needs. Fill in the form instead.',
    },
    'sign-up/password': {
      email_taken: 'You already have an account with this email.',
      '/email/required/either': 'Enter an email, a username or both.',
    },
    'undo-change/confirm': {
      'invalid_code/code':
        'This code is wrong, or was already used. Wait for the next code of the app that you had before the change.',
      'invalid_code/recovery_code':
        'This recovery code is wrong, or was already used. Enter one that you had before the change.',
      invalid_credentials: 'This was not your password before the change.',
      'invalid_code/account-deleted/code': wrongTotp,
      'invalid_code/account-deleted/recovery_code':
        'This recovery code is wrong, or was already used. Enter another one.',
      'invalid_credentials/account-deleted/password': 'This is not the password of this account.',
      'proof_required/account-deleted/password': ownPassword,
      'proof_required/code': 'Enter a code from your authenticator app, or a recovery code.',
      'proof_required/password': 'Enter the password that the account had before this change.',
    },
    'verify-email/confirm': {
      invalid_code: 'This code is wrong. Check it in the newest email, and try again.',
      invalid_credentials: 'This is not the password of this account.',
      'unauthenticated/password': ownPassword,
    },
  } as Readonly<Record<string, Readonly<Record<string, string>>>>,

  /** What to enter in a field that was left empty, by the field's name. After a slash, only if the app signs in by that. */
  missing: {
    code: 'Enter the code.',
    confirmation: 'Type it to confirm. Nothing was deleted.',
    credential: 'Enter your email or username.',
    'credential/email': 'Enter your email.',
    'credential/username': 'Enter your username.',
    email: 'Enter an email.',
    email_code: 'Enter the code.',
    name: 'Enter a name.',
    new_email: 'Enter your new email.',
    slug: 'Enter a short name.',
    new_password: 'Enter a new password.',
    password: 'Enter a password.',
    recovery_code: 'Enter a recovery code.',
    scopes: 'Choose at least one right.',
    username: 'Enter a username.',
  } as Readonly<Record<string, string>>,

  /** What is wrong with a field of the app whose pattern does not allow the value. */
  wrongFormat: (label: string, hint: string | null) =>
    `Check the format of ${label}.${hint === null ? '' : ` ${hint}`}`,
  /** What is missing in a list of values. */
  notChosen: 'Choose one of these.',

  /** What every page of an invalid link says besides. */
  wholeLink: 'If the link is incomplete, copy the whole link from the email.',
  /** What is said of a form that was shown to another account than the one that is signed in now. */
  otherAccount: (account: string) =>
    `You are now signed in as ${account}, but this form was of another account. Nothing was changed.`,
  /** What is wrong with a field, by the code of its error. Other errors keep their own words. */
  fieldErrors: {
    not_confirmed: 'This does not match. Nothing was deleted.',
    invalid_email: 'Enter an email such as ada@example.com.',
    /** Instead of `invalid_email`, if there is a letter such as é before the @. */
    internationalized_email: 'Enter an email without accents and other special letters before the @.',
    other_account: 'You have signed in to another account meanwhile. Nothing was changed.',
    password_breached: 'This password is known from a data breach. Choose another.',
    password_is_identifier: 'Choose a password that is not your email or username.',
    password_too_common: 'This password is easy to guess. Choose another.',
    required: 'Fill in this field.',
    same_email: 'This is already your email.',
    same_password: 'This is your current password. Choose another.',
    taken: 'This is taken. Choose another.',
    unknown_key: 'This field is not expected here. Reload the page, and try again.',
    wrong_type: 'This value is not possible here. Check it, and try again.',
    /** After a slash, only for the app's own fields of this type. */
    'wrong_type/integer': 'Enter a whole number, such as 45.',
    'wrong_type/number': 'Enter a number.',
    'invalid/plainDate': 'Enter a date.',
  } as Readonly<Record<string, string>>,

  /** The links to the next step after an error. */
  steps: {
    'forgot-password': 'Reset your password',
    reauthenticate: 'Confirm that it is you',
    'sign-in': 'Sign in',
    'sign-up': 'Create an account',
    support: 'Contact support',
    'verify-email': 'Confirm your email',
  },
};
