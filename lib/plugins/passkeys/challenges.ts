import { randomBytes } from 'node:crypto';
import { serialize } from 'cookie';
import type { Transaction } from 'sequelize';
import { type CookieSettings, cookieBeside } from '../../config/session.js';
import type { PlainRequest } from '../../context/call.js';
import type { Core } from '../../core/core.js';
import { createToken, digestToken, isWellFormedToken } from '../../crypto/token.js';
import { isUuid } from '../../crypto/uuid.js';
import { isForeignKeyViolation } from '../../database/faults.js';
import { AuthError } from '../../errors.js';
import { cookieValues } from '../../sessions/carriers.js';
import { WaitingInBrowsers, type WaitingNeeds } from '../../waiting/waiting.js';
import { CHALLENGE_MS, type ChallengeColumns, challengesTable } from './declarations.js';

/** The prefix of the tokens that bind a sign-in to its browser. */
const PREFIX = 'lkb_';

/**
 * Returns the token that a new sign-in is bound to. A browser keeps the token that it has, so that several tabs can
 * have a sign-in in progress.
 */
export function bindingFor(core: Core, request: PlainRequest | null): string {
  const [token, ...others] = presented(core, request);
  return others.length === 0 && isWellFormedToken(PREFIX, token) ? token : createToken(PREFIX);
}

/**
 * Returns the token of the browser that completes a sign-in.
 *
 * @param pendingToken the token that a client without cookies has sent
 * @returns null if there is no token, or if there are different ones
 */
export function bindingOf(
  core: Core,
  request: PlainRequest | null,
  pendingToken: string | undefined,
): string | null {
  const tokens = new Set([
    ...presented(core, request),
    ...(pendingToken === undefined ? [] : [pendingToken]),
  ]);
  const [token, ...others] = tokens;
  return others.length === 0 && isWellFormedToken(PREFIX, token) ? token : null;
}

/** Returns the `Set-Cookie` header that binds a sign-in to the browser until its challenge expires. */
export function browserCookie(core: Core, token: string): string {
  const { name, former: _, ...attributes } = bindingCookie(core);
  return serialize(name, token, { ...attributes, httpOnly: true, maxAge: CHALLENGE_MS / 1000 });
}

function presented(core: Core, request: PlainRequest | null): readonly string[] {
  return cookieValues(request?.headers.cookie, bindingCookie(core).name);
}

function bindingCookie({ settings }: Core): CookieSettings {
  return cookieBeside(settings.cookie, 'passkey');
}

// WebAuthn Level 3 recommends at least 16 bytes (13.4.3: Cryptographic Challenges).
const CHALLENGE_BYTES = 32;

/** The purpose of a challenge. */
export type ChallengePurpose = 'register' | 'sign-in' | 'second-factor' | 'reauthenticate' | 'undo';

/** The ceremony that a challenge belongs to. */
export interface Ceremony {
  readonly purpose: ChallengePurpose;
  /** The token of a browser or a pending sign-in, or the id of a session, that the challenge is bound to. */
  readonly binding: string;
}

/** Challenges for authenticators to sign. Each is for one purpose and one browser or session, and can be used once. */
export class Challenges {
  readonly #waiting: WaitingInBrowsers<ChallengeColumns>;

  constructor(core: WaitingNeeds) {
    this.#waiting = new WaitingInBrowsers(core, challengesTable);
  }

  /**
   * @param userId null if the user is not known yet
   * @param userHandle for a new passkey, the id that will identify the user to the authenticator
   * @returns the challenge in base64url; only its hash is stored
   * @throws AuthError `user_not_found`
   */
  async issue(
    { purpose, binding }: Ceremony,
    userId: string | null,
    userHandle: string | null = null,
  ): Promise<string> {
    if (userId !== null && !isUuid(userId)) throw new AuthError('user_not_found');
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
    const hashes = { challengeHash: digestToken(challenge), browserHash: digestToken(binding) };
    await this.#waiting.begin({ ...hashes, purpose, userId, userHandle }).catch((error) => {
      // The user was deleted, perhaps after the request was admitted.
      throw isForeignKeyViolation(error) ? new AuthError('user_not_found', { cause: error }) : error;
    });
    return challenge;
  }

  /** Consumes a challenge, unless it is for another purpose or browser. @returns whether this call consumed it */
  take(challenge: string, { purpose, binding }: Ceremony): Promise<boolean> {
    const hashes = { challengeHash: digestToken(challenge), browserHash: digestToken(binding) };
    return this.#waiting.take({ ...hashes, purpose });
  }

  /** Consumes the challenge of a new passkey. @returns the user handle that was issued with it, or null */
  async takeForRegistration(challenge: string, ceremony: Ceremony, userId: string): Promise<string | null> {
    const row = await this.#waiting.find(digestToken(challenge));
    if (row?.userId !== userId || !(await this.take(challenge, ceremony))) return null;
    return row.userHandle;
  }

  /** Deletes a user's challenges. */
  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.#waiting.end({ userId }, transaction);
  }
}
