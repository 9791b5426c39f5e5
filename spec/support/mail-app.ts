import type { AuthConfig, MailMessage, Plugin } from '../../lib/index.js';
import { type SpecApp, type SpecAppOptions, startApp } from './app.js';

/** An app that sends mails, and a postman who keeps them. */
export type MailApp<P extends readonly Plugin[]> = SpecApp<P> & {
  readonly mails: MailMessage[];
  /** Does something, and gives the one mail that it caused. */
  mailOf(work: () => PromiseLike<unknown>): Promise<MailMessage>;
  /** Does something, and makes sure that it caused no mail. */
  noMailOf(work: () => PromiseLike<unknown>): Promise<void>;
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
  const newMails = async (work: () => PromiseLike<unknown>, atLeast: number) => {
    const before = mails.length;
    await work();
    // Mails go out after the answer.
    const end = Date.now() + 3000;
    while (mails.length < before + atLeast && Date.now() < end) await pause(5);
    await pause(50);
    return mails.slice(before);
  };
  return {
    ...app,
    mails,
    async mailOf(work) {
      const [mail, ...more] = await newMails(work, 1);
      if (!mail || more.length > 0) throw new Error(`${more.length + (mail ? 1 : 0)} mails, not one`);
      return mail;
    },
    async noMailOf(work) {
      const sent = await newMails(work, 0);
      if (sent.length > 0) throw new Error(`a mail to ${sent[0]?.to}`);
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
