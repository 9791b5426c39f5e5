import type { ProviderPlugin } from '../provider.js';
import { namedService, userOf } from './oauth2.js';
import { trusted } from './oidc.js';
import type { EndpointOptions, Endpoints } from './options.js';

/** Options of {@link github}. */
export interface GithubOptions extends EndpointOptions {
  /** Replaces endpoints, for a self-hosted or a test server. @default GitHub's own */
  endpoints?: Endpoints & {
    /** The list of email addresses. @default GitHub's own */
    emailsUrl?: string;
  };
}

interface GithubEmail {
  email: string;
  primary: boolean;
  verified: boolean;
}

/**
 * GitHub. The email in the profile is not proof, since its owner chooses it. The primary address in the list of emails
 * counts as proof if GitHub has verified it.
 *
 * @see https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 * @see https://docs.github.com/rest/users/emails#list-email-addresses-for-the-authenticated-user
 */
export function github(options: GithubOptions): ProviderPlugin {
  return namedService('github', options, {
    // The value that GitHub sends as `iss` (RFC 9207).
    issuer: 'https://github.com/login/oauth',
    endpoints: {
      authorizationUrl: 'https://github.com/login/oauth/authorize',
      tokenUrl: 'https://github.com/login/oauth/access_token',
      userinfoUrl: 'https://api.github.com/user',
      emailsUrl: 'https://api.github.com/user/emails',
    },
    scopes: ['read:user', 'user:email'],
    async profile({ get }, { userinfoUrl, emailsUrl }) {
      const user = await userOf(get, userinfoUrl);
      const emails = (await get(emailsUrl).catch(unlessHidden)) as (GithubEmail | null)[];
      const primary = Array.isArray(emails) ? emails.find((one) => one?.primary === true) : undefined;
      const { email, verified } = primary ?? {};
      return { subject: user.id, email, ...trusted(verified === true), claims: { ...user, emails } };
    },
  });
}

/** Returns null if the scopes do not give access to the addresses, which is not an error. */
function unlessHidden(error: Error & { status?: number }): null {
  if ([401, 403, 404].includes(error.status ?? 0)) return null;
  throw error;
}
