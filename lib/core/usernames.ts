import { invalidField } from '../errors.js';
import type { Usernames } from './contribution.js';
import type { Core } from './core.js';

/** The rules for usernames. Null if users cannot have one. */
export function usernamesOf({ contributions }: Core): Usernames | null {
  return contributions.find(({ usernames }) => usernames)?.usernames ?? null;
}

/** Whether users can have usernames. */
export function hasUsernames(core: Core): boolean {
  return usernamesOf(core) !== null;
}

/** A username in its stored form. @throws AuthError `validation_failed`, also if usernames are not enabled */
export function readUsername(core: Core, username: string): string {
  const usernames = usernamesOf(core);
  if (usernames) return usernames.check(username);
  throw invalidField('/username', 'unknown_key', 'is not accepted: usernames are not enabled');
}
