import type { User } from '../models/user.js';

/** What a mail is about. */
export type MailKind = 'verify-email' | 'reset-password';

/** A mail to one of the users, ready to be sent. `text` and `html` can be replaced: `url` is what matters. */
export interface MailMessage {
  readonly kind: MailKind;
  /** The user's stored address, never one that somebody typed. */
  readonly to: string;
  readonly user: User;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The one-time token, which `url` holds too. */
  readonly token: string;
  /** The app's own page, with `?token=`: a path, where the config has neither `baseUrl` nor a URL for the page. */
  readonly url: string;
}

const WORDS: Record<MailKind, { subject: string; before: string; action: string; after: string }> = {
  'verify-email': {
    subject: 'Confirm your email address',
    before: 'Please confirm that this email address is yours:',
    action: 'Confirm the address',
    after: 'The link works for 24 hours. If you did not sign up, you need do nothing.',
  },
  'reset-password': {
    subject: 'Choose a new password',
    before: 'Somebody asked to choose a new password for your account. If it was you, go on here:',
    action: 'Choose a new password',
    after: 'The link works for one hour. If it was not you, your password stays as it is.',
  },
};

const RELATIVE = 'http://relative.invalid';

/** @param page the app's own page, as a URL or a path; the token is added to its query */
export function composeMail(
  kind: MailKind,
  user: User,
  to: string,
  token: string,
  page: string,
): MailMessage {
  const link = new URL(page, RELATIVE);
  link.searchParams.set('token', token);
  const url = link.origin === RELATIVE ? link.href.slice(RELATIVE.length) : link.href;
  const { subject, before, action, after } = WORDS[kind];
  const text = `${before}\n\n${url}\n\n${after}\n`;
  const html = `<p>${before}</p>\n<p><a href="${escapeHtml(url)}">${action}</a></p>\n<p>${after}</p>\n`;
  return { kind, to, user, subject, text, html, token, url };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
