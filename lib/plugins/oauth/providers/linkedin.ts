import type { ProviderPlugin } from '../provider.js';
import { namedService, userOf } from './oauth2.js';
import { saysVerified, verified } from './oidc.js';
import { type EndpointOptions, endpointSchema, readProvider } from './options.js';

/**
 * Adds sign-in with LinkedIn. `email_verified: true` in userinfo means that LinkedIn has verified the email at some
 * time. LinkedIn's ID tokens have no nonce, so they are not used. Its token endpoint rejects `code_verifier` from
 * clients with a secret, so PKCE is not used either. LinkedIn does not document a way to revoke tokens.
 *
 * @see https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2
 * @see https://github.com/UsefulSoftwareCo/executor/issues/2087 on `code_verifier`
 * @see https://github.com/teamhanko/hanko/pull/2405 on `code_verifier`
 */
export function linkedin(options: EndpointOptions): ProviderPlugin {
  return namedService('linkedin', readProvider('linkedin', endpointSchema, options), {
    issuer: 'https://www.linkedin.com/oauth',
    endpoints: {
      authorizationUrl: 'https://www.linkedin.com/oauth/v2/authorization',
      tokenUrl: 'https://www.linkedin.com/oauth/v2/accessToken',
      userinfoUrl: 'https://api.linkedin.com/v2/userinfo',
    },
    scopes: ['openid', 'profile', 'email'],
    pkce: false,
    async profile({ get }, { userinfoUrl }) {
      const user = await userOf(get, userinfoUrl);
      const { sub: subject, email } = user;
      return { subject, email, ...verified(saysVerified(user)), claims: user };
    },
  });
}
