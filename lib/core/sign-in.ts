import type { Transaction } from 'sequelize';
import type { CallContext, PlainRequest } from '../context/call.js';
import type { User } from '../models/user.js';
import type { Contribution } from './contribution.js';
import type { IssuedSession, Sessions } from './sessions.js';

/** Somebody who has proved who they are: by a password, at a provider, by a link that was mailed to them. */
export interface Proof {
  readonly user: User;
  /** The user's, as it was when the proof was checked: a revoke-all or password change since then defeats it. */
  readonly authEpoch: number;
}

export interface SignInOptions {
  /** A session that outlives the browser. @default false */
  readonly remembered?: boolean;
  /** The sessions that the client already has, where they are known. @default looked up by the tokens of its request */
  readonly replaced?: readonly { readonly userId: string; readonly sessionId: string }[];
}

/** A sign-in that has passed the checks. */
export interface CheckedSignIn {
  /** Begins the session. */
  begin(proof: Proof, transaction?: Transaction): Promise<IssuedSession>;
  /** Tells listeners, and ends the sessions that the client already has; after the transaction, if there is one. */
  complete(issued: IssuedSession): Promise<void>;
}

/**
 * The one gate through which sessions begin, whatever was proved and however. The checks that can refuse a proved user
 * are asked here and nowhere else, so that no way of signing in can forget them.
 */
export class SignIn {
  constructor(
    private readonly sessions: Sessions,
    private readonly context: CallContext,
    private readonly contributions: () => readonly Contribution[],
    private readonly sessionTokens: (request: PlainRequest) => readonly string[],
  ) {}

  /**
   * Asks the checks, for a session that is to begin in one transaction with something else. They come first, because they
   * may write by themselves.
   *
   * @throws AuthError by which a check refuses the user, such as `email_not_verified` (403)
   */
  async check(user: User, { remembered = false, replaced }: SignInOptions = {}): Promise<CheckedSignIn> {
    for (const contribution of this.contributions()) await contribution.checkSignIn?.(user);
    return {
      begin: (proof, transaction) =>
        this.sessions.begin(proof.user, proof.authEpoch, remembered, transaction),
      complete: async (issued) => {
        this.sessions.announceBegin(issued);
        await this.#end(replaced);
      },
    };
  }

  /** @throws like {@link check} */
  async begin(proof: Proof, options?: SignInOptions): Promise<IssuedSession> {
    const checked = await this.check(proof.user, options);
    const issued = await checked.begin(proof);
    await checked.complete(issued);
    return issued;
  }

  async #end(replaced: SignInOptions['replaced']): Promise<void> {
    if (replaced) {
      for (const { userId, sessionId } of replaced) await this.sessions.revoke(userId, sessionId);
      return;
    }
    const { request } = this.context.client;
    for (const token of request ? this.sessionTokens(request) : []) await this.sessions.revokeByToken(token);
  }
}
