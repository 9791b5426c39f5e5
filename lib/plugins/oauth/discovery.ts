import type { ClientAuth, Configuration, ServerMetadata } from 'openid-client';
import type { Fetch } from './bounded-fetch.js';
import type { Provider } from './provider.js';

export type OpenidClient = typeof import('openid-client');

const TTL_MS = 60 * 60 * 1000;

/** A provider's metadata: what it says of itself (OpenID Connect Discovery 1.0), asked for once an hour. */
export class Discovery {
  #kept: { metadata: ServerMetadata; until: number } | undefined;

  constructor(private readonly provider: Provider) {}

  async metadata(openid: OpenidClient, fetch: Fetch): Promise<ServerMetadata> {
    if (this.#kept && this.#kept.until > Date.now()) return this.#kept.metadata;
    const metadata = (await configure(openid, this.provider, fetch)).serverMetadata();
    if (isComplete(metadata)) this.#kept = { metadata, until: Date.now() + TTL_MS };
    return metadata;
  }

  /** For when what it says has led nowhere: it is asked for anew the next time. */
  forget(): void {
    this.#kept = undefined;
  }
}

/** Whether a sign-in can be done with it: what was only half put up must not last for an hour. */
function isComplete({ authorization_endpoint, token_endpoint, jwks_uri }: ServerMetadata): boolean {
  return [authorization_endpoint, token_endpoint, jwks_uri].every((url) => url && URL.canParse(url));
}

/**
 * A provider as openid-client knows it. Made anew for each use: openid-client keeps signing keys with it.
 *
 * @param metadata what the provider says of itself, where that is known; else it is asked
 */
export async function configure(
  openid: OpenidClient,
  provider: Provider,
  fetch: Fetch,
  metadata?: ServerMetadata,
): Promise<Configuration> {
  const { server, clientId } = provider;
  const authentication = clientAuthentication(openid, provider);
  // Known metadata is discovered too: nowhere else does openid-client learn that Microsoft's issuer differs by tenant.
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

/** Plain http is for providers on this machine; `checkOptions` lets no other in. */
export function isLocal({ server }: Provider): boolean {
  return ('discover' in server ? server.discover : server.tokenUrl).startsWith('http:');
}

function clientAuthentication(openid: OpenidClient, { clientAuth, clientSecret }: Provider): ClientAuth {
  return (server, ...request) => {
    const secret = typeof clientSecret === 'string' ? clientSecret : clientSecret();
    // Where nothing is said, it is Basic (OpenID Connect Discovery 1.0, 3).
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const onlyPost = !methods.includes('client_secret_basic') && methods.includes('client_secret_post');
    const authenticate =
      clientAuth === 'post' || onlyPost ? openid.ClientSecretPost : openid.ClientSecretBasic;
    authenticate(secret)(server, ...request);
  };
}
