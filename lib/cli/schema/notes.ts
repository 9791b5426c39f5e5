/** Sentences for the headings of several tools. */
export const HIDDEN =
  'Columns with hashes, encrypted values and other internals are left out, so that no query returns them.';
export const WRITES = 'latchkey does not validate what you write to the tables.';
