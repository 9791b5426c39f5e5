/** The entry point `latchkey/moving-in`, for apps that move to latchkey from another system. */
export type { MovingInApi } from './moving-in/api.js';
export type {
  CookieValues,
  ImportedRow,
  KeepOld,
  OldSession,
  OldToken,
  OldUser,
  OldUserId,
  SessionBridge,
  TokenBridge,
} from './moving-in/bridge.js';
export type {
  ImportConflict,
  ImportedAccount,
  ImportProgress,
  ImportReport,
  ImportUpdateReport,
  ImportUsersOptions,
  SkippedRow,
} from './moving-in/import.js';
export type {
  ImportedOrganization,
  ImportMember,
  ImportOrganizationRow,
  ImportOrganizationsOptions,
  ImportOrganizationsReport,
} from './moving-in/import-organizations.js';
export { type MovingInOptions, movingIn } from './moving-in/index.js';
export {
  type AuthJsOptions,
  type AuthJsSessionsOptions,
  authJsSessions,
  fromAuthJs,
} from './moving-in/systems/auth-js.js';
export {
  type BetterAuthOptions,
  type BetterAuthOrganizationsOptions,
  type BetterAuthSessionsOptions,
  betterAuthSessions,
  fromBetterAuth,
  organizationsFromBetterAuth,
} from './moving-in/systems/better-auth.js';
export type { BridgeOptions, FoundUser } from './moving-in/systems/bridge-options.js';
export {
  type ExpressSessionData,
  type ExpressSessionOptions,
  type ExpressSessionStore,
  expressSession,
} from './moving-in/systems/express-session.js';
export {
  type JwtAlgorithm,
  type JwtClaims,
  type JwtKeys,
  type JwtSessionsOptions,
  jwtSessions,
} from './moving-in/systems/jwt.js';
export type { SourceRow } from './moving-in/systems/previous-tables.js';
export { fromTable, type TableColumns, type TableOptions } from './moving-in/systems/table.js';
export type { ImportSource, ProviderNames, SourceLink, SourceUser } from './moving-in/systems/values.js';
