import type { Core } from '../../core.js';
import type { PasswordHasher } from '../../crypto/password.js';
import { AuthError } from '../../errors.js';
import type { ClientInfo } from '../../events.js';
import type { SignInRecord } from '../../users.js';

// Each further round needs a right password among the tries before it.
const MAX_ROUNDS = 10;

/** The one place where passwords are tried: every try is counted before it is hashed. */
export class PasswordCheck {
  /** The tries under way, by account; each turns out to be right or not. */
  readonly #underWay = new Map<string, Set<Promise<boolean>>>();

  constructor(
    private readonly core: Core,
    private readonly hasher: PasswordHasher,
  ) {}

  /**
   * @param record the account; null where there is none, which must look and take the same
   * @param name what it was looked up by, in canonical spelling: there tries are counted where no account exists
   * @throws AuthError `invalid_credentials`, `rate_limited`, `unavailable`
   */
  async verify(
    record: SignInRecord | null,
    name: string,
    password: string,
    client: ClientInfo,
  ): Promise<SignInRecord> {
    const userId = record?.user.id ?? null;
    // By the user and not by the name, so that an email and a username do not give twice the tries.
    const account = userId ?? name;
    for (let round = 1; ; round++) {
      const outcome = await this.#try(account, record, password, client);
      if (!(outcome instanceof AuthError)) return outcome;
      // A try counts as a failure until it is over, and the owner may have begun several at once.
      const others = await Promise.all(this.#underWay.get(account) ?? []);
      if (round < MAX_ROUNDS && others.includes(true)) continue;
      await this.hasher.pretend();
      this.core.events.emit('sign_in.throttled', { userId, ...client });
      throw outcome;
    }
  }

  /** @returns the record, or the pause that is on */
  async #try(
    account: string,
    record: SignInRecord | null,
    password: string,
    client: ClientInfo,
  ): Promise<SignInRecord | AuthError> {
    const isOver = this.#begin(account);
    let isRight = false;
    try {
      const paused = await this.core.limiter.reserveTry(account);
      if (paused) return paused;
      const { matches, outdated } = await this.hasher.verify(password, record?.passwordHash ?? null);
      if (!record || !matches) {
        this.core.events.emit('sign_in.failed', { userId: record?.user.id ?? null, ...client });
        throw new AuthError('invalid_credentials');
      }
      await this.core.limiter.forgive(account);
      isRight = true;
      if (outdated) await this.#rehash(record, password);
      return record;
    } finally {
      isOver(isRight);
    }
  }

  /** @returns what to call when the try is over */
  #begin(account: string): (isRight: boolean) => void {
    const tries = this.#underWay.get(account) ?? new Set();
    this.#underWay.set(account, tries);
    let resolve: (isRight: boolean) => void;
    const outcome = new Promise<boolean>((settle) => {
      resolve = settle;
    });
    tries.add(outcome);
    return (isRight) => {
      tries.delete(outcome);
      if (tries.size === 0) this.#underWay.delete(account);
      resolve(isRight);
    };
  }

  async #rehash({ user, passwordHash }: SignInRecord, password: string): Promise<void> {
    if (passwordHash === null) return;
    await this.core.users.replacePasswordHash(user.id, passwordHash, await this.hasher.hash(password));
  }
}
