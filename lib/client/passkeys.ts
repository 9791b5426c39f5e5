import type { CoreClient, PasskeyMethods, PasskeyRoutes } from './generated/methods.js';
import type { Call, CallOptions, CodeOf, DataOf, InputOf, Method } from './result.js';
import type { AnyShape } from './shape.js';

/**
 * Why the browser did not use a passkey. `passkey_canceled`: the user closed the dialog, or has no passkey there;
 * `passkey_exists`: this device already has a passkey of the account; `passkey_unavailable`: the browser cannot use a
 * passkey here.
 */
export type CeremonyCode = 'passkey_canceled' | 'passkey_exists' | 'passkey_unavailable';

/** The call of a ceremony: it gets options from one route, and sends the response of the browser to another. */
type Ceremony<GetOptions extends Method, SendResponse extends Method> = Call<
  DataOf<SendResponse>,
  CodeOf<GetOptions> | CodeOf<SendResponse> | CeremonyCode
>;

/** The routes of `passkeys()`, and ceremonies that call two routes and the browser in between. */
export interface PasskeysClient<S extends AnyShape> extends PasskeyMethods {
  /** Asks the browser for a new passkey, after a recent sign-in, and adds it to the account. */
  create(
    input?: Pick<InputOf<PasskeyRoutes<S>['create']>, 'name'>,
    options?: CallOptions,
  ): Ceremony<PasskeyRoutes<S>['creationOptions'], PasskeyRoutes<S>['create']>;
  /**
   * Asks the browser for a passkey and signs in with it. With `autofill`, the browser offers passkeys in the list of an
   * input whose `autocomplete` contains `webauthn`. The call then waits until the user has chosen one, until another
   * method here asks for a passkey (`passkey_canceled`), or until `signal` aborts it.
   */
  signIn(
    input?: Pick<InputOf<PasskeyRoutes<S>['signIn']>, 'remember_me'> & { autofill?: boolean },
    options?: CallOptions,
  ): Ceremony<PasskeyRoutes<S>['signInOptions'], PasskeyRoutes<S>['signIn']>;
  /** Asks the browser for a passkey and completes a sign-in whose `step` is `second_factor`. */
  completeSignIn(
    input?: InputOf<PasskeyRoutes<S>['secondFactorOptions']> &
      Pick<InputOf<CoreClient<S>['completeSignIn']>, 'trust_device'>,
    options?: CallOptions,
  ): Ceremony<PasskeyRoutes<S>['secondFactorOptions'], CoreClient<S>['completeSignIn']>;
  /** Asks the browser for a passkey and reauthenticates with it. */
  reauthenticate(
    input?: Record<never, never>,
    options?: CallOptions,
  ): Ceremony<PasskeyRoutes<S>['reauthenticationOptions'], CoreClient<S>['reauthenticate']>;
  /** Asks the browser for a passkey and undoes a change with it. */
  undoChange(
    input: InputOf<PasskeyRoutes<S>['undoOptions']>,
    options?: CallOptions,
  ): Ceremony<PasskeyRoutes<S>['undoOptions'], CoreClient<S>['undoChange']>;
  /** Lists the passkeys, and informs the browser which ones the account accepts, so that it no longer offers others. */
  list: PasskeyMethods['list'];
  /** The individual routes, for apps that ask for passkeys with a library of their platform. */
  readonly routes: PasskeyRoutes<S>;
}
