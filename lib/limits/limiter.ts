import { addressBucket } from '../context/address.js';
import type { CallContext } from '../context/call.js';
import { AuthError } from '../errors.js';
import { CORE, Declarations, type Owner } from '../owners.js';
import type { Telemetry } from '../telemetry.js';
import type { Refusals } from './refusals.js';
import type { LimitStore, PausePolicy, WindowPolicy } from './store.js';

/** A fixed-window rate limit. */
export interface WindowRule {
  /** The number of requests allowed per window. */
  limit: number;
  /** The length of a window, in seconds. */
  window: number;
}

/** The limits by name, with their rules. It includes the limits of plugins that are not in the config. */
export const declaredLimits = new Declarations<WindowRule>('limit');

/**
 * Declares limits and their rules. The module that owns them calls this when it is loaded, and adds their names to
 * {@link LimitNames}. The app can only change the rules in `RateLimitOptions`.
 */
export function declareLimits<const L extends Readonly<Record<string, WindowRule>>>(
  owner: Owner | null,
  limits: L,
): L {
  for (const [name, rule] of Object.entries(limits)) declaredLimits.add(owner, name, rule);
  return limits;
}

export const coreLimits = declareLimits(CORE, {
  /**
   * Sign-ins per address, including sign-ins with providers, and other checks and changes of passwords, except
   * sign-ups.
   */
  signIn: { limit: 20, window: 60 },
  /** Sign-ups per address, including new users from providers. */
  signUp: { limit: 20, window: 60 },
  /** Requested emails, per mailbox. Requests by the mailbox's owner are counted separately. */
  mail: { limit: 10, window: 3600 },
  /** Requests that can cause an email, per address. */
  mailAddress: { limit: 60, window: 3600 },
  /** Emails that requests cause to addresses that no account has proven, for the whole app. */
  strangers: { limit: 1000, window: 3600 },
  /** Checks of an account's password, right or wrong, by a client that has a session or an emailed link. */
  passwordCheck: { limit: 60, window: 60 },
  /** Changes of an account's password, other than resets. */
  passwordChange: { limit: 5, window: 3600 },
  /** Checks of whether a username is available, per address. */
  usernameCheck: { limit: 60, window: 60 },
  /** Revocations of all other sessions of an account by a session that is not fresh. */
  revokeOthers: { limit: 6, window: 3600 },
  /** Exports of an account's data by its user. */
  dataExport: { limit: 1, window: 86_400 },
});

/** The names of all limits except `account`. Plugins add their own names. */
export interface LimitNames extends Record<keyof typeof coreLimits, unknown> {}

type WindowName = keyof LimitNames;

/** The rate limits; null disables a rule. */
export type LimitRules = { readonly [Name in WindowName]: WindowPolicy | null } & {
  /** Wrong passwords per account. */
  readonly account: PausePolicy | null;
};

/** A password attempt that was rejected. */
export interface RefusedAttempt {
  /** The error to respond with. */
  readonly error: AuthError;
  /** Whether it is the first attempt that the current pause rejects, across all processes. */
  readonly isFirst: boolean;
}

/**
 * The limit on notices to an unverified address. The address might be a stranger's, and without a limit, the person who
 * signed up with it could flood it. The limit is above the number of kinds, so a user who tries everything gets them
 * all.
 */
const UNVERIFIED_NOTICES: WindowPolicy = { limit: 30, windowMs: 60 * 60 * 1000 };

const STRANGERS = 'strangers';
/** Counts the emails that are not for strangers, so that the statements do not reveal whether an account has an address. */
const NOT_STRANGERS = 'not strangers';

const ONCE_A_DAY: WindowPolicy = { limit: 1, windowMs: 24 * 60 * 60 * 1000 };

/** What {@link Limiter} needs. */
interface LimiterNeeds {
  readonly context: CallContext;
  /** The counters. Null if rate limits are disabled. */
  readonly limits: LimitStore | null;
  readonly settings: {
    readonly rateLimit: { readonly rules: LimitRules } | null;
    readonly telemetry: Telemetry | null;
  };
}

/** Enforces the rate limits. */
export class Limiter {
  readonly #rules: LimitRules | null;

  constructor(
    private readonly core: LimiterNeeds,
    private readonly refusals: Refusals,
  ) {
    this.#rules = core.settings.rateLimit?.rules ?? null;
  }

  /** Whether any rule limits by address. */
  get countsAddresses(): boolean {
    const { signIn, signUp, mailAddress } = this.#rules ?? {};
    return [signIn, signUp, mailAddress].some(Boolean);
  }

  /** Whether password attempts are limited by account. */
  get countsAttempts(): boolean {
    return this.#rules !== null;
  }

  /** Identifies the current client by its address; empty for a programmatic call without one. */
  get client(): string {
    const { ip } = this.core.context.client;
    return ip === undefined ? '' : addressBucket(ip);
  }

  /**
   * Counts a request by the current client's address. A programmatic call without an address is not counted.
   *
   * @param what distinguishes requests that a rule counts separately
   * @throws AuthError `rate_limited`
   * @throws TypeError if the limit has not been declared
   */
  async countAddress(name: WindowName, what = ''): Promise<void> {
    declaredLimits.require(name);
    const { client } = this;
    if (client === '') return;
    const refused = await this.#count(name, `${what} address ${client}`);
    if (!refused) return;
    this.refusals.add(name, this.core.context.client.ip ?? null);
    throw refused;
  }

  /** Counts a request concerning an account, from any address. @throws AuthError `rate_limited` */
  async countAccount(name: WindowName, account: string, what = ''): Promise<void> {
    const refused = await this.#count(name, accountKey(account, what));
    if (refused) throw refused;
  }

  /**
   * Runs work that only counts for an account if it succeeds. The work is counted first, so that concurrent requests
   * cannot exceed the limit.
   *
   * @throws AuthError `rate_limited`, and the errors of `work`
   */
  async countSuccess<T>(name: WindowName, account: string, work: () => Promise<T>): Promise<T> {
    await this.countAccount(name, account);
    try {
      return await work();
    } catch (error) {
      if (this.#rules?.[name]) await this.#takeBack(`${name} ${accountKey(account)}`);
      throw error;
    }
  }

  /** Reports the rejected requests that have not been reported yet. */
  flush(): void {
    this.refusals.flush();
  }

  /** Counts a notice to an unverified address. @returns whether the notice can be sent */
  async allowsNotice(to: string): Promise<boolean> {
    return !(await this.core.limits?.hit(`notice ${to}`, UNVERIFIED_NOTICES));
  }

  /** Counts an email that a mailbox can get only once a day. @returns whether it can be sent */
  async allowsDaily(what: string): Promise<boolean> {
    return !(await this.core.limits?.hit(`daily ${what}`, ONCE_A_DAY));
  }

  /** The number of emails to strangers in a window. Null if there is no limit. */
  get mostToStrangers(): number | null {
    return this.#rules?.strangers?.limit ?? null;
  }

  /** The length of a window of the limit on emails to strangers. */
  get windowOfStrangersMs(): number {
    return this.#rules?.strangers?.windowMs ?? 0;
  }

  /**
   * Counts an email that a request has caused.
   *
   * @param isToStranger whether it is sent to an address that no account has proven
   * @returns whether it can be sent in this window
   */
  async allowsAsked(isToStranger: boolean): Promise<boolean> {
    const rule = this.#rules?.strangers;
    if (!rule) return true;
    const left = await this.core.limits?.hit(isToStranger ? STRANGERS : NOT_STRANGERS, rule);
    return !isToStranger || !left;
  }

  /** Undoes {@link allowsAsked}. */
  async takeBackAsked(isToStranger: boolean): Promise<void> {
    if (this.#rules?.strangers) await this.#takeBack(isToStranger ? STRANGERS : NOT_STRANGERS);
  }

  /**
   * Reserves a password attempt for an account. It counts as a failure until {@link clearFailures} is called.
   *
   * @returns null if the attempt is allowed
   */
  async reserveAttempt(account: string): Promise<RefusedAttempt | null> {
    const policy = this.#rules?.account;
    const paused = policy && (await this.core.limits?.reserve(`try ${account}`, policy));
    if (!paused) return null;
    this.core.settings.telemetry?.refused('account');
    return { error: tooMany('account', `q=${policy.failures}`, paused.leftMs), isFirst: paused.isFirst };
  }

  /** Undoes the count of an attempt with the right password that does not complete a sign-in. Earlier failures stay. */
  async giveBack(account: string): Promise<void> {
    if (this.#rules?.account) await this.core.limits?.giveBack(`try ${account}`);
  }

  /** Resets an account's failures after a success. */
  async clearFailures(account: string): Promise<void> {
    if (this.#rules?.account) await this.core.limits?.clear(`try ${account}`);
  }

  /** Takes back a hit. This is detached from the request, because the work might have used up the request's time. */
  async #takeBack(key: string): Promise<void> {
    const attempt = () => this.core.context.detached(async () => this.core.limits?.takeBack(key));
    // If this fails too, the user still gets the error of the work.
    await attempt()
      .catch(attempt)
      .catch(() => undefined);
  }

  /** @returns the error if the limit is exceeded */
  async #count(name: WindowName, who: string): Promise<AuthError | null> {
    declaredLimits.require(name);
    const rule = this.#rules?.[name];
    if (!rule) return null;
    const left = await this.core.limits?.hit(`${name} ${who}`, rule);
    if (!left) return null;
    this.core.settings.telemetry?.refused(name);
    return tooMany(name, `q=${rule.limit};w=${Math.ceil(rule.windowMs / 1000)}`, left);
  }
}

function accountKey(account: string, what = ''): string {
  return `${what} account ${account}`;
}

/** The error, with the headers of draft-ietf-httpapi-ratelimit-headers. */
function tooMany(name: WindowName | 'account', policy: string, leftMs: number): AuthError {
  // Round up, so that a retry after this time is allowed.
  const retryAfter = Math.max(1, Math.ceil(leftMs / 1000));
  return new AuthError('rate_limited', {
    retryAfter,
    headers: { 'RateLimit-Policy': `"${name}";${policy}`, RateLimit: `"${name}";r=0;t=${retryAfter}` },
  });
}
