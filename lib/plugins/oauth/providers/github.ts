import { type ProviderPlugin, providerPlugin } from '../provider.js';
import { idOf } from './oauth2.js';
import { checkOptions, type EndpointOptions, type Endpoints, endpointShape } from './options.js';

const SHAPE = endpointShape('authorizationUrl', 'tokenUrl', 'userinfoUrl', 'emailsUrl');

/** Options of {@link github}. */
export interface GithubOptions extends EndpointOptions {
  endpoints?: Endpoints & {
    /** @default GitHub's own */
    emailsUrl?: string;
  };
}

interface GithubEmail {
  email: string;
  primary: boolean;
  verified: boolean;
}

/**
 * GitHub. The profile's email is whatever its owner shows; proof is the list of addresses, whose primary one counts
 * where GitHub has verified it.
 *
 * @see https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 * @see https://docs.github.com/rest/users/emails#list-email-addresses-for-the-authenticated-user
 */
export function github(options: GithubOptions): ProviderPlugin {
  const { clientId, clientSecret, scopes, endpoints = {} } = checkOptions('github', options, SHAPE);
  const userinfoUrl = endpoints.userinfoUrl ?? 'https://api.github.com/user';
  const emailsUrl = endpoints.emailsUrl ?? 'https://api.github.com/user/emails';
  return providerPlugin({
    id: 'github',
    server: {
      // What GitHub sends as `iss` too (RFC 9207).
      issuer: 'https://github.com/login/oauth',
      authorizationUrl: endpoints.authorizationUrl ?? 'https://github.com/login/oauth/authorize',
      tokenUrl: endpoints.tokenUrl ?? 'https://github.com/login/oauth/access_token',
      userinfoUrl,
    },
    clientId,
    clientSecret,
    clientAuth: 'post',
    scopes: scopes ?? ['read:user', 'user:email'],
    async profile({ get }) {
      const user = (await get(userinfoUrl)) as { id: unknown };
      const emails = (await get(emailsUrl).catch(unlessHidden)) as (GithubEmail | null)[];
      const primary = Array.isArray(emails) ? emails.find((one) => one?.primary === true) : undefined;
      return { subject: idOf(user.id), email: primary?.email, emailIsProof: primary?.verified === true };
    },
  });
}

/** The person, or the app's own scopes, may keep the addresses from us: they are unknown then, and that is no failure. */
function unlessHidden(error: Error & { status?: number }): null {
  if ([401, 403, 404].includes(error.status ?? 0)) return null;
  throw error;
}
