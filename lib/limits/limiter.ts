import { AuthError } from '../errors.js';
import { addressBucket } from './address.js';
import type { LimitStore, PausePolicy } from './store.js';

/** So many in a window of so many seconds. */
export interface WindowRule {
  limit: number;
  /** Seconds. */
  window: number;
}

/** What is limited; a rule that is null is off. */
export interface LimitRules {
  /** Sign-ins by one address. */
  readonly signIn: WindowRule | null;
  /** Sign-ups by one address. */
  readonly signUp: WindowRule | null;
  /** Mails asked for, by one address and for one account. */
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
  ) {}

  /** Whether any rule goes by address. */
  get countsAddresses(): boolean {
    return [this.rules.signIn, this.rules.signUp, this.rules.mail].some((rule) => rule !== null);
  }

  /**
   * Counts a request of an address.
   *
   * @param ip undefined for a call of the app's own, which no address makes; null where the address is not known
   * @param what where one rule counts several things apart
   * @throws AuthError `rate_limited`
   */
  async countAddress(name: WindowName, ip: string | null | undefined, what = ''): Promise<void> {
    if (ip !== undefined) await this.#count(name, `${what} address ${addressBucket(ip)}`);
  }

  /** Counts a request about an account, whoever makes it. @throws AuthError `rate_limited` */
  async countAccount(name: WindowName, account: string, what = ''): Promise<void> {
    await this.#count(name, `${what} account ${account}`);
  }

  /**
   * Takes one try at an account's password; it counts as a failure until {@link forgive} is called.
   *
   * @returns null where the try may be made, else the error to answer
   */
  async reserveTry(account: string): Promise<AuthError | null> {
    const policy = this.rules.account;
    const left = policy && (await this.store?.reserve(`try ${account}`, policy));
    return left ? tooMany('account', `q=${policy.failures}`, left) : null;
  }

  /** Forgets an account's failures, after a success. */
  async forgive(account: string): Promise<void> {
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
  // Rounded up: whoever waits so long is let in.
  const retryAfter = Math.max(1, Math.ceil(leftMs / 1000));
  return new AuthError('rate_limited', {
    retryAfter,
    headers: { 'RateLimit-Policy': `"${name}";${policy}`, RateLimit: `"${name}";r=0;t=${retryAfter}` },
  });
}
