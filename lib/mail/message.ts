import type { User } from '../models/user.js';

/** Every kind of mail. Plugins add theirs. */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled by the plugins that send mail
export interface MailKinds {}

/** What a mail is about. */
export type MailKind = keyof MailKinds;

/** A mail to one of the users, ready to be sent. `text` and `html` can be replaced: `url` is what matters. */
export interface MailMessage {
  /** What it is about. */
  readonly kind: MailKind;
  /** The user's stored address, never one that somebody typed. */
  readonly to: string;
  /** The user to whom it goes. */
  readonly user: User;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** The one-time token, which `url` contains too. */
  readonly token: string;
  /** The app's own page, with `?token=`: a path, where the config has neither `baseUrl` nor a URL for the page. */
  readonly url: string;
}

/** What a plugin's mail says, and where its link leads. */
export interface MailTemplate {
  readonly kind: MailKind;
  /** The app's own page for the link: a URL, or a path below `baseUrl`. */
  readonly page: string;
  readonly subject: string;
  /** Before the link. */
  readonly before: string;
  /** The link's own text. */
  readonly action: string;
  /** After the link. */
  readonly after: string;
}

const RELATIVE = 'http://relative.invalid';

/** @param baseUrl what the page's path is below; without it a path stays a path */
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
