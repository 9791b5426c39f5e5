import type { MailMessage } from '../../../lib/index.js';

export type Mail = Pick<MailMessage, 'kind' | 'to' | 'subject' | 'url' | 'code'>;

/** The emails of an app, for tests that wait for them. */
export class Inbox {
  readonly #unread: Mail[] = [];
  #waiting: { to: string; kind: string; take: (mail: Mail) => void }[] = [];

  /** Takes an email in. */
  add(mail: Mail): void {
    const first = this.#waiting.find(({ to, kind }) => to === mail.to && kind === mail.kind);
    this.#waiting = this.#waiting.filter((one) => one !== first);
    if (first) first.take(mail);
    else this.#unread.push(mail);
  }

  /** Returns the first email of a kind that is unread, or waits for it. */
  next(to: string, kind: string): Promise<Mail> {
    const index = this.#unread.findIndex((mail) => mail.to === to && mail.kind === kind);
    const [mail] = index < 0 ? [] : this.#unread.splice(index, 1);
    if (mail) return Promise.resolve(mail);
    return new Promise((take) => this.#waiting.push({ to, kind, take }));
  }
}
