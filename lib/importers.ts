/** The entry point `latchkey/importers`, to import the users of other systems with `auth.importUsers`. */
export { type AuthJsOptions, fromAuthJs } from './previous-systems/auth-js.js';
export { type BetterAuthOptions, fromBetterAuth } from './previous-systems/better-auth.js';
export type { SourceRow } from './previous-systems/previous-tables.js';
export { fromTable, type TableColumns, type TableOptions } from './previous-systems/table.js';
export type { ImportSource, ProviderNames, SourceLink, SourceUser } from './previous-systems/values.js';
