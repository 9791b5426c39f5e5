import type { Transaction } from 'sequelize';
import type { CallContext, PlainRequest } from '../context/call.js';
import type { User } from '../models/user.js';
import type { Contribution } from './contribution.js';
import type { IssuedSession, Sessions } from './sessions.js';

/** A user who has authenticated: with a password, at a provider, or with an emailed link. */
export interface Proof {
  readonly user: User;
  /** The user's epoch at that time. A revoke-all or password change since then invalidates the proof. */
  readonly authEpoch: number;
}

export interface SignInOptions {
  /** Keeps the session when the browser is closed. @default false */
  readonly remembered?: boolean;
  /** The sessions that the client already has. @default looked up by the tokens in its request */
  readonly replaced?: readonly { readonly userId: string; readonly sessionId: string }[];
}

/** A sign-in that has passed the plugins' checks. */
export interface CheckedSignIn {
  /** Creates the session. */
  begin(proof: Proof, transaction?: Transaction): Promise<IssuedSession>;
  /** Emits the event and ends the client's other sessions. Call it after the transaction, if there is one. */
  complete(issued: IssuedSession): Promise<void>;
}

/**
 * The only place where sessions are created, however the user authenticated. Plugins' checks run here and nowhere else,
 * so that no way of signing in can skip them.
 */
export class SignIn {
  constructor(
    private readonly sessions: Sessions,
    private readonly context: CallContext,
    private readonly contributions: () => readonly Contribution[],
    private readonly sessionTokens: (request: PlainRequest) => readonly string[],
  ) {}

  /**
   * Runs the checks, for a session that is then created in the same transaction as another change. They run before that
   * transaction, because they may write to the database themselves.
   *
   * @throws AuthError if a check rejects the user, such as `email_not_verified` (403)
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
