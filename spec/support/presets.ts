import { generateKeyPairSync } from 'node:crypto';
import type { ProviderPlugin } from '../../lib/providers.js';
import * as modules from '../../lib/providers.js';
import type { Lies } from './lying-provider.js';

/** A response of a token endpoint. */
export interface TokenAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** A provider module, with a lying provider that responds like the real provider. */
export interface Preset {
  plugin(issuer: string): ProviderPlugin;
  /** The values that make a sign-in succeed. */
  readonly lies: Lies;
  /** The `error` if the user cancels. */
  readonly denied: string;
  /** The response to a refresh if its grant has expired. Null if the provider does not issue refresh tokens. */
  readonly expired: TokenAnswer | null;
  /** The response if the user has revoked the grant. */
  readonly revoked: TokenAnswer | null;
  /** The response if the refresh token has already been rotated. */
  readonly reused: TokenAnswer | null;
  readonly limited: TokenAnswer;
  readonly wrongSecret: TokenAnswer;
  /** The error of a wrong secret in the log. */
  readonly inLog: string;
}

export const client = { clientId: 'com.example.app', clientSecret: 'the secret' };
export const endpoints = (issuer: string) => ({
  authorizationUrl: `${issuer}/authorize`,
  tokenUrl: `${issuer}/token`,
  userinfoUrl: `${issuer}/userinfo`,
});
/** The options of a preset whose endpoints are those of an issuer. */
export const at = (issuer: string) => ({ ...client, endpoints: endpoints(issuer) });
const named = (userinfo: object, more: object = {}): Lies => ({
  response: { iss: undefined },
  tokens: { id_token: undefined },
  userinfo: { sub: undefined, ...userinfo },
  ...more,
});
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const answer = (status: number, body: unknown): TokenAnswer => ({ status, body });
const grant = (description?: string) =>
  answer(400, { error: 'invalid_grant', ...(description && { error_description: description }) });

/** The errors of RFC 6749, 5.2, which most providers follow. */
const standard = {
  denied: 'access_denied',
  expired: grant(),
  revoked: grant(),
  reused: grant(),
  limited: answer(429, { message: 'Too many requests' }),
  wrongSecret: answer(401, { error: 'invalid_client' }),
  inLog: 'invalid_client',
};

const { apple, discord, facebook, github, gitlab, google } = modules;
const { linkedin, microsoft, oauth2, oidc, slack, spotify, twitch, x } = modules;

/** All provider modules. A comment gives the source if a provider does not follow RFC 6749, 5.2. */
export const PRESETS: Readonly<Record<string, Preset>> = {
  // https://developer.apple.com/documentation/signinwithapplerestapi/errorresponse
  apple: {
    ...standard,
    plugin: (issuer) =>
      apple({
        clientId: client.clientId,
        teamId: 'TEAM123456',
        keyId: 'KEY1234567',
        privateKey: pem,
        issuer,
      }),
    lies: { response: { iss: undefined } },
    denied: 'user_cancelled_authorize',
    wrongSecret: answer(400, { error: 'invalid_client' }),
  },
  discord: {
    ...standard,
    plugin: (issuer) => discord(at(issuer)),
    lies: named({ id: '8', email: 'ada@example.com', verified: true }),
    // https://docs.discord.com/developers/topics/rate-limits
    limited: answer(429, { message: 'You are being rate limited.', retry_after: 1, global: false }),
  },
  facebook: {
    ...standard,
    plugin: (issuer) => facebook(at(issuer)),
    lies: named(
      { id: '8', email: 'ada@example.com' },
      { tokens: { id_token: undefined, refresh_token: undefined } },
    ),
    expired: null,
    revoked: null,
    reused: null,
    // https://developers.facebook.com/docs/graph-api/guides/error-handling
    limited: answer(400, {
      error: { message: '(#4) Application request limit reached', type: 'OAuthException', code: 4 },
    }),
    // https://stackoverflow.com/questions/14575477
    wrongSecret: answer(400, {
      error: { message: 'Error validating client secret.', type: 'OAuthException', code: 1 },
    }),
  },
  // https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors
  github: {
    ...standard,
    plugin: (issuer) =>
      github({ ...client, endpoints: { ...endpoints(issuer), emailsUrl: `${issuer}/emails` } }),
    lies: named({ id: 7, login: 'octocat' }),
    expired: answer(200, { error: 'bad_refresh_token' }),
    revoked: answer(200, { error: 'bad_refresh_token' }),
    reused: answer(200, { error: 'bad_refresh_token' }),
    limited: answer(403, { message: 'You have exceeded a secondary rate limit.' }),
    wrongSecret: answer(200, { error: 'incorrect_client_credentials' }),
    inLog: 'incorrect_client_credentials',
  },
  gitlab: { ...standard, plugin: (issuer) => gitlab({ ...client, issuer }), lies: {} },
  google: {
    ...standard,
    plugin: (issuer) => google({ ...client, issuer }),
    lies: {},
    expired: grant('Token has been expired or revoked.'),
    limited: answer(403, { error: 'rate_limit_exceeded' }),
  },
  // https://learn.microsoft.com/en-us/linkedin/shared/authentication/programmatic-refresh-tokens
  linkedin: {
    ...standard,
    plugin: (issuer) => linkedin(at(issuer)),
    lies: named({ sub: 'l', email: 'ada@example.com', email_verified: true }),
    denied: 'user_cancelled_login',
  },
  // https://learn.microsoft.com/en-us/entra/identity-platform/reference-error-codes
  microsoft: {
    ...standard,
    plugin: (issuer) => microsoft({ ...client, issuer }),
    lies: {},
    expired: grant('AADSTS700082: The refresh token has expired due to inactivity.'),
    revoked: answer(400, { error: 'interaction_required', suberror: 'basic_action' }),
    wrongSecret: answer(401, {
      error: 'invalid_client',
      error_description: 'AADSTS7000215: Invalid client secret.',
    }),
  },
  oauth2: {
    ...standard,
    plugin: (issuer) => oauth2({ id: 'oauth2', ...client, ...endpoints(issuer) }),
    lies: named({ sub: '8' }),
  },
  oidc: {
    ...standard,
    plugin: (issuer) => oidc({ id: 'oidc', ...client, issuer }),
    lies: {},
    // OpenID Connect Core 1.0, 3.1.2.6.
    revoked: answer(400, { error: 'login_required' }),
  },
  // https://docs.slack.dev/reference/methods/openid.connect.token
  slack: {
    ...standard,
    plugin: (issuer) => slack({ ...client, issuer }),
    lies: { claims: { 'https://slack.com/team_id': 'T1' } },
    expired: answer(200, { ok: false, error: 'invalid_refresh_token' }),
    revoked: answer(200, { ok: false, error: 'token_revoked' }),
    reused: answer(200, { ok: false, error: 'invalid_refresh_token' }),
    limited: answer(429, { ok: false, error: 'ratelimited' }),
    wrongSecret: answer(200, { ok: false, error: 'bad_client_secret' }),
  },
  spotify: {
    ...standard,
    plugin: (issuer) => spotify(at(issuer)),
    lies: named({ id: 's', account_id: 's', email: 'ada@example.com' }),
    // https://developer.spotify.com/documentation/web-api/tutorials/refreshing-tokens
    revoked: grant('Refresh token revoked'),
    wrongSecret: answer(400, { error: 'invalid_client', error_description: 'Invalid client secret' }),
  },
  twitch: {
    ...standard,
    plugin: (issuer) => twitch({ ...client, issuer }),
    lies: {},
    // https://dev.twitch.tv/docs/authentication/refresh-tokens
    expired: answer(400, { error: 'Bad Request', status: 400, message: 'Invalid refresh token' }),
    revoked: answer(401, { error: 'Unauthorized', status: 401, message: 'invalid token' }),
    // https://github.com/twitchdev/issues/issues/1042
    reused: answer(400, { status: 400, message: 'Invalid grant' }),
    // https://github.com/PhantomBot/PhantomBot/issues/2860
    wrongSecret: answer(403, { status: 403, message: 'invalid client secret' }),
  },
  // https://github.com/plhery/node-twitter-api-v2/issues/496
  x: {
    ...standard,
    plugin: (issuer) => x(at(issuer)),
    lies: named({ data: { id: '8', confirmed_email: 'ada@example.com' } }),
    expired: answer(400, {
      error: 'invalid_request',
      error_description: 'Value passed for the token was invalid.',
    }),
    revoked: answer(400, {
      error: 'invalid_request',
      error_description: 'Value passed for the token was invalid.',
    }),
    reused: answer(400, {
      error: 'invalid_request',
      error_description: 'Value passed for the token was invalid.',
    }),
    // https://github.com/unasuke/omniauth-twitter2/issues/4
    wrongSecret: answer(401, {
      error: 'unauthorized_client',
      error_description: 'Missing valid authorization header',
    }),
    inLog: 'unauthorized_client',
  },
};
