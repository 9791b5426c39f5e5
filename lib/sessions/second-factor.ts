import type { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { Settings } from '../config/config.js';
import type { Database } from '../database/database.js';
import { AuthError, type AuthErrorCode } from '../errors.js';
import type { RightFactor } from '../factors/attempts.js';
import type { Factors } from '../factors/factors.js';
import type { PasskeyStore } from '../factors/passkeys.js';
import { sinceOf, usesPasskeys } from '../factors/status.js';
import type { Session, SignInStep, User } from '../tables/core.js';
import { HAS_PASSKEY } from '../tables/factors.js';
import type { UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import type { FoundPending } from './pending-sign-ins.js';
import { type Assurance, FRESH_SECONDS, type IssuedSession, requireFresh, type Shown } from './signed-in.js';
import { type Condition, holds, type Task } from './tasks.js';

/** The users who must have a second factor. */
export type RequiredOption = 'never' | 'administrators' | 'everybody' | Condition;

/** The settings of second factors. */
export interface SecondFactorSettings {
  readonly required: RequiredOption;
  /** The ids of providers that require a second factor themselves. */
  readonly trustProviders: readonly string[];
  /** For how many days a browser can stand in for the second factor. Null if none can. */
  readonly trustDays: number | null;
}

/** What {@link SecondFactorRules} need. */
interface SecondFactorNeeds {
  readonly accountFeatures: { readonly secondFactors?: SecondFactorSettings };
  readonly database: Database;
  readonly settings: Settings;
  readonly users: Users;
  /** Null if accounts cannot have a second factor. */
  readonly factors: Factors | null;
  /** Null if accounts cannot have passkeys. */
  readonly passkeys: PasskeyStore | null;
  readonly contributions: readonly HasSteps[];
  isAdministrator(user: User): boolean;
}

/** The task of users who must set up a second factor. */
export const ENROL = 'enroll_second_factor';

const SAID = { name: 'required of twoFactor()', otherwise: 'the user must have a second factor' };

/** Decides which accounts have a second factor, which must have one, and what counts as one. */
export class SecondFactorRules {
  readonly #required: RequiredOption;
  readonly #trusted: ReadonlySet<string>;
  readonly #trustDays: number | null;

  constructor(private readonly core: SecondFactorNeeds) {
    const {
      required = 'never',
      trustProviders = [],
      trustDays = null,
    } = core.accountFeatures.secondFactors ?? {};
    this.#required = required;
    this.#trusted = new Set(trustProviders);
    this.#trustDays = trustDays;
  }

  /** Whether accounts can have a second factor. */
  get arePossible(): boolean {
    return this.core.factors !== null;
  }

  /** The methods that complete a sign-in with a second factor. Codes come first. */
  get methods(): readonly StepMethod[] {
    if (!this.arePossible) return [];
    const methods = this.core.contributions.flatMap(({ stepMethods = [] }) => stepMethods);
    return [
      ...methods.filter(({ challenge }) => !challenge),
      ...methods.filter(({ challenge }) => challenge),
    ];
  }

  /** Returns the names of the methods that a user can now use to complete a sign-in. */
  async available(userId: string, transaction?: Transaction): Promise<string[]> {
    const { factors, passkeys } = this.core;
    if (!factors) return [];
    const { totp, isLocked, codes } = await factors.status.read(userId, transaction);
    const hasPasskey = passkeys !== null && (await passkeys.rows(userId, transaction)).length > 0;
    return [
      ...(totp && !isLocked ? ['totp'] : []),
      ...(codes > 0 ? ['recovery_code'] : []),
      ...(hasPasskey ? ['passkey'] : []),
    ];
  }

  /**
   * Whether an account has a second factor that sign-ins ask for. A passkey counts if the account must have one.
   *
   * @param account with the columns of plugins
   */
  isOn(account: object): boolean {
    return this.arePossible && (sinceOf(account) !== null || (hasAny(account) && this.isRequiredOf(account)));
  }

  /** Whether some accounts must have a second factor. */
  get areRequired(): boolean {
    return this.#required !== 'never';
  }

  /**
   * Whether an account must have a second factor.
   *
   * @param account has at least the values that its user sees
   * @param whenBroken the result if the app's function fails
   */
  isRequiredOf(account: object, whenBroken = true): boolean {
    const required = this.#required;
    if (required === 'never' || required === 'everybody') return required === 'everybody';
    // Always pass the same attributes, because the app could otherwise decide differently about the same account.
    const user: User = this.core.users.selections.shown.pick(account);
    if (required === 'administrators') return this.core.isAdministrator(user);
    return holds(required, user, this.core.settings.log, { ...SAID, whenBroken });
  }

  /** Whether a user has to set up a second factor after a sign-in. */
  mustEnrol(user: User): boolean {
    return !hasAny(user) && this.isRequiredOf(user);
  }

  /** Whether the passkeys of an account, if it has any, are a second factor. */
  countsPasskeys(account: object): boolean {
    return this.arePossible && (usesPasskeys(account) || this.isRequiredOf(account));
  }

  /** The tasks of accounts that must have a second factor. */
  get tasks(): readonly Task[] {
    return this.areRequired ? [this.#enrol, this.#stepUp] : [];
  }

  /** The task of users without a second factor. A session that was verified with one elsewhere does not have it. */
  get #enrol(): Task {
    return {
      name: ENROL,
      page: null,
      holdsKeys: true,
      isListed: true,
      isOpen: (user, session) => (session?.aal ?? 1) < 2 && this.mustEnrol(user),
    };
  }

  /** The task of users with a second factor, who must provide it in each session. */
  get #stepUp(): Task {
    return {
      name: 'give second factor',
      page: null,
      holdsKeys: false,
      isListed: true,
      problem: 'second_factor_required',
      isOpen: (user, session) =>
        session !== null && session.aal < 2 && hasAny(user) && this.isRequiredOf(user),
    };
  }

  /** Returns the assurance that a user has reached. Null if the account requires a second factor first. */
  reached({ account }: Pick<UserRecord, 'account'>, shown: Shown): Assurance | null {
    const { aal = 1, amr } = this.#trusts(shown) ? TRUSTED : shown;
    return aal < 2 && this.isOn(account) ? null : { aal, amr };
  }

  /** Whether users can trust browsers, so that these stand in for the second factor. */
  get trustDevices(): boolean {
    return this.#trustDays !== null;
  }

  /** Returns for how many days the user of an account can trust a browser. Null if the user cannot. */
  trustDaysOf(account: object): number | null {
    return this.#trustDays === null || this.isRequiredOf(account) ? null : this.#trustDays;
  }

  /**
   * Returns for how many days the user can trust the browser of a sign-in. Null if the user cannot, because the sign-in did not
   * start with the password, and the trust counts for no other.
   *
   * @param amr the methods of the first step
   */
  trustDaysAfter(account: object, amr: readonly string[]): number | null {
    return amr.includes('pwd') ? this.trustDaysOf(account) : null;
  }

  /**
   * Whether a browser that the user trusts stands in for the second factor. It does so only for a password: a sign-in
   * with a provider or an emailed code depends on another account, which can be lost without a trace here.
   */
  acceptsTrust({ account }: Pick<UserRecord, 'account'>, { amr }: Shown): boolean {
    return this.trustDaysOf(account) !== null && amr.length === 1 && amr[0] === 'pwd';
  }

  /** Whether a provider that requires a second factor itself has authenticated the user. */
  #trusts({ provider }: Shown): boolean {
    return provider !== undefined && this.#trusted.has(provider);
  }

  /**
   * Counts an attempt to complete a sign-in with a factor that cannot be guessed.
   *
   * @throws AuthError `rate_limited`, and the errors of `work`
   */
  attempt<T>(user: User, work: () => Promise<T>): Promise<T> {
    if (!this.core.factors) throw new TypeError('accounts cannot have a second factor');
    return this.core.factors.attempts.attempt(user, work, { isGuessable: false });
  }

  /**
   * Clears the count of wrong codes, because the user has provided a passkey.
   *
   * @param completed the pending sign-in that the passkey completes, if any
   */
  async forgive(userId: string, transaction?: Transaction, completed?: FoundPending): Promise<void> {
    const { secrets } = this.core.factors ?? {};
    if (!secrets || (completed && (secrets.joined(completed.raw)?.wrongCodes ?? 0) === 0)) return;
    await secrets.forgive(userId, transaction);
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

/** How the user of a provider with a second factor has authenticated. */
const TRUSTED = { aal: 2, amr: ['fed', 'mfa'] } as const;

/** Whether a user has a second factor, or a passkey that can be one. */
function hasAny(account: object): boolean {
  return sinceOf(account) !== null || (account as { readonly [HAS_PASSKEY]?: boolean })[HAS_PASSKEY] === true;
}

/** A second factor that a session's user has just enabled. */
export interface EnrolledSecondFactor {
  /** The session with a new token. All others have been revoked. */
  readonly issued: IssuedSession;
  /** The recovery codes, which cannot be retrieved later. Null if the user already has recovery codes. */
  readonly recoveryCodes: readonly string[] | null;
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
  /** Whether the user trusts the browser. @default false */
  readonly trustDevice?: boolean | undefined;
}

/** A method to complete a pending sign-in, such as a code from an authenticator app, or a passkey. */
export interface StepMethod {
  /** The name on the wire. */
  readonly name: string;
  /** The step that it completes, and no other. @default second_factor */
  readonly step?: SignInStep;
  /** The fields that the user provides, by their names on the wire. @default `code` @internal */
  readonly given?: z.ZodRawShape;
  /** Whether a user who provides it can trust the browser, so that the browser stands in for it. @default false */
  readonly canTrust?: boolean;
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
}

/** A plugin with proofs that the user of a session can send to POST /reauthenticate. */
export interface HasReauthentications {
  readonly reauthentications?: readonly Reauthentication[];
}
