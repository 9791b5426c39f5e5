import { nearest } from '../known-keys.js';
import type { OwnWord } from './settings.js';

/** The path to a text in a catalogue. */
type Path = readonly string[];

/**
 * Returns the paths of all texts of a catalogue, by their keys, such as `sign-in.title` for `signIn.title`.
 *
 * @param prefix what the keys start with, such as `email.`
 */
export function keysOf(catalogue: object, prefix = ''): ReadonlyMap<string, Path> {
  const keys = new Map<string, Path>();
  const add = (value: unknown, path: Path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      keys.set(prefix + path.map(inKebabCase).join('.'), path);
      return;
    }
    for (const [name, inner] of Object.entries(value)) add(inner, [...path, name]);
  };
  add(catalogue, []);
  return keys;
}

/** Returns a catalogue with the app's own texts in place of its texts. */
export function withOwnWords<C extends object>(
  catalogue: C,
  own: Readonly<Record<string, OwnWord>>,
  prefix = '',
): C {
  const entries = Object.entries(own);
  if (entries.length === 0) return catalogue;
  const keys = keysOf(catalogue, prefix);
  return entries.reduce((whole, [key, word]) => {
    const path = keys.get(key);
    return path ? (replaced(whole, path, word) as C) : whole;
  }, catalogue);
}

/** Returns a catalogue with the English texts in place of those that it lacks, or that are of another type. */
export function completed<C>(english: C, given: unknown): C {
  if (typeof english !== 'object' || english === null || Array.isArray(english))
    return kindOf(given) === kindOf(english) ? (given as C) : english;
  const own = typeof given === 'object' && given !== null ? (given as Readonly<Record<string, unknown>>) : {};
  const texts = Object.entries(english).map(([name, text]) => [name, completed(text, own[name])]);
  return { ...own, ...Object.fromEntries(texts) };
}

/**
 * Finds what is wrong with the app's own texts for a part of the catalogue.
 *
 * @param english the English part
 * @returns a message for each text, such as "locale.words.de['sign-in.titel'] …"
 */
export function mistakesIn(
  english: object,
  own: Readonly<Record<string, Readonly<Record<string, OwnWord>>>>,
  prefix = '',
): readonly string[] {
  const keys = keysOf(english, prefix);
  return Object.entries(own).flatMap(([tag, words]) =>
    Object.entries(words).flatMap(([key, word]) => {
      const where = `locale.words.${tag}['${key}']`;
      const path = keys.get(key);
      if (!path) {
        const near = nearest(key, [...keys.keys()]);
        return `${where} is not a key${near ? ` (did you mean ${near}?)` : ''}: docs/languages.md says how keys are made`;
      }
      const wanted = kindOf(at(english, path));
      // A text that takes no values can stand for one that takes some.
      const fits = kindOf(word) === wanted || (wanted === 'a function' && kindOf(word) === 'a string');
      return fits ? [] : `${where} must be ${wanted}, as in English`;
    }),
  );
}

/** How a catalogue of the app differs from the English one, by the keys of the texts. */
export interface Differences {
  readonly missing: readonly string[];
  /** Texts of another type, such as a string in place of a function. */
  readonly mistyped: readonly string[];
  readonly unknown: readonly string[];
}

/** Compares a catalogue of the app with the English one. */
export function differencesOf(english: object, catalogue: object, prefix = ''): Differences {
  const keys = [...keysOf(english, prefix)];
  const isMissing = (path: Path) => (at(catalogue, path) ?? null) === null;
  const there = keys.filter(([, path]) => !isMissing(path));
  const unknown = [...keysOf(catalogue, prefix)].filter(
    ([key, path]) => !keys.some(([known]) => known === key) && !isMissing(path),
  );
  return {
    missing: keys.filter(([, path]) => isMissing(path)).map(([key]) => key),
    mistyped: there
      .filter(([, path]) => kindOf(at(catalogue, path)) !== kindOf(at(english, path)))
      .map(([key]) => key),
    unknown: unknown.map(([key]) => key),
  };
}

function replaced(value: object, [name = '', ...rest]: Path, word: OwnWord): object {
  const inner = (value as Readonly<Record<string, unknown>>)[name];
  const isOfFunction = typeof inner === 'function' && typeof word === 'string';
  const next = rest.length > 0 ? replaced(inner as object, rest, word) : isOfFunction ? () => word : word;
  return { ...value, [name]: next };
}

function at(value: unknown, path: Path): unknown {
  return path.reduce(
    (inner, name) => (inner as Readonly<Record<string, unknown>> | undefined)?.[name],
    value,
  );
}

function kindOf(word: unknown): string {
  if (typeof word === 'string') return 'a string';
  return typeof word === 'function' ? 'a function' : 'a list of strings';
}

/** `titleOf` is `title-of`. Names of pages, codes and kinds stay as they are. */
function inKebabCase(name: string): string {
  return /^[a-z]+([A-Z][a-z]+)+$/.test(name)
    ? name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    : name;
}
