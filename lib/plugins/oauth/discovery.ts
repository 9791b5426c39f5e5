import type { ClientAuth, Configuration, ServerMetadata } from 'openid-client';
import type { Fetch } from './bounded-fetch.js';
import type { Provider } from './provider.js';

export type OpenidClient = typeof import('openid-client');

const TTL_MS = 60 * 60 * 1000;

/** A provider's metadata (OpenID Connect Discovery 1.0), cached for an hour. */
export class Discovery {
  #cached: { metadata: ServerMetadata; until: number } | undefined;

  constructor(private readonly provider: Provider) {}

  async metadata(openid: OpenidClient, fetch: Fetch): Promise<ServerMetadata> {
    if (this.#cached && this.#cached.until > Date.now()) return this.#cached.metadata;
    const metadata = (await configure(openid, this.provider, fetch)).serverMetadata();
    if (isComplete(metadata)) this.#cached = { metadata, until: Date.now() + TTL_MS };
    return metadata;
  }

  /** Clears the cache, because the metadata may be outdated. */
  forget(): void {
    this.#cached = undefined;
  }
}

/** Whether metadata is sufficient for a sign-in. That of a provider that is still being set up must not be cached. */
function isComplete({ authorization_endpoint, token_endpoint, jwks_uri }: ServerMetadata): boolean {
  return [authorization_endpoint, token_endpoint, jwks_uri].every((url) => url && URL.canParse(url));
}

/**
 * Creates openid-client's configuration for a provider. A new one for each use, since openid-client caches signing keys
 * in it.
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
  // Cached metadata is passed through discovery too, since only then does openid-client accept Microsoft's tenant
  // issuers.
  const config =
    'discover' in server
      ? await openid.discovery(new URL(server.discover), clientId, undefined, authentication, {
          [openid.customFetch]: metadata ? async () => Response.json(metadata) : fetch,
          execute: isLocal(provider) ? [openid.allowInsecureRequests] : [],
        })
      : new openid.Configuration(
          {
            issuer: server.issuer,
            authorization_endpoint: server.authorizationUrl,
            token_endpoint: server.tokenUrl,
            userinfo_endpoint: server.userinfoUrl,
            ...(server.revocationUrl !== undefined && { revocation_endpoint: server.revocationUrl }),
          },
          clientId,
          {},
          authentication,
        );
  config[openid.customFetch] = fetch;
  if (isLocal(provider)) openid.allowInsecureRequests(config);
  return config;
}

/** Whether plain http is allowed. `checkOptions` accepts it for loopback addresses only. */
export function isLocal({ server }: Provider): boolean {
  return ('discover' in server ? server.discover : server.tokenUrl).startsWith('http:');
}

function clientAuthentication(openid: OpenidClient, { clientAuth, clientSecret }: Provider): ClientAuth {
  return (server, ...request) => {
    const secret = typeof clientSecret === 'string' ? clientSecret : clientSecret();
    // The default according to OpenID Connect Discovery 1.0, 3.
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const onlyPost = !methods.includes('client_secret_basic') && methods.includes('client_secret_post');
    const authenticate =
      clientAuth === 'post' || onlyPost ? openid.ClientSecretPost : openid.ClientSecretBasic;
    authenticate(secret)(server, ...request);
  };
}
