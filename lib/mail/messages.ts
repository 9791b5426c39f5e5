import { isAddress } from '../context/address.js';
import type { User } from '../tables/core.js';
import type { MailWords } from '../words/emails/index.js';
import { isEarlier, ofEarlier } from './earlier.js';
import { type AdvicePage, BREAK, contentOf, type MailLook, type Paragraph } from './layout.js';
import type { NoticeKind } from './notice-kinds.js';
import {
  type CodeTemplate,
  type KindIn,
  type MailTemplate,
  type NoAccountTemplate,
  type PlainTemplate,
  type RequestedCodeTemplate,
  type SignInCodeTemplate,
  type TextName,
  textOf,
} from './templates.js';

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
  /** The contact for help: an address or a URL. Null if the people who run the app are the contact. */
  readonly support: string | null;
  /** The words, in the language of the email. */
  readonly words: MailWords;
  /** Returns the URL or path of a page that advice links to. Null if the app has none. */
  pageOf(page: AdvicePage): string | null;
  /** When the email is sent. */
  readonly now: Date;
}

/** How emails are sent. */
export interface MailSettings extends Omit<ComposerSettings, 'words' | 'pageOf' | 'now'> {
  /** The pages that advice links to, by their names. Null for those that the app does not have. */
  readonly pages: Readonly<Record<AdvicePage, string | null>>;
  readonly send: (message: MailMessage, options: SendContext) => unknown;
}

/** The language of an email that is written now and sent later. */
export interface InLanguage {
  /** The tag of the language. Missing if it is chosen when the email is sent. */
  readonly language?: string | undefined;
}

/** An email with a link. */
export interface LinkToSend extends InLanguage {
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
export interface NoticeToSend extends InLanguage {
  readonly template: PlainTemplate;
  readonly user: User;
  readonly to: string;
  /** Whether the address is another person's, who gets a notice about the user. @default false */
  readonly isOfOther?: boolean;
  /** Null in an email about an action of another person. */
  readonly facts: NoticeFacts | null;
}

/** An email with a code that the user types. */
export interface CodeToSend extends InLanguage {
  readonly template: CodeTemplate | RequestedCodeTemplate;
  readonly user: User;
  readonly to: string;
  readonly code: string;
  /** When the code expires. */
  readonly until: Date;
  readonly facts: NoticeFacts;
}

/** A code that a browser has asked for by entering an address. */
export interface RequestedCodeToSend extends InLanguage {
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

/** An email in place of a code. */
export interface NoAccountToSend extends InLanguage {
  readonly template: NoAccountTemplate;
  /** Null if no account has the address. */
  readonly user: User | null;
  readonly to: string;
  readonly facts: NoticeFacts;
}

/** What {@link Mailer} needs from the app. */
interface MailerNeeds {
  /** Returns the URL of a page that a template names. */
  pageUrl(page: string): string;
  /** Returns the time of the database's clock. */
  now(): Date;
  /** Returns the words of a language. @param language its tag; null if it was not chosen when the email was written */
  wordsFor(language: string | null): MailWords | Promise<MailWords>;
  /** Returns the app's translations of its own texts. */
  textsIn(language: string): Readonly<Record<string, string>>;
}

/** Composes emails, and passes them to the app's `send`. */
export class Mailer {
  constructor(
    private readonly settings: MailSettings,
    private readonly app: MailerNeeds,
  ) {}

  /** Sends a link. */
  async link(mail: LinkToSend, signal: AbortSignal): Promise<void> {
    const { template, composer } = await this.#read(mail);
    const located = { ...mail, template: this.#located(template) };
    await this.settings.send(composeLink(located, composer), { signal });
  }

  /** Sends a code. */
  async code(mail: CodeToSend, signal: AbortSignal): Promise<void> {
    const { template, composer } = await this.#read(mail);
    const message =
      'page' in template
        ? await composeCode({ ...mail, template: this.#located(template) }, composer)
        : await composeRequestedCode({ ...mail, template }, null, composer);
    await this.settings.send(message, { signal });
  }

  /** Sends a code that a browser has asked for. */
  async requestedCode(mail: RequestedCodeToSend, signal: AbortSignal): Promise<void> {
    const { template, composer } = await this.#read(mail);
    await this.settings.send(await composeRequestedCode({ ...mail, template }, null, composer), { signal });
  }

  /** Sends the code of an emailed sign-in. */
  async signInCode(mail: SignInCodeToSend, signal: AbortSignal): Promise<void> {
    const { template, composer } = await this.#read(mail);
    const located = { ...mail, template: this.#located(template) };
    await this.settings.send(await composeSignInCode(located, composer), { signal });
  }

  /** Sends an email in place of a code: that an address has no account, or that it has one already. */
  async noAccount(mail: NoAccountToSend, signal: AbortSignal): Promise<void> {
    const { template, composer } = await this.#read(mail);
    const { page } = template;
    const located = { ...mail, template: { ...template, page: page && this.app.pageUrl(page) } };
    await this.settings.send(await composeNoAccount(located, composer), { signal });
  }

  /** Sends a notice. */
  async notice({ facts, ...mail }: NoticeToSend, signal: AbortSignal): Promise<void> {
    const { template, composer } = await this.#read(mail);
    const undo = facts?.undo && { ...facts.undo, page: this.app.pageUrl(facts.undo.page) };
    const located = { ...mail, template, facts: facts && { ...facts, undo: undo ?? null } };
    await this.settings.send(await composeNotice(located, composer), { signal });
  }

  /** Reads the template of an email, which an earlier version might have written, and its language. */
  async #read<Template extends object>({
    template,
    language,
  }: InLanguage & { readonly template: Template }): Promise<{
    readonly template: Template;
    readonly composer: ComposerSettings;
  }> {
    if (isEarlier(template)) {
      const earlier = ofEarlier(template);
      return { template: earlier.template, composer: this.#composer(earlier.words) };
    }
    return { template, composer: this.#composer(await this.app.wordsFor(language ?? null)) };
  }

  #composer(words: MailWords): ComposerSettings {
    const { origin, look, support, pages } = this.settings;
    const texts = this.app.textsIn(words.tag);
    const ofApp = (text: string) => (Object.hasOwn(texts, text) ? (texts[text] as string) : text);
    return {
      origin,
      look: { ...look, footer: look.footer === null ? null : ofApp(look.footer) },
      support: support === null ? null : ofApp(support),
      words,
      pageOf: (name) => {
        const page = pages[name];
        return page && this.app.pageUrl(page);
      },
      now: this.app.now(),
    };
  }

  #located<T extends { readonly page: string }>(template: T): T {
    return { ...template, page: this.app.pageUrl(template.page) };
  }
}

// The kinds below are cast, because the texts stay when the build does not have the plugin that sends them.
async function composeCode(
  { template, user, to, code, until, facts }: CodeToSend & { readonly template: CodeTemplate },
  settings: ComposerSettings,
): Promise<MailMessage> {
  const { origin, look, words } = settings;
  const { kind, page } = template;
  const { subject, before, help, action } = textOf(template, words);
  const details = await detailsOf(facts, words);
  const url = pageUrl(page, origin);
  const table = rowsOf(accountOf(user), details, words);
  const parts = [before, { code }, codeExpiry(until, settings), { table }, help, { url, action }];
  return {
    kind: kind as MailKind,
    to,
    user,
    ...contentOf(subject, parts, look, words),
    token: '',
    code,
    url,
    details,
  };
}

export function composeSignInCode(
  { token, ...mail }: SignInCodeToSend,
  settings: ComposerSettings,
): Promise<MailMessage> {
  const { beforeLink, action } = textOf(mail.template, settings.words);
  const link =
    token === null
      ? null
      : { token, url: linkTo(mail.template.page, token, settings.origin), beforeLink, action };
  return composeRequestedCode(mail, link, settings);
}

/** The link of an email with a code, and its texts. */
interface LinkOfCode {
  readonly beforeLink: string;
  readonly action: string;
  readonly token: string;
  readonly url: string;
}

export async function composeRequestedCode(
  { template, user, to, code, until, facts }: RequestedCodeToSend,
  link: LinkOfCode | null,
  settings: ComposerSettings,
): Promise<MailMessage> {
  const { look, words } = settings;
  const { kind, advicePage } = template;
  const { subject, before, help, advice } = textOf(template, words);
  const details = await detailsOf(facts, words);
  const { token, url, beforeLink, action } = link ?? { token: '', url: '', beforeLink: '', action: '' };
  const table = rowsOf(to, details, words);
  const parts = [
    before,
    { code },
    codeExpiry(until, settings),
    ...(link ? [beforeLink, { url, action }] : []),
    { table },
    help,
    ...adviceParagraphs(advice, advicePage, settings),
  ];
  return {
    kind: kind as MailKind,
    to,
    user,
    ...contentOf(subject, parts, look, words),
    token,
    code,
    url,
    details,
  };
}

export async function composeNoAccount(
  { template, user, to, facts }: NoAccountToSend,
  { origin, look, words }: ComposerSettings,
): Promise<MailMessage> {
  const { kind, page } = template;
  const { subject, before, beforeLink, action, help } = textOf(template, words);
  const details = await detailsOf(facts, words);
  const hasLink = page !== null && beforeLink !== undefined && action !== undefined;
  const url = hasLink ? pageUrl(page, origin) : '';
  const link = hasLink ? [beforeLink, { url, action }] : [];
  const parts = [before, ...link, { table: rowsOf(to, details, words) }, help];
  return {
    kind: kind as MailKind,
    to,
    user,
    ...contentOf(subject, parts, look, words),
    token: '',
    code: '',
    url,
    details,
  };
}

function codeExpiry(until: Date, { now, words }: ComposerSettings): string {
  return words.codeExpiry({ ms: until.getTime() - now.getTime(), until });
}

/** Names the date of a link that works for a day or longer. */
function linkExpiry(ms: number, { now, words }: ComposerSettings): string {
  return words.linkExpiry({ ms, until: ms < DAY_MS ? null : new Date(now.getTime() + ms) });
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
  /** The contact for help, in emails that an earlier version has left in the outbox. Now it is in the config. */
  readonly support?: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** The lifetime of an undo link that does not name its end. */
const UNDO_MS = 7 * DAY_MS;
const MAX_SUBJECT = 100;

export async function composeNotice(
  { template, user, to, isOfOther = false, facts }: NoticeToSend,
  settings: ComposerSettings,
): Promise<MailMessage> {
  const { origin, look, words } = settings;
  const { kind, advicePage, help } = template;
  const undo = facts?.undo ?? null;
  const within = undo ? withinOf(undo, facts?.at, words) : '';
  const texts = textOf(template, words, { within });
  const { subject, lines, about, advice } = texts;
  const details = facts && (await detailsOf(facts, words, template.isAboutDevice));
  const url = undo ? linkTo(undo.page, undo.token, origin) : '';
  const intro = texts.undo ?? words.undo({ within });
  const action = texts.action ?? words.undoAction;
  const named = { about, name: facts?.subjectName };
  const parts = [
    ...lines,
    ...(details ? [{ table: rowsOf(accountOf(user), details, words, named) }] : []),
    ...adviceParagraphs(advice, advicePage, settings),
    ...(undo && undo.browsers.length > 0 ? [intro, { url, action }, conditionOf(undo, words)] : []),
    ...(undo && undo.browsers.length === 0 ? withoutBrowser(undo, { url, within }, template, settings) : []),
    ...(!undo && help ? [words.help[help]({ support: supportOf(settings) })] : []),
    ...(details && !isOfOther && user.emailVerifiedAt === null ? [words.unverified] : []),
  ];
  return {
    kind: kind as MailKind,
    to,
    user,
    ...contentOf(subject, parts, look, words),
    token: undo?.token ?? '',
    code: '',
    url,
    details,
  };
}

/** Returns whom users can ask. */
function supportOf({ support, look, words }: ComposerSettings): string {
  return support ?? words.people(look.appName);
}

function withinOf({ until }: UndoLink, at: Date | undefined, words: MailWords): string {
  if (!until || !at) return words.within({ ms: UNDO_MS, until: null });
  return words.within({ ms: until.getTime() - at.getTime(), until });
}

/** Returns the paragraph about where an undo link works. */
function conditionOf({ browsers }: UndoLink, words: MailWords): string {
  return words.undoWhere(
    namesOf(
      browsers.filter((name) => name !== null),
      words,
    ),
  );
}

/**
 * Returns what users can do if the undo link works in no browser. It never will, because only browsers from before the
 * change count. The link is for support, whose proof is its own.
 */
function withoutBrowser(
  undo: UndoLink,
  link: { readonly url: string; readonly within: string },
  { losesAddress = false }: PlainTemplate,
  settings: ComposerSettings,
): Paragraph[] {
  const { newPassword, afterNewPassword, withoutNewPassword } = settings.words.undoNowhere;
  const asked = { ...link, support: undo.support ?? supportOf(settings) };
  if (losesAddress || settings.pageOf(NEW_PASSWORD) === null) return [withoutNewPassword(asked)];
  return [...adviceParagraphs(newPassword, NEW_PASSWORD, settings), afterNewPassword(asked)];
}

/** The page where users ask for a new password. */
const NEW_PASSWORD = 'forgot-password';

/** Returns the distinct names of browsers. */
function namesOf(browsers: readonly (string | null)[], words: MailWords): readonly string[] {
  const names = browsers.map((name) => (name === null ? words.unknownBrowser : deviceIn(words, name)));
  return [...new Set(names)];
}

async function detailsOf(
  { at, client, subject, undo }: NoticeFacts,
  words: MailWords,
  isAboutDevice = false,
): Promise<MailDetails> {
  const isKnown = client !== null && (client.userAgent !== null || client.ip !== undefined);
  const named = subject !== null && isAboutDevice ? deviceIn(words, subject) : subject;
  return {
    at,
    device: isKnown ? await deviceInWords(client.userAgent, words) : null,
    ip: client?.ip && isAddress(client.ip) ? client.ip : null,
    subject: named === null ? null : onOneLine(named),
    browsers: namesOf(undo?.browsers ?? [], words),
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
  { labels, time }: MailWords,
  { about = labels.subject, name = subject === null ? null : withoutLinks(subject) }: SubjectWords = {},
): [string, string][] {
  const rows: [string, string | null][] = [
    [labels.account, account],
    [about, name],
    [labels.time, time(at)],
    [labels.device, device],
    [labels.ip, ip],
  ];
  return rows.filter((row): row is [string, string] => row[1] !== null);
}

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
  return name.replace(/[:/\\@](?=\S)|\.(?=[^\s\d])/gu, `$&${BREAK}`);
}

/** Returns a user's text for an email: on one line, and without anything that mail programs turn into a link. */
export function defused(text: string): string {
  return withoutLinks(onOneLine(text));
}

/** Every kind of email except notices. Plugins add their own kinds. */
// biome-ignore lint/suspicious/noEmptyInterface: modules that send email extend it
export interface MailKinds {}

/** Kinds that have a text. A kind without one does not compile. */
type WithText<Kind extends KindIn<TextName>> = Kind;

/** The kind of an email. */
export type MailKind = WithText<keyof MailKinds | NoticeKind>;

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
  /** The language of the texts, as a BCP 47 tag such as `en`. */
  readonly language: string;
  /** The subject line, followed by `appName`. */
  readonly subject: string;
  /** The plain text body. */
  readonly text: string;
  /** The HTML document. */
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

const RELATIVE = 'http://relative.invalid';

function composeLink(
  { template, user, to, token, lifetimeMs }: LinkToSend,
  settings: ComposerSettings,
): MailMessage {
  const { origin, look, words } = settings;
  const { kind, page, advicePage } = template;
  const expiry = linkExpiry(lifetimeMs, settings);
  const { subject, first, before, action, after, last } = textOf(template, words, { expiry });
  const url = linkTo(page, token, origin);
  const parts = [
    ...adviceParagraphs(first, advicePage, settings),
    before,
    { url, action },
    after,
    ...adviceParagraphs(last, advicePage, settings),
  ];
  const content = contentOf(subject, parts, look, words);
  return { kind: kind as MailKind, to, user, ...content, token, code: '', url, details: null };
}

/** What users can do, and the text of the link to the page where they do it. */
interface Advice {
  /** It makes sense without the link too. */
  readonly text: string;
  readonly action: string;
}

/** Returns a text with the link to its page, if the app has that page. */
function adviceParagraphs(
  advice: Advice | undefined,
  name: AdvicePage | undefined,
  { origin, pageOf }: ComposerSettings,
): Paragraph[] {
  if (!advice) return [];
  const page = name === undefined ? null : pageOf(name);
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

/** The name of a browser that is not known, in the name of its device. */
const UNNAMED = 'a browser';

/**
 * Returns a user agent in words, such as "Firefox on Windows". The client chooses the user agent, so the result
 * contains only known names, and a single word for programs, such as "curl". Never throws.
 */
export async function deviceInWords(userAgent: string | null, words: MailWords): Promise<string> {
  const name = await deviceNameOf(userAgent);
  return name === null ? words.unknownDevice : deviceIn(words, name);
}

/** The names of devices by their user agents, because a sign-in would spend a twentieth of its time on parsing one again. */
const names = new Map<string, string | null>();

/** The maximum number of {@link names}. Clients choose their user agents, so there could be any number of them. */
const MAX_NAMES = 500;

/**
 * Returns the name of the device of a user agent, in the form in which it is stored, such as "Firefox on Windows" or "a browser
 * on Linux". Null if the device is unknown. {@link deviceIn} translates it.
 */
export async function deviceNameOf(userAgent: string | null): Promise<string | null> {
  const given = (userAgent ?? '').slice(0, MAX_LENGTH);
  const found = names.get(given);
  if (found !== undefined) return found;
  const name = await parsed(given);
  if (names.size >= MAX_NAMES) names.clear();
  names.set(given, name);
  return name;
}

/** Translates the name of a device from the form in which it is stored: see {@link deviceNameOf}. */
export function deviceIn(
  { deviceOn, browserOn }: Pick<MailWords, 'deviceOn' | 'browserOn'>,
  name: string,
): string {
  const [, browser, system] = /^(.+) on (.+)$/.exec(name) ?? [];
  if (browser === undefined || system === undefined) return name;
  return browser === UNNAMED ? browserOn(system) : deviceOn(browser, system);
}

async function parsed(userAgent: string): Promise<string | null> {
  try {
    return (await known(userAgent)) ?? program(userAgent);
  } catch {
    return null;
  }
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
  return `${name ?? UNNAMED} on ${system}`;
}

function program(userAgent: string): string | null {
  return /^([a-z][a-z0-9_-]{1,29})\/\d/i.exec(userAgent)?.[1] ?? null;
}
