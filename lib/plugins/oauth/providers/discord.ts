import type { ProviderPlugin } from '../provider.js';
import { namedService, userOf } from './oauth2.js';
import { verified } from './oidc.js';
import { type EndpointOptions, endpointSchema, readProvider } from './options.js';

/**
 * Adds sign-in with Discord. It uses version 10 of Discord's API, because requests without a version get a deprecated
 * one.
 *
 * `verified: true` means that Discord has verified the email at some time, by sending a message to it.
 *
 * @see https://docs.discord.com/developers/resources/user#user-object
 * @see https://docs.discord.com/developers/reference#api-versioning
 * @see https://docs.discord.com/developers/topics/oauth2#shared-resources-oauth2-urls
 */
export function discord(options: EndpointOptions): ProviderPlugin {
  return namedService('discord', readProvider('discord', endpointSchema, options), {
    issuer: 'https://discord.com',
    endpoints: {
      authorizationUrl: 'https://discord.com/oauth2/authorize',
      tokenUrl: 'https://discord.com/api/v10/oauth2/token',
      userinfoUrl: 'https://discord.com/api/v10/users/@me',
      revocationUrl: 'https://discord.com/api/v10/oauth2/token/revoke',
    },
    scopes: ['identify', 'email'],
    async profile({ get }, { userinfoUrl }) {
      const user = await userOf(get, userinfoUrl);
      return { subject: user.id, email: user.email, ...verified(user.verified === true), claims: user };
    },
  });
}
