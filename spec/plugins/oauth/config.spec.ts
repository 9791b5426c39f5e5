import { describe, expect, test } from '@jest/globals';
import { admin, createAuth, oauth } from '../../../lib/index.js';
import {
  apple,
  discord,
  facebook,
  github,
  gitlab,
  google,
  linkedin,
  microsoft,
  oauth2,
  oidc,
  type ProviderPlugin,
} from '../../../lib/providers.js';
import { SECRET } from '../../support/app.js';

const client = { clientId: 'c', clientSecret: 's' };
const plain = {
  id: 'plain',
  ...client,
  authorizationUrl: 'https://a.example/authorize',
  tokenUrl: 'https://a.example/token',
  userinfoUrl: 'https://a.example/me',
};
const own = { id: 'own', issuer: 'https://a.example', ...client };
const config = { database: 'sqlite::memory:', secret: SECRET, baseUrl: 'https://app.example' };
// JavaScript code can pass any value, regardless of the types.
const call = (make: (options: never) => unknown, options: unknown) => () => make(options as never);

describe('a config with OAuth', () => {
  test('requires oauth() if there is a provider', () => {
    expect(() => createAuth({ ...config, plugins: [google(client)] })).toThrow(
      'latchkey: provider google: add oauth() to plugins',
    );
  });

  test.each([[Object.create(null)], [undefined], ['']])('says so if the id of a provider is %j', (id) => {
    const message = /^latchkey: provider \(no id\): id /;
    expect(call(oauth2, { ...plain, id })).toThrow(message);
    expect(call(oidc, { ...own, id })).toThrow(message);
  });

  test('requires baseUrl for oauth()', () => {
    const { baseUrl, ...without } = config;
    expect(() => createAuth({ ...without, plugins: [oauth(), google(client)] })).toThrow(
      /^latchkey: oauth\(\) requires baseUrl/,
    );
  });

  test('requires a provider for oauth()', () => {
    expect(() => createAuth({ ...config, plugins: [oauth()] })).toThrow(
      'latchkey: oauth() has no provider: add one from latchkey/providers to plugins, such as google({ clientId, clientSecret })',
    );
    expect(() => createAuth({ ...config, plugins: [oauth()] })).toThrow(TypeError);
  });

  test('accepts plugins in any order, and each provider once', () => {
    expect(createAuth({ ...config, plugins: [google(client), oauth()] }).oauth.providers).toEqual(['google']);
    expect(() => createAuth({ ...config, plugins: [oauth(), google(client), google(client)] })).toThrow(
      /provider google twice/,
    );
    expect(() => createAuth({ ...config, plugins: [oauth(), oauth()] })).toThrow(/oauth twice/);
    expect(() =>
      createAuth({
        ...config,
        plugins: [oauth(), admin({ adminEmails: ['a@example.com'] }), github(client)],
      }),
    ).not.toThrow();
  });

  // OpenID Connect Core 1.0, 3.1.2.1: without it, there is no ID token.
  test('requests the scope openid once from every OpenID Connect provider, and from no other', () => {
    const scopesOf = ({ provider }: ProviderPlugin) => provider.scopes;
    expect(scopesOf(oidc({ ...own, scopes: ['email'] }))).toEqual(['openid', 'email']);
    expect(scopesOf(google({ ...client, scopes: [] }))).toEqual(['openid']);
    expect(scopesOf(oidc({ ...own, scopes: ['email', 'openid'] }))).toEqual(['email', 'openid']);
    expect(scopesOf(oidc(own))).toEqual(['openid', 'email', 'profile']);
    expect(scopesOf(oauth2({ ...plain, scopes: ['email'] }))).toEqual(['email']);
    expect(scopesOf(github({ ...client, scopes: ['user:email'] }))).toEqual(['user:email']);
  });

  test('uses https URLs for all named providers', () => {
    const named: ProviderPlugin[] = [
      google(client),
      github(client),
      gitlab(client),
      microsoft(client),
      discord(client),
      facebook(client),
      linkedin(client),
      oidc(own),
      oauth2(plain),
    ];
    const auth = createAuth({ ...config, plugins: [oauth(), ...named] });
    expect(auth.oauth.providers).toHaveLength(named.length);
    for (const { provider } of named) {
      const { server } = provider;
      const urls = Object.entries(server).filter(([name]) => /^discover$|Url$/.test(name));
      expect(urls).not.toHaveLength(0);
      for (const [, url] of urls) expect(url ?? 'https://').toMatch(/^https:\/\//);
    }
  });

  test.each<[string, () => unknown, RegExp]>([
    ['an unknown option of oauth()', call(oauth, { linkByEmail: true }), /^latchkey: oauth: .*linkByEmail/],
    [
      'a string instead of a boolean',
      call(oauth, { linkByVerifiedEmail: 'no' }),
      /linkByVerifiedEmail must be true or false/,
    ],
    ['missing options', call(google, undefined), /^latchkey: provider google: clientId/],
    ['a missing client id', call(google, { clientSecret: 's' }), /^latchkey: provider google: clientId/],
    [
      'a missing client secret',
      call(github, { clientId: 'c', clientSecret: undefined }),
      /github: clientSecret/,
    ],
    ['an empty client secret', call(github, { clientId: 'c', clientSecret: '' }), /github: clientSecret/],
    [
      'a number as the client secret',
      call(github, { clientId: 'c', clientSecret: 5 }),
      /github: clientSecret/,
    ],
    ['a misspelled option', call(google, { ...client, scope: ['openid'] }), /google: scope is not an option/],
    [
      'a string as the scopes',
      call(google, { ...client, scopes: 'openid email' }),
      /google: scopes must be a list/,
    ],
    ['an empty scope', call(google, { ...client, scopes: ['openid', ''] }), /google: scopes must be a list/],
    [
      'a string as trustEmailVerified',
      call(oidc, { ...own, trustEmailVerified: 'false' }),
      /own: trustEmailVerified must be/,
    ],
    [
      'an empty name',
      call(google, { ...client, name: ' ' }),
      /google: name must be 1 to 64 visible characters/,
    ],
    ['a long name', call(github, { ...client, name: 'x'.repeat(65) }), /github: name must be 1 to 64/],
    ['a name with a line break', call(oidc, { ...own, name: 'a\nb' }), /own: name must be 1 to 64/],
    ['a number as the name', call(oauth2, { ...plain, name: 5 }), /plain: name must be 1 to 64/],
    ...['https://cdn.example/a.svg', '//cdn.example/a.svg', 'a.svg', '/\\a.svg', ''].map(
      (icon): [string, () => unknown, RegExp] => [
        `the icon ${JSON.stringify(icon)}`,
        call(google, { ...client, icon }),
        /google: icon must be a path of this origin, such as/,
      ],
    ),
    ['an id that is not valid in a path', call(oidc, { ...own, id: 'a/b' }), /id must be/],
    ['an id in upper case', call(oidc, { ...own, id: 'Own' }), /id must be/],
    ['a missing id', call(oidc, { ...own, id: undefined }), /id must be/],
    [
      'an issuer that is not a URL',
      call(oidc, { ...own, issuer: 'a.example' }),
      /own: issuer must be an https URL/,
    ],
    [
      'an issuer without TLS',
      call(oidc, { ...own, issuer: 'http://a.example' }),
      /own: issuer must be an https URL/,
    ],
    [
      'a missing token URL',
      call(oauth2, { ...plain, tokenUrl: undefined }),
      /plain: tokenUrl must be an https URL/,
    ],
    [
      'a userinfo URL without TLS',
      call(oauth2, { ...plain, userinfoUrl: 'http://a.example' }),
      /plain: userinfoUrl/,
    ],
    [
      'an endpoint without TLS',
      call(github, { ...client, endpoints: { emailsUrl: 'http://a.example' } }),
      /github: endpoints.emailsUrl/,
    ],
    [
      'an unknown endpoint',
      call(discord, { ...client, endpoints: { meUrl: 'https://a.example' } }),
      /discord: endpoints.meUrl is not an option/,
    ],
    [
      'a profile that is not a function',
      call(oauth2, { ...plain, profile: {} }),
      /plain: profile must be a function/,
    ],
    [
      'a tenant that is not valid in a path',
      call(microsoft, { ...client, tenant: 'a/b' }),
      /microsoft: tenant/,
    ],
    ['a misspelled option of apple()', call(apple, { ...client, teamID: 'T' }), /apple: /],
  ])('rejects %s', (_what, make, message) => {
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });
});
