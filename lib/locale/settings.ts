import type { Request } from 'express';
import type { User } from '../tables/core.js';
import type { Language } from '../words/catalogue.js';

/** A text that replaces one of a catalogue: of the same type as the English one, which is a string, a function or a list. */
export type OwnWord = string | readonly string[] | ((...values: never[]) => unknown);

/** The settings of languages. */
export interface LocaleSettings {
  readonly default: string;
  /** The tags of all languages. The default is the first. */
  readonly tags: readonly string[];
  /** The languages of the app's own, by their tags. */
  readonly own: ReadonlyMap<string, Language>;
  /** Returns the language of a response by the app's own rule. Null if the app has no such rule. */
  readonly of: ((req: Request, user: User | null) => string | undefined) | null;
  /** The app's own words, by language and key. */
  readonly words: Readonly<Record<string, Readonly<Record<string, OwnWord>>>>;
  /** The app's translations of its own texts, by language and text. */
  readonly texts: Readonly<Record<string, Readonly<Record<string, string>>>>;
}
