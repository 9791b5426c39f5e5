/** Text from outside, as a column takes it: without NUL (PostgreSQL refuses it), well-formed, cut to length. */
export function storable(text: string | null, length: number): string | null {
  return text === null ? null : text.replaceAll('\0', '').slice(0, length).toWellFormed();
}
