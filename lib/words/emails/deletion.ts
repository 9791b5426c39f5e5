import { date } from './times.js';

/** An account whose deletion is pending. */
export interface Deletion {
  /** When it was deleted. */
  readonly at: Date;
  /** Until when it can be restored. Null if it no longer can. */
  readonly until: Date | null;
}

/**
 * Returns the sentences that say that an account was deleted, and how it can be restored. Not every email about a deletion
 * has a link for that.
 */
export function deletion({ at, until }: Deletion): string {
  return until === null
    ? `Your account was deleted on ${date(at)}.`
    : `Your account was deleted on ${date(at)}. Until ${date(until)}, it can be restored: with the link in our email about the deletion, or by the people who run this app.`;
}
