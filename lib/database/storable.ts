/** Sanitizes untrusted text for a column: removes NUL (PostgreSQL rejects it), truncates it, makes it well-formed. */
export function storable(text: string | null, length: number): string | null {
  return text === null ? null : text.replaceAll('\0', '').slice(0, length).toWellFormed();
}
