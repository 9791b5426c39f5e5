import type { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { Database } from '../database/database.js';
import { AuthError, type AuthErrorCode } from '../errors.js';
import type { Session } from '../tables/core.js';
import type { UserRecord } from '../users/record.js';
import { type Assurance, FRESH_SECONDS, type PendingSignIn, requireFresh, type Shown } from './signed-in.js';

/** The rules for accounts with a second factor, which depend on the plugin that has second factors. */
export class SecondFactorRules {
  constructor(
    private readonly database: Database,
    private readonly contributions: () => readonly HasSecondFactors[],
  ) {}

  /** The plugin's part. Null if no plugin has second factors. */
  get plugin(): SecondFactors | null {
    return this.contributions().find(({ secondFactors }) => secondFactors)?.secondFactors ?? null;
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
   * Requires that the session was recently verified with a second factor, if the account has one. Every change of
   * sign-in methods calls it, and no other proof replaces the second factor. Other accounts pass.
   *
   * @param seconds how recently. Ten minutes by default
   * @throws AuthError `second_factor_required`, `reauthentication_required`
   */
  requireFor(
    account: object,
    session: Pick<Session, 'aal' | 'authenticatedAt'>,
    seconds = FRESH_SECONDS,
  ): void {
    if (!this.isOn(account)) return;
    if (session.aal < 2) throw new AuthError('second_factor_required');
    requireFresh(this.database, session, seconds);
  }
}

/** A sign-in that a second factor must complete. */
export interface NewPendingSignIn {
  readonly record: Pick<UserRecord, 'user' | 'account'>;
  /** The user's epoch when they authenticated. */
  readonly authEpoch: number;
  /** How they authenticated. */
  readonly amr: readonly string[];
  readonly remembered: boolean;
  /** The counter of failures that the completed sign-in clears. Null if there is no counter. */
  readonly attempts: string | null;
}

/** A plugin's second factors. The core knows only that a plugin can have them. */
export interface SecondFactors {
  /** Whether an account has a second factor. @param account with the plugin's columns of users */
  isOn(account: object): boolean;
  /** Returns what a trusted provider has verified, in place of what the user has shown. Null if no provider has. */
  trusted(shown: Shown): Shown | null;
  /** Stores a sign-in that waits for the second factor. */
  begin(pending: NewPendingSignIn, transaction?: Transaction): Promise<PendingSignIn>;
  /** Ends the pending sign-in that the current request presents, if any, because its browser signs out. */
  abandon(): Promise<void>;
  /** Clears the count of wrong codes, because the user has provided a passkey outside a pending sign-in. */
  forgive(userId: string): Promise<void>;
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
   * @returns what the proof shows. With `aal` 2, the session gets this level and a new token
   * @throws AuthError if the proof is wrong
   */
  verify(record: UserRecord, value: unknown, session: Session): Promise<Shown>;
}

/**
 * A method to provide the second factor, such as a passkey, of another plugin than the one with {@link SecondFactors}.
 */
export interface FactorMethod {
  /** The name on the wire. */
  readonly name: string;
  /** Whether the user can use this method. */
  isAvailable(userId: string): Promise<boolean>;
  /**
   * Returns what the client needs for this method: the response of POST /signin/second-factor/options.
   *
   * @param challengedBy the pending sign-in
   */
  options(userId: string, challengedBy: string): Promise<Readonly<Record<string, unknown>>>;
  /** The schema of the `options`. @internal */
  readonly optionsSchema: z.ZodType;
  /** The schema of the `response`. @internal */
  readonly responseSchema: z.ZodType;
  /** The problems that `verify` throws, for the OpenAPI document. */
  readonly problems: readonly AuthErrorCode[];
  /** Verifies the response. @param challengedBy the pending sign-in @throws AuthError if the response is invalid */
  verify(record: UserRecord, response: unknown, challengedBy: string): Promise<Assurance>;
}

/** A plugin that has second factors, or a method to provide one. */
export interface HasSecondFactors {
  /** The plugin's second factors. At most one plugin has them. */
  readonly secondFactors?: SecondFactors;
  /** The plugin's methods to provide a second factor to the plugin that has them. */
  readonly factorMethods?: readonly FactorMethod[];
  /** The proofs that the user of a session can send to POST /reauthenticate. */
  readonly reauthentications?: readonly Reauthentication[];
}
