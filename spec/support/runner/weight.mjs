import { basename } from 'node:path';

/** The words in the name of a file, such as `db` in `x.db.spec.ts`. */
export function wordsOf({ path }) {
  return basename(path).split('.').slice(1, -2);
}

/** How long files with a word in their names take, compared with others. */
const WEIGHTS = { e2e: 20, walk: 8, db: 3 };

/** How long a file takes, compared with most others. */
export function weightOf(test) {
  return Math.max(1, ...wordsOf(test).map((word) => WEIGHTS[word] ?? 1));
}
