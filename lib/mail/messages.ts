import { isAddress } from '../context/address.js';
import type { User } from '../tables/core.js';
import { type Advice, type AdvicePage, contentOf, type MailLook, type Paragraph } from './layout.js';
import type { NoticeKind, NoticeTexts } from './notice-kinds.js';

/** Stands for the sentence in the text of an email that says when its link expires. */
export const EXPIRY = '{expiry}';

/** Stands for the time in which a change can be undone, in the text before the link. */
export const WITHIN = '{within}';

/** The second argument of `email.send`, after the email. */
export interface SendContext {
  /**
   * Aborted when latchkey no longer waits for the email: after 60 seconds, or when `auth.close()` gives up. Close your
   * connection then, because an open one keeps the process alive.
   */
  readonly signal: AbortSignal;
}

/** How emails are composed. */
export interface ComposerSettings {
  /** The base of links that are paths. Without it, they stay relative. */
  readonly origin: string | null;
  readonly look: MailLook;
  /** Returns the URL or path of a page that advice links to. Null if the app has none. */
  pageOf(page: AdvicePage): string | null;
  /** When the email is sent. */
  readonly now: Date;
}

/** How emails are sent. */
export interface MailSettings extends Omit<ComposerSettings, 'pageOf' | 'now'> {
  /** The pages that advice links to, by their names. Null for those that the app does not have. */
  readonly pages: Readonly<Record<AdvicePage, string | null>>;
  readonly send: (message: MailMessage, options: SendContext) => unknown;
}

/** An email with a link. */
export interface LinkToSend {
  readonly template: MailTemplate;
  /** Null if no account has the address. */
  readonly user: User | null;
  /** The address for which the token was issued. */
  readonly to: string;
  readonly token: string;
  /** How long the link works, from now on. */
  readonly lifetimeMs: number;
}

/** An email without its own link, such as a notice. */
export interface NoticeToSend {
  readonly template: PlainTemplate;
  readonly user: User;
  readonly to: string;
  /** Whether the address is another person's, who gets a notice about the user. @default false */
  readonly isOfOther?: boolean;
  /** Null in an email about an action of another person. */
  readonly facts: NoticeFacts | null;
}

/** An email with a code that the user types. */
export interface CodeToSend {
  readonly template: CodeTemplate | RequestedCodeTemplate;
  readonly user: User;
  readonly to: string;
  readonly code: string;
  /** When the code expires. */
  readonly until: Date;
  readonly facts: NoticeFacts;
}

/** A code that a browser has asked for by entering an address. */
export interface RequestedCodeToSend {
  readonly template: RequestedCodeTemplate;
  /** Null if the account is not created until the code is entered. */
  readonly user: User | null;
  readonly to: string;
  readonly code: string;
  /** When the code expires. */
  readonly until: Date;
  readonly facts: NoticeFacts;
}

/** The code of an emailed sign-in, and its link, which expires with it. */
export interface SignInCodeToSend extends RequestedCodeToSend {
  readonly template: SignInCodeTemplate;
  /** The token of the link. Null if there is no link. */
  readonly token: string | null;
}

/** Composes emails, and passes them to the app's `send`. */
export class Mailer {
  /**
   * @param pageUrl returns the URL of a page that a template names
   * @param now returns the time of the database's clock
   */
  constructor(
    private readonly settings: MailSettings,
    private readonly pageUrl: (page: string) => string,
    private readonly now: () => Date,
  ) {}

  /** Sends a link. */
  async link(mail: LinkToSend, signal: AbortSignal): Promise<void> {
    const located = { ...mail, template: this.#located(mail.template) };
    await this.settings.send(composeLink(located, this.#composer), { signal });
  }

  /** Sends a code. */
  async code({ template, ...mail }: CodeToSend, signal: AbortSignal): Promise<void> {
    const message =
      'page' in template
        ? await composeCode({ ...mail, template: this.#located(template) }, this.#composer)
        : await composeRequestedCode({ ...mail, template }, null, this.#composer);
    await this.settings.send(message, { signal });
  }

  /** Sends a code that a browser has asked for. */
  async requestedCode(mail: RequestedCodeToSend, signal: AbortSignal): Promise<void> {
    await this.settings.send(await composeRequestedCode(mail, null, this.#composer), { signal });
  }

  /** Sends the code of an emailed sign-in. */
  async signInCode(mail: SignInCodeToSend, signal: AbortSignal): Promise<void> {
    const located = { ...mail, template: this.#located(mail.template) };
    await this.settings.send(await composeSignInCode(located, this.#composer), { signal });
  }

  /** Sends an email in place of a code: that an address has no account, or that it has one already. */
  async noAccount(template: NoAccountTemplate, to: Recipient, facts: NoticeFacts, signal: AbortSignal) {
    const { page } = template;
    const located = { ...template, page: page && this.pageUrl(page) };
    await this.settings.send(await composeNoAccount(located, to, facts, this.#composer), { signal });
  }

  /** Sends a notice. */
  async notice({ facts, ...mail }: NoticeToSend, signal: AbortSignal): Promise<void> {
    const undo = facts?.undo && { ...facts.undo, page: this.pageUrl(facts.undo.page) };
    const located = { ...mail, facts: facts && { ...facts, undo: undo ?? null } };
    await this.settings.send(await composeNotice(located, this.#composer), { signal });
  }

  get #composer(): ComposerSettings {
    const { origin, look, pages } = this.settings;
    return {
      origin,
      look,
      pageOf: (name) => {
        const page = pages[name];
        return page && this.pageUrl(page);
      },
      now: this.now(),
    };
  }

  #located<T extends { readonly page: string }>(template: T): T {
    return { ...template, page: this.pageUrl(template.page) };
  }
}

async function composeCode(
  { template, user, to, code, until, facts }: CodeToSend & { readonly template: CodeTemplate },
  { origin, look, now }: ComposerSettings,
): Promise<MailMessage> {
  const { kind, subject, before, page, help, action } = template;
  const details = await detailsOf(facts);
  const url = pageUrl(page, origin);
  const table = rowsOf(accountOf(user), details);
  const parts = [before, { code }, codeExpiry(now, until), { table }, help, { url, action }];
  return { kind, to, user, ...contentOf(subject, parts, look), token: '', code, url, details };
}

export function composeSignInCode(
  { token, ...mail }: SignInCodeToSend,
  settings: ComposerSettings,
): Promise<MailMessage> {
  const { page, beforeLink, action } = mail.template;
  const link =
    token === null ? null : { token, url: linkTo(page, token, settings.origin), beforeLink, action };
  return composeRequestedCode(mail, link, settings);
}

/** The link of an email with a code, and its texts. */
interface LinkOfCode extends Pick<SignInCodeTemplate, 'beforeLink' | 'action'> {
  readonly token: string;
  readonly url: string;
}

export async function composeRequestedCode(
  { template, user, to, code, until, facts }: RequestedCodeToSend,
  link: LinkOfCode | null,
  settings: ComposerSettings,
): Promise<MailMessage> {
  const { kind, subject, before, help, advice } = template;
  const { look, now } = settings;
  const details = await detailsOf(facts);
  const { token, url, beforeLink, action } = link ?? { token: '', url: '', beforeLink: '', action: '' };
  const table = rowsOf(to, details);
  const parts = [
    before,
    { code },
    codeExpiry(now, until),
    ...(link ? [beforeLink, { url, action }] : []),
    { table },
    help,
    ...adviceParagraphs(advice, settings),
  ];
  return { kind, to, user, ...contentOf(subject, parts, look), token, code, url, details };
}

/** Who gets an email. */
interface Recipient {
  readonly user: User | null;
  readonly to: string;
}

export async function composeNoAccount(
  { kind, subject, before, page, beforeLink, action, help }: NoAccountTemplate,
  { user, to }: Recipient,
  facts: NoticeFacts,
  { origin, look }: ComposerSettings,
): Promise<MailMessage> {
  const details = await detailsOf(facts);
  const url = page === null ? '' : pageUrl(page, origin);
  const link = page === null ? [] : [beforeLink, { url, action }];
  const parts = [before, ...link, { table: rowsOf(to, details) }, help];
  return { kind, to, user, ...contentOf(subject, parts, look), token: '', code: '', url, details };
}

function codeExpiry(now: Date, until: Date): string {
  return `The code works for ${durationInWords(until.getTime() - now.getTime())}, until ${timeInWords(until)}.`;
}

/** Names the date of a link that works for a day or longer. */
function linkExpiry(now: Date, lifetimeMs: number): string {
  const until = new Date(now.getTime() + lifetimeMs);
  const date = lifetimeMs < DAY_MS ? '' : `, on ${timeInWords(until)}`;
  return `The link expires in ${durationInWords(lifetimeMs)}${date}.`;
}

/** Returns the time from one date to another in words, such as "7 days, until 29 November 2026". */
function withinInWords(from: Date, until: Date): string {
  return `${durationInWords(until.getTime() - from.getTime())}, until ${dateInWords(until)}`;
}

/** The facts that a notice contains in addition to its text. */
export interface NoticeFacts {
  readonly at: Date;
  /** The client that did it. Null if the app or an administrator did it. */
  readonly client: { readonly ip: string | null | undefined; readonly userAgent: string | null } | null;
  /** The thing that the notice is about, by the name that its owner chose. */
  readonly subject: string | null;
  /** What the email calls the subject, in words of the app. @default the subject */
  readonly subjectName?: string;
  /** The undo link. Null if the change cannot be undone. */
  readonly undo: UndoLink | null;
}

/** A link that undoes a change. */
export interface UndoLink {
  readonly page: string;
  readonly token: string;
  /** When the link expires. Missing in emails that version 0.1.0 has left in the outbox: after seven days. */
  readonly until?: Date;
  /** The names of the browsers in which the link works; null for one without a name. */
  readonly browsers: readonly (string | null)[];
  /** The people whom users can ask if the link works in no browser, in words or as a URL. */
  readonly support: string;
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const UNDO = `If it was not you, undo it here within ${WITHIN}:`;
const UNVERIFIED =
  'You are receiving this email because someone used your address for an account. If you have no account, ignore this email.';
const ACTION = 'This was not me';
const MAX_SUBJECT = 100;

export async function composeNotice(
  { template, user, to, isOfOther = false, facts }: NoticeToSend,
  settings: ComposerSettings,
): Promise<MailMessage> {
  const { origin, look } = settings;
  const { kind, subject, lines, about, advice, undo: intro = UNDO, action = ACTION, help } = template;
  const details = facts && (await detailsOf(facts));
  const undo = facts?.undo ?? null;
  const url = undo ? linkTo(undo.page, undo.token, origin) : '';
  const parts = [
    ...lines,
    ...(details ? [{ table: rowsOf(accountOf(user), details, { about, name: facts?.subjectName }) }] : []),
    ...adviceParagraphs(advice, settings),
    ...(undo && undo.browsers.length > 0
      ? [intro.replace(WITHIN, withinOf(undo, facts?.at)), { url, action }, conditionOf(undo)]
      : []),
    ...(undo && undo.browsers.length === 0
      ? withoutBrowser(undo, { url, at: facts?.at }, template, settings)
      : []),
    ...(!undo && help ? [help] : []),
    ...(details && !isOfOther && user.emailVerifiedAt === null ? [UNVERIFIED] : []),
  ];
  return {
    kind,
    to,
    user,
    ...contentOf(subject, parts, look),
    token: undo?.token ?? '',
    code: '',
    url,
    details,
  };
}

function withinOf({ until }: UndoLink, at: Date | undefined): string {
  return until && at ? withinInWords(at, until) : '7 days';
}

/** Returns the paragraph about where an undo link works. */
function conditionOf({ browsers }: UndoLink): string {
  const names = namesOf(browsers.filter((name) => name !== null));
  const last = names.at(-1);
  const list = names.length > 1 ? `${names.slice(0, -1).join(', ')} or ${last}` : last;
  const such = list === undefined ? '.' : `, such as ${list}.`;
  return `Open it on a device that you used before this change${such} It might ask for your password.`;
}

/**
 * Returns what users can do if the undo link works in no browser. It never will, because only browsers from before the
 * change count. The link is for support, whose proof is its own.
 */
function withoutBrowser(
  undo: UndoLink,
  { url, at }: { readonly url: string; readonly at: Date | undefined },
  { losesAddress = false }: NoticeTexts,
  settings: ComposerSettings,
): Paragraph[] {
  const canReset = !losesAddress && settings.pageOf(NEW_PASSWORD.page) !== null;
  return [
    ...(canReset ? adviceParagraphs(NEW_PASSWORD, settings) : []),
    `${canReset ? 'Then' : 'If it was not you,'} ask ${undo.support}. To undo what was done, they need this link within ${withinOf(undo, at)}: ${url}`,
  ];
}

const NEW_PASSWORD: Advice = {
  text: 'If it was not you, choose a new password:',
  page: 'forgot-password',
  action: 'Choose a new password',
};

/** Returns the distinct names of browsers. */
function namesOf(browsers: readonly (string | null)[]): readonly string[] {
  return [...new Set(browsers.map((name) => name ?? 'an unknown browser'))];
}

async function detailsOf({ at, client, subject, undo }: NoticeFacts): Promise<MailDetails> {
  const isKnown = client !== null && (client.userAgent !== null || client.ip !== undefined);
  return {
    at,
    device: isKnown ? await deviceInWords(client.userAgent) : null,
    ip: client?.ip && isAddress(client.ip) ? client.ip : null,
    subject: subject === null ? null : onOneLine(subject),
    browsers: namesOf(undo?.browsers ?? []),
  };
}

/** Returns how an email names an account. Null if it has no name. */
function accountOf(user: User): string | null {
  const { email, usernameDisplay: name } = user;
  return email ?? (name === null ? null : withoutLinks(name));
}

/** How an email names the thing that it is about. */
interface SubjectWords {
  readonly about?: string | undefined;
  /** @default the subject, without links, because a user might have written it */
  readonly name?: string | null | undefined;
}

function rowsOf(
  account: string | null,
  { at, device, ip, subject }: MailDetails,
  { about = 'What', name = subject === null ? null : withoutLinks(subject) }: SubjectWords = {},
): [string, string][] {
  const rows: [string, string | null][] = [
    ['Account', account],
    [about, name],
    ['Time', timeInWords(at)],
    ['Device', device],
    ['IP address', ip],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== null);
}

/** Returns a duration in words, in the largest unit of which there are at least two. */
function durationInWords(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / MINUTE_MS));
  if (minutes === 60) return 'one hour';
  const units = [
    ['day', 24 * 60],
    ['hour', 60],
  ] as const;
  const [unit, size] = units.find(([, length]) => minutes >= 2 * length) ?? ['minute', 1];
  const count = Math.floor(minutes / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Returns a date in words, such as "22 November 2026". */
export function dateInWords(at: Date): string {
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]} ${at.getUTCFullYear()}`;
}

/** Returns a time in words, such as "22 November 2026 at 10:14 UTC", which readers everywhere understand. */
function timeInWords(at: Date): string {
  return `${dateInWords(at)} at ${at.toISOString().slice(11, 16)} UTC`;
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

/** Returns a user's text on one line, without characters that are invisible or change the text's direction. */
function onOneLine(name: string): string {
  const clean = name
    .toWellFormed()
    .replace(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim();
  const characters = [...clean];
  return characters.length > MAX_SUBJECT ? `${characters.slice(0, MAX_SUBJECT - 1).join('')}…` : clean;
}

/**
 * Breaks up anything that looks like an address, because mail programs turn it into a link even in plain text. An
 * attacker who can name something must not get a link into an email that users trust.
 */
function withoutLinks(name: string): string {
  return name.replace(/[:/\\@](?=\S)|\.(?=[^\s\d])/gu, '$& ');
}

/** Returns a user's text for an email: on one line, and without anything that mail programs turn into a link. */
export function defused(text: string): string {
  return withoutLinks(onOneLine(text));
}

/** Every kind of email except notices. Plugins add their own kinds. */
// biome-ignore lint/suspicious/noEmptyInterface: modules that send email extend it
export interface MailKinds {}

/** The kind of an email. */
export type MailKind = keyof MailKinds | NoticeKind;

/**
 * An email to a user, ready to be sent. The app can use its own texts, as long as they contain `url`, and `code` if
 * there is one.
 */
export interface MailMessage {
  /** The kind, such as `verify-email`. */
  readonly kind: MailKind;
  /**
   * The user's stored address; for `verify-new-email`, the user's new address; for `sign-in-code`, `reset-code` and
   * `no-account`, the address that was entered, in canonical form; for `administrator-added` to other administrators, an
   * address of `adminEmails`.
   */
  readonly to: string;
  /**
   * The recipient. Null in an email to an address that has no account: `sign-in-code` for a new one, `no-account`, and
   * `organization-invitation`.
   * In the notice `administrator-added` to other administrators, the user who became one.
   */
  readonly user: User | null;
  /** The subject line, in English, followed by `appName`. */
  readonly subject: string;
  /** The plain text body, in English. */
  readonly text: string;
  /** The HTML document, in English. */
  readonly html: string;
  /**
   * The one-time token, also contained in `url`. Empty in a notice about a change that cannot be undone, and in an
   * email with a code that has no link.
   */
  readonly token: string;
  /** The code that the user types where they asked for it, such as `20461938`. Empty in other emails. */
  readonly code: string;
  /**
   * The app's page with `?token=`; for `browser-code`, the page where users request a new password; for `no-account`,
   * the page where people sign up, if they can. A path if the config has neither `baseUrl` nor an absolute URL for the
   * page. Empty in a notice about a change that cannot be undone.
   */
  readonly url: string;
  /** The details of a notice or of an email with a code, for your own texts. Null in other emails. */
  readonly details: MailDetails | null;
}

/** The details that a notice contains in addition to its text. */
export interface MailDetails {
  /** When it happened. */
  readonly at: Date;
  /**
   * The device in words, such as "Firefox on Windows", according to its user agent, which can be forged. Null if an
   * administrator or the app itself made the change.
   */
  readonly device: string | null;
  /** The client's IP address. Null if it is unknown, or if an administrator or the app itself made the change. */
  readonly ip: string | null;
  /**
   * The thing that the notice is about: the id of a provider, the name of an API key or passkey, or the id of the user who
   * became an administrator, on one line of at most 100 characters. An attacker might have chosen it: escape it, and do not let it become a link. Null for other
   * kinds.
   */
  readonly subject: string | null;
  /**
   * The browsers in which the undo link works, such as "Firefox on Windows". Empty if there is no such browser or no
   * link: then say whom the user can ask.
   */
  readonly browsers: readonly string[];
}

/** The texts of an email, and the page that it links to. */
export interface MailTemplate {
  readonly kind: MailKind;
  /** The app's page for the link: a URL, or a path of `baseUrl`'s origin. */
  readonly page: string;
  readonly subject: string;
  /** What users can do instead, above everything else. @default nothing */
  readonly first?: Advice;
  /** The text before the link. */
  readonly before: string;
  /** The text of the link. */
  readonly action: string;
  /** The text after the link. {@link EXPIRY} in it becomes a sentence. */
  readonly after: string;
  /** What users can do later, below everything else. @default nothing */
  readonly last?: Advice;
}

/** The texts of an email with a code and a link. */
export interface CodeTemplate {
  readonly kind: MailKind;
  readonly subject: string;
  /** The text before the code. */
  readonly before: string;
  /** The text before the link. */
  readonly help: string;
  /** The app's page that the link leads to: a URL, or a path of `baseUrl`'s origin. */
  readonly page: string;
  /** The text of the link. */
  readonly action: string;
}

/** The texts of an email with a code that a browser has asked for. */
export interface RequestedCodeTemplate {
  readonly kind: MailKind;
  readonly subject: string;
  /** The text before the code. */
  readonly before: string;
  /** The last text. */
  readonly help: string;
  /** What users can do then. @default nothing */
  readonly advice?: Advice;
}

/** The texts of an email with the code of an emailed sign-in. */
export interface SignInCodeTemplate extends RequestedCodeTemplate {
  /** The app's page that the link leads to: a URL, or a path of `baseUrl`'s origin. */
  readonly page: string;
  /** The text before the link. */
  readonly beforeLink: string;
  /** The text of the link. */
  readonly action: string;
}

/** The texts of an email in place of a code: that an address has no account, or that it has one already. */
export interface NoAccountTemplate extends Omit<SignInCodeTemplate, 'page'> {
  /** The app's page that the link leads to, such as the one where people sign up. Null if there is no link. */
  readonly page: string | null;
}

/** The texts of an email without its own link: a notice, or an email about an action of another person. */
export interface PlainTemplate extends NoticeTexts {
  readonly kind: MailKind;
}

const RELATIVE = 'http://relative.invalid';

function composeLink(
  { template, user, to, token, lifetimeMs }: LinkToSend,
  settings: ComposerSettings,
): MailMessage {
  const { kind, page, subject, first, before, action, after, last } = template;
  const { origin, look, now } = settings;
  const url = linkTo(page, token, origin);
  const parts = [
    ...adviceParagraphs(first, settings),
    before,
    { url, action },
    after.replace(EXPIRY, linkExpiry(now, lifetimeMs)),
    ...adviceParagraphs(last, settings),
  ];
  const content = contentOf(subject, parts, look);
  return { kind, to, user, ...content, token, code: '', url, details: null };
}

/** Returns a text with the link to its page, if the app has that page. */
function adviceParagraphs(advice: Advice | undefined, { origin, pageOf }: ComposerSettings): Paragraph[] {
  if (!advice) return [];
  const page = pageOf(advice.page);
  return [advice.text, ...(page === null ? [] : [{ url: pageUrl(page, origin), action: advice.action }])];
}

/** Returns the URL of a page with the token in its query. */
export function linkTo(page: string, token: string, origin: string | null): string {
  const link = new URL(page, origin ?? RELATIVE);
  link.searchParams.set('token', token);
  return inFull(link);
}

function pageUrl(page: string, origin: string | null): string {
  return inFull(new URL(page, origin ?? RELATIVE));
}

function inFull(link: URL): string {
  return link.origin === RELATIVE ? link.href.slice(RELATIVE.length) : link.href;
}

const MAX_LENGTH = 255;

/** The browser of a known system that is unknown itself. */
export const SOME_BROWSER = 'a browser';

/** The device if the user agent is missing or unknown. */
const UNKNOWN_DEVICE = 'an unknown device';

/**
 * Returns a user agent in words, such as "Firefox on Windows". The client chooses the user agent, so the result
 * contains only known names, and a single word for programs, such as "curl". Never throws.
 */
export async function deviceInWords(userAgent: string | null): Promise<string> {
  return (await deviceNameOf(userAgent)) ?? UNKNOWN_DEVICE;
}

/** The names of devices by their user agents, because a sign-in would spend a twentieth of its time on parsing one again. */
const names = new Map<string, string | null>();

/** The maximum number of {@link names}. Clients choose their user agents, so there could be any number of them. */
const MAX_NAMES = 500;

/** Like {@link deviceInWords}. Null if the device is unknown. */
export async function deviceNameOf(userAgent: string | null): Promise<string | null> {
  const given = (userAgent ?? '').slice(0, MAX_LENGTH);
  const found = names.get(given);
  if (found !== undefined) return found;
  const name = await known(given).then(
    (it) => it ?? program(given),
    () => null,
  );
  if (names.size >= MAX_NAMES) names.clear();
  names.set(given, name);
  return name;
}

async function known(userAgent: string): Promise<string | null> {
  if (userAgent.trim() === '') return null;
  // Load the package on first use, because loading takes some milliseconds.
  const { default: bowser } = await import('bowser');
  const { browser, os } = bowser.parse(userAgent);
  // Accept only known names, because for others the package repeats the client's words.
  const name = Object.values(bowser.BROWSER_MAP).find((one) => one === browser.name);
  const system = Object.values(bowser.OS_MAP).find((one) => one === os.name);
  if (!system) return name ?? null;
  return `${name ?? SOME_BROWSER} on ${system}`;
}

function program(userAgent: string): string | null {
  return /^([a-z][a-z0-9_-]{1,29})\/\d/i.exec(userAgent)?.[1] ?? null;
}
