import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { digestToken } from '../../crypto/token.js';
import { uuidv7 } from '../../crypto/uuid.js';
import { retryAfterRace } from '../../database/faults.js';
import { AuthError } from '../../errors.js';
import { onlyOne } from '../../sessions/browser-tokens.js';
import { afterEmailProof, asVerified } from '../../sessions/completion.js';
import type { CheckedSignIn, UserToSignIn } from '../../sessions/sign-in.js';
import { isPending, type SignedIn } from '../../sessions/signed-in.js';
import type { User } from '../../tables/core.js';
import type { EmailedSignInRow } from '../../tables/emailed-sign-ins.js';
import { EmailProof } from '../../users/email-proof.js';
import type { FieldValues } from '../../users/fields.js';
import type { UserRecord } from '../../users/record.js';
import { type EmailedSignIns, type FoundSignIn, hashesOf, isLinkOf } from '../../waiting/emailed-sign-ins.js';
import type { ConfirmEmailSignInInput } from './inputs.js';
import type { EmailSignInSettings } from './options.js';
import { hasOnlyEmail, passkeySql, readsPasskey } from './proof.js';

const AMR = ['email'];

type Given = Pick<ConfirmEmailSignInInput, 'code' | 'token' | 'pendingToken' | 'fields'>;

/** Signs in with emailed codes and links. */
export class Confirmation {
  constructor(
    private readonly core: Core,
    private readonly rows: EmailedSignIns,
    private readonly settings: EmailSignInSettings,
  ) {}

  /**
   * Signs in to the account that has the address, or creates it.
   *
   * @throws AuthError `invalid_code`, `sign_in_expired`, `other_browser`, `rate_limited`; for a new account
   *   `validation_failed`, `sign_up_refused` and the errors of hooks; and the errors of account checks
   */
  async confirm({ code, token, pendingToken, fields = {} }: Given): Promise<SignedIn> {
    const found = await this.#find(pendingToken, token);
    // A click on the link in another browser does not count as an attempt.
    if (found === 'elsewhere') throw new AuthError('other_browser');
    await this.core.limiter.countAddress('signIn');
    if (!found) throw expired();
    if (token === undefined) await this.#check(found, code ?? '');
    // Check this for links only, because a code that was not emailed is never correct.
    else if (found.row.sentAt === null || !this.rows.hasTries(found.row)) throw expired();
    const isCounted = token === undefined;
    if (!found.record) await this.#checkSignUp(found.row, fields, isCounted);
    try {
      return await this.#signIn(found, fields);
    } catch (error) {
      if (error instanceof AuthError) await this.#afterRefusal(found.row, isCounted, error);
      throw error;
    }
  }

  /** Checks whether an account can be created with these fields, which the user can correct as often as they like. */
  async #checkSignUp(row: EmailedSignInRow, fields: FieldValues, isCounted: boolean): Promise<void> {
    const { signUp, users } = this.core;
    if (!this.settings.signUp) return;
    try {
      await signUp.requireOpen('email', row.email);
      users.fields.read(fields, 'user', 'create');
    } catch (error) {
      if (isCounted) await this.rows.giveBackTry(row);
      throw error;
    }
  }

  /** Ends a request whose code cannot sign in to any account, or takes back the count of a correct code. */
  async #afterRefusal(row: EmailedSignInRow, isCounted: boolean, error: AuthError): Promise<void> {
    // A transaction of the app might still lock the row, even if it has undone its own change of the row.
    if (this.core.database.isJoined) return;
    if (isExpired(error)) await this.rows.end(hashesOf(row));
    else if (isCounted) await this.rows.giveBackTry(row);
  }

  /** @returns `elsewhere` for a link that another browser has asked for; null if there is no request */
  async #find(
    pendingToken: string | undefined,
    token: string | undefined,
  ): Promise<FoundSignIn | 'elsewhere' | null> {
    const own = await this.#ofBrowser(pendingToken);
    if (own && (token === undefined || (this.settings.link && isLinkOf(token, own.row)))) return own;
    const isElsewhere = token !== undefined && this.settings.link && (await this.rows.isLink(token));
    return isElsewhere ? 'elsewhere' : null;
  }

  async #ofBrowser(pendingToken: string | undefined): Promise<FoundSignIn | null> {
    let tokens: readonly string[];
    try {
      tokens = this.core.pendings.tokens.tokensOf(pendingToken);
    } catch (error) {
      if (isExpired(error)) return null;
      throw error;
    }
    const passkey = passkeySql(this.core);
    return onlyOne(
      await Promise.all(tokens.map((token) => this.rows.findWithUser(digestToken(token), passkey))),
    );
  }

  /**
   * Counts a code, and compares it. The errors must not depend on the account, because someone without the code must
   * not learn about it.
   *
   * @throws AuthError `invalid_code`; `sign_in_expired` after too many codes
   */
  async #check({ row, record }: FoundSignIn, code: string): Promise<void> {
    if (!(await this.rows.countTry(row))) throw expired();
    if (this.rows.isCode(code, row)) return;
    this.core.events.emit('sign_in.failed', { userId: record?.user.id ?? null, method: 'email' });
    throw (await this.rows.endAfterTries(row)) ? expired() : new AuthError('invalid_code');
  }

  /** Signs in with a correct code or link. */
  async #signIn(found: FoundSignIn, fields: FieldValues): Promise<SignedIn> {
    let current: FoundSignIn | null = found;
    try {
      return await retryAfterRace(['email_taken'], async () => {
        // If this runs again, another browser has just created the account for this address.
        current ??= await this.rows.findWithUser(found.row.browserHash, passkeySql(this.core), true);
        if (!current) throw expired();
        const { row, record, hasPasskey } = current;
        current = null;
        return record ? this.#signInTo(row, record, hasPasskey) : this.#signUp(row, fields);
      });
    } catch (error) {
      const code = error instanceof AuthError ? error.code : null;
      // The address is held for another account, or the account has been deleted or was hidden by its model's scope.
      throw code === 'email_taken' || code === 'invalid_credentials' ? expired() : error;
    }
  }

  async #signInTo(row: EmailedSignInRow, record: UserRecord, hasPasskey: boolean): Promise<SignedIn> {
    const { core } = this;
    if (hasEnded(row, record)) throw expired();
    const isProven = record.emailProof.reaches('mailbox');
    const isOwn = !isProven && (await this.#isOwn(row, record.user));
    const checked = await core.checkSignIn(
      { ...asVerified(record, core.database.clock), amr: AMR },
      { remembered: row.remembered, proves: { email: row.email, isOwn } },
    );
    const isComplete = core.secondFactors.reached(record, { amr: AMR }) !== null;
    const signedIn = await core.database.transaction((transaction) =>
      isProven || !isComplete
        ? this.#begin(
            checked,
            row,
            { ...record, isFresh: isComplete && hasOnlyEmail(core, record, hasPasskey) },
            transaction,
          )
        : this.#prove(checked, row, record, isOwn, transaction),
    );
    await checked.complete(signedIn);
    return signedIn;
  }

  /** Creates the session of a user whose mailbox is proven, or a sign-in that waits for the second factor. */
  async #begin(
    checked: CheckedSignIn,
    row: EmailedSignInRow,
    proof: UserToSignIn,
    transaction: Transaction,
  ): Promise<SignedIn> {
    // Create the session first, because this locks the user's row, as other transactions do before their other locks.
    const signedIn = await checked.begin(proof, transaction);
    if (!(await this.rows.takeFor(row, proof.user.id, transaction))) throw expired();
    return signedIn;
  }

  /** Records the proof of the mailbox, and creates a session for the account that the proof has left. */
  async #prove(
    checked: CheckedSignIn,
    row: EmailedSignInRow,
    { user, authEpoch }: UserRecord,
    isOwn: boolean,
    transaction: Transaction,
  ): Promise<SignedIn> {
    const { core } = this;
    const locked = await core.users.lock(user.id, transaction);
    // The account has changed since it was checked.
    if (!locked || locked.authEpoch !== authEpoch || locked.user.email !== row.email) throw expired();
    if (!(await this.rows.take(hashesOf(row), transaction))) throw expired();
    const proven = await core.emailProofs.recordSignIn(locked, isOwn, transaction);
    const isFresh = hasOnlyEmail(core, proven.record, await readsPasskey(core, user.id, transaction));
    const signedIn = await checked.begin({ ...afterEmailProof(proven, authEpoch), isFresh }, transaction);
    if (isPending(signedIn)) throw expired();
    return proven.passwordRemoved ? { ...signedIn, passwordRemoved: true } : signedIn;
  }

  /**
   * Whether the browser belongs to the account: it was signed in when it asked and still is, or created the account.
   */
  async #isOwn({ askedBy }: EmailedSignInRow, { id }: User): Promise<boolean> {
    const { core } = this;
    const { context, devices, ownBrowser } = core;
    const { request } = context.client;
    if (askedBy === id && request && (await ownBrowser.userOf(request)) === id) return true;
    return devices.hasSignedUp(id);
  }

  /** Creates the account for an address that has none, and its first session. */
  async #signUp(row: EmailedSignInRow, given: FieldValues): Promise<SignedIn> {
    const { core } = this;
    const { users, signUp, database, limiter } = core;
    // The account was deleted after the code was emailed.
    if (!this.settings.signUp) throw expired();
    await limiter.countAddress('signUp');
    const person = {
      id: uuidv7(database.clock.now()),
      email: row.email,
      username: null,
      passwordHash: null,
      emailProof: EmailProof.answeredMail,
    };
    const account = users.newRow(person);
    const checked = await core.checkSignIn(
      { user: account, account, row: null, amr: AMR },
      { remembered: row.remembered, isSignUp: true, isYetToBeMade: true },
    );
    const signedIn = await database.transaction(async (transaction) => {
      const context = { via: 'email', from: 'user', fields: given } as const;
      // End the request first, so that the app's hooks run only once if the same code is sent several times.
      if (!(await this.rows.take(hashesOf(row), transaction))) throw expired();
      const created = await signUp.create(person, context, transaction);
      return checked.begin(created, transaction);
    });
    await checked.complete(signedIn);
    return signedIn;
  }
}

/** Whether the sessions of the account have ended since the code was emailed. */
function hasEnded({ authEpoch }: EmailedSignInRow, record: UserRecord): boolean {
  if (authEpoch !== null) return authEpoch !== record.authEpoch;
  // The account was created since then.
  const { sessionsEndedAt = null } = record.account as { readonly sessionsEndedAt?: Date | null };
  return sessionsEndedAt !== null;
}

function isExpired(error: unknown): boolean {
  return error instanceof AuthError && error.code === 'sign_in_expired';
}

function expired(): AuthError {
  return new AuthError('sign_in_expired');
}
