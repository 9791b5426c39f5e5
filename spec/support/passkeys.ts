import type request from 'supertest';
import type { SpecApp } from './app.js';
import { Authenticator, type AuthenticatorOptions, type Lies } from './authenticator.js';

/** The `baseUrl` of apps with passkeys, because browsers do not support passkeys on an IP address. */
export const PAGE = 'http://localhost:3000';

type Browser = ReturnType<SpecApp<[]>['browser']>;

/** An authenticator in a browser that shows the app's page. */
export function authenticator(options: Partial<AuthenticatorOptions> = {}): Authenticator {
  return new Authenticator({ origin: PAGE, ...options });
}

/** Returns the options of a route, which must respond with 200. */
export async function optionsOf(browser: Browser, path: string, body: object = {}) {
  const answer = await browser.post(`/auth${path}`).send(body);
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.options;
}

/** Adds a passkey to the account of a signed-in browser. */
export async function addPasskey(browser: Browser, device: Authenticator, name?: string) {
  const response = device.create(await optionsOf(browser, '/passkeys/options'));
  const answer = await browser.post('/auth/passkeys').send({ response, name });
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body.passkey;
}

/** Signs in with a passkey: options, assertion, sign-in. */
export async function signInWith(
  browser: Browser,
  device: Authenticator,
  { lies, body }: { lies?: Lies; body?: object } = {},
): Promise<request.Response> {
  const response = device.get(await optionsOf(browser, '/signin/passkey/options'), lies);
  return browser.post('/auth/signin/passkey').send({ response, ...body });
}
