import type { ProviderPlugin } from '../provider.js';
import { namedService, userOf } from './oauth2.js';
import { verified } from './oidc.js';
import { type EndpointOptions, endpointSchema, readProvider } from './options.js';

/**
 * Adds sign-in with Spotify. People are identified by `account_id`, "a public, immutable, pseudoanonymous identifier";
 * the user id, which an app might have stored before, can change. Spotify's documentation calls the email unverified,
 * so it is never proof, and apps in development mode do not get it. There is no endpoint that revokes tokens. Redirect
 * URIs must not contain `localhost`; use `127.0.0.1` instead.
 *
 * @see https://developer.spotify.com/documentation/web-api/tutorials/code-flow
 * @see https://developer.spotify.com/documentation/web-api/reference/get-current-users-profile
 * @see https://developer.spotify.com/documentation/web-api/tutorials/february-2026-migration-guide
 * @see https://developer.spotify.com/documentation/web-api/concepts/spotify-uris-ids on `account_id`
 * @see https://developer.spotify.com/documentation/web-api/concepts/redirect_uri
 */
export function spotify(options: EndpointOptions): ProviderPlugin {
  return namedService('spotify', readProvider('spotify', endpointSchema, options), {
    issuer: 'https://accounts.spotify.com',
    endpoints: {
      authorizationUrl: 'https://accounts.spotify.com/authorize',
      tokenUrl: 'https://accounts.spotify.com/api/token',
      userinfoUrl: 'https://api.spotify.com/v1/me',
    },
    clientAuth: 'basic',
    scopes: ['user-read-email'],
    async profile({ get }, { userinfoUrl }) {
      const user = await userOf(get, userinfoUrl);
      const { id, account_id = id } = user;
      return { subject: account_id, formerSubject: id, email: user.email, ...verified(false), claims: user };
    },
  });
}
