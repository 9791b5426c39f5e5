export type {
  CreateUserInput,
  DeleteUserOptions,
  SetEmailOptions,
  SetUserPasswordOptions,
  UsersApi,
} from './accounts/api.js';
export type { UserInput } from './accounts/change.js';
export type { ImportApi } from './accounts/import-users.js';
export type { UndoInput } from './accounts/undo-api.js';
export { type AnyAuth, type Auth, type AuthWith, createAuth } from './auth.js';
export type {
  AccountDeletionOptions,
  AuthConfig,
  CookieOptions,
  EmailOptions,
  OutboxOptions,
  RateLimitOptions,
  SessionOptions,
} from './config/config.js';
export { AuthError, type AuthErrorCode, type FieldError } from './errors.js';
export type { AuthOrConfig } from './guards/guards.js';
export { optionalSession } from './guards/optional-session.js';
export type { GuardOptions } from './guards/options.js';
export { currentSession, currentUser, type Register, type RequestAuthentication } from './guards/request.js';
export { type RequireAdminOptions, requireAdmin } from './guards/require-admin.js';
export { type RequireSessionOptions, requireSession } from './guards/require-session.js';
export type { OpenApiDocument } from './http/openapi.js';
export type { WindowRule } from './limits/limiter.js';
export type { RedisClient } from './limits/redis-store.js';
export type { Logger } from './logger.js';
export type { MailDetails, MailKind, MailMessage } from './mail/message.js';
export type { NoticeKind } from './mail/notice-kinds.js';
export type { MigrateOptions } from './migrations/migrate.js';
export type { ListOutboxOptions, OutboxApi, OutboxEntry, OutboxState } from './outbox/api.js';
export type { AuthEventListener, AuthEventName, AuthEvents } from './outbox/events.js';
export type { Delivered } from './outbox/outbox.js';
export type { WebhookOptions } from './outbox/webhook-options.js';
export type { Plugin, PluginApis, PluginModels } from './plugin.js';
export type { AdminApi } from './plugins/admin/api.js';
export { type AdminOptions, admin } from './plugins/admin/index.js';
export type {
  AdminCallOptions,
  CreateUserByAdminInput,
  UpdateUserByAdminInput,
} from './plugins/admin/inputs.js';
export type { ListUsersOptions, UserPage } from './plugins/admin/user-list.js';
export type { ApiKeysApi, CreateApiKeyInput } from './plugins/api-keys/api.js';
export type { ApiKeyAuthentication } from './plugins/api-keys/carrier.js';
export type { ApiKey } from './plugins/api-keys/declarations.js';
export { type ApiKeysOptions, apiKeys } from './plugins/api-keys/index.js';
export type { AuditLogApi, ListEventsOptions } from './plugins/audit-log/api.js';
export { type AuditLogOptions, auditLog } from './plugins/audit-log/index.js';
export type { AuditEvent } from './plugins/audit-log/model.js';
export type { CredentialApi } from './plugins/credential-password/api.js';
export type {
  ImportedUser,
  ImportProblem,
  ImportResult,
  SkippedUser,
} from './plugins/credential-password/import-users.js';
export { credentialPassword } from './plugins/credential-password/index.js';
export type {
  ChangePasswordInput,
  ReauthenticateInput,
  ResetPasswordInput,
  SetPasswordInput,
  SignInInput,
  SignUpInput,
  VerifyEmailInput,
} from './plugins/credential-password/inputs.js';
export type {
  CredentialPasswordOptions,
  PasswordRuleOptions,
} from './plugins/credential-password/options.js';
export type { SignUpAnswer, SignUpInputOf } from './plugins/credential-password/sign-up-types.js';
export type { OAuthApi } from './plugins/oauth/api.js';
export type { AuthorizationRequest } from './plugins/oauth/begin-flow.js';
export type { CallbackResult } from './plugins/oauth/complete-flow.js';
export type { Account } from './plugins/oauth/declarations.js';
export type { ImportedLink } from './plugins/oauth/imported-links.js';
export { type OAuthOptions, oauth } from './plugins/oauth/index.js';
export type {
  AuthorizeInput,
  CallbackInput,
  FlowInput,
  TokensOptions,
  UnlinkOptions,
} from './plugins/oauth/inputs.js';
export type { ProviderTokens } from './plugins/oauth/tokens.js';
export type { PasskeysApi } from './plugins/passkeys/api.js';
export type { Passkey } from './plugins/passkeys/declarations.js';
export { passkeys } from './plugins/passkeys/index.js';
export type {
  PasskeySession,
  PasskeySignInInput,
  PasskeySignInRequest,
  ReauthenticateWithPasskeyInput,
  RegisterPasskeyInput,
  RemovePasskeyOptions,
} from './plugins/passkeys/inputs.js';
export type { PasskeysOptions } from './plugins/passkeys/options.js';
export type {
  NewPasskeyResponse,
  PasskeyCreationOptionsJSON,
  PasskeyDescriptor,
  PasskeyRequestOptionsJSON,
  PasskeyResponse,
} from './plugins/passkeys/webauthn.js';
export type {
  ReinstateOptions,
  SuspendedUser,
  SuspendOptions,
  SuspensionApi,
} from './plugins/suspension/api.js';
export type { SuspensionOfUser } from './plugins/suspension/columns.js';
export type { ImportedSuspension } from './plugins/suspension/imported-suspensions.js';
export { suspension } from './plugins/suspension/index.js';
export type { TwoFactorApi } from './plugins/two-factor/api.js';
export type { SecondFactorOfUser } from './plugins/two-factor/columns.js';
export { type TwoFactorOptions, twoFactor } from './plugins/two-factor/index.js';
export type {
  ChangeTwoFactorInput,
  CompleteSignInInput,
  ConfirmTotpInput,
  DisableTwoFactorOptions,
  EnrollTotpInput,
  PendingInput,
  TotpEnrolment,
  TwoFactorStatus,
} from './plugins/two-factor/inputs.js';
export { authRouter } from './router.js';
export type { ClientInput, TransactionOption } from './sessions/client-input.js';
export type { Authentication, RequestLike, SessionAuthentication, Via } from './sessions/request.js';
export type { IssuedSession, PendingSignIn, SignedIn } from './sessions/signed-in.js';
export type { CoreModels } from './tables/core.js';
export type { Session } from './tables/session.js';
export type { User } from './tables/user.js';
export type { DryRunOption } from './upkeep.js';
export { canonicalEmail } from './users/canonical.js';
export type { ChangedFields, FieldsOf, NewFields } from './users/field-types.js';
export type {
  ImportedAccount,
  ImportProgress,
  ImportReport,
  ImportRow,
  ImportUsersOptions,
  LegacyVerifier,
  LegacyVerifiers,
  SkippedRow,
} from './users/imported.js';
export type { UserForAdmins } from './users/user-record.js';
