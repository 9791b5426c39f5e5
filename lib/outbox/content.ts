// Not in any text of a user: latchkey refuses NUL everywhere.
const DATE = '\0date';

/** Writes what an entry is about as JSON, in which dates stay dates. */
export function writeContent(content: object): string {
  return JSON.stringify(content, function (this: Readonly<Record<string, unknown>>, key, value) {
    // Not `value`, which `toJSON` has made a string.
    const original = this[key];
    return original instanceof Date ? { [DATE]: original.getTime() } : value;
  });
}

/** Reads it again. */
export function readContent(json: string): object {
  return JSON.parse(json, (_key, value) => {
    const time = typeof value === 'object' && value !== null ? value[DATE] : undefined;
    return time === undefined ? value : new Date(time);
  });
}
