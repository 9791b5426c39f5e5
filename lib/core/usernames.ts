import { invalidField } from '../errors.js';
import type { Core } from './core.js';

/** Whether users can have usernames. */
export function hasUsernames({ contributions }: Core): boolean {
  return contributions.some(({ checkUsername }) => checkUsername !== undefined);
}

/** A username in its stored form. @throws AuthError `validation_failed`, also if usernames are not enabled */
export function readUsername({ contributions }: Core, username: string): string {
  const owner = contributions.find(({ checkUsername }) => checkUsername !== undefined);
  if (owner?.checkUsername) return owner.checkUsername(username);
  throw invalidField('/username', 'unknown_key', 'is not accepted: usernames are not enabled');
}
