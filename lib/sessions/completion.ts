import type { Transaction } from 'sequelize';
import type { Clock } from '../database/clock.js';
import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { RightFactor } from '../factors/attempts.js';
import type { Factors } from '../factors/factors.js';
import type { SignInStep } from '../tables/core.js';
import type { UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import type { EmailCodeStep } from './email-code-step.js';
import { challengerOf, type FoundPending, type PendingSignIns } from './pending-sign-ins.js';
import type { GivenFactor, SecondFactorRules, StepMethod } from './second-factor.js';
import type { SignInGate, UserToSignIn } from './sign-in.js';
import { type IssuedSession, isPending, type SignedIn } from './signed-in.js';

/** A user whose mailbox has been proven. */
export interface Proven {
  readonly record: UserRecord;
  /** Whether the proof has removed the password. */
  readonly passwordRemoved: boolean;
}

/** The proofs of emails, which are a later part of the core. */
interface RecordsEmailProofs {
  /** Records that an emailed code or link has proven the mailbox: see `EmailProofs`. The user's row is locked. */
  recordSignIn(record: UserRecord, isOwn: boolean, transaction: Transaction): Promise<Proven>;
}

/** What {@link Completion} needs. */
interface CompletionNeeds {
  readonly database: Database;
  readonly users: Users;
  readonly pendings: PendingSignIns;
  readonly signInGate: SignInGate;
  /** Null if accounts cannot have a second factor. */
  readonly factors: Factors | null;
  readonly secondFactors: SecondFactorRules;
  readonly emailCodes: EmailCodeStep;
  readonly emailProofs: RecordsEmailProofs;
}

/** Completes pending sign-ins with the methods of plugins. */
export class Completion {
  constructor(private readonly core: CompletionNeeds) {}

  /** Whether sign-ins can wait for another step. */
  get canWait(): boolean {
    return this.core.secondFactors.arePossible || this.core.emailCodes.isOn;
  }

  /** The methods of all plugins, and emailed codes. */
  get methods(): readonly StepMethod[] {
    return [
      ...this.core.secondFactors.methods,
      ...(this.core.emailCodes.isOn ? [this.core.emailCodes.method] : []),
    ];
  }

  /**
   * @param given a token of a pending sign-in. By default, the one in the cookie of the current request
   * @returns the session; or a pending sign-in that waits for the second factor, after a code that verifies the email
   * @throws AuthError `sign_in_expired`, `invalid_code`, `rate_limited`, and the errors of the method and of account
   *   checks
   */
  async complete(given: string | undefined, factor: GivenFactor): Promise<SignedIn> {
    const found = await this.core.pendings.find(given, this.core.factors?.joined);
    const method = this.methods.find(({ name }) => name === factor.method);
    // An emailed code must never replace a second factor.
    if (!method || stepOf(method) !== found.row.step) throw new AuthError('invalid_code');
    const { issued, complete } = await method.attempt(found, factor, (right) =>
      this.#signIn(found, right, factor.trustDevice === true && method.canTrust === true),
    );
    await complete();
    return issued;
  }

  /**
   * Returns the names of the methods that can complete a pending sign-in now.
   *
   * @throws AuthError `sign_in_expired`
   */
  async offered(given?: string): Promise<readonly string[]> {
    const { record, row } = await this.core.pendings.find(given);
    if (row.step === 'email_code') return [this.core.emailCodes.method.name];
    return this.core.secondFactors.available(record.user.id);
  }

  /**
   * Returns the options that the client needs for a method that signs a challenge.
   *
   * @throws AuthError `sign_in_expired`
   */
  async options(
    given: string | undefined,
    optionsOf: NonNullable<StepMethod['challenge']>['options'],
  ): Promise<{ readonly options: Readonly<Record<string, unknown>>; readonly pendingToken: string }> {
    const found = await this.core.pendings.find(given);
    if (found.row.step !== 'second_factor') throw new AuthError('sign_in_expired');
    const options = await optionsOf(found.record.user.id, challengerOf(found));
    return { options, pendingToken: found.token };
  }

  /**
   * Emails the code of a pending sign-in again.
   *
   * @returns when the sign-in expires
   * @throws AuthError `sign_in_expired`, `email_code_not_offered`, `rate_limited`
   */
  async sendAgain(given: string | undefined): Promise<Date> {
    const found = await this.core.pendings.find(given);
    await this.core.emailCodes.sendAgain(found);
    return found.row.expiresAt;
  }

  /**
   * Consumes the factor and the pending sign-in, and creates the session, all in one transaction. After a code that verifies
   * the email, it creates another pending sign-in for an account that has a second factor.
   */
  async #signIn(found: FoundPending, factor: RightFactor, trustDevice: boolean) {
    const { row } = found;
    // The code of the first step was emailed to an address that no longer belongs to the account.
    if (row.provesEmail !== null && found.record.user.email !== row.provesEmail)
      throw new AuthError('sign_in_expired');
    const record =
      row.provesEmail === null ? found.record : asVerified(found.record, this.core.database.clock);
    const proof = {
      ...record,
      authEpoch: row.authEpoch,
      ...assuranceAfter(row.amr, factor),
      attempts: row.attempts,
    };
    const { remembered, provesEmail: email } = row;
    const proves = email === null ? undefined : { email, isOwn: row.isOwn === true };
    const checked = await this.core.signInGate.check(proof, {
      remembered,
      trustDevice,
      ...(proves && { proves }),
    });
    const isComplete = this.core.secondFactors.reached(record, proof) !== null;
    const issued = await this.core.database.transaction(async (transaction: Transaction) => {
      // Until the sign-in is complete, it proves nothing.
      const proven = isComplete ? await this.#prove(found, transaction) : null;
      // Create the session first, because this locks the user's row, as other transactions do before their other locks.
      const signedIn = await checked.begin(
        proven ? afterEmailProof(proven, row.authEpoch) : proof,
        transaction,
      );
      // The account has got a second factor since the code for an unknown browser was emailed.
      if (isPending(signedIn) && (isComplete || !proves)) throw new AuthError('sign_in_expired');
      if (!(await this.core.pendings.use(found, transaction))) throw new AuthError('sign_in_expired');
      if (!(await factor.use(transaction))) throw new AuthError('invalid_code');
      return proven?.passwordRemoved
        ? { ...(signedIn as IssuedSession), passwordRemoved: true as const }
        : signedIn;
    });
    return { issued, complete: () => checked.complete(issued) };
  }

  /** Records that the first step has proven the mailbox. @returns null if there is nothing to record */
  async #prove({ record, row }: FoundPending, transaction: Transaction): Promise<Proven | null> {
    if (row.provesEmail === null) return null;
    const locked = await this.core.users.lock(record.user.id, transaction);
    const isSame = locked?.authEpoch === row.authEpoch && locked.user.email === row.provesEmail;
    if (!locked || !isSame) throw new AuthError('sign_in_expired');
    if (record.emailProof.reaches('mailbox')) return null;
    return this.core.emailProofs.recordSignIn(locked, row.isOwn === true, transaction);
  }
}

/** Returns a user as they will be after the proof of the mailbox, for the checks before the proof. */
export function asVerified<R extends Pick<UserRecord, 'user' | 'account'>>(record: R, clock: Clock): R {
  const emailVerifiedAt = record.user.emailVerifiedAt ?? clock.date();
  const user = { ...record.user, emailVerifiedAt };
  return { ...record, user };
}

/** Returns the user who signs in after the proof. @param authEpoch the user's epoch before the proof */
export function afterEmailProof({ record }: Proven, authEpoch: number): UserToSignIn {
  return { user: record.user, authEpoch: record.authEpoch, hasForgotten: record.authEpoch !== authEpoch };
}

function stepOf({ step = 'second_factor' }: StepMethod): SignInStep {
  return step;
}

function assuranceAfter(first: readonly string[], { aal, amr }: RightFactor) {
  if (aal === 2) return { aal: 2, amr: withSecond(first, amr) } as const;
  // The first step can have been two factors, such as a passkey.
  return { aal: first.includes('mfa') ? 2 : 1, amr: [...new Set([...first, ...amr])] } as const;
}

/** Returns the `amr` of a user who has provided both factors. */
export function withSecond(first: readonly string[], second: readonly string[]): readonly string[] {
  return [...new Set([...first, ...second, 'mfa'])];
}
