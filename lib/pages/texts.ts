const CHANGES: Readonly<Record<string, string>> = {};

/** Returns the name of a kind of change in words, such as "the password". */
export function changeName(kind: string): string {
  return CHANGES[kind] ?? kind.replaceAll('-', ' ');
}

/** Returns a time in words. It is in UTC, because the server does not know the time zone of the user. */
export function timeInWords(iso: string): string {
  return `${new Date(iso).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })} UTC`;
}
