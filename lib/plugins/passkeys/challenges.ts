import { randomBytes } from 'node:crypto';
import { serialize } from 'cookie';
import type { Transaction } from 'sequelize';
import { type CookieSettings, cookieBeside } from '../../config/session.js';
import type { PlainRequest } from '../../context/call.js';
import type { Core } from '../../core/core.js';
import { createToken, digestToken, isWellFormedToken } from '../../crypto/token.js';
import { isUuid } from '../../crypto/uuid.js';
import { type Chore, ExpiredRows } from '../../database/chores.js';
import { isForeignKeyViolation } from '../../database/faults.js';
import { AuthError } from '../../errors.js';
import { cookieValues } from '../../sessions/carriers.js';
import type { RowOf } from '../../tables/column.js';
import type { Selection, Table } from '../../tables/table.js';
import { type ChallengeColumns, challengesTable } from './declarations.js';

/** The prefix of the tokens that bind a sign-in to its browser. */
const PREFIX = 'lkb_';

/**
 * The token to which a new sign-in is bound. A browser keeps the one that it has, so that several tabs can have a sign-in
 * in progress.
 */
export function bindingFor(core: Core, request: PlainRequest | null): string {
  const [token, ...others] = carried(core, request);
  return others.length === 0 && isWellFormedToken(PREFIX, token) ? token : createToken(PREFIX);
}

/**
 * The token of the browser that completes a sign-in.
 *
 * @param pendingToken the token, of a client without cookies
 * @throws AuthError `invalid_passkey` if there is none, or if there are different ones
 */
export function bindingOf(
  core: Core,
  request: PlainRequest | null,
  pendingToken: string | undefined,
): string {
  const tokens = new Set([...carried(core, request), ...(pendingToken === undefined ? [] : [pendingToken])]);
  const [token, ...others] = tokens;
  if (others.length > 0 || !isWellFormedToken(PREFIX, token)) throw new AuthError('invalid_passkey');
  return token;
}

/** The `Set-Cookie` header that binds a sign-in to the browser, for as long as its challenge lives. */
export function browserCookie(core: Core, token: string): string {
  const { name, ...attributes } = bindingCookie(core);
  return serialize(name, token, { ...attributes, httpOnly: true, maxAge: CHALLENGE_SECONDS });
}

function carried(core: Core, request: PlainRequest | null): readonly string[] {
  return cookieValues(request?.headers.cookie, bindingCookie(core).name);
}

function bindingCookie({ settings }: Core): CookieSettings {
  return cookieBeside(settings.cookie, 'passkey');
}

/** The lifetime of a challenge, in seconds. */
export const CHALLENGE_SECONDS = 300;

// More than the 16 bytes that WebAuthn Level 3 asks for (13.4.3: Cryptographic Challenges).
const CHALLENGE_BYTES = 32;

/** What a challenge may be used for. */
export type ChallengePurpose = 'register' | 'sign-in' | 'second-factor' | 'reauthenticate';

/** What a challenge belongs to. */
export interface Ceremony {
  readonly purpose: ChallengePurpose;
  /** What the challenge is bound to: the token of a browser or of a pending sign-in, or the id of a session. */
  readonly binding: string;
}

/** Challenges that browsers are to have signed. Each is for one purpose and one browser or session, and is used once. */
export class Challenges {
  readonly #core: Core;
  readonly #table: Table<ChallengeColumns>;
  readonly #challenge: Selection<RowOf<ChallengeColumns>>;

  constructor(core: Core) {
    this.#core = core;
    this.#table = core.table(challengesTable);
    this.#challenge = this.#table.whole('c');
  }

  /**
   * @param userId null if the user is not known yet
   * @param userHandle for a new passkey: under which id the authenticator is to know the user
   * @returns the challenge in base64url; only its hash is stored
   * @throws AuthError `user_not_found`
   */
  async issue(
    { purpose, binding }: Ceremony,
    userId: string | null,
    userHandle: string | null = null,
  ): Promise<string> {
    const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
    const { database } = this.#core;
    if (userId !== null && !isUuid(userId)) throw new AuthError('user_not_found');
    await database.ready();
    const row = {
      challengeHash: digestToken(challenge),
      purpose,
      bindingHash: digestToken(binding),
      userId,
      userHandle,
      expiresAt: database.clock.date(CHALLENGE_SECONDS * 1000),
    };
    await this.#table.insert(row).catch((error) => {
      // Deleted, perhaps since the request was admitted.
      throw isForeignKeyViolation(error) ? new AuthError('user_not_found', { cause: error }) : error;
    });
    return challenge;
  }

  /**
   * Consumes a challenge. Only one of several concurrent calls gets it. One for another purpose or browser is left alone, so
   * that nobody who has seen it can use it up.
   *
   * @returns whether it was there
   */
  async take(challenge: string, { purpose, binding }: Ceremony): Promise<boolean> {
    const { database } = this.#core;
    await database.ready();
    const taken = await database.change(
      `DELETE FROM ${this.#table.name} WHERE challenge_hash = :hash AND purpose = :purpose
         AND binding_hash = :binding AND expires_at > :now`,
      { hash: digestToken(challenge), purpose, binding: digestToken(binding), now: database.clock.date() },
    );
    return taken > 0;
  }

  /** Consumes the challenge of a new passkey. @returns the user handle that was issued with it, or null */
  async takeForRegistration(challenge: string, ceremony: Ceremony, userId: string): Promise<string | null> {
    const hash = digestToken(challenge);
    const [row] = await this.#challenge.select('WHERE c.challenge_hash = :hash', { hash });
    if (row?.userId !== userId || !(await this.take(challenge, ceremony))) return null;
    return row.userHandle;
  }

  /** The user handle of an enrolment that is in progress, if there is one. */
  async pendingHandle(userId: string): Promise<string | null> {
    const [row] = await this.#challenge.select(
      'WHERE c.user_id = :userId AND c.user_handle IS NOT NULL AND c.expires_at > :now LIMIT 1',
      { userId, now: this.#core.database.clock.date() },
    );
    return row?.userHandle ?? null;
  }

  /** Deletes a user's challenges. */
  async deleteAll(userId: string, transaction: Transaction): Promise<void> {
    await this.#table.delete({ userId }, transaction);
  }

  get expired(): Chore {
    return new ExpiredRows(this.#core.database, this.#table.name, 'challenge_hash', { expires_at: 0 });
  }
}
