import type { Settings } from '../config/config.js';
import type { CallContext } from '../context/call.js';
import { AuthError } from '../errors.js';
import type { Limiter, RefusedAttempt } from '../limits/limiter.js';
import type { Events } from '../outbox/events.js';
import type { User } from '../tables/core.js';
import type { Passwords } from '../users/passwords.js';
import { checkAccount, type Identifier, type UserRecord } from '../users/record.js';
import type { Users } from '../users/users.js';
import type { Devices } from './devices.js';
import { type FormerPasswordNeeds, type PasswordPurpose, refuseFormerPassword } from './former-password.js';
import type { SecondFactorRules } from './second-factor.js';
import { isPending, type SignedIn } from './signed-in.js';

/** Returns the key that counts the attempts for an identifier, whether or not it has an account. */
export function attemptsFor(identifier: Identifier): string {
  const [[kind, value]] = Object.entries(identifier) as [[string, string]];
  return `${kind} ${value}`;
}

/**
 * Returns the key that counts an account's attempts. Having an email and a username does not double the attempts. If
 * there is an email, the key is not the user's id, because a count that restarts with the account would reveal which
 * sign-up created one. The key is never the username, because an attacker with a stolen session could change it to
 * restart the count.
 */
export function attemptsOf({ id, email }: User): string {
  return attemptsFor(email === null ? { id } : { email });
}

/**
 * Returns the key that counts the attempts: the account, or a device that its user has signed in with before, so that
 * strangers cannot pause the user's sign-ins there. Revoking all sessions, such as by a password reset, restarts the
 * counts of all devices.
 *
 * @param device the device of the request. Null if the user has not signed in there
 * @returns null if there is no account
 */
function counterOf(record: UserRecord | null, device: string | null): string | null {
  if (record && device) return `device ${device} ${record.authEpoch}`;
  return record && attemptsOf(record.user);
}

// Each further round requires a correct password among the concurrent attempts.
const MAX_ROUNDS = 10;

/** A user who has entered the correct password. */
export interface RightPassword extends UserRecord {
  /** The counter of failures that the completed sign-in clears. */
  readonly attempts: string;
}

/** What {@link PasswordCheck} needs. */
interface PasswordCheckNeeds extends FormerPasswordNeeds {
  readonly context: CallContext;
  readonly settings: Settings;
  readonly limiter: Limiter;
  readonly events: Events;
  readonly users: Users;
  readonly devices: Devices;
  readonly secondFactors: SecondFactorRules;
}

/** A password that a client has sent. */
interface Attempt {
  /** The account. Null if it does not exist. */
  readonly record: UserRecord | null;
  /** The key that counts the attempts if the account does not exist. */
  readonly name: string;
  /** The email that the client has typed, in its canonical form. Null if it is something else. */
  readonly email: string | null;
  readonly password: string;
  /** Whether the client has a session or an emailed link. */
  readonly isOwn: boolean;
}

/** Uses a correct password. The attempt is in progress until this function has finished. */
type Use<T> = (proved: RightPassword) => Promise<T>;

/** The only place where passwords are verified. Every attempt is counted before anything is hashed. */
export class PasswordCheck {
  /** The attempts in progress, by account. Each resolves to whether the password was correct. */
  readonly #attempts = new Map<string, Set<Promise<boolean>>>();
  #learning: Promise<void> | undefined;

  constructor(
    private readonly core: PasswordCheckNeeds,
    private readonly passwords: Passwords,
  ) {}

  /**
   * Verifies the password of a sign-in, and signs its user in. Only a complete sign-in clears the failures. Until the
   * user provides the second factor, the correct password gives back only its own attempt.
   *
   * @param record the account. If it is null, there is no account, which must be indistinguishable and take the same
   *   time
   * @param named the key that counts the attempts if the account does not exist, and the email that the client has typed
   * @param signIn signs the user in, and clears the failures if the sign-in is complete
   * @throws AuthError `invalid_credentials`, `rate_limited`, `unavailable`, and the errors of `signIn` and of the route's
   *   checkpoint
   */
  verify(
    record: UserRecord | null,
    named: Pick<Attempt, 'name' | 'email'>,
    password: string,
    signIn: Use<SignedIn>,
  ): Promise<SignedIn> {
    return this.#verify({ record, ...named, password, isOwn: false }, async (proved) => {
      let isComplete = false;
      try {
        await refuseFormerPassword(this.core, proved, 'sign-in');
        const signedIn = await signIn(proved);
        isComplete = !isPending(signedIn);
        return signedIn;
      } finally {
        if (!isComplete) await this.#giveBack(proved.attempts);
      }
    });
  }

  /**
   * Verifies the password of a user who has a session or an emailed link. Only these checks are limited per account,
   * because a stranger could use up such a limit on sign-ins, and so lock the owner out.
   *
   * @throws AuthError like {@link verify}; after the correct password, also the errors of plugins' account checks
   */
  async verifyOwn(
    record: UserRecord,
    password: string,
    purpose: PasswordPurpose = 'proof',
  ): Promise<UserRecord> {
    const forgive = async (proved: RightPassword) => {
      await this.#forgive(proved);
      await refuseFormerPassword(this.core, proved, purpose);
      return proved;
    };
    const name = attemptsOf(record.user);
    const { email } = record.user;
    const proved = await this.#verify({ record, name, email, password, isOwn: true }, forgive);
    checkAccount(proved.account, this.core.contributions);
    return proved;
  }

  async #verify<T>(attempt: Attempt, use: Use<T>): Promise<T> {
    const { record, name } = attempt;
    await this.core.limiter.countAddress('signIn');
    const userId = record?.user.id ?? null;
    const { checkpoint } = this.core.context.client;
    const device =
      checkpoint || this.core.limiter.countsAttempts ? await this.core.devices.find(userId) : null;
    await checkpoint?.({ email: attempt.email, userId, isKnownBrowser: device !== null });
    const account = counterOf(record, device) ?? name;
    await this.#learnCosts();
    // Do not wait in the app's transaction, because the other attempts might wait for its locks.
    const canWait = !this.core.database.isJoined;
    let isFirst = false;
    for (let round = 1; ; round++) {
      const outcome = await this.#attempt(account, attempt, use);
      if ('used' in outcome) return outcome.used;
      isFirst ||= outcome.isFirst;
      // Attempts count as failures until they finish, so the owner might have caused the pause with concurrent
      // sign-ins.
      const others = canWait ? await Promise.all(this.#attempts.get(account) ?? []) : [];
      if (round < MAX_ROUNDS && others.includes(true)) continue;
      await this.passwords.hasher.pretend();
      if (isFirst) this.core.events.emit('sign_in.throttled', { userId });
      throw outcome.error;
    }
  }

  /**
   * Checks a sample of accounts once for hashes that cost more than new ones, because `bcryptCost` was lowered or users
   * were imported. The costs of other hashes are learned when they are first verified.
   */
  async #learnCosts(): Promise<void> {
    this.#learning ??= this.core.users.sampleHashes().then((hashes) => this.passwords.hasher.learn(hashes));
    try {
      await this.#learning;
    } catch (error) {
      this.#learning = undefined;
      throw error;
    }
  }

  /** @returns what `use` returned for the correct password, or the error if attempts are paused */
  async #attempt<T>(
    account: string,
    { record, password, isOwn }: Attempt,
    use: Use<T>,
  ): Promise<{ readonly used: T } | RefusedAttempt> {
    const end = this.#begin(account);
    let isCorrect = false;
    try {
      const paused = await this.core.limiter.reserveAttempt(account);
      if (paused) return paused;
      // Count only now, because attempts that a pause rejects must not count against the limit: strangers can cause
      // pauses.
      if (isOwn) await this.core.limiter.countAccount('passwordCheck', account);
      const { matches, outdated } = await this.passwords.hasher.verify(
        password,
        record?.passwordHash ?? null,
      );
      if (!record || !matches) {
        this.core.events.emit('sign_in.failed', { userId: record?.user.id ?? null });
        throw new AuthError('invalid_credentials');
      }
      isCorrect = true;
      if (outdated) await this.#rehash(record, password, account);
      return { used: await use({ ...record, attempts: account }) };
    } finally {
      end(isCorrect);
    }
  }

  /** The outcome of the sign-in is already known, so an error here must not replace it. */
  async #giveBack(account: string): Promise<void> {
    try {
      await this.core.limiter.giveBack(account);
    } catch (error) {
      this.core.settings.log.warn(
        'limits.not_cleared',
        'a correct password could not be removed from the failed attempts',
        { err: error },
      );
    }
  }

  /**
   * Clears the failures. With a second factor, it gives back only this attempt, so that an attacker who knows only the
   * password cannot clear the failures of earlier guesses.
   */
  async #forgive(proved: RightPassword): Promise<RightPassword> {
    if (this.core.secondFactors.isOn(proved.account)) await this.core.limiter.giveBack(proved.attempts);
    else await this.core.limiter.clearFailures(proved.attempts);
    return proved;
  }

  /** @returns a function to call when the attempt is over */
  #begin(account: string): (isCorrect: boolean) => void {
    const attempts = this.#attempts.get(account) ?? new Set();
    this.#attempts.set(account, attempts);
    let resolve: (isCorrect: boolean) => void;
    const outcome = new Promise<boolean>((settle) => {
      resolve = settle;
    });
    attempts.add(outcome);
    return (isCorrect) => {
      attempts.delete(outcome);
      if (attempts.size === 0) this.#attempts.delete(account);
      resolve(isCorrect);
    };
  }

  /** Stores a new hash of a correct password. If that fails, the attempt does not count. */
  async #rehash({ user, passwordHash }: UserRecord, password: string, account: string): Promise<void> {
    if (passwordHash === null) return;
    try {
      await this.core.users.replacePasswordHash(
        user.id,
        passwordHash,
        await this.passwords.hasher.hash(password),
      );
    } catch (error) {
      await this.#giveBack(account);
      throw error;
    }
  }
}
