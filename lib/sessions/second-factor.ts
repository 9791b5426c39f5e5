import type { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { Database } from '../database/database.js';
import { AuthError, type AuthErrorCode } from '../errors.js';
import type { Session, SignInStep, User } from '../tables/core.js';
import type { AccountRow, UserRecord } from '../users/record.js';
import type { JoinedPart } from '../waiting/waiting.js';
import type { FoundPending } from './pending-sign-ins.js';
import { type Assurance, FRESH_SECONDS, type IssuedSession, requireFresh, type Shown } from './signed-in.js';

/** What {@link SecondFactorRules} need. */
interface SecondFactorNeeds {
  readonly database: Database;
  readonly contributions: readonly HasSecondFactors[];
}

/** The rules for accounts with a second factor, which depend on the plugin that has second factors. */
export class SecondFactorRules {
  constructor(private readonly core: SecondFactorNeeds) {}

  /** The plugin's part. Null if no plugin has second factors. */
  get plugin(): SecondFactors | null {
    return this.core.contributions.find(({ secondFactors }) => secondFactors)?.secondFactors ?? null;
  }

  /** The plugins that complete pending sign-ins. The plugin with second factors comes first. */
  get steps(): readonly HasSteps[] {
    const isFirst = ({ secondFactors }: HasSecondFactors) => (secondFactors ? 0 : 1);
    return [...this.core.contributions].sort((a, b) => isFirst(a) - isFirst(b));
  }

  /** Returns the names of the methods that a user can now use to complete a sign-in. */
  async available(userId: string, transaction?: Transaction): Promise<string[]> {
    const methods: string[] = [];
    for (const plugin of this.steps)
      methods.push(...((await plugin.availableSteps?.(userId, transaction)) ?? []));
    return methods;
  }

  /** Whether an account has a second factor. @param account with the columns of plugins */
  isOn(account: object): boolean {
    return this.plugin?.isOn(account) ?? false;
  }

  /** Returns the assurance that a user has reached. Null if the account requires a second factor first. */
  reached({ account }: Pick<UserRecord, 'account'>, shown: Shown): Assurance | null {
    const { aal = 1, amr } = this.plugin?.trusted(shown) ?? shown;
    return aal < 2 && this.isOn(account) ? null : { aal, amr };
  }

  /**
   * Counts an attempt to complete a sign-in with a factor that cannot be guessed.
   *
   * @throws AuthError `rate_limited`, and the errors of `look`
   */
  attempt<T>(user: User, look: () => Promise<T>): Promise<T> {
    const { plugin } = this;
    if (!plugin) throw new TypeError('no plugin has second factors');
    return plugin.attempt(user, look);
  }

  /**
   * Requires that the session was recently verified with a second factor, if the account has one. Every change of
   * sign-in methods calls it, and no other proof replaces the second factor. Other accounts pass.
   *
   * @param seconds the maximum age of the verification. Ten minutes by default
   * @throws AuthError `second_factor_required`, `reauthentication_required`
   */
  requireFor(
    account: object,
    session: Pick<Session, 'aal' | 'authenticatedAt'>,
    seconds = FRESH_SECONDS,
  ): void {
    if (!this.isOn(account)) return;
    if (session.aal < 2) throw new AuthError('second_factor_required');
    requireFresh(this.core.database, session, seconds);
  }
}

/** A plugin's second factors. The core knows only that a plugin can have them. */
export interface SecondFactors {
  /** Whether an account has a second factor. @param account with the plugin's columns of users */
  isOn(account: object): boolean;
  /**
   * Returns the proof that a trusted provider has verified, in place of the user's proof here. Null if there is none.
   */
  trusted(shown: Shown): Shown | null;
  /**
   * Clears the count of wrong codes, because the user has provided a passkey.
   *
   * @param completed the pending sign-in that the passkey completes, if any
   */
  forgive(userId: string, transaction?: Transaction, completed?: FoundPending): Promise<void>;
  /** Counts an attempt with a factor of another plugin, which cannot be guessed. @throws the errors of `look` */
  attempt<T>(user: User, look: () => Promise<T>): Promise<T>;
  /** Whether the passkeys of an account, if it has any, are a second factor. */
  countsPasskeys(account: AccountRow): boolean;
  /** Whether the user of an account has made the passkeys a second factor. */
  hasEnabledPasskeys(account: AccountRow): boolean;
  /**
   * Records the change of a session that is about to add a passkey, if the session has the task to set up a second
   * factor. The user's row is locked.
   *
   * @param name the name of the passkey
   * @returns false if the session does not have the task, so that nothing is recorded
   */
  beginEnrolment(
    record: UserRecord,
    sessionId: string,
    name: string,
    transaction: Transaction,
  ): Promise<boolean>;
  /**
   * Enables a user's passkeys as the second factor, after {@link beginEnrolment} and after the passkey has been added.
   *
   * @param shown the assurance of the new passkey
   */
  enrolPasskey(
    record: UserRecord,
    sessionId: string,
    shown: Assurance,
    transaction: Transaction,
  ): Promise<EnrolledSecondFactor>;
  /**
   * Disables passkeys as a second factor, because the last one has been removed. The user's row is locked.
   *
   * @param isByUser whether the user removed it, and not the app
   * @throws AuthError one of {@link removalProblems} if the user must have a second factor
   */
  passkeysRemoved(record: UserRecord, isByUser: boolean, transaction: Transaction): Promise<void>;
  /** The problems that `passkeysRemoved` throws, for the OpenAPI document. */
  readonly removalProblems: readonly AuthErrorCode[];
}

/** A second factor that a session's user has just enabled. */
export interface EnrolledSecondFactor {
  /** The session with a new token. All others have been revoked. */
  readonly issued: IssuedSession;
  /** The recovery codes, which cannot be retrieved later. Null if the user already has recovery codes. */
  readonly recoveryCodes: readonly string[] | null;
}

/** The credentials of another plugin that can be a second factor, such as passkeys. */
export interface OtherFactors {
  /** The problem of a user who has no such credential. */
  readonly none: AuthErrorCode;
  /** Whether a user has such a credential. */
  isThere(userId: string, transaction: Transaction): Promise<boolean>;
  /** Removes all such credentials of a user. The user's row is locked. */
  removeAll(userId: string, transaction: Transaction): Promise<void>;
}

/** A proof of identity that the user of a session can provide again, in a field of POST /reauthenticate. */
export interface Reauthentication {
  /** The name of the field in the body. */
  readonly field: string;
  /** @internal */
  readonly schema: z.ZodType;
  readonly problems: readonly AuthErrorCode[];
  /**
   * The assurance that the proof can reach. An account with a second factor requires 2: any other proof is rejected
   * before it is verified.
   * @default 2
   */
  readonly aal?: 1 | 2;
  /**
   * Verifies the proof.
   *
   * @param session the session of the request
   * @returns the methods of the proof. With `aal` 2, the session gets this level and a new token
   * @throws AuthError if the proof is wrong
   */
  verify(record: UserRecord, value: unknown, session: Session): Promise<Shown>;
}

/** The factor that the user provided to complete a sign-in, before it is checked. */
export interface GivenFactor {
  /** The name of a {@link StepMethod}: `totp`, `recovery_code`, `passkey`, `email_code`. */
  readonly method: string;
  readonly code?: string | undefined;
  readonly response?: unknown;
}

/** A factor that completes a sign-in, and was correct when it was checked. With `aal` 2, it is a second factor. */
export interface RightFactor extends Assurance {
  /** Consumes the factor. Only one of several concurrent calls succeeds. @returns whether this call succeeded */
  use(transaction?: Transaction): Promise<boolean>;
}

/** A method to complete a pending sign-in, such as a code from an authenticator app, or a passkey. */
export interface StepMethod {
  /** The name on the wire. */
  readonly name: string;
  /** The step that it completes, and no other. @default second_factor */
  readonly step?: SignInStep;
  /** The fields that the user provides, by their names on the wire. @default `code` @internal */
  readonly given?: z.ZodRawShape;
  /** The additional problems that `attempt` throws, for the OpenAPI document. */
  readonly problems: readonly AuthErrorCode[];
  /** For a method that signs a challenge: the response of POST /signin/second-factor/options. */
  readonly challenge?: {
    /** @internal */
    readonly schema: z.ZodType;
    /** @param challengedBy the pending sign-in */
    options(userId: string, challengedBy: string): Promise<Readonly<Record<string, unknown>>>;
  };
  /**
   * Counts an attempt, checks the factor, and completes the sign-in with it.
   *
   * @throws AuthError if the factor is wrong, and the errors of `complete`
   */
  attempt<T>(
    found: FoundPending,
    given: GivenFactor,
    complete: (right: RightFactor) => Promise<T>,
  ): Promise<T>;
}

/** A plugin that has methods to complete pending sign-ins. */
export interface HasSteps {
  readonly stepMethods?: readonly StepMethod[];
  /** Returns the names of its methods that a user can use now. */
  availableSteps?(userId: string, transaction?: Transaction): Promise<readonly string[]>;
  /** Returns the data that the plugin reads together with a pending sign-in. At most one plugin implements this. */
  joinedToPending?(given: GivenFactor): JoinedPart;
}

/** A plugin that has second factors, or a method to provide one. */
export interface HasSecondFactors extends HasSteps {
  /** The plugin's second factors. At most one plugin has them. */
  readonly secondFactors?: SecondFactors;
  /** The plugin's credentials that can be a second factor. */
  readonly otherFactors?: OtherFactors;
  /** The proofs that the user of a session can send to POST /reauthenticate. */
  readonly reauthentications?: readonly Reauthentication[];
}
