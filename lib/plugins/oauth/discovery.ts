import type { ClientAuth, Configuration, ServerMetadata } from 'openid-client';
import type { Fetch } from './bounded-fetch.js';
import type { Provider } from './provider.js';

export type OpenidClient = typeof import('openid-client');

const TTL_MS = 60 * 60 * 1000;

/** A provider's metadata (OpenID Connect Discovery 1.0), fetched once an hour. */
export class Discovery {
  #kept: { metadata: ServerMetadata; until: number } | undefined;

  constructor(private readonly provider: Provider) {}

  async metadata(openid: OpenidClient, fetch: Fetch): Promise<ServerMetadata> {
    if (this.#kept && this.#kept.until > Date.now()) return this.#kept.metadata;
    const metadata = (await configure(openid, this.provider, fetch)).serverMetadata();
    if (isComplete(metadata)) this.#kept = { metadata, until: Date.now() + TTL_MS };
    return metadata;
  }

  /** Fetches it again the next time, because it may be wrong. */
  forget(): void {
    this.#kept = undefined;
  }
}

/** Whether it is enough for a sign-in: the metadata of a provider that is being set up must not be kept for an hour. */
function isComplete({ authorization_endpoint, token_endpoint, jwks_uri }: ServerMetadata): boolean {
  return [authorization_endpoint, token_endpoint, jwks_uri].every((url) => url && URL.canParse(url));
}

/**
 * openid-client's configuration for a provider. A new one for each use, since openid-client keeps signing keys with it.
 *
 * @param metadata the provider's, if known; otherwise it is fetched
 */
export async function configure(
  openid: OpenidClient,
  provider: Provider,
  fetch: Fetch,
  metadata?: ServerMetadata,
): Promise<Configuration> {
  const { server, clientId } = provider;
  const authentication = clientAuthentication(openid, provider);
  // Known metadata goes through discovery too: only there openid-client learns that Microsoft's issuer varies by tenant.
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
          },
          clientId,
          {},
          authentication,
        );
  config[openid.customFetch] = fetch;
  if (isLocal(provider)) openid.allowInsecureRequests(config);
  return config;
}

/** Whether plain http is allowed: `checkOptions` accepts it only for providers on this machine. */
export function isLocal({ server }: Provider): boolean {
  return ('discover' in server ? server.discover : server.tokenUrl).startsWith('http:');
}

function clientAuthentication(openid: OpenidClient, { clientAuth, clientSecret }: Provider): ClientAuth {
  return (server, ...request) => {
    const secret = typeof clientSecret === 'string' ? clientSecret : clientSecret();
    // Basic is the default (OpenID Connect Discovery 1.0, 3).
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const onlyPost = !methods.includes('client_secret_basic') && methods.includes('client_secret_post');
    const authenticate =
      clientAuth === 'post' || onlyPost ? openid.ClientSecretPost : openid.ClientSecretBasic;
    authenticate(secret)(server, ...request);
  };
}
