import type { ClientAuth, ServerMetadata } from 'openid-client';
import type { OpenidClient } from './load-openid-client.js';
import type { ClientAuthMethod, Provider } from './provider.js';

/** Authenticates the client at the token endpoint, and other endpoints of the provider. */
export function clientAuthentication(
  openid: OpenidClient,
  { clientAuth, clientSecret }: Provider,
): ClientAuth {
  return (server, client, body, headers) => {
    const secret = typeof clientSecret === 'string' ? clientSecret : clientSecret();
    const method = clientAuth ?? preferredMethod(server);
    if (method === 'post') openid.ClientSecretPost(secret)(server, client, body, headers);
    else headers.set('authorization', basicCredentials(client.client_id, secret));
  };
}

/** `post` has no second encoding that a provider could forget to undo, but is supported only if listed. */
function preferredMethod({
  token_endpoint_auth_methods_supported: listed = [],
}: ServerMetadata): ClientAuthMethod {
  return listed.includes('client_secret_post') ? 'post' : 'basic';
}

/**
 * Credentials in the `Authorization` header (RFC 6749, 2.3.1 and appendix B). Letters, digits, `-`, `_` and `.` remain
 * as they are, so that almost all secrets also suit the providers that do not decode them.
 */
export function basicCredentials(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`;
}

function formEncoded(value: string): string {
  return new URLSearchParams([['', value]]).toString().slice(1);
}
