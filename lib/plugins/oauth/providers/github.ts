import { schemaOf } from '../../../config/options.js';
import { basicCredentials } from '../discovery.js';
import type { ProviderPlugin } from '../provider.js';
import { namedService, userOf } from './oauth2.js';
import {
  aliasShape,
  type EndpointOptions,
  type Endpoints,
  endpointsShape,
  providerShape,
  readProvider,
  secureUrl,
} from './options.js';

/** Options of {@link github}. */
export interface GithubOptions extends EndpointOptions {
  /** Replaces endpoints, for a self-hosted or a test server. @default GitHub's own */
  endpoints?: GithubEndpoints;
}

/** The endpoints of GitHub. */
export interface GithubEndpoints extends Endpoints {
  /** The list of email addresses. @default GitHub's own */
  emailsUrl?: string;
}

/** @internal */
export const githubEndpoints = () =>
  schemaOf<GithubEndpoints>()({ ...endpointsShape, emailsUrl: secureUrl.optional() });

/** @internal */
export const schema = () =>
  schemaOf<GithubOptions>()({ ...providerShape, ...aliasShape, endpoints: githubEndpoints().optional() });

interface GithubEmail {
  email: string;
  primary: boolean;
  verified: boolean;
}

/**
 * Adds sign-in with GitHub. The email in the profile is not proof, because its owner chooses it. The primary address in
 * the list of emails counts as verified at some time if GitHub has verified it by sending a message to it. It never
 * signs anyone in to an existing account if an enterprise manages the GitHub account, because until August 2024 GitHub
 * trusted enterprises to verify addresses. Only the names of such accounts can contain `_`. The list has 30 entries per
 * page unless more are requested.
 *
 * Unlinking deletes the authorization of the app, with all its tokens for the person.
 *
 * @see https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 * @see https://docs.github.com/rest/users/emails#list-email-addresses-for-the-authenticated-user
 * @see https://github.blog/changelog/2024-08-01-enterprise-managed-user-accounts-now-require-email-verification
 * @see https://docs.github.com/enterprise-cloud@latest/admin/managing-iam/iam-configuration-reference/username-considerations-for-external-authentication
 * @see https://docs.github.com/rest/apps/oauth-applications#delete-an-app-authorization
 */
export function github(options: GithubOptions): ProviderPlugin {
  const read = readProvider('github', schema, options);
  return namedService<Required<GithubEndpoints>>('github', read, {
    // GitHub sends this as `iss` (RFC 9207): https://docs.github.com/apps/github-authentication-discovery-endpoints
    issuer: 'https://github.com/login/oauth',
    endpoints: {
      authorizationUrl: 'https://github.com/login/oauth/authorize',
      tokenUrl: 'https://github.com/login/oauth/access_token',
      userinfoUrl: 'https://api.github.com/user',
      emailsUrl: 'https://api.github.com/user/emails?per_page=100',
      revocationUrl: `https://api.github.com/applications/${read.clientId}/grant`,
    },
    // https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps#1-request-a-users-github-identity
    loginHintParameter: 'login',
    scopes: ['read:user', 'user:email'],
    async profile({ get }, { userinfoUrl, emailsUrl }) {
      const user = await userOf(get, userinfoUrl);
      const emails = (await get(emailsUrl).catch(unlessHidden)) as (GithubEmail | null)[];
      const primary = Array.isArray(emails) ? emails.find((one) => one?.primary === true) : undefined;
      const { email, verified } = primary ?? {};
      return {
        subject: user.id,
        email,
        emailIsProof: verified === true,
        ...(String(user.login).includes('_') && { emailIsAuthoritative: false }),
        claims: { ...user, emails },
      };
    },
    revocation: ({ accessToken }, url) =>
      accessToken === null
        ? null
        : {
            url,
            method: 'DELETE',
            headers: {
              accept: 'application/vnd.github+json',
              authorization: basicCredentials(options.clientId, options.clientSecret),
              'content-type': 'application/json',
            },
            body: JSON.stringify({ access_token: accessToken }),
          },
  });
}

/** Returns null if the scopes do not grant access to the addresses, which is not an error. */
function unlessHidden(error: Error & { status?: number }): null {
  if ([401, 403, 404].includes(error.status ?? 0)) return null;
  throw error;
}
