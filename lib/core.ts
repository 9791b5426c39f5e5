import type { Transaction } from 'sequelize';
import type { Authentication, Carrier, PlainRequest, SessionAuthentication } from './carriers/carrier.js';
import { SecretBox } from './crypto/secret-box.js';
import type { Database } from './database/database.js';
import { AuthError } from './errors.js';
import type { Events } from './events.js';
import type { Limiter } from './limits/limiter.js';
import type { Mailer } from './mail/mailer.js';
import type { User } from './models/user.js';
import type { Sessions } from './sessions.js';
import type { Settings } from './settings.js';
import type { LockedUser, Users } from './users.js';

/** What plugins, routes and guards work with. */
export class Core {
  /** In the order in which they are asked. */
  readonly carriers: Carrier[] = [];
  /** Whether users can sign in by password. */
  passwords = false;
  /** Whether users have usernames, so that they are shown. */
  usernames = false;

  /** Whether programs can come with an API key. */
  get acceptsApiKeys(): boolean {
    return this.carriers.some(({ via }) => via === 'api-key');
  }

  /** Who is an administrator; null without the admin plugin. */
  isAdministrator: ((user: User) => boolean) | null = null;

  /**
   * What must go when a user proves for the first time that the mailbox is theirs: whoever signed up before with an
   * address that was not theirs may have left ways in.
   */
  readonly onFirstProof: ((userId: string, transaction: Transaction) => Promise<void>)[] = [];

  /** Encrypts what must be read again. */
  readonly box: SecretBox;

  constructor(
    readonly settings: Settings,
    readonly database: Database,
    readonly users: Users,
    readonly sessions: Sessions,
    readonly events: Events,
    readonly limiter: Limiter,
    /** Null where the app sends no mail. */
    readonly mailer: Mailer | null,
  ) {
    this.box = new SecretBox(settings.secrets);
  }

  /**
   * Who makes a request: the first carrier that finds something of its own decides alone.
   *
   * @returns null where the request carries no credential at all
   * @throws AuthError where it carries one that opens nothing
   */
  async authenticate(request: PlainRequest): Promise<Authentication | null> {
    for (const carrier of this.carriers) {
      const authentication = await carrier.authenticate(request);
      if (authentication) return authentication;
    }
    return null;
  }

  /** Like {@link authenticate}, where nothing is an error too. @throws AuthError `unauthenticated` */
  async getSession(request: PlainRequest): Promise<Authentication> {
    const authentication = await this.authenticate(request);
    if (!authentication) throw new AuthError('unauthenticated');
    return authentication;
  }

  /**
   * Does something lasting in a user's name: a new way in, above all. The user's row is locked, and the session in whose
   * name it is done must still hold; so what a reset or a revoke-all has taken away does not come back behind it.
   *
   * @param sessionId null for the app's own calls
   * @throws AuthError `user_not_found`, `invalid_session`
   */
  inNameOf<T>(
    userId: string,
    sessionId: string | null,
    work: (transaction: Transaction, user: LockedUser) => Promise<T>,
  ): Promise<T> {
    return this.database.transaction(async (transaction) => {
      const user = await this.users.lockForUpdate(userId, transaction);
      if (!user) throw new AuthError('user_not_found');
      if (sessionId !== null && !(await this.sessions.stillHolds(sessionId, user.authEpoch, transaction))) {
        throw new AuthError('invalid_session');
      }
      return work(transaction, user);
    });
  }

  /** The session that a request carries, where it is alive; a dead one is none here. */
  async currentSession(request: PlainRequest): Promise<SessionAuthentication | null> {
    try {
      const authentication = await this.authenticate(request);
      return authentication?.session ? authentication : null;
    } catch (error) {
      if (error instanceof AuthError && error.status === 401) return null;
      throw error;
    }
  }

  /** Ends the sessions whose tokens a request carries: a sign-in takes their place. */
  async endCarriedSessions(request: PlainRequest): Promise<void> {
    const tokens = this.carriers.flatMap((carrier) => carrier.sessionTokens(request));
    // A browser has one, or two where another subdomain has set one too.
    for (const token of [...new Set(tokens)].slice(0, 2)) await this.sessions.revokeByToken(token);
  }
}
