import { z } from 'zod';
import { type Claims, type ProviderPlugin, providerPlugin } from '../provider.js';
import { oidcProfile, trusted } from './oidc.js';
import { checkOptions, clientOf, type DiscoveredOptions, discoveredShape } from './options.js';

/** Options of {@link slack}. */
export interface SlackOptions extends DiscoveredOptions {
  /**
   * Whether `email_verified: true` counts as proof that the email belongs to the person. Enable it only if nobody but
   * members of workspaces that you trust can sign in.
   * @default false
   */
  trustEmailVerified?: boolean;
}

const SLACK = 'https://slack.com';
const SHAPE = { ...discoveredShape, trustEmailVerified: z.boolean('must be true or false').optional() };

/**
 * Sign in with Slack. The subject consists of the ids of workspace and user, since the latter is unique only within the
 * workspace. Its email is not proof by default: owners of a workspace can set the addresses of its members, and
 * anybody can own a workspace. Unlinking revokes the access token with `auth.revoke`.
 *
 * To offer one workspace, set `authorizeParameters: { team: 'T…' }`.
 *
 * @see https://docs.slack.dev/authentication/sign-in-with-slack/
 * @see https://api.slack.com/.well-known/openid-configuration
 * @see https://api.slack.com/types/user on ids of users
 * @see https://docs.slack.dev/reference/methods/auth.revoke
 * @see https://slack.com/help/articles/360003534892 on owners who edit the profiles of members
 */
export function slack(options: SlackOptions): ProviderPlugin {
  const { scopes, issuer = SLACK, trustEmailVerified = false } = checkOptions('slack', options, SHAPE);
  return providerPlugin({
    id: 'slack',
    server: { discover: issuer },
    ...clientOf(options),
    clientAuth: 'post',
    scopes: scopes ?? ['openid', 'email', 'profile'],
    subjectOf,
    async profile(sources) {
      const proof = ({ email_verified }: Claims) => trusted(trustEmailVerified && email_verified === true);
      return { ...(await oidcProfile(sources, proof)), subject: subjectOf(sources.claims) };
    },
    revocation: ({ accessToken }) =>
      accessToken === null
        ? null
        : {
            url: `${issuer}/api/auth.revoke`,
            method: 'POST',
            headers: { authorization: `Bearer ${accessToken}` },
          },
  });
}

function subjectOf({ sub, 'https://slack.com/team_id': team }: Claims): unknown {
  return typeof team === 'string' && team !== '' ? `${team}:${sub}` : undefined;
}
