export { type Auth, createAuth } from './auth.js';
export type {
  ApiKeyAuthentication,
  Authentication,
  RequestLike,
  SessionAuthentication,
  Via,
} from './carriers/carrier.js';
export type {
  AuthConfig,
  CookieOptions,
  EmailOptions,
  RateLimitOptions,
  SessionOptions,
} from './config.js';
export { AuthError, type AuthErrorCode, type FieldError } from './errors.js';
export type { AuthEventListener, AuthEventName, AuthEvents } from './events.js';
export type { AuthOrConfig } from './guards/guard.js';
export { optionalSession } from './guards/optional-session.js';
export type { GuardOptions } from './guards/options.js';
export { requireAdmin } from './guards/require-admin.js';
export { type RequireSessionOptions, requireSession } from './guards/require-session.js';
export { currentSession, currentUser } from './http/request.js';
export type { WindowRule } from './limits/limiter.js';
export type { RedisClient } from './limits/redis-store.js';
export type { Logger } from './logger.js';
export type { MailKind, MailMessage } from './mail/message.js';
export type { MigrateOptions } from './migrations/migrate.js';
export type { ApiKey } from './models/api-key.js';
export type { Session } from './models/session.js';
export type { User } from './models/user.js';
export type { OpenApiDocument } from './openapi.js';
export type { Plugin, PluginApis } from './plugin.js';
export type { AdminApi } from './plugins/admin/api.js';
export { type AdminOptions, admin } from './plugins/admin/index.js';
export type { ApiKeysApi, CreateApiKeyInput } from './plugins/api-keys/api.js';
export { type ApiKeysOptions, apiKeys } from './plugins/api-keys/index.js';
export type { AuditEvent, AuditLogApi } from './plugins/audit-log/api.js';
export { type AuditLogOptions, auditLog } from './plugins/audit-log/index.js';
export type { CredentialApi } from './plugins/credential-password/api.js';
export type {
  ImportedUser,
  ImportProblem,
  ImportResult,
} from './plugins/credential-password/import-users.js';
export {
  type CredentialPasswordOptions,
  credentialPassword,
  type SignUpAnswer,
} from './plugins/credential-password/index.js';
export type {
  ChangePasswordInput,
  ClientInput,
  ReauthenticateInput,
  ResetPasswordInput,
  SetPasswordInput,
  SignInInput,
  SignUpInput,
  VerifyEmailInput,
} from './plugins/credential-password/inputs.js';
export type { Account } from './plugins/oauth/account.js';
export type { AuthorizeInput, Departure, OAuthApi } from './plugins/oauth/api.js';
export { type OAuthOptions, oauth } from './plugins/oauth/index.js';
export type { ProviderTokens } from './plugins/oauth/tokens.js';
export { authRouter } from './router.js';
export type { IssuedSession } from './sessions.js';
export type { ListUsersOptions, UserPage } from './users.js';
