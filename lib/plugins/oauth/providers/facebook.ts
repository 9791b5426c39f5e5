import type { ProviderPlugin } from '../provider.js';
import { namedService, userOf } from './oauth2.js';
import { trusted } from './oidc.js';
import type { EndpointOptions } from './options.js';

/**
 * Facebook. It does not report whether an email is verified, so the email never counts as proof.
 *
 * @see https://developers.facebook.com/docs/graph-api/reference/user/
 */
export function facebook(options: EndpointOptions): ProviderPlugin {
  return namedService('facebook', options, {
    issuer: 'https://www.facebook.com',
    endpoints: {
      authorizationUrl: 'https://www.facebook.com/v23.0/dialog/oauth',
      tokenUrl: 'https://graph.facebook.com/v23.0/oauth/access_token',
      userinfoUrl: 'https://graph.facebook.com/v23.0/me?fields=id,email',
    },
    scopes: ['email'],
    async profile({ get }, { userinfoUrl }) {
      const user = await userOf(get, userinfoUrl);
      return { subject: user.id, email: user.email, ...trusted(false), claims: user };
    },
  });
}
