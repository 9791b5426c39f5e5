import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { User } from '../../tables/user.js';
import { attemptsMail } from './mails.js';
import type { TotpSecrets } from './secrets.js';

/**
 * Counts the attempts to give an account's second factor: all of them together, whatever they are for and whichever way they
 * are given, so that nobody gets more guesses by starting again. Only a right one clears the count.
 */
export class CodeAttempts {
  readonly #core: Core;
  readonly #secrets: TotpSecrets;

  constructor(core: Core, secrets: TotpSecrets) {
    this.#core = core;
    this.#secrets = secrets;
  }

  /**
   * Counts an attempt before anything is looked at.
   *
   * @param look throws `invalid_code`, or what a passkey throws, if it was wrong
   * @param guards whether wrong codes could guess the confirmed secret
   * @throws AuthError `rate_limited`, and what `look` throws
   */
  async attempt<T>(user: User, look: () => Promise<T>, guards = true): Promise<T> {
    const { limiter, events } = this.#core;
    const counter = `code ${user.id}`;
    const refused = await limiter.reserveAttempt(counter);
    if (refused) {
      if (refused.isFirst) events.emit('sign_in.throttled', { userId: user.id });
      throw refused.error;
    }
    const outcome = await this.#look(user, counter, look, guards);
    await this.#clear(counter);
    return outcome;
  }

  /** It is done, so an error here must not fail the call. */
  async #clear(counter: string): Promise<void> {
    try {
      await this.#core.limiter.clearFailures(counter);
    } catch (error) {
      this.#core.settings.logger.warn('latchkey: wrong codes could not be cleared', error);
    }
  }

  async #look<T>(user: User, counter: string, look: () => Promise<T>, guards: boolean): Promise<T> {
    try {
      return await look();
    } catch (error) {
      if (isWrong(error)) await this.#countWrong(user, guards && error.code === 'invalid_code');
      // It was right, but the sign-in is refused: the account is suspended, for example.
      else if (error instanceof AuthError && error.status < 500) await this.#core.limiter.giveBack(counter);
      throw error;
    }
  }

  async #countWrong(user: User, isGuess: boolean): Promise<void> {
    const { events, notices } = this.#core;
    const isWarned = isGuess && (await this.#secrets.countWrong(user.id));
    if (isWarned) await notices.plain(attemptsMail, user);
    events.emit('sign_in.failed', { userId: user.id });
  }
}

/** The plugin that has passkeys declares its own. */
const WRONG: ReadonlySet<string> = new Set(['invalid_code', 'invalid_passkey']);

function isWrong(error: unknown): error is AuthError {
  return error instanceof AuthError && WRONG.has(error.code);
}
