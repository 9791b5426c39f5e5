import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import type { Mails } from '../../mail/mails.js';
import type { CodeRequestRow } from '../../tables/code-requests.js';
import { canonicalEmail } from '../../users/canonical.js';
import type { Passwords } from '../../users/passwords.js';
import type { TypedCodes } from '../../verification/typed-codes.js';
import type { CodeRequests } from '../../waiting/code-requests.js';
import type { Awaited } from '../../waiting/emailed-requests.js';
import { resetCodeMail } from './declarations.js';
import type { PasswordReset, ResetBy } from './password-reset.js';

/** A code and a new password. */
interface Given extends ResetBy {
  readonly code: string;
  readonly newPassword: string;
  /** @default the token in the cookie of the current request */
  readonly pendingToken: string | undefined;
}

interface ResetCodesGiven {
  readonly mails: Mails;
  readonly passwords: Passwords;
  readonly rows: CodeRequests;
  readonly codes: TypedCodes;
  readonly reset: PasswordReset;
}

/** Resets passwords with emailed codes, in the browser that has asked for the code: see `resetBy`. */
export class ResetCodes {
  constructor(
    private readonly core: Core,
    private readonly given: ResetCodesGiven,
  ) {}

  /** Whether the current request presents the cookie of a request for a code. */
  get isPresented(): boolean {
    return this.given.codes.tokens.reset.isPresented;
  }

  /**
   * Emails a code if the account exists. If the browser has already asked for this address, it emails the same code again. The
   * account is looked up when the email is sent, so neither the response nor its timing reveals whether it exists.
   *
   * @throws AuthError `rate_limited`; for a request to the route, the errors of its checkpoint
   */
  async request(typed: string): Promise<Awaited> {
    const { core } = this;
    const { rows, codes, mails } = this.given;
    const tokens = codes.tokens.reset;
    const email = canonicalEmail(typed);
    await core.limiter.countAddress('mailAddress');
    await core.context.client.checkpoint?.({ email });
    await core.database.ready();
    if (email === null) return rows.askInBrowser(tokens, null, rows.lifetimeMs);
    // The email with the code of a sign-in leads to this request, so count it separately: strangers must not use up its limit.
    const afterPassword = await core.pendings.waitingForCode();
    const by = { ...core.asked(false), userId: await core.sessionUserId(), afterPassword };
    const asked = {
      email,
      newRow: (browserHash: Buffer) => rows.newRow('reset', email, browserHash),
      mail: (row: CodeRequestRow, transaction?: Transaction) =>
        mails.requestedCode({ ...codes.mailOf(row, resetCodeMail), asked: by }, transaction),
    };
    return rows.askInBrowser(tokens, asked, rows.lifetimeMs);
  }

  /**
   * Resets the password of the account that has the address.
   *
   * @returns the value for the browser's device cookie. Null if the cookie does not change
   * @throws AuthError `validation_failed`, `invalid_code`, `code_expired`, `rate_limited`, and the errors of account checks
   */
  async choose({ code, newPassword, pendingToken, ...by }: Given): Promise<string | null> {
    const { codes, passwords, reset } = this.given;
    const found = await codes.inBrowser('reset', pendingToken);
    await this.core.limiter.countAddress('signIn');
    // A person who corrects the password must not use up the code.
    if (found) await passwords.rules.check(newPassword, '/new_password', [found.email]);
    return codes.withRight(found, code, (row, record) => {
      passwords.rules.checkIdentifiers(newPassword, '/new_password', [record.user.username]);
      return reset.choose(record, newPassword, by, (work, isOwn, before) =>
        codes.redeem(row, record, { work, isOwn, before }),
      );
    });
  }
}
