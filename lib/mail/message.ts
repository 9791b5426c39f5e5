import type { User } from '../tables/user.js';

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
  /** The one-time token, also contained in `url`. Empty in a notice of what cannot be undone. */
  readonly token: string;
  /**
   * The app's page with `?token=`. A path if the config has neither `baseUrl` nor an absolute URL for the page. Empty in a
   * notice of what cannot be undone.
   */
  readonly url: string;
  /** In a notice, what it tells, for texts of your own. Null in other emails. */
  readonly details: MailDetails | null;
}

/** What a notice tells beside its text. */
export interface MailDetails {
  /** When it happened. */
  readonly at: Date;
  /**
   * The device in words, such as "Firefox on Windows", according to its user agent, which can be made up. Null for what an
   * administrator or the app itself did.
   */
  readonly device: string | null;
  /** The client's IP address. Null if it is unknown, and for what an administrator or the app itself did. */
  readonly ip: string | null;
  /**
   * What it is about: the id of a provider, or the name of an API key or passkey, on one line of at most 100 characters.
   * Whoever named it may be an intruder: escape it, and let it become no link. Null for other kinds.
   */
  readonly subject: string | null;
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

/** The texts of a notice, which has no link but perhaps one that undoes what it is about. */
export interface NoticeTemplate {
  readonly kind: MailKind;
  /** The subject line. Nothing that a user has written belongs into it. */
  readonly subject: string;
  readonly lines: readonly string[];
  /** What the `subject` of its details is, such as `Passkey`. @default `What` */
  readonly about?: string;
  /** The text before the link that undoes it. @default "If it was not you, undo it here within 7 days:" */
  readonly undo?: string;
  /** What to do instead if there is no such link. @default nothing */
  readonly help?: string;
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
  const url = linkTo(page, token, baseUrl);
  const text = `${before}\n\n${url}\n\n${after}\n`;
  const html = `<p>${before}</p>\n<p><a href="${escapeHtml(url)}">${action}</a></p>\n<p>${after}</p>\n`;
  return { kind, to, user, subject, text, html, token, url, details: null };
}

/** The page with the token in its query. */
export function linkTo(page: string, token: string, baseUrl: string | null): string {
  const link = new URL(page, baseUrl ?? RELATIVE);
  link.searchParams.set('token', token);
  return link.origin === RELATIVE ? link.href.slice(RELATIVE.length) : link.href;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
