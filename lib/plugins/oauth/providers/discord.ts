import { type ProviderPlugin, providerPlugin } from '../provider.js';
import { idOf } from './oauth2.js';
import { checkOptions, type EndpointOptions, endpointShape } from './options.js';

const SHAPE = endpointShape('authorizationUrl', 'tokenUrl', 'userinfoUrl');

/**
 * Discord. `verified` says whether it has verified the account's email, and is taken as proof.
 *
 * @see https://discord.com/developers/docs/resources/user#user-object
 */
export function discord(options: EndpointOptions): ProviderPlugin {
  const { clientId, clientSecret, scopes, endpoints = {} } = checkOptions('discord', options, SHAPE);
  const userinfoUrl = endpoints.userinfoUrl ?? 'https://discord.com/api/users/@me';
  return providerPlugin({
    id: 'discord',
    server: {
      issuer: 'https://discord.com',
      authorizationUrl: endpoints.authorizationUrl ?? 'https://discord.com/oauth2/authorize',
      tokenUrl: endpoints.tokenUrl ?? 'https://discord.com/api/oauth2/token',
      userinfoUrl,
    },
    clientId,
    clientSecret,
    clientAuth: 'post',
    scopes: scopes ?? ['identify', 'email'],
    async profile({ get }) {
      const user = (await get(userinfoUrl)) as Record<string, unknown>;
      return { subject: idOf(user.id), email: user.email, emailIsProof: user.verified === true };
    },
  });
}
