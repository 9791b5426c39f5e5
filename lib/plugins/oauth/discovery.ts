import type { ClientAuth, Configuration } from 'openid-client';
import type { Fetch } from './bounded-fetch.js';

const TTL_MS = 60 * 60 * 1000;

/** What a provider says of itself (OpenID Connect Discovery 1.0), asked for once an hour. */
export class Discovery {
  #known: { document: string; until: number } | undefined;

  /**
   * Gone through each time, though with the document of last time: a configuration that is made of the bare metadata
   * does not know that Microsoft's issuer differs by tenant.
   */
  async configure(
    client: typeof import('openid-client'),
    issuer: string,
    clientId: string,
    authentication: ClientAuth,
    fetchBounded: Fetch,
  ): Promise<Configuration> {
    const known = this.#known && this.#known.until > Date.now() ? this.#known : undefined;
    let document = known?.document;
    const fetchOnce: Fetch = async (url, options) => {
      if (document !== undefined) {
        return new Response(document, { headers: { 'content-type': 'application/json' } });
      }
      const response = await fetchBounded(url, options);
      document = await response.clone().text();
      return response;
    };
    const config = await client.discovery(new URL(issuer), clientId, undefined, authentication, {
      [client.customFetch]: fetchOnce as never,
      execute: issuer.startsWith('http:') ? [client.allowInsecureRequests] : [],
    });
    // Only now: a document that makes no sense is not kept.
    if (!known && document !== undefined && isComplete(config))
      this.#known = { document, until: Date.now() + TTL_MS };
    return config;
  }

  /** For when what it says has led nowhere: it is asked for anew the next time. */
  forget(): void {
    this.#known = undefined;
  }
}

/** Whether a sign-in can be done with it: what was only half put up must not last for an hour. */
function isComplete(config: Configuration): boolean {
  const { authorization_endpoint, token_endpoint, jwks_uri } = config.serverMetadata();
  return [authorization_endpoint, token_endpoint, jwks_uri].every((url) => url && URL.canParse(url));
}
