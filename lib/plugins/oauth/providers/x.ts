import type { ProviderPlugin } from '../provider.js';
import { isObject } from '../token-response.js';
import { namedService, userOf } from './oauth2.js';
import { verified } from './oidc.js';
import { type EndpointOptions, endpointSchema, readProvider } from './options.js';

/**
 * Adds sign-in with X, formerly Twitter. X requires the client secret in the `Authorization` header. `confirmed_email`
 * counts as verified at some time, because X returns only an address that the person has confirmed. To get it, enable
 * "Request email from users" in the settings of the app at X. Unlinking revokes the tokens. Add the scope
 * `offline.access` for a refresh token.
 *
 * @see https://docs.x.com/fundamentals/authentication/oauth-2-0/authorization-code on scopes
 * @see https://docs.x.com/fundamentals/authentication/oauth-2-0/user-access-token on the client secret and revocation
 * @see https://docs.x.com/x-api/users/get-my-user
 * @see https://docs.x.com/x-api/fundamentals/data-dictionary on `confirmed_email`
 * @see https://github.com/plhery/node-twitter-api-v2/issues/496 on errors: `invalid_request` for codes and tokens that are
 *   no longer valid
 * @see https://devcommunity.x.com/t/announcing-support-for-email-address-retrieval-with-oauth-2-0-in-the-x-api-v2/240555
 */
export function x(options: EndpointOptions): ProviderPlugin {
  return namedService('x', readProvider('x', endpointSchema, options), {
    issuer: 'https://x.com',
    endpoints: {
      authorizationUrl: 'https://x.com/i/oauth2/authorize',
      tokenUrl: 'https://api.x.com/2/oauth2/token',
      userinfoUrl: 'https://api.x.com/2/users/me?user.fields=confirmed_email',
      revocationUrl: 'https://api.x.com/2/oauth2/revoke',
    },
    clientAuth: 'basic',
    scopes: ['users.read', 'tweet.read', 'users.email'],
    // X distinguishes malformed requests from tokens and codes that are no longer valid by the description alone.
    errorOf: ({ error, error_description: description }) =>
      error === 'invalid_request' && /^value passed for the .* was invalid/i.test(String(description))
        ? 'invalid_grant'
        : undefined,
    async profile({ get }, { userinfoUrl }) {
      const { data } = await userOf(get, userinfoUrl);
      const claims = isObject(data) ? data : {};
      const { id: subject, confirmed_email: email } = claims;
      return { subject, email, ...verified(typeof email === 'string'), claims };
    },
  });
}
