export type { AdminClient, UserForAdmins, UserInput } from './client/admin.js';
export type { ApiKeysClient } from './client/api-keys.js';
export type { AuditEvent, AuditLogClient } from './client/audit-log.js';
export { type Client, type ClientOptions, createClient } from './client/client.js';
export type {
  ChangingCode,
  ClosedCode,
  FreshCode,
  FreshOrPasswordCode,
  ReadingCode,
  SendingCode,
} from './client/codes.js';
export type {
  AccountChange,
  AccountExport,
  CoreClient,
  Device,
  Me,
  Reauthentication,
  SecondFactor,
  SignInMethods,
  UndoableChange,
  UndoProof,
} from './client/core.js';
export type { CredentialClient, SignedUp, SignUpInput } from './client/credential.js';
export type { EmailSignInClient } from './client/email-sign-in.js';
export type { FlowInput, LinkedAccount, OAuthClient, ProviderTokens } from './client/oauth.js';
export type {
  AddedPasskey,
  CeremonyCode,
  CreationOptions,
  NewPasskeyResponse,
  Passkey,
  PasskeyDescriptor,
  PasskeyResponse,
  PasskeyRoutes,
  PasskeysClient,
  RequestOptions,
} from './client/passkeys.js';
export type {
  Account,
  ApiKey,
  Finished,
  HeldByTask,
  ListedSession,
  Page,
  Session,
  SignedIn,
  User,
  Waiting,
  WithDevice,
  WithPassword,
  WithRemoval,
  WithSession,
  WithStep,
} from './client/resources.js';
export {
  type Call,
  type CallOptions,
  type ClientError,
  ClientFailure,
  type FieldError,
  orThrow,
  type Result,
} from './client/result.js';
export type {
  Loading,
  SessionState,
  SessionStore,
  SignedInState,
  SignedOut,
} from './client/session-store.js';
export type { AnyShape, ClientPlugin } from './client/shape.js';
export type { SuspensionClient } from './client/suspension.js';
export type { BearerStore } from './client/transport.js';
export type { TotpEnrolment, TwoFactorClient, TwoFactorStatus } from './client/two-factor.js';
