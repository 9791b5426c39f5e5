import { isIP } from 'node:net';
import type { User } from '../tables/user.js';
import { deviceInWords } from './device-words.js';
import { escapeHtml, linkTo, type MailDetails, type MailMessage, type NoticeTemplate } from './message.js';

/** What a notice tells beside its text. */
export interface NoticeFacts {
  readonly at: Date;
  /** Who did it. Null if it was not the user, nor somebody in their place. */
  readonly client: { readonly ip: string | null | undefined; readonly userAgent: string | null } | null;
  /** What it is about, as its owner has named it. */
  readonly subject: string | null;
  /** The page and the token of the link that undoes it. Null if it cannot be undone. */
  readonly undo: { readonly page: string; readonly token: string } | null;
}

const UNDO = 'If it was not you, undo it here within 7 days:';
const UNVERIFIED =
  'You get this email because your address was given for an account. If you have none, somebody else used it: ignore this email.';
const ACTION = 'This was not me';
const MAX_SUBJECT = 100;

/** @param facts null for an email that tells somebody of what another person did */
export async function composeNotice(
  { kind, subject, lines, about = 'What', undo: intro = UNDO, help }: NoticeTemplate,
  user: User,
  to: string,
  facts: NoticeFacts | null,
  baseUrl: string | null,
): Promise<MailMessage> {
  const details = facts && (await detailsOf(facts));
  const table = details ? rowsOf(user, details, about).map(([name, value]) => `${name}: ${value}`) : [];
  const undo = facts?.undo ?? null;
  const url = undo ? linkTo(undo.page, undo.token, baseUrl) : '';
  const last = undo ? intro : help;
  const explanation = details && user.emailVerifiedAt === null ? [UNVERIFIED] : [];
  const text = [
    ...lines,
    ...(details ? [table.join('\n')] : []),
    ...(last ? [last] : []),
    ...(undo ? [url] : []),
    ...explanation,
  ];
  const html = [
    ...lines.map(escapeHtml),
    ...(details ? [table.map(escapeHtml).join('<br>\n')] : []),
    ...(last ? [escapeHtml(last)] : []),
    ...(undo ? [`<a href="${escapeHtml(url)}">${ACTION}</a>`] : []),
    ...explanation.map(escapeHtml),
  ];
  return {
    kind,
    to,
    user,
    subject,
    text: `${text.join('\n\n')}\n`,
    html: html.map((paragraph) => `<p>${paragraph}</p>\n`).join(''),
    token: undo?.token ?? '',
    url,
    details,
  };
}

async function detailsOf({ at, client, subject }: NoticeFacts): Promise<MailDetails> {
  const isKnown = client !== null && (client.userAgent !== null || client.ip !== undefined);
  return {
    at,
    device: isKnown ? await deviceInWords(client.userAgent) : null,
    ip: client?.ip && isIP(client.ip) ? client.ip : null,
    subject: subject === null ? null : onOneLine(subject),
  };
}

function rowsOf(user: User, { at, device, ip, subject }: MailDetails, about: string): [string, string][] {
  const account = user.email ?? (user.username === null ? null : withoutLinks(user.username));
  const rows: [string, string | null][] = [
    ['Account', account],
    [about, subject === null ? null : withoutLinks(subject)],
    ['Time', timeInWords(at)],
    ['Device', device],
    ['IP address', ip],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== null);
}

/** A time in words, such as "22 November 2026 at 10:14 UTC", which readers everywhere understand. */
function timeInWords(at: Date): string {
  const month = MONTHS[at.getUTCMonth()];
  return `${at.getUTCDate()} ${month} ${at.getUTCFullYear()} at ${at.toISOString().slice(11, 16)} UTC`;
}

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

/** A name that a user has chosen, on one line: without what is invisible or turns the direction of the text. */
function onOneLine(name: string): string {
  const clean = name
    .toWellFormed()
    .replace(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim();
  const characters = [...clean];
  return characters.length > MAX_SUBJECT ? `${characters.slice(0, MAX_SUBJECT - 1).join('')}…` : clean;
}

/**
 * Mail programs make links of what looks like an address, also in plain text. A stranger who can name something must not get
 * a link into an email that users trust.
 */
function withoutLinks(name: string): string {
  return name.replace(/[:/\\@](?=\S)|\.(?=[^\s\d])/gu, '$& ');
}
