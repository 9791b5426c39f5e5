import type { CallContext } from '../context/call.js';
import { AuthError } from '../errors.js';
import { addressBucket } from './address.js';
import type { LimitStore, PausePolicy } from './store.js';

/** A fixed-window rate limit. */
export interface WindowRule {
  /** The number of requests allowed per window. */
  limit: number;
  /** The length of a window, in seconds. */
  window: number;
}

/** The rate limits; null disables a rule. */
export interface LimitRules {
  /** Sign-ins per address. */
  readonly signIn: WindowRule | null;
  /** Sign-ups per address. */
  readonly signUp: WindowRule | null;
  /** Requested emails, per address and per account. */
  readonly mail: WindowRule | null;
  /** Wrong passwords per account. */
  readonly account: PausePolicy | null;
}

type WindowName = Exclude<keyof LimitRules, 'account'>;

/** Enforces the rate limits. */
export class Limiter {
  /** @param store null if rate limits are disabled */
  constructor(
    private readonly store: LimitStore | null,
    private readonly rules: LimitRules,
    private readonly context: CallContext,
  ) {}

  /** Whether any rule limits by address. */
  get countsAddresses(): boolean {
    return [this.rules.signIn, this.rules.signUp, this.rules.mail].some((rule) => rule !== null);
  }

  /**
   * Counts a request by the current client's address. A programmatic call without an address is not counted.
   *
   * @param what distinguishes requests that a rule counts separately
   * @throws AuthError `rate_limited`
   */
  async countAddress(name: WindowName, what = ''): Promise<void> {
    const { ip } = this.context.client;
    if (ip !== undefined) await this.#count(name, `${what} address ${addressBucket(ip)}`);
  }

  /** Counts a request concerning an account, from any address. @throws AuthError `rate_limited` */
  async countAccount(name: WindowName, account: string, what = ''): Promise<void> {
    await this.#count(name, `${what} account ${account}`);
  }

  /**
   * Reserves a password attempt for an account. It counts as a failure until {@link clearFailures} is called.
   *
   * @returns null if the attempt is allowed, otherwise the error to respond with
   */
  async reserveAttempt(account: string): Promise<AuthError | null> {
    const policy = this.rules.account;
    const left = policy && (await this.store?.reserve(`try ${account}`, policy));
    return left ? tooMany('account', `q=${policy.failures}`, left) : null;
  }

  /** Resets an account's failures after a success. */
  async clearFailures(account: string): Promise<void> {
    if (this.rules.account) await this.store?.clear(`try ${account}`);
  }

  async #count(name: WindowName, who: string): Promise<void> {
    const rule = this.rules[name];
    if (!rule) return;
    const left = await this.store?.hit(`${name} ${who}`, rule.limit, rule.window * 1000);
    if (left) throw tooMany(name, `q=${rule.limit};w=${rule.window}`, left);
  }
}

/** The error, with the headers of draft-ietf-httpapi-ratelimit-headers. */
function tooMany(name: keyof LimitRules, policy: string, leftMs: number): AuthError {
  // Rounded up, so that a retry after this time is allowed.
  const retryAfter = Math.max(1, Math.ceil(leftMs / 1000));
  return new AuthError('rate_limited', {
    retryAfter,
    headers: { 'RateLimit-Policy': `"${name}";${policy}`, RateLimit: `"${name}";r=0;t=${retryAfter}` },
  });
}
