import { basename } from 'node:path';

/** The words in the name of a file, such as `db` in `x.db.spec.ts`. */
export function wordsOf({ path }) {
  return basename(path).split('.').slice(1, -2);
}

/** How long a file takes, compared with most others. */
export function weightOf(test) {
  return wordsOf(test).some((word) => word === 'walk' || word === 'e2e') ? 10 : 1;
}
