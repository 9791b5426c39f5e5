import { expect } from '@jest/globals';
import type request from 'supertest';
import { admin, passkeys, suspension, type TwoFactorOptions, twoFactor } from '../../lib/index.js';
import { ada, password, type SpecApp, sessionCookie, startApp } from './app.js';
import { proveMailbox } from './email-proof.js';
import { mailbox } from './mailbox.js';
import { PAGE } from './passkeys.js';
import { codeOf, enroll, firstStep, forgetSteps, secondStep } from './two-factor.js';

// An account with a second factor, and browsers that can stand in for it. `start` begins anew.
export const required = new Set<string>();
const pluginsWith = (options: TwoFactorOptions) =>
  [
    password(),
    twoFactor({ required: ({ id }) => required.has(id), ...options }),
    passkeys(),
    suspension(),
    admin({ adminEmails: ['root@example.com'] }),
  ] as const;

export type Browser = ReturnType<typeof app.browser>;

export let app: SpecApp<ReturnType<typeof pluginsWith>>;
export let mails: ReturnType<typeof mailbox>;
export let told: object[];
/** The account's first browser, in which the second factor was enabled. */
export let owner: Browser;
/** Another browser. */
export let browser: Browser;
export let secret: string;
export let userId: string;

export const start = async (options: TwoFactorOptions = { trustDevices: { days: 30 } }) => {
  mails = mailbox();
  app = await startApp({
    plugins: pluginsWith(options),
    config: { baseUrl: PAGE, bearerEnabled: true, email: { send: mails.send } },
  });
  ({ id: userId } = await app.auth.users.create(ada));
  await proveMailbox(app.auth, userId);
  owner = app.browser();
  await firstStep(owner).expect(200);
  await enrollOwner();
  browser = app.browser();
  told = [];
  app.auth.on('device.trusted', (event) => told.push(event));
};
export const complete = async (one: Browser, more: object = { trust_device: true }, whose = secret) => {
  await forgetSteps(app);
  return secondStep(one, { method: 'totp', code: codeOf(whose), ...more });
};
/** Gives the owner a second factor. */
export const enrollOwner = async () => {
  ({ secret } = await enroll(owner));
};
/** Signs in with the second factor, and trusts the browser. */
export const trust = async (one = browser) => {
  await firstStep(one).expect(200);
  return (await complete(one)).body;
};
/** Signs in with the password, and returns whether this creates a session. */
export const isTrusted = async (one: Browser = browser, typed = ada.password) => {
  const { body, status } = await firstStep(one, { ...ada, password: typed });
  expect(status).toBe(200);
  return 'session' in body;
};
export const deviceOf = (answer: request.Response) => sessionCookie(answer, 'latchkey-device')?.value ?? '';
/** Sends the password with a device cookie. */
export const withCookie = (value: string, { email, password } = ada) =>
  app.http
    .post('/auth/signin/credential')
    .set('cookie', `latchkey-device=${value}`)
    .send({ credential: email, password });
export const status = async (one: Browser) => (await one.get('/auth/two-factor').expect(200)).body;
export const devices = async (one: Browser) => (await one.get('/auth/devices').expect(200)).body.devices;
