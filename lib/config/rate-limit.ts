import * as z from 'zod';
import { declaredLimits, type LimitNames, type WindowRule } from '../limits/limiter.js';
import type { RedisClient } from '../limits/redis-store.js';
import type { WindowPolicy } from '../limits/store.js';
import { schemaOf, seconds } from './options.js';

/** Rate limits, and where their counters are stored. `false` disables a rule. Plugins add their own rules. */
export interface RateLimitOptions {
  /** A Redis URL (needs the package `ioredis`), or a client of `ioredis` or `redis`. @default the database */
  store?: RedisClient | string;
  /**
   * The prefix of the keys in Redis. Apps that share a Redis server need different prefixes.
   * @default `latchkey:`, and the `tablePrefix`
   */
  keyPrefix?: string;
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
  /** Requests that can cause an email, including sign-ups, per address. @default { limit: 60, window: 3600 } */
  mailAddress?: WindowRule | false;
  /**
   * Checks of one account's password, right or wrong, from any address. Sign-ins are not counted.
   * @default { limit: 60, window: 60 }
   */
  passwordCheck?: WindowRule | false;
  /** Changes of one account's password by the user, other than resets by email. @default { limit: 5, window: 3600 } */
  passwordChange?: WindowRule | false;
  /** Checks of whether a username is available, per address. @default { limit: 60, window: 60 } */
  usernameCheck?: WindowRule | false;
  /**
   * Revocations of all other sessions of an account by a session whose user has not authenticated in the last ten
   * minutes.
   * @default { limit: 6, window: 3600 }
   */
  revokeOthers?: WindowRule | false;
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
const windowRules = () =>
  Object.fromEntries(
    declaredLimits.entries.map(([name, rule]) => [name, windowRule.default(rule)]),
  ) as Record<keyof LimitNames, z.ZodDefault<typeof windowRule>>;
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

/** A function, because plugins declare their limits after this module is loaded. @internal */
export const rateLimitSchema = () =>
  schemaOf<RateLimitOptions>()({
    store: z
      .union(
        [
          z.string().regex(/^rediss?:/, 'must be a Redis URL (redis://…), or a client of ioredis or redis'),
          z.custom<RedisClient>((it) => typeof (it as { eval?: unknown })?.eval === 'function'),
        ],
        'must be a Redis URL, or a client of ioredis or redis',
      )
      .optional(),
    keyPrefix: z
      .string()
      .regex(/^[!-~]{1,100}$/, 'must be 1 to 100 printable ASCII characters, without spaces')
      .optional(),
    ...windowRules(),
    account: pauseRule.default({ failures: 5, firstPause: 15, maxPause: 900 }),
  }).refine(({ store, keyPrefix }) => keyPrefix === undefined || store !== undefined, {
    error: 'requires Redis: set store too, or use tablePrefix for counters in the database',
    path: ['keyPrefix'],
  });

/** @internal */
export function rateLimitSettings(
  options: false | z.output<ReturnType<typeof rateLimitSchema>>,
  tablePrefix: string,
) {
  if (options === false) return null;
  const { store, keyPrefix, account, ...windows } = options;
  return {
    store: store ?? null,
    keyPrefix: keyPrefix ?? `latchkey:${tablePrefix}`,
    rules: {
      ...windowsOf(windows),
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
