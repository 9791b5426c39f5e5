import type { Request } from 'express';
import * as z from 'zod';
import { NATIVE_NAMES, SHIPPED_LANGUAGES, type ShippedLanguage } from '../languages/shipped.js';
import type { LocaleSettings, OwnWord } from '../locale/settings.js';
import type { User } from '../tables/core.js';
import type { Language } from '../words/catalogue.js';
import { schemaOf } from './options.js';
import type { FieldOptions } from './user.js';

/** The languages of pages, emails and error responses. */
export interface LocaleOptions {
  /** The language that is used if no other one fits, as a tag (BCP 47) such as `de`. @default 'en' */
  default?: string;
  /**
   * The languages to choose from: tags of languages that latchkey has (`en`, `de`, `fr`, `es`, `pt-BR`, `ja`, `ar`), and
   * languages of your own. With more than one, users can choose theirs: accounts get the field `locale`.
   * @default only `default`
   */
  languages?: readonly (ShippedLanguage | Language)[];
  /**
   * Returns the language of a response, such as by the path or the host of the request. It goes before the user's choice
   * and `Accept-Language`. A tag that is not in `languages` is ignored.
   * @default none
   *
   * @param req the request
   * @param user the user who is signed in, or null
   */
  of?(req: Request, user: User | null): string | undefined;
  /**
   * Your own words in place of latchkey's, by language and key, such as `{ de: { 'sign-in.title': 'Willkommen' } }`. An
   * unknown key is an error.
   * @default none
   */
  words?: Readonly<Record<string, Readonly<Record<string, OwnWord>>>>;
  /**
   * Translations of your config's own texts, such as labels of fields, by language and text:
   * `{ de: { 'Favorite color': 'Lieblingsfarbe' } }`.
   * @default none
   */
  texts?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const LANGUAGE = `must be one of ${SHIPPED_LANGUAGES.join(', ')}, or a language of your own: { tag, pages, emails, errors }`;
const TAG = 'must be a language tag such as de or pt-BR';

const tag = z.string(TAG).refine(isTag, { error: TAG });
const language = z.custom<ShippedLanguage | Language>(
  (it) =>
    typeof it === 'string'
      ? (SHIPPED_LANGUAGES as readonly string[]).includes(it)
      : typeof it === 'object' && it !== null && isTag((it as Partial<Language>).tag),
  LANGUAGE,
);
const WORD = 'must be a string, a function or a list of strings';
const OBJECT = 'must be an object of texts for each language';

/** @internal */
export const localeSchema = schemaOf<LocaleOptions>()({
  default: tag.default('en'),
  languages: z.array(language, 'must be a list of languages').min(1, 'must not be empty').optional(),
  of: z
    .custom<NonNullable<LocaleOptions['of']>>(
      (it) => typeof it === 'function',
      'must be a function of a request and a user',
    )
    .optional(),
  words: (
    z.record(z.string(), z.record(z.string(), z.custom<OwnWord>(isWord, WORD)), OBJECT) as z.ZodType<
      NonNullable<LocaleOptions['words']>,
      NonNullable<LocaleOptions['words']>
    >
  ).default({}),
  texts: (
    z.record(z.string(), z.record(z.string(), z.string('must be a string')), OBJECT) as z.ZodType<
      NonNullable<LocaleOptions['texts']>,
      NonNullable<LocaleOptions['texts']>
    >
  ).default({}),
}).superRefine(({ default: first, languages, words, texts }, context) => {
  const offered = (languages ?? []).map(tagOf);
  const fail = (path: (string | number)[], message: string) =>
    context.addIssue({ code: 'custom', path, message });
  const twice = offered.findIndex((one, index) => offered.indexOf(one) !== index);
  if (twice >= 0) fail(['languages', twice], `is ${offered[twice]} a second time: leave it out`);
  if (languages ? !offered.includes(first) : !(SHIPPED_LANGUAGES as readonly string[]).includes(first))
    fail(
      ['default'],
      languages
        ? `is ${first}, which languages does not contain: add it`
        : `is ${first}, which latchkey does not have: set languages to [a language of your own]`,
    );
  for (const [option, given] of Object.entries({ words, texts }))
    for (const key of Object.keys(given))
      if (!(languages ? offered : [first]).includes(key))
        fail([option, key], 'is not one of the languages: add it to locale.languages');
});

/** @internal */
export function localeSettings({
  default: first,
  languages,
  of,
  words,
  texts,
}: z.output<typeof localeSchema>): LocaleSettings {
  const all = languages ?? [first as ShippedLanguage];
  return {
    default: first,
    tags: [first, ...all.map(tagOf).filter((one) => one !== first)],
    own: new Map(all.flatMap((one) => (typeof one === 'string' ? [] : [[one.tag, one]]))),
    of: of ?? null,
    words,
    texts,
  };
}

/**
 * Returns the field of users in which they keep the language that they have chosen. None with one language.
 *
 * @internal
 */
export function localeField({ tags, own }: LocaleSettings): Readonly<Record<string, FieldOptions>> {
  if (tags.length === 1) return {};
  const labels = Object.fromEntries(tags.map((one) => [one, own.get(one)?.name ?? nameOf(one)]));
  return { locale: { type: 'string', maxLength: MAX_TAG, enum: tags, labels } };
}

/** The name of a language in itself, such as "Deutsch". */
function nameOf(tag: string): string {
  return (
    NATIVE_NAMES[tag as ShippedLanguage] ?? new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag
  );
}

/** The maximum length of a tag (RFC 5646, 4.4.1). */
const MAX_TAG = 35;

function tagOf(language: string | Language): string {
  return typeof language === 'string' ? language : language.tag;
}

/** Whether a value is a language tag in its canonical form. */
function isTag(value: unknown): value is string {
  if (typeof value !== 'string' || value.length > MAX_TAG) return false;
  try {
    return Intl.getCanonicalLocales(value)[0] === value;
  } catch {
    return false;
  }
}

function isWord(value: unknown): value is OwnWord {
  return (
    typeof value === 'string' ||
    typeof value === 'function' ||
    (Array.isArray(value) && value.every((one) => typeof one === 'string'))
  );
}
