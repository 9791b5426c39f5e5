import { flag, schemaOf } from '../../../config/options.js';
import { type Claims, type ProviderPlugin, providerPlugin } from '../provider.js';
import { authoritative, oidcProfile, saysVerified } from './oidc.js';
import { clientOf, type DiscoveredOptions, discoveredShape, readProvider } from './options.js';

const GRANT_ERRORS = [
  ...['invalid_refresh_token', 'token_expired', 'token_revoked', 'invalid_code', 'code_already_used'],
  ...['account_inactive', 'user_removed_from_team'],
];

/** Options of {@link slack}. */
export interface SlackOptions extends DiscoveredOptions {
  /**
   * Whether `email_verified: true` counts like an email that the person has answered. Enable it only if no one but
   * members of workspaces that you trust can sign in.
   * @default false
   */
  trustEmailVerified?: boolean;
}

const SLACK = 'https://slack.com';

/** The codes of RFC 6749 for Slack's codes. */
const ERRORS = new Map([
  ...GRANT_ERRORS.map((code) => [code, 'invalid_grant'] as const),
  ...['bad_client_secret', 'invalid_client_id'].map((code) => [code, 'invalid_client'] as const),
]);

/** @internal */
export const schema = () =>
  schemaOf<SlackOptions>()({ ...discoveredShape, trustEmailVerified: flag.default(false) });

/**
 * Adds Sign in with Slack. The subject consists of the workspace's id and the user's id, because Slack has not always
 * promised that the ids of users are globally unique. The email is not proof by default, because owners of a workspace
 * can set the addresses of its members, and anyone can own a workspace. Unlinking revokes the access token with
 * `auth.revoke`.
 *
 * Slack accepts PKCE only from apps that are registered as public clients, and returns `internal_error` if they also
 * send a secret. So PKCE is not used; the nonce in the ID token binds it to the flow.
 *
 * To offer one workspace, set `authorizeParameters: { team: 'T…' }`. This does not restrict the sign-in to it: check the
 * claim `https://slack.com/team_id` in `beforeCreateUser`.
 *
 * @see https://docs.slack.dev/authentication/sign-in-with-slack/
 * @see https://api.slack.com/.well-known/openid-configuration
 * @see https://api.slack.com/methods/users.identity on ids of users
 * @see https://docs.slack.dev/authentication/using-pkce
 * @see https://github.com/paradigmxyz/centaur/pull/1101 on PKCE with a secret
 * @see https://docs.slack.dev/reference/methods/auth.revoke
 * @see https://docs.slack.dev/reference/methods/openid.connect.token on errors, which come with status 200
 * @see https://github.com/slackapi/node-slack-sdk/issues/2038 on `invalid_refresh_token`
 * @see https://slack.com/help/articles/225531168 on owners who change the addresses of members
 */
export function slack(options: SlackOptions): ProviderPlugin {
  const { scopes, issuer = SLACK, trustEmailVerified } = readProvider('slack', schema, options);
  return providerPlugin({
    id: 'slack',
    server: { discover: issuer },
    ...clientOf(options),
    clientAuth: 'post',
    pkce: false,
    scopes: scopes ?? ['openid', 'email', 'profile'],
    subjectOf,
    errorOf: ({ ok, error }) => (ok === false ? ERRORS.get(String(error)) : undefined),
    async profile(sources) {
      const proof = (claims: Claims) => authoritative(trustEmailVerified && saysVerified(claims));
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
