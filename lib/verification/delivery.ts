import type { Database } from '../database/database.js';
import { AuthError } from '../errors.js';
import type { Limiter } from '../limits/limiter.js';
import type { LinkMail, NewEmailMail, NoticeMail, OutgoingMail } from '../mail/mails.js';
import type { Mailer } from '../mail/messages.js';
import type { Destination, OpenEntry } from '../outbox/lane.js';
import { MAIL_LANE } from '../outbox/lane.js';
import type { Users } from '../users/users.js';
import type { OneTimeTokens } from './tokens.js';

const MAILS_AT_ONCE = 25;
const SEND_MS = 60_000;
/** A link that is sent later than this gets its lifetime from then on. */
const LATE_MS = 60_000;

/** Sends the emails of the outbox. */
export class MailDelivery implements Destination {
  readonly lane = MAIL_LANE;
  readonly what = 'an email';
  readonly atOnce = MAILS_AT_ONCE;
  readonly timeoutMs = SEND_MS;

  constructor(
    private readonly database: Pick<Database, 'clock'>,
    private readonly mailer: Mailer,
    private readonly tokens: OneTimeTokens,
    private readonly users: Users,
    private readonly limiter: Limiter,
  ) {}

  async send(entry: OpenEntry): Promise<boolean> {
    const mail = entry.content as OutgoingMail;
    if (mail.type === 'link') return this.#sendLink(mail, entry);
    return mail.type === 'notice' ? this.#sendNotice(mail, entry) : this.#sendToNewEmail(mail, entry);
  }

  /**
   * The statements are the same for an email that no account has: a token is written that nobody can redeem. On SQLite, a
   * write delays the next response, which would reveal which emails are known.
   */
  async #sendLink({ email, links, limit }: LinkMail, { attempts }: OpenEntry): Promise<boolean> {
    if (limit !== null && attempts === 1 && !(await this.#isWithin(limit, email))) return false;
    const user = (await this.users.findRecord({ email }))?.user ?? null;
    const chosen = user && links.find(({ userId }) => userId === null || userId === user.id);
    const link = chosen?.link;
    if (link?.verifies && user?.emailVerifiedAt) return false;
    const purpose = link?.purpose ?? links.at(-1)?.link.purpose;
    if (!purpose) return false;
    const token = await this.tokens.issue(purpose, link && user ? user.id : null, link ? email : '');
    if (!link || !user) return false;
    await this.mailer.send(link.template, user, email, token);
    return true;
  }

  async #isWithin(limit: string, email: string): Promise<boolean> {
    try {
      // Counted separately: otherwise the limit on reset requests would reveal that the account exists.
      await this.limiter.countAccount('mail', email, limit);
      return true;
    } catch (error) {
      if (error instanceof AuthError && error.code === 'rate_limited') return false;
      throw error;
    }
  }

  async #sendToNewEmail(mail: NewEmailMail, { createdAt }: OpenEntry): Promise<boolean> {
    const { template, lifetimeMs, user, to, token } = mail;
    const isLate = this.database.clock.now() - createdAt.getTime() > LATE_MS;
    // A newer request, or whatever ended the user's sessions, may have ended it.
    if (isLate && !(await this.tokens.prolong(token, lifetimeMs))) return false;
    await this.mailer.send(template, user, to, token);
    return true;
  }

  async #sendNotice({ template, user, to, facts }: NoticeMail, { attempts }: OpenEntry): Promise<boolean> {
    // Nobody has shown that the address is the user's. It is told all the same, since many apps verify none.
    const isLimited = facts !== null && user.emailVerifiedAt === null;
    if (isLimited && attempts === 1 && !(await this.#mayTell(to))) return false;
    await this.mailer.notify(template, user, to, facts);
    return true;
  }

  async #mayTell(to: string): Promise<boolean> {
    try {
      return await this.limiter.allowsNotice(to);
    } catch {
      // Better a mail too many than an intruder whom nobody notices.
      return true;
    }
  }
}
