import type { Transaction } from 'sequelize';
import type { Settings } from '../config/settings.js';
import type { CallContext, PlainRequest } from '../context/call.js';
import { createToken, digestToken, isWellFormedToken, SESSION_TOKEN_PREFIX } from '../crypto/token.js';
import { uuidv7 } from '../crypto/uuid.js';
import type { Clock } from '../database/clock.js';
import { isForeignKeyViolation } from '../database/faults.js';
import { storable } from '../database/storable.js';
import { AuthError } from '../errors.js';
import type { Limiter } from '../limits/limiter.js';
import type { Session, SessionColumns } from '../models/session.js';
import type { Selection, Table } from '../models/table.js';
import type { Assurance, Shown } from './assurance.js';
import type { Contribution, NewPendingSignIn } from './contribution.js';
import type { Devices } from './devices.js';
import type { Events } from './events.js';
import type { SecondFactorRules } from './second-factor-rules.js';
import type { Sessions } from './sessions.js';
import { type IssuedSession, isPending, type PendingSignIn, type SignedIn } from './signed-in.js';
import type { UserRecord } from './user-record.js';
import type { Users } from './users.js';

/** A user who has authenticated: with a password, at a provider, with a passkey, or with an emailed link. */
export interface Proof extends Pick<UserRecord, 'user' | 'account' | 'row'>, Shown {
  /** The user's epoch at that time. A revoke-all or password change since then invalidates the proof. */
  readonly authEpoch: number;
  /** The counter of failed attempts that a sign-in clears once it is complete. @default none */
  readonly attempts?: string | null;
}

export interface SignInOptions {
  /** Keeps the session when the browser is closed. @default false */
  readonly remembered?: boolean;
  /** When the user authenticated, if somebody else tells it. A later time than now counts as now. @default now */
  readonly authenticatedAt?: Date | undefined;
  /** Begins a session although the account has a second factor, because the app says so. It is not fresh. @default false */
  readonly withoutProof?: boolean;
  /**
   * Takes the place of a session of an older system, and ends when that would have: see `CarriedSessions`. It is not fresh,
   * and is no reason to recognize the browser.
   */
  readonly carriedOver?: { readonly endsAt: Date | null };
  /** The sessions that the client already has. @default looked up by the tokens in its request */
  readonly replaced?: readonly { readonly userId: string; readonly sessionId: string }[];
}

/** A sign-in that has passed the plugins' checks. */
export interface CheckedSignIn {
  /** Creates the session, or writes down that a second factor is needed first. */
  begin(proof: Pick<Proof, 'user' | 'authEpoch'>, transaction?: Transaction): Promise<SignedIn>;
  /**
   * Emits the event, ends the client's other sessions and remembers its device. Call it after the transaction, if there is
   * one. Does nothing before the second factor is given.
   */
  complete<S extends SignedIn>(signedIn: S): Promise<S>;
}

interface NewSession extends Assurance {
  readonly remembered: boolean;
  /** When it ends at the latest, if that is before its lifetime is over. */
  readonly endsAt: Date | null;
  readonly authenticatedAt: Date | undefined;
}

/** For a session whose user has not authenticated. */
const NEVER = new Date(0);

const MAX_USER_AGENT = 255;
const MAX_IP = 45;

/**
 * The only place where sessions are created, however the user authenticated. Plugins' checks run here and nowhere else,
 * so that no way of signing in can skip them.
 */
export class SignIn {
  readonly #session: Selection<Session>;

  constructor(
    private readonly table: Table<SessionColumns>,
    private readonly sessions: Pick<Sessions, 'revoke' | 'revokeByToken'>,
    private readonly devices: Pick<Devices, 'remember'>,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly context: CallContext,
    private readonly events: Events,
    private readonly contributions: () => readonly Contribution[],
    private readonly users: Pick<Users, 'isPresent'>,
    private readonly secondFactors: SecondFactorRules,
    private readonly limiter: Pick<Limiter, 'clearFailures'>,
    private readonly sessionTokens: (request: PlainRequest) => readonly string[],
  ) {
    this.#session = table.shown('s');
  }

  /**
   * Runs the checks, for a session that is then created in the same transaction as another change. They run before that
   * transaction, because they may write to the database themselves.
   *
   * @throws AuthError if a check rejects the user, such as `email_not_verified` (403)
   */
  async check(
    { user, account, row, attempts = null, ...shown }: Omit<Proof, 'authEpoch'>,
    { remembered = false, withoutProof = false, replaced, carriedOver, ...options }: SignInOptions = {},
  ): Promise<CheckedSignIn> {
    if (!(await this.users.isPresent({ user, row }))) throw new AuthError('invalid_credentials');
    for (const contribution of this.contributions()) contribution.checkAccount?.(account);
    for (const contribution of this.contributions()) await contribution.checkSignIn?.(user, !carriedOver);
    const reached = this.secondFactors.reached({ account }, shown);
    const isProved = !carriedOver && (reached !== null || !withoutProof);
    const authenticatedAt = isProved ? options.authenticatedAt : NEVER;
    const times = { remembered, authenticatedAt, endsAt: carriedOver?.endsAt ?? null };
    return {
      begin: async (proof, transaction) => {
        if (proof.user.id !== user.id) throw new TypeError('another user was checked for this sign-in');
        const assurance = reached ?? (withoutProof ? { aal: 1, amr: shown.amr } : null);
        if (assurance) return this.#insert(proof, { ...times, ...assurance }, transaction);
        return this.#wait({ ...proof, account, amr: shown.amr, attempts }, remembered, transaction);
      },
      complete: async (signedIn) => {
        if (isPending(signedIn)) return signedIn;
        const { user, session } = signedIn;
        this.events.emit('session.created', { userId: user.id, sessionId: session.id });
        if (carriedOver) return signedIn;
        if (attempts !== null) await this.#clear(attempts);
        return { ...signedIn, ...(await this.#settle(signedIn, replaced)) };
      },
    };
  }

  /** @throws like {@link check} */
  async begin(proof: Proof, options?: SignInOptions): Promise<SignedIn> {
    const checked = await this.check(proof, options);
    const signedIn = await checked.begin(proof);
    return checked.complete(signedIn);
  }

  /**
   * For a session that was created without the request of its browser: ends the sessions that the current request carries,
   * and remembers the device.
   */
  async attach(issued: IssuedSession): Promise<IssuedSession> {
    const { id } = issued.session;
    const replacedTokenHash = this.#carriedTokenHash();
    if (replacedTokenHash) await this.table.update({ replacedTokenHash }, { id });
    return this.#settle(issued);
  }

  async #settle(issued: IssuedSession, replaced?: SignInOptions['replaced']): Promise<IssuedSession> {
    await this.#end(issued, replaced);
    return { ...issued, device: await this.devices.remember(issued.user, issued.session.id) };
  }

  #wait(
    {
      user,
      account,
      ...proof
    }: Omit<NewPendingSignIn, 'record' | 'remembered'> & Pick<UserRecord, 'user' | 'account'>,
    remembered: boolean,
    transaction?: Transaction,
  ): Promise<PendingSignIn> {
    const { plugin } = this.secondFactors;
    if (!plugin) throw new TypeError('no plugin has second factors');
    return plugin.begin({ record: { user, account }, ...proof, remembered }, transaction);
  }

  /** The session has begun, so an error here must not fail the call. */
  async #clear(attempts: string): Promise<void> {
    try {
      await this.limiter.clearFailures(attempts);
    } catch (error) {
      this.settings.logger.warn('latchkey: failed sign-ins could not be cleared', error);
    }
  }

  async #insert(
    { user, authEpoch }: Pick<Proof, 'user' | 'authEpoch'>,
    { remembered, authenticatedAt, endsAt, aal, amr }: NewSession,
    transaction?: Transaction,
  ): Promise<IssuedSession> {
    const { lifetime, shortLifetime } = this.settings.session;
    const { ip = null, userAgent } = this.context.client;
    const token = createToken(SESSION_TOKEN_PREFIX);
    const now = this.clock.date();
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
    try {
      await this.table.insert(row, transaction);
    } catch (error) {
      // The user was deleted while their password was being checked.
      throw isForeignKeyViolation(error) ? new AuthError('invalid_credentials') : error;
    }
    return { user, session: this.#session.pick(row), token, remembered, device: null };
  }

  #carriedTokenHash(): Buffer | null {
    const carried = this.#carriedTokens().find((one) => isWellFormedToken(SESSION_TOKEN_PREFIX, one));
    return carried === undefined ? null : digestToken(carried);
  }

  /** The session tokens of the request that signs in, valid or not. */
  #carriedTokens(): readonly string[] {
    const { request } = this.context.client;
    return request ? this.sessionTokens(request) : [];
  }

  async #end(issued: IssuedSession, replaced: SignInOptions['replaced']): Promise<void> {
    if (replaced) {
      for (const { userId, sessionId } of replaced) await this.sessions.revoke(userId, sessionId);
      return;
    }
    for (const token of this.#carriedTokens())
      if (token !== issued.token) await this.sessions.revokeByToken(token);
  }
}
