/** The entry point `latchkey/bridges`: sessions of older systems, which are taken over while an app moves to latchkey. */
export { type AuthJsSessionsOptions, authJsSessions } from './bridges/auth-js.js';
export { type BetterAuthSessionsOptions, betterAuthSessions } from './bridges/better-auth.js';
export {
  type ExpressSessionData,
  type ExpressSessionOptions,
  type ExpressSessionStore,
  expressSession,
} from './bridges/express-session.js';
export type { OldRow } from './bridges/old-tables.js';
export type { BridgeOptions, FoundUser } from './bridges/options.js';
export type {
  CookieValues,
  ImportedRow,
  OldSession,
  OldUser,
  OldUserId,
  SessionBridge,
} from './config/bridge.js';
