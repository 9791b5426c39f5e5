import type { Core } from '../../core/core.js';
import { endingWithObject } from '../../known-keys.js';
import type { IssuedSession, SignedIn, withSecondFactors } from '../../sessions/signed-in.js';
import type { Confirmation } from './confirmation.js';
import type {
  ConfirmEmailSignInInput,
  EmailReauthenticationInput,
  RequestEmailSignInInput,
  RequestedEmailSignIn,
} from './inputs.js';
import type { Requests } from './requests.js';
import './declarations.js';

/** `auth.emailSignIn`: sign-ins with emailed codes and links. */
export class EmailSignInApi<Outcome extends SignedIn = IssuedSession> {
  declare readonly [withSecondFactors]?: EmailSignInApi<SignedIn>;
  readonly #core: Core;
  readonly #requests: Requests;
  readonly #confirmation: Confirmation;

  /** @internal */
  constructor(core: Core, requests: Requests, confirmation: Confirmation) {
    this.#core = core;
    this.#requests = requests;
    this.#confirmation = confirmation;
    endingWithObject('auth.emailSignIn', this);
  }

  /**
   * Emails a code, without revealing whether the address has an account. With `request`, a browser that asks for the same
   * address again gets the same code, at most three times.
   *
   * @throws AuthError `rate_limited` (429)
   */
  async request(input: RequestEmailSignInInput): Promise<RequestedEmailSignIn> {
    const { email, rememberMe = false } = input;
    return this.#core.callByAnyone('auth.emailSignIn.request', input, ['email', 'rememberMe'], () =>
      this.#requests.signIn(String(email), rememberMe === true),
    );
  }

  /**
   * Signs in with the emailed code, or with the token of the link.
   *
   * @throws AuthError `invalid_code`, `sign_in_expired` (401); `other_browser` (403) for a link that another browser has
   *   asked for; `sign_up_refused` (403) and `validation_failed` (422) for a new account; `rate_limited` (429); and the
   *   errors of account checks, such as `account_suspended` (403)
   */
  async confirm(input: ConfirmEmailSignInInput): Promise<Outcome> {
    const { code, token } = input;
    const keys = ['code', 'token', 'pendingToken', 'fields'];
    return this.#core.callByAnyone('auth.emailSignIn.confirm', input, keys, async () => {
      if ((code === undefined) === (token === undefined))
        throw new TypeError('latchkey: auth.emailSignIn.confirm requires either a code or a token');
      const confirm = () => this.#confirmation.confirm(input);
      return (await this.#core.countSignIn('email', confirm)) as Outcome;
    });
  }

  /**
   * Emails a code that a session's user can reauthenticate with: see POST /reauthenticate.
   *
   * @throws AuthError `user_not_found` (404); `email_code_not_offered` (409) if the account has a password, a passkey or a
   *   second factor, or no email; `rate_limited` (429)
   */
  async requestReauthentication(input: EmailReauthenticationInput): Promise<void> {
    const { userId, sessionId } = input;
    const call = 'auth.emailSignIn.requestReauthentication';
    return this.#core.callFor(call, input, ['userId', 'sessionId'], () =>
      this.#requests.reauthentication(userId, sessionId),
    );
  }
}
