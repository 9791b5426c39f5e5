import type { Transaction } from 'sequelize';
import type { Core } from '../../core/core.js';
import { AuthError } from '../../errors.js';
import type { Mails } from '../../mail/mails.js';
import type { SignInCodeTexts } from '../../mail/templates.js';
import type { EmailedSignInRow } from '../../tables/emailed-sign-ins.js';
import { canonicalEmail } from '../../users/canonical.js';
import { type EmailedSignIns, reauthenticationOf } from '../../waiting/emailed-sign-ins.js';
import { noAccountMail, reauthenticationMail, signInCodeMail } from './declarations.js';
import type { RequestedEmailSignIn } from './inputs.js';
import type { EmailSignInSettings } from './options.js';
import { hasOnlyEmail, readsPasskey } from './proof.js';

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
    const email = canonicalEmail(typed);
    await core.limiter.countAddress('mailAddress');
    await core.context.client.checkpoint?.({ email });
    await core.database.ready();
    const { tokens } = core.pendings;
    if (email === null) return rows.askInBrowser(tokens, null, this.#lifetimeMs);
    const askedBy = await core.sessionUserId();
    const asked = {
      email,
      isSame: (former: EmailedSignInRow) => former.askedBy === askedBy && rows.linkOf(former) !== null,
      newRow: (browserHash: Buffer) => {
        const secrets = rows.newSecrets({ browserHash, email });
        return this.#newRow({ browserHash, ...secrets, email, remembered, askedBy });
      },
      mail: async (row: EmailedSignInRow, transaction?: Transaction) => {
        await rows.setRemembered(row, remembered, transaction);
        await this.#mail(row, signInCodeMail, transaction);
      },
    };
    return rows.askInBrowser(tokens, asked, this.#lifetimeMs);
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
    await rows.askInSession(browserHash, {
      email,
      newRow: () =>
        this.#newRow({
          browserHash,
          ...rows.newReauthenticationSecrets(),
          email,
          remembered: false,
          askedBy: userId,
        }),
      mail: (row, transaction) => this.#mail(row, reauthenticationMail, transaction),
    });
  }

  #newRow(
    given: Pick<EmailedSignInRow, 'browserHash' | 'linkHash' | 'salt' | 'email' | 'remembered' | 'askedBy'>,
  ): EmailedSignInRow {
    const { clock } = this.core.database;
    const expiresAt = clock.date(this.#lifetimeMs);
    return { ...given, sentAt: null, expiresAt, authEpoch: null, mails: 0, tries: 0, resends: 0 };
  }

  #mail(
    { email, browserHash, askedBy, expiresAt: until }: EmailedSignInRow,
    template: SignInCodeTexts,
    transaction?: Transaction,
  ): Promise<void> {
    const { settings, context, database } = this.core;
    const { ip, userAgent } = context.client;
    const facts = { at: database.clock.date(), client: { ip, userAgent }, subject: null, undo: null };
    const mail = {
      email,
      requestHash: browserHash.toString('hex'),
      template: { ...template, page: settings.email?.signInUrl ?? '' },
      hasLink: this.settings.link,
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
