import { z } from 'zod';
import { isLoopback, readOptions } from '../../../config/options.js';

/** What every named provider takes. */
export interface ProviderOptions {
  /** As the provider gave it when the app was registered there. @default none, required */
  clientId: string;
  /** As the provider gave it when the app was registered there. @default none, required */
  clientSecret: string;
  /** What to ask the provider for; `openid` is asked for anyway where it is needed. @default what the profile and email need */
  scopes?: readonly string[];
}

/** For a provider that is found by OpenID Connect discovery. */
export interface DiscoveredOptions extends ProviderOptions {
  /** Another issuer: one's own server, or a local one in tests. @default the provider's own */
  issuer?: string;
}

/** Other places of a service without discovery: one's own server, or a local one in tests. */
export interface Endpoints {
  /** @default the provider's own */
  authorizationUrl?: string;
  /** @default the provider's own */
  tokenUrl?: string;
  /** @default the provider's own */
  userinfoUrl?: string;
}

/** For a provider that speaks OAuth 2.0 without discovery. */
export interface EndpointOptions extends ProviderOptions {
  /** @default the provider's own */
  endpoints?: Endpoints;
}

export const required = z.string('is missing').min(1, 'is missing');

/** http is for providers in development and tests: its traffic must not leave the machine. */
export const secureUrl = z
  .string('must be an https URL (http only on this machine)')
  .refine(isSecureUrl, 'must be an https URL (http only on this machine)');

export const providerId = z
  .string('must be 1 to 64 of a-z, 0-9, _ and -')
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9, _ and -');

const scopes = z.custom<readonly string[]>(
  (value) => Array.isArray(value) && value.every((one) => typeof one === 'string' && /^\S+$/.test(one)),
  'must be a list of scopes',
);

export const providerShape = { clientId: required, clientSecret: required, scopes: scopes.optional() };

export const discoveredShape = { ...providerShape, issuer: secureUrl.optional() };

/** @param names of the endpoints that can be elsewhere */
export function endpointShape(...names: string[]) {
  const endpoints = Object.fromEntries(names.map((name) => [name, secureUrl.optional()]));
  return { ...providerShape, endpoints: z.strictObject(endpoints).optional() };
}

/**
 * The options of a provider, looked at before anything is made of them.
 *
 * @throws TypeError that names every mistake, and its mend, and quotes no value
 */
export function checkOptions<Options extends object>(
  provider: string,
  options: Options,
  shape: z.ZodRawShape,
): Options {
  readOptions(`provider ${provider || '(no id)'}`, z.strictObject(shape), options ?? {});
  return options;
}

export function isSecureUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}
