import type { Transaction } from 'sequelize';
import type { z } from 'zod';
import type { Database } from '../database/database.js';
import { AuthError, type AuthErrorCode } from '../errors.js';
import type { Session } from '../tables/core.js';
import type { UserRecord } from '../users/record.js';
import { type Assurance, FRESH_SECONDS, type PendingSignIn, type Shown } from './signed-in.js';

/** What accounts with a second factor demand, according to the plugin that has them. */
export class SecondFactorRules {
  constructor(
    private readonly database: Database,
    private readonly contributions: () => readonly HasSecondFactors[],
  ) {}

  /** The plugin's part. Null if there is none. */
  get plugin(): SecondFactors | null {
    return this.contributions().find(({ secondFactors }) => secondFactors)?.secondFactors ?? null;
  }

  /** Whether an account has a second factor. @param account with the columns of plugins */
  isOn(account: object): boolean {
    return this.plugin?.isOn(account) ?? false;
  }

  /** The assurance that a person reaches with what they have shown. Null if their account requires a second factor first. */
  reached({ account }: Pick<UserRecord, 'account'>, shown: Shown): Assurance | null {
    const { aal = 1, amr } = this.plugin?.trusted(shown) ?? shown;
    return aal < 2 && this.isOn(account) ? null : { aal, amr };
  }

  /**
   * Lets the owner of an account with a second factor change its ways in only if their session has shown it recently,
   * whatever else it has. Other accounts pass.
   *
   * @throws AuthError `second_factor_required`, `reauthentication_required`
   */
  requireFor(account: object, { aal, authenticatedAt }: Pick<Session, 'aal' | 'authenticatedAt'>): void {
    if (!this.isOn(account)) return;
    if (aal < 2) throw new AuthError('second_factor_required');
    const age = this.database.clock.now() - authenticatedAt.getTime();
    if (age > FRESH_SECONDS * 1000) throw new AuthError('reauthentication_required');
  }
}

/** A sign-in that a second factor must complete. */
export interface NewPendingSignIn {
  readonly record: Pick<UserRecord, 'user' | 'account'>;
  /** The user's epoch when they authenticated. */
  readonly authEpoch: number;
  /** How they did. */
  readonly amr: readonly string[];
  readonly remembered: boolean;
  /** The counter of failures that the completed sign-in clears. Null if there is none. */
  readonly attempts: string | null;
}

/** Second factors, of which the core knows only that a plugin may have them. */
export interface SecondFactors {
  /** Whether an account has one. @param account with the plugin's columns of users */
  isOn(account: object): boolean;
  /** What a trusted provider has checked itself, in place of what was shown. Null if there is none. */
  trusted(shown: Shown): Shown | null;
  /** Writes down a sign-in that waits for the second factor. */
  begin(pending: NewPendingSignIn, transaction?: Transaction): Promise<PendingSignIn>;
  /** Ends the pending sign-in that the current request carries, if any: its browser signs out. */
  abandon(): Promise<void>;
  /** Accepts again what was refused after too many wrong codes: the user has given a passkey outside a pending sign-in. */
  forgive(userId: string): Promise<void>;
}

/** A proof of who they are that the user of a session can give again: a field of POST /reauthenticate. */
export interface Reauthentication {
  /** The name of the field in the body. */
  readonly field: string;
  /** @internal */
  readonly schema: z.ZodType;
  readonly problems: readonly AuthErrorCode[];
  /**
   * The assurance that it can reach. An account with a second factor takes only 2: anything else is refused before it is
   * verified.
   * @default 2
   */
  readonly aal?: 1 | 2;
  /**
   * Verifies it.
   *
   * @param session the session of the request
   * @returns what it shows. With aal 2, the session gets it and a new token
   * @throws AuthError if it is wrong
   */
  verify(record: UserRecord, value: unknown, session: Session): Promise<Shown>;
}

/** A way to give the second factor that another plugin has than the one with {@link SecondFactors}, such as a passkey. */
export interface FactorMethod {
  /** The name on the wire. */
  readonly name: string;
  /** Whether the user can give it. */
  isAvailable(userId: string): Promise<boolean>;
  /** What the client needs to give it: the answer of POST /signin/second-factor/options. @param challengedBy the pending sign-in */
  options(userId: string, challengedBy: string): Promise<Readonly<Record<string, unknown>>>;
  /** The schema of the `options`. @internal */
  readonly optionsSchema: z.ZodType;
  /** The schema of the `response`. @internal */
  readonly responseSchema: z.ZodType;
  /** What `verify` throws, for the OpenAPI document. */
  readonly problems: readonly AuthErrorCode[];
  /** @param challengedBy the pending sign-in @throws AuthError if it does not verify */
  verify(record: UserRecord, response: unknown, challengedBy: string): Promise<Assurance>;
}

/** A plugin that has second factors, or a way to provide one. */
export interface HasSecondFactors {
  /** What the plugin does with second factors. One plugin at most has them. */
  readonly secondFactors?: SecondFactors;
  /** The plugin's ways to give a second factor to the plugin that has them. */
  readonly factorMethods?: readonly FactorMethod[];
  /** What the user of a session can give to POST /reauthenticate. */
  readonly reauthentications?: readonly Reauthentication[];
}
