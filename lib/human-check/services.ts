import * as z from 'zod';
import {
  commonShape,
  type HumanCheckCommonOptions,
  type HumanCheckOptions,
  type HumanVerifier,
} from '../config/human-check.js';
import { isLoopback, readOptions, schemaOf } from '../config/options.js';
import { boundedFetch } from '../context/bounded-fetch.js';
import { abortedAfter } from '../context/deadline.js';

/** Options of {@link turnstile} and {@link hcaptcha}. */
export interface ServiceOptions extends HumanCheckCommonOptions {
  /** The public key of your site at the service, which pages contain. @default none, required */
  siteKey: string;
  /** The secret with which latchkey verifies tokens at the service. @default none, required */
  secret: string;
  /** Where latchkey verifies tokens, such as a proxy of yours. It must be https or on this machine. @default the service */
  verifyUrl?: string;
}

const URL_RULE = 'must be an https URL, or a URL on this machine';
const key = (name: string) =>
  z.string(`is missing: set it to ${name}`).min(1, `is empty: set it to ${name}`).max(500, 'is too long');

/** @internal */
export const schema = () =>
  schemaOf<ServiceOptions>()({
    siteKey: key('the site key that the service shows'),
    secret: key('the secret that the service shows'),
    verifyUrl: z.string(URL_RULE).refine(isSafe, URL_RULE).optional(),
    ...commonShape,
  });

/** A service that issues tokens. */
interface Service {
  readonly name: 'turnstile' | 'hcaptcha';
  readonly verifyUrl: string;
  /** The length of the longest tokens. */
  readonly maxLength: number;
}

const TURNSTILE: Service = {
  name: 'turnstile',
  verifyUrl: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
  maxLength: 2048,
};

const HCAPTCHA: Service = {
  name: 'hcaptcha',
  verifyUrl: 'https://api.hcaptcha.com/siteverify',
  maxLength: 8192,
};

/** The services issue no other characters. */
const PRINTABLE = /^[!-~ ]+$/;

const TIMEOUT_MS = 2000;

/** The errors that no token causes. All others are about the token, which anyone can send. */
const FAULTS = ['internal-error', 'missing-input-secret', 'invalid-input-secret'];

const answer = z.object({ success: z.boolean(), 'error-codes': z.array(z.string()).default([]) });

/**
 * Lets Cloudflare Turnstile check that a person sends a request.
 *
 * @throws TypeError on invalid options
 *
 * @see https://developers.cloudflare.com/turnstile/get-started/server-side-validation/
 */
export function turnstile(options: ServiceOptions): HumanCheckOptions {
  return checkBy(TURNSTILE, options);
}

/**
 * Lets hCaptcha check that a person sends a request.
 *
 * @throws TypeError on invalid options
 *
 * @see https://docs.hcaptcha.com/#verify-the-user-response-server-side
 */
export function hcaptcha(options: ServiceOptions): HumanCheckOptions {
  return checkBy(HCAPTCHA, options);
}

function checkBy(service: Service, options: ServiceOptions): HumanCheckOptions {
  const { name, maxLength } = service;
  const { siteKey, secret, verifyUrl, routes, onFailure } = readOptions(name, schema, options);
  const url = verifyUrl ?? service.verifyUrl;
  const verify: HumanVerifier = async (token) => {
    if (!token || token.length > maxLength || !PRINTABLE.test(token)) return false;
    const body = new URLSearchParams({ secret, response: token, sitekey: siteKey });
    const response = await boundedFetch(abortedAfter(TIMEOUT_MS))(url, { method: 'POST', body });
    if (response.status >= 500) throw new Error(`${name} responded with the status ${response.status}`);
    const { data } = answer.safeParse(await response.json().catch(() => null));
    // A token that is refused can have a status of 400, and anyone can send a token that a proxy rejects with a page.
    if (!data && response.status >= 400) return false;
    if (!data) throw new Error(`${name} responded with the status ${response.status} and without a verdict`);
    const fault = data['error-codes'].find((code) => FAULTS.includes(code));
    if (fault !== undefined) throw new Error(`${name} responded with ${fault}`);
    return data.success;
  };
  return {
    verify: Object.assign(verify, { builtIn: { name, siteKey } }),
    ...(routes && { routes }),
    onFailure,
  };
}

function isSafe(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}
