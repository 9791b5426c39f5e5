import { type ProviderPlugin, providerPlugin } from '../provider.js';
import { idOf } from './oauth2.js';
import { checkOptions, type EndpointOptions, endpointShape } from './options.js';

const SHAPE = endpointShape('authorizationUrl', 'tokenUrl', 'userinfoUrl');

/**
 * Facebook. It does not say whether an email is verified, so its email is never proof.
 *
 * @see https://developers.facebook.com/docs/graph-api/reference/user/
 */
export function facebook(options: EndpointOptions): ProviderPlugin {
  const { clientId, clientSecret, scopes, endpoints = {} } = checkOptions('facebook', options, SHAPE);
  const userinfoUrl = endpoints.userinfoUrl ?? 'https://graph.facebook.com/v23.0/me?fields=id,email';
  return providerPlugin({
    id: 'facebook',
    server: {
      issuer: 'https://www.facebook.com',
      authorizationUrl: endpoints.authorizationUrl ?? 'https://www.facebook.com/v23.0/dialog/oauth',
      tokenUrl: endpoints.tokenUrl ?? 'https://graph.facebook.com/v23.0/oauth/access_token',
      userinfoUrl,
    },
    clientId,
    clientSecret,
    clientAuth: 'post',
    scopes: scopes ?? ['email'],
    async profile({ get }) {
      const user = (await get(userinfoUrl)) as Record<string, unknown>;
      return { subject: idOf(user.id), email: user.email, emailIsProof: false };
    },
  });
}
