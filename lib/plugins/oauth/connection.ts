import type { ClientAuth, Configuration, ExportedJWKSCache } from 'openid-client';
import { AuthError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import { boundedFetch, type Fetch } from './bounded-fetch.js';
import { Discovery } from './discovery.js';
import type { Provider } from './provider.js';
import { SigningKeys } from './signing-keys.js';
import { askingOnce, tolerantFetch } from './token-response.js';

type OpenidClient = typeof import('openid-client');

/** What is done with a provider; it may be done again with other keys, and then gets the same tokens. */
export type Work<T> = (client: OpenidClient, config: Configuration, fetchBounded: Fetch) => Promise<T>;

// What a request waits for a provider is one part of the five seconds that it has in all.
const TIMEOUT_MS = 4500;
// By RFC 6749; by Apple and LinkedIn.
const DECLINED = /^(access_denied|user_cancelled_\w+)$/;

/** The way to one provider: what it says of itself, its keys, and a bound for everything that it does. */
export class Connection {
  readonly #discovery = new Discovery();
  readonly #keys = new SigningKeys();

  constructor(
    private readonly provider: Provider,
    private readonly logger: Logger,
  ) {}

  get isOidc(): boolean {
    return 'discover' in this.provider.server;
  }

  /** @throws AuthError `access_denied`, `provider_error` */
  async call<T>(work: Work<T>): Promise<T> {
    // One limit for all requests of a call together: a provider that is slow three times is three times too slow.
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const client = await import('openid-client');
    const fetchBounded = boundedFetch(signal);
    const fetchOnce = tolerantFetch(askingOnce(fetchBounded), this.isOidc);
    try {
      return await inTime(
        signal,
        this.#keys.verify(async (keys, keep) => {
          const config = await this.#configure(client, fetchBounded, fetchOnce, keys);
          return work(client, config, fetchBounded).finally(() => keep(client.getJwksCache(config)));
        }),
      );
    } catch (error) {
      if (error instanceof client.AuthorizationResponseError) {
        if (DECLINED.test(error.error)) throw new AuthError('access_denied');
      } else if (!(error instanceof client.ResponseBodyError)) {
        // It may have moved: whoever answers properly, though it is no, has not.
        this.#discovery.forget();
      }
      this.logger.warn(`latchkey: provider ${this.provider.id} failed: ${describe(error)}`);
      throw new AuthError('provider_error');
    }
  }

  async #configure(
    client: OpenidClient,
    fetchBounded: Fetch,
    fetchOnce: Fetch,
    keys: ExportedJWKSCache | undefined,
  ): Promise<Configuration> {
    const { clientId, server } = this.provider;
    const authentication = this.#authentication(client);
    const config =
      'discover' in server
        ? await this.#discovery.configure(client, server.discover, clientId, authentication, fetchBounded)
        : new client.Configuration(
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
    config[client.customFetch] = fetchOnce as never;
    // Without this, an ID token is believed by whence it came and its signature is never looked at.
    if (this.isOidc) client.enableNonRepudiationChecks(config);
    if (this.#isLocal) client.allowInsecureRequests(config);
    if (keys) client.setJwksCache(config, keys);
    return config;
  }

  #authentication(client: OpenidClient): ClientAuth {
    const { clientAuth, clientSecret } = this.provider;
    const secret = typeof clientSecret === 'string' ? clientSecret : clientSecret();
    const post = client.ClientSecretPost(secret);
    if (clientAuth === 'post') return post;
    const basic = client.ClientSecretBasic(secret);
    return (server, ...rest) => {
      // Where nothing is said, it is Basic (OpenID Connect Discovery 1.0, 3).
      const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
      const onlyPost = !methods.includes('client_secret_basic') && methods.includes('client_secret_post');
      return (onlyPost ? post : basic)(server, ...rest);
    };
  }

  /** Plain http is for providers on this machine; `checkOptions` lets no other in. */
  get #isLocal(): boolean {
    const { server } = this.provider;
    return ('discover' in server ? server.discover : server.tokenUrl).startsWith('http:');
  }
}

// Requests end with the signal by themselves; waiting for keys that somebody else asks for does not.
async function inTime<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const tooLate = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([work, tooLate]);
}

/** For the log: what went wrong, without what the provider sent, which can hold a code or a token. */
function describe(error: unknown): string {
  const { name, code, message, cause } = error as Error & { code?: string };
  // The parser of JSON quotes what it could not read.
  if (name === 'SyntaxError') return `${name}: the answer is not valid JSON`;
  const inner = cause instanceof Error && cause.name !== 'SyntaxError' ? ` (${cause.message})` : '';
  return `${code ?? name}: ${message}${inner}`;
}
