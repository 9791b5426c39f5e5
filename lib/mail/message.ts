import type { User } from '../models/user.js';

/** Every kind of email. Plugins add their own. */
// biome-ignore lint/suspicious/noEmptyInterface: it is extended by those that send email
export interface MailKinds {}

/** The kind of an email. */
export type MailKind = keyof MailKinds;

/** An email to a user, ready to be sent. The app can use texts of its own, as long as they contain `url`. */
export interface MailMessage {
  /** The kind, such as `verify-email`. */
  readonly kind: MailKind;
  /** The user's stored address; for `verify-new-email`, the one that the user is to get. */
  readonly to: string;
  /** The recipient. */
  readonly user: User;
  /** The subject line, in English. */
  readonly subject: string;
  /** The plain text body, in English. */
  readonly text: string;
  /** The HTML body, in English. */
  readonly html: string;
  /** The one-time token, also contained in `url`. Empty in a notice, which has no link. */
  readonly token: string;
  /**
   * The app's page with `?token=`. A path if the config has neither `baseUrl` nor an absolute URL for the page. Empty in a
   * notice.
   */
  readonly url: string;
}

/** The texts of an email, and the page that it links to. */
export interface MailTemplate {
  readonly kind: MailKind;
  /** The app's page for the link: a URL, or a path relative to `baseUrl`. */
  readonly page: string;
  readonly subject: string;
  /** The text before the link. */
  readonly before: string;
  /** The text of the link. */
  readonly action: string;
  /** The text after the link. */
  readonly after: string;
}

/** The texts of an email without a link. */
export interface NoticeTemplate {
  readonly kind: MailKind;
  readonly subject: string;
  readonly lines: readonly string[];
}

/** An email without a link. */
export function composeNotice({ kind, subject, lines }: NoticeTemplate, user: User, to: string): MailMessage {
  const text = `${lines.join('\n\n')}\n`;
  const html = lines.map((line) => `<p>${escapeHtml(line)}</p>\n`).join('');
  return { kind, to, user, subject, text, html, token: '', url: '' };
}

const RELATIVE = 'http://relative.invalid';

/** @param baseUrl resolves a path; without it, the link stays relative */
export function composeMail(
  { kind, page, subject, before, action, after }: MailTemplate,
  user: User,
  to: string,
  token: string,
  baseUrl: string | null,
): MailMessage {
  const link = new URL(page, baseUrl ?? RELATIVE);
  link.searchParams.set('token', token);
  const url = link.origin === RELATIVE ? link.href.slice(RELATIVE.length) : link.href;
  const text = `${before}\n\n${url}\n\n${after}\n`;
  const html = `<p>${before}</p>\n<p><a href="${escapeHtml(url)}">${action}</a></p>\n<p>${after}</p>\n`;
  return { kind, to, user, subject, text, html, token, url };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
