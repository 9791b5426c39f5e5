import type { Request } from 'express';
import { type Html, html } from './html.js';

const PROBLEMS: Record<string, string> = {
  // Of forms.
  validation_failed: 'Please check',
  invalid_credentials: 'The account name or the password is wrong.',
  email_taken: 'There is already an account with this email. Sign in to it, or use another email.',
  username_taken: 'This username is taken. Choose another.',
  invalid_token: 'The link has expired or was already used.',
  password_already_set: 'Your account already has a password.',
  account_in_use: 'The account cannot be deleted, because other data depends on it.',
  invalid_code:
    'The code is wrong, or was already used. Enter the one that your app shows now, or the one in the newest email.',
  email_code_not_offered: 'Your account has a second factor. Use that instead.',
  sign_in_expired: 'This sign-in took too long, or too many codes were wrong. Start again.',
  other_browser:
    'This link works only in the browser in which you asked for it. Enter the code from the email there.',
  invalid_passkey: 'The passkey could not be verified. Try again.',
  passkey_exists: 'This passkey is in use already. Use another device, or sign in with it.',
  email_not_verified: 'Confirm your email first: open the link that we have sent to it.',
  proof_required:
    'Open the link in a browser that your account has known for 30 days, and enter what you signed in with before the change.',
  last_sign_in_method: 'This is your only way to sign in. Set a password first.',
  unauthenticated: 'Sign in first.',
  invalid_session: 'Your session has ended. Sign in again.',
  unavailable: 'The app cannot answer right now. Try again shortly.',
  // Of providers too.
  rate_limited: 'Too many attempts. Try again in a minute.',
  invalid_flow:
    'This sign-in was not started in this browser, is already complete, or took too long. Start again.',
  access_denied: 'You declined at the provider, so nothing has changed.',
  account_suspended: 'This account is suspended. Contact the people who run this service.',
  account_exists:
    'There is already an account with this email. Sign in to it, then link the provider under “Linked accounts”.',
  account_linked_elsewhere: 'This account at the provider is linked to another user here.',
  provider_already_linked: 'You have already linked another account of this provider. Unlink it first.',
  account_not_linked: 'This is not the account at the provider that you have linked here.',
  provider_error: 'The provider did not respond correctly. Try again later.',
};

const FIELDS: Record<string, string> = {
  email: 'the email, such as ada@example.com',
  username: 'the username: 3 to 30 letters, digits, dots, hyphens and underscores',
  password: 'the password: at least 8 characters, and not one that many people have',
  new_email: 'the new email, such as ada@example.com',
  name: 'the name: at most 80 characters',
  new_password: 'the new password: at least 8 characters, and not one that many people have',
  current_password: 'the current password',
  credential: 'the email or username',
};

/** What to do before a change, on a page where a browser without scripts comes to. */
const NOT_ENOUGH: Record<string, string> = {
  reauthentication_required: 'You signed in a while ago.',
  second_factor_required: 'This needs your second factor.',
};

const DONE: Record<string, string> = {
  'link-sent':
    'If there is an account with this email, we have sent a link to it. The link works for one hour.',
  'sent-again': 'We have sent you a new link.',
  'code-asked': 'We have sent you an email with a code, which works for 10 minutes.',
  'code-sent': 'We have sent you the code again.',
  'email-confirmed': 'Your address is confirmed.',
  'profile-saved': 'Your name and username have been saved.',
  'email-asked': 'We have sent a link to the new address. It works for one hour.',
  'email-changed': 'Your email has been changed. All your other sessions have ended.',
  'account-closed': 'Your account has been closed, and everything in it deleted.',
  'password-changed': 'Your password has been changed. All your other sessions have ended.',
  'password-set': 'You can now also sign in with your password.',
  'password-removed':
    'Your account had a password that someone else could have chosen, so it was removed. You can set a new one.',
  'password-saved':
    'Your new password has been saved. All your sessions have ended, in every browser. Sign in with the new password.',
  undone:
    'The change has been undone, and everybody is signed out. Choose a new password now: we have sent a link to the email of your account.',
  'session-ended': 'The session has ended.',
  unlinked: 'The account has been unlinked.',
};

/**
 * What a page says about the form that led to it, or about a provider. Forms and providers add `?error=<code>` to a URL,
 * and the pages' own forms `?done=`. Anyone can make such links, so only the texts above are shown.
 */
export function outcomeOf({ query, path }: Request): { problem: string | Html; done: string } {
  const { error, error_fields: fields, done, ended, password_removed: removed } = query;
  const notEnough = textIn(NOT_ENOUGH, error);
  return {
    problem: notEnough
      ? askedAgain(notEnough, path, query)
      : problemOf(error, String(fields ?? '').split(',')),
    done:
      ended === '1'
        ? 'Your session has ended. Sign in again.'
        : (textIn(DONE, removed === 'true' ? 'password-removed' : done) ?? ''),
  };
}

/** @param query of the page, to which the user comes back without the error */
function askedAgain(reason: string, path: string, { token }: Request['query']): Html {
  const next = typeof token === 'string' ? `${path}?${new URLSearchParams({ token })}` : path;
  const query = new URLSearchParams({ next }).toString();
  return html`${reason} <a href="/reauthenticate?${query}">Confirm that it is you</a>, then try again.`;
}

function problemOf(code: unknown, fields: readonly string[]): string {
  if (typeof code !== 'string') return '';
  const text = textIn(PROBLEMS, code) ?? 'That did not work. Please try again.';
  const names = fields.flatMap((name) => textIn(FIELDS, name) ?? []);
  return names.length > 0 ? `${text} ${names.join('; and ')}.` : text;
}

function textIn(texts: Record<string, string>, key: unknown): string | undefined {
  return typeof key === 'string' && Object.hasOwn(texts, key) ? texts[key] : undefined;
}
