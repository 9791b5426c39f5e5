import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import type { CallContext, PlainRequest } from '../context/call.js';
import { newSalt } from '../crypto/emailed-codes.js';
import {
  ACTING_TOKEN_PREFIX,
  createToken,
  digestToken,
  isSessionToken,
  SESSION_TOKEN_PREFIX,
} from '../crypto/token.js';
import { uuidv7 } from '../crypto/uuid.js';
import type { Database } from '../database/database.js';
import { isForeignKeyViolation } from '../database/faults.js';
import { storable } from '../database/literal.js';
import { AuthError } from '../errors.js';
import type { Limiter } from '../limits/limiter.js';
import type { Events } from '../outbox/events.js';
import type { Session, SessionColumns, User } from '../tables/core.js';
import { type Selection, Table } from '../tables/table.js';
import { type ChecksAccounts, checkAccount, type UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import { type Devices, NO_DEVICE, type Recognized } from './devices.js';
import type { EmailCodeStep } from './email-code-step.js';
import type { LeftOut } from './left-out.js';
import { requireOwnSignIn } from './origin.js';
import type { NewPendingSignIn, PendingSignIns } from './pending-sign-ins.js';
import type { SecondFactorRules } from './second-factor.js';
import type { Sessions } from './sessions.js';
import {
  type Assurance,
  type IssuedSession,
  isPending,
  MAX_IP,
  MAX_USER_AGENT,
  NEVER,
  type OwnedSession,
  type PendingSignIn,
  type Shown,
  type SignedIn,
} from './signed-in.js';

/** The properties of a new session. */
interface SessionToBegin extends Assurance {
  /** Whether the session is kept when the browser is closed. */
  readonly remembered: boolean;
  /** When the session expires, if that is before the end of its lifetime. */
  readonly endsAt: Date | null;
  /** When the user authenticated. @default now */
  readonly authenticatedAt: Date | undefined;
  /** The sessions that it replaces. */
  readonly replaced: readonly OwnedSession[];
  readonly device: Recognized;
  /** Whether it continues a session of a previous system. */
  readonly takenOver: boolean;
  /** Whether the account has just been created in the client's browser. */
  readonly isSignUp: boolean;
  /** For how many days the client's browser stands in for the second factor from now on. Null if it does not. */
  readonly trustDays: number | null;
  /** The administrator who acts as the user. @default the session is the user's own */
  readonly actorId?: string;
}

/** What {@link NewSessions} need. */
interface NewSessionsNeeds {
  readonly database: Database;
  readonly context: CallContext;
  readonly settings: Settings;
  readonly sessions: Sessions;
  /** Returns the session tokens that a request presents, valid or not. */
  sessionTokens(request: PlainRequest): readonly string[];
}

/** Writes new sessions, and ends the client's previous ones. Only {@link SignInGate} decides whether a session can start. */
class NewSessions {
  readonly #table: Table<SessionColumns>;
  readonly #session: Selection<Session>;

  constructor(private readonly core: NewSessionsNeeds) {
    this.#table = new Table(core.database, core.sessions.declaration);
    this.#session = this.#table.shown('s');
  }

  /** @throws ForeignKeyConstraintError (Sequelize) if the user has been deleted */
  async insert(
    { user, authEpoch }: Pick<UserRecord, 'user' | 'authEpoch'>,
    { remembered, authenticatedAt, endsAt, aal, amr, takenOver, actorId }: SessionToBegin,
    transaction?: Transaction,
  ): Promise<IssuedSession> {
    const { lifetime, shortLifetime } = this.core.settings.session;
    // The user must not see the device of an administrator.
    const { ip = null, userAgent } = actorId ? NO_CLIENT : this.core.context.client;
    const token = actorId ? createToken(ACTING_TOKEN_PREFIX) : createToken(SESSION_TOKEN_PREFIX);
    const now = this.core.database.clock.date();
    const lifetimeEnd = new Date(now.getTime() + (remembered ? lifetime : shortLifetime) * 1000);
    const row = this.#table.complete({
      id: uuidv7(now.getTime()),
      userId: user.id,
      createdAt: now,
      authenticatedAt: authenticatedAt && authenticatedAt < now ? authenticatedAt : now,
      lastActiveAt: now,
      expiresAt: endsAt && endsAt < lifetimeEnd ? endsAt : lifetimeEnd,
      ipAddress: storable(ip, MAX_IP),
      userAgent: storable(userAgent, MAX_USER_AGENT),
      tokenHash: digestToken(token),
      replacedTokenHash: this.#presentedTokenHash(),
      tokenIssuedAt: now,
      authEpoch,
      remembered,
      aal,
      amr,
      takenOver,
      ...(actorId && { actorId }),
    });
    await this.#table.insert(row, transaction);
    return { user, session: this.#session.pick(row), token, remembered, device: null };
  }

  /** Records that a session replaces the session that the current request presents. */
  async setReplacing(sessionId: string, transaction: Transaction): Promise<void> {
    const replacedTokenHash = this.#presentedTokenHash();
    if (replacedTokenHash) await this.#table.update({ replacedTokenHash }, { id: sessionId }, transaction);
  }

  /**
   * Returns the sessions that the client already has, which a sign-in ends.
   *
   * @param except the token of a session to exclude
   * @throws AuthError `origin_not_allowed` if another site made the browser send them
   */
  async presented(except?: string): Promise<OwnedSession[]> {
    const { request } = this.core.context.client;
    if (request?.headers.cookie !== undefined) requireOwnSignIn(request, this.core.settings);
    const tokens = this.#presentedTokens().filter((token) => token !== except);
    const found = await Promise.all(tokens.map((token) => this.core.sessions.ownerOf(token)));
    return found.filter((one) => one !== null);
  }

  async end(replaced: readonly OwnedSession[], transaction?: Transaction): Promise<void> {
    for (const { userId, sessionId } of replaced)
      await this.core.sessions.revoke(userId, sessionId, transaction, 'replaced');
  }

  #presentedTokenHash(): Buffer | null {
    const presented = this.#presentedTokens().find(isSessionToken);
    return presented === undefined ? null : digestToken(presented);
  }

  /** Returns the session tokens of the request that signs in, valid or not. */
  #presentedTokens(): readonly string[] {
    const { request } = this.core.context.client;
    return request ? this.core.sessionTokens(request) : [];
  }
}

const NO_CLIENT = { ip: null, userAgent: null };

/** An acting session to begin. */
export interface ActingSession {
  /** The user, whose row is locked. */
  readonly user: Pick<UserRecord, 'user' | 'authEpoch'>;
  /** The administrator, whose row is locked, and the session that the acting session replaces. */
  readonly actor: OwnedSession;
  /** The number of minutes after which it ends. */
  readonly minutes: number;
}

/** A user who has authenticated: with a password, at a provider, with a passkey, or with an emailed link. */
export interface AuthenticatedUser extends Pick<UserRecord, 'user' | 'account' | 'row'>, Shown {
  /**
   * The user's epoch at that time. If all sessions were revoked or the password was changed since then, the proof is
   * invalid.
   */
  readonly authEpoch: number;
  /** The counter of failed attempts that a sign-in clears once it is complete. @default none */
  readonly attempts?: string | null;
}

export interface SignInOptions {
  /** Whether the session is kept when the browser is closed. @default false */
  readonly remembered?: boolean;
  /** When the user authenticated, if another system reports it. A time in the future counts as now. @default now */
  readonly authenticatedAt?: Date | undefined;
  /**
   * Whether a session starts although the account has a second factor, because the app requests it. It is not fresh.
   * @default false
   */
  readonly withoutSecondFactor?: boolean;
  /** When the session expires, if that is before the end of its lifetime. @default null */
  readonly endsAt?: Date | null;
  /**
   * Whether the user does something to sign in. Otherwise, the session is not fresh and replaces no other session, and
   * the browser does not become a known device.
   * @default true
   */
  readonly isByPerson?: boolean;
  /** Whether the account has just been created in the client's browser. @default false */
  readonly isSignUp?: boolean;
  /** Whether the account is not created until the transaction that creates the session. @default false */
  readonly isYetToBeMade?: boolean;
  /** Whether the user, who has provided the second factor, trusts the client's browser. @default false */
  readonly trustDevice?: boolean;
  /** The mailbox that the sign-in proves once it is complete, if it waits for another step. @default none */
  readonly proves?: { readonly email: string; readonly isOwn: boolean };
  /** The sessions that the client already has. @default looked up by the tokens in its request */
  readonly replaced?: readonly OwnedSession[];
}

/** The user who signs in, as read or changed by the transaction. */
export interface UserToSignIn extends Pick<AuthenticatedUser, 'user' | 'authEpoch'> {
  /** Whether the session is fresh, as far as it can be. @default true */
  readonly isFresh?: boolean;
  /** Whether the account has forgotten its devices since the sign-in was checked. @default false */
  readonly hasForgotten?: boolean;
}

/** A sign-in that has passed the checks. */
export interface CheckedSignIn {
  /**
   * Creates the session, ends the client's other sessions, and remembers its device, all or nothing. If a second factor
   * is required first, it stores a pending sign-in instead.
   */
  begin(proof: UserToSignIn, transaction?: Transaction): Promise<SignedIn>;
  /** Clears the failed attempts, after the transaction. Does nothing if the sign-in is pending. */
  complete(signedIn: SignedIn): Promise<void>;
}

/** The verification of emails, which is a later part of the core. */
interface RequiresVerifiedEmails {
  /** Whether the sign-in of a user must wait for a code that verifies the email: see `EmailVerification`. */
  requireFor(user: User, isByPerson: boolean, canWait: boolean): Promise<boolean>;
}

/** What {@link SignInGate} needs. */
interface SignInNeeds extends NewSessionsNeeds {
  readonly limiter: Limiter;
  readonly events: Events;
  readonly users: Users;
  readonly devices: Devices;
  readonly secondFactors: SecondFactorRules;
  readonly emailCodes: EmailCodeStep;
  readonly pendings: PendingSignIns;
  readonly leftOut: LeftOut;
  /** Null without emails or passwords. */
  readonly emailVerification: RequiresVerifiedEmails | null;
  readonly contributions: readonly ChecksAccounts[];
}

/**
 * The only place where sessions are created, however the user authenticated. The checks of sign-ins run here, so that no
 * sign-in method can skip them.
 */
export class SignInGate {
  readonly #sessions: NewSessions;

  constructor(private readonly core: SignInNeeds) {
    this.#sessions = new NewSessions(core);
  }

  /**
   * Runs the checks for a session that is created afterwards, in the same transaction as another change. They run
   * before that transaction, because they can write to the database themselves.
   *
   * @throws AuthError if a check rejects the user, such as `email_not_verified` (403)
   */
  async check(
    { user, account, row, attempts = null, ...shown }: Omit<AuthenticatedUser, 'authEpoch'>,
    {
      remembered = false,
      withoutSecondFactor = false,
      replaced,
      isByPerson = true,
      ...options
    }: SignInOptions = {},
  ): Promise<CheckedSignIn> {
    if (!options.isYetToBeMade && !(await this.core.users.isPresent({ user, row })))
      throw new AuthError('invalid_credentials');
    checkAccount(account, this.core.contributions);
    await this.core.leftOut.check(user, shown);
    const canWait = isByPerson && !withoutSecondFactor;
    const verifies = await this.core.emailVerification?.requireFor(user, isByPerson, canWait);
    const { secondFactors } = this.core;
    const reached = secondFactors.reached({ account }, shown);
    const trustedEpoch =
      reached === null && secondFactors.acceptsTrust({ account }, shown)
        ? await this.core.devices.trustedEpoch(user.id)
        : null;
    const isEnough = withoutSecondFactor || trustedEpoch !== null;
    const assurance = reached ?? (isEnough ? { aal: 1 as const, amr: shown.amr } : null);
    const device = assurance && isByPerson ? await this.core.devices.recognize(user) : NO_DEVICE;
    // One code is for everything: the address, a browser that is new to the account, and a task.
    const needsCode =
      verifies || (assurance !== null && (await this.core.emailCodes.isDemanded(user, assurance, device)));
    const begun: SessionToBegin | null =
      assurance && !needsCode
        ? {
            ...assurance,
            remembered,
            authenticatedAt: isByPerson && reached !== null ? options.authenticatedAt : NEVER,
            endsAt: options.endsAt ?? null,
            replaced: replaced ?? (isByPerson ? await this.#sessions.presented() : []),
            device,
            takenOver: !isByPerson,
            isSignUp: options.isSignUp ?? false,
            trustDays: options.trustDevice ? secondFactors.trustDaysAfter(account, shown.amr) : null,
          }
        : null;
    return {
      begin: async (proof, transaction) => {
        if (proof.user.id !== user.id) throw new TypeError('another user was checked for this sign-in');
        // An event that has raised the epoch since, such as a change of the password, has ended the trust.
        const isStillEnough = trustedEpoch === null || trustedEpoch === proof.authEpoch;
        if (begun && isStillEnough) return this.#begin(proof, asLeft(begun, proof), transaction);
        const record = { user: proof.user, account };
        const step = needsCode ? 'email_code' : 'second_factor';
        // The first step stands beside the code, so the proof removes nothing from the account.
        const proves = verifies ? { email: proof.user.email, isOwn: true } : options.proves;
        const pending = {
          record,
          authEpoch: proof.authEpoch,
          amr: assurance?.amr ?? shown.amr,
          remembered,
          attempts,
          step,
          provesEmail: proves?.email ?? null,
          isOwn: proves?.isOwn ?? null,
        } as const;
        return this.#wait(pending, transaction);
      },
      complete: async (signedIn) => {
        if (!isPending(signedIn) && attempts !== null) await this.#clear(attempts);
      },
    };
  }

  /** Runs the checks and signs the user in. @throws like {@link check} */
  async begin(proof: AuthenticatedUser, options?: SignInOptions): Promise<SignedIn> {
    const checked = await this.check(proof, options);
    const signedIn = await checked.begin(proof);
    await checked.complete(signedIn);
    return signedIn;
  }

  /**
   * Completes a session that was created without its browser's request: ends the sessions that the current request
   * presents, and remembers the device.
   */
  async attach(issued: IssuedSession): Promise<IssuedSession> {
    const { user, session } = issued;
    const replaced = await this.#sessions.presented(issued.token);
    const { isNew, cookie } = await this.core.devices.recognize(user);
    return this.core.database.transaction(async (transaction) => {
      const known = isNew ? await this.core.devices.lock(user.id, session.id, transaction) : null;
      if (isNew && !known?.isOpen) throw new AuthError('invalid_session');
      await this.#sessions.setReplacing(session.id, transaction);
      const device = known ? await this.core.devices.add(user, known, transaction) : cookie;
      await this.#sessions.end(replaced, transaction);
      return { ...issued, device };
    });
  }

  /**
   * Creates a session in which an administrator acts as a user. It replaces the administrator's session. None of the checks
   * of a sign-in apply, the browser does not become a device of the user, and nothing counts as a sign-in of the user.
   *
   * @throws AuthError `invalid_session` if the administrator's session has ended
   */
  async beginActing(
    { user, actor, minutes }: ActingSession,
    transaction: Transaction,
  ): Promise<IssuedSession> {
    const { userId: actorId, sessionId } = actor;
    if (!(await this.core.sessions.revoke(actorId, sessionId, transaction, 'replaced')))
      throw new AuthError('invalid_session');
    const begun: SessionToBegin = {
      aal: 1,
      amr: [],
      remembered: false,
      authenticatedAt: NEVER,
      endsAt: this.core.database.clock.date(minutes * 60_000),
      replaced: [],
      device: NO_DEVICE,
      takenOver: false,
      isSignUp: false,
      trustDays: null,
      actorId,
    };
    return this.#sessions.insert(user, begun, transaction);
  }

  /** Starts a transaction only if there is more to write than the session. */
  async #begin(
    proof: Pick<AuthenticatedUser, 'user' | 'authEpoch'>,
    begun: SessionToBegin,
    transaction?: Transaction,
  ): Promise<IssuedSession> {
    const { replaced, device, isSignUp, trustDays } = begun;
    const { maxPerUser } = this.core.settings.session;
    const unit = async (within?: Transaction): Promise<IssuedSession> => {
      // Lock the user first, as every change to an account does.
      if (within && maxPerUser) await this.core.users.lock(proof.user.id, within);
      const known = within && device.isNew ? await this.core.devices.lock(proof.user.id, null, within) : null;
      const issued = await this.#sessions.insert(proof, begun, within);
      const { user, session } = issued;
      this.core.events.emit('session.created', { userId: user.id, sessionId: session.id }, within);
      // A change that has ended the session, such as a new password, has also forgotten the devices, so do not add one.
      const isOpen = known?.account.authEpoch === proof.authEpoch;
      const added =
        within && known && isOpen ? await this.core.devices.add(user, known, within, isSignUp) : null;
      const current = device.cookie ?? added;
      const trust = trustDays !== null && { userId: user.id, authEpoch: proof.authEpoch, days: trustDays };
      const cookie = within && current && trust ? await this.#trust(current, trust, within) : current;
      await this.#sessions.end(replaced, within);
      // The replaced sessions have ended, so they do not count.
      const newest = { userId: user.id, sessionId: session.id, authEpoch: proof.authEpoch };
      if (within && maxPerUser) await this.core.sessions.endBeyond(maxPerUser, newest, within);
      return { ...issued, device: cookie, ...(isSignUp && { accountCreated: true as const }) };
    };
    try {
      if (!transaction && (replaced.length > 0 || device.isNew || maxPerUser))
        return await this.core.database.transaction(unit);
      return await this.core.events.together(['session.created'], unit, transaction);
    } catch (error) {
      // The user was deleted while their password was being checked.
      throw isForeignKeyViolation(error) ? new AuthError('invalid_credentials') : error;
    }
  }

  /** Makes the client's browser stand in for the second factor. @returns the value of its device cookie from then on */
  async #trust(
    cookie: string,
    trust: Parameters<Devices['trust']>[1],
    transaction: Transaction,
  ): Promise<string> {
    const { deviceId, cookie: next } = await this.core.devices.trust(cookie, trust, transaction);
    if (deviceId !== null)
      this.core.events.emit('device.trusted', { userId: trust.userId, deviceId }, transaction);
    return next;
  }

  /** Stores a sign-in that waits for another step. */
  async #wait(pending: NewPendingSignIn, transaction?: Transaction): Promise<PendingSignIn> {
    if (pending.step === 'email_code') return this.#waitForCode(pending, transaction);
    const begun = await this.core.pendings.begin(pending, transaction);
    const methods = await this.core.secondFactors.available(pending.record.user.id, transaction);
    return { secondFactor: { methods, ...begun } };
  }

  /** Stores a sign-in that waits for a code, and emails the code. */
  async #waitForCode(pending: NewPendingSignIn, transaction?: Transaction): Promise<PendingSignIn> {
    const unit = async (within: Transaction) => {
      const salt = newSalt();
      const begun = await this.core.pendings.begin({ ...pending, salt }, within);
      const { provesEmail = null } = pending;
      await this.core.emailCodes.begin(pending.record.user, { ...begun, salt, provesEmail }, within);
      return { secondFactor: { methods: [this.core.emailCodes.method.name], ...begun } };
    };
    return transaction ? unit(transaction) : this.core.database.transaction(unit);
  }

  /** Clears the failed attempts. The session has started, so an error here must not fail the call. */
  async #clear(attempts: string): Promise<void> {
    try {
      await this.core.limiter.clearFailures(attempts);
    } catch (error) {
      this.core.settings.log.warn('limits.not_cleared', 'failed sign-ins could not be cleared', {
        err: error,
      });
    }
  }
}

/** Returns the session to create after the transaction's changes to the account. */
function asLeft(
  begun: SessionToBegin,
  { isFresh = true, hasForgotten = false }: UserToSignIn,
): SessionToBegin {
  const { device } = begun;
  return {
    ...begun,
    ...(!isFresh && { authenticatedAt: NEVER }),
    ...(hasForgotten && { device: { cookie: null, isNew: device.isNew || device.cookie !== null } }),
  };
}
