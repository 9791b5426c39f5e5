import { type Html, html } from '../../html.js';
import type { Words } from '../../words/pages/index.js';
import type { Found } from '../routes.js';
import type { Site } from '../site.js';

/** A user, as administrators see one. Times are in ISO 8601. */
export interface AdministeredUser {
  readonly id: string;
  readonly email: string | null;
  /** The username with the letters that were typed. Absent if usernames are not enabled. */
  readonly username?: string | null;
  /** The value of your field `name`. Null if there is none, or if administrators do not see it. */
  readonly name: string | null;
  readonly emailVerifiedAt: string | null;
  readonly createdAt: string;
  /** When the deletion was requested. Null if it is not pending. */
  readonly deletedAt: string | null;
  /** Null if the user is not suspended. */
  readonly suspendedAt: string | null;
  /** Null if the suspension does not expire. */
  readonly suspendedUntil: string | null;
  readonly suspensionReason: string | null;
}

/** A user, as routes for administrators return it. @internal */
export type FoundUser = Found<'get /admin/users/:id'>['user'];

/** @internal */
export function administered(site: Site, found: FoundUser): AdministeredUser {
  const { id, email, username, username_display: display } = found;
  // Without suspensions, these can be the names of the app's own fields.
  const suspension = site.route('post /admin/users/:id/suspend') ? found : null;
  return {
    id,
    email,
    name: typeof found.name === 'string' && found.name !== '' ? found.name : null,
    ...(username !== undefined && { username: display ?? username }),
    emailVerifiedAt: found.email_verified_at,
    createdAt: found.created_at,
    deletedAt: found.deleted_at ?? null,
    suspendedAt: suspension?.suspended_at ?? null,
    suspendedUntil: suspension?.suspended_until ?? null,
    suspensionReason: suspension?.suspension_reason ?? null,
  };
}

/** The state of a user's account. */
export interface UserState {
  readonly isSuspended: boolean;
  /** Whether its deletion is pending. */
  readonly isClosed: boolean;
  /** Whether it has an email that is not verified. */
  readonly isUnverified: boolean;
  /** Whether it is the account of the administrator who opens the page. */
  readonly isOwn: boolean;
}

/** @internal */
export function stateOf({ core }: Site, user: AdministeredUser, ownId: string | undefined): UserState {
  const { email, emailVerifiedAt, deletedAt, suspendedAt, suspendedUntil } = user;
  // The database's clock decides when a suspension expires.
  const isOver = suspendedUntil !== null && Date.parse(suspendedUntil) <= core.database.clock.now();
  return {
    isSuspended: suspendedAt !== null && !isOver,
    isClosed: deletedAt !== null,
    isUnverified: email !== null && emailVerifiedAt === null,
    isOwn: user.id === ownId,
  };
}

/**
 * Returns the title of a user: the email, the username, or the id. Users choose the value of a field `name`, so it could
 * be the email of someone else.
 *
 * @internal
 */
export function titleOfUser({ id, email, username }: AdministeredUser): string {
  return email ?? username ?? id;
}

/**
 * Creates a tag beside a name.
 *
 * @param state `warn` if something is not as it should be. By default, neither good nor bad
 * @internal
 */
export function tag(text: string, state?: 'warn'): Html {
  return html` <span data-part="tag"${state && html` data-state="${state}"`}>${text}</span>`;
}

/**
 * Creates the tags of an account that cannot be used. Null if it can.
 *
 * @internal
 */
export function tagsOf(
  { isSuspended, isClosed }: Pick<UserState, 'isSuspended' | 'isClosed'>,
  words: Words,
): readonly Html[] | null {
  const t = words.users.tags;
  const texts = [isClosed && t.closed, isSuspended && t.suspended];
  const tags = texts.flatMap((text) => (text ? [tag(text, 'warn')] : []));
  return tags.length > 0 ? tags : null;
}
