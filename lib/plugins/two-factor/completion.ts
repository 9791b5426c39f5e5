import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import { type IssuedSession, isPending } from '../../sessions/signed-in.js';
import type { CodeAttempts } from './code-attempts.js';
import type { FoundPending, PendingSignIns } from './pending-sign-ins.js';
import { type Proofs, type RightFactor, withSecond } from './proofs.js';
import { hashOf } from './recovery-codes.js';

/** A second factor as it was given. */
export interface GivenFactor {
  /** `totp`, `recovery_code`, or a way of another plugin, such as `passkey`. */
  readonly method: string;
  readonly code?: string | undefined;
  readonly response?: unknown;
}

/** Completes sign-ins with the second factor. */
export class Completion {
  constructor(
    private readonly core: Core,
    private readonly pendings: PendingSignIns,
    private readonly proofs: Proofs,
    private readonly attempts: CodeAttempts,
  ) {}

  /** @throws AuthError `sign_in_expired`, `invalid_code`, `rate_limited`, and what checks of the account throw */
  async complete(token: string, given: GivenFactor): Promise<IssuedSession> {
    const { method, code = '' } = given;
    const found = await this.pendings.find(token, method === 'recovery_code' ? hashOf(code) : null);
    const { issued, complete } = await this.attempts.attempt(found.record.user, async () =>
      this.#signIn(found, await this.#look(found, given)),
    );
    await complete();
    return issued;
  }

  #look(
    found: FoundPending,
    { method, code = '', response }: GivenFactor,
  ): Promise<RightFactor> | RightFactor {
    if (method === 'totp') return this.proofs.totp(found.totp, code);
    if (method === 'recovery_code')
      return this.proofs.recoveryCode(found.record.user, code, found.hasCode, found.totp?.wrongCodes ?? 0);
    const other = this.proofs.methods.find(({ name }) => name === method);
    if (!other) throw new AuthError('invalid_code');
    return this.proofs.other(other, found, response);
  }

  /** Uses up the second factor and the pending sign-in, and begins the session: all of it or nothing. */
  async #signIn(found: FoundPending, factor: RightFactor) {
    const { record, row } = found;
    const proof = {
      ...record,
      authEpoch: row.authEpoch,
      amr: withSecond(row.amr, factor.amr),
      aal: 2 as const,
      attempts: row.attempts,
    };
    const checked = await this.core.checkSignIn(proof, { remembered: row.remembered });
    const issued = await this.core.database.transaction(async (transaction) => {
      // First, since it locks the user's row as everything does that could wait for the others.
      const signedIn = await checked.begin(proof, transaction);
      if (isPending(signedIn)) throw new TypeError('a second factor needs no other');
      if (!(await this.pendings.use(found, transaction))) throw new AuthError('sign_in_expired');
      if (!(await factor.use(transaction))) throw new AuthError('invalid_code');
      return signedIn;
    });
    return { issued, complete: () => checked.complete(issued) };
  }
}
