import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import {
  apple,
  discord,
  facebook,
  github,
  gitlab,
  google,
  linkedin,
  microsoft,
  type ProviderPlugin,
  slack,
  spotify,
  twitch,
  x,
} from '../../../../lib/providers.js';

const client = { clientId: 'the-client', clientSecret: 'the secret' };
const privateKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();

// As their documentation gives them. Specs that drive a provider have to replace them.
const documented: Record<string, [ProviderPlugin, object]> = {
  google: [google(client), { discover: 'https://accounts.google.com' }],
  gitlab: [gitlab(client), { discover: 'https://gitlab.com' }],
  microsoft: [microsoft(client), { discover: 'https://login.microsoftonline.com/common/v2.0' }],
  slack: [slack(client), { discover: 'https://slack.com' }],
  twitch: [twitch(client), { discover: 'https://id.twitch.tv/oauth2' }],
  apple: [
    apple({ clientId: 'the-client', teamId: 'TEAM123456', keyId: 'KEY1234567', privateKey }),
    {
      issuer: 'https://appleid.apple.com',
      authorizationUrl: 'https://appleid.apple.com/auth/authorize',
      tokenUrl: 'https://appleid.apple.com/auth/token',
      jwksUrl: 'https://appleid.apple.com/auth/keys',
      revocationUrl: 'https://appleid.apple.com/auth/revoke',
      algorithm: 'RS256',
    },
  ],
  // Without a page size, GitHub lists 30 addresses, and the primary one may not be among them.
  github: [
    github(client),
    {
      issuer: 'https://github.com/login/oauth',
      authorizationUrl: 'https://github.com/login/oauth/authorize',
      tokenUrl: 'https://github.com/login/oauth/access_token',
      userinfoUrl: 'https://api.github.com/user',
      emailsUrl: 'https://api.github.com/user/emails?per_page=100',
      revocationUrl: 'https://api.github.com/applications/the-client/grant',
    },
  ],
  // Without a version, Discord answers with one that is deprecated.
  discord: [
    discord(client),
    {
      issuer: 'https://discord.com',
      authorizationUrl: 'https://discord.com/oauth2/authorize',
      tokenUrl: 'https://discord.com/api/v10/oauth2/token',
      userinfoUrl: 'https://discord.com/api/v10/users/@me',
      revocationUrl: 'https://discord.com/api/v10/oauth2/token/revoke',
    },
  ],
  facebook: [
    facebook(client),
    {
      issuer: 'https://www.facebook.com',
      authorizationUrl: 'https://www.facebook.com/v26.0/dialog/oauth',
      tokenUrl: 'https://graph.facebook.com/v26.0/oauth/access_token',
      userinfoUrl: 'https://graph.facebook.com/v26.0/me?fields=id,name,email',
      revocationUrl: 'https://graph.facebook.com/v26.0/me/permissions',
    },
  ],
  linkedin: [
    linkedin(client),
    {
      issuer: 'https://www.linkedin.com/oauth',
      authorizationUrl: 'https://www.linkedin.com/oauth/v2/authorization',
      tokenUrl: 'https://www.linkedin.com/oauth/v2/accessToken',
      userinfoUrl: 'https://api.linkedin.com/v2/userinfo',
    },
  ],
  x: [
    x(client),
    {
      issuer: 'https://x.com',
      authorizationUrl: 'https://x.com/i/oauth2/authorize',
      tokenUrl: 'https://api.x.com/2/oauth2/token',
      userinfoUrl: 'https://api.x.com/2/users/me?user.fields=confirmed_email',
      revocationUrl: 'https://api.x.com/2/oauth2/revoke',
    },
  ],
  spotify: [
    spotify(client),
    {
      issuer: 'https://accounts.spotify.com',
      authorizationUrl: 'https://accounts.spotify.com/authorize',
      tokenUrl: 'https://accounts.spotify.com/api/token',
      userinfoUrl: 'https://api.spotify.com/v1/me',
    },
  ],
};

describe('the endpoints of a provider', () => {
  test.each(Object.entries(documented))('are those that %s documents', (_id, [{ provider }, server]) => {
    expect(provider.server).toEqual(server);
  });
});
