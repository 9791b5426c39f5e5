import { ada, password, type SpecApp, startApp } from './app.js';
import { mailbox } from './mailbox.js';

// Sign-ups whose browser is remembered for the link that verifies the email. `start` begins anew.
/** The cookie of a browser, which only this host can set: see own-browser.walk.spec.ts. */
export const DEVICE = '__Host-latchkey-device';

export type Options = NonNullable<Parameters<typeof password>[0]>;
export let app: SpecApp<readonly [ReturnType<typeof password>]>;
export let mails: ReturnType<typeof mailbox>;
export const start = async (options: Options = {}, config: object = {}) => {
  mails = mailbox();
  const credential = password({ verifyEmailBy: 'link', sendVerificationOnSignUp: true, ...options });
  app = await startApp({
    plugins: [credential] as const,
    config: { baseUrl: 'https://app.example.com', email: { send: mails.send }, ...config },
  });
};

export type Browser = ReturnType<typeof app.browser>;
export const signUp = (browser: Browser, who = ada) => browser.post('/auth/signup/credential').send(who);
/** Signs up. @returns the token of the link that is mailed */
export const tokenOf = async (browser: Browser, who = ada) =>
  (await mails.mailOf(who.email, 'verify-email', () => signUp(browser, who))).token;
export const verify = (browser: Browser, token: string) => browser.post('/auth/verify-email').send({ token });
export const userOf = async ({ email } = ada) => (await app.auth.users.find({ email }))!;
export const grace = { email: 'grace@example.com', password: 'a moth in a relay' };
