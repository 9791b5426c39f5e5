import type { Transaction } from 'sequelize';
import { removeWayIn } from '../../accounts/change.js';
import { reauthenticate } from '../../accounts/reauthentication.js';
import { AuthError, invalidField } from '../../errors.js';
import { endingWithObject } from '../../known-keys.js';
import { say } from '../../phrases.js';
import type { ClientInput, TransactionOption } from '../../sessions/request.js';
import type { IssuedSession, SignedIn, withCodes } from '../../sessions/signed-in.js';
import type { Passkey } from '../../tables/factors.js';
import type { UserRecord } from '../../users/record.js';
import {
  type Assertions,
  assuranceOf,
  type PasskeyServices,
  reauthenticationIn,
  refusal,
} from './assertions.js';
import { bindingFor, bindingOf, browserCookie } from './challenges.js';
import { lastRemoved, passkeyNotices } from './declarations.js';
import type { Enrolment, RegisteredPasskey } from './enrolment.js';
import type {
  NewPasskeyResponse,
  PasskeyCreationOptionsJSON,
  PasskeyRequestOptionsJSON,
  PasskeyResponse,
} from './webauthn.js';
import './declarations.js';

/** A user who is adding a passkey, or is reauthenticating with one. */
export interface PasskeySession extends TransactionOption {
  /** The user's id. */
  userId: string;
  /** The id of the user's session, to which the options are bound. */
  sessionId: string;
}

/** The input of `auth.passkeys.register`. */
export interface RegisterPasskeyInput extends PasskeySession, ClientInput {
  /** The result of the new credential's `toJSON()` in the browser. */
  response: NewPasskeyResponse;
  /** A name for lists of passkeys: 1 to 100 visible characters. @default the name of the authenticator, or 'Passkey' */
  name?: string | undefined;
}

/** The input of `auth.passkeys.reauthenticate`. */
export interface ReauthenticateWithPasskeyInput extends PasskeySession, ClientInput {
  /** The result of the credential's `toJSON()` in the browser. */
  response: PasskeyResponse;
}

/** The input of `auth.passkeys.signIn`. */
export interface PasskeySignInInput extends ClientInput {
  /** The result of the credential's `toJSON()` in the browser. */
  response: PasskeyResponse;
  /** The `pendingToken` that came with the options. @default the one in the cookie of `request` */
  pendingToken?: string | undefined;
  /** Keeps the session when the browser is closed. @default false */
  rememberMe?: boolean | undefined;
}

/** The options for a sign-in, and the token that binds them to their browser. */
export interface PasskeySignInRequest {
  /** The options for `navigator.credentials.get()`. */
  readonly options: PasskeyRequestOptionsJSON;
  /** The token to pass to `auth.passkeys.signIn`, for clients without cookies. Do not reveal it to anyone else. */
  readonly pendingToken: string;
  /** The `Set-Cookie` header that replaces the token for browsers. */
  readonly setCookie: string;
}

/** Options of `auth.passkeys.remove`. */
export interface RemovePasskeyOptions extends TransactionOption {
  /**
   * The session that requests the removal. If it has ended in the meantime, or lacks the second factor that the account
   * requires, nothing is removed. Without a session, the change is final: no link undoes it.
   * @default none
   */
  sessionId?: string | undefined;
}

const MAX_NAME = 100;

const OF_SESSION = ['userId', 'sessionId'];

/** `auth.passkeys`: sign-ins with a passkey instead of a password. */
export class PasskeysApi<Outcome extends SignedIn = IssuedSession> {
  declare readonly [withCodes]?: PasskeysApi<SignedIn>;
  readonly #services: PasskeyServices;
  readonly #enrolment: Enrolment;
  readonly #assertions: Assertions;

  /** @internal */
  constructor(parts: PasskeyServices, enrolment: Enrolment, assertions: Assertions) {
    this.#services = parts;
    this.#enrolment = enrolment;
    this.#assertions = assertions;
    endingWithObject('auth.passkeys', this);
  }

  /**
   * Returns the options for a signed-in user's new passkey. They are valid once, for 5 minutes, and in this session
   * only.
   *
   * @throws AuthError `email_not_verified` (403) if emails can be verified and the user's is not; `user_not_found`
   *   (404); `too_many_passkeys` (409) if the user already has 100; `rate_limited` (429)
   */
  registrationOptions(input: PasskeySession): Promise<{ readonly options: PasskeyCreationOptionsJSON }> {
    const { core } = this.#services;
    const { userId, sessionId } = input;
    return core.call('auth.passkeys.registrationOptions', input, OF_SESSION, async () => {
      await core.limiter.countAccount('passkeyOptions', userId);
      return { options: await this.#enrolment.options(userId, sessionId) };
    });
  }

  /**
   * Adds a passkey that the browser has created with {@link registrationOptions}.
   *
   * @throws AuthError `invalid_passkey` (401) if the response cannot be verified; `invalid_session` (401) if the
   *   session has ended in the meantime; `email_not_verified` (403); `passkey_exists`, `too_many_passkeys` (409);
   *   `validation_failed` (422)
   */
  register(input: RegisterPasskeyInput): Promise<RegisteredPasskey> {
    const { userId, sessionId, response, name } = input;
    return this.#services.core.callFor(
      'auth.passkeys.register',
      input,
      [...OF_SESSION, 'response', 'name'],
      async () =>
        this.#enrolment.complete(userId, sessionId, name === undefined ? null : checkName(name), response),
    );
  }

  /** Lists a user's passkeys, newest first. */
  list(userId: string, options: TransactionOption = {}): Promise<Passkey[]> {
    return this.#services.core.call('auth.passkeys.list', options, [], () =>
      this.#services.store.list(userId),
    );
  }

  /** Renames a passkey. @throws AuthError `passkey_not_found` (404), `validation_failed` (422) */
  rename(userId: string, passkeyId: string, name: string, options: TransactionOption = {}): Promise<Passkey> {
    return this.#services.core.call('auth.passkeys.rename', options, [], async () => {
      const renamed = await this.#services.store.rename(userId, passkeyId, checkName(name));
      if (!renamed) throw new AuthError('passkey_not_found');
      return renamed;
    });
  }

  /**
   * Removes a passkey. The authenticator keeps its copy, which only its owner can delete.
   *
   * @throws AuthError `passkey_not_found`, `user_not_found` (404); `last_sign_in_method` (409) if the user has no other
   *   sign-in method; with `sessionId` also `invalid_session` (401), `second_factor_required`,
   *   `reauthentication_required` (403), and `second_factor_demanded` (409) if the user must have a second factor and has
   *   no other one
   */
  remove(userId: string, passkeyId: string, options: RemovePasskeyOptions = {}): Promise<void> {
    const { core } = this.#services;
    return core.call('auth.passkeys.remove', options, ['sessionId'], () =>
      removeWayIn(core, userId, options.sessionId ?? null, async (record, transaction) => {
        await this.#remove(record, passkeyId, options.sessionId ?? null, transaction);
        return record;
      }),
    );
  }

  /**
   * Returns the options for reauthenticating a session's user with one of their passkeys, such as with POST
   * /reauthenticate. They are valid once, for 5 minutes, and in this session only.
   *
   * @throws AuthError `user_not_found` (404), `rate_limited` (429)
   */
  reauthenticationOptions(input: PasskeySession): Promise<{ readonly options: PasskeyRequestOptionsJSON }> {
    const { core } = this.#services;
    const { userId, sessionId } = input;
    return core.call('auth.passkeys.reauthenticationOptions', input, OF_SESSION, async () => {
      await core.limiter.countAccount('passkeyOptions', userId);
      return { options: await this.#assertions.options(reauthenticationIn(sessionId), userId) };
    });
  }

  /**
   * Reauthenticates a session's user with a passkey, as requested with {@link reauthenticationOptions}. The session
   * then counts as fresh and as authenticated with two factors, and continues with a new token.
   *
   * @throws AuthError `invalid_passkey` (401) if the response cannot be verified; `invalid_session` (401),
   *   `user_not_found` (404)
   */
  reauthenticate(input: ReauthenticateWithPasskeyInput): Promise<IssuedSession> {
    const { core } = this.#services;
    const { userId, sessionId, response } = input;
    return core.callFor('auth.passkeys.reauthenticate', input, [...OF_SESSION, 'response'], async () => {
      const issued = await reauthenticate(core, { userId, sessionId, aal: 2 }, async () => {
        const ceremony = reauthenticationIn(sessionId);
        return assuranceOf((await this.#assertions.verify(response, ceremony, userId)).passkey);
      });
      if (!issued) throw new TypeError('a passkey counts as two factors');
      return issued;
    });
  }

  /**
   * Returns the options for a sign-in with a passkey. They are valid once, for 5 minutes, and in this browser only.
   * They do not require an email or username, because the browser offers the passkeys that it has for the app.
   *
   * @throws AuthError `rate_limited` (429)
   */
  signInOptions(input: ClientInput = {}): Promise<PasskeySignInRequest> {
    const { core } = this.#services;
    return core.callByAnyone('auth.passkeys.signInOptions', input, [], async () => {
      await core.limiter.countAddress('passkeyOptions');
      const pendingToken = bindingFor(core, core.context.client.request);
      const options = await this.#assertions.options({ purpose: 'sign-in', binding: pendingToken }, null);
      return { options, pendingToken, setCookie: browserCookie(core, pendingToken) };
    });
  }

  /**
   * Signs in the owner of a passkey, which counts as two factors. With `verifyEmailBy: 'code'`, the result can be a sign-in that
   * waits for a code: see `auth.completeSignIn`.
   *
   * @throws AuthError `unknown_passkey` (401) if no account has the passkey, and no link can restore it;
   *   `invalid_passkey` (401) if the response cannot be verified; and the errors of account checks
   */
  signIn(input: PasskeySignInInput): Promise<Outcome> {
    const { core } = this.#services;
    const work = async () => {
      const binding = bindingOf(core, core.context.client.request, input.pendingToken);
      if (binding === null) throw refusal(core, 'browser');
      const ceremony = { purpose: 'sign-in', binding } as const;
      const { passkey, record } = await this.#assertions.verify(input.response, ceremony, null);
      const proof = { ...record, ...assuranceOf(passkey) };
      return core.signIn(proof, { remembered: input.rememberMe === true });
    };
    return core.callByAnyone('auth.passkeys.signIn', input, ['response', 'rememberMe', 'pendingToken'], () =>
      core.countSignIn('passkey', work),
    ) as Promise<Outcome>;
  }

  async #remove(
    record: UserRecord,
    passkeyId: string,
    sessionId: string | null,
    transaction: Transaction,
  ): Promise<void> {
    const { core, store, setup } = this.#services;
    const userId = record.user.id;
    const passkeys = await store.rows(userId, transaction);
    const passkey = passkeys.find(({ id }) => id === passkeyId);
    if (!passkey) throw new AuthError('passkey_not_found');
    const isLast = passkeys.length === 1;
    const isLastFactor = isLast && core.secondFactors.countsPasskeys(record.account);
    const notice = isLastFactor ? lastRemoved : passkeyNotices['passkey-removed'];
    await core.notices.changed(sessionId, notice, record, transaction, { subject: passkey.name });
    await store.delete(passkey, transaction);
    if (isLast) await setup?.passkeysRemoved(record, sessionId !== null, transaction);
    core.events.emit('passkey.removed', { userId, passkeyId }, transaction);
  }
}

/** @throws AuthError `validation_failed` */
function checkName(name: unknown): string {
  const trimmed = typeof name === 'string' ? name.trim() : '';
  if (trimmed !== '' && trimmed.length <= MAX_NAME && !/\p{C}/u.test(trimmed) && trimmed.isWellFormed())
    return trimmed;
  throw invalidField('/name', 'invalid_name', say('invalid-name', { maximum: MAX_NAME }));
}
