export type { AccountExport } from './client/account-export.js';
export { type Client, type ClientOptions, createClient } from './client/client.js';
export type * from './client/generated/codes.js';
export type * from './client/generated/methods.js';
export type { ClientPlugin } from './client/generated/routes.js';
export type * from './client/generated/shapes.js';
export type { HumanClient, HumanToken } from './client/human.js';
export type { CeremonyCode, PasskeysClient } from './client/passkeys.js';
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
export type { AnyShape } from './client/shape.js';
export type { Finished, HeldByTask, SignedIn, Waiting, WithStep } from './client/steps.js';
export type { BearerStore } from './client/transport.js';
