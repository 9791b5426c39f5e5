/** The entry point `latchkey/bridges`, to take over sessions of previous systems while an app moves to latchkey. */

export type {
  BearerScheme,
  CookieValues,
  ImportedRow,
  KeepOld,
  OldSession,
  OldToken,
  OldUser,
  OldUserId,
  SessionBridge,
  TokenBridge,
} from './config/bridge.js';
export { type AuthJsSessionsOptions, authJsSessions } from './previous-systems/auth-js.js';
export { type BetterAuthSessionsOptions, betterAuthSessions } from './previous-systems/better-auth.js';
export type { BridgeOptions, FoundUser } from './previous-systems/bridge-options.js';
export {
  type ExpressSessionData,
  type ExpressSessionOptions,
  type ExpressSessionStore,
  expressSession,
} from './previous-systems/express-session.js';
export {
  type JwtAlgorithm,
  type JwtClaims,
  type JwtKeys,
  type JwtSessionsOptions,
  jwtSessions,
} from './previous-systems/jwt.js';
export type { SourceRow as OldRow } from './previous-systems/previous-tables.js';
