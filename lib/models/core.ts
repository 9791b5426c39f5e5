import { devices } from './device.js';
import type { ModelOf } from './model.js';
import { oneTimeTokens } from './one-time-token.js';
import { rateLimits } from './rate-limit.js';
import { sessions } from './session.js';
import { users } from './user.js';

/** The core's tables, by the names of their models. */
export const coreTables = {
  /** Accounts. */
  User: users,
  /** Sessions. */
  Session: sessions,
  /** Browsers in which an account has signed in. */
  Device: devices,
  /** Emailed tokens. */
  OneTimeToken: oneTimeTokens,
  /** Counters of the rate limits, unless they are in Redis. */
  RateLimit: rateLimits,
} as const;

/** The Sequelize models of the core's tables. */
export type CoreModels = { readonly [Name in keyof typeof coreTables]: ModelOf<(typeof coreTables)[Name]> };
