import { type ProviderPlugin, providerPlugin } from '../provider.js';
import { idOf } from './oauth2.js';
import { checkOptions, type EndpointOptions, endpointShape } from './options.js';

const SHAPE = endpointShape('authorizationUrl', 'tokenUrl', 'userinfoUrl');

/**
 * LinkedIn. `email_verified` of its userinfo is taken as proof. Its ID tokens carry no nonce, so they are not used.
 *
 * @see https://learn.microsoft.com/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2
 */
export function linkedin(options: EndpointOptions): ProviderPlugin {
  const { clientId, clientSecret, scopes, endpoints = {} } = checkOptions('linkedin', options, SHAPE);
  const userinfoUrl = endpoints.userinfoUrl ?? 'https://api.linkedin.com/v2/userinfo';
  return providerPlugin({
    id: 'linkedin',
    server: {
      issuer: 'https://www.linkedin.com/oauth',
      authorizationUrl: endpoints.authorizationUrl ?? 'https://www.linkedin.com/oauth/v2/authorization',
      tokenUrl: endpoints.tokenUrl ?? 'https://www.linkedin.com/oauth/v2/accessToken',
      userinfoUrl,
    },
    clientId,
    clientSecret,
    clientAuth: 'post',
    scopes: scopes ?? ['openid', 'profile', 'email'],
    async profile({ get }) {
      const user = (await get(userinfoUrl)) as Record<string, unknown>;
      return { subject: idOf(user.sub), email: user.email, emailIsProof: user.email_verified === true };
    },
  });
}
