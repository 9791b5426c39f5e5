/** The entry point `latchkey/importers`: the users of other systems, for `auth.importUsers`. */
export { type AuthJsOptions, fromAuthJs } from './importers/auth-js.js';
export { type BetterAuthOptions, fromBetterAuth } from './importers/better-auth.js';
export type { SourceRow } from './importers/read-table.js';
export { fromTable, type TableColumns, type TableOptions } from './importers/table.js';
export type { ProviderNames } from './importers/values.js';
