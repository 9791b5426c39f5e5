/** The length of the longest key that is compared with the known keys, and of the part of a key that an error names. */
const MAX_KEY = 40;
/**
 * The maximum number of unknown keys that an error names. If an app passes on a request body, a client can send many.
 */
const MAX_KEYS = 10;

/**
 * Requires that an input has only known keys, because a misspelled key would otherwise be ignored. Keys whose value is
 * undefined are allowed.
 *
 * @param where the call, for the error
 * @throws TypeError that lists up to ten unknown keys, each up to 40 characters, and the nearest known ones
 */
export function requireKnownKeys(where: string, input: object, known: readonly string[]): void {
  const others = Object.entries(input).flatMap(([key, value]) =>
    value === undefined || known.includes(key) ? [] : key,
  );
  if (others.length === 0) return;
  const named = others.slice(0, MAX_KEYS);
  const more = others.length > named.length ? ` and ${others.length - named.length} more` : '';
  const near = named.flatMap((key) => nearest(key, known) ?? []);
  const guess = near.length > 0 ? ` (did you mean ${new Intl.ListFormat('en').format(near)}?)` : '';
  throw new TypeError(
    `latchkey: ${where} does not accept ${named.map(shortened).join(', ')}${more}${guess}: it accepts ${known.join(', ')}`,
  );
}

/**
 * Makes the functions of an API reject an object after another one, because it would be ignored. The options, and the
 * app's transaction among them, are always keys of the last argument.
 *
 * @param where the API, for the error
 * @param except functions that have an object, such as a request, before the last argument
 * @returns the same API. Its functions throw a TypeError that names the call
 */
export function endingWithObject<A extends object>(
  where: string,
  api: A,
  except: readonly (keyof A)[] = [],
): A {
  for (const [name, property] of functionsOf(api)) {
    if (except.includes(name as keyof A)) continue;
    const value = (...given: readonly unknown[]) => {
      const last = given.findIndex(isInput);
      if (last >= 0 && given.slice(last + 1).some(isInput))
        throw new TypeError(
          `latchkey: ${where}.${name} accepts no object after its argument ${last + 1}: pass everything in that object, also transaction`,
        );
      return property.value.apply(api, given);
    };
    Object.defineProperty(api, name, { ...property, value });
  }
  return api;
}

/** Returns an object's own functions and its class's, by name. */
function functionsOf(api: object): Map<string, PropertyDescriptor> {
  const properties = [Object.getPrototypeOf(api), api].flatMap((one) =>
    one === Object.prototype ? [] : Object.entries(Object.getOwnPropertyDescriptors<object>(one)),
  );
  return new Map(
    properties.filter(([name, { value }]) => typeof value === 'function' && name !== 'constructor'),
  );
}

/** Whether an argument can have options as its keys. Rows, which can be any iterable, cannot. */
function isInput(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return !(Symbol.iterator in value || Symbol.asyncIterator in value);
}

function shortened(key: string): string {
  return key.length > MAX_KEY ? `${key.slice(0, MAX_KEY).toWellFormed()}…` : key;
}

/** Returns the known word that a misspelled word of at most 40 characters probably stands for. */
export function nearest(typed: string, known: readonly string[]): string | undefined {
  if (typed.length > MAX_KEY) return undefined;
  const word = typed.toLowerCase();
  return known
    .map((key) => ({ key, other: key.toLowerCase(), typos: distance(word, key.toLowerCase()) }))
    .filter(({ other, typos }) => {
      const isPart = word.length > 2 && (other.includes(word) || word.includes(other));
      return isPart || typos <= Math.ceil(Math.min(word.length, other.length) / 3);
    })
    .sort((a, b) => a.typos - b.typos)[0]?.key;
}

/** Returns the Levenshtein distance between two words. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (letter === to[column - 1] ? 0 : 1);
      next.push(Math.min((row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
