import type { MailMessage } from '../../lib/index.js';
import { Mailer, type NoticeFacts } from '../../lib/mail/messages.js';
import { english, type MailWords } from '../../lib/words/emails/index.js';

const at = new Date('2026-11-22T10:14:59.999Z');
const until = new Date('2026-11-29T10:14:59.999Z');
const URL_OF_APP = 'https://app.example.com';
const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0';
const user = { id: '1', email: '1@1', emailVerifiedAt: null, username: null, usernameDisplay: null };
const facts: NoticeFacts = {
  at,
  client: { ip: '2001:db8::1', userAgent: FIREFOX },
  subject: '7',
  undo: null,
};
/** Values for every text that has some. */
const values = { at, until, days: 7, appName: '7', inviter: '7', organization: '7' };
const undo = (browsers: readonly (string | null)[]) => ({ page: '/', token: '7', until, browsers });

/**
 * Sends the emails that a text can be in.
 *
 * @param name the name of the text
 * @param language the language of the reader, if one was chosen
 */
export async function sendAll(
  name: string,
  language: string | undefined,
  wordsFor: (language: string | null) => MailWords | Promise<MailWords>,
): Promise<MailMessage[]> {
  const sent: MailMessage[] = [];
  const mailer = new Mailer(
    {
      origin: URL_OF_APP,
      look: { appName: null, logo: null, color: '#000', footer: null },
      support: null,
      pages: { 'sign-in': '/', 'forgot-password': '/', 'account/security': '/', 'account/sessions': '/' },
      send: (mail) => sent.push(mail),
    },
    {
      pageUrl: (page) => page,
      now: () => at,
      textsIn: () => ({}),
      wordsFor: async (language) => wordsFor(language),
    },
  );
  const { signal } = new AbortController();
  const text = english.texts[name as keyof typeof english.texts] as Readonly<Record<string, unknown>>;
  const template = {
    kind: name.replace(/\/.*/, ''),
    text: name,
    values,
    page: '/',
    advicePage: 'sign-in',
  } as never;
  const to = { user: user as never, to: '1@1', ...(language && { language }) };
  const code = { ...to, template, code: '20461938', until, facts };
  if ('after' in text)
    for (const lifetimeMs of [3_600_000, 604_800_000])
      await mailer.link({ ...to, template, token: '7', lifetimeMs }, signal);
  else if ('lines' in text)
    for (const one of [null, undo([]), undo([null]), undo(['Firefox on Windows', 'a browser on Linux'])])
      for (const help of ['byApp', 'notYou'] as const)
        await mailer.notice(
          { ...to, template: { ...(template as object), help } as never, facts: { ...facts, undo: one } },
          signal,
        );
  else {
    await mailer.code(code, signal);
    await mailer.noAccount(code, signal);
    if ('beforeLink' in text) await mailer.signInCode({ ...code, token: '7' }, signal);
  }
  return sent;
}
