import { type AnyAuth, internalsOf } from '../../lib/auth.js';
import type { AuthConfig, MailMessage, Plugin } from '../../lib/index.js';
import { declaredNotices } from '../../lib/mail/notice-kinds.js';
import { type SpecApp, type SpecAppOptions, startApp } from './app.js';
import { settled } from './sessions.js';

/** An app that sends emails and keeps them in a list. */
export type MailApp<P extends readonly Plugin[]> = SpecApp<P> & {
  readonly mails: MailMessage[];
  /**
   * Runs a function and returns the only email of this kind that it caused. By default, any kind that is not a notice.
   */
  mailOf(work: () => PromiseLike<unknown>, kind?: MailMessage['kind']): Promise<MailMessage>;
  /** Runs a function and checks that it caused no email of this kind. By default, no email except notices. */
  noMailOf(work: () => PromiseLike<unknown>, kind?: MailMessage['kind']): Promise<void>;
};

export const BASE_URL = 'http://app.example.com';

export async function startMailApp<const P extends readonly Plugin[]>({
  config = {},
  ...options
}: Omit<SpecAppOptions<P>, 'config'> & { config?: Partial<AuthConfig<P>> } = {}): Promise<MailApp<P>> {
  const mails: MailMessage[] = [];
  const app = await startApp<P>({
    ...options,
    config: { baseUrl: BASE_URL, ...config, email: { send: (mail) => mails.push(mail), ...config.email } },
  });
  const isNotice = ({ kind }: MailMessage) => declaredNotices.has(kind);
  const newMails = async (work: () => PromiseLike<unknown>, atLeast: number, kind?: MailMessage['kind']) => {
    // Emails of what came before follow its responses.
    await allSent(app.auth);
    const before = mails.length;
    const sent = () => mails.slice(before).filter((mail) => (kind ? mail.kind === kind : !isNotice(mail)));
    await work();
    await allSent(app.auth);
    // Another Auth, or a listener of the app, can send the email later.
    for (const end = Date.now() + 3000; sent().length < atLeast && Date.now() < end; await pause(5));
    await allSent(app.auth);
    return sent();
  };
  return {
    ...app,
    mails,
    async mailOf(work, kind) {
      const [mail, ...more] = await newMails(work, 1, kind);
      if (!mail || more.length > 0) throw new Error(`${more.length + (mail ? 1 : 0)} mails, not one`);
      return mail;
    },
    async noMailOf(work, kind) {
      const sent = await newMails(work, 0, kind);
      if (sent.length > 0) throw new Error(`a mail to ${sent[0]?.to}`);
    },
  };
}

/** Waits until every email has been sent that a request or call before it has caused. Emails follow the response. */
export async function allSent(auth: AnyAuth): Promise<void> {
  await internalsOf(auth).core.context.idle();
  await settled(auth);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
