/**
 * Removes optional whitespace, which is only spaces and tabs (RFC 9110, 5.6.3; RFC 6265, 5.2). `trim()` also removes
 * others, such as no-break spaces: a cookie whose name starts with one is another cookie, which anybody may set.
 */
export function trimWhitespace(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isWhitespace(text[start])) start++;
  while (end > start && isWhitespace(text[end - 1])) end--;
  return text.slice(start, end);
}

function isWhitespace(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}
