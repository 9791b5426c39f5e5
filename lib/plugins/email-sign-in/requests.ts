import { randomBytes } from 'node:crypto';
import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { newSalt } from '../../crypto/emailed-codes.js';
import { digestToken } from '../../crypto/token.js';
import { AuthError } from '../../errors.js';
import type { Mails } from '../../mail/mails.js';
import type { SignInCodeTemplate } from '../../mail/messages.js';
import { sessionOf } from '../../sessions/carriers.js';
import type { EmailedSignInRow } from '../../tables/emailed-sign-ins.js';
import { canonicalEmail } from '../../users/canonical.js';
import { type EmailedSignIns, hashesOf, reauthenticationOf } from '../../waiting/emailed-sign-ins.js';
import { noAccountMail, reauthenticationMail, signInCodeMail } from './declarations.js';
import type { RequestedEmailSignIn } from './inputs.js';
import type { EmailSignInSettings } from './options.js';
import { hasOnlyEmail, readsPasskey } from './proof.js';

/** The remaining lifetime that a code must have to be emailed again. */
const AGAIN_MS = 2 * 60 * 1000;

/** Emails codes and links. The account is looked up when the email is sent, so that no response reveals whether it exists. */
export class Requests {
  constructor(
    private readonly core: Core,
    private readonly mails: Mails,
    private readonly rows: EmailedSignIns,
    private readonly settings: EmailSignInSettings,
  ) {}

  /**
   * Emails the code for a sign-in. If the browser has already asked for this address, it emails the same code again.
   *
   * @throws AuthError `rate_limited`
   */
  async signIn(typed: string, remembered: boolean): Promise<RequestedEmailSignIn> {
    const { core, rows } = this;
    const { database, pendings } = core;
    await core.limiter.countAddress('mailAddress');
    await database.ready();
    const email = canonicalEmail(typed);
    const presented = pendings.presentedToken;
    if (email === null) {
      if (presented !== null) await rows.end({ browserHash: digestToken(presented) });
      return { pendingToken: pendings.newToken(), expiresAt: database.clock.date(this.#lifetimeMs) };
    }
    const former = presented === null ? null : await rows.ofBrowser(digestToken(presented));
    const askedBy = await this.#askedBy();
    if (presented !== null && former?.askedBy === askedBy && this.#canRepeat(former, email)) {
      const link = rows.linkOf(former);
      if (link !== null) {
        await this.#signInAgain(former, link, remembered);
        return { pendingToken: presented, expiresAt: former.expiresAt };
      }
    }
    const pendingToken = pendings.newToken();
    const browserHash = digestToken(pendingToken);
    const salt = newSalt();
    const link = rows.newLink({ browserHash, salt, email });
    const row = this.#newRow({
      browserHash,
      linkHash: digestToken(link),
      salt,
      email,
      remembered,
      askedBy,
    });
    await database.transaction(async (transaction) => {
      const isReplaced = former !== null && (await rows.replace(former, row, transaction));
      if (!isReplaced) await rows.table.insert(row, transaction);
      await this.#mail(row, signInCodeMail, rows.codeFor(row), link, transaction);
    });
    return { pendingToken, expiresAt: row.expiresAt };
  }

  /**
   * Emails the code for the reauthentication of a session.
   *
   * @throws AuthError `email_code_not_offered` for an account that has another proof, `user_not_found`, `rate_limited`
   */
  async reauthentication(userId: string, sessionId: string): Promise<void> {
    const { core, rows } = this;
    const record = await core.users.require(userId);
    const { email } = record.user;
    if (email === null || !hasOnlyEmail(core, record, await readsPasskey(core, userId)))
      throw new AuthError('email_code_not_offered');
    await core.limiter.countAddress('mailAddress');
    const browserHash = reauthenticationOf(sessionId);
    const former = await rows.ofBrowser(browserHash);
    await core.database.transaction(async (transaction) => {
      if (former && this.#canRepeat(former, email)) {
        if (!(await rows.countResend(former, false, transaction))) return;
        return this.#mailReauthentication(former, transaction);
      }
      const row = this.#newRow({
        browserHash,
        linkHash: digestToken(randomBytes(32).toString('hex')),
        salt: null,
        email,
        remembered: false,
        askedBy: userId,
      });
      if (former) await rows.end(hashesOf(former), transaction);
      // Otherwise, a concurrent call has already emailed a code.
      if (await rows.table.insertUnlessThere(row, transaction))
        await this.#mailReauthentication(row, transaction);
    });
  }

  async #signInAgain(row: EmailedSignInRow, link: string, remembered: boolean): Promise<void> {
    await this.core.database.transaction(async (transaction) => {
      if (await this.rows.countResend(row, remembered, transaction))
        await this.#mail(row, signInCodeMail, this.rows.codeFor(row), link, transaction);
    });
  }

  #mailReauthentication(row: EmailedSignInRow, transaction: Transaction): Promise<void> {
    return this.#mail(row, reauthenticationMail, this.rows.reauthenticationCodeFor(row), null, transaction);
  }

  #canRepeat(row: EmailedSignInRow, asked: string): boolean {
    const leftMs = row.expiresAt.getTime() - this.core.database.clock.latest();
    return row.email === asked && leftMs >= AGAIN_MS && this.rows.hasTries(row);
  }

  #newRow(
    given: Pick<EmailedSignInRow, 'browserHash' | 'linkHash' | 'salt' | 'email' | 'remembered' | 'askedBy'>,
  ): EmailedSignInRow {
    const { clock } = this.core.database;
    const expiresAt = clock.date(this.#lifetimeMs);
    return { ...given, sentAt: null, expiresAt, authEpoch: null, mails: 0, tries: 0, resends: 0 };
  }

  async #askedBy(): Promise<string | null> {
    const { request } = this.core.context.client;
    return request ? ((await sessionOf(this.core.carriers, request))?.user.id ?? null) : null;
  }

  #mail(
    { email, browserHash, askedBy, expiresAt: until }: EmailedSignInRow,
    template: Omit<SignInCodeTemplate, 'page'>,
    code: string,
    link: string | null,
    transaction: Transaction,
  ): Promise<void> {
    const { settings, context, database } = this.core;
    const { ip, userAgent } = context.client;
    const facts = { at: database.clock.date(), client: { ip, userAgent }, subject: null, undo: null };
    const mail = {
      email,
      requestHash: browserHash.toString('hex'),
      template: { ...template, page: settings.email?.signInUrl ?? '' },
      code,
      token: this.settings.link ? link : null,
      until,
      facts,
      otherwise: {
        ...noAccountMail,
        // Without passwords, there is no sign-up page.
        page:
          settings.signUp === 'closed' || !this.core.passwords ? null : (settings.email?.signUpUrl ?? null),
      },
      asked: this.core.asked(false),
      askedBy,
    };
    return this.mails.signInCode(mail, transaction);
  }

  get #lifetimeMs(): number {
    return this.settings.lifetime * 1000;
  }
}
