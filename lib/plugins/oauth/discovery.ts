import type { ClientAuth, Configuration, ServerMetadata } from 'openid-client';
import { boundedFetch, type Fetch } from '../../context/bounded-fetch.js';
import { abortedAfter } from '../../context/deadline.js';
import { discoveredIssuer, type OpenidClient } from './openid-client.js';
import type { ClientAuthMethod, Provider } from './provider.js';

const TTL_MS = 60 * 60 * 1000;
// How long a failure is cached. This limits requests to a provider that is down, but soon notices that it works again.
const PAUSE_MS = 3000;
const TIMEOUT_MS = 4500;

interface Attempt {
  readonly metadata: Promise<ServerMetadata>;
  /** When the metadata expires. Undefined while the request is in progress. */
  until?: number;
}

/** A provider's metadata (OpenID Connect Discovery 1.0), cached for an hour. Concurrent callers share one request. */
export class Discovery {
  #attempt: Attempt | undefined;

  constructor(private readonly provider: Provider) {}

  metadata(openid: OpenidClient): Promise<ServerMetadata> {
    const current = this.#attempt;
    if (current && (current.until ?? Number.POSITIVE_INFINITY) > Date.now()) return current.metadata;
    const attempt: Attempt = { metadata: this.#request(openid) };
    this.#attempt = attempt;
    attempt.metadata.then(
      (metadata) => {
        // A provider that is still being set up returns incomplete metadata, which must not be cached.
        attempt.until = Date.now() + (isComplete(metadata) ? TTL_MS : 0);
      },
      () => {
        attempt.until = Date.now() + PAUSE_MS;
      },
    );
    return attempt.metadata;
  }

  /** Clears the cache, because the metadata might be outdated. */
  forget(): void {
    if (this.#attempt?.until !== undefined) this.#attempt = undefined;
  }

  // The request has its own deadline, because several callers can share it.
  async #request(openid: OpenidClient): Promise<ServerMetadata> {
    const fetch = boundedFetch(abortedAfter(TIMEOUT_MS));
    try {
      return (await configure(openid, this.provider, fetch)).serverMetadata();
    } catch (error) {
      throw this.#namedMistake(error) ?? error;
    }
  }

  /** Describes a mistake in the configuration that is easy to make and hard to see. Null for any other error. */
  #namedMistake(error: unknown): Error | null {
    const { server } = this.provider;
    const issuer = discoveredIssuer(error);
    const isTheSame = 'discover' in server && withoutSlash(issuer ?? '') === withoutSlash(server.discover);
    return isTheSame
      ? new Error(
          `its issuer is "${issuer}": set the option issuer to exactly that, with or without the last slash`,
        )
      : null;
  }
}

function withoutSlash(url: string): string {
  return url.replace(/\/$/, '');
}

/** Whether metadata is sufficient for a sign-in. */
function isComplete({ authorization_endpoint, token_endpoint, jwks_uri }: ServerMetadata): boolean {
  return [authorization_endpoint, token_endpoint, jwks_uri].every((url) => url && URL.canParse(url));
}

/**
 * Creates openid-client's configuration for a provider. Each use requires a new one, because openid-client caches
 * signing keys in it.
 *
 * @param metadata the provider's metadata; fetched if omitted
 */
export async function configure(
  openid: OpenidClient,
  provider: Provider,
  fetch: Fetch,
  metadata?: ServerMetadata,
): Promise<Configuration> {
  const { server, clientId } = provider;
  const authentication = clientAuthentication(openid, provider);
  // Cached metadata is passed through discovery too, so that openid-client accepts Microsoft's tenant issuers.
  const config =
    'discover' in server
      ? await openid.discovery(new URL(server.discover), clientId, undefined, authentication, {
          [openid.customFetch]: metadata ? async () => Response.json(metadata) : fetch,
          execute: isLocal(provider) ? [openid.allowInsecureRequests] : [],
        })
      : new openid.Configuration(metadataOf(server), clientId, {}, authentication);
  config[openid.customFetch] = fetch;
  if (isLocal(provider)) openid.allowInsecureRequests(config);
  return config;
}

/** Creates the metadata of a service whose endpoints are known without discovery. */
function metadataOf(server: Exclude<Provider['server'], { discover: string }>): ServerMetadata {
  const { issuer, authorizationUrl, tokenUrl, revocationUrl } = server;
  const common = {
    authorization_endpoint: authorizationUrl,
    token_endpoint: tokenUrl,
    ...(revocationUrl && { revocation_endpoint: revocationUrl }),
  };
  if ('jwksUrl' in server) {
    const { jwksUrl, algorithm } = server;
    return { issuer, ...common, jwks_uri: jwksUrl, id_token_signing_alg_values_supported: [algorithm] };
  }
  return { issuer: server.responseIssuer ?? issuer, ...common, userinfo_endpoint: server.userinfoUrl };
}

/** Whether plain http is allowed. The options accept it for loopback addresses only. */
export function isLocal({ server }: Provider): boolean {
  return ('discover' in server ? server.discover : server.tokenUrl).startsWith('http:');
}

/** Authenticates the client at the token endpoint, and other endpoints of the provider. */
function clientAuthentication(openid: OpenidClient, { clientAuth, clientSecret }: Provider): ClientAuth {
  return (server, client, body, headers) => {
    const secret = typeof clientSecret === 'string' ? clientSecret : clientSecret();
    const method = clientAuth ?? preferredMethod(server);
    if (method === 'post') openid.ClientSecretPost(secret)(server, client, body, headers);
    else headers.set('authorization', basicCredentials(client.client_id, secret));
  };
}

/** Prefers `post` if it is listed, because it has no second encoding that a provider could fail to decode. */
function preferredMethod({
  token_endpoint_auth_methods_supported: listed = [],
}: ServerMetadata): ClientAuthMethod {
  return listed.includes('client_secret_post') ? 'post' : 'basic';
}

/**
 * Encodes credentials for the `Authorization` header (RFC 6749, 2.3.1 and appendix B). Letters, digits, `-`, `_` and
 * `.` remain as they are, so almost all secrets also work with providers that do not decode them.
 */
export function basicCredentials(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`;
}

function formEncoded(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1);
}
