import type { Transaction } from 'sequelize';
import type { Settings } from '../config/settings.js';
import type { CallContext, PlainRequest } from '../context/call.js';
import { createToken, digestToken, isWellFormedToken, SESSION_TOKEN_PREFIX } from '../crypto/token.js';
import { uuidv7 } from '../crypto/uuid.js';
import type { Database } from '../database/database.js';
import { storable } from '../database/storable.js';
import type { Session, SessionColumns } from '../tables/session.js';
import type { Selection, Table } from '../tables/table.js';
import type { UserRecord } from '../users/user-record.js';
import type { Assurance } from './assurance.js';
import type { Recognized } from './core-devices.js';
import type { Sessions } from './sessions.js';
import type { IssuedSession, OwnedSession } from './signed-in.js';

/** What a new session is to be. */
export interface SessionToBegin extends Assurance {
  /** Whether it is kept when the browser is closed. */
  readonly remembered: boolean;
  /** When it ends at the latest, if that is before its lifetime is over. */
  readonly endsAt: Date | null;
  /** When the user authenticated. @default now */
  readonly authenticatedAt: Date | undefined;
  /** The sessions that it takes the place of. */
  readonly replaced: readonly OwnedSession[];
  readonly device: Recognized;
}

const MAX_USER_AGENT = 255;
const MAX_IP = 45;

/** Writes new sessions, and ends those that the client had before. Only `SignIn` decides that one may begin. */
export class NewSessions {
  readonly #session: Selection<Session>;

  constructor(
    private readonly table: Table<SessionColumns>,
    private readonly sessions: Pick<Sessions, 'revoke' | 'ownerOf'>,
    private readonly settings: Settings,
    private readonly database: Database,
    private readonly context: CallContext,
    private readonly tokensOf: (request: PlainRequest) => readonly string[],
  ) {
    this.#session = table.shown('s');
  }

  /** @throws ForeignKeyConstraintError (Sequelize) if the user has been deleted */
  async insert(
    { user, authEpoch }: Pick<UserRecord, 'user' | 'authEpoch'>,
    { remembered, authenticatedAt, endsAt, aal, amr }: SessionToBegin,
    transaction?: Transaction,
  ): Promise<IssuedSession> {
    const { lifetime, shortLifetime } = this.settings.session;
    const { ip = null, userAgent } = this.context.client;
    const token = createToken(SESSION_TOKEN_PREFIX);
    const now = this.database.clock.date();
    const lifetimeEnd = new Date(now.getTime() + (remembered ? lifetime : shortLifetime) * 1000);
    const row = this.table.complete({
      id: uuidv7(now.getTime()),
      userId: user.id,
      createdAt: now,
      authenticatedAt: authenticatedAt && authenticatedAt < now ? authenticatedAt : now,
      lastActiveAt: now,
      expiresAt: endsAt && endsAt < lifetimeEnd ? endsAt : lifetimeEnd,
      ipAddress: storable(ip, MAX_IP),
      userAgent: storable(userAgent, MAX_USER_AGENT),
      tokenHash: digestToken(token),
      replacedTokenHash: this.#carriedTokenHash(),
      tokenIssuedAt: now,
      authEpoch,
      remembered,
      aal,
      amr,
    });
    await this.table.insert(row, transaction);
    return { user, session: this.#session.pick(row), token, remembered, device: null };
  }

  /** Records that a session takes the place of what the current request carries. */
  async markReplacing(sessionId: string, transaction: Transaction): Promise<void> {
    const replacedTokenHash = this.#carriedTokenHash();
    if (replacedTokenHash) await this.table.update({ replacedTokenHash }, { id: sessionId }, transaction);
  }

  /** The sessions that the client already has. @param except the token of one that is not meant */
  async carried(except?: string): Promise<OwnedSession[]> {
    const tokens = this.#carriedTokens().filter((token) => token !== except);
    const found = await Promise.all(tokens.map((token) => this.sessions.ownerOf(token)));
    return found.filter((one) => one !== null);
  }

  /** Ends sessions. */
  async end(replaced: readonly OwnedSession[], transaction?: Transaction): Promise<void> {
    for (const { userId, sessionId } of replaced) await this.sessions.revoke(userId, sessionId, transaction);
  }

  #carriedTokenHash(): Buffer | null {
    const carried = this.#carriedTokens().find((one) => isWellFormedToken(SESSION_TOKEN_PREFIX, one));
    return carried === undefined ? null : digestToken(carried);
  }

  /** The session tokens of the request that signs in, valid or not. */
  #carriedTokens(): readonly string[] {
    const { request } = this.context.client;
    return request ? this.tokensOf(request) : [];
  }
}
