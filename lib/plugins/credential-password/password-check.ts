import type { Core } from '../../core.js';
import type { PasswordHasher } from '../../crypto/password.js';
import { AuthError } from '../../errors.js';
import type { Origin } from '../../events.js';
import type { SignInRecord } from '../../users.js';

/** The one place where passwords are tried: every try is counted before it is hashed. */
export class PasswordCheck {
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
    client: Origin,
  ): Promise<SignInRecord> {
    const userId = record?.user.id ?? null;
    // By the user and not by the name, so that an email and a username do not give twice the tries.
    const account = userId ?? name;
    const paused = await this.core.limiter.reserveTry(account);
    if (paused) {
      await this.hasher.pretend();
      this.core.events.emit('sign_in.throttled', { userId, ...client });
      throw paused;
    }
    const { matches, outdated } = await this.hasher.verify(password, record?.passwordHash ?? null);
    if (!record || !matches) {
      this.core.events.emit('sign_in.failed', { userId, ...client });
      throw new AuthError('invalid_credentials');
    }
    await this.core.limiter.forgive(account);
    if (outdated) await this.#rehash(record, password);
    return record;
  }

  async #rehash({ user, passwordHash }: SignInRecord, password: string): Promise<void> {
    if (passwordHash === null) return;
    await this.core.users.replacePasswordHash(user.id, passwordHash, await this.hasher.hash(password));
  }
}
