import type { ModelOf } from './model.js';
import { oneTimeTokens } from './one-time-token.js';
import { rateLimits } from './rate-limit.js';
import { sessions } from './session.js';
import { users } from './user.js';

/** The core's tables, by the names of their models. */
export const coreTables = {
  User: users,
  Session: sessions,
  OneTimeToken: oneTimeTokens,
  RateLimit: rateLimits,
} as const;

/** The Sequelize models of latchkey's own tables. */
export type CoreModels = { readonly [Name in keyof typeof coreTables]: ModelOf<(typeof coreTables)[Name]> };
