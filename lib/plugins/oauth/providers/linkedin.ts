import type { ProviderPlugin } from '../provider.js';
import { namedService, userOf } from './oauth2.js';
import { trusted } from './oidc.js';
import type { EndpointOptions } from './options.js';

/**
 * LinkedIn. `email_verified: true` in userinfo counts as proof. Its ID tokens have no nonce, so they are not used.
 *
 * @see https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2
 */
export function linkedin(options: EndpointOptions): ProviderPlugin {
  return namedService('linkedin', options, {
    issuer: 'https://www.linkedin.com/oauth',
    endpoints: {
      authorizationUrl: 'https://www.linkedin.com/oauth/v2/authorization',
      tokenUrl: 'https://www.linkedin.com/oauth/v2/accessToken',
      userinfoUrl: 'https://api.linkedin.com/v2/userinfo',
    },
    scopes: ['openid', 'profile', 'email'],
    async profile({ get }, { userinfoUrl }) {
      const user = await userOf(get, userinfoUrl);
      const { sub: subject, email, email_verified } = user;
      return { subject, email, ...trusted(email_verified === true), claims: user };
    },
  });
}
