import type {
  ChangingCode,
  ClosedCode,
  FreshCode,
  FreshOrPasswordCode,
  ReadingCode,
  SendingCode,
} from './codes.js';
import type { Session, User, WithPassword, WithRemoval, WithStep } from './resources.js';
import type { Call, CallOptions } from './result.js';
import type { AnyShape } from './shape.js';

/** A passkey of the user. */
export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  readonly device_type: 'singleDevice' | 'multiDevice';
  readonly backed_up: boolean;
  readonly transports: readonly string[];
}

/** A new passkey. The other members are present if it has become the second factor that a task required. */
export interface AddedPasskey<S extends AnyShape> {
  readonly passkey: Passkey;
  readonly recovery_codes?: readonly string[];
  readonly user?: User<S>;
  readonly session?: Session;
}

/** The response of an authenticator to a sign-in, as JSON (`AuthenticationResponseJSON`). */
export interface PasskeyResponse {
  id: string;
  rawId: string;
  type: string;
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    userHandle?: string | null;
  };
}

/** The response of an authenticator that has created a passkey, as JSON (`RegistrationResponseJSON`). */
export interface NewPasskeyResponse {
  id: string;
  rawId: string;
  type: string;
  response: { clientDataJSON: string; attestationObject: string; transports?: string[] };
}

/** A passkey in options. */
export interface PasskeyDescriptor {
  readonly id: string;
  readonly type: 'public-key';
  readonly transports: readonly string[];
}

/** Options for `navigator.credentials.get()`, as JSON. */
export interface RequestOptions {
  readonly rpId: string;
  readonly challenge: string;
  readonly timeout: number;
  readonly allowCredentials: readonly PasskeyDescriptor[];
  readonly userVerification: 'required';
}

/** Options for `navigator.credentials.create()`, as JSON. */
export interface CreationOptions {
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly challenge: string;
  readonly pubKeyCredParams: readonly { readonly type: 'public-key'; readonly alg: number }[];
  readonly timeout: number;
  readonly excludeCredentials: readonly PasskeyDescriptor[];
  readonly authenticatorSelection: {
    readonly residentKey: 'required';
    readonly requireResidentKey: true;
    readonly userVerification: 'required';
  };
  readonly attestation: 'none';
  readonly extensions: { readonly credProps: true };
}

/**
 * Why the browser did not use a passkey. `passkey_canceled`: the user closed the dialog, or has no passkey there;
 * `passkey_exists`: this device already has a passkey of the account; `passkey_unavailable`: the browser cannot use a
 * passkey here.
 */
export type CeremonyCode = 'passkey_canceled' | 'passkey_exists' | 'passkey_unavailable';

type SignInCodes =
  | SendingCode
  | ClosedCode
  | 'invalid_credentials'
  | 'invalid_passkey'
  | 'new_password_required'
  | 'unknown_passkey';

/** The routes of `passkeys()`, and ceremonies that call two routes and the browser in between. */
export interface PasskeysClient<S extends AnyShape> {
  /** Asks the browser for a new passkey, after a recent sign-in, and adds it to the account. */
  create(
    input?: { name?: string },
    options?: CallOptions,
  ): Call<
    AddedPasskey<S>,
    | FreshCode
    | CeremonyCode
    | 'email_not_verified'
    | 'invalid_passkey'
    | 'rate_limited'
    | 'task_required'
    | 'too_many_passkeys'
  >;
  /**
   * Asks the browser for a passkey and signs in with it. With `autofill`, the browser offers passkeys in the list of an
   * input whose `autocomplete` contains `webauthn`. The call then waits until the user has chosen one, until another
   * method here asks for a passkey (`passkey_canceled`), or until `signal` aborts it.
   */
  signIn(
    input?: { remember_me?: boolean; autofill?: boolean },
    options?: CallOptions,
  ): Call<WithStep<S>, SignInCodes | CeremonyCode | 'rate_limited'>;
  /** Asks the browser for a passkey and completes a sign-in whose `step` is `second_factor`. */
  completeSignIn(
    input?: { pending_token?: string },
    options?: CallOptions,
  ): Call<
    WithStep<S> & WithRemoval,
    | Exclude<SignInCodes, 'unknown_passkey'>
    | CeremonyCode
    | 'invalid_code'
    | 'rate_limited'
    | 'sign_in_expired'
  >;
  /** Asks the browser for a passkey and reauthenticates with it. */
  reauthenticate(
    input?: Record<never, never>,
    options?: CallOptions,
  ): Call<
    null,
    FreshOrPasswordCode | CeremonyCode | 'email_code_not_offered' | 'invalid_code' | 'invalid_passkey'
  >;
  /** Asks the browser for a passkey and undoes a change with it. */
  undoChange(
    input: { token: string },
    options?: CallOptions,
  ): Call<
    { readonly undone: string },
    | SendingCode
    | ClosedCode
    | CeremonyCode
    | 'invalid_code'
    | 'invalid_credentials'
    | 'invalid_passkey'
    | 'invalid_token'
    | 'new_password_required'
    | 'no_passkey'
    | 'proof_required'
    | 'rate_limited'
  >;
  /** Lists the passkeys, and informs the browser which ones the account accepts, so that it no longer offers others. */
  list(options?: CallOptions): Call<
    {
      readonly passkeys: readonly Passkey[];
      readonly signal: {
        readonly rp_id: string;
        readonly user_id: string;
        readonly accepted: readonly string[];
      };
    },
    ReadingCode
  >;
  /** Renames a passkey. */
  rename(
    id: string,
    input: { name: string },
    options?: CallOptions,
  ): Call<{ readonly passkey: Passkey }, ChangingCode | 'passkey_not_found' | 'task_required'>;
  /** Removes a passkey, unless it is the last sign-in method. */
  remove(
    id: string,
    input?: WithPassword,
    options?: CallOptions,
  ): Call<
    null,
    | FreshOrPasswordCode
    | 'last_sign_in_method'
    | 'passkey_not_found'
    | 'second_factor_demanded'
    | 'task_required'
  >;
  /** The individual routes, for apps that ask for passkeys with a library of their platform. */
  readonly routes: PasskeyRoutes<S>;
}

/** The routes that the ceremonies of {@link PasskeysClient} call. */
export interface PasskeyRoutes<S extends AnyShape> {
  /** Gets options for a new passkey. */
  creationOptions(
    options?: CallOptions,
  ): Call<
    { readonly options: CreationOptions },
    FreshCode | 'email_not_verified' | 'rate_limited' | 'task_required' | 'too_many_passkeys'
  >;
  /** Adds a passkey. */
  create(
    input: { response: NewPasskeyResponse; name?: string },
    options?: CallOptions,
  ): Call<
    AddedPasskey<S>,
    | FreshCode
    | 'email_not_verified'
    | 'invalid_passkey'
    | 'passkey_exists'
    | 'task_required'
    | 'too_many_passkeys'
  >;
  /** Gets options for a sign-in. */
  signInOptions(options?: CallOptions): Call<
    {
      readonly options: RequestOptions;
      /** Present with `bearerEnabled`. Clients without cookies pass it to `signIn`. */
      readonly pending_token?: string;
    },
    SendingCode | 'rate_limited'
  >;
  /** Signs in. */
  signIn(
    input: { response: PasskeyResponse; remember_me?: boolean; pending_token?: string },
    options?: CallOptions,
  ): Call<WithStep<S>, SignInCodes>;
  /** Gets options for the second step of a sign-in. */
  secondFactorOptions(
    input?: { pending_token?: string },
    options?: CallOptions,
  ): Call<
    { readonly options: RequestOptions; readonly pending_token?: string },
    SendingCode | 'rate_limited' | 'sign_in_expired'
  >;
  /** Gets options for reauthenticating. */
  reauthenticationOptions(
    options?: CallOptions,
  ): Call<{ readonly options: RequestOptions }, ChangingCode | 'rate_limited'>;
  /** Gets options for undoing a change. */
  undoOptions(
    input: { token: string },
    options?: CallOptions,
  ): Call<
    { readonly options: RequestOptions; readonly pending_token?: string },
    SendingCode | ClosedCode | 'invalid_token' | 'no_passkey' | 'proof_required' | 'rate_limited'
  >;
}

/** @internal */
export const PASSKEYS = {
  list: 'GET /passkeys',
  rename: 'PATCH /passkeys/:id input',
  remove: 'DELETE /passkeys/:id input session',
};

/** @internal */
export const PASSKEY_ROUTES = {
  creationOptions: 'POST /passkeys/options',
  create: 'POST /passkeys input session',
  signInOptions: 'POST /signin/passkey/options',
  signIn: 'POST /signin/passkey input signs session',
  secondFactorOptions: 'POST /signin/second-factor/options input',
  reauthenticationOptions: 'POST /reauthenticate/options',
  undoOptions: 'POST /undo-change/options input',
} satisfies Record<keyof PasskeyRoutes<AnyShape>, string>;
