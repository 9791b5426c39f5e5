export type {
  CreateUserInput,
  DeleteUserOptions,
  EnsuredUser,
  SetEmailOptions,
  SetUserPasswordOptions,
  UsersApi,
} from './accounts/api.js';
export type { UserInput } from './accounts/change.js';
export type { CompleteSignInInput, CompletionApi, PendingInput } from './accounts/completion.js';
export type { UserExport } from './accounts/export.js';
export type { ListUsersOptions, UserPage } from './accounts/list.js';
export type { UndoInput } from './accounts/undo.js';
export {
  type AnyAuth,
  type Auth,
  type AuthWith,
  createAuth,
  type GetSessionOptions,
  type RevokeAllOptions,
} from './auth.js';
export type { AccountDeletionOptions } from './config/account.js';
export type { AuthConfig, BearerOptions, BearerScheme } from './config/config.js';
export type { EmailBrandOptions, EmailOptions } from './config/email.js';
export type { HookTransaction } from './config/hooks.js';
export type {
  HumanCheckFacts,
  HumanCheckOptions,
  HumanCheckRoute,
  HumanVerifier,
} from './config/human-check.js';
export type { LocaleOptions } from './config/locale.js';
export type { OutboxOptions, WebhookOptions } from './config/outbox.js';
export type { RateLimitOptions } from './config/rate-limit.js';
export type { CookieOptions, CookiePlace, SessionOptions } from './config/session.js';
export type { TaskOptions, TasksOptions } from './config/tasks.js';
export type { FieldOptions, FieldsOptions } from './config/user.js';
export type { RequestMembership } from './core/contribution.js';
export type { ConnectionTransaction } from './database/connection-transaction.js';
export { AuthError, type AuthErrorCode, type FieldError, type ProblemDetails } from './errors.js';
export type { Factor } from './factors/declarations.js';
export type { AuthOrConfig, GuardOptions } from './guards/guards.js';
export {
  type OptionalSessionOptions,
  optionalSession,
  type RequireAdminOptions,
  type RequirePermissionOptions,
  type RequireSessionOptions,
  requireAdmin,
  requirePermission,
  requireSession,
  type SessionGuardOptions,
} from './guards/guards.js';
export { publicRoute } from './guards/marks.js';
export {
  currentSession,
  currentUser,
  type GuardedRequest,
  permits,
  type Register,
  type RequestAuthentication,
} from './guards/request.js';
export { type RequireMemberOptions, requireMember } from './guards/require-member.js';
export type { Health } from './health.js';
export type { FormValues, PageRequest } from './http/form-values.js';
export type { Middleware } from './http/middleware.js';
export type { OpenApiDocument } from './http/openapi.js';
export type { CreateSessionInput } from './http/own-sign-in.js';
export type { WindowRule } from './limits/limiter.js';
export type { RedisClient } from './limits/redis-store.js';
export type { OwnWord } from './locale/settings.js';
export type { Logger } from './logger.js';
export type { MailDetails, MailKind, MailMessage, SendContext } from './mail/messages.js';
export type { NoticeKind } from './mail/notice-kinds.js';
export type { MigrateOptions } from './migrations/migrate.js';
export type {
  ListOutboxOptions,
  OutboxApi,
  OutboxEntry,
  OutboxState,
  RetryOutboxOptions,
} from './outbox/api.js';
export type {
  AuthEventListener,
  AuthEventName,
  AuthEvents,
  ClientInfo,
  EventDetails,
  PasskeyRefusalReason,
} from './outbox/events.js';
export type { Delivered } from './outbox/outbox.js';
export type { Phrases } from './phrases.js';
export type { Plugin, PluginApis, PluginModels } from './plugin.js';
export type {
  AdminApi,
  AdminCallOptions,
  CreateUserByAdminInput,
  UpdateUserByAdminInput,
} from './plugins/admin/api.js';
export { type AdminOptions, admin } from './plugins/admin/index.js';
export type { ApiKeysApi, CreateApiKeyInput } from './plugins/api-keys/api.js';
export type { ApiKeyAuthentication } from './plugins/api-keys/carrier.js';
export type { ApiKey } from './plugins/api-keys/declarations.js';
export { type ApiKeysModels, type ApiKeysOptions, apiKeys } from './plugins/api-keys/index.js';
export type { AuditLogApi, ListEventsOptions } from './plugins/audit-log/api.js';
export type { AuditEvent } from './plugins/audit-log/declarations.js';
export { type AuditLogModels, type AuditLogOptions, auditLog } from './plugins/audit-log/index.js';
export type { CredentialApi } from './plugins/credential-password/api.js';
export { credentialPassword } from './plugins/credential-password/index.js';
export type {
  ChangePasswordInput,
  ReauthenticateInput,
  RemovePasswordInput,
  RequestedReset,
  RequestedSignUp,
  RequestedVerification,
  RequestPasswordResetInput,
  ResetPasswordInput,
  SendVerificationInput,
  SetPasswordInput,
  SignInInput,
  SignUpInput,
  VerifyEmailInput,
} from './plugins/credential-password/inputs.js';
export type {
  CredentialPasswordOptions,
  KnownPasswordOptions,
  PasswordRuleOptions,
  ResetAnswer,
  SignInAnswer,
  SignUpAnswer,
  SignUpInputOf,
  VerificationAnswer,
} from './plugins/credential-password/options.js';
export type { EmailSignInApi } from './plugins/email-sign-in/api.js';
export { type EmailSignInModels, emailSignIn } from './plugins/email-sign-in/index.js';
export type {
  ConfirmEmailSignInInput,
  EmailReauthenticationInput,
  RequestEmailSignInInput,
  RequestedEmailSignIn,
} from './plugins/email-sign-in/inputs.js';
export type { EmailSignInOptions } from './plugins/email-sign-in/options.js';
export type { OAuthApi } from './plugins/oauth/api.js';
export { authCallback } from './plugins/oauth/auth-callback.js';
export type { AuthorizationRequest } from './plugins/oauth/begin-flow.js';
export type { CallbackResult } from './plugins/oauth/complete-flow.js';
export type { Account } from './plugins/oauth/declarations.js';
export type { ImportedLink } from './plugins/oauth/imported-links.js';
export { type OAuthModels, type OAuthOptions, oauth } from './plugins/oauth/index.js';
export type {
  AuthorizeInput,
  CallbackInput,
  FlowInput,
  TokensOptions,
  UnlinkOptions,
} from './plugins/oauth/inputs.js';
export type { ProviderTokens } from './plugins/oauth/tokens.js';
export type {
  CreateOrganizationInput,
  InvitationPage,
  InviteInput,
  ListOrganizationsOptions,
  MemberPage,
  OrganizationPage,
  OrganizationsApi,
  UpdateOrganizationInput,
} from './plugins/organizations/api.js';
export type { OrganizationNames } from './plugins/organizations/changes.js';
export type {
  Invitation,
  Membership,
  MemberVia,
  Organization,
} from './plugins/organizations/declarations.js';
export { type OrganizationsModels, organizations } from './plugins/organizations/index.js';
export type { OrganizationsOptions } from './plugins/organizations/options.js';
export type { Member, OrganizationOfUser } from './plugins/organizations/rows.js';
export type {
  PasskeySession,
  PasskeySignInInput,
  PasskeySignInRequest,
  PasskeysApi,
  ReauthenticateWithPasskeyInput,
  RegisterPasskeyInput,
  RemovePasskeyOptions,
} from './plugins/passkeys/api.js';
export type { RegisteredPasskey } from './plugins/passkeys/enrolment.js';
export type { ImportedPasskey } from './plugins/passkeys/imported-passkeys.js';
export type { PasskeysModels, PasskeysOptions } from './plugins/passkeys/index.js';
export { passkeys } from './plugins/passkeys/index.js';
export type {
  NewPasskeyResponse,
  PasskeyCreationOptionsJSON,
  PasskeyDescriptor,
  PasskeyRequestOptionsJSON,
  PasskeyResponse,
} from './plugins/passkeys/webauthn.js';
export type { RolesApi, SetRolesOptions, UserWithRoles } from './plugins/roles/api.js';
export type { RolesOfUser } from './plugins/roles/declarations.js';
export { type RolesOptions, roles } from './plugins/roles/index.js';
export type {
  ImportedSuspension,
  ReinstateOptions,
  SuspendedUser,
  SuspendOptions,
  SuspensionApi,
} from './plugins/suspension/api.js';
export type { SuspensionOfUser } from './plugins/suspension/declarations.js';
export { suspension } from './plugins/suspension/index.js';
export type {
  ChangeTwoFactorInput,
  ConfirmTotpInput,
  DisableTwoFactorOptions,
  EnrollTotpInput,
  TotpEnrolment,
  TwoFactorApi,
  TwoFactorStatus,
  UsePasskeysInput,
} from './plugins/two-factor/api.js';
export {
  type TrustDevicesOptions,
  type TwoFactorModels,
  type TwoFactorOptions,
  twoFactor,
} from './plugins/two-factor/index.js';
export { authRouter } from './router.js';
export type { Acting, Actor } from './sessions/acting.js';
export type {
  Authentication,
  ClientInput,
  RequestLike,
  SessionAuthentication,
  TransactionOption,
  Via,
} from './sessions/request.js';
export type { EnrolledSecondFactor } from './sessions/second-factor.js';
export type { IssuedSession, PendingSignIn, SignedIn } from './sessions/signed-in.js';
export type { HasShape } from './shape.js';
export type { CoreModels, Session, SignInStep, User } from './tables/core.js';
export type { Passkey, SecondFactorOfUser } from './tables/factors.js';
export type { DryRunOption } from './upkeep.js';
export { canonicalEmail } from './users/canonical.js';
export type { ChangedFields, FieldsOf, NewFields } from './users/field-types.js';
export type { ImportRow, LegacyVerifier, LegacyVerifiers } from './users/imported.js';
export type { UserForAdmins } from './users/record.js';
export type { ErrorWords, Language } from './words/catalogue.js';
export type { EmailWords } from './words/emails/index.js';
export type { PageWords } from './words/pages/index.js';
