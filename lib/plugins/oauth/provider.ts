import { definePlugin, type Plugin } from '../../plugin.js';

/** What a provider says about who signed in. It is checked before it is used. */
export interface Profile {
  /** The provider's own, permanent id for the account. */
  readonly subject: unknown;
  readonly email: unknown;
  /**
   * Whether the address is proved to be this person's: only then it becomes the account's email, as a verified one. Each
   * provider module decides by its provider's documentation.
   */
  readonly emailIsProof: boolean;
}

/** What a provider module can read a profile from. */
export interface ProfileSources {
  /** The claims of the verified ID token; empty for plain OAuth 2.0. */
  readonly claims: Readonly<Record<string, unknown>>;
  /** The userinfo endpoint's answer, whose subject is checked against the ID token's. Null where there is no endpoint. */
  userinfo(): Promise<Record<string, unknown> | null>;
  /** Another resource of the provider, with the access token. A failure is an error with the response's `status`. */
  get(url: string): Promise<unknown>;
}

/** How to talk to one provider. */
export interface Provider {
  /** The `:provider` of the routes. */
  readonly id: string;
  /** An OpenID Connect issuer, to be discovered; or the endpoints of a service without discovery. */
  readonly server: { readonly discover: string } | OAuth2Server;
  readonly clientId: string;
  /** A function if a new secret is made each time, as for Apple. */
  readonly clientSecret: string | (() => string);
  /** How it is sent. With `basic`, `post` is used if discovery says that only that is supported. */
  readonly clientAuth: 'basic' | 'post';
  readonly scopes: readonly string[];
  /** Further parameters of the authorization request. */
  readonly authorizeParameters?: Readonly<Record<string, string>>;
  profile(sources: ProfileSources): Promise<Profile>;
}

/** The endpoints of a service that speaks OAuth 2.0 only. */
export interface OAuth2Server {
  /** The issuer under which its subjects are stored: it must never change. */
  readonly issuer: string;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly userinfoUrl: string;
}

/** A plugin that adds one provider and nothing else: `oauth()` picks it up. */
export interface ProviderPlugin extends Plugin<`provider ${string}`, null, Record<never, never>> {
  readonly provider: Provider;
}

/** Makes a plugin of a provider. Its setup throws a TypeError if `oauth()` is missing. */
export function providerPlugin(provider: Provider): ProviderPlugin {
  const plugin = definePlugin({
    name: `provider ${provider.id}`,
    setup(_core, plugins) {
      if (!plugins.some(({ name }) => name === 'oauth'))
        throw new TypeError(`latchkey: provider ${provider.id}: add oauth() to plugins`);
      return { api: null };
    },
  });
  return { ...plugin, provider: { ...provider, scopes: withOpenid(provider) } };
}

/** Without `openid`, a provider treats the request as plain OAuth 2.0 and gives no ID token (OIDC Core, 3.1.2.1). */
function withOpenid({ server, scopes }: Provider): readonly string[] {
  return 'discover' in server && !scopes.includes('openid') ? ['openid', ...scopes] : scopes;
}
