import type Negotiator from 'negotiator';
import { originalOf, type PlainRequest } from '../context/call.js';
import { LOADERS, RIGHT_TO_LEFT } from '../languages/shipped.js';
import type { Log } from '../logger.js';
import type { User } from '../tables/core.js';
import type { Language, LanguageParts } from '../words/catalogue.js';
import type { MailWords } from '../words/emails/index.js';
import type { Script } from '../words/script.js';
import { completed, type Differences, differencesOf, mistakesIn, withOwnWords } from './own-words.js';
import type { LocaleSettings, OwnWord } from './settings.js';

/** The beginnings of the keys of each part in `locale.words`. */
export const PREFIXES = { pages: '', emails: 'email.', errors: 'error.' } as const;

/** The longest `Accept-Language` that is read. Browsers send less than 100 characters. */
const MAX_HEADER = 500;

/** The user whom a request has authenticated, for the language of its errors. */
const READER = Symbol('latchkey.reader');

type OfReader = PlainRequest & { [READER]?: User };

type Part = keyof LanguageParts;

/** What the app's function has said about a request. */
interface AppAnswer {
  readonly userId: string | null;
  readonly tag: string | null;
  readonly hasFailed: boolean;
}

/** What {@link Languages} needs. */
interface LanguagesNeeds {
  readonly settings: { readonly locale: LocaleSettings; readonly log: Log };
}

/** The languages of pages, emails and errors. Their catalogues are loaded on first use, unless there is only English. */
export class Languages {
  readonly #settings: LocaleSettings;
  readonly #log: Log;
  readonly #loaded = new Map<string, unknown>();
  readonly #wanted = new Set<Part>(['errors']);
  readonly #checked = new Set<Part>();
  readonly #answers = new WeakMap<PlainRequest, AppAnswer>();
  #ready: Promise<void> | null | undefined;
  #negotiator: typeof Negotiator | undefined;

  constructor({ settings: { locale, log } }: LanguagesNeeds) {
    this.#settings = locale;
    this.#log = log;
    if (this.isEnglish) this.#ready = null;
  }

  /** Whether there is nothing but latchkey's English. */
  get isEnglish(): boolean {
    const { tags, own, words, default: first } = this.#settings;
    return tags.length === 1 && first === 'en' && own.size === 0 && Object.keys(words).length === 0;
  }

  /** Whether there is a choice. */
  get areMany(): boolean {
    return this.#settings.tags.length > 1;
  }

  /** The tags of all languages. The default is the first. */
  get tags(): readonly string[] {
    return this.#settings.tags;
  }

  get default(): string {
    return this.#settings.default;
  }

  /** The app's translations of its own texts. */
  textsIn(tag: string): Readonly<Record<string, string>> {
    return this.#settings.texts[tag] ?? {};
  }

  scriptOf(tag: string): Script {
    const own = this.#settings.own.get(tag);
    return { tag, dir: own?.dir ?? (RIGHT_TO_LEFT.has(tag) ? 'rtl' : 'ltr') };
  }

  /**
   * Returns the language of a response: by the config's function, the user's choice, `Accept-Language`, or the default.
   *
   * @param user the user whose choice counts. By default, the one whom the request has authenticated
   */
  of(req: PlainRequest | null, user: User | null = (req as OfReader | null)?.[READER] ?? null): string {
    const { default: first, tags } = this.#settings;
    if (tags.length === 1 || !req) return first;
    const accepted = req.headers['accept-language'];
    return this.#byApp(req, user) ?? this.chosenBy(user) ?? this.#accepted(accepted) ?? first;
  }

  /** Returns the language that a user has chosen. Null if the user has chosen none, or one that there is no longer. */
  chosenBy(user: User | null): string | null {
    const { locale } = (user ?? {}) as { readonly locale?: unknown };
    return typeof locale === 'string' && this.#settings.tags.includes(locale) ? locale : null;
  }

  /** Remembers whom a request has authenticated, for the language of its errors. */
  readFor(req: PlainRequest, user: User): void {
    (req as OfReader)[READER] = user;
  }

  /**
   * Checks the app's own words for a part. Words of pages are checked by the plugin for pages.
   *
   * @param english the part in English
   * @throws TypeError that names each mistake
   */
  checkWords<P extends Part>(part: P, english: LanguageParts[P]): void {
    const mistakes = mistakesIn(english, this.#ownWords(part), PREFIXES[part]);
    this.#checked.add(part);
    if (mistakes.length > 0) throw new TypeError(`latchkey: ${mistakes.join('; ')}`);
  }

  /** @throws TypeError if there are own words, or a language of the app without words, for pages that there are not */
  checkPages(): void {
    const [tag] = this.#checked.has('pages') ? [] : Object.keys(this.#ownWords('pages'));
    const [key] = Object.keys(this.#ownWords('pages')[tag ?? ''] ?? {});
    if (key !== undefined)
      throw new TypeError(
        `latchkey: locale.words.${tag}['${key}'] is a key of pages(): add pages() to plugins, or start the key with ${PREFIXES.emails} or ${PREFIXES.errors}`,
      );
    const own = [...this.#settings.own.values()].find(({ pages }) => pages === undefined);
    if (own && this.#checked.has('pages'))
      throw new TypeError(
        `latchkey: locale.languages has ${own.tag}, which has no words for pages(): set its pages`,
      );
  }

  /** Compares the app's own languages with English, and returns the differences by the tags of the languages. */
  async differences(): Promise<ReadonlyMap<string, Differences>> {
    const compared = [...this.#settings.own].map(async ([tag, language]) => {
      const parts = await Promise.all(
        (['pages', 'emails', 'errors'] as const).map(async (part) => {
          const words = language[part];
          return words ? differencesOf(await LOADERS.en[part](), words, PREFIXES[part]) : null;
        }),
      );
      const all = (kind: keyof Differences) => parts.flatMap((part) => part?.[kind] ?? []);
      return [tag, { missing: all('missing'), mistyped: all('mistyped'), unknown: all('unknown') }] as const;
    });
    return new Map(await Promise.all(compared));
  }

  /** Returns the own words of a part, by language and key. */
  #ownWords(part: Part): Readonly<Record<string, Readonly<Record<string, OwnWord>>>> {
    const others = [PREFIXES.emails, PREFIXES.errors];
    const isOf = (key: string) =>
      part === 'pages' ? !others.some((one) => key.startsWith(one)) : key.startsWith(PREFIXES[part]);
    return Object.fromEntries(
      Object.entries(this.#settings.words).map(([tag, words]) => [
        tag,
        Object.fromEntries(Object.entries(words).filter(([key]) => isOf(key))),
      ]),
    );
  }

  /** Makes {@link ready} load a part in addition to the errors. */
  want(part: Part): void {
    this.#wanted.add(part);
  }

  /** Loads what responses need, on first use. Null if everything is there. Otherwise, await it. */
  ready(): Promise<void> | null {
    if (this.#ready === undefined) this.#ready = this.#loadAll();
    return this.#ready;
  }

  async #loadAll(): Promise<void> {
    try {
      // Load the package only if there is a choice.
      if (this.areMany) this.#negotiator = (await import('negotiator')).default;
      const parts = this.tags.flatMap((tag) => [...this.#wanted].map((part) => this.load(part, tag)));
      await Promise.all(parts);
      this.#ready = null;
    } catch (error) {
      // The next request tries again.
      this.#ready = undefined;
      throw error;
    }
  }

  /** Loads a part of a catalogue. Null if a language of the app does not have it. */
  async load<P extends Part>(part: P, tag: string): Promise<LanguageParts[P] | null> {
    const key = `${part} ${tag}`;
    if (!this.#loaded.has(key)) this.#loaded.set(key, await this.#find(part, tag));
    return this.loaded(part, tag);
  }

  /** Returns a part of a catalogue that {@link load} or {@link ready} has loaded. Null otherwise. */
  loaded<P extends Part>(part: P, tag: string): LanguageParts[P] | null {
    return (this.#loaded.get(`${part} ${tag}`) as LanguageParts[P] | null | undefined) ?? null;
  }

  /**
   * Returns the words of emails in a language.
   *
   * @param tag null for the default
   */
  async emailsIn(tag: string | null, english: MailWords): Promise<MailWords> {
    if (this.isEnglish) return english;
    const language = tag !== null && this.tags.includes(tag) ? tag : this.default;
    const words = await this.load('emails', language);
    return words ? { ...words, ...this.scriptOf(language) } : english;
  }

  /** Returns what errors say in the language of a request. Null for latchkey's English. */
  errorsFor(req: PlainRequest): LanguageParts['errors'] | null {
    return this.isEnglish ? null : this.loaded('errors', this.of(req));
  }

  /** Returns a part with the app's own words. */
  withOwnWords<P extends Part>(part: P, tag: string, words: LanguageParts[P]): LanguageParts[P] {
    return withOwnWords(words, this.#settings.words[tag] ?? {}, PREFIXES[part]);
  }

  async #find<P extends Part>(part: P, tag: string): Promise<LanguageParts[P] | null> {
    const own = this.#settings.own.get(tag) as Language | undefined;
    const shipped = LOADERS[tag as keyof typeof LOADERS];
    const given = own ? own[part] : await shipped?.[part]();
    if (!given) return null;
    // English is better than nothing, for texts that a new version of latchkey has added.
    const words = own ? completed(await LOADERS.en[part](), given) : given;
    return this.withOwnWords(part, tag, words as LanguageParts[P]);
  }

  /** Asks the app's function once for each request and user, and no more after it has failed. */
  #byApp(req: PlainRequest, user: User | null): string | null {
    const { of } = this.#settings;
    if (!of) return null;
    const known = this.#answers.get(req);
    if (known && (known.hasFailed || known.userId === (user?.id ?? null))) return known.tag;
    const answer = this.#answerOf(of, req, user);
    this.#answers.set(req, answer);
    return answer.tag;
  }

  #answerOf(of: NonNullable<LocaleSettings['of']>, req: PlainRequest, user: User | null): AppAnswer {
    const userId = user?.id ?? null;
    try {
      const tag: unknown = of(originalOf(req) as never, user);
      if (isPromise(tag)) {
        // No code awaits it, so its rejection would end the process.
        tag.then(undefined, () => undefined);
        throw new TypeError('it returned a promise: return a tag');
      }
      return { userId, tag: typeof tag === 'string' ? (this.#lookUp(tag) ?? null) : null, hasFailed: false };
    } catch (error) {
      this.failed('locale.of threw, so the language is chosen without it', error);
      return { userId, tag: null, hasFailed: true };
    }
  }

  /** Returns the language that fits a header best. Null if there is none. */
  #accepted(header: string | undefined): string | null {
    if (!header || !this.#negotiator) return null;
    // A header that is longer is hostile: the tags of its beginning are enough.
    const end = header.length > MAX_HEADER ? Math.max(0, header.lastIndexOf(',', MAX_HEADER)) : header.length;
    const short = header.slice(0, end);
    for (const range of new this.#negotiator({ headers: { 'accept-language': short } }).languages()) {
      const tag = range === '*' ? this.default : this.#lookUp(range);
      if (tag !== undefined) return tag;
    }
    return null;
  }

  /** Looks up a language range (RFC 4647, 3.4). A range such as `pt` also finds `pt-BR`. */
  #lookUp(range: string): string | undefined {
    const wanted = range.toLowerCase();
    const named = (name: string) => this.tags.find((tag) => tag.toLowerCase() === name);
    const subtags = wanted.split('-');
    for (let length = subtags.length; length > 0; length--) {
      const found = named(subtags.slice(0, length).join('-'));
      if (found !== undefined) return found;
    }
    return this.tags.find((tag) => tag.toLowerCase().startsWith(`${wanted}-`));
  }

  /** Logs that code or words of the app fail. */
  failed(what: string, cause: unknown): void {
    this.#log.error('locale.failed', what, { err: cause });
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
