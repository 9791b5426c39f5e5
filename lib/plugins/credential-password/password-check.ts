import type { Core } from '../../core/core.js';
import type { UserRecord } from '../../core/users.js';
import type { PasswordHasher } from '../../crypto/password.js';
import { AuthError } from '../../errors.js';

// Each further round needs a right password among the attempts before it.
const MAX_ROUNDS = 10;

/** The one place where passwords are checked: every attempt is counted before anything is hashed. */
export class PasswordCheck {
  /** The attempts in progress, by account; each turns out to be right or not. */
  readonly #attempts = new Map<string, Set<Promise<boolean>>>();

  constructor(
    private readonly core: Core,
    private readonly hasher: PasswordHasher,
  ) {}

  /**
   * @param record the account; null if there is none, which must look the same and take as long
   * @param name what it was looked up by, in canonical spelling: by it attempts are counted where there is no account
   * @throws AuthError `invalid_credentials`, `rate_limited`, `unavailable`
   */
  async verify(record: UserRecord | null, name: string, password: string): Promise<UserRecord> {
    const userId = record?.user.id ?? null;
    // By the user and not by the name, so that an email and a username do not allow twice as many attempts.
    const account = userId ?? name;
    for (let round = 1; ; round++) {
      const outcome = await this.#attempt(account, record, password);
      if (!(outcome instanceof AuthError)) return outcome;
      // An attempt counts as a failure until it is over, and the owner may have begun several at once.
      const others = await Promise.all(this.#attempts.get(account) ?? []);
      if (round < MAX_ROUNDS && others.includes(true)) continue;
      await this.hasher.pretend();
      this.core.events.emit('sign_in.throttled', { userId });
      throw outcome;
    }
  }

  /** @returns the record, or the error of a pause */
  async #attempt(
    account: string,
    record: UserRecord | null,
    password: string,
  ): Promise<UserRecord | AuthError> {
    const end = this.#begin(account);
    let isRight = false;
    try {
      const paused = await this.core.limiter.reserveAttempt(account);
      if (paused) return paused;
      const { matches, outdated } = await this.hasher.verify(password, record?.passwordHash ?? null);
      if (!record || !matches) {
        this.core.events.emit('sign_in.failed', { userId: record?.user.id ?? null });
        throw new AuthError('invalid_credentials');
      }
      await this.core.limiter.clearFailures(account);
      isRight = true;
      if (outdated) await this.#rehash(record, password);
      return record;
    } finally {
      end(isRight);
    }
  }

  /** @returns what to call when the attempt is over */
  #begin(account: string): (isRight: boolean) => void {
    const attempts = this.#attempts.get(account) ?? new Set();
    this.#attempts.set(account, attempts);
    let resolve: (isRight: boolean) => void;
    const outcome = new Promise<boolean>((settle) => {
      resolve = settle;
    });
    attempts.add(outcome);
    return (isRight) => {
      attempts.delete(outcome);
      if (attempts.size === 0) this.#attempts.delete(account);
      resolve(isRight);
    };
  }

  async #rehash({ user, passwordHash }: UserRecord, password: string): Promise<void> {
    if (passwordHash === null) return;
    await this.core.users.replacePasswordHash(user.id, passwordHash, await this.hasher.hash(password));
  }
}
