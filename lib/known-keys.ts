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
