import type { CallContext } from '../context/call.js';
import { AuthError } from '../errors.js';
import { addressBucket } from './address.js';
import type { LimitStore, PausePolicy } from './store.js';

/** How many in a window of time. */
export interface WindowRule {
  /** How many are allowed in a window. */
  limit: number;
  /** The window's length, in seconds. */
  window: number;
}

/** What is limited; a rule that is null is off. */
export interface LimitRules {
  /** Sign-ins from one address. */
  readonly signIn: WindowRule | null;
  /** Sign-ups from one address. */
  readonly signUp: WindowRule | null;
  /** Mails asked for, from one address and for one account. */
  readonly mail: WindowRule | null;
  /** Wrong passwords for one account. */
  readonly account: PausePolicy | null;
}

type WindowName = Exclude<keyof LimitRules, 'account'>;

/** Refuses what comes too often. */
export class Limiter {
  /** @param store null where nothing is limited */
  constructor(
    private readonly store: LimitStore | null,
    private readonly rules: LimitRules,
    private readonly context: CallContext,
  ) {}

  /** Whether any rule goes by address. */
  get countsAddresses(): boolean {
    return [this.rules.signIn, this.rules.signUp, this.rules.mail].some((rule) => rule !== null);
  }

  /**
   * Counts a request by the address of the current client. A call by the app's own code has none, and is not counted.
   *
   * @param what distinguishes requests that one rule counts separately
   * @throws AuthError `rate_limited`
   */
  async countAddress(name: WindowName, what = ''): Promise<void> {
    const { ip } = this.context.client;
    if (ip !== undefined) await this.#count(name, `${what} address ${addressBucket(ip)}`);
  }

  /** Counts a request about an account, whoever makes it. @throws AuthError `rate_limited` */
  async countAccount(name: WindowName, account: string, what = ''): Promise<void> {
    await this.#count(name, `${what} account ${account}`);
  }

  /**
   * Reserves one attempt at an account's password; it counts as a failure until {@link clearFailures} is called.
   *
   * @returns null where the attempt may be made, else the error to answer with
   */
  async reserveAttempt(account: string): Promise<AuthError | null> {
    const policy = this.rules.account;
    const left = policy && (await this.store?.reserve(`try ${account}`, policy));
    return left ? tooMany('account', `q=${policy.failures}`, left) : null;
  }

  /** Clears an account's failures, after a success. */
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

/** With the headers of draft-ietf-httpapi-ratelimit-headers. */
function tooMany(name: keyof LimitRules, policy: string, leftMs: number): AuthError {
  // Rounded up: whoever waits that long is let in.
  const retryAfter = Math.max(1, Math.ceil(leftMs / 1000));
  return new AuthError('rate_limited', {
    retryAfter,
    headers: { 'RateLimit-Policy': `"${name}";${policy}`, RateLimit: `"${name}";r=0;t=${retryAfter}` },
  });
}
