import type { Transaction } from 'sequelize';
import type { Settings } from '../config/config.js';
import type { CallContext, Client } from '../context/call.js';
import { createToken } from '../crypto/token.js';
import type { Database } from '../database/database.js';
import type { Mails } from '../mail/mails.js';
import { deviceNameOf, type UndoLink } from '../mail/messages.js';
import { declaredNotices, type NoticeTemplate } from '../mail/notice-kinds.js';
import type { User } from '../tables/core.js';
import type { UserRecord } from '../users/record.js';
import { type AccountHistory, type ChangeClient, UNDO_MS } from './changes.js';

/** The prefix of the tokens that undo changes. */
export const UNDO_PREFIX = 'lku_';

/** The details of a notice in addition to its text. */
export interface NoticeDetails {
  /** The thing that was changed, such as a provider or the name of a passkey. @default none */
  readonly subject?: string;
  /** What the email calls the subject, such as the name of a provider instead of its id. @default the subject */
  readonly subjectName?: string;
  /**
   * The email that the change removes from the account. The notice is sent to it.
   * @default null: the account keeps its email
   */
  readonly takenEmail?: string | null;
  /** The address of another person, who gets the notice in place of the user. @default none */
  readonly toOther?: string;
  /**
   * Whether an administrator or code makes the change. The notice does not reveal their device and IP address.
   * @default false
   */
  readonly byApp?: boolean;
  /** How long the change can be undone. @default seven days */
  readonly lifetimeMs?: number;
}

type SubjectDetails = Pick<NoticeDetails, 'takenEmail' | 'subject' | 'subjectName'>;

/** Finds the browsers that prove who undoes a change. */
export interface ProvingBrowsers {
  /** @param at the time of the change */
  proving(
    userId: string,
    at: Date,
    transaction?: Transaction,
  ): Promise<readonly { readonly name: string | null }[]>;
}

/** A notice that is written to the outbox later. */
export interface Notice {
  readonly template: NoticeTemplate;
  readonly user: User;
  readonly to: string;
  /** Whether the address is another person's. @default false */
  readonly isOfOther?: boolean;
  /** Null if there is nothing to undo. */
  readonly undo: UndoLink | null;
  readonly subject: string | null;
  /** @default the subject */
  readonly subjectName?: string;
  readonly at: Date;
  /** Null if the app or an administrator made the change. */
  readonly client: Pick<Client, 'ip' | 'userAgent'> | null;
}

/** What {@link Notices} need. */
interface NoticesNeeds {
  readonly database: Database;
  readonly context: CallContext;
  readonly settings: Settings;
  /** Null if `email` is not configured: then nothing is recorded. */
  readonly mails: Mails | null;
  readonly history: AccountHistory;
  readonly deviceRows: ProvingBrowsers;
}

/**
 * Sends users notices about changes of their accounts, to the address that the account had before the change. In the
 * transaction of a change, it records the state that an undo restores, and writes the notice to the outbox, which sends
 * it after the commit.
 */
export class Notices {
  /** The kinds that are enabled. */
  readonly #kinds: ReadonlySet<string>;
  /** The page of the undo links. */
  readonly #undoUrl: string;

  constructor(private readonly core: NoticesNeeds) {
    const { notices = [], undoUrl = '' } = core.settings.email ?? {};
    this.#kinds = new Set(notices);
    this.#undoUrl = undoUrl;
  }

  /** Whether changes can be undone. */
  get isOn(): boolean {
    return this.#kinds.size > 0;
  }

  /**
   * Records a change that is about to be made, and sends the user a notice about it. The user's row is locked.
   *
   * @throws TypeError if the notice has not been declared
   */
  async before(
    template: NoticeTemplate,
    record: UserRecord,
    transaction: Transaction,
    details: NoticeDetails = {},
  ): Promise<void> {
    const { user } = record;
    const notice = this.#notice(template, user, details, await this.#browsersOf(user, transaction));
    // Record the change even if its notice is not sent, because undoing an earlier change undoes this one too.
    if (!this.isOn) return;
    const { takenEmail = null, lifetimeMs = UNDO_MS, byApp = false } = details;
    const client = byApp ? null : await this.#client();
    const token = notice?.undo?.token ?? null;
    const change = { kind: template.kind, token, email: takenEmail, lifetimeMs, client };
    await this.core.history.record(change, record, transaction);
    await this.tell(notice, transaction);
  }

  /**
   * Sends the user a notice about a change of a sign-in method that the app's code or an administrator makes. The
   * change is final: no link can undo this change or an earlier one, and no email is held. So an attacker who has an
   * undo link from before cannot revert the change that support has made. The user's row is locked.
   */
  async final(
    template: NoticeTemplate,
    { user }: UserRecord,
    transaction: Transaction,
    details: SubjectDetails = {},
  ): Promise<void> {
    // Earlier notices can have links even if no notices are sent now.
    await this.core.history.end(user.id, transaction);
    if (this.isOn) await this.core.history.note(user.id, template.kind, null, transaction);
    await this.plain({ ...template, help: 'byApp' }, user, transaction, { ...details, byApp: true });
  }

  /**
   * Like {@link before} for a change by a user, and like {@link final} for a change by code.
   *
   * @param sessionId the session of the user. Null for code
   */
  changed(
    sessionId: string | null,
    template: NoticeTemplate,
    record: UserRecord,
    transaction: Transaction,
    details: SubjectDetails = {},
  ): Promise<void> {
    if (sessionId === null) return this.final(template, record, transaction, details);
    return this.before(template, record, transaction, details);
  }

  /**
   * Records an undo, which cannot be undone itself.
   *
   * @param earlierPassword the hash of the password of the state that was restored
   */
  async undone(
    { kind }: NoticeTemplate,
    record: UserRecord,
    earlierPassword: string | null,
    transaction: Transaction,
  ): Promise<void> {
    await this.core.history.recordUndo(
      { kind, client: await this.#client() },
      record,
      earlierPassword,
      transaction,
    );
  }

  /** Like {@link before}, for an event that changes nothing by itself, but might be the start of an attack. */
  async event(template: NoticeTemplate, user: User, transaction: Transaction): Promise<void> {
    const notice = this.#notice(template, user, {}, await this.#browsersOf(user, transaction));
    if (notice?.undo) {
      const change = { kind: template.kind, token: notice.undo.token, client: await this.#client() };
      await this.core.history.recordEvent(user.id, change, transaction);
    }
    await this.tell(notice, transaction);
  }

  /**
   * Like {@link event}, for a caller that keeps the hash of the token itself, and calls {@link tell}.
   *
   * @param browsers the names of the browsers in which the link works
   */
  unrecorded(template: NoticeTemplate, user: User, browsers: UndoLink['browsers']): Notice | null {
    return this.#notice(template, user, {}, browsers);
  }

  /** Sends a user a notice about a change that cannot be undone. */
  async plain(
    template: NoticeTemplate,
    user: User,
    transaction?: Transaction,
    details: NoticeDetails = {},
  ): Promise<void> {
    const notice = this.#notice(template, user, details, []);
    await this.tell(notice && { ...notice, undo: null }, transaction);
  }

  /** Writes a notice to the outbox. */
  async tell(notice: Notice | null, transaction?: Transaction): Promise<void> {
    if (!notice) return;
    const { template, user, to, isOfOther, ...facts } = notice;
    await this.core.mails?.notice(
      { template, user, to, ...(isOfOther && { isOfOther }), facts },
      transaction,
    );
  }

  /** Returns the names of the browsers in which a change that is made now can be undone. */
  async #browsersOf({ id }: User, transaction: Transaction): Promise<readonly (string | null)[]> {
    if (!this.isOn) return [];
    const proving = await this.core.deviceRows.proving(id, this.core.database.clock.date(), transaction);
    return proving.map(({ name }) => name);
  }

  async #client(): Promise<ChangeClient> {
    const { ip = null, userAgent } = this.core.context.client;
    return { device: await deviceNameOf(userAgent), ip };
  }

  #notice(
    template: NoticeTemplate,
    user: User,
    { subject, subjectName, takenEmail, toOther, byApp = false, lifetimeMs = UNDO_MS }: NoticeDetails,
    browsers: UndoLink['browsers'],
  ): Notice | null {
    // Check this even if the notice is not sent, so that a missing declaration is found in any app.
    declaredNotices.require(template.kind);
    const to = toOther ?? takenEmail ?? user.email;
    if (to === null || !this.#kinds.has(template.kind)) return null;
    const { ip, userAgent } = this.core.context.client;
    const at = this.core.database.clock.date();
    const undo = {
      page: this.#undoUrl,
      token: createToken(UNDO_PREFIX),
      until: new Date(at.getTime() + lifetimeMs),
      browsers,
    };
    return {
      template,
      user,
      to,
      ...(toOther !== undefined && { isOfOther: true }),
      undo,
      subject: subject ?? null,
      ...(subjectName !== undefined && { subjectName }),
      at,
      client: byApp ? null : { ip, userAgent },
    };
  }
}
