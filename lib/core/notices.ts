import type { Transaction } from 'sequelize';
import type { CallContext, Client } from '../context/call.js';
import { createToken } from '../crypto/token.js';
import type { Clock } from '../database/clock.js';
import type { Limiter } from '../limits/limiter.js';
import type { Mailer } from '../mail/mailer.js';
import type { NoticeTemplate } from '../mail/message.js';
import type { NoticeKind } from '../mail/notice-kinds.js';
import type { User } from '../models/user.js';
import { type AccountChanges, UNDO_MS } from './account-changes.js';
import type { UserRecord } from './user-record.js';

/** The prefix of the tokens that undo changes. */
export const UNDO_PREFIX = 'lku_';

/** What to say in a notice beside its text. */
export interface NoticeDetails {
  /** What the change is about, such as a provider or the name of a passkey. @default none */
  readonly subject?: string;
  /** The email that the change takes from the account, which gets the notice. @default null: the account keeps its own */
  readonly takenEmail?: string | null;
  /** Whether an administrator or code makes the change, whose device and address are nobody else's business. @default false */
  readonly byApp?: boolean;
  /** How long the change can be undone. @default seven days */
  readonly lifetimeMs?: number;
}

/** A notice to be sent. */
export interface Notice {
  readonly template: NoticeTemplate;
  readonly user: User;
  readonly to: string;
  /** Undoes the change. Null if there is nothing to undo. */
  readonly token: string | null;
  readonly subject: string | null;
  readonly at: Date;
  /** Null for what the app or an administrator did. */
  readonly client: Client | null;
}

/**
 * Tells users what happens to their accounts, at the address that the account had before. A change is written down in its
 * own transaction, with what it takes to undo it; the notice is sent after it.
 */
export class Notices {
  readonly #kinds: ReadonlySet<string>;

  /**
   * @param mailer null if `email` is not configured: then nothing is written down
   * @param kinds those that are on
   */
  constructor(
    private readonly mailer: Mailer | null,
    kinds: readonly NoticeKind[],
    private readonly changes: AccountChanges,
    private readonly context: CallContext,
    private readonly clock: Clock,
    private readonly undoUrl: string,
    private readonly limiter: Pick<Limiter, 'allowsNotice'>,
  ) {
    this.#kinds = new Set(mailer ? kinds : []);
  }

  /** Whether changes can be undone. */
  get isOn(): boolean {
    return this.#kinds.size > 0;
  }

  /**
   * Writes down a change that is about to be made. The user's row is locked.
   *
   * @returns what to {@link send} after the transaction. Null if nobody is to be told
   */
  async before(
    template: NoticeTemplate,
    record: UserRecord,
    transaction: Transaction,
    details: NoticeDetails = {},
  ): Promise<Notice | null> {
    // Even if nobody is told of this change: undoing an earlier one undoes it too.
    if (!this.isOn) return null;
    const notice = this.#notice(template, record.user, details);
    const { takenEmail = null, lifetimeMs = UNDO_MS } = details;
    const change = { kind: template.kind, token: notice?.token ?? null, email: takenEmail, lifetimeMs };
    await this.changes.record(change, record, transaction);
    return notice;
  }

  /** Like {@link before}, for what changes nothing by itself, but may be the beginning of something. */
  async mark(template: NoticeTemplate, user: User, details: NoticeDetails = {}): Promise<Notice | null> {
    const notice = this.#notice(template, user, details);
    if (notice?.token) await this.changes.mark(user.id, template.kind, notice.token);
    return notice;
  }

  /** Like {@link mark}, for a caller that keeps the hash of the token itself. */
  unrecorded(template: NoticeTemplate, user: User): Notice | null {
    return this.#notice(template, user, {});
  }

  /** A notice that cannot be undone. */
  plain(template: NoticeTemplate, user: User, details: NoticeDetails = {}): Notice | null {
    const notice = this.#notice(template, user, details);
    return notice && { ...notice, token: null };
  }

  /** Sends a notice after the response, and after the transaction of the app. */
  send(notice: Notice | null): void {
    const { mailer } = this;
    if (!notice || !mailer) return;
    const { template, user, to, token, ...facts } = notice;
    const undo = token === null ? null : { page: this.undoUrl, token };
    mailer.later(async () => {
      if (user.emailVerifiedAt !== null || (await this.#mayTell(to)))
        await mailer.notify(template, user, to, { ...facts, undo });
    });
  }

  /** Nobody has shown that the address is the user's. It is told all the same, since many apps verify none. */
  async #mayTell(to: string): Promise<boolean> {
    try {
      return await this.limiter.allowsNotice(to);
    } catch {
      // Better a mail too many than an intruder whom nobody notices.
      return true;
    }
  }

  #notice(
    template: NoticeTemplate,
    user: User,
    { subject, takenEmail, byApp = false }: NoticeDetails,
  ): Notice | null {
    const to = takenEmail ?? user.email;
    if (to === null || !this.#kinds.has(template.kind)) return null;
    return {
      template,
      user,
      to,
      token: createToken(UNDO_PREFIX),
      subject: subject ?? null,
      at: this.clock.date(),
      client: byApp ? null : this.context.client,
    };
  }
}
