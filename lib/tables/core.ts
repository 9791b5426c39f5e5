import { accountChanges } from './account-change.js';
import { carriedSessions } from './carried-session.js';
import { devices } from './device.js';
import type { ModelOf } from './model.js';
import { oneTimeTokens } from './one-time-token.js';
import { outboxEntries } from './outbox-entry.js';
import { rateLimits } from './rate-limit.js';
import { sessions } from './session.js';
import type { TableDeclaration } from './table.js';
import { users } from './user.js';

/** The core's tables, by the names of their models. */
export const coreTables = {
  /** Accounts. */
  User: users,
  /** Sessions. */
  Session: sessions,
  /** Browsers in which an account has signed in. */
  Device: devices,
  /** What it takes to undo changes of accounts. */
  AccountChange: accountChanges,
  /** Emailed tokens. */
  OneTimeToken: oneTimeTokens,
  /** Sessions of older systems that have been taken over. */
  CarriedSession: carriedSessions,
  /** Emails and webhooks that are to be sent, and those that were sent of late. */
  OutboxEntry: outboxEntries,
  /** Counters of the rate limits, unless they are in Redis. */
  RateLimit: rateLimits,
} as const;

/** The Sequelize models of the core's tables. */
export type CoreModels = { readonly [Name in keyof typeof coreTables]: ModelOf<(typeof coreTables)[Name]> };

/**
 * The tables of the core and of plugins, by the names of their models.
 *
 * @param userTable the table of users with additional columns
 * @throws TypeError if two of them define a model or a table with the same name
 */
export function withCoreTables(
  userTable: typeof users,
  plugins: readonly { readonly name: string; readonly tables?: Readonly<Record<string, TableDeclaration>> }[],
): typeof coreTables {
  const owners = new Map<string, string>();
  for (const { name: owner, tables = {} } of [{ name: 'latchkey', tables: coreTables }, ...plugins]) {
    for (const [model, table] of Object.entries(tables)) {
      for (const key of [`the model ${model}`, `the table ${table.name}`]) {
        const other = owners.get(key);
        if (other)
          throw new TypeError(`latchkey: ${other} and ${owner} both define ${key}: remove one of them`);
        owners.set(key, owner);
      }
    }
  }
  return Object.assign({}, coreTables, { User: userTable }, ...plugins.map(({ tables }) => tables));
}
