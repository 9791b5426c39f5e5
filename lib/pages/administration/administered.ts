import { type Html, html } from '../../html.js';
import type { Site } from '../site.js';
import type { Words } from '../words.js';

/** A user, as GET /admin/users and GET /admin/users/:id answer it. */
export interface AdministeredUser {
  readonly id: string;
  readonly email: string | null;
  /** Absent if usernames are not enabled. */
  readonly username?: string | null;
  /** The username with the letters that were typed. */
  readonly username_display?: string | null;
  readonly email_verified_at: string | null;
  readonly created_at: string;
  /** When the deletion was requested. Null or absent if it is not pending. */
  readonly deleted_at?: string | null;
  /** Null or absent if the user is not suspended. */
  readonly suspended_at?: string | null;
  /** Null if the suspension does not expire. */
  readonly suspended_until?: string | null;
  readonly suspension_reason?: string | null;
  /** The app's own fields that administrators see. */
  readonly [field: string]: unknown;
}

/** What a user's account is in. */
export interface UserState {
  readonly isSuspended: boolean;
  /** Whether its deletion is pending. */
  readonly isClosed: boolean;
  /** Whether it has an email that is not verified. */
  readonly isUnverified: boolean;
  /** Whether it is the account of the administrator who opens the page. */
  readonly isOwn: boolean;
}

export function stateOf({ core }: Site, user: AdministeredUser, ownId: string | undefined): UserState {
  const { email, email_verified_at, deleted_at, suspended_at, suspended_until } = user;
  // The database's clock decides when a suspension expires.
  const isOver = Boolean(suspended_until) && Date.parse(suspended_until ?? '') <= core.database.clock.now();
  return {
    isSuspended: Boolean(suspended_at) && !isOver,
    isClosed: Boolean(deleted_at),
    isUnverified: email !== null && email_verified_at === null,
    isOwn: user.id === ownId,
  };
}

/** Returns what a user is called: the email, the username or the id. */
export function titleOfUser({ id, email, username, username_display: display }: AdministeredUser): string {
  return email ?? display ?? username ?? id;
}

/** Creates the tags of a user's state. */
export function tagsOf(
  { isSuspended, isClosed, isUnverified, isOwn }: UserState,
  words: Words,
): readonly Html[] {
  const t = words.users.tags;
  const texts = [
    isOwn && t.own,
    isClosed && t.closed,
    isSuspended && t.suspended,
    isUnverified && t.unverified,
  ];
  return texts.flatMap((text) => (text === false ? [] : [html` <span data-part="tag">${text}</span>`]));
}
