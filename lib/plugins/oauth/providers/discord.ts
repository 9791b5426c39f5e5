import type { ProviderPlugin } from '../provider.js';
import { namedService, userOf } from './oauth2.js';
import { trusted } from './oidc.js';
import type { EndpointOptions } from './options.js';

/**
 * Discord. `verified: true` counts as proof: it means that Discord has verified the account's email.
 *
 * @see https://discord.com/developers/docs/resources/user#user-object
 */
export function discord(options: EndpointOptions): ProviderPlugin {
  return namedService('discord', options, {
    issuer: 'https://discord.com',
    endpoints: {
      authorizationUrl: 'https://discord.com/oauth2/authorize',
      tokenUrl: 'https://discord.com/api/oauth2/token',
      userinfoUrl: 'https://discord.com/api/users/@me',
    },
    scopes: ['identify', 'email'],
    async profile({ get }, { userinfoUrl }) {
      const user = await userOf(get, userinfoUrl);
      return { subject: user.id, email: user.email, ...trusted(user.verified === true), claims: user };
    },
  });
}
