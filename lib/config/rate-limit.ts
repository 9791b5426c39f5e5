import * as z from 'zod';
import { coreLimits, declaredLimits, type LimitNames, type WindowRule } from '../limits/limiter.js';
import type { RedisClient } from '../limits/redis-store.js';
import type { WindowPolicy } from '../limits/store.js';
import { schemaOf, seconds } from './options.js';

/**
 * Rate limits, and where their counters are stored. `false` disables a rule. Other limits, such as those of password
 * checks, have fixed rules.
 */
export interface RateLimitOptions {
  /**
   * A Redis URL (needs the package `ioredis`), or a client of `ioredis` or `redis`. The keys start with `latchkey:`, and
   * the `tablePrefix`. A `keyPrefix` of ioredis comes before that.
   * @default the database
   */
  store?: RedisClient | string;
  /**
   * Sign-ins per address, including sign-ins with a provider, and everything else that checks or sets a password,
   * except sign-ups.
   * @default { limit: 20, window: 60 }
   */
  signIn?: WindowRule | false;
  /** Sign-ups per address, including new users from providers. @default { limit: 20, window: 60 } */
  signUp?: WindowRule | false;
  /**
   * Requested emails, per mailbox. Further requests are accepted, but their emails are not sent. Emails that are
   * requested in the account's own session, or in a known browser of the account, are counted separately.
   * @default { limit: 10, window: 3600 }
   */
  mail?: WindowRule | false;
  /**
   * Emails that requests cause to addresses that no account has proven, for the whole app, such as the emails of
   * sign-ups. Further emails wait in the outbox until the next window, up to ten times the limit. The newest is sent
   * first. Invitations are neither counted nor held, and neither are emails to an account's own address that are requested
   * in its session or in a known browser, once the account is older than `window`.
   * @default { limit: 1000, window: 3600 }
   */
  strangers?: WindowRule | false;
  /** Requests that can cause an email, including sign-ups, per address. @default { limit: 60, window: 3600 } */
  mailAddress?: WindowRule | false;
  /**
   * Exports of one account's data by its user. Only successful exports are counted.
   * @default { limit: 1, window: 86400 }
   */
  dataExport?: WindowRule | false;
  /**
   * Wrong passwords per account: the number of failures at which attempts are paused, and the first and the longest
   * pause, in seconds. The pause doubles with each further failure.
   * @default { failures: 5, firstPause: 15, maxPause: 900 }
   */
  account?: { failures: number; firstPause: number; maxPause: number } | false;
}

const count = z.int('must be a whole number').positive('must be at least 1');

/** @internal */
export const windowSchema = schemaOf<WindowRule>()({ limit: count, window: seconds });

const windowRule = z.union([z.literal(false), windowSchema], 'must be false or { limit, window }');
const pauseRule = z.union(
  [
    z.literal(false),
    z
      .strictObject({ failures: count, firstPause: seconds, maxPause: seconds })
      .refine(({ firstPause, maxPause }) => firstPause <= maxPause, {
        error: 'must be at most maxPause',
        path: ['firstPause'],
      }),
  ],
  'must be false or { failures, firstPause, maxPause }',
);

/** @internal */
export const rateLimitSchema = schemaOf<RateLimitOptions>()({
  store: z
    .union(
      [
        z.string().regex(/^rediss?:/, 'must be a Redis URL (redis://…), or a client of ioredis or redis'),
        z.custom<RedisClient>((it) => typeof (it as { eval?: unknown })?.eval === 'function'),
      ],
      'must be a Redis URL, or a client of ioredis or redis',
    )
    .optional(),
  signIn: windowRule.default(coreLimits.signIn),
  signUp: windowRule.default(coreLimits.signUp),
  mail: windowRule.default(coreLimits.mail),
  strangers: windowRule.default(coreLimits.strangers),
  mailAddress: windowRule.default(coreLimits.mailAddress),
  dataExport: windowRule.default(coreLimits.dataExport),
  account: pauseRule.default({ failures: 5, firstPause: 15, maxPause: 900 }),
});

/** @internal */
export function rateLimitSettings(options: false | z.output<typeof rateLimitSchema>) {
  if (options === false) return null;
  const { store, signIn, signUp, mail, strangers, mailAddress, dataExport, account } = options;
  const chosen = { signIn, signUp, mail, strangers, mailAddress, dataExport };
  const rules = { ...declaredLimits.values, ...chosen } as Record<keyof LimitNames, WindowRule | false>;
  return {
    store: store ?? null,
    rules: {
      ...windowsOf(rules),
      account: account
        ? {
            failures: account.failures,
            firstPauseMs: wholeMs(account.firstPause),
            maxPauseMs: wholeMs(account.maxPause),
          }
        : null,
    },
  };
}

/** Rounds to whole milliseconds, because Redis and the databases do not store fractions. */
function wholeMs(seconds: number): number {
  return Math.max(1, Math.round(seconds * 1000));
}

function windowsOf<Name extends string>(rules: Record<Name, WindowRule | false>) {
  const policyOf = (rule: WindowRule | false): WindowPolicy | null =>
    rule === false ? null : { limit: rule.limit, windowMs: wholeMs(rule.window) };
  return Object.fromEntries(
    Object.entries<WindowRule | false>(rules).map(([name, rule]) => [name, policyOf(rule)]),
  ) as Record<Name, WindowPolicy | null>;
}
