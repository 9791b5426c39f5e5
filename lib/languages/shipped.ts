import { defaultDetails } from '../errors.js';
import { phrases } from '../phrases.js';
import { type LanguageParts, refusal } from '../words/catalogue.js';

/** A language that latchkey has. */
export type ShippedLanguage = 'en' | 'de' | 'fr' | 'es' | 'pt-BR' | 'ja' | 'ar';

/** Loads the parts of a catalogue. */
export type Loaders = { readonly [Part in keyof LanguageParts]: () => Promise<LanguageParts[Part]> };

/**
 * The catalogues, each in files of their own, which are loaded only if the config names the language. The paths are literals,
 * so that bundlers see them.
 */
export const LOADERS: Readonly<Record<ShippedLanguage, Loaders>> = {
  en: {
    pages: async () => (await import('../words/pages/index.js')).en,
    emails: async () => (await import('../words/emails/index.js')).emails,
    errors: async () => ({ problems: defaultDetails(), phrases, refusal }),
  },
  de: {
    pages: async () => (await import('./de/pages.js')).pages,
    emails: async () => (await import('./de/emails.js')).emails,
    errors: async () => (await import('./de/errors.js')).errors,
  },
  fr: {
    pages: async () => (await import('./fr/pages.js')).pages,
    emails: async () => (await import('./fr/emails.js')).emails,
    errors: async () => (await import('./fr/errors.js')).errors,
  },
  es: {
    pages: async () => (await import('./es/pages.js')).pages,
    emails: async () => (await import('./es/emails.js')).emails,
    errors: async () => (await import('./es/errors.js')).errors,
  },
  'pt-BR': {
    pages: async () => (await import('./pt-BR/pages.js')).pages,
    emails: async () => (await import('./pt-BR/emails.js')).emails,
    errors: async () => (await import('./pt-BR/errors.js')).errors,
  },
  ja: {
    pages: async () => (await import('./ja/pages.js')).pages,
    emails: async () => (await import('./ja/emails.js')).emails,
    errors: async () => (await import('./ja/errors.js')).errors,
  },
  ar: {
    pages: async () => (await import('./ar/pages.js')).pages,
    emails: async () => (await import('./ar/emails.js')).emails,
    errors: async () => (await import('./ar/errors.js')).errors,
  },
};

/** The tags of the languages that latchkey has. */
export const SHIPPED_LANGUAGES = Object.keys(LOADERS) as readonly ShippedLanguage[];

/** The names of the languages, in these languages. */
export const NATIVE_NAMES: Readonly<Record<ShippedLanguage, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  'pt-BR': 'Português (Brasil)',
  ja: '日本語',
  ar: 'العربية',
};

/** The languages that are written from right to left. */
export const RIGHT_TO_LEFT: ReadonlySet<string> = new Set<ShippedLanguage>(['ar']);
