/**
 * Everything that a code has no use for: spaces and line breaks, dashes, and characters that cannot be seen, such as the
 * marks of directions that mail programs add. U+2212 is the minus sign. U+30FC is what the key of the hyphen writes in
 * Japanese.
 */
const IGNORED = /[\s\p{Pd}\u2212\u30fc\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Reads a code that a person has typed or pasted. Full-width letters and the decimal digits of all scripts become ASCII.
 * Letters keep their case, because only the alphabet of the code says whether it matters.
 */
export function readCode(typed: string): string {
  // The normal form is that of the characters' meaning, without their width and style (Unicode Standard Annex 15).
  return typed
    .normalize('NFKC')
    .replace(IGNORED, '')
    .replace(/\p{Nd}/gu, inAscii);
}

/** Returns the ASCII digit that means the same. Unicode encodes the ten digits of each script in their order. */
function inAscii(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let zero = point;
  while (/\p{Nd}/u.test(String.fromCodePoint(zero - 1))) zero--;
  return String((point - zero) % 10);
}
